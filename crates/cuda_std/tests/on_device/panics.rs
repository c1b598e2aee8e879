//! What a panic reports: message, file, line, column, thread.

use ptx_emulator::{CheckSet, Ending, FaultKind, Jobs, MachineConfig};

use crate::device::{Device, Failure, Params, line};
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
    let message = "index out of bounds: the len is 3 but the index is 7";
    check(&failed, message, place("index", "values[index]"));
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
    let message = "assertion `left == right` failed\n  left: 0\n right: 101";
    check(&failed, message, place("cores_unequal", "core::assert_eq!"));
}

#[test]
fn assertions_of_core_with_a_message() {
    let test = "assertions_of_core_with_a_message";
    let failed = panicking(test, "unequal_with_message", unequal_values);
    let message =
        "assertion `left == right` failed: thread 101 has another\n  left: 0\n right: 101";
    check(&failed, message, place("unequal_with_message", "core::assert_eq!"));
}

#[test]
fn assertions_with_a_float() {
    let failed = panicking("assertions_with_a_float", "asserted", |device| {
        let values = device.upload(&values(|_| 5, 1000_u32));
        Params::default().slice(values, 128).value(999.5_f64)
    });
    let message = "value 101 is 1000, not below 999.5";
    check(&failed, message, place("asserted", "assert!"));
}

/// Launches a kernel that takes three numbers, a thread, and where to write.
#[track_caller]
fn panicking_slice(test: &str, kernel: &str) -> Failed {
    panicking(test, kernel, |device| {
        let values = device.upload(&[1_u32, 2, 3]);
        let out = device.upload(&[0_u64; 128]);
        Params::default().slice(values, 3).value(PANICS_AT).value(out)
    })
}

#[test]
fn slices() {
    let failed = panicking_slice("slices", "slice_end");
    let message = "range end index 9 out of range for slice of length 3";
    check(&failed, message, place("slice_end", "[1..end]"));
}

#[test]
fn slices_that_end_before_they_start() {
    let failed = panicking_slice("slices_that_end_before_they_start", "slice_order");
    let message = "slice index starts at 2 but ends at 1";
    check(&failed, message, place("slice_order", "[start..1]"));
}

#[test]
fn copies_of_another_length() {
    let failed = panicking_slice("copies_of_another_length", "copied_slice");
    let message =
        "copy_from_slice: source slice length (3) does not match destination slice length (2)";
    check(&failed, message, place("copied", "copy_from_slice"));
}

fn at_and_out(device: &mut Device) -> Params {
    Params::default().value(PANICS_AT).value(out(device))
}

#[test]
fn unwrap_on_err() {
    let failed = panicking("unwrap_on_err", "unwrap_on_err", at_and_out);
    let message = "called `Result::unwrap()` on an `Err` value: -101";
    check(&failed, message, place("unwrap_err", "unwrap()"));
}

#[test]
fn expect_on_err() {
    let failed = panicking("expect_on_err", "expect_on_err", at_and_out);
    let message = r#"the table is there: "no \"entry\"""#;
    check(&failed, message, place("expect", "expect("));
}

#[test]
fn conversions() {
    let failed = panicking("conversions", "converted", |device| {
        let values = device.upload(&values(|i| i, 256_u32));
        Params::default().slice(values, 128).value(out(device))
    });
    let message = "called `Result::unwrap()` on an `Err` value: TryFromIntError(())";
    check(&failed, message, place("converted", "unwrap()"));
}

#[test]
fn a_cell_that_is_borrowed() {
    let failed = panicking("a_cell_that_is_borrowed", "borrowed_twice", at_and_out);
    check(&failed, "RefCell already borrowed", place("borrowed", "borrow_mut()"));
}

#[test]
fn a_value_of_a_type_of_ones_own_is_named() {
    let test = "a_value_of_a_type_of_ones_own_is_named";
    let failed = panicking(test, "own_error", at_and_out);
    let message = "called `Result::unwrap()` on an `Err` value: <device::panics::Trouble>";
    check(&failed, message, place("own_error", "unwrap()"));
}

#[test]
fn a_message_with_values() {
    let failed = panicking("a_message_with_values", "formatted", |_| {
        Params::default().value(PANICS_AT).value(1_u8).value(-2.5_f32).value(0xFFFF_u64)
    });
    let message =
        "thread 101 of 128: -2.5 is on (true), 'x' \"on\", sum -6619035, 0xffff|   101|-0002.50";
    let (line, column) = place("formatted", "// line");
    check(&failed, message, (line + 1, column));
}

#[test]
fn a_long_message_is_cut() {
    let params = |_: &mut Device| Params::default().value(PANICS_AT);
    let failed = panicking("a_long_message_is_cut", "long_message", params);
    let digits = "0123456789".repeat(26);
    let cut = format!("{}…", &digits[..252]);
    match failed {
        Failed::Emulator(fault) => match fault.kind() {
            FaultKind::Assert { message, .. } => assert_eq!(*message, cut),
            _ => panic!("{fault}"),
        },
        Failed::Driver { error, said } => {
            assert_eq!(error, "AssertError", "{said}");
            assert!(said.contains(&cut), "{said}");
        }
    }
}

/// Every thread from thread 40 of the launch on panics.
fn from_40(device: &mut Device) -> Params {
    let out = device.upload(&[0_u32; 1024]);
    Params::default().value(40_u32).value(out)
}

#[test]
fn one_thread_speaks_for_all() {
    let failed = failing("panics::one_thread_speaks_for_all", "many_panic", line(16, 64), from_40);
    let messages = ["an even thread, ", "an odd thread, "];
    match failed {
        Failed::Emulator(fault) => {
            // Those that came to the panic together.
            assert_eq!((fault.block(), fault.warp()), (Some([0; 3]), Some(1)));
            let FaultKind::Assert { message, .. } = fault.kind() else { panic!("{fault}") };
            let (lanes, expected) = match message.as_str() {
                "an even thread, 40" => (fault.lanes(), 0x5555_5500),
                "an odd thread, 41" => (fault.lanes(), 0xAAAA_AA00),
                _ => panic!("{fault}"),
            };
            assert_eq!(lanes, expected, "{fault}");
        }
        Failed::Driver { error, said } => {
            assert_eq!(error, "AssertError", "{said}");
            let reports: usize = messages.iter().map(|text| said.matches(text).count()).sum();
            // The emulator behind the driver says it once in the headline and once in the help.
            let most = if cuda_driver::backend() == cuda_driver::Backend::Gpu { 1 } else { 2 };
            assert!((1..=most).contains(&reports), "{reports} reports:\n{said}");
        }
    }
}

/// What a panic reports on a machine like this.
fn report(device: &mut Device) -> String {
    let params = from_40(device);
    match device.try_run("many_panic", line(16, 64), &params) {
        Err(Failure::Emulator(fault)) => fault.to_string(),
        Err(Failure::Driver(error)) => panic!("{error:?}"),
        Ok(_) => panic!("it ended"),
    }
}

#[test]
fn every_launch_reports() {
    let mut device = Device::emulated(MachineConfig::default());
    let (first, second) = (report(&mut device), report(&mut device));
    let headline = |text: &str| text.lines().next().map(str::to_owned);
    assert_eq!(headline(&first), headline(&second));
    assert!(first.contains("thread, 4"), "{first}");
}

#[test]
fn blocks_that_run_at_the_same_time_report_as_one_after_the_other() {
    let mut config = MachineConfig::default();
    config.jobs = Jobs::new(4);
    let alone = report(&mut Device::emulated(MachineConfig::default()));
    for _ in 0..5 {
        assert_eq!(report(&mut Device::emulated(config.clone())), alone);
    }
}

#[test]
fn checks_find_nothing_about_panics() {
    let mut config = MachineConfig::default();
    config.checks = CheckSet::ALL;
    let mut device = Device::emulated(config);
    report(&mut device);
    assert_eq!(device.take_findings(), Vec::<String>::new());
}
