//! `cargo xtask ci`: every gate, in the order in which they fail fastest.

use crate::error::Error;
use crate::process::{self, cargo};
use crate::{ptxas, tables, workspace_root};
use std::process::Command;
use std::time::Instant;

/// A gate's name, and what it runs.
type Gate<'a> = (&'a str, &'a dyn Fn() -> Result<(), Error>);

/// Runs every gate and stops at the first that fails.
///
/// # Errors
/// The first gate's failure.
fn run_all(gates: &[Gate<'_>]) -> Result<(), Error> {
    for (name, gate) in gates {
        println!("== {name}");
        let start = Instant::now();
        gate()?;
        println!("== {name}: ok ({:.0} s)", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// `cargo xtask ci`.
///
/// # Errors
/// The first gate's failure.
pub fn run() -> Result<(), Error> {
    let root = workspace_root()?;
    let cargo_in = |arguments: &[&str]| {
        let mut command = cargo();
        command.current_dir(&root).args(arguments);
        command
    };
    run_all(&[
        ("formatting", &|| process::run(&mut cargo_in(&["fmt", "--all", "--check"]))),
        ("lints", &|| {
            process::run(&mut cargo_in(&[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ]))
        }),
        // A workspace of its own, so that nothing else notices when they no longer build or their lock file is out of date.
        ("fuzz targets", &|| {
            process::run(&mut cargo_in(&[
                "clippy",
                "--manifest-path=fuzz/Cargo.toml",
                "--target-dir=target/fuzz",
                "--locked",
                "--",
                "-D",
                "warnings",
            ]))
        }),
        // The user's own command, so that it is the one that is tested.
        ("tests", &|| process::run(Command::new("./x").arg("test").current_dir(&root))),
        ("documentation", &|| {
            process::run(
                cargo_in(&["doc", "--no-deps", "--workspace", "--document-private-items"])
                    .env("RUSTDOCFLAGS", "-D warnings"),
            )
        }),
        ("generated pages", &|| tables::run(true)),
        ("ptxas", &ptxas::run),
    ])
}
