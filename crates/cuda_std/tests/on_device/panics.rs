//! What a panic reports: message, file, line, column, thread.

use ptx_emulator::{Ending, FaultKind};

use crate::device::{Device, Params, line};
use crate::faults::{Failed, failing};

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
#[track_caller]
fn panicking(test: &str, kernel: &str, params: impl FnOnce(&mut Device) -> Params) -> Failed {
    failing(&format!("panics::{test}"), kernel, line(2, 64), params)
}

/// Checks everything about a panic of thread `PANICS_AT`.
#[track_caller]
fn check(failed: &Failed, message: &str, (line, column): (u32, u32)) {
    let (file, function) = ("src/panics.rs", format!("kernel panic at column {column}"));
    match failed {
        Failed::Emulator(fault) => {
            let (message, file) = (message.into(), file.into());
            let expected = FaultKind::Assert { message, file, line, function };
            assert_eq!(format!("{:?}", fault.kind()), format!("{expected:?}"));
            assert_eq!(fault.ending(), Ending::KernelBug);
            assert_eq!(fault.block(), Some([1, 0, 0]));
            assert_eq!((fault.warp(), fault.lanes()), (Some(1), 1 << 5));
        }
        Failed::Driver { error, said } => {
            assert_eq!(error, "AssertError", "{said}");
            let place = format!("{file}:{line}");
            let mut parts = vec![message, &place];
            // NVIDIA's driver words it so.
            if cuda_driver::backend() == cuda_driver::Backend::Gpu {
                parts.extend([&*function, "block: [1,0,0]", "thread: [37,0,0]"]);
            }
            for part in parts {
                assert!(said.contains(part), "`{part}` is missing in:\n{said}");
            }
        }
    }
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
    let failed = panicking("index_out_of_bounds", "index_error", |device| {
        let values = device.upload(&[1_u32, 2, 3]);
        Params::default().slice(values, 3).value(PANICS_AT).value(out(device))
    });
    check(&failed, WITH_VALUES, place("index", "values[index]"));
}

#[test]
fn no_element_for_the_thread() {
    let failed = panicking("no_element_for_the_thread", "no_element", |device| {
        Params::default().value(PANICS_AT).slice(out(device), PANICS_AT as usize)
    });
    let message = "the thread has no element: compare its unique index with the length first";
    check(&failed, message, place("element", "[i] = 1"));
}

#[test]
fn division_by_zero() {
    let failed = panicking("division_by_zero", "division_by_zero", |device| {
        let divisors = device.upload(&values(|_| 5, 0_i32));
        Params::default().slice(divisors, 128).value(out(device))
    });
    check(&failed, "attempt to divide by zero", place("division", "100 / divisors[i]"));
}

#[test]
fn explicit() {
    let params = |_: &mut Device| Params::default().value(PANICS_AT);
    let failed = panicking("explicit", "explicit_panic", params);
    check(&failed, "this thread gives up", place("explicit", "panic!"));
}

#[test]
fn unwrap_on_none() {
    let params = |device: &mut Device| Params::default().value(PANICS_AT).value(out(device));
    let failed = panicking("unwrap_on_none", "unwrap_on_none", params);
    let message = "called `Option::unwrap()` on a `None` value";
    check(&failed, message, place("unwrap", "unwrap()"));
}

#[test]
fn overflow() {
    let failed = panicking("overflow", "overflow", |device| {
        let values = device.upload(&values(|_| 5, 200_u8));
        Params::default().slice(values, 128).value(out(device))
    });
    check(&failed, "attempt to add with overflow", place("overflow", "panic!"));
}

/// 128 numbers, each its index but for that of the thread that is to panic.
fn unequal_values(device: &mut Device) -> Params {
    let values = device.upload(&values(|i| i, 0_u32));
    Params::default().slice(values, 128)
}

#[test]
fn assertions() {
    let failed = panicking("assertions", "unequal", unequal_values);
    let message = "assertion failed: `values[i as usize] == i`";
    check(&failed, message, place("unequal", "assert_eq!"));
}

#[test]
fn assertions_of_core() {
    let failed = panicking("assertions_of_core", "cores_unequal", unequal_values);
    check(&failed, WITH_VALUES, place("cores_unequal", "core::assert_eq!"));
}

#[test]
fn a_message_with_values() {
    let params = |_: &mut Device| Params::default().value(PANICS_AT);
    let failed = panicking("a_message_with_values", "formatted", params);
    check(&failed, WITH_VALUES, place("formatted", "panic!"));
}

#[test]
fn a_long_message_is_cut() {
    let params = |_: &mut Device| Params::default().value(PANICS_AT);
    let failed = panicking("a_long_message_is_cut", "long_message", params);
    let digits = "0123456789".repeat(26);
    match failed {
        Failed::Emulator(fault) => match fault.kind() {
            FaultKind::Assert { message, .. } => assert_eq!(*message, digits[..255]),
            _ => panic!("{fault}"),
        },
        Failed::Driver { error, said } => {
            assert_eq!(error, "AssertError", "{said}");
            assert!(said.contains(&digits[..255]) && !said.contains(&digits), "{said}");
        }
    }
}
