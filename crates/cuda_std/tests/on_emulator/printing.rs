//! `print!` and `println!`.

use crate::device::{Device, Params, line};

#[test]
fn every_thread_prints_a_line() {
    let mut lines = Device::new().run("hello", line(2, 40), &Params::default());
    lines.sort_unstable_by_key(|line| line.trim_end().parse::<u32>().expect("a number"));
    let expected: Vec<String> = (0..80).map(|i| format!("{i}\n")).collect();
    assert_eq!(lines, expected);
}

#[test]
fn every_type() {
    let lines =
        Device::new().run("all_types", line(2, 32), &Params::default().value(2.5_f32).value(1_u8));
    let expected = [
        "-1 18446744073709551615 -9223372036854775808 2.500 2.5 0.1\n",
        "true é text      r| 0x000000ff 1.500000e+00\n",
        "100 % {}",
        "\n",
    ];
    assert_eq!(lines, expected);
}
