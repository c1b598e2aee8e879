//! Messages as people see them, and what becomes of each failure.

use super::*;
use crate::driver::{CUresult, Diagnostic, EmulatorEnding};

fn failure(code: Code) -> Failure {
    Failure { code, diagnostic: None }
}

fn emulator(code: u32, ending: EmulatorEnding) -> Failure {
    let text = "error: the emulator's words\n".into();
    let diagnostic = Diagnostic { text, ending, result: CUresult(code), call: "cuCtxSynchronize" };
    Failure { code, diagnostic: Some(diagnostic) }
}

fn kernel(kernels: &[&'static str], failure: Failure) -> Error {
    Problem::Kernel { kernels: kernels.to_vec(), failure, panic: None }.into()
}

#[test]
fn sizes_are_exact_and_readable() {
    assert_eq!(size(0), "0 bytes");
    assert_eq!(size(1), "1 byte");
    assert_eq!(size(1023), "1023 bytes");
    assert_eq!(size(1536), "1.50 KiB (1536 bytes)");
    assert_eq!(size(4 << 30), "4.00 GiB (4294967296 bytes)");
    assert_eq!(size(u64::MAX), "16.00 EiB (18446744073709551615 bytes)");
}

#[test]
fn a_fault_on_a_gpu_names_the_suspects_and_the_way_on() {
    let error = kernel(&["mat_mul"], failure(700));
    let text = error.to_string();
    assert!(text.starts_with("kernel `mat_mul` failed: "), "{text}");
    assert!(text.contains("CUDA_ERROR_ILLEGAL_ADDRESS, 700)\nhelp: run the same command with CUDA_DRIVER_BACKEND=emulator"), "{text}");
    assert_eq!(
        (error.kind(), error.exit_code(), error.code()),
        (ErrorKind::KernelFault, 1, Some(700))
    );
    let text = kernel(&["a", "b"], failure(719)).to_string();
    assert!(
        text.starts_with(
            "one of the kernels launched since the last synchronisation (`a`, `b`) failed: "
        ),
        "{text}"
    );
    assert!(kernel(&[], failure(716)).to_string().starts_with("a kernel failed: "));
}

fn panicked(failure: Failure) -> Error {
    let panic = Panic {
        message: "this thread gives up".into(),
        file: "src/lib.rs".into(),
        line: 7,
        column: 9,
        block: [1, 0, 0],
        thread: [37, 0, 0],
    };
    Problem::Kernel { kernels: vec!["f"], failure, panic: Some(panic) }.into()
}

#[test]
fn a_panic_on_a_gpu_is_told_with_its_message() {
    let error = panicked(failure(710));
    let text = error.to_string();
    assert!(
        text.starts_with(
            "kernel `f` failed: it panicked at src/lib.rs:7:9: this thread gives up\n  in block [1, 0, 0], thread [37, 0, 0]\nhelp: "
        ),
        "{text}"
    );
    assert_eq!(error.panic().map(|panic| panic.line), Some(7));
    // Another fault, after which a panic was left as well.
    assert!(panicked(failure(700)).to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS"));
    // The emulator says it better.
    let error = panicked(emulator(710, EmulatorEnding::KernelBug));
    assert_eq!(error.to_string(), "the emulator's words");
    assert!(error.panic().is_some());
}

#[test]
fn a_fault_on_the_emulator_speaks_for_itself() {
    let error = kernel(&["mat_mul"], emulator(700, EmulatorEnding::KernelBug));
    assert_eq!(error.to_string(), "the emulator's words");
    assert_eq!(error.kind(), ErrorKind::KernelFault);
}

#[test]
fn the_four_ends_of_a_launch() {
    let ends = [
        (EmulatorEnding::KernelBug, ErrorKind::KernelFault, 1),
        (EmulatorEnding::LimitReached, ErrorKind::LimitReached, 1),
        (EmulatorEnding::HostMisuse, ErrorKind::HostMisuse, 2),
        (EmulatorEnding::Unsupported, ErrorKind::Unsupported, 3),
    ];
    for (ending, kind, exit_code) in ends {
        let error = kernel(&["k"], emulator(719, ending));
        assert_eq!((error.kind(), error.exit_code()), (kind, exit_code));
    }
}

#[test]
fn trouble_with_the_device_is_4() {
    for error in [
        Error::from(Problem::NoDevice { failure: emulator(100, EmulatorEnding::HostMisuse) }),
        Problem::NoDevice { failure: failure(100) }.into(),
        Error::driver("create a stream", failure(999)),
        Problem::LoadModule { failure: failure(218), log: "line 3: syntax error".into() }.into(),
        Problem::LoadModule {
            failure: emulator(218, EmulatorEnding::HostMisuse),
            log: String::new(),
        }
        .into(),
        Problem::OutOfMemory { what: "x".into(), bytes: 50, free: 10, total: 100 }.into(),
    ] {
        assert_eq!(error.exit_code(), 4, "{error}");
    }
}

#[test]
fn what_the_emulator_cannot_load_is_unsupported() {
    let failure = emulator(801, EmulatorEnding::Unsupported);
    let error = Error::from(Problem::LoadModule { failure, log: String::new() });
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Unsupported, 3));
}

#[test]
fn more_than_the_device_has_is_misuse() {
    let error = Error::from(Problem::OutOfMemory {
        what: "an array of 3 x f32".into(),
        bytes: 8 << 30,
        free: 1 << 30,
        total: 4 << 30,
    });
    assert_eq!(error.exit_code(), 2);
    assert_eq!(
        error.to_string(),
        "out of memory: 8.00 GiB (8589934592 bytes) for an array of 3 x f32 are more than the 1.00 GiB (1073741824 bytes) \
         that are free of the device's 4.00 GiB (4294967296 bytes)\nhelp: work on smaller pieces"
    );
}

#[test]
fn the_compilers_log_follows_the_message() {
    let log =
        "ptxas application ptx input, line 7; error : Unknown symbol\nptxas fatal : aborted\n\n"
            .into();
    let text = Error::from(Problem::LoadModule { failure: failure(218), log }).to_string();
    assert!(text.starts_with("the PTX does not load: "), "{text}");
    assert!(
        text.ends_with("\n  ptxas application ptx input, line 7; error : Unknown symbol\n  ptxas fatal : aborted"),
        "{text}"
    );
}

#[test]
fn no_module_and_many_kernels() {
    let unknown = |modules, known: &[&str]| {
        let known = known.iter().map(|name| String::from(*name)).collect();
        Error::from(Problem::UnknownKernel { name: "k".into(), modules, known }).to_string()
    };
    assert!(
        unknown(0, &[]).starts_with(
            "no module on this device has a kernel `k`: no module is loaded\nhelp: load"
        )
    );
    assert_eq!(
        unknown(2, &[]),
        "no module on this device has a kernel `k`; 2 modules are loaded, without kernels"
    );
    let names = ["x"; 23];
    assert!(unknown(1, &names).contains("`x` and 3 more\nhelp: "));
}
