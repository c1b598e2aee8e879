//! Attribute and function-like macros for kernels. Use them through `cuda_std`, which re-exports them.

mod address_space;
mod assertion_text;
mod attribute;
mod externally_visible;
mod gpu_only;
mod kernel;
mod print;
mod unroll;
mod written;

use proc_macro::TokenStream;

/// Makes a function a kernel: an entry that the host launches over a grid of threads.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// `c = a + b`, one thread an element.
/// ///
/// /// # Safety
/// /// `c` has as many elements as `a` and `b`.
/// #[kernel]
/// pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32) {
///     let i = thread::index_1d() as usize;
///     if i < a.len() {
///         unsafe { *c.add(i) = a[i] + b[i] };
///     }
/// }
/// ```
///
/// On the device the function becomes an entry named after it; other device code cannot call it. On the host it becomes
/// a typed description that `launch!` takes.
///
/// # Parameters
///
/// | written | passed to the entry |
/// | --- | --- |
/// | `&[T]` | two parameters: address, then element count, 64 bits each |
/// | `DisjointSlice<T>` | as `&[T]`; each thread writes the elements that are its own |
/// | `DisjointMatrix<T>` | three parameters: address, rows, columns, 64 bits each |
/// | `&T` | an address |
/// | `*const T`, `*mut T` | an address |
/// | any other `T: Copy` | its bytes, by value, aligned to at most 16 bytes; nothing at all if its size is zero |
///
/// # Options
///
/// | written | meaning | PTX |
/// | --- | --- | --- |
/// | `#[kernel(launch_bounds(256))]` | blocks have at most 256 threads; larger launches fail | `.maxntid` |
/// | `#[kernel(launch_bounds(256, 4))]` | and a multiprocessor is to hold at least 4 blocks at a time | `.minnctapersm` |
/// | `#[kernel(cluster(2, 2, 1))]` | blocks come in clusters of 2 x 2 x 1, at most 8 (sm_90) | `.reqnctapercluster` |
/// | `#[kernel(max_registers(64))]` | a thread has at most 64 registers | `.maxnreg` |
///
/// The compiler divides the registers accordingly: CUDA's `__launch_bounds__` and `__maxnreg__`. Numbers are written out.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// # Safety
/// /// `x` has an element for each thread.
/// #[kernel(launch_bounds(128, 8))]
/// pub unsafe fn negate(x: *mut f32) {
///     unsafe { *x.add(thread::index_1d() as usize) *= -1.0 };
/// }
/// ```
///
/// # Restrictions
///
/// `&mut` is refused, since all threads would hold the same exclusive reference: write `DisjointSlice<T>` or `*mut T`. A kernel that has a raw
/// pointer among its parameters is an `unsafe fn`. Kernels return nothing and are not generic, except over lifetimes.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(options.into(), item.into()).into()
}

/// Puts a `static` into one of the device's memories: `shared`, `constant` or `global`.
///
/// On the host the `static` is an ordinary one.
///
/// | | lives | initial value | who writes |
/// | --- | --- | --- | --- |
/// | `shared` | one copy for each block | none: `MaybeUninit::uninit()` | the block's threads |
/// | `constant` | one copy for each loaded module, at most 64 KiB in all | as written | nobody; the host, if `static mut` |
/// | `global` | one copy for each loaded module | as written | any thread; the host |
///
/// A `static mut` in `constant` or `global` memory keeps its name in the module, so that the host finds it there.
///
/// ```
/// use core::mem::MaybeUninit;
/// use cuda_std::address_space;
///
/// #[address_space(shared)]
/// static mut TILE: MaybeUninit<[[f32; 16]; 16]> = MaybeUninit::uninit();
///
/// #[address_space(constant)]
/// static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
///
/// fn tile() -> *mut [[f32; 16]; 16] {
///     (&raw mut TILE).cast()
/// }
/// # assert!(!tile().is_null() && WEIGHTS.len() == 3);
/// ```
#[proc_macro_attribute]
pub fn address_space(options: TokenStream, item: TokenStream) -> TokenStream {
    address_space::expand(options.into(), item.into()).into()
}

/// Keeps a `static` or function in the module under its own name, so that the host can look it up.
///
/// The same as `#[unsafe(no_mangle)]` in device code, and nothing on the host.
#[proc_macro_attribute]
pub fn externally_visible(options: TokenStream, item: TokenStream) -> TokenStream {
    externally_visible::expand(&options.into(), item.into()).into()
}

/// Makes a function one for the device alone: on the host it compiles, and panics with its name when called.
///
/// ```
/// use cuda_std::gpu_only;
///
/// #[gpu_only]
/// fn lane() -> u32 {
///     cuda_std::warp::lane_id()
/// }
/// ```
#[proc_macro_attribute]
pub fn gpu_only(options: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::expand(&options.into(), item.into()).into()
}

/// Prints from a kernel, as `std`'s `print!` does on the host. See `cuda_std::io` for what it takes.
#[proc_macro]
pub fn print(input: TokenStream) -> TokenStream {
    print::expand(input.into(), "").into()
}

/// [`print!`] with a line's end behind it.
#[proc_macro]
pub fn println(input: TokenStream) -> TokenStream {
    print::expand(input.into(), "\n").into()
}

/// The message of `assert_eq!` and `assert_ne!` in device code: the comparison as written, as a format string without values.
#[doc(hidden)]
#[proc_macro]
pub fn __assertion_text(input: TokenStream) -> TokenStream {
    assertion_text::expand(input.into()).into()
}

/// Writes a loop out, round by round: CUDA's `#pragma unroll`, where the number of rounds is written as numbers.
///
/// In each round the variable is a constant, and each is compiled by itself: LLVM cannot choose to keep the loop, and an array that is
/// indexed by the variable can stay in registers.
///
/// ```
/// use cuda_std::unroll;
///
/// let x = [1.0_f32, 2.0, 3.0, 4.0];
/// let mut sum = 0.0;
/// unroll! {
///     for i in 0..4 {
///         sum += x[i] * x[3 - i];
///     }
/// }
/// assert_eq!(sum, 20.0);
/// ```
///
/// The range has both its ends written out (`0..8`, `1..=4`), of at most 1024 rounds: macros cannot compute. There is no `break` or
/// `continue` of the loop, since none is left. Loops whose length is a constant that LLVM knows, a `const` generic for one, it unrolls by
/// itself as far as it finds it good.
#[proc_macro]
pub fn unroll(input: TokenStream) -> TokenStream {
    unroll::expand(input.into()).into()
}
