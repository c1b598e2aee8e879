//! What cargo knows of the kernel crate: its names and where its workspace is.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::environment;
use crate::command;
use crate::error::CudaBuilderError;
use crate::toolchain::Toolchain;

/// The kernel crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    /// The package's name.
    pub(crate) name: String,
    /// The library's crate name, as rustc spells it (no `-`).
    pub(crate) library: String,
    /// The library's root source file.
    pub(crate) root_source: PathBuf,
    /// The package's `Cargo.toml`.
    pub(crate) manifest: PathBuf,
    /// The folder of the workspace's `Cargo.toml` and `Cargo.lock`.
    pub(crate) workspace_root: PathBuf,
    /// Where cargo would build the crate if left alone.
    pub(crate) target_directory: PathBuf,
}

impl Package {
    /// Reads the manifest of the crate in `folder`.
    ///
    /// # Errors
    ///
    /// If the folder isn't there, has no manifest, or the manifest is no library package's.
    pub(crate) fn read(folder: &Path, toolchain: &Toolchain) -> Result<Self, CudaBuilderError> {
        if !folder.is_dir() {
            return Err(CudaBuilderError::CratePathDoesntExist { path: folder.to_owned() });
        }
        let manifest = folder.join("Cargo.toml");
        if !manifest.is_file() {
            return Err(refuse(
                folder,
                "it has no Cargo.toml",
                "give CudaBuilder::new the folder of the kernel crate's Cargo.toml",
            ));
        }
        let manifest =
            std::path::absolute(&manifest).map_err(CudaBuilderError::io("find", &manifest))?;
        let mut cargo = Command::new(&toolchain.cargo);
        environment::clean(&mut cargo, toolchain);
        cargo
            .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"])
            .arg(&manifest);
        let output = command::output(&mut cargo)?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(refuse(folder, &reason, "mend the manifest; cargo's message says where"));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
            refuse(
                folder,
                &format!("cargo metadata printed no JSON: {error}"),
                "check the cargo that is used",
            )
        })?;
        Self::from_metadata(&metadata, &manifest)
            .map_err(|(reason, help)| refuse(folder, &reason, &help))
    }

    /// Picks the package of `manifest` out of what `cargo metadata` prints; the error is a reason and what to do.
    fn from_metadata(metadata: &Value, manifest: &Path) -> Result<Self, (String, String)> {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_ours =
            |package: &&Value| same_file(Path::new(&text(package, "manifest_path")), manifest);
        let package = packages.iter().find(is_ours).ok_or_else(|| {
            let names: Vec<String> = packages.iter().map(|package| text(package, "name")).collect();
            let reason =
                format!("it is a workspace, not a package; its packages are {}", names.join(", "));
            (reason, "give CudaBuilder::new the folder of one package".to_owned())
        })?;
        let targets = package["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_library = |target: &&Value| {
            let kinds = target["kind"].as_array().map(Vec::as_slice).unwrap_or_default();
            kinds.iter().any(|kind| {
                matches!(kind.as_str(), Some("lib" | "rlib" | "cdylib" | "dylib" | "staticlib"))
            })
        };
        let library = targets.iter().find(is_library).ok_or_else(|| {
            let reason = format!("package `{}` has no library", text(package, "name"));
            (
                reason,
                "kernels are public functions of a library: put them into src/lib.rs".to_owned(),
            )
        })?;
        Ok(Self {
            name: text(package, "name"),
            library: text(library, "name").replace('-', "_"),
            root_source: text(library, "src_path").into(),
            manifest: manifest.to_owned(),
            workspace_root: text(metadata, "workspace_root").into(),
            target_directory: text(metadata, "target_directory").into(),
        })
    }

    /// A folder name for the workspace. Several workspaces may use one target folder (`CARGO_TARGET_DIR`), and cargo names
    /// what it compiles by the place in the workspace, so that one's crates could be taken for another's.
    pub(crate) fn workspace_id(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.workspace_root.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The folder of the package's `Cargo.toml`.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(&self.manifest)
    }
}

/// Whether two paths lead to one file, links followed.
pub(super) fn same_file(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

fn refuse(path: &Path, reason: &str, help: &str) -> CudaBuilderError {
    CudaBuilderError::NotAKernelCrate {
        path: path.to_owned(),
        reason: reason.to_owned(),
        help: help.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metadata(kind: &str) -> Value {
        json!({
            "packages": [{
                "name": "my-kernels", "manifest_path": "/w/k/Cargo.toml",
                "targets": [{"name": "my-kernels", "kind": [kind], "src_path": "/w/k/src/lib.rs"}],
            }],
            "workspace_root": "/w", "target_directory": "/w/target",
        })
    }

    #[test]
    fn a_library_is_found_by_its_manifest() {
        let package = Package::from_metadata(&metadata("rlib"), Path::new("/w/k/Cargo.toml"))
            .expect("a library");
        assert_eq!((package.name.as_str(), package.library.as_str()), ("my-kernels", "my_kernels"));
        assert_eq!(package.folder(), Path::new("/w/k"));
    }

    #[test]
    fn a_binary_and_a_workspace_are_refused_with_what_to_do() {
        let (reason, help) = Package::from_metadata(&metadata("bin"), Path::new("/w/k/Cargo.toml"))
            .expect_err("a binary");
        assert!(
            reason.contains("`my-kernels` has no library") && help.contains("src/lib.rs"),
            "{reason} {help}"
        );
        let (reason, _) = Package::from_metadata(&metadata("lib"), Path::new("/w/Cargo.toml"))
            .expect_err("a workspace");
        assert!(reason.contains("workspace") && reason.contains("my-kernels"), "{reason}");
    }
}
