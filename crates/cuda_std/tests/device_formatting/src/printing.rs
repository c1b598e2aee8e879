//! Printing with `core::fmt`.

use cuda_std::prelude::*;
use cuda_std::{print_full, println_full};

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
