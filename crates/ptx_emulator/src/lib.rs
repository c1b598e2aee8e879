//! A SIMT machine that executes validated PTX on the CPU.
//!
//! [`Program::compile`] parses, validates and decodes a module once. A [`Machine`] is one device: it has
//! [`Memory`], loads programs and launches kernels. A launch that does not end well gives a
//! [`Fault`], whose text names kernel, block, lanes, address, allocation, PTX line and source line.
//!
//! Warps of 32 lanes execute together, one operation for all active lanes at a time (functions over rows of 32
//! values). Lanes that take different ways are split and meet again where their ways do; lanes
//! that wait for each other inside one warp make progress, as on Volta and later. Blocks are
//! resumable, so that blocks that wait for each other make progress too. The order is fixed, or chosen
//! by a seed. [`Jobs`] lets blocks run on several threads of the host, where the order cannot show.
//!
//! A program that `compile` accepts never makes the machine panic.
#![deny(unsafe_code)]

mod async_op;
mod budget;
mod checks;
pub mod counters;
mod decode;
mod diagnostic;
mod error;
mod events;
mod fault;
mod machine;
mod matrix_op;
mod memory;
mod op;
pub mod patterns;
mod program;
mod registers;
mod row;
pub mod semantics;
pub mod support;

pub use checks::{
    Check, CheckSet, Finding, FindingAddress, FindingKind, Party, Severity, UnknownCheck,
};
pub use error::{CompileError, CompileErrorKind, LaunchProblem, MemoryError};
pub use fault::{AccessInfo, Ending, Fault, FaultKind, StackEntry};
pub use machine::{
    Coordination, Jobs, Launch, LaunchReport, Machine, MachineConfig, ModuleId, Output, UnknownJobs,
};
pub use memory::{Leak, Memory};
pub use program::{KernelInfo, MAX_LOCAL_BYTES, ParamInfo, Program, SourceLine, SourcePosition};
