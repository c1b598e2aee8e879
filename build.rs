//! Turns the crate `kernels` into PTX for the host program to include: `$OUT_DIR/kernels.ptx`, and
//! `$OUT_DIR/kernels.ll` for `ferrowarp inspect --llvm`. Everything else is `cuda_builder`'s work.

use std::env;
use std::path::PathBuf;

use cuda_builder::{CudaBuilder, CudaBuilderError};

fn main() -> Result<(), CudaBuilderError> {
    // Cargo sets OUT_DIR for every build script.
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    CudaBuilder::new("kernels")
        .copy_to(out.join("kernels.ptx"))
        .final_module_path(out.join("kernels.ll"))
        // For the error that the program shows.
        .panic_record(true)
        .build()?;
    Ok(())
}
