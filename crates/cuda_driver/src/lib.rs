//! The CUDA driver API: every `cu*` symbol that `cust` and other clients need, served by the NVIDIA
//! driver where there is one, else by an emulator that runs the same PTX on the CPU.
//!
//! A program that links this crate needs no CUDA toolkit and no driver to be built or started. Which of
//! the two serves it is decided at the first call by `CUDA_DRIVER_BACKEND` (`auto`, `gpu`, `emulator`);
//! `FERROWARP_EMULATOR_MEMORY` sets the emulated device's memory in bytes (4 GiB unless set),
//! `FERROWARP_EMULATOR_FUEL` how many warp instructions a launch may execute before it is ended,
//! `FERROWARP_EMULATOR_LAUNCH_MEMORY` the bytes of host memory that the registers, local and shared memory of the blocks that run at
//! the same time may take (2 GiB unless set; for each job),
//! `FERROWARP_JOBS` (1 unless set; a number or `auto`) how many threads run the blocks of a launch where their order cannot
//! show, and with `,any-order` behind it also where it can ([`ptx_emulator::Jobs`]),
//! `FERROWARP_CHECK` (`memcheck`, `racecheck`, `initcheck`, `synccheck` with commas between them, or `all`) which
//! checks the emulator makes; what they find is then written to the standard error, and changes nothing else.
//!
//! Besides the C functions there is a small Rust interface for callers in the same process: who serves the
//! calls ([`backend()`]), the full text behind a failed call ([`take_diagnostic`]), where kernels' output
//! goes ([`set_output`]), what is supported ([`support_table`]), what checks find ([`set_checks`],
//! [`take_findings`]) and what launches did ([`set_counters`], [`take_counters`]).
//!
//! # What the emulator does differently from a GPU
//!
//! - Work is done at once, before the call returns, in the order of the calls. Streams never run side by side,
//!   and a kernel that waits for the host waits for ever (its fuel ends it).
//! - Events measure the emulation's wall time.
//! - The register count of a kernel is an estimate; no launch is refused for registers.
//! - Kernels reach pinned and registered host memory through `cuMemHostGetDevicePointer`'s address only.
//! - Modules are PTX text. Machine code (cubin, fat binary) is refused with
//!   `CUDA_ERROR_NO_BINARY_FOR_GPU`.
//! - Of the limits, that of the stack counts: for each launch, the value that its context has then. Those of heap and printf buffer are
//!   kept and answered, but not enforced.
//!
//! Results of misuse and of faults are those that an H200 was seen to give.

mod backend;
mod diagnostic;
mod emulator;
mod error;
mod output;
mod result;
pub mod table;
pub mod types;

pub use backend::{Backend, NativeDriverInfo, backend, native_driver, use_emulator};
pub use diagnostic::{Diagnostic, Ending, set_diagnostic_hook, take_diagnostic};
pub use emulator::observe::{Profile, set_checks, set_counters, take_counters, take_findings};
pub use emulator::reset_emulator;
pub use output::set_output;
pub use ptx_emulator::{CheckSet, Finding, counters};
pub use result::CUresult;
pub use table::{Entry, Status, ensure_linked, support_table};
