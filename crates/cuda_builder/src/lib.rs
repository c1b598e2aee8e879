//! Compiles a kernel crate to PTX with stock rustc and LLVM tools.
//!
//! A build script hands [`CudaBuilder`] the folder of a `no_std` library and gets PTX: no CUDA toolkit, no nightly compiler, no
//! compiler backend of its own. What it needs is a rustc from 1.95 on with its library's source, and LLVM's `opt`, `llc` and
//! `llvm-dis` of the same major version ([`Toolchain::discover`] says where they are looked for).
//!
//! The stages, one file each:
//!
//! 1. `toolchain.rs` finds compiler and tools;
//! 2. `compile.rs` runs a nested cargo that gives one module of LLVM bitcode, unoptimised;
//! 3. `address_space.rs` moves marked statics into shared, constant and global memory, and `kernel_limits.rs` tells LLVM the limits
//!    of kernels;
//! 4. `maths.rs` gives the `libm` crate's functions the GPU's instructions, and those of libdevice, which `libdevice.rs` finds;
//! 5. `optimise.rs` runs LLVM's optimiser over the whole program, with the attributes that `target_attributes.rs` gives
//!    its functions, what `panics.rs` makes of panics and their messages, and the atomics of `atomics.rs`;
//! 6. `symbols.rs` checks that every function is defined, and `libcalls.rs` defines the C functions that `core` calls;
//! 7. `codegen.rs` writes PTX, `selection.rs` explains where LLVM can't, `limits.rs` checks that its statics fit the GPU's memories, and
//!    `recursion.rs` warns of functions that call themselves; `ptxas.rs` has NVIDIA's assembler check it, where asked;
//! 8. `dependencies.rs` tells cargo what to watch, and `output.rs` puts the files in place, whole or not at all.
//!
//! `site.rs` prepares them, `stages.rs` runs them in order unless `cache.rs` has the result already, `results.rs` writes it, and
//! `archs.rs` goes from 2 to 8 for several architectures in one build. `builder.rs` has the options.

#![forbid(unsafe_code)]

mod address_space;
mod arch;
mod archs;
mod atomics;
mod build_script;
mod builder;
mod cache;
mod codegen;
mod command;
mod compile;
mod cuda_tools;
mod dependencies;
mod error;
mod ir;
mod kernel_limits;
mod libcalls;
mod libdevice;
mod limits;
mod llvm;
mod maths;
mod optimise;
mod output;
mod panics;
mod ptxas;
mod recursion;
mod remainder;
mod results;
mod selection;
mod site;
mod stages;
mod symbols;
mod target_attributes;
mod terminal;
pub mod toolchain;

pub use arch::NvvmArch;
pub use archs::PtxFiles;
pub use builder::{CudaBuilder, DebugInfo, EmitOption, Profile};
pub use cache::Cache;
pub use cuda_tools::find as find_cuda_tool;
pub use error::{
    AddressSpaceError, CudaBuilderError, NoClusters, OversizedStatic, TooMuchMemory,
    ToolchainError, UnknownArch, UnresolvedSymbol, UnsupportedOperation,
};
pub use libdevice::Libdevice;
pub use panics::PanicMessages;
pub use toolchain::{Toolchain, ToolchainReport};
