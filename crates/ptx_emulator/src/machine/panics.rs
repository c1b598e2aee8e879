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
