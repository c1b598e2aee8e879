//! Compiled dependencies, kept for all projects of a user.
//!
//! Other kernels need another build, but `core`, `alloc` and crates of a registry are the same in every project, and take nine tenths
//! of a clean build. After a build, what cargo made of them is kept as it is, and a build that starts with an empty folder is lent
//! it. Cargo then decides what of it counts: it names each compiled crate by a hash of package, version, features, profile, flags and
//! dependencies, and compiles what it doesn't find. Crates on this disk are not kept: cargo tells those by the age of their files
//! alone, which says nothing between projects.
//!
//! Files are linked where the file system can, so a set costs no space while a project uses it. Times are kept, because cargo compares
//! them. If a build with lent crates fails for a reason that they might be, `compile.rs` starts again without them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::{Key, entry, sweep};

/// Sets that are kept, about 350 MB each; the ones not used for longest go.
const MAX_SETS: usize = 4;

/// What cargo writes once and never changes in place. The rest, small files, is copied.
const LINKED: [&str; 6] = ["rlib", "rmeta", "so", "dylib", "dll", "exe"];

/// The compiled dependencies of one toolchain and profile.
#[derive(Debug, Clone)]
pub(crate) struct Crates {
    cache: PathBuf,
    folder: PathBuf,
}

impl Crates {
    pub(crate) fn new(cache: &Path, key: Key) -> Self {
        let cache = cache.join("crates");
        Self { folder: cache.join(key.to_string()), cache }
    }

    /// Fills the folder of a cargo that never ran there; whether it did.
    pub(crate) fn lend(&self, cargo: &Path) -> bool {
        let Some(parent) = cargo.parent().filter(|_| !cargo.exists()) else { return false };
        // Builds that were killed here may have left theirs; no other build is in this folder now, as it is locked.
        for folder in unfinished(parent) {
            let _ = fs::remove_dir_all(folder);
        }
        let new = parent.join(".cargo.tmp");
        for list in lists(&self.folder) {
            let set = list.with_extension("");
            let files = entry::read(&list).and_then(|value| read_list(&value));
            match files
                .filter(|files| files.iter().all(|(path, size)| has_size(&set.join(path), *size)))
            {
                Some(files) => {
                    // A file that is in two sets is the same in both.
                    if files.iter().any(|(path, _)| put(&set.join(path), &new.join(path)).is_err())
                    {
                        let _ = fs::remove_dir_all(&new);
                        return false;
                    }
                    sweep::touch(&list);
                }
                None => remove(&list),
            }
        }
        // At once, so that a build that is killed here leaves nothing.
        new.exists() && fs::rename(&new, cargo).is_ok()
    }

    /// Keeps the units with these hashes out of cargo's folder.
    pub(crate) fn keep(&self, cargo: &Path, units: &BTreeSet<String>) {
        let files = files_of(cargo, units);
        let content: String = files.iter().map(|(path, size)| format!("{path} {size}\n")).collect();
        let name = format!("{:032x}", xxh3_128(content.as_bytes()));
        let (set, list) = (self.folder.join(&name), self.folder.join(format!("{name}.list")));
        if files.is_empty() || list.exists() {
            return;
        }
        let new = self.folder.join(format!(".{name}.{}.tmp", std::process::id()));
        let filled = files.iter().all(|(path, _)| put(&cargo.join(path), &new.join(path)).is_ok());
        // Another build may have been first, and then its set is as good.
        if filled && (fs::rename(&new, &set).is_ok() || set.is_dir()) {
            let sizes: Map<String, Value> =
                files.iter().map(|(path, size)| (path.clone(), json!(size))).collect();
            entry::write(&list, &Value::Object(sizes));
        }
        let _ = fs::remove_dir_all(&new);
        self.limit();
    }

    fn limit(&self) {
        for folder in unfinished(&self.folder) {
            let age = fs::metadata(&folder)
                .and_then(|about| about.modified())
                .ok()
                .and_then(|time| time.elapsed().ok());
            if age.is_some_and(|age| age > sweep::ABANDONED) {
                let _ = fs::remove_dir_all(folder);
            }
        }
        let keys = fs::read_dir(&self.cache).into_iter().flatten().flatten();
        let mut all: Vec<(SystemTime, PathBuf)> = keys
            .flat_map(|key| lists(&key.path()))
            .filter_map(|list| Some((fs::metadata(&list).ok()?.modified().ok()?, list)))
            .collect();
        all.sort();
        let surplus = all.len().saturating_sub(MAX_SETS);
        for (_, list) in all.into_iter().take(surplus) {
            remove(&list);
            // Only if it is empty now.
            let _ = list.parent().map(fs::remove_dir);
        }
    }
}

/// Folders that are being filled, or were when their build was killed.
fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with('.') && name.ends_with(".tmp") && path.is_dir()
    };
    entries.filter(is_ours).collect()
}

/// The lists of one key's sets.
fn lists(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "list")).collect()
}

fn remove(list: &Path) {
    let _ = fs::remove_file(list);
    let _ = fs::remove_dir_all(list.with_extension(""));
}

fn read_list(value: &Value) -> Option<Vec<(String, u64)>> {
    value.as_object()?.iter().map(|(path, size)| Some((path.clone(), size.as_u64()?))).collect()
}

fn has_size(path: &Path, size: u64) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() == size)
}

/// The files of units in a cargo folder, with their sizes: of each `PROFILE` and `TARGET/PROFILE` folder what is in `.fingerprint`,
/// `build` and `deps` under the hashes.
fn files_of(cargo: &Path, units: &BTreeSet<String>) -> Vec<(String, u64)> {
    let mut files = Vec::new();
    let folders = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let profiles = folders(cargo).into_iter().flat_map(|folder| {
        let mut all = folders(&folder);
        all.push(folder);
        all
    });
    for profile in profiles {
        for part in [".fingerprint", "build", "deps"] {
            for entry in fs::read_dir(profile.join(part)).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if unit_hash(&name).is_some_and(|hash| units.contains(hash)) {
                    collect(cargo, &entry.path(), &mut files);
                }
            }
        }
    }
    files.sort();
    files.dedup();
    files
}

/// `0123456789abcdef` of `libcore-0123456789abcdef.rlib` and of the folder `core-0123456789abcdef`.
pub(crate) fn unit_hash(name: &str) -> Option<&str> {
    let (_, rest) = name.rsplit_once('-')?;
    let hash = rest.split('.').next()?;
    (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash)
}

fn collect(root: &Path, path: &Path, files: &mut Vec<(String, u64)>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| collect(root, &entry.path(), files));
    } else if let (Ok(relative), Ok(metadata)) = (path.strip_prefix(root), fs::metadata(path))
        && let Some(relative) = relative.to_str()
    {
        files.push((relative.to_owned(), metadata.len()));
    }
}

/// Links or copies a file, with its time. A file that is there already stays.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        return Ok(());
    }
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    if is_linked(from) && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    let time = fs::metadata(from)?.modified()?;
    File::options().write(true).open(to)?.set_modified(time)
}

/// Whether cargo and rustc only ever write the file anew.
fn is_linked(path: &Path) -> bool {
    let text = |part: Option<&std::ffi::OsStr>| {
        part.and_then(|part| part.to_str()).unwrap_or_default().to_owned()
    };
    // Programs have no extension on some systems.
    let (name, extension) = (text(path.file_name()), text(path.extension()));
    LINKED.contains(&&*extension)
        || (extension.is_empty() && name.replace('_', "-").starts_with("build-script-build"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::KeyParts;
    use std::time::Duration;

    const UNIT: &str = "0123456789abcdef";

    /// A cargo folder with one unit that is kept and one that isn't.
    fn cargo_folder(root: &Path) -> PathBuf {
        let cargo = root.join("cargo");
        for path in [
            format!("gpu/release/deps/libcore-{UNIT}.rlib"),
            format!("gpu/release/.fingerprint/core-{UNIT}/lib-core"),
            format!("release/build/core-{UNIT}/output"),
            "gpu/release/deps/libown-fedcba9876543210.rlib".to_owned(),
            "gpu/release/own.d".to_owned(),
        ] {
            let path = cargo.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("creatable");
            fs::write(&path, path.file_name().expect("it has one").as_encoded_bytes())
                .expect("writable");
            let file = File::options().write(true).open(&path).expect("writable");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(5000))
                .expect("settable");
        }
        cargo
    }

    #[test]
    fn the_units_go_to_a_folder_where_nothing_was_built() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cargo = cargo_folder(folder.path());
        let crates = Crates::new(&folder.path().join("cache"), KeyParts::new().finish());
        let other = folder.path().join("other/cargo");
        fs::create_dir(folder.path().join("other")).expect("creatable");
        assert!(!crates.lend(&other), "nothing is kept yet");
        crates.keep(&cargo, &BTreeSet::from([UNIT.to_owned()]));
        assert!(crates.lend(&other));
        let mut lent = Vec::new();
        collect(&other, &other, &mut lent);
        lent.sort();
        assert_eq!(lent, files_of(&cargo, &BTreeSet::from([UNIT.to_owned()])));
        assert_eq!(lent.len(), 3);
        let time = fs::metadata(other.join(&lent[0].0)).and_then(|about| about.modified());
        assert_eq!(time.expect("readable"), SystemTime::UNIX_EPOCH + Duration::from_secs(5000));
        assert!(!crates.lend(&other), "cargo ran there");
    }

    #[test]
    fn a_set_with_a_missing_or_cut_file_is_removed() {
        for damage in
            [(|path: &Path| fs::remove_file(path).expect("removable")) as fn(&Path), |path| {
                fs::write(path, "").expect("writable")
            }]
        {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let cargo = cargo_folder(folder.path());
            let crates = Crates::new(folder.path(), KeyParts::new().finish());
            crates.keep(&cargo, &BTreeSet::from([UNIT.to_owned()]));
            let list = lists(&crates.folder).pop().expect("there is one");
            damage(&list.with_extension("").join(format!("gpu/release/deps/libcore-{UNIT}.rlib")));
            let other = folder.path().join("other");
            assert!(!crates.lend(&other) && !other.exists());
            assert!(!list.exists());
        }
    }

    #[test]
    fn only_the_latest_sets_stay() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cargo = cargo_folder(folder.path());
        let count = || {
            let keys = fs::read_dir(folder.path().join("crates")).into_iter().flatten().flatten();
            keys.flat_map(|key| lists(&key.path())).count()
        };
        for number in 0..MAX_SETS + 3 {
            let mut key = KeyParts::new();
            key.add("number", &number.to_string());
            Crates::new(folder.path(), key.finish())
                .keep(&cargo, &BTreeSet::from([UNIT.to_owned()]));
            assert_eq!(count(), (number + 1).min(MAX_SETS));
        }
    }

    #[test]
    fn hashes_are_told_from_other_parts_of_names() {
        assert_eq!(unit_hash("libnum_traits-1525218625f40179.rmeta"), Some("1525218625f40179"));
        assert_eq!(unit_hash("num-traits-1525218625f40179"), Some("1525218625f40179"));
        for name in ["kernels.d", "num-traits", "lib-core", "a-1525218625f4017g"] {
            assert_eq!(unit_hash(name), None);
        }
    }
}
