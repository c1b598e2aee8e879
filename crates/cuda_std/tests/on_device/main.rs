//! The device half, executed: crates of kernels (`device/kernels.rs` has the list) are compiled to PTX as a user's kernel crate is, and run on
//! the emulator or on a GPU (`device/mod.rs` says how to choose).

mod addresses;
mod assertions;
mod async_copies;
mod atomics;
mod attributes;
mod block;
mod cache;
mod clusters;
mod device;
mod disjoint;
mod extents;
mod faults;
mod formatting;
mod groups;
mod heap;
mod hints;
mod index;
mod items;
mod memory;
mod pairs;
mod panics;
mod printing;
mod rand;
mod rand_streams;
mod remainders;
mod rust_cuda;
mod sm90;
mod through_the_driver;
mod tiles;
mod values;
mod warp;
