use cuda_std::unroll;

fn main() {
    let mut rounds = Vec::new();
    unroll! {
        for i in 2..5 {
            rounds.push(i);
        }
    }
    unroll! {
        for _ in 7_u8..=8 {
            rounds.push(0_usize);
        }
    }
    unroll! {
        for i in 3..3 {
            rounds.push(100 + i);
        }
    }
    assert_eq!(rounds, [2, 3, 4, 0, 0]);
    // Loops and closures within keep their jumps, and each round can have its own types.
    let mut found = 0;
    unroll! {
        for i in 0_u32..4 {
            for j in 0.. {
                if j > i {
                    break;
                }
                found += j;
            }
            let array = [0_u8; 3];
            let skip = || if i == 2 { return 0 } else { 1 };
            found += skip() * array.len() as u32;
        }
    }
    assert_eq!(found, (0 + 1 + 3 + 6) + 3 * 3);
    'outer: loop {
        unroll! {
            for i in 0..3 {
                if i == 1 {
                    break 'outer;
                }
            }
        }
        unreachable!();
    }
}
