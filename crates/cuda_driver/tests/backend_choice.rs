//! `CUDA_DRIVER_BACKEND`, in processes of their own: the choice is made once.

mod common;

use std::process::Command;

use common::*;

/// Not a test by itself: what the other tests run in a process of its own. Prints what it finds.
#[test]
fn child() {
    if std::env::var_os("DRIVER_TEST_CHILD").is_none() {
        return;
    }
    let (mut count, mut version) = (-1, -1);
    // SAFETY: pointers are to live variables.
    unsafe {
        println!("init {}", cuInit(0));
        let diagnostic = cuda_driver::take_diagnostic();
        let result = cuDeviceGetCount(&mut count);
        println!("count {result} {count}");
        let result = cuDriverGetVersion(&mut version);
        println!("version {result} {version}");
        println!("backend {}", cuda_driver::backend());
        let mut total = 0;
        let result = cuDeviceTotalMem_v2(&mut total, 0);
        println!("memory {result} {total}");
        println!("text {}", diagnostic.map(|found| found.text).unwrap_or_default());
    }
}

fn run(backend: Option<&str>, library_path: &str) -> String {
    run_with(backend, library_path, None)
}

fn run_with(backend: Option<&str>, library_path: &str, memory: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env("DRIVER_TEST_CHILD", "1");
    match backend {
        Some(backend) => command.env("CUDA_DRIVER_BACKEND", backend),
        None => command.env_remove("CUDA_DRIVER_BACKEND"),
    };
    match memory {
        Some(memory) => command.env("FERROWARP_EMULATOR_MEMORY", memory),
        None => command.env_remove("FERROWARP_EMULATOR_MEMORY"),
    };
    if !library_path.is_empty() {
        command.env("LD_LIBRARY_PATH", library_path);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn the_emulator_is_there_when_asked_for() {
    let text = run(Some("emulator"), "");
    assert!(text.contains("init 0\n") && text.contains("backend emulator\n"), "{text}");
}

#[test]
fn auto_always_finds_something() {
    for backend in [None, Some("auto"), Some("")] {
        let text = run(backend, "");
        assert!(text.contains("init 0\n") && text.contains("count 0 1\n"), "{text}");
        let expected = if cuda_driver::native_driver().is_ok() {
            "backend gpu\n"
        } else {
            "backend emulator\n"
        };
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_that_says_where_it_was_looked_for() {
    if cuda_driver::native_driver().is_ok() {
        return; // On a machine with a GPU there is nothing to refuse.
    }
    let text = run(Some("gpu"), "/nonexistent/driver");
    assert!(text.contains(&format!("init {}\n", result::NO_DEVICE)), "{text}");
    assert!(text.contains("count 100 "), "{text}");
    assert!(text.contains("backend gpu\n"), "{text}");
    assert!(
        text.contains(
            "text CUDA_DRIVER_BACKEND=gpu, but there is no usable NVIDIA driver; tried:\n"
        ),
        "{text}"
    );
    if cfg!(target_os = "linux") {
        assert!(text.contains("  /nonexistent/driver/libcuda.so.1: no such file\n"), "{text}");
    }
    assert!(
        text.contains("help: install the NVIDIA driver, or use CUDA_DRIVER_BACKEND=emulator\n"),
        "{text}"
    );
}

#[test]
fn an_unknown_choice_is_refused() {
    let text = run(Some("cpu"), "");
    assert!(text.contains("init 1\n"), "{text}");
    assert!(
        text.contains("text CUDA_DRIVER_BACKEND is `cpu`, expected auto, gpu or emulator\n"),
        "{text}"
    );
}

#[test]
fn the_emulators_memory_is_configured() {
    let text = run_with(Some("emulator"), "", Some("1_000_000"));
    assert!(text.contains("init 0\n") && text.contains("memory 0 1000000\n"), "{text}");
    let text = run_with(Some("emulator"), "", Some("plenty"));
    assert!(text.contains("init 1\n"), "{text}");
    assert!(
        text.contains(
            "text cuInit: `FERROWARP_EMULATOR_MEMORY` is `plenty`, expected a number of bytes, at least 1\n"
        ),
        "{text}"
    );
}
