//! Assertions of unequal values.

use crate::device::{Device, Params, line};
use crate::faults::{Failed, failing};

/// As many values as threads, each the next thread's number but for that of thread 37 of block 1.
fn values(special: u32) -> Vec<u32> {
    (0..128).map(|i| if i == 101 { special } else { i + 1 }).collect()
}

fn params(device: &mut Device, special: u32) -> Params {
    let values = device.upload(&values(special));
    Params::default().slice(values, 128).value(device.upload(&[u32::MAX; 128]))
}

/// The launch reports `message`, and the line that ends with `mark`.
#[track_caller]
fn check(test: &str, kernel: &str, message: &str, mark: &str) {
    let source = include_str!("../device/src/assertions.rs");
    let line_of_mark =
        source.lines().position(|line| line.ends_with(mark)).expect("it is there") + 1;
    let test = format!("assertions::{test}");
    let text = match failing(&test, kernel, line(2, 64), |device| params(device, 101)) {
        Failed::Emulator(fault) => {
            assert_eq!((fault.block(), fault.lanes()), (Some([1, 0, 0]), 1 << 5), "{fault}");
            fault.to_string()
        }
        Failed::Driver { error, said } => {
            assert_eq!(error, "AssertError", "{said}");
            said
        }
    };
    assert!(text.contains(message), "`{message}` is missing in:\n{text}");
    let place = format!("src/assertions.rs:{line_of_mark}");
    assert!(text.contains(&place), "`{place}` is missing in:\n{text}");
}

#[test]
fn equal_values_are_reported_with_their_expressions() {
    let test = "equal_values_are_reported_with_their_expressions";
    check(test, "equal", "assertion failed: `values[i as usize] != i`", "// line: equal");
}

#[test]
fn equal_values_are_reported_with_a_message() {
    let test = "equal_values_are_reported_with_a_message";
    check(test, "equal_with_a_message", "a thread has its own number", "// line: message");
}

#[test]
fn unequal_values_are_no_fault() {
    for kernel in ["equal", "equal_with_a_message"] {
        let mut device = Device::checked();
        let values = device.upload(&values(100));
        let out = device.upload(&[u32::MAX; 128]);
        device.run(kernel, line(2, 64), &Params::default().slice(values, 128).value(out));
        let expected: Vec<u32> = (0..128).collect();
        assert_eq!(device.download::<u32>(out, 128), expected, "{kernel}");
    }
}
