//! Who knows what of whom: the happens-before order of a launch, kept compactly.
//!
//! After a barrier of the whole block each of its threads knows all accesses of the others up to that time: one number, the
//! block's `floor`. Likewise a warp has a floor after it met in a warp operation. Only threads that order themselves
//! in other ways (barriers of some warps, releases and acquires) need [`Vector`]s.

use std::sync::Arc;

use super::vector::{Key, Thread, Time, Vector, thread_of, warp_of};
use crate::row::lanes;

/// Time of a launch.
#[derive(Debug)]
pub(super) struct Clock {
    now: Time,
    /// Whether something was accessed since time last passed.
    used: bool,
}

impl Clock {
    pub(super) fn new() -> Clock {
        Clock { now: 1, used: false }
    }

    /// The time of an access that happens now.
    #[inline]
    pub(super) fn access(&mut self) -> Time {
        self.used = true;
        self.now
    }

    /// A time that all accesses so far are not after, and all later ones are.
    pub(super) fn cut(&mut self) -> Time {
        if self.used {
            self.used = false;
            self.now = self.now.saturating_add(1);
        }
        self.now - 1
    }

    /// Whether there are no numbers left to tell times apart.
    #[inline]
    pub(super) fn exhausted(&self) -> bool {
        self.now == Time::MAX
    }
}

/// What was known at a fence. What a thread writes afterwards, with an access that other threads may wait for, passes it on.
#[derive(Clone, Debug)]
struct Fence {
    time: Time,
    block_floor: Time,
    warp_floor: Time,
    block: Arc<Vector>,
    warp: Arc<Vector>,
    lane: Option<Arc<Vector>>,
}

/// A lane's last fences.
#[derive(Clone, Debug, Default)]
struct Fences {
    /// Of GPU scope or wider.
    gpu: Option<Fence>,
    /// Of any scope.
    block: Option<Fence>,
}

#[derive(Debug, Default)]
struct WarpClock {
    floor: Time,
    /// What all lanes know.
    known: Arc<Vector>,
    /// What single lanes know besides.
    lanes: Option<Box<[Option<Arc<Vector>>; 32]>>,
    fences: Option<Box<[Fences; 32]>>,
    /// Whether there were fences since the block's last barrier.
    fenced_anew: bool,
}

impl WarpClock {
    fn lane(&self, lane: usize) -> Option<&Arc<Vector>> {
        self.lanes.as_ref()?[lane].as_ref()
    }
}

/// What a released value passes on, by who may take it up.
#[derive(Clone, Debug, Default)]
pub(super) struct Released {
    pub(super) gpu: Option<Arc<Vector>>,
    /// For threads of the block with this number.
    pub(super) block: Option<(u32, Arc<Vector>)>,
}

impl Released {
    /// Adds what another write of the same value's history released.
    pub(super) fn join(&mut self, other: Released) {
        if let Some(new) = other.gpu {
            let joined = self.gpu.as_ref().map_or(Vector::default(), |known| (**known).clone());
            self.gpu = Some(union(joined, &new));
        }
        if let Some((block, new)) = other.block {
            let joined = match &self.block {
                Some((owner, known)) if *owner == block => (**known).clone(),
                _ => Vector::default(),
            };
            self.block = Some((block, union(joined, &new)));
        }
    }
}

fn union(mut a: Vector, b: &Vector) -> Arc<Vector> {
    a.join(b);
    Arc::new(a)
}

/// The clocks of a block's threads.
#[derive(Debug)]
pub(super) struct BlockClock {
    pub(super) block: u32,
    /// Accesses of the block up to here are known to all of it.
    pub(super) floor: Time,
    known: Arc<Vector>,
    warps: Vec<WarpClock>,
    /// What threads brought that arrived at a barrier without waiting, by its number.
    arrived: Vec<Vector>,
    /// Whether anything is known beyond the floors.
    pub(super) vectors: bool,
    /// What the block's threads had fenced before its last barrier: by fences of GPU scope or wider, and by any.
    fenced_gpu: Vector,
    fenced_block: Vector,
}

impl BlockClock {
    pub(super) fn new(block: u32, warps: usize, barriers: usize) -> BlockClock {
        let mut clocks = Vec::new();
        clocks.resize_with(warps, WarpClock::default);
        BlockClock {
            block,
            floor: 0,
            known: Arc::default(),
            warps: clocks,
            arrived: vec![Vector::default(); barriers],
            vectors: false,
            fenced_gpu: Vector::default(),
            fenced_block: Vector::default(),
        }
    }

    /// The time up to which a warp's lanes know each other's accesses.
    #[inline]
    pub(super) fn warp_floor(&self, warp: u32) -> Time {
        self.warps.get(warp as usize).map_or(0, |warp| warp.floor).max(self.floor)
    }

    /// Whether an access of another thread at `time` happened before what `lane` of `warp` does now.
    pub(super) fn ordered(
        &self,
        (warp, lane): (u32, usize),
        block: u32,
        thread: Thread,
        time: Time,
    ) -> bool {
        let Some(clock) = self.warps.get(warp as usize) else {
            return true;
        };
        if block == self.block {
            let same_warp = warp_of(thread) == warp;
            if time <= self.floor
                || same_warp && (usize::from(thread & 31) == lane || time <= clock.floor)
            {
                return true;
            }
        }
        if !self.vectors {
            return false;
        }
        self.known.known(block, thread) >= time
            || clock.known.known(block, thread) >= time
            || clock.lane(lane).is_some_and(|known| known.known(block, thread) >= time)
    }

    /// All threads of the block have met.
    pub(super) fn meet_all(&mut self, time: Time) {
        let mut known: Option<Vector> = None;
        for warp in &mut self.warps {
            if !warp.known.is_empty() {
                known.get_or_insert_with(|| (*self.known).clone()).join(&warp.known);
                warp.known = Arc::default();
            }
            for lane in warp.lanes.take().into_iter().flat_map(|lanes| *lanes).flatten() {
                known.get_or_insert_with(|| (*self.known).clone()).join(&lane);
            }
        }
        if let Some(known) = known {
            self.known = Arc::new(known);
        }
        self.keep_fences();
        self.floor = time;
    }

    /// The lanes `waiting` of each warp have met at a barrier, which others may have passed.
    pub(super) fn meet_warps(&mut self, number: usize, waiting: &[u32], time: Time) {
        self.vectors = true;
        let mut joined = self.arrived.get_mut(number).map(std::mem::take).unwrap_or_default();
        for (index, mask) in waiting.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            joined.join(&self.brought(index as u32, *mask, time));
        }
        let joined = Arc::new(joined);
        for (index, mask) in waiting.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            // A barrier releases warps whole.
            let Some(warp) = self.warps.get_mut(index) else {
                continue;
            };
            let mut known = (*joined).clone();
            known.join(&warp.known);
            warp.known = Arc::new(known);
            warp.lanes = None;
            if mask.count_ones() > 1 {
                warp.floor = time;
            }
        }
    }

    /// Lanes arrive at a barrier and go on.
    pub(super) fn arrive(&mut self, number: usize, warp: u32, mask: u32, time: Time) {
        let brought = self.brought(warp, mask, time);
        if let Some(arrived) = self.arrived.get_mut(number) {
            arrived.join(&brought);
        }
    }

    /// Adds what lanes of a warp know, of other blocks too, and have done up to `time`. `all`: these are all lanes that the warp
    /// started with.
    pub(super) fn bring(&self, (warp, mask): (u32, u32), all: bool, time: Time, to: &mut Vector) {
        to.join(&self.known);
        to.raise(Key::block(self.block), self.floor);
        to.join(&self.brought(warp, if all { u32::MAX } else { mask }, time));
    }

    /// What any thread of the block knows of other blocks.
    pub(super) fn all_known(&self) -> Vector {
        let mut known = (*self.known).clone();
        for warp in &self.warps {
            known.join(&warp.known);
            warp.lanes.iter().flat_map(|lanes| lanes.iter().flatten()).for_each(|l| known.join(l));
        }
        known
    }

    /// What lanes of a warp know, and have done up to `time`.
    fn brought(&self, warp: u32, mask: u32, time: Time) -> Vector {
        let mut known = Vector::default();
        let Some(clock) = self.warps.get(warp as usize) else {
            return known;
        };
        known.join(&clock.known);
        if mask == u32::MAX {
            known.raise(Key::warp(self.block, warp), time);
        } else {
            known.raise(Key::warp(self.block, warp), clock.floor);
        }
        for lane in lanes(mask) {
            if let Some(lane) = clock.lane(lane) {
                known.join(lane);
            }
            if mask != u32::MAX {
                known.raise(Key::thread(self.block, thread_of(warp, lane)), time);
            }
        }
        known
    }

    /// Lanes of a warp have met; `all`: those are all that live.
    pub(super) fn meet_lanes(&mut self, warp: u32, mask: u32, all: bool, time: Time) {
        let block = self.block;
        let Some(clock) = self.warps.get_mut(warp as usize) else {
            return;
        };
        if all {
            clock.floor = time;
            if let Some(lanes) = clock.lanes.take() {
                let mut known = (*clock.known).clone();
                for lane in lanes.iter().flatten() {
                    known.join(lane);
                }
                clock.known = Arc::new(known);
            }
            return;
        }
        self.vectors = true;
        let mut known = Vector::default();
        for lane in lanes(mask) {
            if let Some(lane) = clock.lane(lane) {
                known.join(lane);
            }
            known.raise(Key::thread(block, thread_of(warp, lane)), time);
        }
        let known = Arc::new(known);
        let own = clock.lanes.get_or_insert_default();
        for lane in lanes(mask) {
            own[lane] = Some(known.clone());
        }
    }

    /// A fence of some lanes; `gpu`: its scope is wider than the block.
    pub(super) fn fence(&mut self, warp: u32, mask: u32, gpu: bool, time: Time) {
        let (block_floor, block) = (self.floor, self.known.clone());
        let Some(clock) = self.warps.get_mut(warp as usize) else {
            return;
        };
        let mut fence = Fence {
            time,
            block_floor,
            warp_floor: clock.floor,
            block,
            warp: clock.known.clone(),
            lane: None,
        };
        let mut fences = clock.fences.take().unwrap_or_default();
        for lane in lanes(mask) {
            fence.lane = clock.lane(lane).cloned();
            if gpu {
                fences[lane].gpu = Some(fence.clone());
            }
            fences[lane].block = Some(fence.clone());
        }
        clock.fences = Some(fences);
        clock.fenced_anew = true;
    }

    /// What a strong write of a lane passes on because of the fences before it: what the thread knew at its own fence, and
    /// what other threads of the block had fenced before a barrier that the thread took part in since
    /// (`__threadfence(); __syncthreads(); if (first) atomicAdd(…)`).
    pub(super) fn fenced(&self, warp: u32, lane: usize) -> Released {
        let own = self.warps.get(warp as usize).and_then(|warp| warp.fences.as_ref());
        let own = own.map(|fences| &fences[lane]);
        let passed_on = |own: Option<&Fence>, met: &Vector| {
            let mut known = own.map_or_else(Vector::default, |own| self.snapshot(warp, lane, own));
            known.join(met);
            (!known.is_empty()).then(|| Arc::new(known))
        };
        Released {
            gpu: passed_on(own.and_then(|own| own.gpu.as_ref()), &self.fenced_gpu),
            block: passed_on(own.and_then(|own| own.block.as_ref()), &self.fenced_block)
                .map(|known| (self.block, known)),
        }
    }

    /// At a barrier: what the block's threads have fenced.
    fn keep_fences(&mut self) {
        for (index, clock) in self.warps.iter_mut().enumerate() {
            let Some(fences) = clock.fences.as_ref().filter(|_| clock.fenced_anew) else {
                continue;
            };
            clock.fenced_anew = false;
            for (lane, fences) in fences.iter().enumerate() {
                let key = Key::thread(self.block, thread_of(index as u32, lane));
                if let Some(fence) = &fences.gpu {
                    self.fenced_gpu.raise(key, fence.time);
                }
                if let Some(fence) = &fences.block {
                    self.fenced_block.raise(key, fence.time);
                }
            }
        }
    }

    fn snapshot(&self, warp: u32, lane: usize, fence: &Fence) -> Vector {
        let mut known = (*fence.block).clone();
        known.join(&fence.warp);
        if let Some(lane) = &fence.lane {
            known.join(lane);
        }
        known.raise(Key::block(self.block), fence.block_floor);
        if fence.warp_floor > fence.block_floor {
            known.raise(Key::warp(self.block, warp), fence.warp_floor);
        }
        if fence.time > fence.block_floor {
            known.raise(Key::thread(self.block, thread_of(warp, lane)), fence.time);
        }
        known
    }

    /// What a release of a lane passes on.
    pub(super) fn release(&self, warp: u32, lane: usize, gpu: bool, time: Time) -> Released {
        let Some(clock) = self.warps.get(warp as usize) else {
            return Released::default();
        };
        let fence = Fence {
            time,
            block_floor: self.floor,
            warp_floor: clock.floor,
            block: self.known.clone(),
            warp: clock.known.clone(),
            lane: clock.lane(lane).cloned(),
        };
        let known = Arc::new(self.snapshot(warp, lane, &fence));
        let wide = if gpu { Some(known.clone()) } else { self.fenced(warp, lane).gpu };
        Released { gpu: wide, block: Some((self.block, known)) }
    }

    /// All lanes of a warp take up what was released.
    pub(super) fn acquire_all(&mut self, warp: u32, released: &Arc<Vector>) {
        let Some(clock) = self.warps.get_mut(warp as usize) else {
            return;
        };
        self.vectors = true;
        if clock.known.is_empty() {
            clock.known = released.clone();
        } else if !Arc::ptr_eq(&clock.known, released) {
            clock.known = union((*clock.known).clone(), released);
        }
    }

    /// A lane takes up what was released.
    pub(super) fn acquire(&mut self, warp: u32, lane: usize, released: &Arc<Vector>) {
        let Some(clock) = self.warps.get_mut(warp as usize) else {
            return;
        };
        self.vectors = true;
        let slot = &mut clock.lanes.get_or_insert_default()[lane];
        match slot {
            // Waiting reads the same value again and again.
            Some(known) if Arc::ptr_eq(known, released) => {}
            Some(known) => {
                let mut joined = (**known).clone();
                joined.join(released);
                if joined != **known {
                    *known = Arc::new(joined);
                }
            }
            None => *slot = Some(released.clone()),
        }
    }
}
