//! The GPU architectures a kernel can be compiled for.

use std::fmt;
use std::str::FromStr;

/// Declares [`NvvmArch`] from one table: variant, LLVM's processor name, compute capability, and the lowest PTX ISA
/// version that knows it (PTX ISA, "Release Notes"; LLVM 22 refuses less).
macro_rules! architectures {
    ($($(#[$attribute:meta])* $variant:ident $cpu:literal ($major:literal, $minor:literal) ptx ($ptx_major:literal, $ptx_minor:literal);)*) => {
        /// A GPU architecture to compile for, named as rust-cuda names it.
        ///
        /// A plain architecture's PTX runs on that GPU and on every newer one, because the driver compiles PTX for the GPU it
        /// finds. The default is therefore [`Compute75`](Self::Compute75) (Turing, 2018), the oldest architecture that CUDA 13
        /// still supports: one PTX file for every GPU. Choose a newer one when a kernel uses an instruction that needs it.
        ///
        /// The `a` variants add instructions that exist on exactly that GPU (`wgmma` on [`Compute90a`](Self::Compute90a)),
        /// the `f` variants those of one family of GPUs; neither runs on newer GPUs.
        ///
        /// rust-cuda's `Compute73` is missing: no GPU has it, and LLVM doesn't know it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        #[non_exhaustive]
        pub enum NvvmArch {
            $(
                #[doc = concat!("Compute capability ", stringify!($major), ".", stringify!($minor), ": LLVM and ptxas call it `", $cpu, "`.")]
                $(#[$attribute])*
                $variant,
            )*
        }

        impl NvvmArch {
            /// Every architecture, oldest first.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name LLVM, rustc and ptxas use, such as `sm_90a`.
            #[must_use]
            pub fn target_cpu(self) -> &'static str {
                match self { $(Self::$variant => $cpu,)* }
            }

            /// The major number of the compute capability: 9 for `sm_90a`.
            #[must_use]
            pub fn major_version(self) -> u32 {
                match self { $(Self::$variant => $major,)* }
            }

            /// The minor number of the compute capability: 6 for `sm_86`.
            #[must_use]
            pub fn minor_version(self) -> u32 {
                match self { $(Self::$variant => $minor,)* }
            }

            /// The lowest PTX ISA version, as (major, minor), that has this architecture.
            #[must_use]
            pub fn minimum_ptx_version(self) -> (u32, u32) {
                match self { $(Self::$variant => ($ptx_major, $ptx_minor),)* }
            }
        }
    };
}

architectures! {
    Compute50 "sm_50" (5, 0) ptx (4, 0);
    Compute52 "sm_52" (5, 2) ptx (4, 1);
    Compute53 "sm_53" (5, 3) ptx (4, 2);
    Compute60 "sm_60" (6, 0) ptx (5, 0);
    Compute61 "sm_61" (6, 1) ptx (5, 0);
    Compute62 "sm_62" (6, 2) ptx (5, 0);
    Compute70 "sm_70" (7, 0) ptx (6, 0);
    Compute72 "sm_72" (7, 2) ptx (6, 1);
    #[default]
    Compute75 "sm_75" (7, 5) ptx (6, 3);
    Compute80 "sm_80" (8, 0) ptx (7, 0);
    Compute86 "sm_86" (8, 6) ptx (7, 1);
    Compute87 "sm_87" (8, 7) ptx (7, 4);
    Compute88 "sm_88" (8, 8) ptx (9, 0);
    Compute89 "sm_89" (8, 9) ptx (7, 8);
    Compute90 "sm_90" (9, 0) ptx (7, 8);
    Compute90a "sm_90a" (9, 0) ptx (8, 0);
    Compute100 "sm_100" (10, 0) ptx (8, 6);
    Compute100f "sm_100f" (10, 0) ptx (8, 8);
    Compute100a "sm_100a" (10, 0) ptx (8, 6);
    Compute101 "sm_101" (10, 1) ptx (8, 6);
    Compute101f "sm_101f" (10, 1) ptx (8, 8);
    Compute101a "sm_101a" (10, 1) ptx (8, 6);
    Compute103 "sm_103" (10, 3) ptx (8, 8);
    Compute103f "sm_103f" (10, 3) ptx (8, 8);
    Compute103a "sm_103a" (10, 3) ptx (8, 8);
    Compute110 "sm_110" (11, 0) ptx (9, 0);
    Compute110f "sm_110f" (11, 0) ptx (9, 0);
    Compute110a "sm_110a" (11, 0) ptx (9, 0);
    Compute120 "sm_120" (12, 0) ptx (8, 7);
    Compute120f "sm_120f" (12, 0) ptx (8, 8);
    Compute120a "sm_120a" (12, 0) ptx (8, 7);
    Compute121 "sm_121" (12, 1) ptx (8, 8);
    Compute121f "sm_121f" (12, 1) ptx (8, 8);
    Compute121a "sm_121a" (12, 1) ptx (8, 8);
}

/// PTX ISA 7.8 came with CUDA 11.8 (2022): new enough for every instruction LLVM selects for the default architecture, and
/// old enough for any driver since 520. A driver refuses a PTX version newer than its own CUDA (580 refuses more than 9.0).
const DEFAULT_PTX_VERSION: (u32, u32) = (7, 8);

impl NvvmArch {
    /// The compute capability as one number: 75 for `sm_75`, 100 for `sm_100a`.
    #[must_use]
    pub fn capability_value(self) -> u32 {
        self.major_version() * 10 + self.minor_version()
    }

    /// The name with rust-cuda's prefix, such as `compute_90a`.
    #[must_use]
    pub fn target_feature(self) -> String {
        self.target_cpu().replacen("sm_", "compute_", 1)
    }

    /// The features that a kernel crate sees when it is compiled for this architecture, each as `cfg(target_feature = "compute_80")`:
    /// all plain architectures up to this one, and for the `a` and `f` variants those with the same instructions.
    ///
    /// ```
    /// use cuda_builder::NvvmArch;
    /// let features: Vec<String> = NvvmArch::Compute100a.all_target_features().collect();
    /// for name in ["compute_90", "compute_100", "compute_100f", "compute_100a"] {
    ///     assert!(features.iter().any(|feature| feature == name), "{name}");
    /// }
    /// // What only Hopper has, Blackwell doesn't.
    /// assert!(!features.iter().any(|feature| feature == "compute_90a"));
    /// ```
    pub fn all_target_features(self) -> impl Iterator<Item = String> {
        // PTX ISA, ".target": `f` is of one family, the capabilities with the same major number from its own minor number on; `a`
        // has all of them.
        let included = move |other: Self| {
            let at_most = other.capability_value() <= self.capability_value();
            match (other.variant(), self.variant()) {
                ("", _) => at_most,
                ("f", "f" | "a") => at_most && other.major_version() == self.major_version(),
                _ => other == self,
            }
        };
        Self::ALL.iter().copied().filter(move |other| included(*other)).map(Self::target_feature)
    }

    /// `a`, `f` or nothing.
    fn variant(self) -> &'static str {
        self.target_cpu().trim_start_matches(|c: char| !matches!(c, 'a' | 'f'))
    }

    /// The PTX ISA version that [`CudaBuilder`](crate::CudaBuilder) writes unless told otherwise: 7.8, or the lowest that
    /// knows the architecture where that is more. Any driver from 520 (CUDA 11.8) on reads 7.8.
    #[must_use]
    pub fn default_ptx_version(self) -> (u32, u32) {
        self.minimum_ptx_version().max(DEFAULT_PTX_VERSION)
    }
}

impl fmt::Display for NvvmArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target_cpu())
    }
}

/// Reads `sm_90a`, `compute_90a` or `90a`.
///
/// ```
/// use cuda_builder::NvvmArch;
/// assert_eq!("sm_90a".parse::<NvvmArch>()?, NvvmArch::Compute90a);
/// assert_eq!("compute_75".parse::<NvvmArch>()?, NvvmArch::Compute75);
/// # Ok::<(), cuda_builder::UnknownArch>(())
/// ```
impl FromStr for NvvmArch {
    type Err = crate::UnknownArch;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let number =
            name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_")).unwrap_or(name);
        Self::ALL
            .iter()
            .copied()
            .find(|arch| arch.target_cpu().strip_prefix("sm_") == Some(number))
            .ok_or_else(|| crate::UnknownArch(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_agree_with_the_capability() {
        for &arch in NvvmArch::ALL {
            assert_eq!(arch.target_cpu().parse(), Ok(arch));
            assert_eq!(arch.target_feature().parse(), Ok(arch));
            let digits = arch.target_cpu().trim_start_matches("sm_").trim_end_matches(['a', 'f']);
            assert_eq!(digits, arch.capability_value().to_string(), "{arch}");
        }
    }

    #[test]
    fn features_go_up_to_the_architecture() {
        let features = |arch: NvvmArch| arch.all_target_features().collect::<Vec<_>>();
        assert_eq!(
            features(NvvmArch::Compute60),
            ["compute_50", "compute_52", "compute_53", "compute_60"]
        );
        let special = |arch: NvvmArch| {
            let mut all = features(arch);
            all.retain(|name| name.ends_with(['a', 'f']));
            all
        };
        assert_eq!(special(NvvmArch::Compute90a), ["compute_90a"]);
        assert_eq!(special(NvvmArch::Compute103), [""; 0]);
        assert_eq!(
            special(NvvmArch::Compute103f),
            ["compute_100f", "compute_101f", "compute_103f"]
        );
        assert_eq!(special(NvvmArch::Compute110a), ["compute_110f", "compute_110a"]);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "sm_42".parse::<NvvmArch>().expect_err("there is no sm_42").to_string();
        assert!(
            error.contains("sm_42") && error.contains("sm_75") && error.contains("sm_121a"),
            "{error}"
        );
    }

    #[test]
    fn the_default_runs_everywhere_cuda_13_does() {
        assert_eq!(NvvmArch::default(), NvvmArch::Compute75);
        assert_eq!(NvvmArch::Compute75.default_ptx_version(), (7, 8));
        assert_eq!(NvvmArch::Compute120.default_ptx_version(), (8, 7));
        // Driver 580 (CUDA 13.0) refuses more than 9.0, so no default may ask for more.
        assert!(NvvmArch::ALL.iter().all(|arch| arch.default_ptx_version() <= (9, 0)));
    }
}
