//! Launch kernels from the host: typed launches, arrays and transfers, over `cust` and the CUDA driver API.
//!
//! The way of working is Numba's: open a device, put data there, launch `kernel[grid, block](arguments…)`, synchronise,
//! copy back. The compiler checks a launch's arguments against the kernel's own signature.
//!
//! # Example
//!
//! ```no_run
//! use cuda_host::{Device, launch};
//! use cuda_std::kernel;
//!
//! /// c[i] = a[i] + b[i]
//! ///
//! /// # Safety
//! /// `c` must have as many elements as `a`.
//! #[kernel]
//! pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32) { /* … */ }
//!
//! # fn main() -> cuda_host::Result<()> {
//! let gpu = Device::open()?; // the GPU, or the emulator
//! println!("{gpu}");
//! # let ptx = "";
//! gpu.load(ptx)?; // include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"))
//! let n = 1000;
//! let a = gpu.to_device(&vec![1.0_f32; n])?;
//! let b = gpu.to_device(&vec![2.0_f32; n])?;
//! let mut c = gpu.zeros::<f32>(n)?;
//! // SAFETY: `c` has as many elements as `a`.
//! unsafe { launch!(add[n.div_ceil(256), 256](&a, &b, &mut c)) }?;
//! gpu.synchronize()?; // what goes wrong in the kernel comes out here
//! assert_eq!(c.to_host()?, vec![3.0; n]);
//! # Ok(())
//! # }
//! ```
//!
//! # Where it runs
//! On the NVIDIA driver if there is one, else on the emulator, which executes the same PTX; the environment variable
//! `CUDA_DRIVER_BACKEND` (`auto`, `gpu`, `emulator`) decides, and [`Device::backend`] says.
//!
//! # Order of events
//! Launches are asynchronous. Copies and [`Device::synchronize`] wait for every launch before them, on every stream.
//!
//! # When things go wrong
//! Everything returns [`Result`]; nothing panics. [`Error::kind`] has the class, [`Error::exit_code`] a program's exit code,
//! `Display` the full text, [`Error::panic`] what a kernel's panic said. After a kernel's fault the device answers every call of the process with the same error, and
//! opening it again does not help: so it is on a GPU, and so it is on the emulator (where a test that provokes faults can
//! drop its handles and call `cuda_driver::reset_emulator`).

mod device;
mod driver;
mod entry;
mod error;
mod event;
mod launch;
mod memory;
mod module;
mod panic;
mod ptx_set;
mod stream;
mod sys;

pub use bytemuck;
pub use cuda_driver;
pub use cuda_std;
pub use cust;

pub use device::{Attributes, Device, MemoryInfo};
pub use driver::Backend;
pub use error::{Ending, Error, ErrorKind, Result};
pub use event::Event;
pub use launch::{LaunchSize, SharedBytes, Together, submit, submit_together};
pub use memory::{
    DeviceArray, DeviceCopy, DeviceMatrix, DeviceSlice, DeviceSliceMut, In, InOut, Layout, Out,
    ToDevice,
};
pub use module::{KernelAttributes, Module};
pub use panic::Panic;
pub use ptx_set::PtxSet;
pub use stream::Stream;

/// The pages of `docs/` whose examples are compiled with this crate's.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/numba.md")]
    struct Numba;
    #[doc = include_str!("../../../docs/from-rust-cuda.md")]
    struct RustCuda;
    #[doc = include_str!("../../../docs/from-cuda-cpp.md")]
    struct CudaCpp;
}
