//! Sets of options with a name.

use super::{CudaBuilder, DebugInfo};

/// A set of options for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// The default options: optimised, with line numbers, subnormals kept, division and square root rounded correctly, `a * b + c`
    /// fused.
    #[default]
    Release,
    /// For finding mistakes: overflow checks and debug assertions, no optimisation, so that the PTX follows the source, and
    /// line numbers. As `nvcc -G`, kernels run many times slower.
    Debug,
    /// For speed where a few bits don't matter, as [`CudaBuilder::fast_math`].
    FastMath,
    /// For the CPU's results: as [`Release`](Self::Release), and each operation rounds on its own. Sums, products, quotients and square
    /// roots have the bits that the CPU gives; functions such as `sin` don't, they come from other code.
    Precise,
}

impl CudaBuilder {
    /// Sets [`release`](Self::release), [`nvvm_opts`](Self::nvvm_opts), [`debug`](Self::debug), [`ftz`](Self::ftz),
    /// [`fast_div`](Self::fast_div), [`fast_sqrt`](Self::fast_sqrt) and [`fma_contraction`](Self::fma_contraction) for a purpose.
    /// Calls of these methods after it count, those before it don't.
    ///
    /// ```
    /// use cuda_builder::{CudaBuilder, Profile};
    ///
    /// // Everything of the debug profile but its speed.
    /// let builder = CudaBuilder::new("kernels").profile(Profile::Debug).nvvm_opts(true);
    /// assert!(!builder.release && builder.nvvm_opts);
    /// ```
    pub fn profile(self, profile: Profile) -> Self {
        let debug = profile == Profile::Debug;
        self.release(!debug)
            .nvvm_opts(!debug)
            .debug(DebugInfo::LineTables)
            .fast_math(profile == Profile::FastMath)
            .fma_contraction(profile != Profile::Precise)
    }

    /// `true` is [`ftz`](Self::ftz), [`fast_div`](Self::fast_div), [`fast_sqrt`](Self::fast_sqrt) and
    /// [`fma_contraction`](Self::fma_contraction) together, as nvcc's `--use_fast_math`; `false` turns the first three off, as is
    /// the default, and leaves contraction on. Unlike nvcc's, it doesn't replace `sin` and the like by approximations: those are
    /// `x.fast_sin()` and its kin in `cuda_std`.
    pub fn fast_math(self, fast_math: bool) -> Self {
        self.ftz(fast_math).fast_div(fast_math).fast_sqrt(fast_math).fma_contraction(true)
    }
}
