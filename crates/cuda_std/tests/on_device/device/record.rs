//! Which kernels ran, for the table of what is tested (`cargo xtask support`).

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::{LazyLock, Mutex};

/// The file to add the names of launched kernels to, a line each.
const RECORD: &str = "CUDA_STD_TEST_RECORD";

/// Adds `kernel` to the record, if one is wanted.
pub(super) fn record(kernel: &str) {
    static SEEN: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    let Some(path) = std::env::var_os(RECORD) else { return };
    // A test that panicked here left the set whole.
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if seen.insert(kernel.to_owned()) {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        // One write, so that lines of processes that run at the same time stay whole.
        let written = file.and_then(|mut file| file.write_all(format!("{kernel}\n").as_bytes()));
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
