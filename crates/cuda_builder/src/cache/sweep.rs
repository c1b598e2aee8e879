//! Keeping the cache small.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files that a build left half-written when it was killed are removed after this time.
pub(super) const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// After a sweep, the cache has at most this much of its limit, so that not every build sweeps.
const KEPT_PERCENT: u64 = 75;

/// Notes that an entry was used.
pub(super) fn touch(list: &Path) {
    // Where this fails, the entry only looks older than it is.
    let _ = File::options()
        .write(true)
        .open(list)
        .and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes an entry. The list goes first: without it, the result counts for nothing.
pub(super) fn remove(list: &Path) {
    let _ = fs::remove_file(list);
    let _ = fs::remove_file(list.with_extension("result"));
}

/// Removes the entries that were not used for longest, if all are larger than `limit` bytes together.
pub(super) fn sweep(cache: &Path, limit: u64) {
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for key in files(cache) {
        for path in files(&key) {
            let Ok(metadata) = fs::metadata(&path) else { continue };
            let Ok(time) = metadata.modified() else { continue };
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("inputs") => {
                    let result = fs::metadata(path.with_extension("result"));
                    let bytes = metadata.len() + result.map_or(0, |result| result.len());
                    entries.push((time, bytes, path));
                }
                // A result without a list is being written, or was left.
                _ if !path.with_extension("inputs").is_file()
                    && time.elapsed().is_ok_and(|age| age > ABANDONED) =>
                {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
    }
    let mut bytes: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
    if bytes <= limit {
        return;
    }
    entries.sort();
    for (_, size, list) in entries {
        if bytes <= limit / 100 * KEPT_PERCENT {
            break;
        }
        remove(&list);
        bytes -= size;
        // Only if it is empty now.
        let _ = list.parent().map(fs::remove_dir);
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_not_used_for_longest_go_first() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let list = |number: u64| cache.path().join(format!("key{}/{number}.inputs", number / 2));
        for number in 0..6 {
            let path = list(number);
            fs::create_dir_all(path.parent().expect("it has one")).expect("creatable");
            fs::write(&path, [0; 100]).expect("writable");
            fs::write(path.with_extension("result"), [0; 900]).expect("writable");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + number);
            let file = File::options().write(true).open(&path).expect("writable");
            file.set_modified(time).expect("settable");
        }
        touch(&list(0));
        sweep(cache.path(), 6000);
        assert!((0..6).all(|number| list(number).is_file()), "all fit");
        sweep(cache.path(), 4000);
        let left: Vec<u64> = (0..6).filter(|number| list(*number).is_file()).collect();
        // 3000 bytes, the one that was used just now among them.
        assert_eq!(left, [0, 4, 5]);
        assert!(!list(2).with_extension("result").exists() && !cache.path().join("key1").exists());
    }

    #[test]
    fn results_without_a_list_are_left_for_a_day() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let (young, old) = (cache.path().join("key/1.result"), cache.path().join("key/2.result"));
        fs::create_dir(cache.path().join("key")).expect("creatable");
        for path in [&young, &old] {
            fs::write(path, "x").expect("writable");
        }
        let file = File::options().write(true).open(&old).expect("writable");
        file.set_modified(SystemTime::now() - 2 * ABANDONED).expect("settable");
        sweep(cache.path(), 1000);
        assert!(young.is_file() && !old.exists());
    }
}
