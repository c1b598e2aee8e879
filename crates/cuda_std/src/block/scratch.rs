//! Shared memory in which the warps of a block pass each other a value.

use core::mem::MaybeUninit;

/// Warps in the largest block: 1024 threads (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const WARPS: usize = 32;

/// Largest value, in bytes.
const LARGEST: usize = 256;

/// Alignment of the slots, in bytes.
const ALIGNMENT: usize = 16;

/// A slot of `BYTES` bytes for each warp.
#[repr(C, align(16))]
struct Slots<const BYTES: usize>([[u8; BYTES]; WARPS]);

/// A slot for each warp: the same for all calls with values of about this size, and 32 times as large as the value, rounded up to
/// a power of two.
///
/// A `static` cannot depend on `T`, so there is one for each power of two; those not in use are not in the PTX.
#[inline(always)]
pub(super) fn slots<T>() -> *mut T {
    const {
        assert!(
            size_of::<T>() <= LARGEST,
            "the threads of a block exchange values of at most 256 bytes: pass parts of this one"
        );
        assert!(
            align_of::<T>() <= ALIGNMENT,
            "the threads of a block exchange values aligned to at most 16 bytes"
        );
    }
    of_size(const { size_of::<T>() }).cast()
}

macro_rules! of_size {
    ($($SLOTS:ident: $bytes:literal),+) => {
        /// Memory with a slot of at least so many bytes for each warp.
        #[inline(always)]
        fn of_size(bytes: usize) -> *mut u8 {
            $(
                if bytes <= $bytes {
                    #[crate::address_space(shared)]
                    static mut $SLOTS: MaybeUninit<Slots<$bytes>> = MaybeUninit::uninit();
                    return (&raw mut $SLOTS).cast();
                }
            )+
            unreachable!()
        }
    };
}

of_size!(SLOTS_4: 4, SLOTS_8: 8, SLOTS_16: 16, SLOTS_32: 32, SLOTS_64: 64, SLOTS_128: 128, SLOTS_256: 256);
