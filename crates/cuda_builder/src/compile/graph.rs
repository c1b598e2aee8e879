//! The packages that go into a kernel crate's PTX, as cargo resolves them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::{Value, json};

use super::environment;
use super::metadata::{Package, same_file};
use super::{TARGET, command};
use crate::toolchain::Toolchain;

/// The packages, their features and the settings that cargo reads for them.
pub(crate) struct Graph {
    /// All of it as text that is the same for the same workspace in another folder.
    pub(crate) text: String,
    /// The files it was read from: manifests of packages on this disk, and the lock file.
    pub(crate) files: Vec<PathBuf>,
}

impl Graph {
    /// Asks cargo.
    ///
    /// # Errors
    ///
    /// Words why the graph doesn't say all that goes into the PTX, or can't be read.
    pub(crate) fn read(
        package: &Package,
        toolchain: &Toolchain,
        build_args: &[String],
    ) -> Result<Self, String> {
        let mut cargo = Command::new(&toolchain.cargo);
        environment::clean(&mut cargo, toolchain);
        cargo.args([
            "metadata",
            "--format-version=1",
            "--filter-platform",
            TARGET,
            "--manifest-path",
        ]);
        cargo.arg(&package.manifest).args(of_interest(build_args)).current_dir(package.folder());
        let output = command::output(&mut cargo).map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err("cargo metadata failed".to_owned());
        }
        let metadata: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let root = &package.workspace_root;
        let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
        let mut graph = Self::from_metadata(&metadata, package, &checksums(&lock))?;
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
        graph.text.push_str(profiles(&manifest).as_ref());
        for file in configurations(package.folder()) {
            if let Ok(text) = fs::read_to_string(&file) {
                graph.text.push_str(&text);
                graph.files.push(file);
            }
        }
        graph.files.extend(
            ["Cargo.toml", "Cargo.lock"]
                .map(|name| root.join(name))
                .into_iter()
                .filter(|path| path.is_file()),
        );
        Ok(graph)
    }

    fn from_metadata(
        metadata: &Value,
        package: &Package,
        checksums: &BTreeMap<(String, String), String>,
    ) -> Result<Self, String> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let by_id = |list: Vec<Value>| -> BTreeMap<String, Value> {
            list.into_iter().map(|value| (text(&value["id"]), value)).collect()
        };
        let packages = by_id(list(&metadata["packages"]));
        let nodes = by_id(list(&metadata["resolve"]["nodes"]));
        let root = packages
            .iter()
            .find(|(_, value)| {
                same_file(Path::new(&text(&value["manifest_path"])), &package.manifest)
            })
            .ok_or("cargo metadata doesn't know the kernel crate")?;

        let mut graph = Self { text: String::new(), files: Vec::new() };
        let (mut seen, mut next) = (BTreeSet::new(), vec![root.0.clone()]);
        let mut described = BTreeSet::new();
        while let Some(id) = next.pop() {
            if !seen.insert(id.clone()) {
                continue;
            }
            let (Some(about), Some(node)) = (packages.get(&id), nodes.get(&id)) else {
                return Err(format!("cargo metadata doesn't say what {id} is"));
            };
            let name = text(&about["name"]);
            let wanted = list(&node["deps"]).into_iter().filter(|dependency| {
                let kinds = list(&dependency["dep_kinds"]);
                kinds.is_empty() || kinds.iter().any(|kind| kind["kind"] != "dev")
            });
            let dependencies: Vec<Value> = wanted
                .map(|dependency| {
                    let id = text(&dependency["pkg"]);
                    let edge = json!([dependency["name"], spelled(packages.get(&id), package)]);
                    next.push(id);
                    edge
                })
                .collect();
            let mut description = json!({
                "package": spelled(Some(about), package), "features": node["features"], "dependencies": dependencies,
            });
            if about["source"].is_null() {
                graph.files.push(PathBuf::from(text(&about["manifest_path"])));
                let has_script = list(&about["targets"])
                    .iter()
                    .any(|target| list(&target["kind"]).contains(&json!("custom-build")));
                if has_script {
                    return Err(format!(
                        "{name} has a build script, and what that reads is not known"
                    ));
                }
                description["manifest"] = about.clone();
                // Of no more use, and it has the folder in it.
                description["manifest"]["id"] = Value::Null;
            } else {
                let key = (name, text(&about["version"]));
                description["checksum"] = json!(checksums.get(&key));
            }
            described.insert(without_place(&description.to_string(), &package.workspace_root));
        }
        graph.text = described.into_iter().collect::<Vec<_>>().join("\n");
        Ok(graph)
    }
}

/// What tells a package from all others: for one on this disk the folder as rustc will see it, from the workspace's on if it is in
/// there.
fn spelled(about: Option<&Value>, package: &Package) -> Value {
    let Some(about) = about else { return Value::Null };
    if !about["source"].is_null() {
        return about["id"].clone();
    }
    let manifest = Path::new(about["manifest_path"].as_str().unwrap_or_default());
    json!(manifest.strip_prefix(&package.workspace_root).unwrap_or(manifest))
}

/// JSON without the workspace's folder in front of paths.
fn without_place(json: &str, root: &Path) -> String {
    let quoted = json!(root).to_string();
    json.replace(quoted.trim_end_matches('"'), "\"")
}

/// The arguments of `cargo rustc` that choose features.
fn of_interest(build_args: &[String]) -> Vec<&String> {
    let mut chosen = Vec::new();
    let mut arguments = build_args.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--features" | "-F" => {
                chosen.extend([Some(argument), arguments.next()].into_iter().flatten())
            }
            "--all-features" | "--no-default-features" | "--locked" | "--offline" | "--frozen" => {
                chosen.push(argument)
            }
            other if other.starts_with("--features=") => chosen.push(argument),
            _ => {}
        }
    }
    chosen
}

/// Checksums by name and version, out of a lock file as cargo writes it.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let entries = lock.split("[[package]]").skip(1);
    let field = |entry: &str, name: &str| {
        let line = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
        Some(line.trim_matches('"').to_owned())
    };
    entries
        .filter_map(|entry| {
            Some(((field(entry, "name")?, field(entry, "version")?), field(entry, "checksum")?))
        })
        .collect()
}

/// What a workspace's manifest says of profiles: that is not in cargo's metadata.
fn profiles(manifest: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.starts_with("[profile");
        } else if line.starts_with("profile") {
            // A key of the file itself. Rare; then all of the manifest counts.
            return manifest.to_owned();
        }
        if inside && !line.is_empty() {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Where cargo looks for its configuration when it runs in `folder` (The Cargo Book, "Configuration").
fn configurations(folder: &Path) -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")));
    let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(home);
    folders
        .flat_map(|folder| ["config.toml", "config"].map(|name| folder.join(name)))
        .filter(|file| file.is_file())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(root: &str) -> Package {
        Package {
            name: "k".to_owned(),
            library: "k".to_owned(),
            root_source: format!("{root}/k/src/lib.rs").into(),
            manifest: format!("{root}/k/Cargo.toml").into(),
            workspace_root: root.into(),
            target_directory: format!("{root}/target").into(),
        }
    }

    fn metadata(root: &str) -> Value {
        let crates = "registry+https://github.com/rust-lang/crates.io-index";
        let k = format!("path+file://{root}/k#0.1.0");
        let d = format!("{crates}#d@1.0.0");
        let host = format!("path+file://{root}#host@0.1.0");
        json!({
            "packages": [
                {"name": "k", "version": "0.1.0", "id": k, "source": null, "manifest_path": format!("{root}/k/Cargo.toml"),
                 "targets": [{"kind": ["lib"], "src_path": format!("{root}/k/src/lib.rs")}]},
                {"name": "d", "version": "1.0.0", "id": d, "source": crates, "manifest_path": "/registry/d/Cargo.toml", "targets": []},
                {"name": "host", "version": "0.1.0", "id": host, "source": null, "manifest_path": format!("{root}/Cargo.toml"), "targets": []},
            ],
            "resolve": {"nodes": [
                {"id": k, "features": ["fast"], "deps": [
                    {"name": "d", "pkg": d, "dep_kinds": [{"kind": null}]},
                    {"name": "host", "pkg": host, "dep_kinds": [{"kind": "dev"}]},
                ]},
                {"id": d, "features": [], "deps": []},
                {"id": host, "features": [], "deps": []},
            ]},
        })
    }

    fn graph(metadata: &Value, root: &str, lock: &str) -> Result<Graph, String> {
        Graph::from_metadata(metadata, &package(root), &checksums(lock))
    }

    #[test]
    fn the_same_packages_in_another_folder_are_the_same() {
        let lock = "[[package]]\nname = \"d\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n";
        let one = graph(&metadata("/one"), "/one", lock).expect("readable");
        assert_eq!(one.text, graph(&metadata("/a two"), "/a two", lock).expect("readable").text);
        // What only tests and the host program use doesn't count.
        assert!(one.text.contains("abc") && !one.text.contains("host@"), "{}", one.text);
        assert_eq!(one.files, [PathBuf::from("/one/k/Cargo.toml")]);

        let different = |change: &dyn Fn(&mut Value)| {
            let mut metadata = metadata("/one");
            change(&mut metadata);
            graph(&metadata, "/one", lock).expect("readable").text != one.text
        };
        assert!(different(&|metadata| metadata["resolve"]["nodes"][0]["features"] = json!([])));
        assert!(different(&|metadata| metadata["packages"][0]["version"] = json!("0.2.0")));
        assert!(
            different(&|metadata| metadata["resolve"]["nodes"][1]["features"] = json!(["std"]))
        );
        assert_ne!(
            graph(&metadata("/one"), "/one", &lock.replace("abc", "abd")).expect("readable").text,
            one.text
        );
    }

    #[test]
    fn a_build_script_on_this_disk_is_a_reason() {
        let mut with_script = metadata("/one");
        with_script["packages"][0]["targets"] = json!([{"kind": ["custom-build"]}]);
        let reason = graph(&with_script, "/one", "").err().expect("not known");
        assert!(reason.contains("k has a build script"), "{reason}");
        with_script = metadata("/one");
        with_script["packages"][1]["targets"] = json!([{"kind": ["custom-build"]}]);
        assert!(graph(&with_script, "/one", "").is_ok(), "a registry's crates never change");
    }

    #[test]
    fn profiles_are_found_and_other_tables_are_not() {
        let manifest = "[workspace]\nmembers = []\n[profile.release]\nlto = true\n\n[profile.release.package.d]\nopt-level = 1\n[dependencies]\na = \"1\"\n";
        assert_eq!(
            profiles(manifest),
            "[profile.release]\nlto = true\n[profile.release.package.d]\nopt-level = 1\n"
        );
        assert_eq!(profiles("[dependencies]\na = \"1\"\n"), "");
        let inline = "profile.release.lto = true\n[dependencies]\n";
        assert_eq!(profiles(inline), inline);
    }

    #[test]
    fn arguments_that_choose_features_are_passed_on() {
        let arguments =
            ["--features", "a,b", "-j", "4", "--features=c", "--no-default-features", "--quiet"]
                .map(str::to_owned);
        assert_eq!(
            of_interest(&arguments),
            ["--features", "a,b", "--features=c", "--no-default-features"]
        );
    }
}
