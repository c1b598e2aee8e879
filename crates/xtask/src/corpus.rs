//! `cargo xtask corpus`: packs what a fuzzer found for the tests that replay it.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::Error;
use crate::workspace_root;

/// A fuzz target.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Target {
    /// Any text through the parser.
    Parse,
    /// Any text that compiles runs.
    Run,
    /// Any sequence of driver calls.
    Driver,
}

impl Target {
    /// The packed file, from the repository's root.
    fn file(self) -> &'static str {
        match self {
            Target::Parse => "crates/ptx/tests/data/parse.corpus.gz",
            Target::Run => "crates/ptx_emulator/tests/data/run.corpus.gz",
            Target::Driver => "crates/cuda_driver/tests/data/driver.corpus.gz",
        }
    }
}

/// Packs all files of a folder, the smallest first (`fuzz/bodies/corpus.rs` unpacks them).
///
/// # Errors
/// When a file cannot be read or written.
pub fn run(target: Target, folder: &Path) -> Result<(), Error> {
    let at = |error| Error::io(folder, error);
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(at)? {
        let path = entry.map_err(at)?.path();
        inputs.push(std::fs::read(&path).map_err(|error| Error::io(&path, error))?);
    }
    inputs.sort_by_cached_key(|input| (input.len(), input.clone()));
    let path = workspace_root()?.join(target.file());
    let written = |error| Error::io(&path, error);
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for input in &inputs {
        packed.write_all(&(input.len() as u32).to_le_bytes()).map_err(written)?;
        packed.write_all(input).map_err(written)?;
    }
    let packed = packed.finish().map_err(written)?;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(written)?;
    }
    std::fs::write(&path, &packed).map_err(written)?;
    println!("{}: {} inputs, {} bytes", path.display(), inputs.len(), packed.len());
    Ok(())
}
