//! Panics of kernels made with `cuda_std`, of which one thread of a launch speaks for all.
//!
//! A thread that panics calls `panic_begin`. There the first lane of its warp exchanges a variable of the module, and goes on to
//! `__assertfail` if it is the launch's first; the others exit. Which is the first depends on the order of blocks, and this machine runs
//! blocks at the same time where their results can't show it. A report ends the launch, and of several the first in the order of
//! blocks counts; so here every warp's exchange finds that nobody has reported. And the report names all lanes that panicked, not only
//! the one that speaks.

use super::atomics::put;
use super::launch::Engine;
use super::warp::{Frame, Warp};
use crate::op::AtomicOp;
use crate::program::Program;
use crate::row::lanes;

/// The function, and the variable that it exchanges. `cuda_builder` names them.
const FUNCTION: &str = "panic_begin";
const VARIABLE: &str = "panic_REPORTED";

/// The number of the function, if the program has both.
pub(crate) fn panic_begin(program: &Program) -> Option<u32> {
    let mut variables = program.variables.iter();
    let mut functions = program.functions.iter().zip(0..);
    let (_, number) = functions.find(|(function, _)| function.name == FUNCTION)?;
    variables.any(|variable| variable.name == VARIABLE).then_some(number)
}

impl Engine<'_> {
    /// The exchange: nobody has reported.
    pub(super) fn elect(&self, warp: &mut Warp, frame: &Frame, op: &AtomicOp, mask: u32) {
        for (row, lane) in op.d.iter().flat_map(|row| lanes(mask).map(move |lane| (*row, lane))) {
            put(warp, frame, op, row, lane, 0);
        }
    }

    /// The lanes that came to `panic_begin` together with the one that reports in `frame`, or in a function that this was called from.
    pub(super) fn panicked(&self, warp: &Warp, frame: u32) -> u32 {
        let Some(begin) = self.program.panic_begin else { return 0 };
        let parent = |frame: u32| warp.frames.get(frame as usize).map(|frame| frame.parent);
        // Some have exited, others are about to.
        let exiting = warp.splits.iter().filter_map(|split| {
            let frame = warp.frames.get(split.frame as usize)?;
            (frame.function == begin).then_some((frame.parent, split.mask))
        });
        let others: Vec<(u32, u32)> = warp.panicked.iter().copied().chain(exiting).collect();
        std::iter::successors(Some(frame), |frame| parent(*frame))
            .take(warp.frames.len())
            .flat_map(|frame| others.iter().filter(move |(from, _)| *from == frame))
            .fold(0, |lanes, (_, mask)| lanes | mask)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{FaultKind, Jobs, Launch, Machine, MachineConfig};

    /// Threads from the second of each block on panic as `cuda_std`'s do; the two names can be others.
    fn program(function: &str, variable: &str) -> Program {
        let text = format!(
            ".version 8.6 .target sm_90 .address_size 64
             .extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 p, .param .b64 s);
             .global .align 1 .b8 text[3] = {{104, 105, 0}};
             .global .align 8 .b64 {variable};
             .func {function}() {{
                 .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %d<4>;
                 activemask.b32 %r1;
                 mov.u32 %r2, %lanemask_lt;
                 and.b32 %r3, %r1, %r2;
                 setp.ne.b32 %p1, %r3, 0;
                 @%p1 bra $others;
                 mov.u64 %d1, {variable};
                 atom.relaxed.sys.global.exch.b64 %d2, [%d1], 1;
                 setp.eq.b64 %p2, %d2, 1;
                 @%p2 bra $others;
                 ret;
                 $others: exit;
             }}
             .func fails() {{
                 .reg .b64 %d<2>;
                 call {function}, ();
                 mov.u64 %d1, text;
                 cvta.global.u64 %d1, %d1;
                 {{
                     .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 p; .param .b64 s;
                     st.param.b64 [m], %d1; st.param.b64 [f], %d1; st.param.b32 [l], 7; st.param.b64 [p], %d1; st.param.b64 [s], 1;
                     call __assertfail, (m, f, l, p, s);
                 }}
                 ret;
             }}
             .visible .entry k() {{
                 .reg .pred %p; .reg .b32 %r;
                 mov.u32 %r, %tid.x;
                 setp.eq.u32 %p, %r, 0;
                 @%p bra $end;
                 call fails, ();
                 $end: ret;
             }}"
        );
        Program::compile(&text).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Which block and lanes report, launch after launch of the same machine.
    fn reports(program: Program, jobs: u32, launches: usize) -> Vec<Option<([u32; 3], u32)>> {
        let config = MachineConfig { jobs: Jobs::new(jobs), ..MachineConfig::default() };
        let mut machine = Machine::new(config);
        let module = machine.load(Arc::new(program)).expect("there is memory");
        let launch = Launch {
            kernel: "k",
            grid: [64, 1, 1],
            block: [8, 1, 1],
            dynamic_shared_bytes: 0,
            params: &[],
        };
        (0..launches)
            .map(|_| {
                let fault = machine.launch(module, &launch, &mut Vec::new()).err()?;
                assert!(matches!(fault.kind(), FaultKind::Assert { line: 7, .. }), "{fault}");
                Some((fault.block().expect("a block"), fault.lanes()))
            })
            .collect()
    }

    #[test]
    fn the_first_block_reports_with_all_lanes_every_time() {
        for jobs in [1, 4] {
            let found = reports(program(FUNCTION, VARIABLE), jobs, 20);
            assert_eq!(found, [Some(([0; 3], 0xFE)); 20]);
        }
    }

    #[test]
    fn functions_and_variables_of_one_name_alone_are_as_written() {
        for (function, variable) in [(FUNCTION, "reported"), ("begins", VARIABLE)] {
            // The second launch finds the variable as the first left it.
            assert_eq!(reports(program(function, variable), 1, 2), [Some(([0; 3], 2)), None]);
        }
    }
}
