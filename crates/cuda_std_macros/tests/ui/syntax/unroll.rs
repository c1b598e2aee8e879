use cuda_std::unroll;

const ROUNDS: usize = 4;

fn main() {
    let mut sum = 0;
    unroll! { for i in 0..ROUNDS { sum += i; } }
    unroll! { for i in 0.. { sum += i; } }
    unroll! { for i in [1, 2] { sum += i; } }
    unroll! { for i in 0..2000 { sum += i; } }
    unroll! { while sum < 3 { sum += 1; } }
    unroll! { 'outer: for i in 0..2 { sum += i; } }
    unroll! { for i in 0..2 { if i == 1 { break; } } }
    unroll! { for i in 0..2 { for j in 0..2 { if j == 1 { continue; } } if i == 1 { continue; } } }
    unroll! {}
}
