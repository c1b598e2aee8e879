//! What panics say, and take, in builds with different options.

use std::path::Path;
use std::sync::Arc;

use cuda_builder::{CudaBuilder, PanicMessages};
use ptx_emulator::{FaultKind, Launch, Machine, MachineConfig, Program};

/// The PTX of the crate with all kernels, in a file of this name.
fn build(name: &str, options: impl FnOnce(CudaBuilder) -> CudaBuilder) -> String {
    build_crate(name, |builder| options(builder.build_args(&["--features", "all"])))
}

fn build_crate(name: &str, options: impl FnOnce(CudaBuilder) -> CudaBuilder) -> String {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device_panics");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("device_panics");
    // All builds share one folder, and with it `core`; each has a file of its own.
    let copy = target.join(name).with_extension("ptx");
    let built = options(CudaBuilder::new(crate_folder).target_dir(target).copy_to(&copy)).build();
    built.unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(&copy).unwrap_or_else(|error| panic!("{}: {error}", copy.display()))
}

/// Bytes of stack for kernels whose panics may come back to a function that is active, so that nobody knows before the launch what they
/// need: with `core::fmt`, and in builds that check overflow where messages are written, too.
const ROOMY: u32 = 16 << 10;

/// What a kernel's panic says, of 64 threads of which the one with index 37 finds 200; `None` if it reaches its end.
fn said(ptx: &str, kernel: &str, len: usize) -> Option<String> {
    said_within(MachineConfig::default().stack_limit, ptx, kernel, len)
}

/// [`said`], where threads have so many bytes of stack.
fn said_within(stack: u32, ptx: &str, kernel: &str, len: usize) -> Option<String> {
    let program = Program::compile(ptx).unwrap_or_else(|error| panic!("{error}"));
    let mut config = MachineConfig::default();
    config.stack_limit = stack;
    let mut machine = Machine::new(config);
    let module = machine.load(Arc::new(program)).expect("the statics fit");
    let bytes: Vec<u8> =
        (0..64).flat_map(|i| if i == 37 { 200_u32 } else { i }.to_le_bytes()).collect();
    let memory = machine.memory_mut();
    let [values, out] = [(); 2].map(|()| memory.alloc(256, "test").expect("there is memory"));
    memory.write(values, &bytes).expect("just allocated");
    memory.write(out, &[0xA5; 256]).expect("just allocated");
    let params = [values, len as u64, out].map(u64::to_le_bytes).concat();
    let launch = Launch {
        kernel,
        grid: [1, 1, 1],
        block: [64, 1, 1],
        dynamic_shared_bytes: 0,
        params: &params,
    };
    let fault = machine.launch(module, &launch, &mut Vec::new()).err()?;
    match fault.kind() {
        FaultKind::Assert { message, .. } => {
            assert!(fault.to_string().contains("src/lib.rs"), "{fault}");
            Some(message.clone())
        }
        _ => panic!("{fault}"),
    }
}

const UNFORMATTED: &str = "a panic with run-time values in its message";
const INDEX_ERROR: &str = "index out of bounds: the len is 60 but the index is 60";

#[test]
fn a_small_kernel_that_can_panic_stays_small() {
    let ptx = build_crate("hello", |builder| builder);
    // What an assembler reads: no comments, no line tables and their labels, no blanks at the ends of lines.
    let code: String = ptx
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim_end())
        .filter(|line| {
            let start = line.trim_start();
            !start.is_empty()
                && ![".loc", ".file", "$L__tmp"].iter().any(|skipped| start.starts_with(skipped))
        })
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(code.len() < 10_000, "{} bytes:\n{code}", code.len());
    assert_eq!(said(&ptx, "hello", 60).as_deref(), Some(INDEX_ERROR));
    assert_eq!(said(&ptx, "hello", 64), None);
}

#[test]
fn panics_are_left_for_the_host_where_that_is_wanted() {
    let writes = |ptx: &str| ptx.contains("[__cuda_std_panic_record]");
    assert!(writes(&build_crate("hello_record", |builder| builder.panic_record(true))));
    assert!(!writes(&build_crate("hello", |builder| builder)));
}

#[test]
fn the_usual_messages_need_no_formatting() {
    let ptx = build("usual", |builder| builder);
    assert!(!ptx.contains("3fmt"), "core::fmt is in the PTX");
    let own = "called `Result::unwrap()` on an `Err` value: <device_panics::all::Trouble>";
    assert_eq!(said(&ptx, "own_error", 64).as_deref(), Some(own));
    assert_eq!(
        said(&ptx, "own_error", 32).as_deref(),
        Some("index out of bounds: the len is 32 but the index is 32")
    );
    assert_eq!(said(&ptx, "formatted", 64).as_deref(), Some("value 37 is   200|66.67"));
    // Nothing is checked that a release build doesn't check.
    assert_eq!(said(&ptx, "doubled", 64), None);
    assert_eq!(said(&ptx, "debug_asserted", 64), None);
}

#[test]
fn full_messages_show_every_type() {
    let ptx = build("full", |builder| builder.panic_messages(PanicMessages::Full));
    let own = "called `Result::unwrap()` on an `Err` value: Trouble { thread: 37 }";
    assert_eq!(said_within(ROOMY, &ptx, "own_error", 64).as_deref(), Some(own));
    assert_eq!(
        said_within(ROOMY, &ptx, "formatted", 64).as_deref(),
        Some("value 37 is   200|66.67")
    );
    assert_eq!(said_within(ROOMY, &ptx, "hello", 60).as_deref(), Some(INDEX_ERROR));
}

#[test]
fn constant_messages_show_no_values() {
    let ptx = build("constant", |builder| builder.panic_messages(PanicMessages::Constant));
    assert!(!ptx.contains("3fmt"), "core::fmt is in the PTX");
    for kernel in ["own_error", "formatted"] {
        assert_eq!(said(&ptx, kernel, 64).as_deref(), Some(UNFORMATTED));
    }
    assert_eq!(said(&ptx, "hello", 60).as_deref(), Some(INDEX_ERROR));
}

#[test]
fn debug_builds_check_more() {
    let ptx = build("debug", |builder| builder.release(false));
    assert_eq!(
        said_within(ROOMY, &ptx, "doubled", 64).as_deref(),
        Some("attempt to add with overflow")
    );
    assert_eq!(said_within(ROOMY, &ptx, "debug_asserted", 64).as_deref(), Some("200 is too much"));
    assert_eq!(
        said_within(ROOMY, &ptx, "formatted", 64).as_deref(),
        Some("value 37 is   200|66.67")
    );
    assert_eq!(
        said_within(ROOMY, &ptx, "doubled", 36).as_deref(),
        Some("index out of bounds: the len is 36 but the index is 36")
    );
}

#[test]
fn messages_need_no_optimiser() {
    let ptx = build("unoptimised", |builder| builder.nvvm_opts(false));
    assert_eq!(
        said_within(ROOMY, &ptx, "formatted", 64).as_deref(),
        Some("value 37 is   200|66.67")
    );
    let own = "called `Result::unwrap()` on an `Err` value: <device_panics::all::Trouble>";
    assert_eq!(said_within(ROOMY, &ptx, "own_error", 64).as_deref(), Some(own));
    assert_eq!(said_within(ROOMY, &ptx, "hello", 60).as_deref(), Some(INDEX_ERROR));
}
