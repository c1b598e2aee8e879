//! The small vectors in which indices and sizes of two and three dimensions come.

macro_rules! vector {
    ($(#[$doc:meta])* $Name:ident, $n:literal, $($axis:ident),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(C)]
        pub struct $Name {
            $(
                #[doc = concat!("The ", stringify!($axis), " component.")]
                pub $axis: u32,
            )+
        }

        impl $Name {
            /// All components 0.
            pub const ZERO: Self = Self::splat(0);
            /// All components 1.
            pub const ONE: Self = Self::splat(1);

            /// A vector of these components.
            #[inline]
            #[must_use]
            pub const fn new($($axis: u32),+) -> Self {
                Self { $($axis),+ }
            }

            /// A vector with `value` in each component.
            #[inline]
            #[must_use]
            pub const fn splat(value: u32) -> Self {
                Self { $($axis: value),+ }
            }

            /// The components in order.
            #[inline]
            #[must_use]
            pub const fn to_array(self) -> [u32; $n] {
                [$(self.$axis),+]
            }

            /// The product of the components, in 64 bits: the number of elements of a grid of this size.
            ///
            /// Three full 32-bit components do not fit; CUDA's own limits (1024 threads in a block, 2^31 blocks in x)
            /// keep a block's or a grid's product far below.
            #[inline]
            #[must_use]
            pub const fn element_count(self) -> u64 {
                1 $(* self.$axis as u64)+
            }
        }

        impl From<[u32; $n]> for $Name {
            #[inline]
            fn from([$($axis),+]: [u32; $n]) -> Self {
                Self { $($axis),+ }
            }
        }

        impl From<$Name> for [u32; $n] {
            #[inline]
            fn from(vector: $Name) -> Self {
                vector.to_array()
            }
        }

        vector!(@operator $Name, Add, add, +, "sum", $($axis),+);
        vector!(@operator $Name, Sub, sub, -, "difference", $($axis),+);
        vector!(@operator $Name, Mul, mul, *, "product", $($axis),+);
        vector!(@operator $Name, Div, div, /, "quotient", $($axis),+);
        vector!(@operator $Name, Rem, rem, %, "remainder", $($axis),+);
    };
    (@operator $Name:ident, $Trait:ident, $method:ident, $op:tt, $word:literal, $($axis:ident),+) => {
        #[doc = concat!("Component by component.")]
        impl core::ops::$Trait for $Name {
            type Output = Self;

            #[inline]
            fn $method(self, other: Self) -> Self {
                Self { $($axis: self.$axis $op other.$axis),+ }
            }
        }

        #[doc = concat!("The ", $word, " of each component and one number.")]
        impl core::ops::$Trait<u32> for $Name {
            type Output = Self;

            #[inline]
            fn $method(self, other: u32) -> Self {
                Self { $($axis: self.$axis $op other),+ }
            }
        }
    };
}

vector! {
    /// Two `u32`s: an index or a size in two dimensions.
    UVec2, 2, x, y
}
vector! {
    /// Three `u32`s: an index or a size in three dimensions.
    UVec3, 3, x, y, z
}

impl From<(u32, u32)> for UVec2 {
    #[inline]
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y }
    }
}

impl From<(u32, u32, u32)> for UVec3 {
    #[inline]
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}

#[cfg(test)]
mod tests {
    use super::{UVec2, UVec3};

    #[test]
    fn components_keep_their_places() {
        assert_eq!(UVec3::from((1, 2, 3)).to_array(), [1, 2, 3]);
        assert_eq!(UVec2::from([4, 5]), UVec2 { x: 4, y: 5 });
    }

    #[test]
    fn operators_work_by_component() {
        let a = UVec3::new(7, 8, 9);
        assert_eq!(a + UVec3::ONE, UVec3::new(8, 9, 10));
        assert_eq!(a * 2 - UVec3::new(0, 1, 2), UVec3::new(14, 15, 16));
        assert_eq!((a / 2, a % 4), (UVec3::new(3, 4, 4), UVec3::new(3, 0, 1)));
    }

    #[test]
    fn counts_need_more_than_32_bits() {
        assert_eq!(UVec2::splat(1 << 20).element_count(), 1 << 40);
    }
}
