//! `./x` on machines of every kind, made of stubs: what it installs, what it leaves alone, and what it hands to cargo.
//!
//! A machine is a folder with the programs it has; the script's `PATH` is that folder and nothing else. `rustup`, `apt-get` and
//! their like are the scripts in `stubs/`, which log what they were asked to do and change the machine as the real ones would.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The exit status for a toolchain that is missing.
const TROUBLE: i32 = 4;

/// What every machine has. The script uses no other programs than these and the stubs.
const UTILITIES: [&str; 9] =
    ["sh", "sed", "sort", "env", "uname", "cat", "mkdir", "chmod", "printf"];

struct Machine {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// How a run of the script ended.
struct Outcome {
    status: i32,
    stdout: String,
    stderr: String,
    /// What the stubs were asked to do, one line each, in order.
    log: Vec<String>,
}

impl Machine {
    /// A machine with a C linker, run as root, that has neither Rust nor packages.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let machine = Self { folder, environment: Vec::new() };
        for name in ["bin", "toolchains", "root/usr/bin"] {
            fs::create_dir_all(machine.path(name)).expect("writable");
        }
        for name in UTILITIES {
            let program = ["/bin", "/usr/bin"]
                .map(|folder| Path::new(folder).join(name))
                .into_iter()
                .find(|path| path.exists());
            symlink(program.expect("a POSIX utility"), machine.path("bin").join(name))
                .expect("writable");
        }
        machine.file("uid", "0").file("llvm", "22").file("packages", "").has("id").has("cc")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.path(name), text).expect("writable");
        self
    }

    /// The machine has the stub `program` on its PATH.
    fn has(self, program: &str) -> Self {
        symlink(stubs().join(program), self.path("bin").join(program)).expect("writable");
        self
    }

    fn lacks(self, program: &str) -> Self {
        fs::remove_file(self.path("bin").join(program)).expect("it was there");
        self
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// rustup with toolchains of these names; a name's digits are its version, `stable` is the given one.
    fn with_rustup(self, toolchains: &[(&str, &str)]) -> Self {
        for (name, version) in toolchains {
            let folder = self.path("toolchains").join(name);
            fs::create_dir_all(&folder).expect("writable");
            fs::write(folder.join("version"), version).expect("writable");
        }
        self.has("rustup")
    }

    /// apt with these packages.
    fn with_apt(self, packages: &[(&str, &str)]) -> Self {
        let lines: String =
            packages.iter().map(|(name, version)| format!("{name} {version}\n")).collect();
        self.file("packages", &lines).has("apt-get").has("apt-cache")
    }

    fn with_debian_12(self) -> Self {
        self.with_apt(&[
            ("rustc", "1.63.0+dfsg1-2"),
            ("cargo", "0.66.0+ds1-1"),
            ("rust-src", "1.63.0+dfsg1-2"),
            ("rustc-web", "1.96.0+dfsg1-1~deb12u2"),
            ("cargo-web", "1.96.0+dfsg1-1~deb12u2"),
            ("rust-web-src", "1.96.0+dfsg1-1~deb12u2"),
            ("llvm-22", "1:22.1.8-1"),
        ])
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let _ = fs::remove_file(self.path("log"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../x");
        let output = Command::new("/bin/sh")
            .arg(script)
            .args(arguments)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("STATE", self.folder.path())
            .env("STUBS", stubs())
            .env("FERROWARP_SYSTEM_ROOT", self.path("root"))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .output()
            .expect("sh runs");
        Outcome {
            status: output.status.code().expect("no signal"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            log: fs::read_to_string(self.path("log"))
                .unwrap_or_default()
                .lines()
                .map(str::to_owned)
                .collect(),
        }
    }
}

impl Outcome {
    #[track_caller]
    fn succeeded(self) -> Self {
        assert_eq!(self.status, 0, "log: {:#?}\n{}", self.log, self.stderr);
        self
    }

    /// Failed for want of a toolchain, naming each of `parts`.
    #[track_caller]
    fn gave_up(self, parts: &[&str]) -> Self {
        assert_eq!(self.status, TROUBLE, "log: {:#?}\n{}", self.log, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is not in:\n{}", self.stderr);
        }
        self
    }

    /// The stubs were asked exactly this.
    #[track_caller]
    fn logged(&self, expected: &[&str]) {
        assert_eq!(self.log, expected, "{}", self.stderr);
    }
}

fn stubs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/x_script/stubs")
}

const ADD: &str = "rustup component add rust-src llvm-tools --toolchain 1.95.0-host";
const APT: &str = "apt-get install --yes --no-install-recommends --no-remove";

fn manifest() -> String {
    format!("[--manifest-path] [{}/../../Cargo.toml]", env!("CARGO_MANIFEST_DIR"))
}

/// The log line of a cargo that runs under rustup's 1.95.0.
fn cargo_195(arguments: &str) -> String {
    let (command, rest) = arguments.split_once(' ').unwrap_or((arguments, ""));
    format!(
        "cargo 1.95.0 toolchain=1.95.0-host auto-install=unset: {command} {} {rest}",
        manifest()
    )
    .trim_end()
    .to_owned()
}

#[test]
fn rustup_adds_the_components_once() {
    let machine = Machine::new().with_rustup(&[("1.95.0-host", "1.95.0")]).with_debian_12();
    machine.run(&["setup"]).succeeded().logged(&[ADD]);
    let second = machine.run(&["setup"]).succeeded();
    second.logged(&[]);
    assert!(
        second.stderr.contains("rustc 1.95.0") && second.stderr.contains("LLVM 22"),
        "{}",
        second.stderr
    );
    // And a run needs nothing but the program's own output.
    let run = machine.run(&["run"]).succeeded();
    run.logged(&[&cargo_195("[run] [--release] [--]")]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn arguments_and_exit_status_pass_through() {
    let machine = Machine::new().with_rustup(&[("1.95.0-host", "1.95.0")]);
    machine.run(&["setup"]).succeeded();
    machine.run(&["run", "matmul", "--a", "my file.npy", "", "*", "--size=8"]).succeeded().logged(
        &[&cargo_195("[run] [--release] [--] [matmul] [--a] [my file.npy] [] [*] [--size=8]")],
    );
    machine
        .run(&["test", "--", "a b"])
        .succeeded()
        .logged(&[&cargo_195("[test] [--workspace] [--] [a b]")]);
    machine
        .run(&["bench", "--", "mat mul"])
        .succeeded()
        .logged(&[&cargo_195("[bench] [--bench] [*] [--] [mat mul]")]);
    machine
        .run(&["ci"])
        .succeeded()
        .logged(&[&cargo_195("[run] [--quiet] [--package] [xtask] [--] [ci]")]);
    let failing = machine.with("CARGO_STATUS", "101");
    assert_eq!(failing.run(&["test"]).status, 101);
}

#[test]
fn the_preferred_toolchain_comes_first_then_stable_then_the_newest() {
    let chosen = |toolchains: &[(&str, &str)]| {
        let machine = Machine::new().with_rustup(toolchains);
        let log = machine.run(&["run"]).succeeded().log;
        let line = log.last().expect("cargo ran").clone();
        line.split("toolchain=")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .expect("logged")
            .to_owned()
    };
    let (stable, preferred) = (("stable-host", "1.98.0"), ("1.95.0-host", "1.95.0"));
    let (older, old, new) =
        (("1.80.0-host", "1.80.0"), ("1.96.1-host", "1.96.1"), ("1.100.0-host", "1.100.0"));
    let nightly = ("nightly-host", "1.99.0-nightly");
    assert_eq!(chosen(&[nightly, stable, old, preferred, new]), "1.95.0-host");
    assert_eq!(chosen(&[nightly, stable, old, new]), "stable-host");
    assert_eq!(chosen(&[nightly, old, ("1.99.0-host", "1.99.0")]), "1.99.0-host");
    assert_eq!(chosen(&[nightly, ("stable-host", "1.94.9"), older, old, new]), "1.100.0-host");
    assert_eq!(chosen(&[older, nightly]), "nightly-host");
}

#[test]
fn the_users_choice_of_toolchain_counts_if_it_is_new_enough() {
    let machine = || {
        Machine::new().with_rustup(&[
            ("1.95.0-host", "1.95.0"),
            ("mine", "1.97.0"),
            ("old", "1.80.0"),
        ])
    };
    let log = machine().with("RUSTUP_TOOLCHAIN", "mine").run(&["run"]).succeeded().log;
    assert!(log.last().is_some_and(|line| line.contains("toolchain=mine ")), "{log:?}");
    for unusable in ["old", "not-installed"] {
        let log = machine().with("RUSTUP_TOOLCHAIN", unusable).run(&["run"]).succeeded().log;
        assert!(log.last().is_some_and(|line| line.contains("toolchain=1.95.0-host ")), "{log:?}");
    }
}

#[test]
fn packages_complete_a_rustup_that_cant_download() {
    let machine = Machine::new()
        .with_rustup(&[("1.95.0-host", "1.95.0")])
        .with_debian_12()
        .file("offline", "");
    machine.run(&["setup"]).succeeded().logged(&[
        ADD,
        "apt-get update",
        &format!("{APT} rustc-web rust-web-src"),
        &format!("{APT} llvm-22"),
    ]);
    machine.run(&["setup"]).succeeded().logged(&[]);
    // The host's programs are still built by rustup's toolchain.
    machine.run(&["run"]).succeeded().logged(&[&cargo_195("[run] [--release] [--]")]);
}

#[test]
fn rustup_is_not_asked_to_install_where_it_must_not() {
    let machine = Machine::new()
        .with_rustup(&[("1.95.0-host", "1.95.0")])
        .with_debian_12()
        .with("RUSTUP_AUTO_INSTALL", "0");
    let log = machine.run(&["setup"]).succeeded().log;
    assert!(log.iter().all(|line| line.starts_with("apt-get")), "{log:#?}");
    // Nor is the setting changed for what runs.
    let log = machine.run(&["run"]).succeeded().log;
    assert!(log.last().is_some_and(|line| line.contains("auto-install=0:")), "{log:#?}");
    // Without packages, nothing is left to do but say so.
    let machine =
        Machine::new().with_rustup(&[("1.95.0-host", "1.95.0")]).with("RUSTUP_AUTO_INSTALL", "0");
    machine
        .run(&["setup"])
        .gave_up(&[
            "rustup component add rust-src llvm-tools --toolchain 1.95.0-host",
            "CUDA_BUILDER_RUSTC",
        ])
        .logged(&[]);
}

#[test]
fn only_a_user_who_is_not_root_needs_sudo() {
    let machine = || {
        Machine::new()
            .with_debian_12()
            .file("uid", "1000")
            .with_rustup(&[("1.95.0-host", "1.95.0")])
            .file("offline", "")
    };
    let log = machine().has("sudo").run(&["setup"]).succeeded().log;
    assert_eq!(log[1..3], ["sudo apt-get update", "apt-get update"]);
    assert!(
        log.contains(&format!("sudo env DEBIAN_FRONTEND=noninteractive {APT} llvm-22")),
        "{log:#?}"
    );
    machine()
        .run(&["setup"])
        .gave_up(&[
            "sudo apt-get update\n",
            "sudo apt-get install rustc-web rust-web-src llvm-22\n",
        ])
        .logged(&[ADD]);
}

#[test]
fn a_machine_without_rust_gets_the_distributions() {
    let machine = Machine::new().with_debian_12().lacks("cc");
    machine.run(&["setup"]).succeeded().logged(&[
        "apt-get update",
        &format!("{APT} rustc-web cargo-web rust-web-src gcc libc6-dev"),
        &format!("{APT} rustc-web rust-web-src"),
        &format!("{APT} llvm-22"),
    ]);
    let run = machine.run(&["run"]).succeeded();
    run.logged(&[&format!(
        "cargo 1.96.0 toolchain=none auto-install=unset: [run] {} [--release] [--]",
        manifest()
    )]);
    machine.run(&["setup"]).succeeded().logged(&[]);
}

#[test]
fn newer_distributions_name_their_packages_plainly() {
    let machine = Machine::new().file("llvm", "23").with_apt(&[
        ("rustc", "1.99.0+dfsg1-1"),
        ("cargo", "1.99.0+dfsg1-1"),
        ("rust-src", "1.99.0+dfsg1-1"),
        ("llvm-23", "1:23.1.0-1"),
    ]);
    let log = machine.run(&["setup"]).succeeded().log;
    assert_eq!(log[1], format!("{APT} rustc cargo rust-src gcc libc6-dev"));
    assert_eq!(log.last(), Some(&format!("{APT} llvm-23")));
}

#[test]
fn a_complete_distribution_needs_no_rustup() {
    let machine = Machine::new().with_debian_12();
    machine.run(&["setup"]).succeeded();
    // The same files, but no apt any more.
    let machine = machine.lacks("apt-get");
    machine.run(&["setup"]).succeeded().logged(&[]);
}

#[test]
fn an_old_rustup_gets_the_preferred_toolchain() {
    let machine = Machine::new().with_rustup(&[("stable-host", "1.80.0")]);
    machine.run(&["setup"]).succeeded().logged(&[
        "rustup toolchain install 1.95.0 --profile minimal --no-self-update --component rust-src,llvm-tools,rustfmt,clippy",
    ]);
    // If it can't, the distribution's cargo is used although rustup's commands come first on PATH.
    let machine = Machine::new()
        .with_rustup(&[("stable-host", "1.80.0")])
        .with_debian_12()
        .file("offline", "");
    machine.run(&["setup"]).succeeded();
    let log = machine.run(&["run"]).succeeded().log;
    assert!(
        log.last().is_some_and(|line| line.starts_with("cargo 1.96.0 toolchain=none")),
        "{log:#?}"
    );
}

#[test]
fn a_machine_with_nothing_is_told_everything() {
    let outcome = Machine::new().run(&["run"]);
    outcome
        .gave_up(&["no cargo 1.95", "https://rustup.rs", "rustup toolchain install 1.95.0"])
        .logged(&[]);
    let machine = Machine::new().with_debian_12().file("no-packages", "");
    machine
        .run(&["setup"])
        .gave_up(&["apt-get install rustc-web rust-web-src llvm-22 cargo-web gcc libc6-dev"]);
}

#[test]
fn llvm_of_another_version_does_not_count() {
    let machine = Machine::new().with_rustup(&[("1.95.0-host", "1.95.0")]);
    machine.run(&["setup"]).succeeded();
    let tools = machine.path("toolchains/1.95.0-host/lib/rustlib/host/bin");
    for tool in ["llc", "opt", "llvm-dis"] {
        fs::write(tools.join(tool), "#!/bin/sh\necho '  LLVM version 14.0.6'\n").expect("writable");
    }
    // rustup would put the right ones back.
    machine.run(&["setup"]).succeeded().logged(&[ADD]);
}

#[test]
fn a_missing_linker_is_installed_or_explained() {
    let machine = Machine::new().with_rustup(&[("1.95.0-host", "1.95.0")]).lacks("cc");
    let machine = machine
        .run(&["setup"])
        .gave_up(&["no C linker", "apt-get install gcc libc6-dev"])
        .status
        .eq(&TROUBLE)
        .then_some(machine);
    let machine = machine.expect("checked above").with_debian_12();
    let log = machine.run(&["setup"]).succeeded().log;
    assert_eq!(log[..2], ["apt-get update".to_owned(), format!("{APT} gcc libc6-dev")]);
}

#[test]
fn named_tools_are_taken_as_they_are() {
    let machine = Machine::new()
        .with_rustup(&[("1.95.0-host", "1.95.0")])
        .with("CUDA_BUILDER_RUSTC", "/opt/rustc")
        .with_debian_12();
    machine.run(&["setup"]).succeeded().logged(&[]);
}

#[test]
fn rustups_settings_are_never_touched() {
    for offline in [false, true] {
        let mut machine = Machine::new()
            .with_rustup(&[("stable-host", "1.80.0"), ("1.96.0-host", "1.96.0")])
            .with_debian_12();
        if offline {
            machine = machine.file("offline", "");
        }
        let log = machine.run(&["setup"]).succeeded().log;
        for forbidden in ["set", "default", "override", "update", "self"] {
            assert!(
                !log.iter().any(|line| line.starts_with(&format!("rustup {forbidden}"))),
                "{log:#?}"
            );
        }
    }
}

#[test]
fn help_and_unknown_commands_do_nothing() {
    for arguments in [&["help"][..], &["--help"], &[]] {
        let help = Machine::new().run(arguments).succeeded();
        assert!(help.stdout.contains("./x run"), "{}", help.stdout);
        help.logged(&[]);
    }
    let unknown = Machine::new().run(&["rnu"]);
    assert_eq!(unknown.status, 2);
    assert!(
        unknown.stderr.contains("no command \"rnu\"") && unknown.stderr.contains("usage:"),
        "{}",
        unknown.stderr
    );
}
