//! What the host needs to know of a kernel launch: the kernel's description, its packed parameters,
//! and what may be passed for each kind of parameter.
//!
//! On the host target `#[kernel] pub unsafe fn scale(x: *mut f32, by: f32, n: usize) { … }` becomes a function of
//! the same name, the same safety and the same number of parameters, which runs nothing: it packs its arguments the
//! way the device expects them and returns [`Arguments`]. `cuda_host::launch!` calls it, so that rustc itself checks
//! a launch against the kernel's signature, and reports mistakes at the kernel's own declaration.
//!
//! | the kernel's parameter | a launch passes | device parameters |
//! | --- | --- | --- |
//! | `&[T]` | [`SliceArg<T>`]: `&DeviceArray<T>`, a slice of one, `In(&host_slice)` | address, then length in elements (`u64`) |
//! | `DisjointSlice<T>` | [`SliceMutArg<T>`]: `&mut DeviceArray<T>`, a mutable slice of one, `Out`, `InOut` | address, then length in elements (`u64`) |
//! | `DisjointMatrix<T>` | [`MatrixMutArg<T>`]: `&mut DeviceMatrix<T>`, row-major | address, rows, columns (`u64`) |
//! | `&T` | [`ReferenceArg<T>`]: the same, with at least one element | address |
//! | `*const T` | [`PointerArg<T>`]: the same, or a raw device pointer | address |
//! | `*mut T` | [`PointerMutArg<T>`]: `&mut DeviceArray<T>`, a mutable slice of one, `Out`, `InOut`, a raw device pointer | address |
//! | anything else | exactly that type, by value | its bytes, with its size and alignment; none if it has no size |
//!
//! This module exists only on the host. It depends on no driver: `cuda_host` supplies the arrays and does the launch.

mod argument;
mod arguments;
mod kernel_info;

pub use argument::{MatrixMutArg, PointerArg, PointerMutArg, ReferenceArg, SliceArg, SliceMutArg};
pub use arguments::{ArgumentFault, Arguments, DeviceTag, HostArgument, HostData, Packed};
pub use kernel_info::{KernelInfo, ParamInfo};

pub use crate::panic_record::{PANIC_RECORD, PanicRecord};
