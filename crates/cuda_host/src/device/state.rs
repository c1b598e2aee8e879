//! What every handle to one device shares: its context, its modules, and which device is current.
//!
//! The driver's calls act on the context that is current on the calling thread, so every call of this crate makes its
//! own context current first (the driver does nothing if it already is). That is what makes all handles `Send` and
//! `Sync`, and what lets several devices be used side by side. Arrays, streams and events hold this state, so that the
//! context outlives them whatever the order in which they are dropped.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cuda_std::launch::DeviceTag;
use cust::context::Context;

use super::Attributes;
use crate::driver;
use crate::error::{Error, Failure, Problem, Result, check};
use crate::module::{Function, LoadedModule};
use crate::panic::PanicMemory;
use crate::sys;

/// One open device.
pub(crate) struct DeviceState {
    pub(crate) ordinal: usize,
    pub(crate) device: cust::device::Device,
    pub(crate) attributes: Attributes,
    /// In the order they were loaded.
    pub(crate) modules: Mutex<Vec<Arc<LoadedModule>>>,
    /// Kernels by name, filled by launches; emptied when a module is loaded.
    pub(crate) functions: Mutex<HashMap<String, Arc<Function>>>,
    /// Kernels launched since the last synchronisation, each once: the suspects when one fails.
    launched: Mutex<Vec<&'static str>>,
    /// Where kernels leave their panics; there from the first module on.
    panics: Mutex<Option<PanicMemory>>,
    context: Context,
}

/// The open devices by ordinal: opening one again gives another handle to the same state.
static OPEN: Mutex<Vec<(usize, Weak<DeviceState>)>> = Mutex::new(Vec::new());

thread_local! {
    /// The device that launches without device arguments run on.
    static CURRENT: RefCell<Weak<DeviceState>> = const { RefCell::new(Weak::new()) };
}

/// A panic while a lock was held left no half-made value here: every critical section is one insertion or look-up.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the driver, once or again.
pub(crate) fn initialise() -> Result<()> {
    driver::ensure_linked();
    // SAFETY: takes no pointer.
    check(unsafe { sys::cuInit(0) }).map_err(|failure| Problem::NoDevice { failure })?;
    Ok(())
}

/// How many devices there are.
pub(crate) fn device_count() -> Result<usize> {
    let mut count = 0;
    // SAFETY: `count` outlives the call.
    check(unsafe { sys::cuDeviceGetCount(&mut count) })
        .map_err(|failure| Error::driver("count the devices", failure))?;
    match usize::try_from(count) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(Problem::NoDevice { failure: Failure { code: 100, diagnostic: None } }.into()),
    }
}

/// The newest CUDA version that the driver supports, major and minor.
pub(crate) fn driver_version() -> Result<(u32, u32)> {
    initialise()?;
    let mut version = 0;
    // SAFETY: `version` outlives the call.
    check(unsafe { sys::cuDriverGetVersion(&mut version) })
        .map_err(|failure| Error::driver("read the driver's version", failure))?;
    // 1000 x major + 10 x minor (cuDriverGetVersion).
    let version = version.unsigned_abs();
    Ok((version / 1000, version % 1000 / 10))
}

impl DeviceState {
    /// The state of device `ordinal`, whose context becomes current on this thread.
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Self>> {
        initialise()?;
        let count = device_count()?;
        if ordinal >= count {
            return Err(Problem::DeviceCount { asked: ordinal, count }.into());
        }
        let mut open = lock(&OPEN);
        open.retain(|(_, state)| state.strong_count() > 0);
        let known = open.iter().find(|(known, _)| *known == ordinal);
        let state = match known.and_then(|(_, state)| state.upgrade()) {
            Some(state) => state,
            None => {
                let state = Arc::new(Self::create(ordinal)?);
                open.retain(|(known, _)| *known != ordinal);
                open.push((ordinal, Arc::downgrade(&state)));
                state
            }
        };
        drop(open);
        state.select()?;
        Ok(state)
    }

    fn create(ordinal: usize) -> Result<Self> {
        let trouble =
            |error| Error::driver(format!("open device {ordinal}"), Failure::of_cust(error));
        let device = cust::device::Device::get_device(ordinal as u32).map_err(trouble)?;
        let context = Context::new(device).map_err(trouble)?;
        Ok(Self {
            ordinal,
            device,
            attributes: Attributes::query(device.as_raw())?,
            modules: Mutex::default(),
            functions: Mutex::default(),
            launched: Mutex::default(),
            panics: Mutex::default(),
            context,
        })
    }

    /// The device for a launch that does not say: the one this thread opened or selected last, else the only one open.
    pub(crate) fn current() -> Result<Arc<Self>> {
        if let Some(state) = CURRENT.with_borrow(Weak::upgrade) {
            return Ok(state);
        }
        let open = lock(&OPEN).iter().filter_map(|(_, state)| state.upgrade()).collect::<Vec<_>>();
        match <[_; 1]>::try_from(open) {
            Ok([only]) => Ok(only),
            Err(_) => Err(Problem::NotOpen.into()),
        }
    }

    /// The open device with this tag.
    pub(crate) fn with_tag(tag: DeviceTag) -> Option<Arc<Self>> {
        lock(&OPEN).iter().filter_map(|(_, state)| state.upgrade()).find(|state| state.tag() == tag)
    }

    /// What marks this device's addresses in packed arguments.
    pub(crate) fn tag(&self) -> DeviceTag {
        DeviceTag(self.ordinal)
    }

    /// Makes this the current device of the thread.
    pub(crate) fn select(self: &Arc<Self>) -> Result<()> {
        self.bind()?;
        CURRENT.set(Arc::downgrade(self));
        Ok(())
    }

    /// Makes the context current for the driver calls that follow on this thread.
    pub(crate) fn bind(&self) -> Result<()> {
        // SAFETY: the context is retained for as long as `self` lives.
        let code = unsafe { sys::cuCtxSetCurrent(self.context.as_raw()) };
        self.after(code, || "use the device's context".into())
    }

    /// The context, for `cust`.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Has the kernels of a module that was just loaded leave their panics where the host can read them. The context is current.
    pub(crate) fn watch_panics(&self, module: sys::CUmodule) {
        let mut panics = lock(&self.panics);
        if panics.is_none() {
            *panics = PanicMemory::allocate();
        }
        if let Some(memory) = &*panics {
            memory.install(module);
        }
    }

    /// Notes a launch.
    pub(crate) fn note_launch(&self, kernel: &'static str) {
        let mut launched = lock(&self.launched);
        if !launched.contains(&kernel) {
            launched.push(kernel);
        }
    }

    /// Forgets the launches: everything they did is done.
    pub(crate) fn note_synchronised(&self) {
        lock(&self.launched).clear();
    }

    /// Waits for everything that was started on the device.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.bind()?;
        // SAFETY: takes no pointer.
        self.after(unsafe { sys::cuCtxSynchronize() }, || "wait for the device".into())?;
        self.note_synchronised();
        Ok(())
    }

    /// Waits for everything that was started on the default stream.
    pub(crate) fn synchronize_default(&self) -> Result<()> {
        self.bind()?;
        // SAFETY: null is the default stream.
        let code = unsafe { sys::cuStreamSynchronize(ptr::null_mut()) };
        self.after(code, || "wait for the launch".into())
    }

    /// The error of a call that failed with `code`: a kernel's fault if it is one, since any call may report the fault
    /// of an earlier launch; otherwise what the call was for.
    pub(crate) fn after(&self, code: sys::Code, what: impl FnOnce() -> String) -> Result<()> {
        let Err(failure) = check(code) else {
            return Ok(());
        };
        Err(if failure.is_from_kernel() {
            self.kernel_failed(failure)
        } else {
            Error::driver(what(), failure)
        })
    }

    /// The error of a kernel's fault.
    pub(crate) fn kernel_failed(&self, failure: Failure) -> Error {
        let panic = lock(&self.panics).as_ref().and_then(PanicMemory::read);
        Problem::Kernel { kernels: lock(&self.launched).clone(), failure, panic }.into()
    }

    /// Bytes of stack for each thread of kernels whose need is not known.
    pub(crate) fn stack_limit(&self) -> Result<usize> {
        self.bind()?;
        let mut bytes = 0;
        // SAFETY: `bytes` outlives the call.
        let code = unsafe { sys::cuCtxGetLimit(&mut bytes, sys::LIMIT_STACK_SIZE) };
        self.after(code, || "read the stack limit".into())?;
        Ok(bytes)
    }

    /// Sets what [`stack_limit`](Self::stack_limit) gives.
    pub(crate) fn set_stack_limit(&self, bytes: usize) -> Result<()> {
        self.bind()?;
        // SAFETY: takes no pointer.
        let code = unsafe { sys::cuCtxSetLimit(sys::LIMIT_STACK_SIZE, bytes) };
        let Err(failure) = check(code) else {
            return Ok(());
        };
        if failure.is_from_kernel() {
            return Err(self.kernel_failed(failure));
        }
        let attributes = &self.attributes;
        let threads = u64::from(attributes.multiprocessors)
            * u64::from(attributes.max_threads_per_multiprocessor);
        Err(Problem::StackLimit { bytes, threads, failure }.into())
    }

    /// Free and total memory, bytes.
    pub(crate) fn memory_info(&self) -> Result<(usize, usize)> {
        self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both outlive the call.
        let code = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) };
        self.after(code, || "read the amount of free memory".into())?;
        Ok((free, total))
    }
}

impl Drop for DeviceState {
    fn drop(&mut self) {
        // Unloading a module needs its context to be current; `context` itself is released after this.
        if self.bind().is_ok() {
            self.functions.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
            self.modules.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
            *self.panics.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

impl std::fmt::Debug for DeviceState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceState").field("ordinal", &self.ordinal).finish_non_exhaustive()
    }
}
