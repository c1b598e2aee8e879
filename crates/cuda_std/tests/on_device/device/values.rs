//! Values as bytes, and kernel parameters.

use std::ffi::c_void;

use cuda_std::{bf16, f16};

/// A kernel's parameters, in order.
#[derive(Default)]
pub struct Params(Vec<Param>);

/// One parameter: its bytes, and the alignment in bytes of its type.
struct Param {
    bytes: Vec<u8>,
    alignment: usize,
}

impl Params {
    pub fn value<T: Bytes>(self, value: T) -> Self {
        self.bytes(&value.bytes(), align_of::<T>())
    }

    pub fn bytes(mut self, bytes: &[u8], alignment: usize) -> Self {
        self.0.push(Param { bytes: bytes.to_vec(), alignment });
        self
    }

    /// A slice: address and length.
    pub fn slice(self, address: u64, len: usize) -> Self {
        self.value(address).value(len as u64)
    }

    /// All of them, one behind the other, each at a multiple of its alignment.
    pub fn packed(&self) -> Vec<u8> {
        let mut packed: Vec<u8> = Vec::new();
        for Param { bytes, alignment } in &self.0 {
            packed.resize(packed.len().next_multiple_of(*alignment), 0);
            packed.extend_from_slice(bytes);
        }
        packed
    }

    /// A pointer to each, as `cuLaunchKernel` takes them. Valid as long as `self` is.
    pub fn pointers(&self) -> Vec<*mut c_void> {
        self.0.iter().map(|param| param.bytes.as_ptr().cast_mut().cast()).collect()
    }
}

/// Plain values, little-endian as on the device.
pub trait Bytes: Sized {
    fn bytes(&self) -> Vec<u8>;
    fn of_bytes(bytes: &[u8]) -> Self;
}

macro_rules! bytes {
    ($($T:ty),+) => {$(
        impl Bytes for $T {
            fn bytes(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }

            fn of_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
            }
        }
    )+};
}

bytes!(u8, i8, u16, i16, u32, i32, u64, i64, i128, f32, f64, f16, bf16);

impl<T: Bytes, const N: usize> Bytes for [T; N] {
    fn bytes(&self) -> Vec<u8> {
        self.iter().flat_map(T::bytes).collect()
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let mut values = bytes.chunks_exact(size_of::<T>()).map(T::of_bytes);
        std::array::from_fn(|_| values.next().expect("as many bytes as the array has"))
    }
}

/// Numbers that repeat nowhere (SplitMix64).
pub fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |step: u64| {
        let mut z = seed.wrapping_add(step.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    })
}
