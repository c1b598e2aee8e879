//! What a launch adds up while it runs: numbers for each operation of the program.

use super::{GlobalCost, SharedCost};

/// Sums for each operation, by its position in the program. Sums over blocks do not depend on their order: workers keep one
/// each and [`merge`](PerOp::merge) them at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerOp {
    /// How often a warp executed the operation, whether or not the guard let a lane through.
    pub warp_executions: Vec<u64>,
    /// The lanes that were active then, whatever the guard said of them.
    pub thread_executions: Vec<u64>,
    /// Executions after which lanes of the warp went different ways.
    pub divergent: Vec<u64>,
    /// Executions after which the warp had to wait for another (barriers).
    pub waits: Vec<u64>,
    /// Memory accesses.
    pub memory: Vec<MemorySums>,
}

/// Sums of the memory accesses of one operation. One operation can access several spaces, when its addresses are generic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemorySums {
    /// Requests to global memory: executions in which at least one lane accessed it.
    pub requests: u64,
    /// Bytes that the lanes of those requests asked for, each lane counted.
    pub bytes: u64,
    /// 32-byte sectors.
    pub sectors: u64,
    /// Sectors of the same data lying together.
    pub ideal_sectors: u64,
    /// 128-byte lines.
    pub lines: u64,
    /// Requests to shared memory.
    pub shared_requests: u64,
    /// Bytes that the lanes of those requests asked for, each lane counted.
    pub shared_bytes: u64,
    /// Passes over the banks.
    pub wavefronts: u64,
    /// Passes without bank conflicts.
    pub ideal_wavefronts: u64,
    /// The largest conflict degree of a request.
    pub max_degree: u32,
    /// The most lanes of an atomic request on one address.
    pub max_same_address: u32,
    /// Bytes that lanes asked of local memory.
    pub local_bytes: u64,
}

impl PerOp {
    /// Zeros for a program of `operations` operations.
    #[must_use]
    pub fn new(operations: usize) -> PerOp {
        PerOp {
            warp_executions: vec![0; operations],
            thread_executions: vec![0; operations],
            divergent: vec![0; operations],
            waits: vec![0; operations],
            memory: vec![MemorySums::default(); operations],
        }
    }

    /// An execution with this many active lanes.
    #[inline]
    pub fn executed(&mut self, pc: u32, lanes: u32) {
        if let Some(count) = self.warp_executions.get_mut(pc as usize) {
            *count += 1;
        }
        if let Some(count) = self.thread_executions.get_mut(pc as usize) {
            *count += u64::from(lanes);
        }
    }

    /// The execution made lanes of the warp go different ways.
    #[inline]
    pub fn diverged(&mut self, pc: u32) {
        if let Some(count) = self.divergent.get_mut(pc as usize) {
            *count += 1;
        }
    }

    /// The execution made the warp wait.
    #[inline]
    pub fn waited(&mut self, pc: u32) {
        if let Some(count) = self.waits.get_mut(pc as usize) {
            *count += 1;
        }
    }

    /// `times` requests to global memory, in each of which all lanes together ask for `bytes` bytes. Constant memory is not counted: its
    /// cache does not work in sectors.
    #[inline]
    pub fn global(&mut self, pc: u32, cost: GlobalCost, bytes: u32, times: u64) {
        if let Some(sums) = self.memory.get_mut(pc as usize) {
            sums.requests += times;
            sums.bytes += times * u64::from(bytes);
            sums.sectors += times * u64::from(cost.sectors);
            sums.ideal_sectors += times * u64::from(cost.ideal_sectors);
            sums.lines += times * u64::from(cost.lines);
        }
    }

    /// `times` requests to shared memory, in each of which all lanes together ask for `bytes` bytes.
    #[inline]
    pub fn shared(&mut self, pc: u32, cost: SharedCost, bytes: u32, times: u64) {
        if let Some(sums) = self.memory.get_mut(pc as usize) {
            sums.shared_requests += times;
            sums.shared_bytes += times * u64::from(bytes);
            sums.wavefronts += times * u64::from(cost.wavefronts);
            sums.ideal_wavefronts += times * u64::from(cost.ideal_wavefronts);
            sums.max_degree = sums.max_degree.max(cost.degree);
        }
    }

    /// An access to local memory, in which all lanes together ask for `bytes` bytes: spilled registers, arrays that are
    /// indexed by variables. Parameters of calls are not counted, although the machine keeps them there.
    #[inline]
    pub fn local(&mut self, pc: u32, bytes: u32) {
        if let Some(sums) = self.memory.get_mut(pc as usize) {
            sums.local_bytes += u64::from(bytes);
        }
    }

    /// The most lanes on one address of an atomic request; its space is counted by [`global`](PerOp::global) or
    /// [`shared`](PerOp::shared) as well.
    #[inline]
    pub fn atomic(&mut self, pc: u32, same_address: u32) {
        if let Some(sums) = self.memory.get_mut(pc as usize) {
            sums.max_same_address = sums.max_same_address.max(same_address);
        }
    }

    /// Adds another worker's sums for the same program.
    pub fn merge(&mut self, other: &PerOp) {
        let add = |to: &mut Vec<u64>, from: &[u64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        add(&mut self.warp_executions, &other.warp_executions);
        add(&mut self.thread_executions, &other.thread_executions);
        add(&mut self.divergent, &other.divergent);
        add(&mut self.waits, &other.waits);
        self.memory.iter_mut().zip(&other.memory).for_each(|(to, from)| to.merge(from));
    }
}

impl MemorySums {
    /// Adds sums; largest numbers stay the larger of the two.
    pub fn merge(&mut self, other: &MemorySums) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.ideal_sectors += other.ideal_sectors;
        self.lines += other.lines;
        self.shared_requests += other.shared_requests;
        self.shared_bytes += other.shared_bytes;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.max_degree = self.max_degree.max(other.max_degree);
        self.max_same_address = self.max_same_address.max(other.max_same_address);
        self.local_bytes += other.local_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_adds_and_keeps_the_largest() {
        let record = |degree, same, lanes| {
            let mut sums = PerOp::new(2);
            sums.executed(1, lanes);
            sums.diverged(1);
            sums.waited(0);
            let shared = SharedCost { wavefronts: degree, ideal_wavefronts: 1, degree };
            sums.shared(1, shared, lanes, 1);
            sums.global(1, GlobalCost { sectors: 4, lines: 1, ideal_sectors: 2 }, lanes, 1);
            sums.local(0, lanes);
            sums.atomic(1, same);
            sums
        };
        let mut left = record(4, 7, 32);
        left.merge(&record(9, 2, 5));
        assert_eq!((left.warp_executions, left.thread_executions), (vec![0, 2], vec![0, 37]));
        assert_eq!((left.divergent, left.waits), (vec![0, 2], vec![2, 0]));
        let [first, second] = &*left.memory else { panic!("two operations") };
        assert_eq!(first.local_bytes, 37);
        assert_eq!((second.bytes, second.shared_bytes), (37, 37));
        assert_eq!((second.wavefronts, second.ideal_wavefronts, second.max_degree), (13, 2, 9));
        assert_eq!((second.sectors, second.ideal_sectors, second.lines), (8, 4, 2));
        assert_eq!(second.max_same_address, 7);
    }

    #[test]
    fn positions_outside_the_program_are_ignored() {
        let mut sums = PerOp::new(0);
        sums.executed(0, 1);
        sums.global(7, GlobalCost::default(), 1, 1);
        sums.shared(7, SharedCost::default(), 1, 1);
        sums.atomic(u32::MAX, 1);
        sums.diverged(0);
        sums.waited(0);
        sums.local(0, 1);
        assert_eq!(sums, PerOp::new(0));
    }
}
