//! Hints for the errors that kernel crates meet most.

use super::messages::Messages;
use super::metadata::Package;

/// What to do about the errors, one hint a line; empty when rustc's own words are enough.
pub(super) fn for_errors(messages: &Messages, text: &str, package: &Package) -> Vec<String> {
    let mut help = Vec::new();
    let without_std: Vec<&str> = messages
        .errors
        .iter()
        .filter(|error| {
            error.rendered.contains("can't find crate for `std`")
                || error.rendered.contains("can't find crate for \u{1b}")
        })
        .map(|error| error.krate.as_str())
        .collect();
    match without_std.first() {
        Some(name) if name.replace('-', "_") == package.library => {
            help.push(format!("a GPU has no std: begin {} with `#![no_std]`", package.root_source.display()));
        }
        Some(name) => help.push(format!(
            "crate `{name}` needs std, which a GPU doesn't have: turn its std feature off (`default-features = false`), or move it to `[target.'cfg(not(target_arch = \"nvptx64\"))'.dependencies]` if only the host uses it (`cargo tree -i {name}` shows what asks for it)"
        )),
        None => {}
    }
    if text.contains("panic_handler") && text.contains("required, but not found") {
        help.push("cuda_std has the panic handler: depend on it, and `use cuda_std::prelude::*;` so that it is linked".to_owned());
    }
    if text.contains("no global memory allocator found") {
        help.push(
            "cuda_std has a global allocator: `use cuda_std::prelude::*;` links it".to_owned(),
        );
    }
    let unreachable = [
        "failed to download",
        "failed to get `",
        "failed to load source",
        "Could not resolve host",
        "no matching package named",
        "--offline",
    ];
    if unreachable.iter().any(|part| text.contains(part)) {
        help.push(
            "cargo could not get a crate: the kernel crate's, or one that the standard library's workspace names (none of those is compiled, but cargo wants to know them); build once with the network, and later builds need none"
                .to_owned(),
        );
    }
    help
}

#[cfg(test)]
mod tests {
    use super::super::messages::Diagnostic;
    use super::*;
    use std::path::PathBuf;

    fn package() -> Package {
        Package {
            name: "my-kernels".to_owned(),
            library: "my_kernels".to_owned(),
            root_source: PathBuf::from("/k/src/lib.rs"),
            manifest: PathBuf::from("/k/Cargo.toml"),
            workspace_root: PathBuf::from("/k"),
            target_directory: PathBuf::from("/k/target"),
        }
    }

    fn missing_std(krate: &str) -> Messages {
        let rendered = "error[E0463]: can't find crate for `std`\n".to_owned();
        let diagnostic = Diagnostic { krate: krate.to_owned(), line: rendered.clone(), rendered };
        Messages { errors: vec![diagnostic], ..Messages::default() }
    }

    #[test]
    fn a_crate_without_no_std_is_told_apart_from_a_dependency() {
        let own = for_errors(&missing_std("my-kernels"), "", &package());
        assert!(
            own.len() == 1 && own[0].contains("#![no_std]") && own[0].contains("/k/src/lib.rs"),
            "{own:?}"
        );
        let dependency = for_errors(&missing_std("itoa"), "", &package());
        assert!(
            dependency.len() == 1 && dependency[0].contains("crate `itoa` needs std"),
            "{dependency:?}"
        );
        assert!(for_errors(&Messages::default(), "error: mismatched types", &package()).is_empty());
    }

    #[test]
    fn an_unreachable_registry_asks_for_the_network() {
        let said = "error: no matching package named `rustc-literal-escaper` found\nlocation searched: crates.io index\n";
        let help = for_errors(&Messages::default(), said, &package());
        assert!(help.len() == 1 && help[0].contains("network"), "{help:?}");
    }
}
