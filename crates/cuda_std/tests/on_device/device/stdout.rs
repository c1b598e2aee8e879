//! The process's standard output, captured: where the driver writes what kernels print.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::sync::{Mutex, PoisonError};

/// There is one standard output.
static TAKEN: Mutex<()> = Mutex::new(());

/// Runs `run`; its result, and what was meanwhile written to the standard output.
pub(super) fn captured<R>(run: impl FnOnce() -> R) -> (R, String) {
    let _one_at_a_time = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut redirected = Redirected::start().expect("the standard output can be redirected");
    let result = run();
    let text = redirected.text().expect("the file can be read");
    (result, text)
}

/// The standard output goes to a file until this is dropped.
struct Redirected {
    original: File,
    file: File,
}

impl Redirected {
    fn start() -> io::Result<Self> {
        flush();
        let original = rustix::io::dup(rustix::stdio::stdout())?.into();
        let file = tempfile::tempfile()?;
        rustix::stdio::dup2_stdout(&file)?;
        Ok(Self { original, file })
    }

    fn text(&mut self) -> io::Result<String> {
        flush();
        let mut text = String::new();
        self.file.rewind()?;
        self.file.read_to_string(&mut text)?;
        Ok(text)
    }
}

impl Drop for Redirected {
    fn drop(&mut self) {
        flush();
        rustix::stdio::dup2_stdout(&self.original).expect("it was open before");
    }
}

/// Writes out what Rust's and C's standard output hold back. The NVIDIA driver prints through C's.
fn flush() {
    // What can't be written shows as missing.
    let _ = io::stdout().flush();
    // SAFETY: fflush(NULL) flushes every open output stream and has no precondition (C17 7.21.5.2).
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
