//! What neither core nor the `libm` crate has, for kernels without libdevice. Plain Rust, the same on device and host.
//!
//! In f64 only: functions of f32 are computed in f64 and rounded once, which leaves them correctly rounded but for rare ties.

pub(crate) mod bessel;
pub(crate) mod error_function;
pub(crate) mod norm;
pub(crate) mod pi;
pub(crate) mod root;

/// A number as the sum of two: about 106 bits. The second is at most half a unit in the last place of the first.
#[derive(Clone, Copy)]
pub(crate) struct Double {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl Double {
    /// `a * b`, exactly (but for underflow).
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: libm::fma(a, b, -high) }
    }

    /// `a + b`, exactly (Knuth's TwoSum).
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let b_rounded = high - a;
        Self { high, low: (a - (high - b_rounded)) + (b - b_rounded) }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let Self { high, low } = Self::product(self.high, other.high);
        Self::sum(high, low + (self.high * other.low + self.low * other.high))
    }

    pub(crate) fn over(self, divisor: f64) -> Self {
        let high = self.high / divisor;
        let rest = libm::fma(-high, divisor, self.high) + self.low;
        Self::sum(high, rest / divisor)
    }

    pub(crate) fn plus(self, other: f64) -> Self {
        let Self { high, low } = Self::sum(self.high, other);
        Self::sum(high, low + self.low)
    }

    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}
