//! Clocks, hints, ends.

use ptx_emulator::Ending;

use crate::device::{Backend, Device, Params, backend, line, numbers, ptx_of};
use crate::faults::{Failed, failing};

#[test]
fn clocks_run() {
    let mut device = Device::new();
    let out = device.upload(&[[7_u32; 4]; 64]);
    device.run("clocks", line(2, 32), &Params::default().value(out));
    assert_eq!(device.download::<[u32; 4]>(out, 64), [[1; 4]; 64]);
}

#[test]
fn hints_change_no_value() {
    let mut device = Device::checked();
    let values: Vec<u32> = numbers(5).take(77).map(|n| n as u32 % 40 * 8).collect();
    let input = device.upload(&values);
    let out = device.upload(&[u32::MAX; 96]);
    device.run("hinted", line(3, 32), &Params::default().slice(input, 77).value(out));
    let mut expected: Vec<u32> =
        values.iter().map(|&value| if value > 100 { value / 8 } else { value % 8 + 1 }).collect();
    expected.resize(96, u32::MAX);
    assert_eq!(device.download::<u32>(out, 96), expected);
}

#[test]
fn a_trap_ends_the_launch() {
    let test = "hints::a_trap_ends_the_launch";
    match failing(test, "trapping", line(1, 32), |_| Params::default()) {
        Failed::Emulator(fault) => {
            assert_eq!((fault.ending(), fault.lanes()), (Ending::KernelBug, 1 << 5));
        }
        Failed::Driver { error, .. } => assert!(
            ["LaunchFailed", "UnspecifiedLaunchFailure", "IllegalInstruction"].contains(&&*error),
            "{error}"
        ),
    }
}

/// An H200 without a debugger answered `CUDA_ERROR_LAUNCH_FAILED` to it.
#[test]
fn a_breakpoint_without_a_debugger_ends_the_launch() {
    let test = "hints::a_breakpoint_without_a_debugger_ends_the_launch";
    let params = |device: &mut Device| {
        let out = device.upload(&[u32::MAX; 64]);
        Params::default().value(37_u32).value(out)
    };
    match failing(test, "stopping", line(2, 32), params) {
        Failed::Emulator(fault) => {
            assert_eq!((fault.ending(), fault.lanes()), (Ending::KernelBug, 1 << 5));
            assert_eq!(fault.block(), Some([1, 0, 0]));
            assert!(fault.to_string().contains("brkpt"), "{fault}");
        }
        Failed::Driver { error, .. } => {
            assert!(["LaunchFailed", "UnspecifiedLaunchFailure"].contains(&&*error), "{error}")
        }
    }
}

#[test]
fn a_breakpoint_that_no_thread_reaches_changes_nothing() {
    let mut device = Device::checked();
    let out = device.upload(&[u32::MAX; 64]);
    device.run("stopping", line(2, 32), &Params::default().value(64_u32).value(out));
    assert_eq!(device.download::<u32>(out, 64), (0..64).collect::<Vec<u32>>());
}

#[test]
fn limits_of_a_kernel_are_in_its_ptx_and_hold() {
    let directives = |kernel: &str| {
        let head = ptx_of(kernel);
        let head = &head[head.find(')').expect("the parameters end")..];
        let head = &head[..head.find('{').expect("a body")];
        let lines = head
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default().trim())
            .filter(|line| line.starts_with('.'));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(directives("bounded"), [".maxntid 96", ".minnctapersm 4"]);
    assert_eq!(directives("with_few_registers"), [".maxntid 1024", ".maxnreg 32"]);
    assert!(directives("hinted").is_empty());

    let mut device = Device::new();
    let out = device.upload(&[7_u32; 200]);
    let params = Params::default().slice(out, 200);
    device.run("bounded", line(2, 96), &params);
    let mut expected = vec![96; 192];
    expected.resize(200, 7);
    assert_eq!(device.download::<u32>(out, 200), expected);
    device.run("with_few_registers", line(1, 1024), &params);
    assert_eq!(device.download::<u32>(out, 200), [32; 200]);
    if backend() == Backend::Emulator {
        // Through the driver a launch that is refused is a failure of the test itself.
        let fault = device.try_run("bounded", line(2, 97), &params).expect_err("too many threads");
        assert!(
            fault.to_string().contains("96 threads") || fault.to_string().contains("(96, 1, 1)"),
            "{fault}"
        );
    }
}
