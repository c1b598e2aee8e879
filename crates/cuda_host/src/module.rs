//! [`Module`]: loaded PTX, its kernels and its variables.

use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use cuda_std::launch::{KernelInfo, Packed};

use crate::device::{DeviceState, lock};
use crate::entry::{self, Entry};
use crate::error::{Problem, Result, check};
use crate::memory::{self, DeviceCopy};
use crate::sys::{self, CUdeviceptr, CUfunction, CUmodule};

/// Room for the driver's compiler to say what it does not like, bytes.
const LOG_BYTES: usize = 16 * 1024;

/// PTX on a device. The device keeps it loaded; this is a handle.
#[derive(Clone, Debug)]
pub struct Module {
    module: Arc<LoadedModule>,
    state: Arc<DeviceState>,
}

/// A module of one device; unloaded when the device closes.
#[derive(Debug)]
pub(crate) struct LoadedModule {
    raw: CUmodule,
    /// The text, to know it again.
    ptx: String,
    /// What the text declares; empty if this crate cannot read it though the driver can.
    entries: Vec<Entry>,
}

// SAFETY: a `CUmodule` is a handle that the driver accepts on every thread with its context current.
unsafe impl Send for LoadedModule {}
// SAFETY: as above; nothing else of it changes.
unsafe impl Sync for LoadedModule {}

/// A kernel ready to launch.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) raw: CUfunction,
    pub(crate) attributes: KernelAttributes,
    entry: Option<Entry>,
}

// SAFETY: a `CUfunction` is a handle that the driver accepts on every thread with its context current.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// What a compiled kernel needs, as the driver reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelAttributes {
    /// Most threads in a block, given the kernel's registers and the device.
    pub max_threads_per_block: u32,
    /// Shared memory that the kernel declares itself, bytes a block.
    pub shared_bytes: u32,
    /// Constant memory that the module declares, bytes.
    pub constant_bytes: u32,
    /// Local memory (spilled registers, arrays on the stack), bytes a thread.
    pub local_bytes: u32,
    /// 32-bit registers a thread. On the emulator an estimate: PTX has registers without limit.
    pub registers: u32,
    /// The PTX version it was compiled from, 10 × major + minor.
    pub ptx_version: u32,
    /// The architecture it was compiled for, 10 × major + minor.
    pub binary_version: u32,
    /// The blocks of the clusters that it is made for along x, y and z: `#[kernel(cluster(…))]`.
    pub cluster: Option<[u32; 3]>,
}

impl Module {
    pub(crate) fn load(state: &Arc<DeviceState>, ptx: &str) -> Result<Self> {
        state.bind()?;
        let mut modules = lock(&state.modules);
        if let Some(position) = modules.iter().position(|module| module.ptx == ptx) {
            // It counts as loaded last.
            let module = modules.remove(position);
            modules.push(Arc::clone(&module));
            lock(&state.functions).clear();
            return Ok(Self { module, state: Arc::clone(state) });
        }
        let image = CString::new(ptx).map_err(|error| Problem::NulInText {
            what: "the PTX",
            offset: error.nul_position(),
        })?;
        let raw = load(state, &image)?;
        state.watch_panics(raw);
        let module = LoadedModule { raw, ptx: ptx.into(), entries: entry::entries(ptx) };
        let module = Arc::new(module);
        modules.push(Arc::clone(&module));
        lock(&state.functions).clear();
        Ok(Self { module, state: Arc::clone(state) })
    }

    /// The kernels' names in the order of the PTX.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.module.names()
    }

    /// Address and size in bytes of a variable: a `static` in global or constant memory.
    ///
    /// # Errors
    /// If the module has no variable of that name.
    pub fn variable(&self, name: &str) -> Result<(u64, usize)> {
        let unknown = || Problem::UnknownVariable { name: name.into() };
        let c_name = CString::new(name).map_err(|_| unknown())?;
        self.state.bind()?;
        let (mut address, mut bytes): (CUdeviceptr, usize) = (0, 0);
        // SAFETY: the module is loaded, the name ends in NUL, the results outlive the call.
        let code = unsafe {
            sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.module.raw, c_name.as_ptr())
        };
        if code == NOT_FOUND {
            return Err(unknown().into());
        }
        self.state.after(code, || format!("find variable `{name}`"))?;
        Ok((address, bytes))
    }

    /// Writes a variable: `values` must fill it exactly. Launches that were started before see the old values.
    ///
    /// # Errors
    /// If the module has no variable of that name, its size differs, or a kernel has failed.
    pub fn write_variable<T: DeviceCopy>(&self, name: &str, values: &[T]) -> Result<()> {
        let (address, bytes) = self.sized_variable(name, size_of_val(values))?;
        debug_assert_eq!(bytes, size_of_val(values));
        memory::copy_in(&self.state, address, bytemuck::cast_slice(values))
    }

    /// Reads a variable: `values` must have its size exactly.
    ///
    /// # Errors
    /// If the module has no variable of that name, its size differs, or a kernel has failed.
    pub fn read_variable<T: DeviceCopy>(&self, name: &str, values: &mut [T]) -> Result<()> {
        let (address, _) = self.sized_variable(name, size_of_val(values))?;
        memory::copy_out(&self.state, address, bytemuck::cast_slice_mut(values))
    }

    fn sized_variable(&self, name: &str, host: usize) -> Result<(u64, usize)> {
        let (address, bytes) = self.variable(name)?;
        if bytes != host {
            return Err(Problem::VariableSize { name: name.into(), device: bytes, host }.into());
        }
        Ok((address, bytes))
    }
}

const NOT_FOUND: sys::Code = 500;

fn load(state: &DeviceState, image: &CString) -> Result<CUmodule> {
    let mut log = vec![0_u8; LOG_BYTES];
    let mut options = [sys::JIT_ERROR_LOG_BUFFER, sys::JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // Sizes are passed as numbers in the place of pointers (cuModuleLoadDataEx).
    let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
    let mut module = ptr::null_mut();
    // SAFETY: the image ends in NUL; the log has the size that is stated; two options have two values; all of them
    // outlive the call.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    check(code).map_err(|failure| {
        if failure.is_from_kernel() {
            return state.kernel_failed(failure);
        }
        let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
        // The emulator's diagnostic says the same and more.
        let log = if failure.diagnostic.is_some() { &[] } else { &log[..end] };
        Problem::LoadModule { log: String::from_utf8_lossy(log).into_owned(), failure }.into()
    })?;
    Ok(module)
}

impl LoadedModule {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }
}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        // The device makes its context current before it drops its modules. An error has no one left to hear it.
        // SAFETY: loaded by `load`, unloaded here only.
        let _ = check(unsafe { sys::cuModuleUnload(self.raw) });
    }
}

impl DeviceState {
    /// The kernel of this name in the module that was loaded last.
    pub(crate) fn function(&self, name: &str) -> Result<Arc<Function>> {
        if let Some(function) = lock(&self.functions).get(name) {
            return Ok(Arc::clone(function));
        }
        self.bind()?;
        let modules = lock(&self.modules);
        for module in modules.iter().rev() {
            if let Some(function) = self.find(module, name)? {
                let function = Arc::new(function);
                lock(&self.functions).insert(name.into(), Arc::clone(&function));
                return Ok(function);
            }
        }
        let known = modules.iter().flat_map(|module| module.names()).map(String::from).collect();
        Err(Problem::UnknownKernel { name: name.into(), modules: modules.len(), known }.into())
    }

    fn find(&self, module: &LoadedModule, name: &str) -> Result<Option<Function>> {
        let Ok(c_name) = CString::new(name) else {
            return Ok(None);
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in NUL, `raw` outlives the call.
        let code = unsafe { sys::cuModuleGetFunction(&mut raw, module.raw, c_name.as_ptr()) };
        if code == NOT_FOUND {
            return Ok(None);
        }
        self.after(code, || format!("find kernel `{name}`"))?;
        let entry = module.entries.iter().find(|entry| entry.name == name).cloned();
        Ok(Some(Function { raw, attributes: self.query(raw)?, entry }))
    }

    /// `CUfunction_attribute` 0 to 6, and 11 to 13 (CUDA Driver API).
    fn query(&self, function: CUfunction) -> Result<KernelAttributes> {
        let attribute = |number: c_int| -> Result<u32> {
            let mut value = 0;
            // SAFETY: the function's module is loaded; `value` outlives the call.
            let code = unsafe { sys::cuFuncGetAttribute(&mut value, number, function) };
            self.after(code, || "read what a kernel needs".into())?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        // Drivers before CUDA 11.8 do not know them.
        let cluster = [11, 12, 13].map(|number| attribute(number).unwrap_or(0));
        Ok(KernelAttributes {
            max_threads_per_block: attribute(0)?,
            shared_bytes: attribute(1)?,
            constant_bytes: attribute(2)?,
            local_bytes: attribute(3)?,
            registers: attribute(4)?,
            ptx_version: attribute(5)?,
            binary_version: attribute(6)?,
            cluster: (cluster[0] != 0).then_some(cluster.map(|axis| axis.max(1))),
        })
    }
}

impl Function {
    /// That the packed parameters are the entry's: PTX from another build of the kernels would read past them.
    pub(crate) fn check_parameters(&self, kernel: &KernelInfo, packed: &[Packed]) -> Result<()> {
        let Some(entry) = &self.entry else {
            return Ok(());
        };
        match entry.difference(packed) {
            None => Ok(()),
            Some(difference) => Err(Problem::Signature {
                kernel: kernel.name,
                signature: kernel.to_string(),
                difference,
            }
            .into()),
        }
    }
}
