//! The mbarrier object: arrivals and transactions of one phase after the other (PTX ISA, section "Parallel Synchronization
//! and Communication Instructions: mbarrier").
//!
//! The object is 64 bits in shared memory whose layout the ISA leaves open. A phase completes when no arrival is pending
//! and the transaction count is zero; the next one begins at once, with the expected count of arrivals.

use thiserror::Error;

/// The largest count of arrivals or of transactions (PTX ISA, "Contents of the mbarrier object").
pub const MOST: u32 = (1 << 20) - 1;

/// An operation that the PTX ISA leaves undefined.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum MbarrierProblem {
    /// A count out of range.
    #[error("the count is {count}; it must be from 1 to {most}", most = MOST)]
    Count {
        /// The count.
        count: u32,
    },
    /// More arrivals than are pending.
    #[error("{count} threads arrive, and only {pending} arrivals are pending in this phase")]
    Arrivals {
        /// Arrivals of the operation.
        count: u32,
        /// Arrivals pending.
        pending: u32,
    },
    /// `.noComplete`, and the phase would complete.
    #[error(
        "{count} threads arrive with .noComplete, and only {pending} arrivals are pending in this phase"
    )]
    Completes {
        /// Arrivals of the operation.
        count: u32,
        /// Arrivals pending.
        pending: u32,
    },
    /// A transaction count out of range.
    #[error("the transaction count becomes {count}; it must be from -{most} to {most}", most = MOST)]
    Transactions {
        /// The count.
        count: i64,
    },
}

/// An mbarrier object, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mbarrier {
    /// Arrivals of every phase.
    pub expected: u32,
    /// Arrivals that this phase still waits for.
    pub pending: u32,
    /// Bytes that this phase still waits for.
    pub transactions: i32,
    /// Parity of this phase: false for the first.
    pub parity: bool,
}

/// Where the fields are. The counts are stored negated, so that they reach zero by counting up (recorded on an H200).
const EXPECTED_AT: u32 = 1;
const TRANSACTIONS_AT: u32 = 21;
const PENDING_AT: u32 = 43;
const PARITY_AT: u32 = 63;

impl Mbarrier {
    /// `mbarrier.init`
    ///
    /// # Errors
    /// [`MbarrierProblem::Count`] for 0 and more than [`MOST`].
    pub fn new(count: u32) -> Result<Mbarrier, MbarrierProblem> {
        if count == 0 || count > MOST {
            return Err(MbarrierProblem::Count { count });
        }
        Ok(Mbarrier { expected: count, pending: count, transactions: 0, parity: false })
    }

    /// The object in memory.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        let field = |value: u32, at: u32, bits: u32| {
            u64::from(value.wrapping_neg() & ((1 << bits) - 1)) << at
        };
        field(self.expected, EXPECTED_AT, 20)
            | field(self.transactions as u32, TRANSACTIONS_AT, 21)
            | field(self.pending, PENDING_AT, 20)
            | u64::from(self.parity) << PARITY_AT
    }

    /// From memory.
    #[must_use]
    pub fn from_bits(bits: u64) -> Mbarrier {
        let field = |at: u32, width: u32| ((bits >> at) as u32).wrapping_neg() & ((1 << width) - 1);
        Mbarrier {
            expected: field(EXPECTED_AT, 20),
            pending: field(PENDING_AT, 20),
            transactions: (field(TRANSACTIONS_AT, 21) << 11) as i32 >> 11,
            parity: bits >> PARITY_AT & 1 != 0,
        }
    }

    /// What an arrival gives: the upper half of the object. (In the lower half hardware leaves what was there.)
    fn state(self) -> u64 {
        self.to_bits() >> 32 << 32
    }

    /// `mbarrier.arrive`; with `drop` `.arrive_drop`, without `completes` `.noComplete`. Gives the state before.
    ///
    /// # Errors
    /// [`MbarrierProblem`] when the count is out of range.
    pub fn arrive(
        &mut self,
        count: u32,
        drop: bool,
        completes: bool,
    ) -> Result<u64, MbarrierProblem> {
        let pending = self.pending;
        if count == 0 || count > MOST {
            return Err(MbarrierProblem::Count { count });
        }
        if count > pending {
            return Err(MbarrierProblem::Arrivals { count, pending });
        }
        if count == pending && !completes {
            return Err(MbarrierProblem::Completes { count, pending });
        }
        let state = self.state();
        if drop {
            self.expected = self.expected.saturating_sub(count);
        }
        self.pending -= count;
        self.complete_phase();
        Ok(state)
    }

    /// `mbarrier.arrive.expect_tx`: expects so many bytes more, then arrives.
    ///
    /// # Errors
    /// [`MbarrierProblem`] when a count is out of range.
    pub fn arrive_expecting(&mut self, bytes: u32, drop: bool) -> Result<u64, MbarrierProblem> {
        let state = self.state();
        self.add_transactions(i64::from(bytes))?;
        self.arrive(1, drop, true)?;
        Ok(state)
    }

    /// `mbarrier.expect_tx`
    ///
    /// # Errors
    /// [`MbarrierProblem::Transactions`] when the count leaves its range.
    pub fn expect(&mut self, bytes: u32) -> Result<(), MbarrierProblem> {
        self.add_transactions(i64::from(bytes))
    }

    /// `mbarrier.complete_tx`
    ///
    /// # Errors
    /// [`MbarrierProblem::Transactions`] when the count leaves its range.
    pub fn complete(&mut self, bytes: u32) -> Result<(), MbarrierProblem> {
        self.add_transactions(-i64::from(bytes))?;
        self.complete_phase();
        Ok(())
    }

    /// One arrival more is pending in this phase: `cp.async.mbarrier.arrive` without `.noinc`.
    ///
    /// # Errors
    /// [`MbarrierProblem::Count`] when the count leaves its range.
    pub fn increment(&mut self) -> Result<(), MbarrierProblem> {
        if self.pending >= MOST {
            return Err(MbarrierProblem::Count { count: self.pending + 1 });
        }
        self.pending += 1;
        Ok(())
    }

    fn add_transactions(&mut self, bytes: i64) -> Result<(), MbarrierProblem> {
        let count = i64::from(self.transactions) + bytes;
        if count.unsigned_abs() > u64::from(MOST) {
            return Err(MbarrierProblem::Transactions { count });
        }
        self.transactions = count as i32;
        Ok(())
    }

    fn complete_phase(&mut self) {
        if self.pending == 0 && self.transactions == 0 {
            self.pending = self.expected;
            self.parity = !self.parity;
        }
    }

    /// `mbarrier.test_wait`: whether the phase that `state` is of has completed. It must be this phase or the one before.
    #[must_use]
    pub fn completed(self, state: u64) -> bool {
        Mbarrier::from_bits(state).parity != self.parity
    }

    /// `mbarrier.test_wait.parity`
    #[must_use]
    pub fn completed_parity(self, parity: bool) -> bool {
        parity != self.parity
    }
}

/// `mbarrier.pending_count`: the arrivals that were pending when `state` was taken.
#[must_use]
pub fn pending_count(state: u64) -> u32 {
    Mbarrier::from_bits(state).pending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases() {
        let mut barrier = Mbarrier::new(3).expect("a count in range");
        let first = barrier.arrive(1, false, true).expect("3 are pending");
        let second = barrier.arrive(1, false, false).expect("2 are pending");
        assert_eq!((pending_count(first), pending_count(second)), (3, 2));
        assert!(!barrier.completed(first) && !barrier.completed_parity(false));
        assert!(barrier.completed_parity(true), "the phase before the first counts as complete");
        barrier.arrive(1, true, true).expect("1 is pending");
        assert!(barrier.completed(second) && barrier.completed_parity(false));
        assert_eq!(barrier, Mbarrier { expected: 2, pending: 2, transactions: 0, parity: true });
    }

    #[test]
    fn transactions_hold_a_phase_back() {
        let mut barrier = Mbarrier::new(1).expect("a count in range");
        barrier.complete(16).expect("in range");
        let state = barrier.arrive_expecting(64, false).expect("1 is pending");
        assert!(!barrier.completed(state));
        assert_eq!(
            barrier.arrive(1, false, true),
            Err(MbarrierProblem::Arrivals { count: 1, pending: 0 })
        );
        barrier.complete(48).expect("in range");
        assert!(barrier.completed(state));
        assert_eq!(barrier.pending, 1);
    }

    #[test]
    fn counts_out_of_range() {
        for count in [0, MOST + 1, u32::MAX] {
            assert_eq!(Mbarrier::new(count), Err(MbarrierProblem::Count { count }));
        }
        let mut barrier = Mbarrier::new(2).expect("a count in range");
        let before = barrier;
        assert!(barrier.arrive(0, false, true).is_err());
        assert!(barrier.arrive(3, false, true).is_err());
        assert!(barrier.arrive(2, false, false).is_err());
        assert!(barrier.expect(MOST + 1).is_err());
        assert!(barrier.complete(u32::MAX).is_err());
        assert_eq!(barrier, before);
        barrier.expect(MOST).expect("the largest");
        assert_eq!(barrier.expect(1), Err(MbarrierProblem::Transactions { count: 1 << 20 }));
    }

    #[test]
    fn every_field_survives_memory() {
        for barrier in [
            Mbarrier { expected: MOST, pending: 0, transactions: -(MOST as i32), parity: true },
            Mbarrier { expected: 1, pending: MOST, transactions: MOST as i32, parity: false },
            Mbarrier { expected: 77, pending: 5, transactions: -1, parity: true },
        ] {
            assert_eq!(Mbarrier::from_bits(barrier.to_bits()), barrier);
        }
    }
}
