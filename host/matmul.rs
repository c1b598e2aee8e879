//! The matrix product on the device: the two kernels, and the two ways for a host program to use them.
//!
//! Matrices are row-major throughout. A launch covers C with square blocks; x counts columns, y rows. The grid's
//! y axis allows only 65535 blocks (CUDA C++ Programming Guide, "Compute Capabilities"), so a C with more rows than those
//! cover is computed in several launches, a panel of rows each.

use cuda_host::{Device, DeviceArray, DeviceSlice, DeviceSliceMut, In, Out, launch};
use cust::memory::LockedBuffer;

use crate::error::{Error, MAX_BLOCK_THREADS};
use crate::matrix::Matrix;
use crate::timing::timed;

/// The largest side of a square block: `32 * 32` is [`MAX_BLOCK_THREADS`].
pub const MAX_BLOCK: u32 = MAX_BLOCK_THREADS.isqrt();

/// Which kernel computes the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// `mat_mul_naive_kernel`: every operand comes from global memory.
    Naive,
    /// `mat_mul_shared_kernel`: tiles of A and B are staged in shared memory. There is a version for each of the blocks 8, 16 and
    /// 32, which the compiler could unroll, and one with dynamic shared memory for any other block.
    Shared,
}

/// Sizes of a product: A is `m` x `k`, B is `k` x `n`, C is `m` x `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
}

impl Shape {
    /// The sizes of `a * b`.
    ///
    /// # Panics
    ///
    /// Panics when the columns of `a` are not the rows of `b`.
    #[must_use]
    pub fn of(a: &Matrix, b: &Matrix) -> Self {
        assert_eq!(a.columns(), b.rows(), "the inner dimensions must agree");
        Self { m: a.rows(), k: a.columns(), n: b.columns() }
    }

    /// Floating-point operations of the product, a multiply-add counting as two.
    #[must_use]
    pub fn operations(self) -> f64 {
        2.0 * self.m as f64 * self.k as f64 * self.n as f64
    }
}

/// Checks that blocks of `block` x `block` threads are possible.
///
/// # Errors
///
/// [`Error::ZeroDimension`] and [`Error::TooManyThreads`].
pub fn check_block(block: u32) -> Result<(), Error> {
    if block == 0 {
        return Err(Error::ZeroDimension { option: "block", unit: "thread" });
    }
    if block > MAX_BLOCK {
        let threads = format!("{block} x {block} = {}", u64::from(block) * u64::from(block));
        return Err(Error::TooManyThreads { block, threads, help: "give --block 32 or less" });
    }
    Ok(())
}

/// Where one launch reads and writes.
struct Operands<A, B, C> {
    a: A,
    b: B,
    c: C,
}

/// Launches `kernel` with `block` x `block` threads for every element of a C of this shape.
macro_rules! launch_kernel {
    ($kernel:expr, $block:expr, $shape:expr, $operands:expr) => {{
        let (Shape { m, k, n }, block, Operands { a, b, c }) = ($shape, $block, $operands);
        let side = block as usize;
        let (grid, threads) = ((n.div_ceil(side), m.div_ceil(side)), (block, block));
        // SAFETY: `a`, `b` and `c` hold m * k, k * n and m * n elements and don't overlap, which the borrow checker
        // sees to; the grid covers C; the versions for one block size get that block, and the general one its shared memory.
        unsafe {
            match ($kernel, block) {
                (Kernel::Naive, _) => launch!(kernels::mat_mul_naive_kernel[grid, threads](a, b, c, m, k, n)),
                (Kernel::Shared, 8) => launch!(kernels::mat_mul_shared_kernel_8[grid, threads](a, b, c, m, k, n)),
                (Kernel::Shared, 16) => launch!(kernels::mat_mul_shared_kernel_16[grid, threads](a, b, c, m, k, n)),
                (Kernel::Shared, 32) => launch!(kernels::mat_mul_shared_kernel_32[grid, threads](a, b, c, m, k, n)),
                (Kernel::Shared, _) => {
                    let tiles = 2 * side * side * size_of::<f32>();
                    launch!(kernels::mat_mul_shared_kernel[grid, threads, tiles](a, b, c, m, k, n))
                }
            }
        }
    }};
}

/// Ranges of rows of C that one launch each can cover.
fn panels(gpu: &Device, block: u32, shape: Shape) -> impl Iterator<Item = std::ops::Range<usize>> {
    let rows = gpu.attributes().max_grid[1] as usize * block as usize;
    let rows = rows.max(1);
    // Without columns there is no element to compute, and a grid can't be empty.
    let m = if shape.n == 0 { 0 } else { shape.m };
    (0..m).step_by(rows).map(move |start| start..m.min(start + rows))
}

/// Launches `kernel` for the whole of C, without waiting for it.
///
/// # Errors
///
/// Whatever the device reports.
///
/// # Panics
///
/// Panics when `a`, `b` and `c` have not the lengths that `shape` says.
pub fn launch_product(
    gpu: &Device,
    kernel: Kernel,
    block: u32,
    shape: Shape,
    a: DeviceSlice<'_, f32>,
    b: DeviceSlice<'_, f32>,
    mut c: DeviceSliceMut<'_, f32>,
) -> Result<(), Error> {
    let Shape { m, k, n } = shape;
    assert_eq!(
        (a.len(), b.len(), c.len()),
        (m * k, k * n, m * n),
        "the lengths must fit the shape"
    );
    for rows in panels(gpu, block, shape) {
        let panel = Shape { m: rows.len(), ..shape };
        let a = a.slice(rows.start * k..rows.end * k)?;
        let c = c.slice_mut(rows.start * n..rows.end * n)?;
        launch_kernel!(kernel, block, panel, Operands { a, b, c })?;
    }
    Ok(())
}

/// A and B on the device, to time the kernels alone.
#[derive(Debug)]
pub struct DeviceProduct {
    gpu: Device,
    shape: Shape,
    block: u32,
    a: DeviceArray<f32>,
    b: DeviceArray<f32>,
    c: DeviceArray<f32>,
    poison: DeviceArray<f32>,
}

impl DeviceProduct {
    /// Copies A and B to the device.
    ///
    /// # Errors
    ///
    /// Whatever the device reports.
    ///
    /// # Panics
    ///
    /// Panics when the columns of `a` are not the rows of `b`.
    pub fn new(gpu: &Device, a: &Matrix, b: &Matrix, block: u32) -> Result<Self, Error> {
        let shape = Shape::of(a, b);
        let poison = gpu.to_device(Matrix::filled(shape.m, shape.n, f32::NAN)?.as_slice())?;
        Ok(Self {
            gpu: gpu.clone(),
            shape,
            block,
            a: gpu.to_device(a.as_slice())?,
            b: gpu.to_device(b.as_slice())?,
            c: gpu.uninit(shape.m * shape.n)?,
            poison,
        })
    }

    /// Fills C with NaN, so that an element the kernel leaves out is seen; runs the kernel; returns the milliseconds it
    /// took on the device, by events.
    ///
    /// # Errors
    ///
    /// Whatever the device reports.
    pub fn run(&mut self, kernel: Kernel) -> Result<f64, Error> {
        self.c.copy_from_device(self.poison.as_slice())?;
        self.gpu.synchronize()?;
        let start = self.gpu.record_event()?;
        let (a, b) = (self.a.as_slice(), self.b.as_slice());
        launch_product(&self.gpu, kernel, self.block, self.shape, a, b, self.c.as_mut_slice())?;
        let end = self.gpu.record_event()?;
        Ok(f64::from(start.elapsed_ms(&end)?))
    }

    /// C as the last run left it.
    ///
    /// # Errors
    ///
    /// Whatever the device reports, and [`Error::Allocation`].
    pub fn result(&self) -> Result<Matrix, Error> {
        let mut c = Matrix::filled(self.shape.m, self.shape.n, f32::NAN)?;
        self.c.copy_to_host(c.as_mut_slice())?;
        Ok(c)
    }
}

/// `c = a * b` the simple way: the launch gets host memory, so it allocates device memory, copies A and B there, runs the
/// naive kernel, copies C back, and frees everything. This is what Numba does with NumPy arrays.
///
/// # Errors
///
/// Whatever the device reports, and [`Error::Allocation`].
///
/// # Panics
///
/// Panics when the columns of `a` are not the rows of `b`.
pub fn host_naive(gpu: &Device, a: &Matrix, b: &Matrix, block: u32) -> Result<Matrix, Error> {
    let shape = Shape::of(a, b);
    let mut c = Matrix::filled(shape.m, shape.n, f32::NAN)?;
    for rows in panels(gpu, block, shape) {
        let panel = Shape { m: rows.len(), ..shape };
        let operands = Operands {
            a: In(&a.as_slice()[rows.start * shape.k..rows.end * shape.k]),
            b: In(b.as_slice()),
            c: Out(&mut c.as_mut_slice()[rows.start * shape.n..rows.end * shape.n]),
        };
        launch_kernel!(Kernel::Naive, block, panel, operands)?;
    }
    Ok(c)
}

/// `c = a * b` the fast way, for many products of one shape: device memory is allocated once, the host's matrices lie in
/// page-locked memory, which the device copies from and to at the full speed of the bus, and the shared-memory kernel
/// computes.
pub struct HostOptimized {
    gpu: Device,
    shape: Shape,
    block: u32,
    host_a: LockedBuffer<f32>,
    host_b: LockedBuffer<f32>,
    host_c: LockedBuffer<f32>,
    a: DeviceArray<f32>,
    b: DeviceArray<f32>,
    c: DeviceArray<f32>,
}

impl HostOptimized {
    /// Allocates everything and puts A and B into page-locked memory.
    ///
    /// # Errors
    ///
    /// Whatever the device reports, and [`Error::PageLocked`].
    ///
    /// # Panics
    ///
    /// Panics when the columns of `a` are not the rows of `b`.
    pub fn new(gpu: &Device, a: &Matrix, b: &Matrix, block: u32) -> Result<Self, Error> {
        let shape = Shape::of(a, b);
        gpu.make_current()?;
        let locked = |values: &[f32]| {
            LockedBuffer::from_slice(values).map_err(|source| Error::PageLocked {
                bytes: size_of_val(values),
                reason: source.to_string(),
            })
        };
        Ok(Self {
            gpu: gpu.clone(),
            shape,
            block,
            host_a: locked(a.as_slice())?,
            host_b: locked(b.as_slice())?,
            host_c: locked(Matrix::filled(shape.m, shape.n, f32::NAN)?.as_slice())?,
            a: gpu.uninit(shape.m * shape.k)?,
            b: gpu.uninit(shape.k * shape.n)?,
            c: gpu.uninit(shape.m * shape.n)?,
        })
    }

    /// Copies A and B to the device, computes, and copies C back; returns the milliseconds that took on the host's clock.
    ///
    /// # Errors
    ///
    /// Whatever the device reports.
    pub fn run(&mut self) -> Result<f64, Error> {
        self.host_c.fill(f32::NAN);
        let (result, ms) = timed(|| {
            self.a.copy_from_host(&self.host_a)?;
            self.b.copy_from_host(&self.host_b)?;
            let (a, b) = (self.a.as_slice(), self.b.as_slice());
            launch_product(
                &self.gpu,
                Kernel::Shared,
                self.block,
                self.shape,
                a,
                b,
                self.c.as_mut_slice(),
            )?;
            // Waits for the kernel.
            self.c.copy_to_host(&mut self.host_c).map_err(Error::from)
        });
        result.map(|()| ms)
    }

    /// C as the last run left it.
    ///
    /// # Errors
    ///
    /// [`Error::Allocation`].
    pub fn result(&self) -> Result<Matrix, Error> {
        let mut c = Matrix::filled(self.shape.m, self.shape.n, 0.0)?;
        c.as_mut_slice().copy_from_slice(&self.host_c);
        Ok(c)
    }
}
