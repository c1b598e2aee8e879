//! One rustc that may be part of a toolchain, and the examination of it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::report::{CandidateReport, Item};
use super::{LLVM_BIN_VARIABLE, MINIMUM_RUST, RUSTC_VARIABLE, Toolchain, is_file, llvm, locations};

/// Where the LLVM tools for a candidate may come from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LlvmSource {
    /// This folder only.
    Folder(PathBuf),
    /// The compiler's own sysroot.
    Sysroot,
    /// Where the distribution's packages put them.
    Packages,
    /// The sysroot, packages, or any folder of `PATH`.
    Anywhere,
}

/// A rustc and the places its LLVM tools may be in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    origin: String,
    /// The compiler's path, or its bare name where it wasn't found.
    rustc: PathBuf,
    llvm: LlvmSource,
}

/// What `rustc -vV` and `--print sysroot` say.
struct Compiler {
    rustc: PathBuf,
    release: String,
    host: String,
    llvm_major: String,
    sysroot: PathBuf,
}

impl Candidate {
    /// Every candidate of this machine, first choice first.
    pub(super) fn all() -> Vec<Self> {
        let active =
            env::var_os("RUSTC").map(PathBuf::from).filter(|path| path.components().count() > 1);
        let active = active
            .or_else(|| locations::on_path("rustc"))
            .unwrap_or_else(|| PathBuf::from("rustc"));
        if let Some(explicit) = Self::explicit(&active) {
            return vec![explicit];
        }
        let new = |origin: &str, rustc: &Path, llvm| Self {
            origin: origin.to_owned(),
            rustc: rustc.to_owned(),
            llvm,
        };
        let mut candidates = vec![new(
            "the active toolchain with rustup's components",
            &active,
            LlvmSource::Sysroot,
        )];
        if cfg!(unix) {
            candidates.push(new(
                "the distribution's packages",
                Path::new("/usr/bin/rustc"),
                LlvmSource::Packages,
            ));
        }
        candidates.push(new(
            "the active toolchain with any LLVM tools",
            &active,
            LlvmSource::Anywhere,
        ));
        let others = locations::rustup_compilers().into_iter().chain(
            locations::path_folders()
                .into_iter()
                .map(|folder| folder.join(format!("rustc{}", env::consts::EXE_SUFFIX)))
                .filter(|path| is_file(path) && *path != active),
        );
        for rustc in others {
            let candidate = new(&format!("{}", rustc.display()), &rustc, LlvmSource::Anywhere);
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
        candidates
    }

    /// The candidate that the environment names, if it does.
    fn explicit(active: &Path) -> Option<Self> {
        let rustc = env::var_os(RUSTC_VARIABLE).filter(|value| !value.is_empty());
        let folder = env::var_os(LLVM_BIN_VARIABLE).filter(|value| !value.is_empty());
        let origin = match (&rustc, &folder) {
            (None, None) => return None,
            (Some(_), Some(_)) => format!("{RUSTC_VARIABLE} and {LLVM_BIN_VARIABLE}"),
            (Some(_), None) => RUSTC_VARIABLE.to_owned(),
            (None, Some(_)) => format!("the active rustc with {LLVM_BIN_VARIABLE}"),
        };
        let rustc = rustc.map_or_else(|| active.to_owned(), PathBuf::from);
        let llvm = folder.map_or(LlvmSource::Anywhere, |folder| LlvmSource::Folder(folder.into()));
        Some(Self { origin, rustc, llvm })
    }

    /// Looks for everything the candidate needs.
    pub(super) fn examine(&self) -> (CandidateReport, Option<Toolchain>) {
        let mut items = Vec::new();
        let toolchain = self.examine_into(&mut items);
        (CandidateReport { origin: self.origin.clone(), items }, toolchain)
    }

    fn examine_into(&self, items: &mut Vec<Item>) -> Option<Toolchain> {
        let compiler = record(
            items,
            "rustc",
            self.compiler().map(|compiler| {
                let detail = format!("{} at {}", compiler.release, compiler.rustc.display());
                (compiler, detail)
            }),
        )?;
        // The remaining things are independent: report each, so that one look shows all that is missing.
        let source = record(items, "standard library source", library_source(&compiler));
        let llvm = record(items, "LLVM tools", self.llvm_tools(&compiler));
        let cargo = record(items, "cargo", cargo_for(&compiler));
        let (llvm_bin, llvm_version) = llvm?;
        Some(Toolchain {
            origin: self.origin.clone(),
            cargo: cargo?,
            rust_src: source?,
            llvm_bin,
            llvm_version,
            rustc: compiler.rustc,
            rustc_version: compiler.release,
        })
    }

    /// Asks the compiler what it is; an error if it doesn't run or is too old.
    fn compiler(&self) -> Result<Compiler, String> {
        let shown = self.rustc.display();
        let verbose = run(&self.rustc, &["-vV"])?;
        let field = |name: &str| {
            let value = verbose
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .map(|value| value.trim().to_owned());
            value.ok_or_else(|| format!("{shown} -vV doesn't say `{name}`"))
        };
        let release = field("release:")?;
        let (major, minor) = MINIMUM_RUST;
        if parse_release(&release).is_none_or(|version| version < MINIMUM_RUST) {
            return Err(format!("{shown} is {release}; {major}.{minor} or newer is needed"));
        }
        let llvm_version = field("LLVM version:")?;
        let sysroot = PathBuf::from(run(&self.rustc, &["--print", "sysroot"])?.trim());
        // Behind rustup's proxy is a real compiler, which no environment variable can swap for another.
        let real = sysroot.join("bin").join(format!("rustc{}", env::consts::EXE_SUFFIX));
        Ok(Compiler {
            rustc: if is_file(&real) { real } else { self.rustc.clone() },
            release,
            host: field("host:")?,
            llvm_major: major_of(&llvm_version).to_owned(),
            sysroot,
        })
    }

    /// The folder and version of the LLVM tools to use with `compiler`.
    fn llvm_tools(&self, compiler: &Compiler) -> Found<(PathBuf, String)> {
        let Compiler { llvm_major, sysroot, host, .. } = compiler;
        let sysroot = locations::sysroot_llvm(sysroot, host);
        let folders = match &self.llvm {
            LlvmSource::Folder(folder) => vec![folder.clone()],
            LlvmSource::Sysroot => vec![sysroot],
            LlvmSource::Packages => locations::packaged_llvm(llvm_major),
            LlvmSource::Anywhere => {
                let mut folders = vec![sysroot];
                folders.extend(locations::packaged_llvm(llvm_major));
                folders.extend(locations::path_folders());
                folders
            }
        };
        let mut problems = Vec::new();
        for folder in &folders {
            match llvm::examine(folder, llvm_major) {
                Ok(version) => {
                    let detail = format!("{version} in {}", folder.display());
                    return Ok(((folder.clone(), version), detail));
                }
                // Of many folders, only those that hold some tool are worth a word.
                Err(problem) if folders.len() == 1 || llvm::has_any(folder) => {
                    if !problems.contains(&problem) {
                        problems.push(problem);
                    }
                }
                Err(_) => {}
            }
        }
        if problems.is_empty() {
            problems
                .push(format!("no LLVM {llvm_major} opt, llc and llvm-dis in the usual places"));
        }
        Err(problems.join("; "))
    }
}

/// A thing that was looked for with the words to show for it, or what is missing.
type Found<T> = Result<(T, String), String>;

/// Adds a line to the report and hands on what was found.
fn record<T>(items: &mut Vec<Item>, what: &'static str, result: Found<T>) -> Option<T> {
    match result {
        Ok((value, detail)) => {
            items.push(Item { what, found: true, detail });
            Some(value)
        }
        Err(detail) => {
            items.push(Item { what, found: false, detail });
            None
        }
    }
}

/// The source of the standard library. `-Zbuild-std` looks for it there and nowhere else.
fn library_source(compiler: &Compiler) -> Found<PathBuf> {
    let root = compiler.sysroot.join("lib/rustlib/src/rust");
    if is_file(&root.join("library/core/src/lib.rs")) {
        let detail = root.display().to_string();
        Ok((root, detail))
    } else {
        Err(format!("not in {}", root.display()))
    }
}

/// The cargo that drives `compiler`: of the same release if there is one (flags and library manifests change together),
/// else the one that runs this build.
fn cargo_for(compiler: &Compiler) -> Found<PathBuf> {
    let beside = compiler.rustc.with_file_name(format!("cargo{}", env::consts::EXE_SUFFIX));
    let ours = env::var_os("CARGO").map(PathBuf::from);
    let found: Vec<(PathBuf, String)> = [Some(beside), ours, locations::on_path("cargo")]
        .into_iter()
        .flatten()
        .filter(|path| is_file(path))
        .filter_map(|path| {
            let text = run(&path, &["--version"]).ok()?;
            let release = text.split_whitespace().nth(1)?.to_owned();
            Some((path, release))
        })
        .collect();
    let same = found.iter().find(|(_, release)| *release == compiler.release);
    match same.or_else(|| found.first()) {
        Some((path, release)) => Ok((path.clone(), format!("{release} at {}", path.display()))),
        None => Err("no cargo beside it, in CARGO, or on PATH".to_owned()),
    }
}

/// Runs a program and gives what it prints, or what went wrong.
fn run(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let shown = program.display();
    let output =
        Command::new(program).args(arguments).output().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("{shown} doesn't exist"),
            _ => format!("{shown} doesn't run: {error}"),
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{shown} doesn't run ({}): {}", output.status, said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// (major, minor) of `1.96.0` or `1.97.0-nightly`.
fn parse_release(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// `22` of `22.1.8`.
pub(super) fn major_of(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_by_number() {
        assert_eq!(parse_release("1.96.0"), Some((1, 96)));
        assert_eq!(parse_release("1.100.0-nightly"), Some((1, 100)));
        assert!(
            parse_release("1.100.0") > Some(MINIMUM_RUST)
                && parse_release("1.63.0") < Some(MINIMUM_RUST)
        );
        assert_eq!(parse_release("nightly"), None);
        assert_eq!(major_of("22.1.2-rust-1.95.0-stable"), "22");
    }

    #[test]
    fn a_compiler_that_is_not_there_is_one_missing_line() {
        let candidate = Candidate {
            origin: "test".to_owned(),
            rustc: PathBuf::from("/nowhere/rustc"),
            llvm: LlvmSource::Anywhere,
        };
        let (report, toolchain) = candidate.examine();
        assert_eq!(toolchain, None);
        assert_eq!(report.items.len(), 1);
        assert_eq!(report.items[0].detail, "/nowhere/rustc doesn't exist");
    }
}
