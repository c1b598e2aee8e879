//! `println_full!` and `format!`: all of Rust's formatting; and panics beside it. The kernels are in `tests/device_formatting`.

use ptx_emulator::{FaultKind, MachineConfig};

use crate::device::{Device, FORMATTING, Params, line};
use crate::faults::{Failed, failing_of};

#[test]
fn all_of_rusts_formatting() {
    let params = Params::default().value(0.1_f64);
    let text = Device::with(&FORMATTING).run("full_prints", line(2, 32), &params);
    let digits = "0123456789".repeat(103);
    let expected = [
        "Cell { row: 33, value: Some(-170141183460469231731687303715884105728), name: \"a\\0b\" }\n",
        "Cell {\n    row: 33,\n    value: Some(\n        -170141183460469231731687303715884105728,\n    ),\n    name: \"a\\0b\",\n}",
        "|   mid   |c***|0b00100001|0.1|1e-1\n",
        "1\n",
        &format!("{:?}, {:>4}, 3\n", [0; 40], 5),
        &format!("{}…\n", &digits[..1019]),
    ];
    assert_eq!(text, expected.concat());
}

/// Up to the first zero.
fn text(bytes: &[u8; 64]) -> &str {
    let len = bytes.iter().position(|&byte| byte == 0).expect("there is room behind it");
    std::str::from_utf8(&bytes[..len]).expect("a text")
}

#[test]
fn texts() {
    const THREADS: usize = 200;
    let mut device = Device::with(&FORMATTING);
    let outputs = [(); 2].map(|()| device.upload(&[[0xA5_u8; 64]; THREADS]));
    let params = outputs.into_iter().fold(Params::default(), Params::value);
    device.run("texts", line(4, THREADS as u32 / 4), &params);
    let [names, numbers] = outputs.map(|out| device.download::<[u8; 64]>(out, THREADS));
    for (i, (name, number)) in (0..).zip(names.iter().zip(&numbers)) {
        assert_eq!(text(name), format!("thread{}{i}", "é".repeat(i % 4)));
        let (wide, signed) = (i * 1000, i as i32 - 40);
        assert_eq!(text(number), format!("{i:>5}|{wide:<6x}|{signed:+}|{:?}", "a\"b"));
    }
}

/// Under memcheck, on the emulator: nothing is left, nothing outside is touched.
#[test]
fn texts_leave_nothing_on_the_heap() {
    let mut config = MachineConfig::default();
    config.checks = "memcheck".parse().expect("a check");
    let mut device = Device::emulated_with(&FORMATTING, config);
    let outputs = [(); 2].map(|()| device.upload(&[[0xA5_u8; 64]; 33]));
    let params = outputs.into_iter().fold(Params::default(), Params::value);
    device.run("texts", line(1, 33), &params);
    assert_eq!(device.take_findings(), <[String; 0]>::default());
    assert_eq!(device.heap_leaks(), <[String; 0]>::default());
}

/// What thread 37 of block 1 says when it panics in the way `how`.
#[track_caller]
fn says(test: &str, how: u32, value: u32, x: f64, expected: &str) {
    let test = format!("formatting::{test}");
    let kernel = "panics_beside_formatting";
    let failed = failing_of(&FORMATTING, &test, kernel, line(2, 64), |device| {
        let values = device.upload(&[value, 2, 3]);
        Params::default().value(how).value(101_u32).slice(values, 3).value(x)
    });
    match failed {
        Failed::Emulator(fault) => {
            let FaultKind::Assert { message, file, .. } = fault.kind() else { panic!("{fault}") };
            assert_eq!((&**message, &**file), (expected, "src/panics.rs"));
            assert_eq!((fault.block(), fault.lanes()), (Some([1, 0, 0]), 1 << 5));
        }
        Failed::Driver { error, said } => {
            assert_eq!(error, "AssertError", "{said}");
            assert!(said.contains(expected), "`{expected}` is missing in:\n{said}");
        }
    }
}

#[test]
fn panics_show_numbers_and_texts() {
    let expected = r#"101: -2.50 is on (true), 'x' "on", -101|0x65|   101"#;
    says("panics_show_numbers_and_texts", 0, 7, -2.5, expected);
}

#[test]
fn panics_name_types_of_ones_own() {
    let expected =
        "called `Result::unwrap()` on an `Err` value: <device_formatting::panics::Trouble>";
    says("panics_name_types_of_ones_own", 1, 7, 0.5, expected);
}

#[test]
fn panics_show_messages_in_messages() {
    let expected =
        "assertion `left == right` failed: thread 101 has another\n  left: 7\n right: 101";
    says("panics_show_messages_in_messages", 2, 7, 0.5, expected);
}

#[test]
fn panics_show_errors_of_core() {
    let expected = "called `Result::unwrap()` on an `Err` value: TryFromIntError(())";
    says("panics_show_errors_of_core", 3, 256, 0.5, expected);
}

#[test]
fn panics_show_cells_that_are_borrowed() {
    says("panics_show_cells_that_are_borrowed", 4, 7, 0.5, "RefCell already borrowed");
}

#[test]
fn panics_show_ends_of_slices() {
    let expected = "range end index 101 out of range for slice of length 3";
    says("panics_show_ends_of_slices", 5, 7, 0.5, expected);
}
