use cuda_std::println;

fn main() {
    println!("{:+8}", 5_u32);
    println!("{:9?}", "text");
    println!("{:20?}", std::ptr::null::<f32>());
}
