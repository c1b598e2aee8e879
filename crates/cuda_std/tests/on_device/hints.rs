//! Clocks, hints, ends.

use ptx_emulator::Ending;

use crate::device::{Device, Params, line, numbers};
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
