//! `doctor`: what building and running needs, what of it is there, and what to do about the rest.

use std::process::Command;

use cuda_builder::{Cache, Libdevice, Toolchain};
use cuda_host::{Backend, Device};
use ptx_emulator::Program;
use serde::Serialize;

use crate::console::{BAD, Console, DIM, GOOD};
use crate::error::Error;
use crate::{KERNELS_PTX, toolkit};

/// Whether a thing is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    /// Not there, and nothing works without it.
    Missing,
    /// Not there, and only what the line names needs it.
    Absent,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    detail: String,
    /// Commands or steps, one of which mends it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    help: Vec<String>,
}

#[derive(Serialize)]
struct Output {
    command: &'static str,
    checks: Vec<Check>,
    exit_code: u8,
}

impl Check {
    fn ok(name: &'static str, detail: String) -> Self {
        Self { name, status: Status::Ok, detail, help: Vec::new() }
    }
}

/// Runs the command.
///
/// # Errors
///
/// [`Error::Unhealthy`] when something necessary is missing, and [`Error::Output`].
pub fn run(console: &mut Console) -> Result<(), Error> {
    let mut checks = toolchain();
    checks.push(libdevice());
    checks.push(cache());
    checks.push(nvidia_driver());
    checks.extend(devices());
    checks.push(emulator());
    checks.push(tool("ptxas", "registers in `inspect`, and `inspect --sass`", &["ptxas"]));
    checks.push(tool("SASS", "`inspect --sass`", &["nvdisasm", "cuobjdump"]));
    for check in &checks {
        show(check, console)?;
    }
    let missing = checks.iter().filter(|check| check.status == Status::Missing).count();
    let result = if missing == 0 { Ok(()) } else { Err(Error::Unhealthy { missing }) };
    let exit_code = result.as_ref().err().map_or(0, |error| error.exit_status().code());
    console.json(&Output { command: "doctor", checks, exit_code })?;
    result
}

fn show(check: &Check, console: &mut Console) -> Result<(), Error> {
    let (style, word) = match check.status {
        Status::Ok => (GOOD, "ok"),
        Status::Missing => (BAD, "missing"),
        Status::Absent => (DIM, "absent"),
    };
    // Continuation lines stand below the detail.
    let indent = format!("\n{:27}", "");
    console.line(format_args!(
        "{style}{word:<8}{style:#} {:<17} {}",
        check.name,
        check.detail.replace('\n', &indent)
    ))?;
    for line in &check.help {
        console.line(format_args!("{:27}-> {line}", ""))?;
    }
    Ok(())
}

/// What `cuda_builder` needs to turn kernels into PTX.
fn toolchain() -> Vec<Check> {
    let report = Toolchain::report();
    match report.chosen() {
        Some(toolchain) => vec![
            Check::ok("device toolchain", toolchain.origin.clone()),
            Check::ok(
                "rustc",
                format!("{} ({})", toolchain.rustc_version, toolchain.rustc.display()),
            ),
            Check::ok(
                "LLVM",
                format!("{} ({})", toolchain.llvm_version, toolchain.llvm_bin.display()),
            ),
            Check::ok("library source", toolchain.rust_src.display().to_string()),
        ],
        None => {
            let detail = format!(
                "kernels cannot be compiled; looked for:\n{}",
                report.to_string().trim_end()
            );
            vec![Check {
                name: "device toolchain",
                status: Status::Missing,
                detail,
                help: report.mend(),
            }]
        }
    }
}

/// Where the mathematical functions of kernels come from when they are built here.
fn libdevice() -> Check {
    let absent = |detail, help: &str| Check {
        name: "libdevice",
        status: Status::Absent,
        detail,
        help: vec![help.to_owned()],
    };
    match Libdevice::Search.find() {
        Ok(Some(file)) => Check::ok("libdevice", file.display().to_string()),
        Ok(None) => absent(
            "kernels get the libm crate's mathematical functions (docs/maths.md)".to_owned(),
            "pip install nvidia-nvvm, in an active virtual environment, brings NVIDIA's",
        ),
        Err(error) => absent(error.to_string(), "mend or unset CUDA_BUILDER_LIBDEVICE"),
    }
}

/// Where compiled kernels and their dependencies are kept for other projects.
fn cache() -> Check {
    match Cache::User.folder() {
        Some(folder) => Check::ok("kernel cache", folder.display().to_string()),
        None => Check {
            name: "kernel cache",
            status: Status::Absent,
            detail: "each project compiles `core` and its kernels' dependencies anew".to_owned(),
            help: vec!["set CUDA_BUILDER_CACHE to a folder, or unset it if it is `off`".to_owned()],
        },
    }
}

fn nvidia_driver() -> Check {
    match cuda_driver::native_driver() {
        Ok(info) => {
            // The driver API's encoding: 1000 x major + 10 x minor.
            let (major, minor) = (info.version / 1000, info.version % 1000 / 10);
            let plural = if info.devices == 1 { "device" } else { "devices" };
            let path = info.path.display();
            Check::ok(
                "NVIDIA driver",
                format!("CUDA {major}.{minor}, {} {plural} ({path})", info.devices),
            )
        }
        Err(tried) => Check {
            name: "NVIDIA driver",
            status: Status::Absent,
            detail: not_found(&tried),
            help: vec![
                "only a machine with an NVIDIA GPU has one; kernels run on the emulator without it"
                    .to_owned(),
            ],
        },
    }
}

/// What was tried, without the many places that simply have no such file.
fn not_found(tried: &str) -> String {
    let (empty, telling): (Vec<&str>, Vec<&str>) =
        tried.lines().map(str::trim).partition(|line| line.ends_with("no such file"));
    let summary = format!("no libcuda.so.1 in {} usual places", empty.len());
    let lines: Vec<&str> =
        telling.into_iter().filter(|line| !line.is_empty()).chain([summary.as_str()]).collect();
    lines.join("\n")
}

/// The devices that a launch would use now, with `CUDA_DRIVER_BACKEND` as it is.
fn devices() -> Vec<Check> {
    let devices = match Device::all() {
        Ok(devices) => devices,
        Err(error) => {
            return vec![Check {
                name: "device",
                status: Status::Missing,
                detail: error.to_string(),
                help: Vec::new(),
            }];
        }
    };
    devices
        .iter()
        .map(|gpu| {
            let name = match gpu.backend() {
                Backend::Gpu => "GPU",
                Backend::Emulator => "device",
            };
            let (major, minor) = gpu.compute_capability();
            Check::ok(name, format!("{gpu}, compute capability {major}.{minor}"))
        })
        .collect()
}

/// Whether the emulator takes this program's kernels.
fn emulator() -> Check {
    match Program::compile(KERNELS_PTX) {
        Ok(program) => {
            let ((major, minor), kernels) = (program.version(), program.kernels().count());
            Check::ok(
                "emulator",
                format!(
                    "takes this program's {kernels} kernels (PTX {major}.{minor}, {})",
                    program.target()
                ),
            )
        }
        Err(error) => Check {
            name: "emulator",
            status: Status::Missing,
            detail: error.to_string(),
            help: Vec::new(),
        },
    }
}

/// A program of the CUDA toolkit, under any of these names.
fn tool(name: &'static str, needed_for: &str, names: &[&'static str]) -> Check {
    match names.iter().find_map(|name| toolkit::find(name)) {
        Some(path) => Check::ok(name, format!("{}{}", path.display(), version(&path))),
        None => Check {
            name,
            status: Status::Absent,
            detail: format!("not found; needed only for {needed_for}"),
            help: names.iter().take(1).map(|name| toolkit::missing(name).to_string()).collect(),
        },
    }
}

/// ` (release 13.0)` as the toolkit's programs report it, or nothing.
fn version(path: &std::path::Path) -> String {
    let output = Command::new(path).arg("--version").output().ok();
    let text = output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    let release = text.split(", ").find(|part| part.starts_with("release "));
    release.map(|release| format!(" ({release})")).unwrap_or_default()
}
