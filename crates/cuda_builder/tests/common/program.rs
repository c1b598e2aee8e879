//! A program whose build script builds kernels.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::{Project, copy_fixture, edit, scratch};

/// A copy of `fixtures/program` with `fixtures/kernels` in it.
pub struct Program {
    pub project: Project,
}

impl Program {
    /// Always in one place, so that the tests, which wait for one another, compile `core` once.
    pub fn new() -> Self {
        let project = copy_fixture("program", "program");
        super::copy(&super::fixtures().join("kernels"), &project.join("kernels"));
        let builder = Path::new(env!("CARGO_MANIFEST_DIR"));
        edit(
            &project.join("Cargo.toml"),
            "\"CUDA_BUILDER\"",
            &format!("{:?}", builder.display().to_string()),
        );
        // The same versions of dependencies as here, which are downloaded already.
        let _ = fs::copy(builder.join("../../Cargo.lock"), project.join("Cargo.lock"));
        Self { project }
    }

    pub fn kernels(&self) -> PathBuf {
        self.project.join("kernels")
    }

    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments).arg("--offline").current_dir(&*self.project);
        cargo.env("CARGO_TARGET_DIR", scratch().join("program")).env("CARGO_TERM_COLOR", "never");
        // The cache would spare builds that are to be seen.
        cargo.env("CUDA_BUILDER_CACHE", "off");
        // Settings for the host's build, each of which would stop the nested one if it saw them.
        cargo.env("CARGO_INCREMENTAL", "1").env("CARGO_PROFILE_RELEASE_PANIC", "unwind");
        cargo
    }

    /// The PTX that the program was built with.
    #[track_caller]
    pub fn run(&self) -> String {
        let output = self.cargo(&["run", "--quiet"]).output().expect("cargo runs");
        assert!(output.status.success(), "{}", text(&output));
        String::from_utf8(output.stdout).expect("PTX is ASCII")
    }

    /// Builds, and tells whether the build script ran, and how long all took.
    #[track_caller]
    pub fn build(&self) -> (bool, Duration) {
        let start = Instant::now();
        let output = self.cargo(&["build", "--verbose"]).output().expect("cargo runs");
        let time = start.elapsed();
        assert!(output.status.success(), "{}", text(&output));
        let ran = text(&output)
            .lines()
            .any(|line| line.contains("Running") && line.contains("build-script-build`"));
        (ran, time)
    }

    /// What a failing build says.
    #[track_caller]
    pub fn failure(&self, mut cargo: Command) -> String {
        let output = cargo.output().expect("cargo runs");
        assert!(!output.status.success(), "the build should fail: {}", text(&output));
        text(&output)
    }
}

/// What cargo said.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
