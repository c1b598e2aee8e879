//! The words of [`Storage`](super::Storage) as plain bytes, and on x86-64 the instructions that move many of them at once.

use std::sync::atomic::AtomicU32;

/// Bytes of a [`Line`].
pub(super) const LINE: usize = 16;

/// What storage consists of. Its alignment is that of the widest numbers.
#[derive(Debug)]
#[repr(C, align(16))]
pub(super) struct Line(pub(super) [AtomicU32; LINE / 4]);

impl Line {
    /// All bytes of one value.
    #[inline]
    pub(super) fn of(byte: u8) -> Line {
        Line(std::array::from_fn(|_| AtomicU32::new(u32::from_ne_bytes([byte; 4]))))
    }
}

/// All bytes of lines that nobody else can reach.
pub(super) fn bytes_mut(lines: &mut [Line]) -> &mut [u8] {
    let bytes = size_of_val(lines);
    // SAFETY: a line is 16 bytes of atomic words, which have the layout of plain ones, without gaps; all bytes are initialised, any
    // value is a good one, and nobody else has access for as long as the result lives, because `lines` is borrowed for as long.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u8>(), bytes) }
}

/// Moves of more and of less than a word in one instruction.
///
/// To the compiler an assembly block may do whatever some Rust code could do in its place. Here this is code that accesses the words
/// one after the other, atomically, in relaxed order: what an instruction does at once is one of the orders in which that code's accesses
/// and those of other threads may come.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) mod native {
    use std::arch::asm;
    use std::arch::x86_64::__m128i;

    use super::super::{Number, Storage};
    use super::Line;

    /// Bytes that [`load_block`] moves.
    pub(in super::super) const BLOCK: usize = 64;

    /// The address of the byte at `at`, if `bytes` bytes are there.
    #[inline(always)]
    fn place(lines: &[Line], at: usize, bytes: usize) -> Option<*mut u8> {
        let end = at.checked_add(bytes)?;
        // The bytes are inside atomics, so that they may be written through a shared reference.
        (end <= size_of_val(lines)).then(|| lines.as_ptr().cast::<u8>().cast_mut().wrapping_add(at))
    }

    #[inline(always)]
    pub(in super::super) fn load8(lines: &[Line], at: usize) -> u64 {
        let Some(place) = place(lines, at, 8) else {
            return 0;
        };
        let value;
        // SAFETY: eight bytes are there. It does what two relaxed loads of words do.
        unsafe {
            asm!(
                "mov {value}, qword ptr [{place}]",
                place = in(reg) place,
                value = out(reg) value,
                options(readonly, nostack, preserves_flags),
            );
        }
        value
    }

    #[inline(always)]
    pub(in super::super) fn store8(lines: &[Line], at: usize, value: u64) {
        let Some(place) = place(lines, at, 8) else {
            return;
        };
        // SAFETY: eight bytes are there. It does what two relaxed stores of words do.
        unsafe {
            asm!(
                "mov qword ptr [{place}], {value}",
                place = in(reg) place,
                value = in(reg) value,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline(always)]
    pub(in super::super) fn store2(lines: &[Line], at: usize, value: u16) {
        let Some(place) = place(lines, at, 2) else {
            return;
        };
        // SAFETY: two bytes are there. It does what a relaxed `fetch_update` of their word does that leaves the other bytes as
        // they are.
        unsafe {
            asm!(
                "mov word ptr [{place}], {value:x}",
                place = in(reg) place,
                value = in(reg) value,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline(always)]
    pub(in super::super) fn store1(lines: &[Line], at: usize, value: u8) {
        let Some(place) = place(lines, at, 1) else {
            return;
        };
        // SAFETY: the byte is there. It does what a relaxed `fetch_update` of its word does that leaves the other bytes as they are.
        unsafe {
            asm!(
                "mov byte ptr [{place}], {value}",
                place = in(reg) place,
                value = in(reg_byte) value,
                options(nostack, preserves_flags),
            );
        }
    }

    /// Changes eight bytes.
    #[inline]
    pub(in super::super) fn update8(
        storage: &Storage,
        at: usize,
        change: impl Fn(u64) -> u64,
    ) -> u64 {
        let mut old = load8(&storage.lines, at);
        let Some(place) = place(&storage.lines, at, 8) else {
            return 0;
        };
        loop {
            let found: u64;
            // SAFETY: eight bytes are there. It does what code does that takes a lock which all changes of eight bytes share, loads two words
            // and stores two words if they hold what they should, all relaxed.
            unsafe {
                asm!(
                    "lock cmpxchg qword ptr [{place}], {new}",
                    place = in(reg) place,
                    new = in(reg) change(old),
                    inout("rax") old => found,
                    options(nostack),
                );
            }
            if found == old {
                return old;
            }
            old = found;
        }
    }

    /// Copies the bytes at `at`, if they are all there.
    #[inline(always)]
    pub(in super::super) fn load_block(lines: &[Line], at: usize, target: &mut [u8; BLOCK]) {
        if let Some(place) = place(lines, at, BLOCK) {
            // SAFETY: 64 bytes are there.
            unsafe { load64(place, target) };
        }
    }

    /// Reads numbers that lie one after the other.
    #[inline(always)]
    pub(in super::super) fn load_line<T: Number, const N: usize>(
        storage: &Storage,
        at: usize,
        target: &mut [T; N],
    ) {
        const { assert!((N * size_of::<T>()).is_multiple_of(BLOCK)) };
        let Some(start) = place(&storage.lines, at, N * size_of::<T>()) else {
            return;
        };
        let (blocks, _) = bytemuck::must_cast_slice_mut::<T, u8>(target).as_chunks_mut::<BLOCK>();
        for (number, block) in blocks.iter_mut().enumerate() {
            // SAFETY: the blocks of `target` are as many as those at `start`, all of which are there.
            unsafe { load64(start.add(number * BLOCK), block) };
        }
    }

    /// Reads numbers with the same distance from each to the next, if they are all there.
    #[inline(always)]
    pub(in super::super) fn load_apart<T: Number>(
        storage: &Storage,
        at: usize,
        stride: usize,
        target: &mut [T],
    ) {
        let lines = &*storage.lines;
        let Some(steps) = target.len().checked_sub(1) else {
            return;
        };
        // Places that rise or fall evenly between two that are there, without wrapping around, are there too.
        let last = at.wrapping_add(stride.wrapping_mul(steps));
        let near = stride.cast_signed().unsigned_abs() <= size_of_val(lines);
        let (Some(mut place), Some(_), true) =
            (place(lines, at, T::BYTES), place(lines, last, T::BYTES), near)
        else {
            return;
        };
        for number in target {
            // SAFETY: the place lies between the first and the last, both of which are there with all of their bytes.
            *number = unsafe { load_number(place) };
            place = place.wrapping_add(stride);
        }
    }

    /// Reads a number.
    ///
    /// # Safety
    /// Its bytes belong to lines that live.
    #[inline(always)]
    unsafe fn load_number<T: Number>(place: *const u8) -> T {
        let bits: u64;
        // SAFETY: the bytes are there. It does what relaxed loads of one word or two do.
        unsafe {
            if T::BYTES == 8 {
                asm!(
                    "mov {bits}, qword ptr [{place}]",
                    place = in(reg) place,
                    bits = out(reg) bits,
                    options(readonly, nostack, preserves_flags),
                );
            } else {
                asm!(
                    "mov {bits:e}, dword ptr [{place}]",
                    place = in(reg) place,
                    bits = out(reg) bits,
                    options(readonly, nostack, preserves_flags),
                );
            }
        }
        T::of_bits(bits)
    }

    /// Writes numbers one after the other.
    #[inline(always)]
    pub(in super::super) fn store_line<T: Number, const N: usize>(
        storage: &Storage,
        at: usize,
        values: &[T; N],
    ) {
        const { assert!((N * size_of::<T>()).is_multiple_of(BLOCK)) };
        let Some(start) = place(&storage.lines, at, N * size_of::<T>()) else {
            return;
        };
        let (blocks, _) = bytemuck::must_cast_slice::<T, u8>(values).as_chunks::<BLOCK>();
        for (number, block) in blocks.iter().enumerate() {
            // SAFETY: the blocks of `values` are as many as those at `start`, all of which are there.
            unsafe { store64(start.add(number * BLOCK), block) };
        }
    }

    /// Reads 64 bytes.
    ///
    /// # Safety
    /// They belong to lines that live.
    #[inline(always)]
    unsafe fn load64(place: *const u8, target: &mut [u8; BLOCK]) {
        let (a, b, c, d): (__m128i, __m128i, __m128i, __m128i);
        // SAFETY: the bytes are there. It does what relaxed loads of the words do that they are part of.
        unsafe {
            asm!(
                "movups {a}, xmmword ptr [{place}]",
                "movups {b}, xmmword ptr [{place} + 16]",
                "movups {c}, xmmword ptr [{place} + 32]",
                "movups {d}, xmmword ptr [{place} + 48]",
                place = in(reg) place,
                a = out(xmm_reg) a,
                b = out(xmm_reg) b,
                c = out(xmm_reg) c,
                d = out(xmm_reg) d,
                options(readonly, nostack, preserves_flags),
            );
        }
        *target = bytemuck::cast([a, b, c, d]);
    }

    /// Writes 64 bytes.
    ///
    /// # Safety
    /// They belong to lines that live.
    #[inline(always)]
    unsafe fn store64(place: *mut u8, source: &[u8; BLOCK]) {
        let [a, b, c, d]: [__m128i; 4] = bytemuck::cast(*source);
        // SAFETY: the bytes are there. It does what relaxed `fetch_update`s of the words do that they are part of, which leave other
        // bytes as they are.
        unsafe {
            asm!(
                "movups xmmword ptr [{place}], {a}",
                "movups xmmword ptr [{place} + 16], {b}",
                "movups xmmword ptr [{place} + 32], {c}",
                "movups xmmword ptr [{place} + 48], {d}",
                place = in(reg) place,
                a = in(xmm_reg) a,
                b = in(xmm_reg) b,
                c = in(xmm_reg) c,
                d = in(xmm_reg) d,
                options(nostack, preserves_flags),
            );
        }
    }
}
