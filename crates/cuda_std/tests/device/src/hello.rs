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
