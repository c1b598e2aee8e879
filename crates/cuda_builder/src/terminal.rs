//! Whether error messages may have colours.

use std::env;
use std::io::IsTerminal;

/// Follows `CARGO_TERM_COLOR` and `NO_COLOR`, else asks whether the text will reach a terminal.
pub(crate) fn wants_colours() -> bool {
    match env::var("CARGO_TERM_COLOR").as_deref() {
        Ok("always") => return true,
        Ok("never") => return false,
        _ => {}
    }
    let forbidden = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !forbidden && (std::io::stderr().is_terminal() || parent_writes_to_terminal())
}

/// Cargo takes a build script's messages through a pipe and prints them itself, so what counts is where cargo writes to.
/// Only Linux tells.
fn parent_writes_to_terminal() -> bool {
    #[cfg(target_os = "linux")]
    if env::var_os("OUT_DIR").is_some() {
        let stderr = format!("/proc/{}/fd/2", std::os::unix::process::parent_id());
        return std::fs::File::open(stderr).is_ok_and(|file| file.is_terminal());
    }
    false
}
