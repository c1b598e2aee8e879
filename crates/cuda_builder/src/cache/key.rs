//! What is known before compiling, as one number.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// This builder's own content, by its build script.
const BUILDER: &str = env!("CUDA_BUILDER_CONTENT");

/// The hash of everything that is known before compiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(u128);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The parts of a key, each with a name.
#[derive(Clone)]
pub(crate) struct KeyParts(Xxh3);

impl KeyParts {
    pub(crate) fn new() -> Self {
        Self(Xxh3::new())
    }

    /// This builder: another version may make other PTX.
    pub(crate) fn add_builder(&mut self) {
        self.add("builder", BUILDER);
    }

    pub(crate) fn add(&mut self, name: &str, value: &str) {
        // With its length, so that no two lists of parts have the same bytes.
        self.0.update(format!("{name} {}\n", value.len()).as_bytes());
        self.0.update(value.as_bytes());
    }

    /// A program, told by place, size and age, as ccache does: hashing a compiler takes longer than compiling a kernel.
    pub(crate) fn add_program(&mut self, path: &Path) {
        let about = fs::metadata(path).map(|metadata| {
            let age = metadata
                .modified()
                .ok()
                .and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            (metadata.len(), age)
        });
        self.add("program", &format!("{} {:?}", path.display(), about.ok()));
    }

    /// A file, told by its content.
    pub(crate) fn add_file(&mut self, name: &str, path: &Path) {
        let content = fs::read(path).ok().map(|content| format!("{:032x}", xxh3_128(&content)));
        self.add(name, &format!("{content:?}"));
    }

    pub(crate) fn finish(&self) -> Key {
        Key(self.0.digest128())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let key = |parts: &[(&str, &str)]| {
            let mut key = KeyParts::new();
            parts.iter().for_each(|(name, value)| key.add(name, value));
            key.finish()
        };
        let one = key(&[("arch", "sm_75"), ("ftz", "true")]);
        assert_eq!(one, key(&[("arch", "sm_75"), ("ftz", "true")]));
        for other in [
            key(&[("arch", "sm_75"), ("ftz", "false")]),
            key(&[("arch", "sm_75"), ("fast_div", "true")]),
            key(&[("arch", "sm_75ftz 4\ntrue")]),
            key(&[]),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_files_content_counts_and_its_place_does_not() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let key = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::write(&path, content).expect("writable");
            let mut key = KeyParts::new();
            key.add_file("libdevice", &path);
            key.finish()
        };
        assert_eq!(key("a", "one"), key("b", "one"));
        assert_ne!(key("a", "one"), key("a", "two"));
    }
}
