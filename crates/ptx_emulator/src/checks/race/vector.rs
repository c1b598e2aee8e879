//! Vector clocks, sparse: what one thread knows of others.

/// A moment of a launch. It passes only where something is ordered: accesses between two such points share one.
/// 0 is before the launch.
pub(super) type Time = u32;

/// Number of a thread in its block: 32 times the warp plus the lane.
pub(super) type Thread = u16;

/// The thread that a lane of a warp is.
#[inline]
pub(super) fn thread_of(warp: u32, lane: usize) -> Thread {
    (warp << 5) as Thread | lane as Thread
}

/// Its warp.
#[inline]
pub(super) fn warp_of(thread: Thread) -> u32 {
    u32::from(thread >> 5)
}

/// Its lane's bit in a mask.
#[inline]
pub(super) fn lane_bit(thread: Thread) -> u32 {
    1 << (thread & 31)
}

/// Threads that an entry speaks for: one, a warp, or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    const WARP: u64 = 0x4000;
    const BLOCK: u64 = 0x8000;

    pub(super) fn thread(block: u32, thread: Thread) -> Key {
        Key(u64::from(block) << 16 | u64::from(thread))
    }

    pub(super) fn warp(block: u32, warp: u32) -> Key {
        Key(u64::from(block) << 16 | Key::WARP | u64::from(warp))
    }

    pub(super) fn block(block: u32) -> Key {
        Key(u64::from(block) << 16 | Key::BLOCK)
    }
}

/// Entries beyond which the oldest half becomes "everything up to then": hazards may be missed by that, never invented.
const MOST_ENTRIES: usize = 1024;

/// For each key the time up to which its accesses are known to have happened before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Vector {
    /// Accesses of all threads up to here are known.
    all: Time,
    /// Sorted by key; times above `all`.
    entries: Vec<(Key, Time)>,
}

impl Vector {
    pub(super) fn is_empty(&self) -> bool {
        self.all == 0 && self.entries.is_empty()
    }

    /// The time up to which a thread's accesses are known.
    pub(super) fn known(&self, block: u32, thread: Thread) -> Time {
        if self.entries.is_empty() {
            return self.all;
        }
        let keys =
            [Key::thread(block, thread), Key::warp(block, warp_of(thread)), Key::block(block)];
        let found = keys.iter().filter_map(|key| self.get(*key));
        found.fold(self.all, Time::max)
    }

    fn get(&self, key: Key) -> Option<Time> {
        let at = self.entries.binary_search_by_key(&key, |entry| entry.0).ok()?;
        Some(self.entries[at].1)
    }

    pub(super) fn raise(&mut self, key: Key, time: Time) {
        if time <= self.all {
            return;
        }
        match self.entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(at) => self.entries[at].1 = self.entries[at].1.max(time),
            Err(at) => self.entries.insert(at, (key, time)),
        }
    }

    /// Takes over all that `other` knows.
    pub(super) fn join(&mut self, other: &Vector) {
        if other.is_empty() {
            return;
        }
        self.all = self.all.max(other.all);
        let all = self.all;
        let mut merged = Vec::with_capacity(self.entries.len() + other.entries.len());
        let (mut left, mut right) =
            (self.entries.iter().peekable(), other.entries.iter().peekable());
        loop {
            let entry = match (left.peek(), right.peek()) {
                (Some((a, _)), Some((b, _))) if a < b => left.next().copied(),
                (Some((a, _)), Some((b, _))) if a > b => right.next().copied(),
                (Some((key, a)), Some((_, b))) => {
                    let entry = (*key, *a.max(b));
                    left.next();
                    right.next();
                    Some(entry)
                }
                (Some(_), None) => left.next().copied(),
                (None, _) => right.next().copied(),
            };
            match entry {
                Some((key, time)) if time > all => merged.push((key, time)),
                Some(_) => {}
                None => break,
            }
        }
        self.entries = merged;
        self.shorten();
    }

    fn shorten(&mut self) {
        if self.entries.len() <= MOST_ENTRIES {
            return;
        }
        let mut times: Vec<Time> = self.entries.iter().map(|entry| entry.1).collect();
        times.sort_unstable();
        self.all = times[times.len() / 2];
        let all = self.all;
        self.entries.retain(|entry| entry.1 > all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_take_the_later_time_of_each() {
        let mut a = Vector::default();
        a.raise(Key::thread(1, 40), 5);
        a.raise(Key::block(2), 9);
        let mut b = Vector::default();
        b.raise(Key::thread(1, 40), 3);
        b.raise(Key::warp(1, 1), 7);
        b.raise(Key::block(0), 2);
        a.join(&b);
        assert_eq!((a.known(1, 40), a.known(1, 41), a.known(1, 1)), (7, 7, 0));
        assert_eq!((a.known(2, 1023), a.known(0, 0), a.known(3, 0)), (9, 2, 0));
        let before = a.clone();
        a.join(&Vector::default());
        a.join(&before);
        assert_eq!(a, before);
    }

    #[test]
    fn long_vectors_forget_only_what_is_old() {
        let mut vector = Vector::default();
        for block in 0..4000 {
            let mut other = Vector::default();
            other.raise(Key::block(block), block + 1);
            vector.join(&other);
            assert!(vector.known(block, 0) > block, "never less than was known");
        }
        assert!(vector.entries.len() <= MOST_ENTRIES);
        assert_eq!(vector.known(3999, 5), 4000);
    }
}
