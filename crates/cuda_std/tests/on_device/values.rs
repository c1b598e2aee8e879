//! Parameters.

use crate::device::{Device, PROGRAM, Params, line};

#[test]
fn parameters_of_every_kind_arrive() {
    let mut device = Device::new();
    let slice = device.upload(&[1_u16, 2, 500]);
    let reference = device.upload(&[0.125_f64]);
    let pointer = device.upload(&[200_u8]);
    let out = device.upload(&[0_f64; 11]);
    let point = [1.5_f32.to_le_bytes(), 2.5_f32.to_le_bytes(), 9_u32.to_le_bytes()].concat();
    let aligned = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
    let params = Params::default()
        .slice(slice, 3)
        .value(reference)
        .value(pointer)
        .bytes(&point, 4)
        .bytes(&aligned, 16)
        .bytes(&[1, 2, 3], 1)
        .value(1_u8)
        .value(u32::from('é'))
        .value(1_u64 << 40)
        .value(-7_i8)
        .value(out);
    device.run("every_kind", line(1, 1), &params);
    let expected =
        [3.0, 500.0, 0.125, 200.0, 13.0, 4.0, 3.0, 1.0, 233.0, 1_099_511_627_777.0, -7.0];
    assert_eq!(device.download::<f64>(out, 11), expected);
}

#[test]
fn a_slice_is_two_parameters_and_a_value_without_size_none() {
    let kernel = PROGRAM.kernel("every_kind").expect("it is there");
    let sizes: Vec<u32> = kernel.params.iter().map(|param| param.bytes).collect();
    assert_eq!(sizes, [8, 8, 8, 8, 12, 16, 3, 1, 4, 8, 1, 8]);
}
