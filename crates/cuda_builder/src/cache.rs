//! Finished PTX and compiled dependencies, kept for all projects of a user.
//!
//! `crates.rs` keeps the dependencies; the rest is about PTX. A second project with the same kernels, dependencies, options and tools
//! takes the PTX of the first and compiles nothing, not even `core`. What decides the PTX is found in two steps, as ccache does it:
//!
//! * `key.rs` hashes what is known before compiling: options, tools, libdevice, the packages that cargo resolved, and this builder
//!   itself. It names a folder.
//! * `inputs.rs` lists what only the compiler knows: the files that it read, `include_str!`'s among them, and the variables that
//!   `env!` asked for. Each entry of the folder has such a list with the hashes of the contents, and an entry counts if all are as
//!   they were.
//!
//! What a build script computes and what a procedural macro reads without telling the compiler is in neither list. So kernel crates
//! and path dependencies with build scripts are not kept; procedural macros are trusted to be functions of their input, as cargo
//! trusts them too.
//!
//! The cache never fails a build: what can't be read is built, what can't be written is not kept, and a damaged entry, which its
//! checksum shows (`entry.rs`), is removed. Entries appear by renaming, so builds at the same time don't disturb each other, and
//! `sweep.rs` removes those that nobody used for longest.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

mod crates;
mod entry;
mod inputs;
mod key;
mod place;
mod sweep;

pub(crate) use crates::{Crates, unit_hash};
pub(crate) use inputs::Inputs;
pub(crate) use key::{Key, KeyParts};

use crate::stages::Made;

/// The environment variable that names the cache's folder, or says `off`.
pub(crate) const VARIABLE: &str = "CUDA_BUILDER_CACHE";

/// Most that finished PTX takes, bytes.
const LIMIT: u64 = 512 << 20;

/// Entries of one key that are looked at; each is the same crate with other sources.
const MAX_LOOKED_AT: usize = 64;

/// Where finished PTX and compiled dependencies are kept for other builds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Cache {
    /// In the folder that the environment variable `CUDA_BUILDER_CACHE` names (`off` for [`Off`](Self::Off)), else
    /// `ferrowarp` in the user's folder for caches: `$XDG_CACHE_HOME` or `~/.cache`, `~/Library/Caches` on macOS,
    /// `%LOCALAPPDATA%` on Windows.
    #[default]
    User,
    /// In this folder.
    Folder(PathBuf),
    /// Nowhere.
    Off,
}

impl Cache {
    /// The folder that a build would use; `None` if it keeps nothing.
    ///
    /// ```
    /// use cuda_builder::Cache;
    /// assert_eq!(Cache::Off.folder(), None);
    /// assert_eq!(Cache::Folder("kept".into()).folder(), Some("kept".into()));
    /// ```
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        self.folder_by(env::var_os(VARIABLE))
    }

    fn folder_by(&self, variable: Option<OsString>) -> Option<PathBuf> {
        match self {
            Self::Off => None,
            Self::Folder(folder) => Some(folder.clone()),
            Self::User => match variable.filter(|value| !value.is_empty()) {
                Some(value) if value == "off" => None,
                Some(value) => Some(value.into()),
                None => Some(dirs::cache_dir()?.join("ferrowarp")),
            },
        }
    }
}

/// What an entry is to a build.
enum Entry {
    Ours(Box<(Made, Inputs)>),
    /// Its inputs are others.
    AnotherBuilds,
    Damaged,
}

/// The entries of one key.
pub(crate) struct Shelf<'a> {
    folder: PathBuf,
    cache: PathBuf,
    workspace_root: &'a Path,
}

impl<'a> Shelf<'a> {
    pub(crate) fn new(cache: &Path, key: Key, workspace_root: &'a Path) -> Self {
        let cache = cache.join("ptx");
        Self { folder: cache.join(key.to_string()), cache, workspace_root }
    }

    /// What an earlier build made of the same inputs.
    pub(crate) fn find(&self) -> Option<(Made, Inputs)> {
        let mut lists: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.folder)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "inputs"))
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        lists.sort_by(|a, b| b.cmp(a));
        let mut hashes = inputs::Hashes::default();
        for (_, list) in lists.into_iter().take(MAX_LOOKED_AT) {
            match self.open(&list, &mut hashes) {
                Entry::Ours(found) => return Some(*found),
                Entry::AnotherBuilds => {}
                Entry::Damaged => sweep::remove(&list),
            }
        }
        None
    }

    fn open(&self, list: &Path, hashes: &mut inputs::Hashes) -> Entry {
        let inputs = entry::read(list).and_then(|list| Inputs::from_json(&list));
        let Some(inputs) = inputs else { return Entry::Damaged };
        if !inputs.hold(self.workspace_root, hashes) {
            return Entry::AnotherBuilds;
        }
        let made = entry::read(&list.with_extension("result"))
            .and_then(|result| place::unpack(&result, self.workspace_root));
        let Some(made) = made else { return Entry::Damaged };
        sweep::touch(list);
        Entry::Ours(Box::new((made, inputs)))
    }

    /// Keeps what a build made; whether it did.
    pub(crate) fn keep(&self, made: &Made, inputs: &Inputs) -> bool {
        let list = self.folder.join(format!("{}.inputs", inputs.name()));
        // The list last: with it, the entry counts.
        let kept =
            entry::write(&list.with_extension("result"), &place::pack(made, self.workspace_root))
                && entry::write(&list, &inputs.to_json());
        sweep::sweep(&self.cache, LIMIT);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_wins_over_the_variable_and_the_variable_over_the_users_folder() {
        let variable = |value: &str| Some(OsString::from(value));
        assert_eq!(Cache::User.folder_by(variable("off")), None);
        assert_eq!(Cache::User.folder_by(variable("/kept")), Some("/kept".into()));
        assert_eq!(Cache::Off.folder_by(variable("/kept")), None);
        assert_eq!(Cache::Folder("/own".into()).folder_by(variable("off")), Some("/own".into()));
        for value in [None, variable("")] {
            let folder = Cache::User.folder_by(value);
            assert!(folder.is_none_or(|folder| folder.ends_with("ferrowarp")));
        }
    }
}
