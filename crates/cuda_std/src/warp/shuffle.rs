//! Values of other lanes.

#[cfg(target_arch = "nvptx64")]
use super::lane_id;
use crate::gpu_only;
use glam::{UVec2, UVec3};

/// LLVM's own intrinsics, convergent as those of [`super`].
#[cfg(target_arch = "nvptx64")]
mod intrinsic {
    #[allow(improper_ctypes)]
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
        pub(super) fn up(mask: u32, value: u32, delta: u32, control: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
        pub(super) fn down(mask: u32, value: u32, delta: u32, control: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
        pub(super) fn idx(mask: u32, value: u32, lane: u32, control: u32) -> u32;
        #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
        pub(super) fn bfly(mask: u32, value: u32, lane_mask: u32, control: u32) -> u32;
    }
}

/// A value that lanes can give each other: numbers, and arrays and tuples of them.
///
/// A shuffle moves 32 bits; larger values are moved in parts. A struct of your own is moved field by field:
///
/// ```
/// use cuda_std::warp::WarpShuffleValue;
///
/// #[derive(Clone, Copy)]
/// struct Best {
///     value: f32,
///     index: u32,
/// }
///
/// impl WarpShuffleValue for Best {
///     fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
///         Best { value: self.value.map_words(&mut f), index: self.index.map_words(&mut f) }
///     }
/// }
///
/// let doubled = Best { value: 0.0, index: 3 }.map_words(|word| 2 * word);
/// assert_eq!(doubled.index, 6);
/// ```
pub trait WarpShuffleValue: Copy {
    /// The value with each of its 32-bit words replaced by what `f` makes of it. All words, and always in the same order:
    /// each lane must shuffle the same word at the same time.
    #[must_use]
    fn map_words(self, f: impl FnMut(u32) -> u32) -> Self;
}

macro_rules! one_word {
    ($($T:ty),+) => {$(
        impl WarpShuffleValue for $T {
            #[inline(always)]
            fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
                f(self as u32) as $T
            }
        }
    )+};
}

one_word!(u8, i8, u16, i16, u32, i32);

macro_rules! words {
    ($($T:ty: $count:literal),+) => {$(
        impl WarpShuffleValue for $T {
            #[inline(always)]
            fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
                let mut value = 0;
                for word in 0..$count {
                    value |= <$T>::from(f((self >> (32 * word)) as u32)) << (32 * word);
                }
                value
            }
        }
    )+};
}

words!(u64: 2, u128: 4);

macro_rules! through {
    ($($T:ty as $Bits:ty: $to:expr, $of:expr);+ $(;)?) => {$(
        impl WarpShuffleValue for $T {
            #[inline(always)]
            fn map_words(self, f: impl FnMut(u32) -> u32) -> Self {
                let (to, of): (fn($T) -> $Bits, fn($Bits) -> $T) = ($to, $of);
                of(to(self).map_words(f))
            }
        }
    )+};
}

through! {
    bool as u32: u32::from, |bits| bits != 0;
    f32 as u32: f32::to_bits, f32::from_bits;
    f64 as u64: f64::to_bits, f64::from_bits;
    i64 as u64: i64::cast_unsigned, u64::cast_signed;
    i128 as u128: i128::cast_unsigned, u128::cast_signed;
    usize as u64: |size| size as u64, |bits| bits as usize;
    isize as u64: |size| size as u64, |bits| bits as isize;
    UVec2 as [u32; 2]: |v| v.to_array(), UVec2::from;
    UVec3 as [u32; 3]: |v| v.to_array(), UVec3::from;
}

impl<T: WarpShuffleValue, const N: usize> WarpShuffleValue for [T; N] {
    #[inline(always)]
    fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
        self.map(|value| value.map_words(&mut f))
    }
}

macro_rules! tuple {
    ($($T:ident $field:tt),+) => {
        impl<$($T: WarpShuffleValue),+> WarpShuffleValue for ($($T,)+) {
            #[inline(always)]
            fn map_words(self, mut f: impl FnMut(u32) -> u32) -> Self {
                ($(self.$field.map_words(&mut f),)+)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

/// The part of the warp a lane exchanges values in: `width` lanes, a power of two.
#[cfg(target_arch = "nvptx64")]
#[derive(Clone, Copy)]
struct Segment {
    /// The bits of a lane's number that say which segment it is in.
    bits: u32,
}

#[cfg(target_arch = "nvptx64")]
impl Segment {
    #[inline(always)]
    fn new(width: u32) -> Self {
        assert!(
            width.is_power_of_two() && width <= 32,
            "the width of a warp shuffle must be 1, 2, 4, 8, 16 or 32 lanes"
        );
        Self { bits: 32 - width }
    }

    /// The instruction's operand `c` (PTX ISA, `shfl.sync`): the segment and the limit within it.
    #[inline(always)]
    fn control(self, limit: u32) -> u32 {
        self.bits << 8 | limit
    }

    #[inline(always)]
    fn first(self) -> u32 {
        lane_id() & self.bits
    }

    #[inline(always)]
    fn last(self) -> u32 {
        self.first() | (31 & !self.bits)
    }
}

/// The value of the lane `delta` higher, and whether there is one in this segment of `width` lanes (1, 2, 4, 8, 16 or 32);
/// the lane's own value if there is not.
///
/// PTX: `shfl.sync.down.b32`, once for each 32 bits of `T`; PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super). The lane asked must be in the mask.
///
/// # Panics
///
/// If `width` is another number.
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_shuffle_down<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    delta: u32,
    width: u32,
) -> (T, bool) {
    let segment = Segment::new(width);
    // SAFETY: the caller's promise.
    let moved =
        value.map_words(|word| unsafe { intrinsic::down(mask, word, delta, segment.control(31)) });
    (moved, lane_id().saturating_add(delta) <= segment.last())
}

/// The value of the lane `delta` lower, and whether there is one in this segment of `width` lanes (1, 2, 4, 8, 16 or 32);
/// the lane's own value if there is not.
///
/// PTX: `shfl.sync.up.b32`, once for each 32 bits of `T`; PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super). The lane asked must be in the mask.
///
/// # Panics
///
/// If `width` is another number.
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_shuffle_up<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    delta: u32,
    width: u32,
) -> (T, bool) {
    let segment = Segment::new(width);
    // SAFETY: the caller's promise.
    let moved =
        value.map_words(|word| unsafe { intrinsic::up(mask, word, delta, segment.control(0)) });
    (moved, lane_id().checked_sub(delta).is_some_and(|lane| lane >= segment.first()))
}

/// The value of lane `lane`, counted from the first of this segment of `width` lanes (1, 2, 4, 8, 16 or 32), modulo
/// `width`. Always in range, so the second result is `true`.
///
/// PTX: `shfl.sync.idx.b32`, once for each 32 bits of `T`; PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super). The lane asked must be in the mask.
///
/// # Panics
///
/// If `width` is another number.
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_shuffle_idx<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    lane: u32,
    width: u32,
) -> (T, bool) {
    let segment = Segment::new(width);
    // SAFETY: the caller's promise.
    let moved =
        value.map_words(|word| unsafe { intrinsic::idx(mask, word, lane, segment.control(31)) });
    (moved, true)
}

/// The value of the lane whose number is this one's with the bits of `lane_mask` flipped, and whether it is not behind this
/// segment of `width` lanes (1, 2, 4, 8, 16 or 32); the lane's own value if it is.
///
/// PTX: `shfl.sync.bfly.b32`, once for each 32 bits of `T`; PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super). The lane asked must be in the mask.
///
/// # Panics
///
/// If `width` is another number.
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_shuffle_xor<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    lane_mask: u32,
    width: u32,
) -> (T, bool) {
    let segment = Segment::new(width);
    // SAFETY: the caller's promise.
    let moved = value
        .map_words(|word| unsafe { intrinsic::bfly(mask, word, lane_mask, segment.control(31)) });
    (moved, lane_id() ^ (lane_mask & 31) <= segment.last())
}

/// The value of lane `lane` (0 to 31, modulo 32) in all lanes of `mask`.
///
/// PTX: `shfl.sync.idx.b32`, once for each 32 bits of `T`; PTX ISA 6.0, sm_30.
///
/// # Safety
///
/// As for every function with a `mask`: see the [module](super). The lane asked must be in the mask.
#[inline(always)]
#[must_use]
#[gpu_only]
pub unsafe fn warp_broadcast<T: WarpShuffleValue>(mask: u32, value: T, lane: u32) -> T {
    // SAFETY: the caller's promise.
    unsafe { warp_shuffle_idx(mask, value, lane, 32) }.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each word in order, and the value that comes of adding 1 to each.
    fn words<T: WarpShuffleValue>(value: T) -> (std::vec::Vec<u32>, T) {
        let mut words = std::vec::Vec::new();
        let next = value.map_words(|word| {
            words.push(word);
            word.wrapping_add(1)
        });
        (words, next)
    }

    #[test]
    fn values_are_moved_in_words_from_the_lowest() {
        assert_eq!(words(7_u8), (std::vec![7], 8));
        assert_eq!(words(-1_i16), (std::vec![u32::MAX], 0));
        assert_eq!(words(0x1_0000_0002_u64), (std::vec![2, 1], 0x2_0000_0003));
        assert_eq!(words(-1_i64), (std::vec![u32::MAX; 2], 0));
        assert_eq!(words(1_u128 << 96), (std::vec![0, 0, 0, 1], 2 << 96 | 1 << 64 | 1 << 32 | 1));
        assert_eq!(words(f32::from_bits(9)), (std::vec![9], f32::from_bits(10)));
        assert_eq!(words((1_u32, [2_u32, 3])), (std::vec![1, 2, 3], (2, [3, 4])));
        assert_eq!(words(UVec3::new(1, 2, 3)).1, UVec3::new(2, 3, 4));
        assert!(words(false).1);
    }
}
