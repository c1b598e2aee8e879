extern crate std;

use core::fmt::Debug;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::vec::Vec;

use half::{bf16, f16};

use super::super::{AtomicF32, Block, BlockAtomicF64, SystemAtomicF64, fence, mid};
use super::*;

/// Applies `change` to an atomic that holds `start`: what it gave, and what is there then.
fn changed<T: AtomicValue, R>(start: T, change: impl Fn(&Atomic<T, System>) -> R) -> (R, T) {
    let place = Atomic::new(start);
    let result = change(&place);
    (result, place.into_inner())
}

#[test]
fn integers_wrap_and_compare_with_their_sign() {
    assert_eq!(changed(u32::MAX, |a| a.fetch_add(2, Relaxed)), (u32::MAX, 1));
    assert_eq!(changed(i64::MIN, |a| a.fetch_sub(1, SeqCst)), (i64::MIN, i64::MAX));
    assert_eq!(changed(-1_i32, |a| a.fetch_max(1, AcqRel)), (-1, 1));
    assert_eq!(changed(-1_i32 as u32, |a| a.fetch_max(1, AcqRel)), (u32::MAX, u32::MAX));
    assert_eq!(changed(5_i64, |a| a.fetch_min(-5, Acquire)), (5, -5));
    assert_eq!(changed(0b1100_u64, |a| a.fetch_and(0b1010, Relaxed)), (0b1100, 0b1000));
    assert_eq!(changed(0b1100_u32, |a| a.fetch_or(0b1010, Relaxed)), (0b1100, 0b1110));
    assert_eq!(changed(0b1100_i32, |a| a.fetch_xor(0b1010, Release)), (0b1100, 0b0110));
}

#[test]
fn counters_stay_within_their_limit() {
    for (start, next) in [(0_u32, 1), (9, 10), (10, 0), (11, 0)] {
        assert_eq!(changed(start, |a| a.fetch_inc(10, Relaxed)), (start, next));
        let start = u64::from(start);
        assert_eq!(changed(start, |a| a.fetch_inc(10, Relaxed)), (start, u64::from(next)));
    }
    for (start, next) in [(0_u32, 10), (1, 0), (10, 9), (11, 10)] {
        assert_eq!(changed(start, |a| a.fetch_dec(10, Relaxed)), (start, next));
    }
}

/// `min` and `max` of all pairs of `values`, which ascend, against their order.
fn orders<T: AtomicNumber + Debug>(values: &[T], same: impl Fn(T, T) -> bool) {
    for (i, &a) in values.iter().enumerate() {
        for (j, &b) in values.iter().enumerate() {
            let (old, least) = changed(a, |place| place.fetch_min(b, Relaxed));
            assert!(same(old, a) && same(least, values[i.min(j)]), "min {a:?} {b:?}: {least:?}");
            let (old, greatest) = changed(a, |place| place.fetch_max(b, Relaxed));
            assert!(
                same(old, a) && same(greatest, values[i.max(j)]),
                "max {a:?} {b:?}: {greatest:?}"
            );
        }
    }
}

#[test]
fn floats_order_by_value_and_sign() {
    let values = [f64::NEG_INFINITY, -2.5, -1e-310, -0.0, 0.0, 1e-310, 2.5, f64::INFINITY];
    orders(&values, |a, b| a.to_bits() == b.to_bits());
    orders(&values.map(|x| x as f32), |a, b| a.to_bits() == b.to_bits());
    // Both round the smallest numbers to zero.
    let values: Vec<f64> = values.into_iter().filter(|x| x.abs() != 1e-310).collect();
    let halves: Vec<f16> = values.iter().map(|x| f16::from_f64(*x)).collect();
    orders(&halves, |a, b| a.to_bits() == b.to_bits());
    let halves: Vec<bf16> = values.iter().map(|x| bf16::from_f64(*x)).collect();
    orders(&halves, |a, b| a.to_bits() == b.to_bits());
}

#[test]
fn a_nan_changes_no_minimum_and_no_maximum() {
    for nan in [f32::NAN, -f32::NAN] {
        for value in [-1.0, -0.0, 0.0, 1.0_f32] {
            let (_, least) = changed(value, |a| a.fetch_min(nan, SeqCst));
            let (_, greatest) = changed(value, |a| a.fetch_max(nan, SeqCst));
            assert_eq!((least.to_bits(), greatest.to_bits()), (value.to_bits(), value.to_bits()));
        }
    }
}

#[test]
fn floats_add() {
    assert_eq!(changed(1.5_f32, |a| a.fetch_add(2.0, Relaxed)), (1.5, 3.5));
    assert_eq!(changed(1.5_f64, |a| a.fetch_sub(2.0, Relaxed)), (1.5, -0.5));
    let half = f16::from_f32;
    assert_eq!(changed(half(1.5), |a| a.fetch_sub(half(2.0), Relaxed)), (half(1.5), half(-0.5)));
    let half = bf16::from_f32;
    assert_eq!(changed(half(1.5), |a| a.fetch_add(half(2.0), Relaxed)), (half(1.5), half(3.5)));
}

#[test]
fn comparing_is_by_bits() {
    let swap =
        |from: f64| move |a: &Atomic<f64, System>| a.compare_exchange(from, 7.0, AcqRel, Acquire);
    assert_eq!(changed(0.0, swap(0.0)), (Ok(0.0), 7.0));
    assert_eq!(changed(0.0, swap(-0.0)), (Err(0.0), 0.0));
    assert!(matches!(changed(f64::NAN, swap(f64::NAN)), (Ok(_), 7.0)));
    let update =
        |a: &Atomic<f64, System>| a.fetch_update(SeqCst, SeqCst, |x| (x > 0.0).then_some(-x));
    assert_eq!(changed(2.0, update), (Ok(2.0), -2.0));
    assert_eq!(changed(-2.0, update), (Err(-2.0), -2.0));
}

#[test]
fn orderings_that_cannot_be_are_refused_as_core_does() {
    let place = Atomic::<f32>::new(1.0);
    let core = core::sync::atomic::AtomicU32::new(1);
    let same = |ours: &dyn Fn(), cores: &dyn Fn()| {
        let text = |run: &dyn Fn()| {
            let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("the ordering is refused");
            *panic.downcast::<&str>().expect("a constant message")
        };
        assert_eq!(text(ours), text(cores));
    };
    for order in [Release, AcqRel] {
        same(&|| _ = place.load(order), &|| _ = core.load(order));
        same(&|| _ = place.compare_exchange(1.0, 2.0, SeqCst, order), &|| {
            _ = core.compare_exchange(1, 2, SeqCst, order);
        });
        assert!(
            catch_unwind(AssertUnwindSafe(|| place.fetch_update(SeqCst, order, Some))).is_err()
        );
    }
    for order in [Acquire, AcqRel] {
        same(&|| place.store(1.0, order), &|| core.store(1, order));
    }
    let order = Relaxed;
    same(&|| fence::<Block>(order), &|| core::sync::atomic::fence(order));
    assert_eq!(place.into_inner(), 1.0);
}

#[test]
fn threads_of_the_host_share_one() {
    let sum = Atomic::<f64>::new(0.0);
    let tickets = Atomic::<u32>::new(0);
    let taken: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| -> Vec<u32> {
                    (0..1000)
                        .map(|_| {
                            sum.fetch_add(1.0, Relaxed);
                            tickets.fetch_inc(u32::MAX, Relaxed)
                        })
                        .collect()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it ends")).collect()
    });
    let mut taken = taken;
    taken.sort_unstable();
    assert_eq!(taken, (0..4000).collect::<Vec<_>>());
    assert_eq!(sum.into_inner(), 4000.0);
}

#[test]
fn rust_cudas_types_and_functions() {
    let a = AtomicF32::new(3.0);
    assert_eq!(a.fetch_and(-2.0, Relaxed), 3.0);
    assert_eq!(a.load(SeqCst), 2.0);
    a.store(1.0, Release);
    assert_eq!(a.fetch_or(-0.0, AcqRel), 1.0);
    assert_eq!(a.fetch_xor(-0.0, Acquire), -1.0);
    assert_eq!(a.fetch_sub(4.0, Relaxed), 1.0);
    assert_eq!(a.into_inner(), -3.0);
    let b = BlockAtomicF64::new(1.0);
    // SAFETY: one thread uses it.
    assert_eq!(unsafe { (b.fetch_add(1.0, SeqCst), b.load(Relaxed)) }, (1.0, 2.0));
    let c = SystemAtomicF64::default();
    assert_eq!(c.fetch_add(1.0, SeqCst), 0.0);

    let mut place = 5_u64;
    // SAFETY: the place is this thread's.
    unsafe {
        assert_eq!(mid::atomic_fetch_exch_u64_block(&mut place, AcqRel, 9), 5);
        assert_eq!(mid::atomic_compare_and_swap_u64_system(&mut place, 9, 3, AcqRel), 9);
        assert_eq!(mid::atomic_compare_and_swap_u64_system(&mut place, 9, 4, Release), 3);
        mid::atomic_store_64_device(&mut place, SeqCst, 8);
        assert_eq!(mid::atomic_load_64_device(&mut place, SeqCst), 8);
    }
    mid::system_thread_fence(AcqRel);
}

#[test]
fn an_atomic_is_laid_out_as_its_value() {
    assert_eq!((size_of::<Atomic<bf16>>(), align_of::<Atomic<f64, Block>>()), (2, 8));
}
