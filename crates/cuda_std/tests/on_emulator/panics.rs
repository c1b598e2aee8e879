//! What a panic reports: message, file, line, column, thread.

use ptx_emulator::{Ending, Fault, FaultKind};

use crate::device::{Device, Params, line};

const SOURCE: &str = include_str!("../device/src/panics.rs");

/// Line and column of `code` in the kernels' source, both from 1, on the line that is marked `// line: mark`.
fn place(mark: &str, code: &str) -> (u32, u32) {
    let mark = format!("// line: {mark}");
    let found = SOURCE.lines().zip(1..).find(|(line, _)| line.ends_with(&mark));
    let (text, line) = found.expect("the mark is in the source");
    let column = text.find(code).expect("the code is on the line") as u32 + 1;
    (line, column)
}

/// Launches two blocks of 64 threads, of which one is to panic.
fn fault(kernel: &str, params: impl FnOnce(&mut Device) -> Params) -> Box<Fault> {
    let mut device = Device::new();
    let params = params(&mut device);
    match device.try_run(kernel, line(2, 64), &params) {
        Ok(_) => panic!("{kernel} did not panic"),
        Err(fault) => fault,
    }
}

/// Checks everything about a panic of thread `PANICS_AT`.
#[track_caller]
fn check(fault: &Fault, message: &str, (line, column): (u32, u32)) {
    let expected = FaultKind::Assert {
        message: message.into(),
        file: "src/panics.rs".into(),
        line,
        function: format!("kernel panic at column {column}"),
    };
    assert_eq!(format!("{:?}", fault.kind()), format!("{expected:?}"));
    assert_eq!(fault.ending(), Ending::KernelBug);
    assert_eq!(fault.block(), Some([1, 0, 0]));
    assert_eq!((fault.warp(), fault.lanes()), (Some(1), 1 << 5));
}

/// Thread 37 of block 1: lane 5 of its warp 1.
const PANICS_AT: u32 = 64 + 37;

const WITH_VALUES: &str =
    "index out of bounds, or another panic with run-time values in its message";

fn out(device: &mut Device) -> u64 {
    device.upload(&[0_u32; 128])
}

/// 128 values, a special one for the thread that is to panic.
fn values<T: Copy>(usual: impl Fn(u32) -> T, special: T) -> Vec<T> {
    (0..128).map(|i| if i == PANICS_AT { special } else { usual(i) }).collect()
}

#[test]
fn index_out_of_bounds() {
    let fault = fault("index_error", |device| {
        let values = device.upload(&[1_u32, 2, 3]);
        Params::default().slice(values, 3).value(PANICS_AT).value(out(device))
    });
    check(&fault, WITH_VALUES, place("index", "values[index]"));
}

#[test]
fn division_by_zero() {
    let fault = fault("division_by_zero", |device| {
        let divisors = device.upload(&values(|_| 5, 0_i32));
        Params::default().slice(divisors, 128).value(out(device))
    });
    check(&fault, "attempt to divide by zero", place("division", "100 / divisors[i]"));
}

#[test]
fn explicit() {
    let fault = fault("explicit_panic", |_| Params::default().value(PANICS_AT));
    check(&fault, "this thread gives up", place("explicit", "panic!"));
}

#[test]
fn unwrap_on_none() {
    let fault =
        fault("unwrap_on_none", |device| Params::default().value(PANICS_AT).value(out(device)));
    let message = "called `Option::unwrap()` on a `None` value";
    check(&fault, message, place("unwrap", "unwrap()"));
}

#[test]
fn overflow() {
    let fault = fault("overflow", |device| {
        let values = device.upload(&values(|_| 5, 200_u8));
        Params::default().slice(values, 128).value(out(device))
    });
    check(&fault, "attempt to add with overflow", place("overflow", "panic!"));
}

#[test]
fn assertions() {
    let params = |device: &mut Device| {
        let values = device.upload(&values(|i| i, 0_u32));
        Params::default().slice(values, 128)
    };
    let message = "assertion failed: `values[i as usize] == i`";
    check(&fault("unequal", params), message, place("unequal", "assert_eq!"));
    check(&fault("cores_unequal", params), WITH_VALUES, place("cores_unequal", "core::assert_eq!"));
}

#[test]
fn a_message_with_values() {
    let fault = fault("formatted", |_| Params::default().value(PANICS_AT));
    check(&fault, WITH_VALUES, place("formatted", "panic!"));
}

#[test]
fn a_long_message_is_cut() {
    let fault = fault("long_message", |_| Params::default().value(PANICS_AT));
    let FaultKind::Assert { message, .. } = fault.kind() else {
        panic!("{fault}");
    };
    assert_eq!(*message, "0123456789".repeat(26)[..255]);
}
