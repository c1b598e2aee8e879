//! Comparing bytes.

/// C's `memcmp`. `cuda_builder` has it called where Rust calls that one: comparing slices of bytes does, and texts, and `core::fmt`.
///
/// # Safety
///
/// `len` bytes at `a` and at `b` can be read.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cuda_std_memcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
    let mut index = 0;
    while index < len {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (*a.add(index), *b.add(index)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
        index += 1;
    }
    0
}
