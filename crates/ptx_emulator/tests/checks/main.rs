//! racecheck, initcheck, synccheck, memcheck: for each detection a planted bug, and beside it a near miss that is clean.

#[path = "../common/mod.rs"]
mod common;
mod support;

mod asynchronous;
mod clusters;
mod halves;
mod init;
mod memory;
mod race_blocks;
mod race_shared;
mod samples;
mod sync;
mod texts;
