//! Several jobs, each of which runs blocks of the same launch on a thread of its own.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

use super::Output;
use super::device::Device;
use super::launch::{Done, Setup, earlier};
use crate::memory::Memory;

/// Where the output of jobs would go: kernels that print run as one job.
struct Nowhere;

impl Output for Nowhere {
    fn print(&mut self, _: &[u8]) {}
}

/// Runs the blocks of a launch on `jobs` threads, of which the caller's is one.
pub(super) fn run(setup: &Setup<'_>, memory: &Memory, jobs: u64) -> Done {
    thread::scope(|scope| {
        let job = || run_job(setup, memory);
        // Where the host gives no more threads, those that there are do it all.
        let others: Vec<_> = (1..jobs)
            .map_while(|number| {
                let builder = Builder::new().name(format!("ptx job {number}"));
                builder.spawn_scoped(scope, job).ok()
            })
            .collect();
        let mut done = job();
        let mut panic = None;
        for other in others {
            match other.join() {
                Ok(other) => done.add(other),
                Err(payload) => panic = Some(payload),
            }
        }
        // As if it had happened on this thread, once all of them have ended.
        match panic {
            Some(payload) => resume_unwind(payload),
            None => done,
        }
    })
}

fn run_job(setup: &Setup<'_>, memory: &Memory) -> Done {
    let (mut output, mut heap_used) = (Nowhere, 0);
    let mut engine = setup.engine(Device::Shared(memory), &mut output, &mut heap_used);
    let result = engine.run_grid();
    engine.done(result)
}

impl Done {
    /// Adds what another job did.
    fn add(&mut self, other: Done) {
        if let Some(failure) = other.failure {
            self.failure = earlier(self.failure.take(), failure);
        }
        self.report.warp_instructions += other.report.warp_instructions;
        self.report.thread_instructions += other.report.thread_instructions;
        self.report.divergent_branches += other.report.divergent_branches;
        if let (Some(sums), Some(others)) = (&mut self.sums, &other.sums) {
            sums.merge(others);
        }
    }
}
