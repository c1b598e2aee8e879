//! The `launch!` macro.

/// Launches a kernel: `launch!(kernel[grid, block](arguments…))`, as Numba's `kernel[grid, block](arguments…)`.
///
/// - `kernel` is the path of a `#[kernel]` function. If that is an `unsafe fn`, so is the launch.
/// - `[grid, block]`, `[grid, block, shared]` or `[grid, block, shared, &stream]`: blocks in the grid and threads in a
///   block, each an integer or a tuple of up to three (x, y, z), of any integer types; then dynamic shared memory in bytes;
///   then the [`Stream`](crate::Stream) to run on, without which it is the default stream.
/// - The arguments are checked by the compiler against the kernel's own parameters: `&array` for a slice, `&mut array` for
///   a `*mut T`, numbers and structs by value and of exactly the type. Host slices go in
///   [`In`](crate::In), [`Out`](crate::Out), [`InOut`](crate::InOut).
///
/// The value is a [`Result`](crate::Result)`<()>`. A launch is asynchronous: `Ok` says that it was started, and what goes
/// wrong in the kernel comes out of the next call that waits: [`Device::synchronize`](crate::Device::synchronize),
/// [`DeviceArray::to_host`](crate::DeviceArray::to_host) and so on. With host slices among the arguments the launch waits
/// itself.
///
/// Sizes that the device or the kernel cannot run are errors that name the limit.
///
/// # Blocks that work together
///
/// Behind a `;` the brackets say what the blocks do together, as [`Together`](crate::Together) does:
///
/// - `[grid, block; cooperative]`: all blocks are on the device at the same time, so that the kernel can have a barrier of the whole
///   grid (`cuda_std::cooperative_groups::this_grid`). [`Device::resident_blocks`](crate::Device::resident_blocks) says how many fit.
/// - `[grid, block; cluster = (2, 1)]`: clusters of up to 8 blocks, an integer or a tuple of up to three
///   (`cuda_std::cooperative_groups::this_cluster`). They need compute capability 9.0. A kernel that is made for clusters
///   (`#[kernel(cluster(2, 1))]`) needs no word here.
/// - `[grid, block, shared, &stream; cooperative, cluster = 2]`: all of it.
///
/// # Example
///
/// ```no_run
/// use cuda_host::{Device, launch};
/// use cuda_std::kernel;
///
/// /// x[i] = by * x[i]
/// ///
/// /// # Safety
/// /// `x` must have at least `n` elements.
/// #[kernel]
/// pub unsafe fn scale(x: *mut f32, by: f32, n: usize) { /* … */ }
///
/// # fn main() -> cuda_host::Result<()> {
/// let gpu = Device::open()?;
/// # let ptx = "";
/// gpu.load(ptx)?; // include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"))
/// let n = 1000;
/// let mut x = gpu.to_device(&vec![1.0_f32; n])?;
/// // SAFETY: `x` has `n` elements.
/// unsafe { launch!(scale[n.div_ceil(256), 256](&mut x, 2.0, n)) }?;
/// assert_eq!(x.to_host()?, vec![2.0; n]);
/// # Ok(())
/// # }
/// ```
///
/// A wrong argument is a compile error:
///
/// ```compile_fail
/// # use cuda_host::{Device, launch};
/// # use cuda_std::kernel;
/// # #[kernel]
/// # pub unsafe fn scale(x: *mut f32, by: f32, n: usize) { }
/// # let gpu = Device::open().unwrap();
/// let x = gpu.zeros::<f32>(10).unwrap();
/// unsafe { launch!(scale[1, 32](&x, 2.0, 10)) }.unwrap(); // the kernel writes: `&mut x`
/// ```
#[macro_export]
macro_rules! launch {
    ($kernel:path [ $grid:expr, $block:expr $(,)? ] ( $($argument:expr),* $(,)? )) => {
        $crate::submit(
            $kernel($($argument),*),
            $grid,
            $block,
            0_u32,
            ::core::option::Option::None,
        )
    };
    ($kernel:path [ $grid:expr, $block:expr, $shared:expr $(,)? ] ( $($argument:expr),* $(,)? )) => {
        $crate::submit(
            $kernel($($argument),*),
            $grid,
            $block,
            $shared,
            ::core::option::Option::None,
        )
    };
    (
        $kernel:path [ $grid:expr, $block:expr, $shared:expr, $stream:expr $(,)? ]
        ( $($argument:expr),* $(,)? )
    ) => {
        $crate::submit(
            $kernel($($argument),*),
            $grid,
            $block,
            $shared,
            ::core::option::Option::Some($stream),
        )
    };
    ($kernel:path [ $grid:expr, $block:expr $(,)? ; $($together:tt)+ ] ( $($argument:expr),* $(,)? )) => {
        $crate::submit_together(
            $kernel($($argument),*),
            $grid,
            $block,
            0_u32,
            ::core::option::Option::None,
            $crate::together!($($together)+),
        )
    };
    (
        $kernel:path [ $grid:expr, $block:expr, $shared:expr $(,)? ; $($together:tt)+ ]
        ( $($argument:expr),* $(,)? )
    ) => {
        $crate::submit_together(
            $kernel($($argument),*),
            $grid,
            $block,
            $shared,
            ::core::option::Option::None,
            $crate::together!($($together)+),
        )
    };
    (
        $kernel:path [ $grid:expr, $block:expr, $shared:expr, $stream:expr $(,)? ; $($together:tt)+ ]
        ( $($argument:expr),* $(,)? )
    ) => {
        $crate::submit_together(
            $kernel($($argument),*),
            $grid,
            $block,
            $shared,
            ::core::option::Option::Some($stream),
            $crate::together!($($together)+),
        )
    };
    ($kernel:path [ $($config:tt)* ] ( $($arguments:tt)* )) => {
        ::core::compile_error!(
            "`launch!` takes two to four values in brackets: `kernel[grid, block](…)`, \
             `kernel[grid, block, shared_bytes](…)` or `kernel[grid, block, shared_bytes, &stream](…)`"
        )
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "`launch!` takes a kernel, its grid and block in brackets, and its arguments in parentheses: \
             `launch!(kernel[grid, block](arguments…))`"
        )
    };
}

/// What stands behind the `;` in [`launch!`]'s brackets.
#[doc(hidden)]
#[macro_export]
macro_rules! together {
    (@ $together:expr ;) => { $together };
    (@ $together:expr ; cooperative $(, $($rest:tt)*)?) => {
        $crate::together!(@ $together.cooperative() ; $($($rest)*)?)
    };
    (@ $together:expr ; cluster = $blocks:expr $(, $($rest:tt)*)?) => {
        $crate::together!(@ $together.cluster($blocks) ; $($($rest)*)?)
    };
    (@ $together:expr ; $($other:tt)+) => {
        ::core::compile_error!(
            "behind the `;`, `launch!` takes `cooperative` and `cluster = (x, y, z)`: \
             `kernel[grid, block; cooperative](…)`, `kernel[grid, block; cluster = 2](…)`"
        )
    };
    ($($together:tt)+) => {
        $crate::together!(@ $crate::Together::new() ; $($together)+)
    };
}
