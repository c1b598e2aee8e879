//! Moving more or less than a word on any processor: word by word.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::raw::Line;
use super::{Number, Storage, update_word, word};

/// Bytes that [`load_block`] moves.
pub(super) const BLOCK: usize = 4;

/// Copies the bytes at `at`, if they are all there.
pub(super) fn load_block(lines: &[Line], at: usize, target: &mut [u8; BLOCK]) {
    for (byte, at) in target.iter_mut().zip(at..) {
        let word = word(lines, at).map_or(0, |word| word.load(Ordering::Relaxed));
        *byte = word.to_ne_bytes()[at % 4];
    }
}

pub(super) fn load8(lines: &[Line], at: usize) -> u64 {
    let half = |at: usize| {
        word(lines, at).map_or(0, |word| u64::from(u32::from_le(word.load(Ordering::Relaxed))))
    };
    half(at) | half(at | 4) << 32
}

pub(super) fn store8(lines: &[Line], at: usize, value: u64) {
    for (at, half) in [(at, value as u32), (at | 4, (value >> 32) as u32)] {
        if let Some(word) = word(lines, at) {
            word.store(half.to_le(), Ordering::Relaxed);
        }
    }
}

pub(super) fn store1(lines: &[Line], at: usize, value: u8) {
    update_word(lines, at, 1, |_| u32::from(value));
}

pub(super) fn store2(lines: &[Line], at: usize, value: u16) {
    update_word(lines, at, 2, |_| u32::from(value));
}

/// Changes eight bytes. A plain store to them that comes in between is lost.
pub(super) fn update8(storage: &Storage, at: usize, change: impl Fn(u64) -> u64) -> u64 {
    let _guard = storage.wide.lock().unwrap_or_else(PoisonError::into_inner);
    let old = load8(&storage.lines, at);
    let new = change(old);
    if new != old {
        store8(&storage.lines, at, new);
    }
    old
}

/// Reads numbers with the same distance from each to the next, if they are all there.
pub(super) fn load_apart<T: Number>(storage: &Storage, at: usize, stride: usize, target: &mut [T]) {
    let places = || (0..target.len()).map(|number| at.wrapping_add(number.wrapping_mul(stride)));
    let is_there =
        |place: usize| place.checked_add(T::BYTES).is_some_and(|end| end <= storage.bytes);
    if places().all(is_there) {
        let places: Vec<usize> = places().collect();
        target.iter_mut().zip(places).for_each(|(number, place)| *number = T::load(storage, place));
    }
}

#[inline(always)]
pub(super) fn load_line<T: Number, const N: usize>(
    storage: &Storage,
    at: usize,
    target: &mut [T; N],
) {
    if at.checked_add(N * T::BYTES).is_some_and(|end| end <= storage.bytes) {
        for (target, at) in target.iter_mut().zip((at..).step_by(T::BYTES)) {
            *target = T::load(storage, at);
        }
    }
}

#[inline(always)]
pub(super) fn store_line<T: Number, const N: usize>(storage: &Storage, at: usize, values: &[T; N]) {
    if at.checked_add(N * T::BYTES).is_some_and(|end| end <= storage.bytes) {
        for (value, at) in values.iter().zip((at..).step_by(T::BYTES)) {
            value.store(storage, at);
        }
    }
}
