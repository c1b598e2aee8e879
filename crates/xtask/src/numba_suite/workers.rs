//! Running the tests: processes that take modules from a queue, and are started again where one dies.

use std::collections::{BTreeSet, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::environment::Environment;
use super::record::{Outcome, Record, crash_row};
use crate::error::Error;
use crate::process;

const PLUGIN: &str = include_str!("../../data/numba_suite_plugin.py");
/// Modules that a process takes at once: starting one takes seconds, and a long tail leaves processes idle.
const MODULES_AT_ONCE: usize = 6;
/// Processes in a row for the same modules that bring no result: what is left is then given up.
const FRUITLESS: usize = 2;

/// How to run.
pub struct Settings {
    /// Processes at a time.
    pub jobs: usize,
    /// Time a test may take.
    pub limit: Duration,
    /// pytest's `-k`.
    pub only: Option<String>,
}

/// The files of a run.
struct Files {
    plugin: PathBuf,
    record: PathBuf,
    scratch: PathBuf,
}

/// Runs the suite and gives its record as text.
///
/// # Errors
/// When a process cannot be started or a file cannot be read or written. Tests that fail are no error.
pub fn run(root: &Path, environment: &Environment, settings: &Settings) -> Result<String, Error> {
    let folder = root.join("target/numba-suite/run");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| Error::io(&folder, error))?;
    }
    let files = Files {
        plugin: folder.join("plugin"),
        record: folder.join("record.jsonl"),
        scratch: folder.join("tmp"),
    };
    for folder in [&files.plugin, &files.scratch] {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    }
    let plugin = files.plugin.join("numba_suite_plugin.py");
    for (path, text) in [(&plugin, PLUGIN), (&files.record, "")] {
        std::fs::write(path, text).map_err(|error| Error::io(path, error))?;
    }
    let listed = process::output(python(environment, &files, settings).arg(&plugin))?;
    let listed = String::from_utf8_lossy(&listed);
    let modules: Vec<String> = listed.lines().map(str::to_owned).collect();
    let queue: Mutex<VecDeque<Vec<String>>> =
        Mutex::new(modules.chunks(MODULES_AT_ONCE).map(<[String]>::to_vec).collect());
    let total = modules.len().div_ceil(MODULES_AT_ONCE);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.jobs.max(1))
            .map(|number| {
                let (queue, files) = (&queue, &files);
                scope.spawn(move || -> Result<(), Error> {
                    loop {
                        let (modules, left) = {
                            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                            let Some(modules) = queue.pop_front() else { return Ok(()) };
                            (modules, queue.len())
                        };
                        println!("{} of {total}: {} …", total - left, modules[0]);
                        run_modules(&modules, number, environment, files, settings)?;
                    }
                })
            })
            .collect();
        for worker in workers {
            match worker.join() {
                Ok(outcome) => outcome?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    read(&files.record)
}

/// Adds a row to the record, in one piece, as the tests' processes do.
fn append(path: &Path, row: &str) -> Result<(), Error> {
    let file = std::fs::OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(row.as_bytes())).map_err(|error| Error::io(path, error))
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| Error::io(path, error))
}

/// The environment's Python, set up to find our library.
fn python(environment: &Environment, files: &Files, settings: &Settings) -> Command {
    let mut command = Command::new(&environment.python);
    command
        .env("LD_LIBRARY_PATH", &environment.library)
        .env("CUDA_DRIVER_BACKEND", "emulator")
        .env("PYTHONPATH", &files.plugin)
        .env("TMPDIR", &files.scratch)
        .env("NUMBA_SUITE_RECORD", &files.record)
        .env("NUMBA_SUITE_LIMIT", settings.limit.as_secs_f64().to_string())
        .env("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
        .current_dir(&files.scratch);
    command
}

/// Runs all tests of some modules, in as many processes as it takes.
fn run_modules(
    modules: &[String],
    number: usize,
    environment: &Environment,
    files: &Files,
    settings: &Settings,
) -> Result<(), Error> {
    let done_file = files.scratch.join(format!("done-{number}"));
    let mut fruitless = 0;
    loop {
        let before = Progress::of(&files.record, modules, number)?;
        let text: String = before.done.iter().map(|name| format!("{name}\n")).collect();
        std::fs::write(&done_file, text).map_err(|error| Error::io(&done_file, error))?;
        let mut command = python(environment, files, settings);
        command
            .env("NUMBA_SUITE_DONE", &done_file)
            .env("NUMBA_SUITE_WORKER", number.to_string())
            .args(["-m", "pytest", "-q", "--tb=no", "--benchmark-disable"])
            .args(["-p", "numba_suite_plugin", "-p", "no:cacheprovider"])
            .args(["-o", "consider_namespace_packages=true"])
            .args(settings.only.iter().flat_map(|only| ["-k", only]))
            .arg("--pyargs")
            .args(modules)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let status = process::status(&mut command)?;
        let mut after = Progress::of(&files.record, modules, number)?;
        // The watchdog ends a process with a status; what ends it with a signal is a crash.
        if status.code().is_none() {
            for test in after.overran.difference(&before.overran) {
                append(&files.record, &crash_row(test, &status.to_string()))?;
            }
            after = Progress::of(&files.record, modules, number)?;
        }
        // The exit status does not tell: the watchdog ends a process with the status of failed tests.
        if after.left == 0 && after.plans > before.plans {
            return Ok(());
        }
        fruitless = if after.done.len() > before.done.len() { 0 } else { fruitless + 1 };
        if fruitless >= FRUITLESS {
            println!("giving up on what is left of {}: {status}", modules.join(", "));
            return Ok(());
        }
    }
}

/// How far the tests of some modules are.
struct Progress {
    /// Tests that have a result; those that a process ended in have one.
    done: BTreeSet<String>,
    /// Those that began and did not end.
    overran: BTreeSet<String>,
    /// How many were collected and have none.
    left: usize,
    /// How often the worker collected tests.
    plans: usize,
}

impl Progress {
    fn of(path: &Path, modules: &[String], worker: usize) -> Result<Progress, Error> {
        let record = Record::read(&read(path)?)
            .map_err(|source| Error::Record { path: path.to_path_buf(), source })?;
        let ours = |name: &str| {
            let module = name.split("::").next().unwrap_or_default();
            modules.iter().any(|ours| ours.strip_prefix("numba.cuda.tests.") == Some(module))
        };
        let overran = record
            .tests
            .iter()
            .filter(|(name, test)| test.outcome == Outcome::Overran && ours(name));
        Ok(Progress {
            overran: overran.map(|(name, _)| name.clone()).collect(),
            left: record.not_run.iter().filter(|name| ours(name)).count(),
            plans: record.plans.get(&worker).copied().unwrap_or_default(),
            done: record.tests.into_keys().filter(|name| ours(name)).collect(),
        })
    }
}
