//! What the jobs of a launch share: which blocks are left, how far they may run, and which failed.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::fault::Fault;

/// A small generator for schedules (SplitMix64).
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The numbers of one block, whoever runs it.
    pub(super) fn of_block(seed: u64, linear: u64) -> Random {
        Random(seed ^ Random(linear).next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// The fault that ended a block.
pub(super) struct Failure {
    /// The block's place in the order in which blocks start.
    pub(super) position: u64,
    pub(super) fault: Box<Fault>,
}

/// The blocks of a launch, in the order in which they start.
pub(super) struct Work {
    order: Order,
    next: AtomicU64,
    /// Blocks from this position on need not run any more.
    end: AtomicU64,
    /// Whether a block cannot wait for another. After a fault those before it run on, since one of them may fail too.
    independent: bool,
    /// Warp instructions that jobs have told of.
    executed: AtomicU64,
    /// Warp instructions that all jobs together may execute.
    pub(super) fuel: u64,
    /// How many jobs there are.
    pub(super) jobs: u64,
}

impl Work {
    pub(super) fn new(
        total: u64,
        seed: Option<u64>,
        fuel: u64,
        (jobs, independent): (u64, bool),
    ) -> Work {
        Work {
            order: Order::new(total, seed.map(Random).as_mut()),
            next: AtomicU64::new(0),
            end: AtomicU64::new(total),
            independent,
            executed: AtomicU64::new(0),
            fuel,
            jobs,
        }
    }

    /// Position and number of a block that nobody has started; `None` when there is no more.
    pub(super) fn take(&self) -> Option<(u64, u64)> {
        let position = self.next.fetch_add(1, Ordering::Relaxed);
        if self.is_over(position) {
            // So that it cannot overflow, however often it is asked.
            self.next.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some((position, self.order.at(position)))
    }

    /// Whether the block at a position need not run, because one before it failed, or all ends.
    pub(super) fn is_over(&self, position: u64) -> bool {
        position >= self.end.load(Ordering::Relaxed)
    }

    /// A block failed.
    pub(super) fn fail(&self, position: u64) {
        let end = if self.independent { position } else { 0 };
        self.end.fetch_min(end, Ordering::Relaxed);
    }

    /// A job has executed so many warp instructions more. Gives how many all jobs have told of.
    pub(super) fn tell(&self, executed: u64) -> u64 {
        self.executed.fetch_add(executed, Ordering::Relaxed).saturating_add(executed)
    }
}

/// The order in which blocks start.
struct Order {
    total: u64,
    factor: u64,
    shift: u64,
}

impl Order {
    fn new(total: u64, random: Option<&mut Random>) -> Order {
        let Some(random) = random else {
            return Order { total, factor: 1, shift: 0 };
        };
        let shift = random.next() % total.max(1);
        // A factor without common divisors maps the numbers one to one.
        let mut factor = random.next() % total.max(1);
        while gcd(factor, total) != 1 {
            factor = (factor + 1) % total.max(1);
            if total == 1 {
                factor = 1;
                break;
            }
        }
        Order { total, factor, shift }
    }

    fn at(&self, number: u64) -> u64 {
        let product = u128::from(number) * u128::from(self.factor) + u128::from(self.shift);
        (product % u128::from(self.total.max(1))) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_has_every_block_once() {
        for seed in 0..50 {
            for total in [1, 2, 3, 12, 97, 100] {
                let order = Order::new(total, Some(&mut Random(seed)));
                let mut blocks: Vec<u64> = (0..total).map(|number| order.at(number)).collect();
                blocks.sort_unstable();
                assert_eq!(blocks, (0..total).collect::<Vec<u64>>(), "seed {seed}");
            }
        }
    }
}
