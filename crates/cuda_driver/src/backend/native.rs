//! The NVIDIA driver, opened at run time.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

use super::{Attempts, NativeDriverInfo, search};
use crate::error::ApiError;
use crate::result::CUresult;

/// A symbol that only this project's own `libcuda.so` has: whoever finds it must not forward to that library.
const MARKER: &[u8] = b"ferrowarp_cuda_driver_marker\0";

/// An initialised NVIDIA driver with at least one device.
pub(crate) struct NativeDriver {
    path: PathBuf,
    /// Never closed: the driver has threads of its own, and its addresses are handed out.
    library: ManuallyDrop<Library>,
    version: i32,
    devices: i32,
}

/// Where the address of one of the driver's functions is kept once it is known.
pub(crate) struct Slot {
    name: &'static str,
    address: AtomicPtr<c_void>,
}

impl Slot {
    /// A slot for the function of this name, which ends in NUL.
    pub(crate) const fn new(name: &'static str) -> Slot {
        Slot { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }
}

impl NativeDriver {
    /// The first library on the search path that initialises and has a device; else what was tried.
    pub(super) fn open_any() -> Result<NativeDriver, Attempts> {
        let mut attempts = Attempts::default();
        for path in search::candidates() {
            if !path.exists() {
                attempts.add(&path, "no such file");
                continue;
            }
            match NativeDriver::open(&path) {
                Ok(driver) => return Ok(driver),
                Err(why) => attempts.add(&path, why),
            }
        }
        Err(attempts)
    }

    fn open(path: &Path) -> Result<NativeDriver, String> {
        // SAFETY: loading runs the library's initialisers; a file of this name on the loader's search
        // path is what every CUDA program loads.
        let library =
            unsafe { Library::new(path) }.map_err(|error| format!("cannot be loaded: {error}"))?;
        // SAFETY: the symbol is only looked for, never used.
        if unsafe { library.get::<*mut c_void>(MARKER) }.is_ok() {
            return Err("is this emulator, not NVIDIA's driver".to_owned());
        }
        let library = ManuallyDrop::new(library);
        let mut driver = NativeDriver { path: path.to_path_buf(), library, version: 0, devices: 0 };
        driver.initialise()?;
        Ok(driver)
    }

    fn initialise(&mut self) -> Result<(), String> {
        type Init = unsafe extern "C" fn(c_uint) -> CUresult;
        type Query = unsafe extern "C" fn(*mut c_int) -> CUresult;
        let init = self.symbol(b"cuInit\0")?;
        let count = self.symbol(b"cuDeviceGetCount\0")?;
        let version = self.symbol(b"cuDriverGetVersion\0")?;
        // SAFETY: these are the signatures in cuda.h.
        let (init, count, version) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Init>(init),
                std::mem::transmute::<*mut c_void, Query>(count),
                std::mem::transmute::<*mut c_void, Query>(version),
            )
        };
        // SAFETY: cuInit takes no pointer.
        let result = unsafe { init(0) };
        if !result.is_success() {
            return Err(format!("cuInit returned {result}"));
        }
        // SAFETY: the pointer is to a live int.
        let result = unsafe { count(&mut self.devices) };
        if !result.is_success() {
            return Err(format!("cuDeviceGetCount returned {result}"));
        }
        if self.devices < 1 {
            return Err("has no device".to_owned());
        }
        // SAFETY: the pointer is to a live int; a failure leaves 0, which says nothing.
        let _ = unsafe { version(&mut self.version) };
        Ok(())
    }

    fn symbol(&self, name: &[u8]) -> Result<*mut c_void, String> {
        // SAFETY: only the address is taken; each user states the signature.
        match unsafe { self.library.get::<*mut c_void>(name) } {
            Ok(symbol) => {
                // SAFETY: the library is never closed while the driver serves calls.
                unsafe { symbol.try_as_raw_ptr() }.ok_or_else(|| "has an empty symbol".to_owned())
            }
            Err(_) => {
                let name = String::from_utf8_lossy(name);
                Err(format!("has no {}", name.trim_end_matches('\0')))
            }
        }
    }

    /// The address of the driver's own function.
    pub(crate) fn resolve(&self, slot: &Slot) -> Result<*mut c_void, ApiError> {
        let known = slot.address.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let address =
            self.symbol(slot.name.as_bytes()).map_err(|_| ApiError::NativeSymbolMissing {
                path: self.path.display().to_string(),
                name: CStr::from_bytes_until_nul(slot.name.as_bytes())
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            })?;
        slot.address.store(address, Ordering::Release);
        Ok(address)
    }

    /// Where it is and what it can do.
    pub(super) fn info(&self) -> NativeDriverInfo {
        NativeDriverInfo { path: self.path.clone(), version: self.version, devices: self.devices }
    }
}
