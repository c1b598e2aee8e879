//! The numbers in `launch!`'s brackets.

/// A grid in blocks, or a block in threads: an integer, or a tuple or array of one to three integers (x, y, z) of any
/// integer types. What is missing counts as 1.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no size of a grid or block",
    label = "expected an integer, or a tuple of one to three integers",
    note = "`launch!(kernel[grid, block](…))`: the grid counts blocks, the block counts threads: `[64, 256]`, `[(n / 16, n / 16), (16, 16)]`"
)]
pub trait LaunchSize {
    /// Sizes along x, y, z.
    fn axes(self) -> [i128; 3];
}

/// Dynamic shared memory in bytes: any integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number of bytes of dynamic shared memory",
    label = "expected an integer",
    note = "`launch!(kernel[grid, block, shared_bytes, &stream](…))`: the third is dynamic shared memory in bytes, the stream comes fourth"
)]
pub trait SharedBytes {
    /// The number of bytes.
    fn bytes(self) -> i128;
}

/// One axis of a size: any integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no size of a grid or block along one axis",
    label = "expected an integer"
)]
pub trait Axis {
    /// The size.
    fn axis(self) -> i128;
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Axis for $ty {
            fn axis(self) -> i128 {
                self as i128
            }
        }

        impl LaunchSize for $ty {
            fn axes(self) -> [i128; 3] {
                [self as i128, 1, 1]
            }
        }

        impl SharedBytes for $ty {
            fn bytes(self) -> i128 {
                self as i128
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl<X: Axis> LaunchSize for (X,) {
    fn axes(self) -> [i128; 3] {
        [self.0.axis(), 1, 1]
    }
}

impl<X: Axis, Y: Axis> LaunchSize for (X, Y) {
    fn axes(self) -> [i128; 3] {
        [self.0.axis(), self.1.axis(), 1]
    }
}

impl<X: Axis, Y: Axis, Z: Axis> LaunchSize for (X, Y, Z) {
    fn axes(self) -> [i128; 3] {
        [self.0.axis(), self.1.axis(), self.2.axis()]
    }
}

impl<X: Axis> LaunchSize for [X; 1] {
    fn axes(self) -> [i128; 3] {
        let [x] = self;
        [x.axis(), 1, 1]
    }
}

impl<X: Axis> LaunchSize for [X; 2] {
    fn axes(self) -> [i128; 3] {
        let [x, y] = self;
        [x.axis(), y.axis(), 1]
    }
}

impl<X: Axis> LaunchSize for [X; 3] {
    fn axes(self) -> [i128; 3] {
        self.map(X::axis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(7.axes(), [7, 1, 1]);
        assert_eq!(7_usize.axes(), [7, 1, 1]);
        assert_eq!((2_usize, 3).axes(), [2, 3, 1]);
        assert_eq!((2_u8, 3_i64, 4_u32).axes(), [2, 3, 4]);
        assert_eq!((5,).axes(), [5, 1, 1]);
        assert_eq!([2_u32, 3].axes(), [2, 3, 1]);
        assert_eq!((-1).axes(), [-1, 1, 1]);
        assert_eq!(u64::MAX.axes(), [i128::from(u64::MAX), 1, 1]);
        assert_eq!(48_usize.bytes(), 48);
    }
}
