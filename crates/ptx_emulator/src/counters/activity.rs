//! The sums that a launch, a PTX instruction and a source line all have.

/// What was done, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// PTX instructions, each counted once for a warp however many of its lanes were active, and also when its guard let none
    /// through.
    pub warp_instructions: u64,
    /// PTX instructions, counted once for each lane that was active, whatever the guard said of it.
    pub thread_instructions: u64,
    /// `bra` and `brx`, counted once for a warp.
    pub branches: u64,
    /// Those after which lanes of the warp went different ways.
    pub divergent_branches: u64,
    /// Loads from global memory.
    pub global_loads: GlobalTraffic,
    /// Stores to global memory.
    pub global_stores: GlobalTraffic,
    /// `atom` and `red` on global memory.
    pub global_atomics: GlobalTraffic,
    /// Loads from shared memory.
    pub shared_loads: SharedTraffic,
    /// Stores to shared memory.
    pub shared_stores: SharedTraffic,
    /// `atom` and `red` on shared memory.
    pub shared_atomics: SharedTraffic,
    /// The most lanes of one atomic request on one address.
    pub max_lanes_on_one_address: u32,
    /// Bytes that lanes loaded from local memory.
    pub local_load_bytes: u64,
    /// Bytes that lanes stored to local memory.
    pub local_store_bytes: u64,
    /// `bar` and `barrier`, counted once for a warp.
    pub barriers: u64,
    /// Those at which another warp came later. Which one is last depends on the order in which warps run, and with lanes of a
    /// warp that come apart so does the number.
    pub barrier_waits: u64,
}

/// Accesses to global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalTraffic {
    /// Warp instructions of which at least one lane accessed memory.
    pub requests: u64,
    /// Bytes that the lanes asked for, each lane counted.
    pub bytes: u64,
    /// 32-byte sectors, see [`GlobalCost::sectors`](super::GlobalCost::sectors).
    pub sectors: u64,
    /// See [`GlobalCost::ideal_sectors`](super::GlobalCost::ideal_sectors).
    pub ideal_sectors: u64,
    /// 128-byte lines.
    pub lines: u64,
}

/// Accesses to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedTraffic {
    /// Warp instructions of which at least one lane accessed memory.
    pub requests: u64,
    /// Bytes that the lanes asked for, each lane counted.
    pub bytes: u64,
    /// Passes over the banks, see [`SharedCost::wavefronts`](super::SharedCost::wavefronts).
    pub wavefronts: u64,
    /// Passes without bank conflicts.
    pub ideal_wavefronts: u64,
    /// The largest conflict degree of a request.
    pub max_degree: u32,
}

/// `part / whole`, unless there is nothing.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole != 0).then(|| part as f64 / whole as f64)
}

impl Activity {
    /// Lanes that were active in an instruction on average, 0 to 32. `None` if there was no instruction.
    #[must_use]
    pub fn average_active_lanes(&self) -> Option<f64> {
        ratio(self.thread_instructions, self.warp_instructions)
    }

    /// The part of all branches that diverged, 0 to 1. `None` if there was no branch.
    #[must_use]
    pub fn divergence(&self) -> Option<f64> {
        ratio(self.divergent_branches, self.branches)
    }

    /// All accesses to global memory.
    #[must_use]
    pub fn global(&self) -> GlobalTraffic {
        let mut sum = self.global_loads;
        sum.add(&self.global_stores);
        sum.add(&self.global_atomics);
        sum
    }

    /// All accesses to shared memory.
    #[must_use]
    pub fn shared(&self) -> SharedTraffic {
        let mut sum = self.shared_loads;
        sum.add(&self.shared_stores);
        sum.add(&self.shared_atomics);
        sum
    }

    /// Requests of `atom` and `red`.
    #[must_use]
    pub fn atomic_requests(&self) -> u64 {
        self.global_atomics.requests + self.shared_atomics.requests
    }

    pub(super) fn add(&mut self, other: &Activity) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.global_loads.add(&other.global_loads);
        self.global_stores.add(&other.global_stores);
        self.global_atomics.add(&other.global_atomics);
        self.shared_loads.add(&other.shared_loads);
        self.shared_stores.add(&other.shared_stores);
        self.shared_atomics.add(&other.shared_atomics);
        self.max_lanes_on_one_address =
            self.max_lanes_on_one_address.max(other.max_lanes_on_one_address);
        self.local_load_bytes += other.local_load_bytes;
        self.local_store_bytes += other.local_store_bytes;
        self.barriers += other.barriers;
        self.barrier_waits += other.barrier_waits;
    }
}

impl GlobalTraffic {
    /// The part of the moved sectors that was needed, 0 to 1; 1 is perfectly coalesced. `None` without an access.
    #[must_use]
    pub fn efficiency(&self) -> Option<f64> {
        ratio(self.ideal_sectors, self.sectors)
    }

    /// Sectors of a request on average, 1 to 32 for accesses of up to 16 bytes. `None` without an access.
    #[must_use]
    pub fn sectors_per_request(&self) -> Option<f64> {
        ratio(self.sectors, self.requests)
    }

    fn add(&mut self, other: &GlobalTraffic) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.ideal_sectors += other.ideal_sectors;
        self.lines += other.lines;
    }
}

impl SharedTraffic {
    /// Wavefronts for each one that would be needed without bank conflicts, 1 to 32; 1 is free of conflicts. `None` without an access.
    #[must_use]
    pub fn conflict_degree(&self) -> Option<f64> {
        ratio(self.wavefronts, self.ideal_wavefronts)
    }

    /// Wavefronts beyond those needed without conflicts.
    #[must_use]
    pub fn bank_conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
    }

    fn add(&mut self, other: &SharedTraffic) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.max_degree = self.max_degree.max(other.max_degree);
    }
}
