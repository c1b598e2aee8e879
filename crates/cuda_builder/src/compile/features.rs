//! The unstable language features that every kernel crate needs, so that it needs to name none.

/// `extern "ptx-kernel"`, the GPU's intrinsics in `core::arch::nvptx`, and inline PTX.
const FEATURES: [&str; 3] = ["abi_ptx", "stdarch_nvptx", "asm_experimental_arch"];

/// The crate attribute to inject for a crate with this root source; `None` if it names all the features itself. Naming one
/// twice would be an error (E0636).
pub(super) fn crate_attribute(root_source: &str) -> Option<String> {
    let declared = declared_features(root_source);
    let missing: Vec<&str> =
        FEATURES.into_iter().filter(|feature| !declared.contains(feature)).collect();
    (!missing.is_empty()).then(|| format!("feature({})", missing.join(",")))
}

/// The features in the `#![feature(…)]` and `#![cfg_attr(…, feature(…))]` attributes of a source file, comments apart.
fn declared_features(source: &str) -> Vec<&str> {
    let code: Vec<&str> =
        source.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    let mut features = Vec::new();
    let mut in_attribute = false;
    for line in code {
        let line = line.trim();
        in_attribute |= line.starts_with("#![");
        if in_attribute {
            features.extend(
                line.split(|c: char| !c.is_alphanumeric() && c != '_')
                    .filter(|word| FEATURES.contains(word)),
            );
            in_attribute = !line.ends_with(']');
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_crate_gets_all_features() {
        assert_eq!(
            crate_attribute("#![no_std]\nuse cuda_std::prelude::*; // abi_ptx\n").as_deref(),
            Some("feature(abi_ptx,stdarch_nvptx,asm_experimental_arch)")
        );
    }

    #[test]
    fn features_that_the_crate_names_are_left_out() {
        let source = "//! Uses asm_experimental_arch.\n#![no_std]\n#![cfg_attr(\n    target_arch = \"nvptx64\",\n    feature(abi_ptx)\n)]\nfn stdarch_nvptx() {}\n";
        assert_eq!(
            crate_attribute(source).as_deref(),
            Some("feature(stdarch_nvptx,asm_experimental_arch)")
        );
        assert_eq!(
            crate_attribute("#![feature(abi_ptx, stdarch_nvptx, asm_experimental_arch)]"),
            None
        );
    }
}
