use cuda_std::{print, println};

fn main() {
    let text = "x";
    println!(text);
    println!(1);
    println!("{} {}", 1);
    println!("{}", 1, 2);
    println!("{a}", a = 1, b = 2);
    println!("{3}", 1);
    println!("{");
    println!("}");
    println!("{:^8}", 1);
    println!("{:*>8}", 1);
    println!("{:b}", 1);
    println!("{:#?}", 1);
    println!("{:1$}", 1, 8);
    println!("{:.*}", 2, 1.0);
    println!("{:#8x}", 1);
    println!("{a.b}");
    println!("a\0b");
    print!(
        "{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}",
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
        31, 32, 33
    );
}
