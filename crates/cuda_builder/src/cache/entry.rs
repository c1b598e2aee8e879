//! Files of the cache: JSON under a checksum.

use std::fs;
use std::path::Path;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::output;

/// What every file begins with; the number rises when the format changes.
const HEADER: &str = "cuda_builder cache 1";

/// Reads a file; `None` if it is missing, of another version, or damaged.
pub(super) fn read(path: &Path) -> Option<Value> {
    let text = fs::read_to_string(path).ok()?;
    let (header, body) = text.split_once('\n')?;
    let sum = header.strip_prefix(HEADER)?.trim_start();
    if sum != checksum(body) {
        return None;
    }
    serde_json::from_str(body).ok()
}

/// Writes a file at once; whether it did.
pub(super) fn write(path: &Path, content: &Value) -> bool {
    let body = content.to_string();
    output::write(path, format!("{HEADER} {}\n{body}", checksum(&body)).as_bytes()).is_ok()
}

fn checksum(body: &str) -> String {
    format!("{:032x}", xxh3_128(body.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_shows() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.inputs");
        let value = serde_json::json!({"ptx": ".version 7.8\n", "n": 1});
        assert!(write(&path, &value));
        assert_eq!(read(&path), Some(value));
        let text = fs::read_to_string(&path).expect("readable");
        for damaged in [
            text.replace("7.8", "7.9"),
            text[..text.len() - 3].to_owned(),
            String::new(),
            text.replace("cache 1", "cache 2"),
        ] {
            fs::write(&path, damaged).expect("writable");
            assert_eq!(read(&path), None);
        }
        assert_eq!(read(&folder.path().join("none")), None);
    }

    #[test]
    fn what_cant_be_written_is_no_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("writable");
        assert!(!write(&file.join("a.inputs"), &Value::Null));
    }
}
