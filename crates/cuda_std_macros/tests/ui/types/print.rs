use cuda_std::println;

#[derive(Debug)]
struct Point {
    x: f32,
}

fn main() {
    let point = Point { x: 1.0 };
    println!("{:?}", point);
    println!("{}", 1_u128);
    println!("{:x} {:o}", 1.5_f32, 'c');
    println!("{:e}", 5_u32);
    println!("{}", &raw const point);
    println!("{:p}", point.x);
    println!("{}", missing);
    println!("{missing}");
}
