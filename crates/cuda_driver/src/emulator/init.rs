//! Initialisation, versions, error texts, and the lookup of entry points.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::start;
use crate::backend;
use crate::error::{ApiError, Outcome};
use crate::result::CUresult;
use crate::table;
use crate::types::*;

/// What the emulator stands for: the driver whose behaviour was recorded (580, CUDA 13.0).
pub(crate) const DRIVER_VERSION: c_int = 13_000;

/// `CU_GET_PROC_ADDRESS_*` status: found.
const SYMBOL_FOUND: c_uint = 0;
/// `CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`.
const SYMBOL_NOT_FOUND: c_uint = 1;
/// `CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT`: it exists, but came with a later CUDA.
const VERSION_NOT_SUFFICIENT: c_uint = 2;

pub(crate) fn init(flags: c_uint) -> Outcome {
    if let Some(why) = backend::refusal() {
        return Err(ApiError::NoBackend(why.clone()));
    }
    if flags != 0 {
        return Err(ApiError::argument("flags", flags, 0));
    }
    start()
}

pub(crate) fn driver_version(version: Out<c_int>) -> Outcome {
    version.set("version", DRIVER_VERSION)
}

pub(crate) fn error_name(error: CUresult, text: Out<*const c_char>) -> Outcome {
    error_text(error, text, error.name())
}

pub(crate) fn error_string(error: CUresult, text: Out<*const c_char>) -> Outcome {
    error_text(error, text, error.description())
}

fn error_text(
    error: CUresult,
    text: Out<*const c_char>,
    found: Option<&'static std::ffi::CStr>,
) -> Outcome {
    text.set("text", found.map_or(std::ptr::null(), |found| found.as_ptr()))?;
    match found {
        Some(_) => Ok(()),
        None => Err(ApiError::argument("error", error.0, "the number of a CUresult")),
    }
}

pub(crate) fn proc_address(
    symbol: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: u64,
) -> Outcome {
    let symbol = symbol.string("symbol")?;
    function.check("function")?;
    match find(&symbol, version, flags)? {
        Ok(address) => function.set("function", address.cast_mut()),
        Err(_) => {
            function.set("function", std::ptr::null_mut())?;
            Err(ApiError::EntryPointNotFound(symbol))
        }
    }
}

pub(crate) fn proc_address_v2(
    symbol: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: u64,
    status: Out<c_uint>,
) -> Outcome {
    let symbol = symbol.string("symbol")?;
    function.check("function")?;
    match find(&symbol, version, flags)? {
        Ok(address) => {
            status.set_if_wanted("symbol_status", SYMBOL_FOUND)?;
            function.set("function", address.cast_mut())
        }
        Err(why) => {
            status.set_if_wanted("symbol_status", why)?;
            function.set("function", std::ptr::null_mut())?;
            // With a status to tell, CUDA 12 calls this a success only where the symbol is known.
            Err(ApiError::EntryPointNotFound(symbol))
        }
    }
}

/// The address of an entry point, or the status that says why there is none.
fn find(
    symbol: &str,
    version: c_int,
    flags: u64,
) -> Result<Result<*const c_void, c_uint>, ApiError> {
    // 1 and 2 choose the legacy or the per-thread default stream: here both run in call order.
    if flags > 2 {
        return Err(ApiError::argument("flags", flags, "0, 1 or 2"));
    }
    let version = u32::try_from(version)
        .map_err(|_| ApiError::argument("version", version, "a CUDA version such as 12040"))?;
    Ok(match table::find(symbol, version) {
        Some(entry) => Ok(entry.address.0),
        None if table::find(symbol, u32::MAX).is_some() => Err(VERSION_NOT_SUFFICIENT),
        None => Err(SYMBOL_NOT_FOUND),
    })
}
