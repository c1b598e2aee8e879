//! The files a build depends on, so that cargo runs the build script again when one changes and never otherwise.
//!
//! The nested cargo writes a dependency list in make's format: for the crate and all crates on this disk below it (`cuda_std`,
//! its macros, a crate of device functions) every source file, every file they include, and what their build scripts watch.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::compile::{Compiled, Package};
use crate::error::CudaBuilderError;

/// The files that went into a build: sources, manifests, and the lock file.
///
/// # Errors
///
/// If cargo's dependency list can't be read.
pub(crate) fn files(
    compiled: &Compiled,
    package: &Package,
) -> Result<BTreeSet<PathBuf>, CudaBuilderError> {
    let mut files = sources(compiled, package)?;
    files.extend(compiled.manifests.iter().cloned());
    files.insert(package.manifest.clone());
    for name in ["Cargo.toml", "Cargo.lock"] {
        let path = package.workspace_root.join(name);
        // A file that isn't there would make cargo run the build script every time.
        if path.is_file() {
            files.insert(path);
        }
    }
    Ok(files)
}

/// The source files, and those that they include.
///
/// # Errors
///
/// If cargo's dependency list can't be read.
pub(crate) fn sources(
    compiled: &Compiled,
    package: &Package,
) -> Result<BTreeSet<PathBuf>, CudaBuilderError> {
    let list = &compiled.dependency_list;
    let text = std::fs::read_to_string(list)
        .map_err(CudaBuilderError::io("read the dependency list", list))?;
    Ok(parse(&text).into_iter().map(|path| package.workspace_root.join(path)).collect())
}

/// The environment variables that crates read while they compile, with `env!` or `option_env!`; without cargo's own.
pub(crate) fn variables(compiled: &Compiled) -> BTreeSet<String> {
    rustc_lists(compiled)
        .iter()
        .flat_map(|list| parse_variables(list))
        .map(|(name, _)| name)
        .filter(|name| !name.starts_with("CARGO") && *name != "OUT_DIR")
        .map(str::to_owned)
        .collect()
}

/// Whether a crate asks cargo for a folder in the workspace, so that the result is another one elsewhere.
pub(crate) fn asks_for_its_place(compiled: &Compiled, workspace_root: &Path) -> bool {
    let root = workspace_root.to_string_lossy();
    rustc_lists(compiled).iter().flat_map(|list| parse_variables(list)).any(|(name, value)| {
        name.starts_with("CARGO") && value.is_some_and(|value| value.contains(&*root))
    })
}

/// rustc's own dependency lists, of all crates: cargo keeps them beside its object files. Those of crates that no longer go in may be
/// among them, which makes more variables count than need to.
fn rustc_lists(compiled: &Compiled) -> Vec<String> {
    let device = compiled.dependency_list.parent().map(|folder| folder.join("deps"));
    device
        .iter()
        .chain([&compiled.host_lists])
        .flat_map(std::fs::read_dir)
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "d"))
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect()
}

/// Names and values in lines such as `# env-dep:NAME=value`; no value where the variable isn't set.
fn parse_variables(list: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    list.lines().filter_map(|line| line.strip_prefix("# env-dep:")).map(|variable| {
        variable.split_once('=').map_or((variable, None), |(name, value)| (name, Some(value)))
    })
}

/// The lock file of a kernel crate that had none.
///
/// The nested cargo writes one. Cargo would find it younger than the build script's start and run the script once more for
/// nothing, so it gets the manifest's age.
pub(crate) struct NewLockFile {
    path: Option<PathBuf>,
}

impl NewLockFile {
    /// To be called before the nested build.
    pub(crate) fn expect(package: &Package) -> Self {
        let path = package.workspace_root.join("Cargo.lock");
        Self { path: (!path.exists()).then_some(path) }
    }

    /// To be called after it. If the time can't be set, there is one needless build, and nothing is wrong.
    pub(crate) fn age(self, package: &Package) {
        let Some(path) = self.path else { return };
        let time = std::fs::metadata(&package.manifest).and_then(|metadata| metadata.modified());
        let file = std::fs::File::options().write(true).open(path);
        if let (Ok(time), Ok(file)) = (time, file) {
            let _ = file.set_modified(time);
        }
    }
}

/// The prerequisites in a dependency list. Blanks in names are escaped with `\`.
fn parse(list: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        // The target ends at the first colon that a blank follows; `C:\` has none.
        let Some((_, prerequisites)) = line.split_once(": ") else { continue };
        let mut path = String::new();
        let mut characters = prerequisites.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters.peek() == Some(&' ') => path.extend(characters.next()),
                ' ' => paths.push(PathBuf::from(std::mem::take(&mut path))),
                other => path.push(other),
            }
        }
        paths.push(PathBuf::from(path));
    }
    paths.retain(|path| path != Path::new(""));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_cargo_writes() {
        let list = "/t/k.ptx: /k/src/lib.rs /k/my\\ file.rs C:\\k\\a.rs\n\n# env-dep:X=1\n/k/src/lib.rs:\n";
        assert_eq!(
            parse(list),
            ["/k/src/lib.rs", "/k/my file.rs", "C:\\k\\a.rs"].map(PathBuf::from)
        );
        assert!(parse("").is_empty());
    }

    #[test]
    fn reads_the_variables_that_rustc_writes() {
        let list = "/t/k.d: /k/src/lib.rs\n\n# env-dep:CARGO_PKG_NAME=k\n# env-dep:TILE=16=x\n# env-dep:UNSET\n";
        assert_eq!(
            parse_variables(list).collect::<Vec<_>>(),
            [("CARGO_PKG_NAME", Some("k")), ("TILE", Some("16=x")), ("UNSET", None)]
        );
    }
}
