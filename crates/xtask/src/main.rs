//! Maintenance commands of the Ferrowarp repository: `cargo xtask ci|differential|ptxas|tables|support|numba-suite|bundle|corpus`.

mod bundle;
mod ci;
mod corpus;
mod differential;
mod error;
mod numba_suite;
mod process;
mod ptxas;
mod support;
mod tables;

use clap::{Parser, Subcommand};
use error::Error;

/// Maintenance commands of the Ferrowarp repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything that must hold before a change lands: formatting, lints, tests, documentation,
    /// generated pages, and ptxas accepting the shipped PTX.
    Ci,
    /// Build the kernels for each architecture and let NVIDIA's assembler check them.
    Ptxas,
    /// Compare random functions on the emulator with the same functions on this machine's processor. Needs LLVM's
    /// `opt` and `llc` and a C compiler.
    Differential {
        /// How many functions, at least.
        #[arg(long, default_value_t = 200)]
        count: usize,
        /// Where the random numbers start.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Write the generated pages under docs/, or check that they are up to date.
    Tables {
        /// Fail when a page differs from what would be written; write nothing.
        #[arg(long)]
        check: bool,
    },
    /// Write docs/cuda-std-support.md, what `cuda_std` offers and what tests it, or check it. Takes minutes.
    Support {
        /// Fail when the page differs from what would be written; write nothing.
        #[arg(long)]
        check: bool,
        /// The record of launched kernels that cuda_std's tests have made (CUDA_STD_TEST_RECORD names it for them). Without one,
        /// they run first.
        #[arg(long)]
        launches: Option<std::path::PathBuf>,
    },
    /// Run numba-cuda's own tests with our driver library instead of a GPU, and write docs/numba-suite.md.
    ///
    /// Installs them from PyPI under target/. Fails where a test does not pass for no known reason.
    NumbaSuite(numba_suite::Arguments),
    /// Make a folder with the program, the PTX, the GPU tests and a run script for a machine that has
    /// a GPU but no Rust.
    Bundle {
        /// The folder; it is replaced.
        #[arg(long, default_value = "target/bundle")]
        out: std::path::PathBuf,
    },
    /// Pack what a fuzzer found for the tests to replay. Make it small first: see CONTRIBUTING.md.
    Corpus {
        /// The fuzz target.
        target: corpus::Target,
        /// The folder with its inputs.
        folder: std::path::PathBuf,
    },
}

fn main() -> std::process::ExitCode {
    let result = match Arguments::parse().command {
        Command::Ci => ci::run(),
        Command::Ptxas => ptxas::run(),
        Command::Differential { count, seed } => differential::run(count, seed),
        Command::Tables { check } => tables::run(check),
        Command::Support { check, launches } => tables::support(check, launches.as_deref()),
        Command::NumbaSuite(arguments) => numba_suite::run(&arguments),
        Command::Bundle { out } => bundle::run(&out),
        Command::Corpus { target, folder } => corpus::run(target, &folder),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            error.exit_code()
        }
    }
}

/// The folder of the workspace's root `Cargo.toml`.
///
/// # Errors
/// When the current folder is in no checkout of the workspace.
fn workspace_root() -> Result<std::path::PathBuf, Error> {
    let here = std::env::current_dir().map_err(|error| Error::io("the current folder", error))?;
    here.ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file() && folder.join("kernels").is_dir())
        .map(std::path::Path::to_path_buf)
        .ok_or(Error::NotInWorkspace { folder: here.clone() })
}
