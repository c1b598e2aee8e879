//! A message with values in it: the format string and its arguments, as `format_args!` leaves them in memory.
//!
//! `fmt::Arguments` gives them to nobody but `core::fmt::write`, which calls each value's formatter through a pointer. What is read here
//! is its representation in rustc 1.93 and newer, as the comments of `core::fmt::Arguments` and `core::fmt::rt::Argument` have it;
//! `cuda_builder` says whether the compiler is one whose representation this is.

use core::mem::MaybeUninit;

use super::tag::{Note, Tag, kind, ty};
use super::text::Text;
use super::value::{self, Options};

/// Messages in messages: `assert_eq!(a, b, "{}", c)` has one.
const DEPTH: usize = 4;

/// Where a width or precision, of 16 bits, lies in its argument, counted in as many: behind a null that stands for the value's address.
const COUNT_AT: usize = 4;

/// Two words of memory: address and length of a text, format string and arguments, value and formatter, data and vtable.
pub(super) type Pair = [usize; 2];

/// What the builder says about a module's messages.
pub(super) trait Module {
    /// The tag of a formatter, by its address.
    fn tag_of(formatter: usize) -> Tag;
    /// Whether there is something of that [`kind`].
    fn has(kind: u32) -> bool;
}

/// Where in a format string the reading is.
#[derive(Clone, Copy)]
struct Position {
    template: *const u8,
    arguments: *const Pair,
    next: usize,
}

/// A message and what was read of it last. All of it lies in memory, so that [`write`] needs no registers to remember it by.
pub(super) struct Reader {
    at: Position,
    outer: [MaybeUninit<Position>; DEPTH],
    depth: usize,
    /// A text.
    text: *const u8,
    len: usize,
    /// A value: its address, how to show it.
    pub(super) value: usize,
    pub(super) tag: Tag,
    pub(super) options: Options,
}

/// What was read.
#[derive(PartialEq, Eq)]
enum Step {
    End,
    Text,
    Value,
}

/// Writes a message with values; `arguments` are the two words of its `fmt::Arguments`.
///
/// # Safety
///
/// They are, and neither a text alone (`as_str`) nor of another representation. `M` knows the formatters.
#[inline(always)]
pub(super) unsafe fn write<M: Module>(out: &mut Text, [template, arguments]: Pair) {
    let mut memory = MaybeUninit::<Reader>::uninit();
    let start = memory.as_mut_ptr();
    // SAFETY: each of the fields that is read is written: here, by `step`, and `outer` where the depth grows. A constant of all fields
    // would be copied, byte for byte.
    let reader = unsafe {
        (&raw mut (*start).at.template).write(template as *const u8);
        (&raw mut (*start).at.arguments).write(arguments as *const Pair);
        (&raw mut (*start).at.next).write(0);
        (&raw mut (*start).depth).write(0);
        &mut *start
    };
    loop {
        // SAFETY: the caller's promise.
        match unsafe { reader.step::<M>() } {
            Step::End => return,
            // SAFETY: texts of the message can be read.
            Step::Text => unsafe { out.push(reader.text, reader.len) },
            // SAFETY: there is a value of the tag's type at its address.
            Step::Value => unsafe { value::write::<M>(out, reader) },
        }
    }
}

impl Reader {
    /// Reads on.
    ///
    /// # Safety
    ///
    /// As for [`write`]; the end has not been reached.
    #[inline(never)]
    unsafe fn step<M: Module>(&mut self) -> Step {
        // SAFETY: of all reads below: the format string is valid, says the caller, and refers to arguments that exist; each is of the
        // type that its formatter says.
        unsafe {
            let mut head = self.at.byte();
            while head == 0 {
                if !M::has(kind::ARGUMENTS) || self.depth == 0 {
                    return Step::End;
                }
                self.depth -= 1;
                self.at = (*self.outer.as_ptr().add(self.depth)).assume_init();
                head = self.at.byte();
            }
            if head <= 0x80 {
                self.text_of(usize::from(head));
                return Step::Text;
            }
            self.options = Options::NONE;
            if M::has(kind::OPTION) {
                self.read_options(head);
            }
            let [mut value, formatter] = *self.at.arguments.add(self.at.next);
            self.at.next += 1;
            let mut tag = M::tag_of(formatter);
            // What a reference leads to; behind a trait object it may be a reference again.
            while !(M::has(kind::NOTE) && tag.is_note()) {
                if M::has(kind::REFERENCE) {
                    let mut left = tag.references();
                    while left > 0 {
                        value = *(value as *const usize);
                        left -= 1;
                    }
                }
                if !(M::has(kind::DYN) && tag.ty() == ty::DYN) {
                    break;
                }
                let [data, vtable] = *(value as *const Pair);
                value = data;
                // Behind what drops the value, its size and its alignment.
                tag = M::tag_of(*(vtable as *const usize).add(3));
            }
            if M::has(kind::NOTE) && tag.is_note() {
                let note = &*(tag.0 as *const Note);
                (self.text, self.len) = (note.text, note.len);
                return Step::Text;
            }
            if M::has(kind::ARGUMENTS) && tag.ty() == ty::ARGUMENTS {
                let [template, arguments] = *(value as *const Pair);
                (self.text, self.len) = (template as *const u8, 0);
                if arguments & 1 == 1 {
                    self.len = arguments >> 1;
                } else if self.depth < DEPTH {
                    (*self.outer.as_mut_ptr().add(self.depth)).write(self.at);
                    self.depth += 1;
                    self.at = Position {
                        template: self.text,
                        arguments: arguments as *const Pair,
                        next: 0,
                    };
                }
                return Step::Text;
            }
            (self.value, self.tag) = (value, tag);
        }
        Step::Value
    }

    /// Reads a text of `len` bytes; for 0x80 the length follows.
    ///
    /// # Safety
    ///
    /// The format string goes on with it.
    #[inline(always)]
    unsafe fn text_of(&mut self, mut len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if len == 0x80 {
                len = self.at.half();
            }
            (self.text, self.len) = (self.at.template, len);
            self.at.template = self.at.template.add(len);
        }
    }

    /// What follows the first byte of a `{…}`: options, and which argument it is.
    ///
    /// # Safety
    ///
    /// The format string goes on; arguments that it refers to exist.
    #[inline(never)]
    unsafe fn read_options(&mut self, head: u8) {
        let Self { at, options, .. } = self;
        // SAFETY: the caller's promise.
        unsafe {
            if head & 1 != 0 {
                options.flags = at.half() as u32 | (at.half() as u32) << 16;
            }
            if head & 2 != 0 {
                options.width = at.half();
            }
            if head & 4 != 0 {
                options.precision = at.half();
            }
            if head & 8 != 0 {
                at.next = at.half();
            }
            if head & 16 != 0 {
                options.width = at.count(options.width);
            }
            if head & 32 != 0 {
                options.precision = at.count(options.precision);
            }
        }
    }
}

impl Position {
    /// The next byte.
    ///
    /// # Safety
    ///
    /// The format string goes on.
    #[inline(always)]
    unsafe fn byte(&mut self) -> u8 {
        // SAFETY: the caller's promise.
        unsafe {
            let byte = *self.template;
            self.template = self.template.add(1);
            byte
        }
    }

    /// The next two bytes, a number.
    ///
    /// # Safety
    ///
    /// The format string goes on.
    #[inline(always)]
    unsafe fn half(&mut self) -> usize {
        // SAFETY: the caller's promise.
        unsafe { usize::from(self.byte()) | usize::from(self.byte()) << 8 }
    }

    /// Argument number `index`, which is a width or precision.
    ///
    /// # Safety
    ///
    /// It is.
    #[inline(always)]
    unsafe fn count(&self, index: usize) -> usize {
        // SAFETY: the caller's promise; 16 bytes each.
        unsafe { usize::from(*self.arguments.add(index).cast::<u16>().add(COUNT_AT)) }
    }
}
