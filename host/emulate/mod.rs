//! Running any PTX on the emulator: arguments from the command line, the launch, and what comes back.
//!
//! No driver and no handles are involved: a [`Job`] compiles the module, puts the arguments into a machine's memory,
//! launches once and reads the output arrays back.

mod argument;
pub mod defaults;
mod error;
mod job;
mod shape;

pub use argument::Argument;
pub use error::{ArgumentError, ArgumentReason};
pub use job::{Finished, Job, OutputArray, Ran};
pub use shape::Shape;
