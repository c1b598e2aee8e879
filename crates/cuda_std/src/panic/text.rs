//! A text of limited length, put together on the stack.
//!
//! Raw pointers and no slices: a bounds check in here would put a second panic into the handler. Functions that loop are not
//! inlined, since LLVM would unroll each copy of them.

use core::mem::MaybeUninit;

/// Room for the text and the NUL behind it, bytes.
pub(super) const CAPACITY: usize = 256;

/// Room for a second text, behind the first, and its NUL.
const SECOND_CAPACITY: usize = 40;

/// UTF-8, cut off after [`CAPACITY`] bytes.
pub(super) struct Text {
    bytes: [MaybeUninit<u8>; CAPACITY + SECOND_CAPACITY],
    /// Bytes that were written. Those beyond the room are gone.
    len: usize,
    room: usize,
    /// Where the last value begins.
    start: usize,
    /// Where its digits begin, behind sign and `0x`.
    body: usize,
}

impl Text {
    /// Begins a text in memory of any content. A constant would be copied, byte for byte.
    #[inline(always)]
    pub(super) fn new(memory: &mut MaybeUninit<Self>) -> &mut Self {
        let text = memory.as_mut_ptr();
        // SAFETY: each of the fields is written, but for `start` and `body`, which `begin` writes before they are read, and the bytes.
        unsafe {
            (&raw mut (*text).len).write(0);
            (&raw mut (*text).room).write(CAPACITY - 1);
            memory.assume_init_mut()
        }
    }

    /// Begins the second text. The first stays where it is.
    #[inline(always)]
    pub(super) const fn begin_second(&mut self) {
        self.len = CAPACITY;
        self.room = CAPACITY + SECOND_CAPACITY - 1;
    }

    /// Begins a value.
    #[inline(always)]
    pub(super) const fn begin(&mut self) {
        self.start = self.len;
        self.body = self.len;
    }

    /// Begins a value's digits.
    #[inline(always)]
    pub(super) const fn begin_body(&mut self) {
        self.body = self.len;
    }

    /// The byte where the last value begins.
    #[inline(always)]
    pub(super) const fn start(&self) -> usize {
        self.start
    }

    /// The byte where its digits begin.
    #[inline(always)]
    pub(super) const fn body(&self) -> usize {
        self.body
    }

    /// Bytes so far.
    #[inline(always)]
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn at(&mut self, index: usize) -> *mut u8 {
        self.bytes.as_mut_ptr().cast::<u8>().wrapping_add(index)
    }

    /// The byte at `index`, which is less than the length; a digit if it is gone.
    #[inline(always)]
    pub(super) fn byte(&mut self, index: usize) -> u8 {
        // SAFETY: all bytes below length and room are written.
        if index < self.room { unsafe { *self.at(index) } } else { b'0' }
    }

    /// Overwrites the byte at `index`, which is less than the length.
    #[inline(always)]
    pub(super) fn set_byte(&mut self, index: usize, byte: u8) {
        if index < self.room {
            // SAFETY: the room is less than the capacity.
            unsafe { *self.at(index) = byte };
        }
    }

    /// Drops the last byte, one of ASCII.
    #[inline(always)]
    pub(super) const fn pop(&mut self) {
        self.len -= 1;
    }

    #[inline(always)]
    pub(super) fn push_byte(&mut self, byte: u8) {
        let end = self.len;
        self.set_byte(end, byte);
        self.len = end + 1;
    }

    /// # Safety
    ///
    /// `len` bytes at `from` can be read.
    #[inline(never)]
    pub(super) unsafe fn push(&mut self, from: *const u8, len: usize) {
        let mut read = 0;
        while read < len {
            // SAFETY: the caller's promise. One byte at a time: the compiler may not read beyond `len`.
            self.push_byte(unsafe { *from.add(read) });
            read += 1;
        }
    }

    #[inline(always)]
    pub(super) fn push_str(&mut self, text: &str) {
        // SAFETY: a `str` can be read.
        unsafe { self.push(text.as_ptr(), text.len()) };
    }

    /// Puts `count` times a character at the byte `at`; what stands from there on moves.
    #[inline(never)]
    pub(super) fn insert(&mut self, at: usize, count: usize, character: u32) {
        let bytes = utf8_len(character);
        let added = bytes * count;
        let mut from = self.len;
        self.len += added;
        // From the end backwards, since both ranges overlap.
        while from > at {
            from -= 1;
            let byte = self.byte(from);
            self.set_byte(from + added, byte);
        }
        let mut written = 0;
        while written < added {
            self.set_byte(at + written, utf8_byte(character, bytes, written % bytes));
            written += 1;
        }
    }

    /// Characters of the last value.
    #[inline(never)]
    pub(super) fn characters(&mut self) -> usize {
        let mut count = 0;
        let mut index = self.start;
        while index < self.len {
            count += usize::from(!is_continuation(self.byte(index)));
            index += 1;
        }
        count
    }

    /// Drops all but so many characters of the last value.
    #[inline(never)]
    pub(super) fn keep_characters(&mut self, count: usize) {
        let mut left = count;
        let mut index = self.start;
        while index < self.len {
            if !is_continuation(self.byte(index)) {
                if left == 0 {
                    self.len = index;
                    return;
                }
                left -= 1;
            }
            index += 1;
        }
    }

    /// Ends the text: a NUL behind it, and `…` at its end if it is cut.
    #[inline(always)]
    pub(super) fn finish(&mut self) {
        let mut at = self.len;
        if at > self.room {
            at = self.room - 3;
            // A character is whole or gone.
            while is_continuation(self.byte(at)) {
                at -= 1;
            }
            // SAFETY: `…` in UTF-8 fits, and more than 4 bytes are no character.
            unsafe {
                *self.at(at) = 0xE2;
                *self.at(at + 1) = 0x80;
                *self.at(at + 2) = 0xA6;
            }
            at += 3;
        }
        // SAFETY: the room is less than the capacity.
        unsafe { *self.at(at) = 0 };
        #[cfg(test)]
        {
            self.len = at;
        }
    }

    /// Ends the second text, which has room enough.
    #[inline(always)]
    pub(super) fn finish_second(&mut self) {
        // SAFETY: it has.
        unsafe { *self.at(self.len) = 0 };
    }

    /// Where the text begins.
    #[inline(always)]
    pub(super) const fn first(&self) -> *const u8 {
        self.bytes.as_ptr().cast()
    }

    /// Where the second text begins.
    #[inline(always)]
    pub(super) const fn second(&self) -> *const u8 {
        self.first().wrapping_add(CAPACITY)
    }
}

/// Whether a byte of UTF-8 is none's first.
const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Bytes of a character in UTF-8.
const fn utf8_len(character: u32) -> usize {
    match character {
        0..0x80 => 1,
        0x80..0x800 => 2,
        0x800..0x1_0000 => 3,
        _ => 4,
    }
}

/// Byte number `index` of a character that has `len` bytes in UTF-8.
const fn utf8_byte(character: u32, len: usize, index: usize) -> u8 {
    let bits = character >> (6 * (len - 1 - index));
    match (len, index) {
        (1, _) => character as u8,
        // As many ones as bytes, then a zero.
        (_, 0) => !(0xFF_u8 >> len) | bits as u8,
        _ => 0x80 | (bits & 0x3F) as u8,
    }
}
