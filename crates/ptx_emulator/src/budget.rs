//! A limit of host memory that many count towards together.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What may still be taken of a limit, in bytes. Threads may share it.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    left: AtomicU64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Arc<Budget> {
        Arc::new(Budget { limit, left: AtomicU64::new(limit) })
    }

    /// Whether more than half of the limit is taken.
    pub(crate) fn is_half_taken(&self) -> bool {
        self.left.load(Ordering::Relaxed) < self.limit / 2
    }

    /// Takes `bytes`, or nothing when so many are not left.
    fn take(&self, bytes: u64) -> Result<(), BudgetExhausted> {
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(|_| ()).map_err(|_| BudgetExhausted)
    }

    fn give(&self, bytes: u64) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The limit is reached, or the host has no memory left. Nothing was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetExhausted;

/// What one owner has taken of a budget; it comes back when the owner goes.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Share {
    pub(crate) fn new(budget: &Arc<Budget>) -> Share {
        Share { budget: Arc::clone(budget), bytes: 0 }
    }

    /// Takes `bytes` more.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), BudgetExhausted> {
        self.budget.take(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Makes room for `length` elements in all. Storage grows to twice its size, so that growing step by step costs
    /// little, or by as much as needed when there is not so much left.
    #[inline]
    pub(crate) fn reserve(
        &mut self,
        storage: &mut impl Growing,
        length: usize,
    ) -> Result<(), BudgetExhausted> {
        if length <= storage.room() {
            return Ok(());
        }
        self.grow(storage, length.max(2 * storage.room())).or_else(|_| self.grow(storage, length))
    }

    #[inline(never)]
    fn grow(&mut self, storage: &mut impl Growing, length: usize) -> Result<(), BudgetExhausted> {
        let before = storage.room();
        let bytes = ((length - before) as u64).saturating_mul(storage.element_bytes());
        self.budget.take(bytes)?;
        if !storage.grow(length) {
            self.budget.give(bytes);
            return Err(BudgetExhausted);
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.give(self.bytes);
    }
}

/// Storage that grows.
pub(crate) trait Growing {
    /// Elements for which there is room.
    fn room(&self) -> usize;
    fn element_bytes(&self) -> u64;
    /// Makes room for `length` elements in all. False if the host has not so much memory.
    fn grow(&mut self, length: usize) -> bool;
}

impl<T> Growing for Vec<T> {
    fn room(&self) -> usize {
        self.capacity()
    }

    fn element_bytes(&self) -> u64 {
        size_of::<T>() as u64
    }

    fn grow(&mut self, length: usize) -> bool {
        self.try_reserve_exact(length - self.len()).is_ok()
    }
}

impl<T> Growing for VecDeque<T> {
    fn room(&self) -> usize {
        self.capacity()
    }

    fn element_bytes(&self) -> u64 {
        size_of::<T>() as u64
    }

    fn grow(&mut self, length: usize) -> bool {
        self.try_reserve_exact(length - self.len()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_take_what_is_left_and_give_it_back() {
        let budget = Budget::new(100);
        let mut first = Share::new(&budget);
        let mut second = Share::new(&budget);
        assert_eq!(first.take(60), Ok(()));
        assert!(budget.is_half_taken());
        assert_eq!(second.take(41), Err(BudgetExhausted));
        assert_eq!(second.take(40), Ok(()));
        drop(first);
        assert!(!budget.is_half_taken());
        assert_eq!(second.take(60), Ok(()));
        assert_eq!(second.take(1), Err(BudgetExhausted));
    }

    #[test]
    fn storage_grows_to_twice_its_size_while_there_is_room() {
        let budget = Budget::new(4 * 35);
        let mut share = Share::new(&budget);
        let mut numbers: Vec<u32> = Vec::new();
        assert_eq!(share.reserve(&mut numbers, 10), Ok(()));
        numbers.push(1);
        assert_eq!(share.reserve(&mut numbers, 10), Ok(()), "there is room");
        assert_eq!(share.bytes, 40);
        assert_eq!(share.reserve(&mut numbers, 11), Ok(()));
        assert_eq!((numbers.capacity(), share.bytes), (20, 80));
        assert_eq!(share.reserve(&mut numbers, 30), Ok(()), "40 are too many, 30 are not");
        assert_eq!((numbers.capacity(), share.bytes), (30, 120));
        assert_eq!(share.reserve(&mut numbers, 36), Err(BudgetExhausted));
        assert_eq!((numbers.capacity(), share.bytes), (30, 120));
    }

    #[test]
    fn a_host_without_memory_is_no_panic() {
        let budget = Budget::new(u64::MAX);
        let mut share = Share::new(&budget);
        let mut numbers: Vec<u64> = Vec::new();
        assert_eq!(share.reserve(&mut numbers, usize::MAX / 2), Err(BudgetExhausted));
        assert_eq!(share.bytes, 0);
    }
}
