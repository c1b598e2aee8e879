//! `format!`, into texts on the device's heap.

use cuda_std::prelude::*;

/// Writes a text and zeros behind it.
unsafe fn store(text: &str, room: *mut [u8; 64]) {
    let mut bytes = [0; 64];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    unsafe { *room = bytes };
}

/// Texts.
#[kernel]
pub unsafe fn texts(names: *mut [u8; 64], numbers: *mut [u8; 64]) {
    let i = thread::index_1d();
    let mut name = String::from("thread");
    for _ in 0..i % 4 {
        name.push('é');
    }
    name += &i.to_string();
    let text = format!("{i:>5}|{:<6x}|{:+}|{:?}", i * 1000, i as i32 - 40, "a\"b".to_owned());
    unsafe {
        store(&name, names.add(i as usize));
        store(&text, numbers.add(i as usize));
    }
}
