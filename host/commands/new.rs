//! `new`: a project of the user's own, with kernels, host program and tests.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::NewArgs;
use crate::console::Console;
use crate::error::Error;
use crate::project::{Layout, Project, ProjectError};

#[derive(Serialize)]
struct Output<'a> {
    command: &'static str,
    name: &'a str,
    folder: &'a Path,
    files: Vec<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// What [`Project`] refuses, and [`Error::Output`].
pub fn run(arguments: &NewArgs, console: &mut Console) -> Result<(), Error> {
    let folder = &arguments.folder;
    let last = folder.file_name().unwrap_or_default();
    let Some(name) = last.to_str().filter(|name| !name.is_empty()) else {
        return Err(ProjectError::NoName { path: folder.clone() }.into());
    };
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = arguments.sources.as_deref().unwrap_or(built_from);
    let layout = if arguments.cust { Layout::Cust } else { Layout::Typed };
    let project = Project::new(name, sources, layout)?;
    let files = project.files()?.into_iter().map(|(path, _)| path).collect();
    project.write(folder)?;
    console.line(format_args!("made the project `{name}` in {}", folder.display()))?;
    console.line("\n  kernels/src/lib.rs   the kernels")?;
    console.line("  src/                 their host side")?;
    console.line("  tests/kernels.rs     kernels against the CPU")?;
    console.line(format_args!("\nnext: cd {} && cargo test", folder.display()))?;
    console.json(&Output { command: "new", name, folder, files })
}
