//! The stack limit of a thread: which launches it counts for, what counts against it, and what is said when it is reached.
//!
//! A call takes the callee's `.local` variables, aligned, and the return address of the caller, unless that is the kernel, which has
//! none. A GPU's frames also hold registers that are saved over calls and those that spill, which nobody knows before ptxas has run: they
//! are not counted. Four frames of 256 bytes in a stack of 1024 are seen to fail on an H200, three to work.

use std::fmt::Write;

use super::MachineConfig;
use super::launch::Engine;
use super::warp::{Frame, Warp};
use crate::fault::{Fault, FaultKind};
use crate::program::{Function, KernelInfo};

/// Bytes of a code address.
const RETURN_ADDRESS: u32 = 8;
/// Most different functions whose bytes a message tells.
const FUNCTIONS_SHOWN: usize = 8;

/// Bytes of stack that a thread of the kernel may take.
pub(super) fn limit(kernel: &KernelInfo, config: &MachineConfig) -> u32 {
    if kernel.stack_is_unknown { config.stack_limit } else { u32::MAX }
}

/// Bytes on the stack when the function of the frame `above` calls `function`.
pub(super) fn bytes_with(above: &Frame, function: &Function) -> u32 {
    let address = if above.depth == 0 { 0 } else { RETURN_ADDRESS };
    let start = above.stack_bytes.saturating_add(address);
    let start = start.checked_next_multiple_of(function.depot_align.max(1)).unwrap_or(u32::MAX);
    start.saturating_add(function.depot_bytes)
}

impl Engine<'_> {
    /// Says which limit a call would go beyond, and what to do.
    pub(super) fn explain_stack(
        &self,
        fault: Box<Fault>,
        warp: &Warp,
        frame: u32,
        callee: u32,
    ) -> Box<Fault> {
        let (Some(above), Some(function)) =
            (warp.frames.get(frame as usize), self.program.functions.get(callee as usize))
        else {
            return fault;
        };
        let depth = above.depth + 1;
        if *fault.kind() == FaultKind::CallDepth {
            let most = self.config.call_depth;
            return fault.with_note(format!(
                "{depth} calls would be active; the emulator follows {most}, a GPU as many as its stack holds"
            ));
        }
        let bytes = bytes_with(above, function);
        if *fault.kind() != FaultKind::StackOverflow || bytes <= self.stack_limit {
            return fault.with_note(format!(
                "with {depth} calls active; a thread has at most {} bytes of local memory",
                self.config.local_bytes
            ));
        }
        let calls = if depth == 1 { "call".to_owned() } else { format!("{depth} calls") };
        let frames = self.frames(warp, frame, function);
        fault
            .with_note(format!(
                "with the {calls} a thread needs at least {bytes} bytes of stack, the limit is {}: {frames}",
                self.stack_limit
            ))
            .with_note(
                "the limit counts because these calls can come back to a function that is active, so nobody knows before the launch \
                 how much stack the kernel needs"
                    .to_owned(),
            )
            .with_help(
                "set a larger stack limit before the launch (CU_LIMIT_STACK_SIZE); or take less: a loop instead of recursion, println! \
                 instead of println_full! or format!",
            )
    }

    /// What the local variables of each active function take, the outermost first.
    fn frames(&self, warp: &Warp, frame: u32, callee: &Function) -> String {
        let mut active = vec![callee];
        let mut next = warp.frames.get(frame as usize);
        while let Some(frame) = next {
            active.extend(self.program.functions.get(frame.function as usize));
            next = warp.frames.get(frame.parent as usize);
        }
        let mut counted: Vec<(&Function, usize)> = Vec::new();
        for function in active.into_iter().rev().filter(|function| function.depot_bytes > 0) {
            match counted.iter_mut().find(|(found, _)| found.start == function.start) {
                Some((_, times)) => *times += 1,
                None => counted.push((function, 1)),
            }
        }
        let mut text = String::new();
        for (function, times) in counted.iter().take(FUNCTIONS_SHOWN) {
            let (name, bytes) = (ptx::demangle(&function.name), function.depot_bytes);
            let _ = match times {
                1 => write!(text, "{bytes} in `{name}`, "),
                _ => write!(text, "{times} times {bytes} in `{name}`, "),
            };
        }
        if counted.len() > FUNCTIONS_SHOWN {
            let _ = write!(text, "those of {} more functions, ", counted.len() - FUNCTIONS_SHOWN);
        }
        text + "and return addresses"
    }
}
