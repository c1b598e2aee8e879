//! Loads and stores of global memory with a word about the caches, up to 16 bytes at once.
//!
//! | here | CUDA C++ | PTX | |
//! | --- | --- | --- | --- |
//! | [`load_nc`] | `__ldg` | `ld.global.nc` | through the cache for data that nobody writes meanwhile |
//! | [`load_ca`] | `__ldca` | `ld.global.ca` | in L1 and L2: what loads do anyway |
//! | [`load_cg`] | `__ldcg` | `ld.global.cg` | in L2 alone |
//! | [`load_cs`] | `__ldcs` | `ld.global.cs` | read once: the first to leave the caches |
//! | [`load_lu`] | `__ldlu` | `ld.global.lu` | not needed again: a changed line need not be written back |
//! | [`load_cv`] | `__ldcv` | `ld.global.cv` | from memory, again each time |
//! | [`store_wb`] | `__stwb` | `st.global.wb` | in the caches, written back later: what stores do anyway |
//! | [`store_cg`] | `__stcg` | `st.global.cg` | in L2 alone |
//! | [`store_cs`] | `__stcs` | `st.global.cs` | written once: the first to leave the caches |
//! | [`store_wt`] | `__stwt` | `st.global.wt` | through the caches to memory |
//! | [`prefetch_l1`], [`prefetch_l2`] | | `prefetch.global` | brings a line into a cache |
//!
//! Values have 1, 2, 4, 8 or 16 bytes and are aligned to their size. [`Aligned16`] makes four `f32` such a value, which one instruction
//! moves; an ordinary access through a pointer to it does that, too, and takes part in LLVM's optimisation, which
//! these functions do not. Anything but `nc` is a hint (PTX ISA, "Cache Operators"): values are the same.
//!
//! ```
//! use cuda_std::cache::{F32x4, load_nc, store_cs};
//! use cuda_std::prelude::*;
//!
//! /// `y = 2 * x`, four elements a thread.
//! ///
//! /// # Safety
//! /// `x` and `y` have `n` groups of four elements, and do not overlap.
//! #[kernel]
//! pub unsafe fn double(x: *const F32x4, y: *mut F32x4, n: usize) {
//!     for i in thread::grid_stride(n) {
//!         let four = unsafe { load_nc(x.add(i)) };
//!         unsafe { store_cs(y.add(i), four.map(|x| 2.0 * x).into()) };
//!     }
//! }
//! ```

use core::ops::{Deref, DerefMut};

use crate::gpu_only;
use crate::warp::WarpShuffleValue;

macro_rules! aligned {
    ($(#[$doc:meta])* $Name:ident, $align:literal: $($Alias:ident = [$T:ty; $N:literal]),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(C, align($align))]
        pub struct $Name<T>(pub T);

        impl<T> From<T> for $Name<T> {
            #[inline(always)]
            fn from(value: T) -> Self {
                Self(value)
            }
        }

        impl<T> Deref for $Name<T> {
            type Target = T;

            #[inline(always)]
            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<T> DerefMut for $Name<T> {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut T {
                &mut self.0
            }
        }

        impl<T: WarpShuffleValue> WarpShuffleValue for $Name<T> {
            #[inline(always)]
            fn map_words(self, f: impl FnMut(u32) -> u32) -> Self {
                Self(self.0.map_words(f))
            }
        }

        $(
            #[doc = concat!("`", stringify!($N), "` values of `", stringify!($T), "`, side by side.")]
            pub type $Alias = $Name<[$T; $N]>;
        )+
    };
}

aligned! {
    /// A value aligned to 16 bytes, so that one instruction can move that many: CUDA's `float4`, `int4`, `double2`, ….
    ///
    /// ```
    /// use cuda_std::cache::{Aligned16, F32x4};
    ///
    /// let mut four = F32x4::from([1.0, 2.0, 3.0, 4.0]);
    /// four[2] = 0.0;
    /// assert_eq!(four, Aligned16([1.0, 2.0, 0.0, 4.0]));
    /// assert_eq!(align_of::<F32x4>(), 16);
    /// ```
    Aligned16, 16:
    F32x4 = [f32; 4], I32x4 = [i32; 4], U32x4 = [u32; 4],
    F64x2 = [f64; 2], I64x2 = [i64; 2], U64x2 = [u64; 2],
    U16x8 = [u16; 8], U8x16 = [u8; 16]
}

aligned! {
    /// A value aligned to 8 bytes: CUDA's `float2`, `int2`, `ushort4`, ….
    ///
    /// ```
    /// # use cuda_std::cache::{Aligned8, U32x2};
    /// assert_eq!((align_of::<U32x2>(), U32x2::from([1, 2])), (8, Aligned8([1, 2])));
    /// ```
    Aligned8, 8:
    F32x2 = [f32; 2], I32x2 = [i32; 2], U32x2 = [u32; 2], U16x4 = [u16; 4], U8x8 = [u8; 8]
}

/// Refuses values that no one instruction moves.
#[cfg(target_arch = "nvptx64")]
const fn check<T>() {
    assert!(
        matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16),
        "one instruction moves 1, 2, 4, 8 or 16 bytes"
    );
    assert!(
        align_of::<T>() >= size_of::<T>(),
        "one instruction moves values aligned to their size: wrap this one in `Aligned8` or `Aligned16`"
    );
}

/// An instruction that finds the global address of `$ptr` in `%global`.
#[cfg(target_arch = "nvptx64")]
macro_rules! global {
    ($instruction:expr, $ptr:expr, $($rest:tt)*) => {
        core::arch::asm!(
            "{{",
            ".reg .u64 %global;",
            "cvta.to.global.u64 %global, {ptr};",
            $instruction,
            "}}",
            ptr = in(reg64) $ptr,
            $($rest)*
        )
    };
}

macro_rules! load {
    ($name:ident, $instruction:literal, $c:literal, [$($option:ident),+], $isa:literal, $text:literal, $safety:literal) => {
        #[doc = $text]
        #[doc = ""]
        #[doc = concat!("CUDA: `", $c, "`; PTX: `", $instruction, "`, ", $isa, ".")]
        #[doc = ""]
        #[doc = "`T` has 1, 2, 4, 8 or 16 bytes and is aligned to its size; anything else is a compile error."]
        #[doc = ""]
        #[doc = "# Safety"]
        #[doc = ""]
        #[doc = $safety]
        #[inline(always)]
        #[must_use]
        #[gpu_only]
        pub unsafe fn $name<T: Copy>(ptr: *const T) -> T {
            const { check::<T>() };
            // SAFETY: the caller's promise; 1, 2, 4, 8 or 16 bytes in as many registers.
            unsafe {
                match const { size_of::<T>() } {
                    1 => {
                        let word: u16;
                        global!(concat!($instruction, ".b8 {word}, [%global];"), ptr,
                            word = out(reg16) word, options($($option),+, nostack, preserves_flags));
                        core::mem::transmute_copy(&word)
                    }
                    2 => {
                        let word: u16;
                        global!(concat!($instruction, ".b16 {word}, [%global];"), ptr,
                            word = out(reg16) word, options($($option),+, nostack, preserves_flags));
                        core::mem::transmute_copy(&word)
                    }
                    4 => {
                        let word: u32;
                        global!(concat!($instruction, ".b32 {word}, [%global];"), ptr,
                            word = out(reg32) word, options($($option),+, nostack, preserves_flags));
                        core::mem::transmute_copy(&word)
                    }
                    8 => {
                        let word: u64;
                        global!(concat!($instruction, ".b64 {word}, [%global];"), ptr,
                            word = out(reg64) word, options($($option),+, nostack, preserves_flags));
                        core::mem::transmute_copy(&word)
                    }
                    _ => {
                        let (a, b, c, d): (u32, u32, u32, u32);
                        global!(concat!($instruction, ".v4.b32 {{{a}, {b}, {c}, {d}}}, [%global];"), ptr,
                            a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                            options($($option),+, nostack, preserves_flags));
                        core::mem::transmute_copy(&[a, b, c, d])
                    }
                }
            }
        }
    };
}

// Only what nobody writes may be read once for several loads; the others stay where they are, each of them.
load!(
    load_nc,
    "ld.global.nc",
    "__ldg",
    [pure, readonly],
    "PTX ISA 3.1, sm_32",
    "A value of global memory that nobody writes while the kernel runs.",
    "`ptr` points to a value in global memory, aligned, and no thread writes there until the kernel has ended."
);
load!(
    load_ca,
    "ld.global.ca",
    "__ldca",
    [readonly],
    "PTX ISA 2.0, sm_20",
    "A value of global memory, kept in all caches.",
    "`ptr` points to a value in global memory, aligned, and no other thread writes there at the same time."
);
load!(
    load_cg,
    "ld.global.cg",
    "__ldcg",
    [readonly],
    "PTX ISA 2.0, sm_20",
    "A value of global memory, kept in the L2 cache, which all multiprocessors share, and not in L1.",
    "`ptr` points to a value in global memory, aligned, and no other thread writes there at the same time."
);
load!(
    load_cs,
    "ld.global.cs",
    "__ldcs",
    [readonly],
    "PTX ISA 2.0, sm_20",
    "A value of global memory that is read once: it leaves the caches first.",
    "`ptr` points to a value in global memory, aligned, and no other thread writes there at the same time."
);
load!(
    load_lu,
    "ld.global.lu",
    "__ldlu",
    [readonly],
    "PTX ISA 2.0, sm_20",
    "A value of global memory for the last time.",
    "`ptr` points to a value in global memory, aligned, and no other thread writes there at the same time."
);
load!(
    load_cv,
    "ld.global.cv",
    "__ldcv",
    [readonly],
    "PTX ISA 2.0, sm_20",
    "A value of memory as it is now, past what caches hold: another device or the host may have written it.",
    "`ptr` points to a value in global memory, aligned, and no other thread of the device writes there at the same time."
);

macro_rules! store {
    ($name:ident, $instruction:literal, $c:literal, $text:literal) => {
        #[doc = $text]
        #[doc = ""]
        #[doc = concat!("CUDA: `", $c, "`; PTX: `", $instruction, "`, PTX ISA 2.0, sm_20.")]
        #[doc = ""]
        #[doc = "`T` has 1, 2, 4, 8 or 16 bytes and is aligned to its size; anything else is a compile error."]
        #[doc = ""]
        #[doc = "# Safety"]
        #[doc = ""]
        #[doc = "`ptr` points to a place for a value in global memory, aligned, and no other thread reads or writes there at the same time."]
        #[inline(always)]
        #[gpu_only]
        pub unsafe fn $name<T: Copy>(ptr: *mut T, value: T) {
            const { check::<T>() };
            // SAFETY: the caller's promise; 1, 2, 4, 8 or 16 bytes from as many registers.
            unsafe {
                match const { size_of::<T>() } {
                    1 => {
                        let word: u8 = core::mem::transmute_copy(&value);
                        global!(concat!($instruction, ".b8 [%global], {word};"), ptr,
                            word = in(reg16) u16::from(word), options(nostack, preserves_flags));
                    }
                    2 => {
                        let word: u16 = core::mem::transmute_copy(&value);
                        global!(concat!($instruction, ".b16 [%global], {word};"), ptr,
                            word = in(reg16) word, options(nostack, preserves_flags));
                    }
                    4 => {
                        let word: u32 = core::mem::transmute_copy(&value);
                        global!(concat!($instruction, ".b32 [%global], {word};"), ptr,
                            word = in(reg32) word, options(nostack, preserves_flags));
                    }
                    8 => {
                        let word: u64 = core::mem::transmute_copy(&value);
                        global!(concat!($instruction, ".b64 [%global], {word};"), ptr,
                            word = in(reg64) word, options(nostack, preserves_flags));
                    }
                    _ => {
                        let [a, b, c, d]: [u32; 4] = core::mem::transmute_copy(&value);
                        global!(concat!($instruction, ".v4.b32 [%global], {{{a}, {b}, {c}, {d}}};"), ptr,
                            a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
                            options(nostack, preserves_flags));
                    }
                }
            }
        }
    };
}

store!(
    store_wb,
    "st.global.wb",
    "__stwb",
    "Writes a value to global memory, kept in the caches and written back later."
);
store!(
    store_cg,
    "st.global.cg",
    "__stcg",
    "Writes a value to global memory, kept in the L2 cache, which all multiprocessors share, and not in L1."
);
store!(
    store_cs,
    "st.global.cs",
    "__stcs",
    "Writes a value to global memory that will not be needed soon: it leaves the caches first."
);
store!(
    store_wt,
    "st.global.wt",
    "__stwt",
    "Writes a value through the caches to memory, where the host or another device reads it."
);

macro_rules! prefetch {
    ($name:ident, $level:literal) => {
        #[doc = concat!("Brings the line of global memory that `ptr` points into to the ", $level, " cache.")]
        #[doc = ""]
        #[doc = concat!("PTX: `prefetch.global.", $level, "`, PTX ISA 2.0, sm_20.")]
        #[doc = ""]
        #[doc = "# Safety"]
        #[doc = ""]
        #[doc = "`ptr` points into global memory."]
        #[inline(always)]
        #[gpu_only]
        pub unsafe fn $name<T>(ptr: *const T) {
            // SAFETY: changes what is in a cache, not what is in memory.
            unsafe {
                global!(concat!("prefetch.global.", $level, " [%global];"), ptr,
                    options(nostack, preserves_flags, readonly));
            }
        }
    };
}

prefetch!(prefetch_l1, "L1");
prefetch!(prefetch_l2, "L2");
