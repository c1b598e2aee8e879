//! Panics beside kernels that format. Where formatters are called through pointers, the builder leaves their addresses in messages, and
//! the handler compares them to know what it shows; elsewhere they are numbers.

use core::cell::RefCell;

use cuda_std::prelude::*;

/// Why a thread gives up.
#[derive(Debug)]
pub struct Trouble(#[expect(dead_code, reason = "read by `Debug` alone, which the panic's message doesn't call")] u32);

/// Thread `at` panics, in the way that `how` says: each has a message with values of other types.
#[kernel]
pub unsafe fn panics_beside_formatting(how: u32, at: u32, values: &[u32], x: f64) {
    let i = thread::index_1d();
    if i != at {
        return;
    }
    match how {
        0 => {
            let letter = char::from(b'a' + (i % 26) as u8);
            let (low, name) = (x < 0.0, "on");
            panic!("{i}: {x:.2} is {name} ({low}), {letter:?} {name:?}, {:+}|{i:#x}|{i:>6}", -i64::from(i))
        }
        1 => Err::<(), _>(Trouble(i)).unwrap(),
        2 => core::assert_eq!(values[0], i, "thread {i} has {}", "another"),
        3 => core::assert_ne!(u8::try_from(values[0]).unwrap(), 0),
        4 => {
            let cell = RefCell::new(values[0]);
            let _first = cell.borrow_mut();
            *cell.borrow_mut() += 1;
        }
        _ => core::assert_ne!(values[..i as usize].len(), 0),
    }
}
