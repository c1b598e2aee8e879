//! What a build read: files with the hashes of their contents, and environment variables.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_128;

/// The clocks of file systems are behind the system's by up to a tick of the kernel.
const TICK: Duration = Duration::from_millis(20);

/// Files and variables that a build read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// Hashes by path: from the workspace's folder on for files in it, so that the list holds for a workspace elsewhere.
    files: BTreeMap<String, String>,
    /// Values by name; `None` for one that wasn't set.
    variables: BTreeMap<String, Option<String>>,
    /// The workspace's folder, if a source asked where it is (`env!("CARGO_MANIFEST_DIR")`).
    place: Option<String>,
}

impl Inputs {
    /// Hashes what a build that began at `started` read. `None` if a file can't be read, or was written since: then nobody knows
    /// which content the compiler saw.
    pub(crate) fn record(
        files: &BTreeSet<PathBuf>,
        variables: &BTreeSet<String>,
        asks_for_its_place: bool,
        workspace_root: &Path,
        started: SystemTime,
    ) -> Option<Self> {
        let hashed = files.iter().map(|file| {
            if changed(file)? + TICK >= started {
                return None;
            }
            let path = file.strip_prefix(workspace_root).unwrap_or(file);
            Some((path.to_str()?.to_owned(), hash(file)?))
        });
        Some(Self {
            files: hashed.collect::<Option<_>>()?,
            variables: variables.iter().map(|name| (name.clone(), value(name))).collect(),
            place: asks_for_its_place.then(|| workspace_root.to_string_lossy().into_owned()),
        })
    }

    /// Whether everything is as it was, for the workspace in `workspace_root`.
    pub(crate) fn hold(&self, workspace_root: &Path, hashes: &mut Hashes) -> bool {
        self.place.as_ref().is_none_or(|place| *place == workspace_root.to_string_lossy())
            && self.variables.iter().all(|(name, former)| value(name) == *former)
            && self
                .files
                .iter()
                .all(|(path, former)| hashes.of(workspace_root.join(path)).as_ref() == Some(former))
    }

    /// The files, for a workspace in `workspace_root`.
    pub(crate) fn files(&self, workspace_root: &Path) -> impl Iterator<Item = PathBuf> {
        self.files.keys().map(move |path| workspace_root.join(path))
    }

    /// The variables' names.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// A name for the list, by its content.
    pub(super) fn name(&self) -> String {
        format!("{:032x}", xxh3_128(self.to_json().to_string().as_bytes()))
    }

    pub(super) fn to_json(&self) -> Value {
        let files: Map<String, Value> =
            self.files.iter().map(|(path, hash)| (path.clone(), json!(hash))).collect();
        let variables: Map<String, Value> =
            self.variables.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({"files": files, "variables": variables, "place": self.place})
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let files = value["files"].as_object()?.iter();
        let variables = value["variables"].as_object()?.iter();
        Some(Self {
            files: files
                .map(|(path, hash)| Some((path.clone(), text(hash)?)))
                .collect::<Option<_>>()?,
            variables: variables.map(|(name, value)| (name.clone(), text(value))).collect(),
            place: text(&value["place"]),
        })
    }
}

/// Hashes of files, each read once.
#[derive(Default)]
pub(crate) struct Hashes(HashMap<PathBuf, Option<String>>);

impl Hashes {
    fn of(&mut self, path: PathBuf) -> Option<String> {
        self.0.entry(path).or_insert_with_key(|path| hash(path)).clone()
    }
}

/// `None` if the file can't be read.
fn hash(path: &Path) -> Option<String> {
    fs::read(path).ok().map(|content| format!("{:032x}", xxh3_128(&content)))
}

fn value(name: &str) -> Option<String> {
    env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// When the file was last written or, where the system tells, put in place.
fn changed(path: &Path) -> Option<SystemTime> {
    let metadata = fs::metadata(path).ok()?;
    let modified = metadata.modified().ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let seconds = Duration::from_secs(metadata.ctime().try_into().ok()?);
        let moved = SystemTime::UNIX_EPOCH
            + seconds
            + Duration::from_nanos(metadata.ctime_nsec().try_into().ok()?);
        Some(modified.max(moved))
    }
    #[cfg(not(unix))]
    Some(modified)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_ago(path: &Path) -> SystemTime {
        changed(path).expect("it is there") + 10 * TICK
    }

    #[test]
    fn a_list_holds_for_another_workspace_with_the_same_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = |name: &str| folder.path().join(name);
        for project in ["one", "two"] {
            fs::create_dir(root(project)).expect("creatable");
            fs::write(root(project).join("lib.rs"), "fn k() {}").expect("writable");
        }
        let outside = folder.path().join("outside.rs");
        fs::write(&outside, "1").expect("writable");
        let files = BTreeSet::from([root("one").join("lib.rs"), outside.clone()]);
        let variables = BTreeSet::from(["CUDA_BUILDER_TEST_UNSET".to_owned()]);
        let record = |place| {
            let started = long_ago(&outside);
            Inputs::record(&files, &variables, place, &root("one"), started).expect("all is there")
        };
        let inputs = record(false);
        let holds = |inputs: &Inputs, project| inputs.hold(&root(project), &mut Hashes::default());
        assert!(holds(&inputs, "one") && holds(&inputs, "two"));
        assert_eq!(Inputs::from_json(&inputs.to_json()), Some(inputs.clone()));
        let files: Vec<PathBuf> = inputs.files(&root("two")).collect();
        assert!(
            files.contains(&root("two").join("lib.rs")) && files.contains(&outside),
            "{files:?}"
        );

        assert!(holds(&record(true), "one") && !holds(&record(true), "two"));
        let mut variable = inputs.clone();
        variable.variables.insert("CUDA_BUILDER_TEST_UNSET".to_owned(), Some(String::new()));
        assert!(!holds(&variable, "one"), "empty is not unset");
        fs::write(root("two").join("lib.rs"), "fn l() {}").expect("writable");
        assert!(holds(&inputs, "one") && !holds(&inputs, "two"));
        fs::remove_file(&outside).expect("removable");
        assert!(!holds(&inputs, "one"));
    }

    #[test]
    fn what_was_written_during_the_build_is_not_recorded() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("lib.rs");
        fs::write(&file, "fn k() {}").expect("writable");
        let record = |started| {
            let files = BTreeSet::from([file.clone()]);
            Inputs::record(&files, &BTreeSet::new(), false, folder.path(), started)
        };
        assert!(record(long_ago(&file)).is_some());
        assert_eq!(record(changed(&file).expect("it is there")), None);
        fs::remove_file(&file).expect("removable");
        assert_eq!(record(SystemTime::now()), None);
    }
}
