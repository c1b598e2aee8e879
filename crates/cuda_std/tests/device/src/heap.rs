//! The crate `alloc`, on the device's heap.

use core::alloc::{GlobalAlloc, Layout};
use core::hint::black_box;

use cuda_std::mem;
use cuda_std::prelude::*;

/// A vector that grows, one of vectors, and what they do on the way. Thread `i` works with `i % 97` elements.
#[kernel]
pub unsafe fn vectors(out: *mut [u32; 4]) {
    let i = thread::index_1d();
    let len = i % 97;
    let mut values = Vec::new();
    for x in 0..len {
        values.push(x ^ i);
    }
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); 5];
    for &x in &values {
        groups[(x % 5) as usize].push(x);
    }
    values.retain(|x| x % 2 == 0);
    values.insert(0, 7);
    values.shrink_to_fit();
    let joined = groups.concat();
    let answers = [
        values.len() as u32,
        values.iter().sum(),
        joined.len() as u32,
        joined.iter().enumerate().map(|(at, x)| (at as u32 + 1) * x).fold(0, u32::wrapping_add),
    ];
    unsafe { *out.add(i as usize) = answers };
}

/// Aligned further than `malloc` aligns.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u32; 3]);

#[derive(Clone, Copy)]
#[repr(align(1024))]
struct Page(u32);

/// What is wrong with the place of a value: address modulo alignment.
fn misaligned<T>(value: &T) -> u32 {
    (black_box(core::ptr::from_ref(value)).addr() % align_of::<T>()) as u32
}

/// Over-aligned values in boxes and in a vector that grows.
#[kernel]
pub unsafe fn aligned(out: *mut [u32; 3]) {
    let i = thread::index_1d();
    let line = Box::new(Line([i; 3]));
    let page = Box::new(Page(i * 3));
    let wide = Box::new(u128::from(i) << 64);
    let mut lines = Vec::new();
    let mut off = misaligned(&*line) + misaligned(&*page) + misaligned(&*wide);
    for x in 0..9 {
        lines.push(Line([x, i, x + i]));
        off += misaligned(&lines[0]);
    }
    let sum = lines.iter().map(|line| line.0[2]).sum::<u32>() + line.0[1] + page.0;
    unsafe { *out.add(i as usize) = [off, sum, (*wide >> 64) as u32] };
}

/// Adds 1 to a number when it is dropped.
struct Counts(*mut u32);

impl Drop for Counts {
    fn drop(&mut self) {
        unsafe { *self.0 += 1 };
    }
}

trait Shape {
    fn area(&self) -> u32;
}

struct Square(u32);
struct Rectangle(u32, u32, Rc<Counts>);

impl Shape for Square {
    fn area(&self) -> u32 {
        self.0 * self.0
    }
}

impl Shape for Rectangle {
    fn area(&self) -> u32 {
        self.0 * self.1
    }
}

/// Shared ownership and trait objects: areas, owners before and after, drops.
#[kernel]
pub unsafe fn owners(out: *mut [u32; 4]) {
    let i = thread::index_1d();
    let mut drops = 0;
    let counts = Rc::new(Counts(&raw mut drops));
    let shapes: Vec<Box<dyn Shape>> = (0..i % 6)
        .map(|x| -> Box<dyn Shape> {
            if x % 2 == 0 { Box::new(Square(i)) } else { Box::new(Rectangle(x, i, counts.clone())) }
        })
        .collect();
    let area = shapes.iter().map(|shape| shape.area()).sum();
    let before = Rc::strong_count(&counts) as u32;
    drop(shapes);
    let after = Rc::strong_count(&counts) as u32;
    drop(counts);
    unsafe { *out.add(i as usize) = [area, before, after, (&raw const drops).read()] };
}

/// One thread takes blocks of `bytes` until there are no more: how many, and whether there is one again after the last is freed.
#[kernel]
pub unsafe fn exhaust(bytes: usize, out: *mut u32) {
    let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(1024);
    while blocks.len() < 1024 {
        let mut block = Vec::new();
        if block.try_reserve_exact(bytes).is_err() {
            break;
        }
        block.push(1);
        blocks.push(block);
    }
    let taken = blocks.len() as u32;
    drop(blocks.pop());
    let mut again: Vec<u8> = Vec::new();
    let again = again.try_reserve_exact(bytes).is_ok();
    unsafe {
        *out = taken;
        *out.add(1) = again.into();
    }
}

/// The thread `at` asks for `bytes`.
#[kernel]
pub unsafe fn ask(at: u32, bytes: usize, out: *mut u8) {
    if thread::index_1d() == at {
        let room: Vec<u8> = Vec::with_capacity(bytes);
        unsafe { *out = (black_box(room.as_ptr()).addr() % 251) as u8 };
    }
}

/// Allocates in one launch what another reads and frees.
#[kernel]
pub unsafe fn keep(kept: *mut *mut u32) {
    let i = thread::index_1d();
    unsafe { *kept.add(i as usize) = Box::into_raw(Box::new(i * i)) };
}

#[kernel]
pub unsafe fn take(kept: *const *mut u32, n: u32, out: *mut u32) {
    let i = thread::index_1d();
    // Another thread's.
    unsafe { *out.add(i as usize) = *Box::from_raw(*kept.add((n - 1 - i) as usize)) };
}

/// `malloc` and `free` themselves, and a type without size.
#[kernel]
pub unsafe fn by_hand(out: *mut u32) {
    let i = thread::index_1d();
    let unit = Box::new(());
    let units = vec![(); 1000];
    unsafe {
        let values: *mut u32 = mem::malloc(12).cast();
        let off = values.addr() % 16;
        *values.add(2) = i + units.len() as u32;
        *out.add(i as usize) = *values.add(2) + off as u32;
        mem::free(values.cast());
        mem::free(core::ptr::null_mut());
    }
    drop(unit);
}

/// Texts of numbers and of borrowed texts, owned: how long each is, and a sum of its bytes.
#[kernel]
pub unsafe fn owned_texts(out: *mut [u32; 4]) {
    let i = thread::index_1d();
    let words = ["warp", "", "block of threads", "größer"];
    let mut owned: String = ToOwned::to_owned(words[i as usize % 4]);
    owned.push_str(&i.to_string());
    let elements: Vec<u16> = [1_u16, 2, 3][..i as usize % 4].to_owned();
    let signed = ToString::to_string(&-i64::from(i));
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let row = [
        owned.len() as u32,
        sum(owned.as_bytes()),
        signed.len() as u32 * 1000 + sum(signed.as_bytes()),
        elements.iter().map(|&element| u32::from(element)).sum(),
    ];
    unsafe { *out.add(i as usize) = row };
}

/// The global allocator itself, asked as `alloc` asks it: zeroed memory, made larger and smaller.
#[kernel]
pub unsafe fn through_the_allocator(out: *mut [u32; 4]) {
    let i = thread::index_1d();
    let len = 1 + i as usize % 13;
    let allocator = &mem::GLOBAL_ALLOCATOR;
    unsafe {
        let (small, large) =
            (Layout::array::<u32>(len).unwrap_unchecked(), Layout::array::<u32>(3 * len).unwrap_unchecked());
        let first: *mut u32 = allocator.alloc_zeroed(small).cast();
        let zeros = (0..len).all(|place| *first.add(place) == 0);
        first.add(len - 1).write(i + 1);
        let grown: *mut u32 = allocator.realloc(first.cast(), small, large.size()).cast();
        let kept = *grown.add(len - 1);
        grown.add(3 * len - 1).write(i + 2);
        let last = *grown.add(3 * len - 1);
        let again: *mut u32 = allocator.realloc(grown.cast(), large, small.size()).cast();
        *out.add(i as usize) = [u32::from(zeros), kept, last, *again.add(len - 1)];
        allocator.dealloc(again.cast(), small);
    }
}
