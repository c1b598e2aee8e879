//! `print!` and `println!`.

use crate::device::{Device, Params, line};

#[test]
fn every_thread_prints_a_line() {
    let text = Device::new().run("hello", line(2, 40), &Params::default());
    assert!(text.ends_with('\n'), "{text}");
    let mut numbers: Vec<u32> =
        text.lines().map(|line| line.parse().expect("a number alone on its line")).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..80).collect::<Vec<_>>());
}

#[test]
fn every_type() {
    let text =
        Device::new().run("all_types", line(2, 32), &Params::default().value(2.5_f32).value(1_u8));
    let expected = [
        "-1 18446744073709551615 -9223372036854775808 2.500 2.5 0.1\n",
        "true é text      r| 0x000000ff 1.500000e+00\n",
        "100 % {}",
        "\n",
    ];
    assert_eq!(text, expected.concat());
}

#[test]
fn all_of_rusts_formatting() {
    let text = Device::new().run("full_prints", line(2, 32), &Params::default().value(0.1_f64));
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
