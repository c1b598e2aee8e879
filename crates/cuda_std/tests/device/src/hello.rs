use cuda_std::prelude::*;

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

/// Whether texts of `len` bytes that differ at `at` are equal, and which comes first.
#[kernel]
pub unsafe fn compared_bytes(a: &[u8], b: &[u8], out: *mut u32) {
    let i = thread::index_1d() as usize;
    let (a, b) = (&a[..i], &b[..i]);
    unsafe { *out.add(i) = u32::from(a == b) + 2 * u32::from(a < b) + 4 * u32::from(a > b) };
}
