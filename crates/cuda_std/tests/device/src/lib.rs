//! Kernels that the test `on_device` runs.
#![no_std]

mod atomic_floats;
mod atomics;
mod atomics_by_name;
mod addresses;
mod assertions;
mod attributes;
mod block;
mod cache;
mod disjoint;
mod extents;
mod groups;
mod hello;
mod heap;
mod hints;
mod index;
mod items;
mod memory;
mod panics;
mod rand;
mod rand_streams;
mod remainders;
mod rust_cuda;
mod tiles;
mod values;
mod warp;
