//! Parameters.

use crate::device::{Device, Params, USUAL, line, numbers};

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
    let kernel = USUAL.program().kernel("every_kind").expect("it is there");
    let sizes: Vec<u32> = kernel.params.iter().map(|param| param.bytes).collect();
    assert_eq!(sizes, [8, 8, 8, 8, 12, 16, 3, 1, 4, 8, 1, 8]);
}

#[test]
fn bytes_compare_as_on_the_host() {
    const PIECES: usize = 64;
    let mut device = Device::new();
    for len in [1_usize, 3, 8, 33] {
        let mut random = numbers(len as u64);
        let mut next = |below: u64| random.next().expect("there are always more") % below;
        let mut a: Vec<u8> = (0..PIECES * len).map(|_| b'a' + next(3) as u8).collect();
        // Half of the pieces differ in one byte at most.
        let mut b: Vec<u8> = (0..PIECES * len)
            .map(|i| if i / len % 2 == 0 { a[i] } else { b'a' + next(3) as u8 })
            .collect();
        for piece in (0..PIECES).step_by(4) {
            b[piece * len + next(len as u64) as usize] = [0, 0x7F, 0x80, 0xFF][piece / 4 % 4];
        }
        // A NUL at the end of each, for the text.
        for piece in 0..PIECES {
            a[piece * len + len - 1] = 0;
        }
        let (first, second) = (device.upload(&a), device.upload(&b));
        let out = device.upload(&[[-9_i32; 4]; PIECES]);
        let params = Params::default().slice(first, a.len()).slice(second, b.len());
        let params = params.value(len as u64).value(b'b').value(out);
        device.run("bytes_and_texts", line(2, 32), &params);
        let expected: Vec<[i32; 4]> = a
            .chunks(len)
            .zip(b.chunks(len))
            .map(|(a, b)| {
                let found = a.iter().position(|byte| *byte == b'b').map_or(-1, |at| at as i32);
                [a.cmp(b) as i32, i32::from(a == b), found, len as i32 - 1]
            })
            .collect();
        assert_eq!(device.download::<[i32; 4]>(out, PIECES), expected);
    }
}
