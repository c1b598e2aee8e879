//! `cargo xtask differential`: new random functions, compiled by LLVM to PTX and to native code, must compute the
//! same on the emulator and on this machine's processor.

use crate::error::Error;
use crate::process::{self, cargo};
use crate::workspace_root;

/// Compares so many functions, from a seed on.
///
/// # Errors
/// When LLVM's tools or a C compiler are missing, or when a function computes something else on the emulator.
pub fn run(count: usize, seed: u64) -> Result<(), Error> {
    process::run(
        cargo()
            .current_dir(workspace_root()?)
            .env("DIFFERENTIAL_COUNT", count.to_string())
            .env("DIFFERENTIAL_SEED", seed.to_string())
            .args(["test", "-p", "ptx_emulator", "--test", "differential"])
            .args(["--", "--ignored", "--nocapture"]),
    )
}
