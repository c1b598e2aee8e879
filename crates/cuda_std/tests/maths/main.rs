//! The mathematical functions, executed on the emulator: with libdevice where this machine has it, and without.

mod accuracy;
mod algebra;
mod device;
mod domains;
mod instructions;
mod integers;
mod pairs;
mod report;
mod special;
mod ulp;
