use cuda_std::prelude::*;
use cuda_std::{print_full, println_full};

#[kernel]
pub unsafe fn hello() {
    println!("{}", thread::index_1d());
}

#[kernel]
pub unsafe fn all_types(x: f32, flag: bool) {
    if thread::first() {
        println!("{} {} {:?} {:.3} {x} {}", -1_i8, u64::MAX, i64::MIN, x, 0.1_f64);
        println!("{flag} {} {} {:>6}| {:#010x} {:e}", 'é', "text", "r", 255_u8, 1.5_f32);
        print!("100 % {{}}");
        println!();
    }
}

/// Something with fields.
#[derive(Debug)]
struct Cell {
    row: u32,
    value: Option<i128>,
    name: &'static str,
}

/// Prints with all of Rust's formatting.
#[kernel]
pub unsafe fn full_prints(x: f64) {
    if thread::index_1d() != 33 {
        return;
    }
    let cell = Cell { row: thread::index_1d(), value: Some(i128::MIN), name: "a\0b" };
    println_full!("{cell:?}");
    println_full!("{cell:#?}|{:^9}|{:*<4}|{:#010b}|{x}|{x:e}", "mid", 'c', cell.row);
    print_full!("{}", 1);
    println_full!();
    let values = [0_u8; 40];
    println_full!("{values:?}, {0:>1$}, {name}", 5, 4, name = cell.name.len());
    println_full!("{}{}", "0123456789".repeat(102), "0123456789");
}

/// Whether texts of `len` bytes that differ at `at` are equal, and which comes first.
#[kernel]
pub unsafe fn compared_bytes(a: &[u8], b: &[u8], out: *mut u32) {
    let i = thread::index_1d() as usize;
    let (a, b) = (&a[..i], &b[..i]);
    unsafe { *out.add(i) = u32::from(a == b) + 2 * u32::from(a < b) + 4 * u32::from(a > b) };
}
