//! [`Device`]: a GPU or the emulator, open for launches.

mod attributes;
mod state;

use std::fmt;
use std::sync::Arc;

use cust::context::ContextHandle;

pub use attributes::Attributes;
pub(crate) use state::{DeviceState, lock};

use crate::driver::{self, Backend};
use crate::error::{Error, Failure, Result};
use crate::event::Event;
use crate::launch::{self, LaunchSize, SharedBytes};
use crate::memory::{DeviceArray, DeviceCopy, DeviceMatrix, Layout, ToDevice};
use crate::module::{KernelAttributes, Module};
use crate::ptx_set::PtxSet;
use crate::stream::Stream;

/// A GPU, or the emulator, open for launches.
///
/// A handle: cloning it, or opening the same device again, gives another handle to the same context, modules and
/// memory. Every handle and everything made with it may move to and be used from any thread; what was made on a device
/// keeps it open, in whatever order things are dropped.
///
/// # Example
///
/// ```no_run
/// # fn main() -> cuda_host::Result<()> {
/// use cuda_host::Device;
///
/// let gpu = Device::open()?;
/// println!("{} ({})", gpu.name()?, gpu.backend());
/// let x = gpu.to_device(&[1.0_f32, 2.0, 3.0])?;
/// assert_eq!(x.to_host()?, [1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) state: Arc<DeviceState>,
}

/// Free and total memory of a device, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that can still be allocated, though perhaps not in one piece.
    pub free: usize,
    /// Bytes in all.
    pub total: usize,
}

impl Device {
    /// Opens the first device and makes it the current one of this thread.
    ///
    /// A GPU if there is one, else the emulator; the environment variable `CUDA_DRIVER_BACKEND=gpu` or `=emulator` decides
    /// otherwise, and [`Device::backend`] says which it is.
    ///
    /// # Errors
    /// If there is no device (with `CUDA_DRIVER_BACKEND=gpu` on a machine without one), or the driver fails.
    pub fn open() -> Result<Self> {
        Self::open_nth(0)
    }

    /// Opens device `ordinal`, counted from 0, and makes it the current one of this thread.
    ///
    /// # Errors
    /// If there is no such device, or the driver fails.
    pub fn open_nth(ordinal: usize) -> Result<Self> {
        Ok(Self { state: DeviceState::open(ordinal)? })
    }

    /// Opens every device; the first is then the current one of this thread.
    ///
    /// # Errors
    /// If there is no device, or the driver fails.
    pub fn all() -> Result<Vec<Self>> {
        let devices = (0..Self::count()?).map(Self::open_nth).collect::<Result<Vec<_>>>()?;
        if let Some(first) = devices.first() {
            first.make_current()?;
        }
        Ok(devices)
    }

    /// How many devices there are, at least 1.
    ///
    /// # Errors
    /// If there is none, or the driver fails.
    pub fn count() -> Result<usize> {
        state::initialise()?;
        state::device_count()
    }

    /// The newest CUDA version that the driver supports, major and minor: (13, 0).
    ///
    /// # Errors
    /// If there is no driver.
    pub fn driver_version() -> Result<(u32, u32)> {
        state::driver_version()
    }

    /// Makes this the device of launches on this thread that have no argument and no stream to say which device they
    /// run on.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn make_current(&self) -> Result<()> {
        self.state.select()
    }

    /// The device's number.
    pub fn ordinal(&self) -> usize {
        self.state.ordinal
    }

    /// The device's name: `NVIDIA H200`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn name(&self) -> Result<String> {
        self.state.device.name().map_err(|error| {
            let failure = Failure::of_cust(error);
            Error::driver("read the device's name", failure)
        })
    }

    /// Whether launches run on a GPU or on the emulator.
    pub fn backend(&self) -> Backend {
        driver::backend()
    }

    /// Compute capability, major and minor: (9, 0).
    pub fn compute_capability(&self) -> (u32, u32) {
        self.state.attributes.compute_capability
    }

    /// Properties and limits.
    pub fn attributes(&self) -> &Attributes {
        &self.state.attributes
    }

    /// The device's memory, bytes.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn total_memory(&self) -> Result<usize> {
        Ok(self.memory_info()?.total)
    }

    /// Free and total memory, bytes.
    ///
    /// # Errors
    /// If the driver fails, or a kernel has failed.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        let (free, total) = self.state.memory_info()?;
        Ok(MemoryInfo { free, total })
    }

    /// Loads a module: the PTX text that `cuda_builder` made of a kernel crate. Its kernels can be launched from then on,
    /// for as long as the device is open; loading the same text again gives the same module.
    ///
    /// If two modules have a kernel of the same name, a launch takes the one loaded last.
    ///
    /// # Errors
    /// If the driver refuses the PTX: the message has the compiler's own words.
    pub fn load(&self, ptx: &str) -> Result<Module> {
        Module::load(&self.state, ptx)
    }

    /// Loads what fits this device best of PTX that was compiled for several architectures; see [`PtxSet::best`] for
    /// which that is, and [`Device::load`] for the rest.
    ///
    /// The emulator counts as a device of the compute capability that [`Device::compute_capability`] says.
    ///
    /// # Errors
    /// If none of the set runs on this device, or the driver refuses the PTX.
    pub fn load_best(&self, set: &PtxSet<'_>) -> Result<Module> {
        let (_, ptx) = set.best(self.compute_capability())?;
        self.load(ptx)
    }

    /// What the compiled kernel needs: registers, shared and local memory, most threads in a block.
    ///
    /// # Errors
    /// If no loaded module has a kernel of that name (the message lists those there are).
    pub fn kernel_attributes(&self, kernel: &str) -> Result<KernelAttributes> {
        Ok(self.state.function(kernel)?.attributes)
    }

    /// How many blocks of a kernel the device holds at the same time, with so many threads and so much dynamic shared memory each: the
    /// most that a cooperative launch may have.
    ///
    /// ```no_run
    /// # fn main() -> cuda_host::Result<()> {
    /// # use cuda_host::{Device, DeviceArray, launch};
    /// # use cuda_std::kernel;
    /// # #[kernel] pub unsafe fn smooth(x: *mut f32, y: *mut f32, n: usize) {}
    /// # fn run(gpu: &Device, mut x: DeviceArray<f32>, mut y: DeviceArray<f32>, n: usize) -> cuda_host::Result<()> {
    /// let blocks = gpu.resident_blocks("smooth", 256, 0)?.min(n.div_ceil(256) as u64);
    /// unsafe { launch!(smooth[blocks, 256; cooperative](&mut x, &mut y, n)) }?;
    /// # Ok(()) }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If no loaded module has a kernel of that name, or it can have no such block.
    pub fn resident_blocks(
        &self,
        kernel: &str,
        block: impl LaunchSize,
        shared: impl SharedBytes,
    ) -> Result<u64> {
        launch::resident_blocks(&self.state, kernel, block, shared)
    }

    /// Copies host data to the device: a slice, `Vec` or array becomes a [`DeviceArray`]; a `nalgebra` matrix becomes a
    /// [`DeviceMatrix`] in **row-major** order, which is what kernels here take (`nalgebra`'s own order is column-major).
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn to_device<S: ToDevice>(&self, source: S) -> Result<S::Output> {
        source.to_device(self)
    }

    /// An array of `len` elements, all bytes 0.
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn zeros<T: DeviceCopy>(&self, len: usize) -> Result<DeviceArray<T>> {
        DeviceArray::zeros(self, len)
    }

    /// An array of `len` elements whose contents are whatever was in that memory, cheaper than [`Device::zeros`].
    ///
    /// Reading it before a kernel or a copy has written it gives arbitrary values (every bit pattern is a valid `T`, so
    /// it is no undefined behaviour on the host); the emulator fills it with the byte `0xCB` to make such a mistake show.
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn uninit<T: DeviceCopy>(&self, len: usize) -> Result<DeviceArray<T>> {
        DeviceArray::uninit(self, len)
    }

    /// A row-major matrix of `rows` x `columns` zeros.
    ///
    /// # Errors
    /// If there is not enough memory, or the driver fails.
    pub fn zeros_matrix<T: DeviceCopy>(
        &self,
        rows: usize,
        columns: usize,
    ) -> Result<DeviceMatrix<T>> {
        DeviceMatrix::zeros(self, rows, columns, Layout::RowMajor)
    }

    /// Bytes of stack that a thread has in kernels that [`set_stack_limit`](Device::set_stack_limit) concerns: 1024 unless set.
    ///
    /// # Errors
    /// If the driver fails, or a kernel has failed.
    pub fn stack_limit(&self) -> Result<usize> {
        self.state.stack_limit()
    }

    /// Gives each thread at least `bytes` bytes of stack in the launches to come, through every handle to this device; the driver may
    /// round the number up.
    ///
    /// The driver knows how much stack most kernels need, and gives it. It cannot know where a function may be called again while it is
    /// active: in recursion, and through pointers to functions, as in `core::fmt`, which `println_full!` and `format!` use. A kernel with
    /// such calls has what this limit says, and fails with an illegal address (700) when it needs more. The memory is taken for as many
    /// threads as the device can run at once: 16 KiB are some 4 GiB on a large GPU. [`Device::stack_limit`] has what is set.
    ///
    /// ```no_run
    /// # fn main() -> cuda_host::Result<()> {
    /// let gpu = cuda_host::Device::open()?;
    /// gpu.set_stack_limit(16 << 10)?; // for kernels with println_full!
    /// assert_eq!(gpu.stack_limit()?, 16_384);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If a thread cannot have so much (512 KiB), the device has too little memory for it, or a kernel has failed.
    pub fn set_stack_limit(&self, bytes: usize) -> Result<()> {
        self.state.set_stack_limit(bytes)
    }

    /// Waits until everything that was started on the device is done, on all streams.
    ///
    /// # Errors
    /// If a kernel failed since the last synchronisation: the message says which and why.
    pub fn synchronize(&self) -> Result<()> {
        self.state.synchronize()
    }

    /// A new stream.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(self)
    }

    /// A new event, not yet recorded.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn event(&self) -> Result<Event> {
        Event::new(self)
    }

    /// A new event, recorded on the default stream: it happens once everything started there so far is done.
    ///
    /// # Errors
    /// If the driver fails, or a kernel has failed.
    pub fn record_event(&self) -> Result<Event> {
        let event = Event::new(self)?;
        event.record()?;
        Ok(event)
    }

    /// The context, to use `cust` beside this crate: its primary context, as `cust::context::Context::new` would give.
    pub fn cust_context(&self) -> &impl ContextHandle {
        self.state.context()
    }
}

impl fmt::Display for Device {
    /// `device 0: NVIDIA H200 (gpu)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name().unwrap_or_else(|_| "unknown device".into());
        write!(f, "device {}: {name} ({})", self.ordinal(), self.backend())
    }
}

impl PartialEq for Device {
    /// Whether both are handles to the same open device.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }
}

impl Eq for Device {}
