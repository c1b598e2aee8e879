//! From a kernel crate to one module of LLVM bitcode, by a nested cargo and stock rustc.
//!
//! `cargo rustc -Zbuild-std` compiles `core`, `alloc`, the crate's dependencies and the crate for `nvptx64-nvidia-cuda`, and fat
//! link-time optimisation merges all of it into one module. Three flags make that module what the later stages need:
//!
//! * `-Cno-prepopulate-passes`, for every crate: rustc merges, but optimises nothing. The address spaces are assigned after this
//!   stage, and an optimiser that ran before would take a constant that the host may write for one it may fold.
//!   Nor does rustc inline functions of other crates by itself, as `-Zhint-mostly-unused` would have it: `maths.rs` knows `libm`'s
//!   functions by their names, and makes instructions of them.
//! * `-Zno-link`: there is nothing to link, and no linker for PTX is needed.
//! * `debuginfo=line-directives-only`: LLVM then writes `.loc` lines with their inline chains, but neither DWARF nor `debug` in
//!   the `.target` directive. That word makes ptxas give up optimising (measured: a shared-memory matrix product grows from
//!   348 to 956 lines of SASS); without it the machine code is the same as without any line information.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

mod environment;
mod features;
mod graph;
mod help;
mod messages;
mod metadata;

pub(crate) use graph::Graph;
pub(crate) use metadata::Package;

use crate::arch::NvvmArch;
use crate::cache::Crates;
use crate::command;
use crate::error::CudaBuilderError;
use crate::terminal;
use crate::toolchain::Toolchain;
use messages::Messages;

/// The only GPU target triple that rustc has.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// What rustc gets for every crate, `core` included; a TOML array. Later stages know some functions by name, and need their type
/// arguments, which the older mangling leaves out.
const FLAGS: &str = r#"["-Cno-prepopulate-passes", "-Csymbol-mangling-version=v0"]"#;

/// What to compile, and how.
pub(crate) struct Request<'a> {
    pub(crate) package: &'a Package,
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) arch: NvvmArch,
    /// Without overflow checks and debug assertions.
    pub(crate) release: bool,
    /// More arguments for `cargo rustc`, such as `--features fast`.
    pub(crate) extra_arguments: &'a [String],
    /// Where the nested cargo builds and the stages keep their files.
    pub(crate) folder: &'a Path,
    /// Compiled dependencies of other projects, if they are kept.
    pub(crate) crates: Option<Crates>,
}

/// The result.
pub(crate) struct Compiled {
    /// The bitcode of the whole program.
    pub(crate) bitcode: PathBuf,
    /// The dependency list that cargo wrote.
    pub(crate) dependency_list: PathBuf,
    /// The folder with rustc's dependency lists of macros and build scripts, which run on the host.
    pub(crate) host_lists: PathBuf,
    /// The manifests of all crates on this disk that went in.
    pub(crate) manifests: Vec<PathBuf>,
    /// Warnings, one line each.
    pub(crate) warnings: Vec<String>,
}

/// Runs the nested cargo.
///
/// # Errors
///
/// If it can't be run, or a crate doesn't compile.
pub(crate) fn compile(request: &Request<'_>) -> Result<Compiled, CudaBuilderError> {
    let arguments = request.arguments()?;
    // Cargo rebuilds when an argument changes, but not when a file that only rustc knows of is missing or was made with other
    // arguments; so each set of arguments has its own file.
    let bitcode = request.folder.join(format!(
        "{}-{:016x}.bc",
        request.package.library,
        request.fingerprint(&arguments)
    ));
    let lent = request.crates.as_ref().is_some_and(|crates| crates.lend(&request.cargo_folder()));
    let mut messages = match request.run(&arguments, &bitcode, &[]) {
        Err(error) if lent && may_be_of_lent_crates(&error) => {
            let folder = request.cargo_folder();
            fs::remove_dir_all(&folder).map_err(CudaBuilderError::io("remove", &folder))?;
            request.run(&arguments, &bitcode, &[])?
        }
        result => result?,
    };
    if !bitcode.is_file() {
        // Somebody removed it since cargo last built the crate. One more flag makes cargo build again.
        messages = request.run(&arguments, &bitcode, &["--cfg=cuda_builder_again"])?;
    }
    if let Some(crates) = &request.crates {
        crates.keep(&request.cargo_folder(), &messages.shared_units);
    }
    fs::metadata(&bitcode).map_err(CudaBuilderError::io(
        "find the bitcode that rustc should have written to",
        &bitcode,
    ))?;
    Ok(Compiled {
        bitcode,
        dependency_list: request
            .cargo_folder()
            .join(TARGET)
            .join(request.profile_folder())
            .join(format!("{}.d", request.package.library)),
        host_lists: request.cargo_folder().join(request.profile_folder()).join("deps"),
        manifests: messages.manifests,
        warnings: messages.warnings.into_iter().map(|warning| warning.line).collect(),
    })
}

/// Whether a build failed in a way that damaged crates could explain, rather than an error in the author's code.
fn may_be_of_lent_crates(error: &CudaBuilderError) -> bool {
    let CudaBuilderError::BuildFailed { output, .. } = error else { return true };
    // E0460 to E0463 and E0786 are about crates that don't fit or can't be read; the rest is of linkers and of cargo itself.
    [
        "E0460",
        "E0461",
        "E0462",
        "E0463",
        "E0786",
        "metadata",
        "linking with",
        "could not execute",
        "didn't exit successfully",
    ]
    .iter()
    .any(|part| output.contains(part))
}

impl Request<'_> {
    fn cargo_folder(&self) -> PathBuf {
        self.folder.join("cargo")
    }

    fn profile_folder(&self) -> &'static str {
        if self.release { "release" } else { "debug" }
    }

    /// The arguments of `cargo rustc`, but for those that name the bitcode file.
    fn arguments(&self) -> Result<Vec<OsString>, CudaBuilderError> {
        let cargo_folder = self.cargo_folder();
        let mut arguments: Vec<OsString> =
            vec!["rustc".into(), "--lib".into(), "--crate-type=cdylib".into()];
        arguments.extend(["--manifest-path".into(), self.package.manifest.clone().into()]);
        arguments.extend([format!("--target={TARGET}").into(), "-Zbuild-std=core,alloc".into()]);
        arguments.extend(["--target-dir".into(), cargo_folder.clone().into()]);
        // A build folder set in the user's configuration is the outer cargo's too, which holds its lock while this runs.
        arguments.extend(config("build.build-dir", &toml_string(&cargo_folder.to_string_lossy())));
        let profile = if self.release { "release" } else { "dev" };
        arguments.push(format!("--profile={profile}").into());
        for (setting, value) in self.profile() {
            arguments.extend(config(&format!("profile.{profile}.{setting}"), value));
        }
        arguments.extend(config(&format!("target.{TARGET}.rustflags"), FLAGS));
        arguments.extend(self.extra_arguments.iter().map(OsString::from));
        // These go to the kernel crate alone. So does the processor, which the crate sees as
        // `cfg(target_feature = "sm_75")`: unoptimised bitcode is the same for all of them, and `core` need not be compiled
        // again for each.
        let processor = format!("-Ctarget-cpu={}", self.arch.target_cpu());
        arguments.extend(["--".into(), "-Zno-link".into(), processor.into()]);
        // rustc knows them as `sm_75`. Kernels written for rust-cuda say `compute_75`.
        for feature in self.arch.all_target_features() {
            arguments.push(format!("--cfg=target_feature=\"{feature}\"").into());
        }
        let known = NvvmArch::ALL.iter().map(|arch| format!("\"{}\"", arch.target_feature()));
        let known = known.collect::<Vec<_>>().join(",");
        arguments.push(format!("--check-cfg=cfg(target_feature, values({known}))").into());
        arguments.push("-Aexplicit-builtin-cfgs-in-flags".into());
        let source = &self.package.root_source;
        let source = fs::read_to_string(source).map_err(CudaBuilderError::io("read", source))?;
        if let Some(attribute) = features::crate_attribute(&source) {
            // Whether a kernel uses each of the injected features is none of its author's concern; older compilers don't know
            // the lint that would say so.
            arguments.extend([
                format!("-Zcrate-attr={attribute}").into(),
                "-Aunknown-lints".into(),
                "-Aunused-features".into(),
            ]);
        }
        Ok(arguments)
    }

    /// The profile's settings: those the pipeline needs, whatever the workspace's own profiles say.
    fn profile(&self) -> Vec<(&'static str, &'static str)> {
        let mut settings = vec![
            ("panic", r#""abort""#),
            ("lto", r#""fat""#),
            ("codegen-units", "1"),
            ("incremental", "false"),
            ("strip", "false"),
            // Always, so that asking for none later doesn't compile `core` again.
            ("debug", r#""line-directives-only""#),
            // Build scripts and procedural macros.
            ("build-override.debug", "false"),
        ];
        let checks = if self.release { "false" } else { "true" };
        settings.extend([
            ("opt-level", "3"),
            ("debug-assertions", checks),
            ("overflow-checks", checks),
        ]);
        settings
    }

    /// A number that differs between builds whose bitcode differs for other reasons than an edited source.
    fn fingerprint(&self, arguments: &[OsString]) -> u64 {
        let mut hasher = DefaultHasher::new();
        arguments.hash(&mut hasher);
        self.toolchain.rustc.hash(&mut hasher);
        self.toolchain.rustc_version.hash(&mut hasher);
        hasher.finish()
    }

    fn run(
        &self,
        arguments: &[OsString],
        bitcode: &Path,
        more: &[&str],
    ) -> Result<Messages, CudaBuilderError> {
        let colours = terminal::wants_colours();
        let mut cargo = Command::new(&self.toolchain.cargo);
        environment::clean(&mut cargo, self.toolchain);
        let split =
            arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        let (for_cargo, for_rustc) = arguments.split_at(split);
        cargo.args(for_cargo);
        cargo.arg(if colours {
            "--message-format=json-diagnostic-rendered-ansi"
        } else {
            "--message-format=json"
        });
        cargo.arg(if colours { "--color=always" } else { "--color=never" });
        cargo.args(for_rustc).arg(emit(bitcode)).args(more);
        // Cargo reads its configuration files from here upwards.
        cargo.current_dir(self.package.folder());
        let output = command::output(&mut cargo)?;
        let messages = Messages::read(&output.stdout, &self.toolchain.rust_src);
        if output.status.success() {
            return Ok(messages);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let errors: String = messages.errors.iter().map(|error| error.rendered.as_str()).collect();
        // Without an error of rustc's, cargo itself failed: a dependency it can't find, or a manifest it can't read.
        let text = if errors.trim().is_empty() { said.into_owned() } else { errors };
        Err(CudaBuilderError::BuildFailed {
            package: self.package.name.clone(),
            command: command::line(&cargo),
            help: help::for_errors(&messages, &text, self.package),
            output: text,
        })
    }
}

fn emit(bitcode: &Path) -> OsString {
    let mut argument = OsString::from("--emit=llvm-bc=");
    argument.push(bitcode);
    argument
}

/// The two arguments that set a configuration value for cargo.
fn config(key: &str, value: &str) -> [OsString; 2] {
    ["--config".into(), format!("{key}={value}").into()]
}

/// A TOML string; a literal one where possible, which needs no escapes for Windows paths.
fn toml_string(text: &str) -> String {
    if text.contains('\'') {
        format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
    } else {
        format!("'{text}'")
    }
}
