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
