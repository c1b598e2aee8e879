//! The bytes of a piece of memory, which several threads of the host may read and write at the same time.
//!
//! To Rust they are 32-bit words that are atomic, in relaxed order: whatever two blocks do to the same bytes, it is no data race
//! of this program, only one of the kernel. Moving more or less than a word is to Rust as many
//! accesses to words; where [`raw`] knows an instruction for it, it is done at once.

#[cfg(any(test, miri, not(target_arch = "x86_64")))]
mod portable;
#[expect(unsafe_code, reason = "one instruction moves more than a word, or less")]
mod raw;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use bytemuck::Pod;

use crate::budget::Growing;

#[cfg(any(miri, not(target_arch = "x86_64")))]
use portable as moves;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use raw::native as moves;
use raw::{LINE, Line};

/// The word with the byte at `at`.
#[inline(always)]
fn word(lines: &[Line], at: usize) -> Option<&AtomicU32> {
    Some(&lines.get(at / LINE)?.0[at / 4 % (LINE / 4)])
}

/// Owned bytes. Numbers in them are little-endian and aligned to their size; reads beyond the end give 0, and writes there do
/// nothing. (Up to 15 bytes behind the end belong to them; they hold what is written to them.)
#[derive(Debug, Default)]
pub(crate) struct Storage {
    lines: Vec<Line>,
    bytes: usize,
    /// Taken for changes of 16 bytes, which the words alone could not do at once.
    wide: Mutex<()>,
}

/// A number that registers hold.
pub(crate) trait Number: Pod {
    /// Its size.
    const BYTES: usize;
    /// Reads it from where it is aligned.
    fn load(storage: &Storage, at: usize) -> Self;
    /// Writes it to where it is aligned.
    fn store(self, storage: &Storage, at: usize);
    /// The number with these low bits.
    fn of_bits(bits: u64) -> Self;
}

impl Number for u32 {
    const BYTES: usize = 4;

    #[inline(always)]
    fn of_bits(bits: u64) -> u32 {
        bits as u32
    }

    #[inline(always)]
    fn load(storage: &Storage, at: usize) -> u32 {
        word(&storage.lines, at).map_or(0, |word| u32::from_le(word.load(Ordering::Relaxed)))
    }

    #[inline(always)]
    fn store(self, storage: &Storage, at: usize) {
        if let Some(word) = word(&storage.lines, at) {
            word.store(self.to_le(), Ordering::Relaxed);
        }
    }
}

impl Number for u64 {
    const BYTES: usize = 8;

    #[inline(always)]
    fn of_bits(bits: u64) -> u64 {
        bits
    }

    #[inline(always)]
    fn load(storage: &Storage, at: usize) -> u64 {
        moves::load8(&storage.lines, at)
    }

    #[inline(always)]
    fn store(self, storage: &Storage, at: usize) {
        moves::store8(&storage.lines, at, self);
    }
}

impl Storage {
    /// So many bytes of this value; `None` if the host has no memory for them.
    pub(crate) fn new(bytes: usize, value: u8) -> Option<Storage> {
        let count = bytes.div_ceil(LINE);
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).ok()?;
        lines.resize_with(count, || Line::of(value));
        Some(Storage { lines, bytes, wide: Mutex::default() })
    }

    /// A copy of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Storage {
        let mut storage = Storage::default();
        storage.refill(bytes.len(), 0);
        storage.exclusive().copy_from_slice(bytes);
        storage
    }

    /// Becomes so many bytes of this value; keeps the host's memory.
    pub(crate) fn refill(&mut self, bytes: usize, value: u8) {
        self.lines.clear();
        self.lines.resize_with(bytes.div_ceil(LINE), || Line::of(value));
        self.bytes = bytes;
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// All bytes, where nobody else can reach them.
    pub(crate) fn exclusive(&mut self) -> &mut [u8] {
        &mut raw::bytes_mut(&mut self.lines)[..self.bytes]
    }

    /// Copies bytes from here. False if they are not all there.
    #[must_use]
    pub(crate) fn read_bytes(&self, at: usize, target: &mut [u8]) -> bool {
        if at.checked_add(target.len()).is_none_or(|end| end > self.bytes) {
            return false;
        }
        let mut at = at;
        let (blocks, rest) = target.as_chunks_mut::<{ moves::BLOCK }>();
        for block in blocks {
            moves::load_block(&self.lines, at, block);
            at += moves::BLOCK;
        }
        let (words, rest) = rest.as_chunks_mut::<4>();
        for bytes in words {
            *bytes = self.unaligned(at).to_le_bytes();
            at += 4;
        }
        for byte in rest {
            *byte = self.read(at, 1) as u8;
            at += 1;
        }
        true
    }

    /// Four bytes from anywhere.
    fn unaligned(&self, at: usize) -> u32 {
        match at % 4 {
            0 => u32::load(self, at),
            _ => {
                let high = u64::from(u32::load(self, at + 4)) << 32;
                ((high | u64::from(u32::load(self, at))) >> shift(at)) as u32
            }
        }
    }

    /// Reads numbers that lie one after the other, a multiple of 64 bytes; nothing if they are not all there.
    #[inline(always)]
    pub(crate) fn read_line<T: Number, const N: usize>(&self, at: usize, target: &mut [T; N]) {
        moves::load_line(self, at, target);
    }

    /// Reads numbers with `stride` bytes (modulo the size of addresses) from each to the next, a multiple of their size. Nothing is
    /// read if they are not all there.
    #[inline(always)]
    pub(crate) fn read_apart<T: Number>(&self, at: usize, stride: usize, target: &mut [T]) {
        moves::load_apart(self, at, stride, target);
    }

    /// Writes numbers one after the other, a multiple of 64 bytes; nothing if there is no room for all.
    #[inline(always)]
    pub(crate) fn write_line<T: Number, const N: usize>(&self, at: usize, values: &[T; N]) {
        moves::store_line(self, at, values);
    }

    /// 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub(crate) fn read(&self, at: usize, bytes: u32) -> u64 {
        match bytes {
            8 => u64::load(self, at),
            4 => u64::from(u32::load(self, at)),
            _ => u64::from(u32::load(self, at) >> shift(at) & low(bytes)),
        }
    }

    /// Writes the low 1, 2, 4 or 8 bytes of `value`.
    #[inline(always)]
    pub(crate) fn write(&self, at: usize, bytes: u32, value: u64) {
        match bytes {
            8 => (value).store(self, at),
            4 => (value as u32).store(self, at),
            2 => moves::store2(&self.lines, at, value as u16),
            _ => moves::store1(&self.lines, at, value as u8),
        }
    }

    /// Replaces the number of 2, 4, 8 or 16 bytes at `at` by what `change` makes of it, and gives the old one. Other such changes
    /// come before or after, not between; `alone` says that there can be no others.
    #[inline]
    pub(crate) fn update(
        &self,
        at: usize,
        bytes: u32,
        alone: bool,
        change: impl Fn(u128) -> u128,
    ) -> u128 {
        match bytes {
            16 => self.update_wide(at, alone, change),
            _ if alone => {
                let old = u128::from(self.read(at, bytes));
                self.write(at, bytes, change(old) as u64);
                old
            }
            8 => u128::from(moves::update8(self, at, |old| change(u128::from(old)) as u64)),
            _ => u128::from(update_word(&self.lines, at, bytes, |old| {
                change(u128::from(old)) as u32
            })),
        }
    }

    /// 16 bytes, under a lock.
    fn update_wide(&self, at: usize, alone: bool, change: impl Fn(u128) -> u128) -> u128 {
        let _guard = (!alone).then(|| self.wide.lock().unwrap_or_else(PoisonError::into_inner));
        let old = u128::from(u64::load(self, at)) | u128::from(u64::load(self, at + 8)) << 64;
        let new = change(old);
        // A comparison that fails writes nothing.
        if new != old {
            (new as u64).store(self, at);
            ((new >> 64) as u64).store(self, at + 8);
        }
        old
    }
}

/// Counted in bytes, taken in lines.
impl Growing for Storage {
    fn room(&self) -> usize {
        self.lines.capacity().saturating_mul(LINE)
    }

    fn element_bytes(&self) -> u64 {
        1
    }

    fn grow(&mut self, length: usize) -> bool {
        let more = length.div_ceil(LINE).saturating_sub(self.lines.len());
        self.lines.try_reserve_exact(more).is_ok()
    }
}

/// Changes the number of 1, 2 or 4 bytes at `at`, in its word.
#[inline]
fn update_word(lines: &[Line], at: usize, bytes: u32, change: impl Fn(u32) -> u32) -> u32 {
    let Some(word) = word(lines, at) else {
        return 0;
    };
    let (shift, low) = if bytes == 4 { (0, u32::MAX) } else { (shift(at), low(bytes)) };
    let part = |word: u32| u32::from_le(word) >> shift & low;
    let found = word.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |word| {
        let others = u32::from_le(word) & !(low << shift);
        Some((others | (change(part(word)) & low) << shift).to_le())
    });
    part(found.unwrap_or_else(|word| word))
}

/// Where the byte at `at` lies in its word.
#[inline(always)]
fn shift(at: usize) -> u32 {
    8 * (at % 4) as u32
}

/// The bits of a number smaller than a word.
#[inline(always)]
fn low(bytes: u32) -> u32 {
    if bytes == 1 { 0xFF } else { 0xFFFF }
}

#[cfg(test)]
mod tests {
    use std::thread::scope;

    use super::*;

    fn numbered(bytes: usize) -> Storage {
        let mut storage = Storage::new(bytes, 0).unwrap();
        let bytes = storage.exclusive().iter_mut().zip(1u32..);
        bytes.for_each(|(byte, number)| *byte = number as u8);
        storage
    }

    #[test]
    fn numbers_of_every_size_are_where_their_bytes_are() {
        let mut storage = numbered(24);
        assert_eq!(storage.read(3, 1), 0x04);
        assert_eq!(storage.read(6, 2), 0x0807);
        assert_eq!(storage.read(8, 4), 0x0C0B_0A09);
        assert_eq!(storage.read(16, 8), 0x1817_1615_1413_1211);
        storage.write(0, 1, 0xABA1);
        storage.write(3, 1, 0xA4);
        storage.write(6, 2, 0xEEEE_A8A7);
        storage.write(12, 4, 0xA0AF_AEAD);
        storage.write(16, 8, 0xB8B7_B6B5_B4B3_B2B1);
        let expected = [
            0xA1, 2, 3, 0xA4, 5, 6, 0xA7, 0xA8, 9, 10, 11, 12, 0xAD, 0xAE, 0xAF, 0xA0, 0xB1, 0xB2,
            0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8,
        ];
        assert_eq!(storage.exclusive(), expected);
    }

    #[test]
    fn bytes_are_read_from_anywhere() {
        let storage = numbered(200);
        for at in [0, 1, 2, 3, 64, 67] {
            for length in [0, 1, 3, 4, 15, 64, 66, 133] {
                let mut bytes = vec![0; length];
                assert!(storage.read_bytes(at, &mut bytes));
                let expected: Vec<u8> = (at + 1..).take(length).map(|n| n as u8).collect();
                assert_eq!(bytes, expected);
            }
        }
        assert!(!storage.read_bytes(198, &mut [0; 3]));
        assert!(!storage.read_bytes(usize::MAX, &mut [0; 3]));
        assert!(storage.read_bytes(200, &mut []));
    }

    #[test]
    fn lines_are_numbers_one_after_the_other() {
        let mut storage = numbered(256);
        let (mut narrow, mut wide) = ([0u32; 16], [0u64; 16]);
        storage.read_line(4, &mut narrow);
        storage.read_line(8, &mut wide);
        assert_eq!((narrow[0], narrow[15]), (0x0807_0605, 0x4443_4241));
        assert_eq!((wide[0], wide[15]), (0x100F_0E0D_0C0B_0A09, 0x8887_8685_8483_8281));
        let before = narrow;
        storage.read_line(256 - 60, &mut narrow);
        storage.read_line(usize::MAX - 3, &mut narrow);
        assert_eq!(narrow, before);
        storage.write_line(256 - 60, &[u32::MAX; 16]);
        storage.write_line(64, &narrow);
        let bytes = storage.exclusive();
        assert_eq!(bytes[60..64], [61, 62, 63, 64]);
        assert_eq!(bytes[64..128], bytemuck::cast::<[u32; 16], [u8; 64]>(narrow));
        assert_eq!(bytes[128], 129);
    }

    #[test]
    fn numbers_apart_are_read_where_all_are_there() {
        let storage = numbered(256);
        for (at, stride) in [(0, 8), (248, 8_usize.wrapping_neg()), (8, 0), (16, 16)] {
            let (mut narrow, mut wide, mut twin) = ([1_u32; 15], [1_u64; 15], [1_u64; 15]);
            storage.read_apart(at, stride, &mut narrow);
            storage.read_apart(at, stride, &mut wide);
            portable::load_apart(&storage, at, stride, &mut twin);
            assert_eq!(wide, twin);
            for number in 0..15 {
                let place = at.wrapping_add(stride.wrapping_mul(number));
                assert_eq!(narrow[number], u32::load(&storage, place));
                assert_eq!(wide[number], u64::load(&storage, place));
            }
        }
        let beyond =
            [(0, 24), (256, 0), (usize::MAX - 7, 8), (0, usize::MAX / 2 + 1), (8, usize::MAX - 7)];
        for (at, stride) in beyond {
            let (mut numbers, mut twin) = ([1_u64; 15], [1_u64; 15]);
            storage.read_apart(at, stride, &mut numbers);
            portable::load_apart(&storage, at, stride, &mut twin);
            assert_eq!((numbers, twin), ([1; 15], [1; 15]), "{at} {stride}");
        }
        storage.read_apart::<u64>(0, 8, &mut []);
    }

    #[test]
    fn nothing_happens_beyond_the_end() {
        let storage = numbered(16);
        for at in [16, 24, usize::MAX & !7] {
            for bytes in [1, 2, 4, 8] {
                storage.write(at, bytes, u64::MAX);
                assert_eq!(storage.read(at, bytes), 0);
                assert_eq!(storage.update(at, bytes, false, |_| 1), 0);
            }
        }
        assert_eq!(storage.read(8, 8), 0x100F_0E0D_0C0B_0A09);
        assert_eq!(Storage::default().read(0, 8), 0);
    }

    #[test]
    fn changes_give_the_old_number() {
        for alone in [true, false] {
            let mut storage = numbered(16);
            assert_eq!(storage.update(2, 2, alone, |old| old + 0xF_0001), 0x0403);
            assert_eq!(storage.update(4, 4, alone, |old| old + 1), 0x0807_0605);
            assert_eq!(storage.update(8, 8, alone, |old| !old), 0x100F_0E0D_0C0B_0A09);
            assert_eq!(storage.exclusive()[..10], [1, 2, 4, 4, 6, 6, 7, 8, 0xF6, 0xF5]);
            assert_eq!(storage.update(0, 16, alone, |_| 7) as u64, 0x0807_0606_0404_0201);
            assert_eq!((storage.read(0, 8), storage.read(8, 8)), (7, 0));
        }
    }

    #[test]
    fn changes_of_several_threads_all_count() {
        let storage = Storage::new(32, 0).unwrap();
        scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        for (at, bytes) in [(0, 2), (2, 2), (4, 4), (8, 8), (16, 16)] {
                            storage.update(at, bytes, false, |old| old + 1);
                        }
                    }
                });
            }
        });
        let counts = [(0, 2), (2, 2), (4, 4), (8, 8), (16, 8)].map(|(at, b)| storage.read(at, b));
        assert_eq!(counts, [4000; 5]);
    }

    #[test]
    fn both_ways_of_moving_agree() {
        let storage = numbered(256);
        let twin = numbered(256);
        assert_eq!(moves::load8(&storage.lines, 40), portable::load8(&twin.lines, 40));
        moves::store8(&storage.lines, 40, 0x1234_5678_9ABC_DEF0);
        portable::store8(&twin.lines, 40, 0x1234_5678_9ABC_DEF0);
        moves::store2(&storage.lines, 50, 0xFEDC);
        portable::store2(&twin.lines, 50, 0xFEDC);
        moves::store1(&storage.lines, 61, 0xAB);
        portable::store1(&twin.lines, 61, 0xAB);
        let old = moves::update8(&storage, 72, |old| old ^ 5);
        assert_eq!(old, portable::update8(&twin, 72, |old| old ^ 5));
        moves::store_line(&storage, 100, &[9u32; 32]);
        portable::store_line(&twin, 100, &[9u32; 32]);
        let (mut here, mut there) = ([0u64; 32], [0u64; 32]);
        moves::load_line(&storage, 0, &mut here);
        portable::load_line(&twin, 0, &mut there);
        assert_eq!(here, there);
        let mut bytes = [0; portable::BLOCK];
        portable::load_block(&numbered(16).lines, 5, &mut bytes);
        assert_eq!(bytes, [6, 7, 8, 9]);
    }
}
