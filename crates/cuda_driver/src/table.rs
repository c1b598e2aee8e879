//! The one table of entry points and what is made from it: the exported functions, the lookup of
//! `cuGetProcAddress`, the reference that keeps the symbols in a program, and the support page.
//!
//! A row says `name(parameters) = status handler, since version, "note";` where the version is that
//! of the CUDA release that brought this form of the call (12040 is 12.4) and the status one of
//! - `implemented`: the emulator does what CUDA documents;
//! - `accepted`: checked and accepted, but nothing on the emulator depends on it;
//! - `unsupported`: `CUDA_ERROR_NOT_SUPPORTED` on the emulator.
//!
//! On the native backend every row is forwarded to the NVIDIA driver.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{ApiError, Outcome};
use crate::result::CUresult;
use crate::{backend, diagnostic, output};

mod entries;

pub use entries::*;

/// What the emulator does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It does what CUDA documents.
    Implemented,
    /// It checks and accepts it; nothing depends on it.
    Accepted,
    /// It returns `CUDA_ERROR_NOT_SUPPORTED`.
    NotSupported,
}

/// One row of the table of entry points.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The area it belongs to, such as `Streams`.
    pub group: &'static str,
    /// The exported symbol, such as `cuMemAlloc_v2`.
    pub symbol: &'static str,
    /// The CUDA release that brought this form of the call, 1000 × major + 10 × minor.
    pub since: u32,
    /// What the emulator does with it.
    pub status: Status,
    /// A few words where the status alone would mislead; may be empty.
    pub note: &'static str,
    pub(crate) address: Address,
}

/// A function's address, only ever handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address(pub *const c_void);

// SAFETY: the address of a function is a constant; nothing is read through it here.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Entry {
    /// The name without its version suffix: `cuMemAlloc` for `cuMemAlloc_v2`.
    pub fn base_name(&self) -> &'static str {
        match self.symbol.rsplit_once("_v") {
            Some((base, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => base,
            _ => self.symbol,
        }
    }
}

/// Every entry point of the library with what the emulator does with it, by area.
///
/// # Example
///
/// ```
/// let table = cuda_driver::support_table();
/// assert!(table.iter().any(|entry| entry.symbol == "cuLaunchKernel"));
/// ```
pub fn support_table() -> &'static [Entry] {
    ENTRIES
}

/// References every exported symbol, so that the linker keeps them whatever the order of libraries.
/// A program that calls `cu*` functions only through another crate (`cust`) calls this once.
pub fn ensure_linked() {
    std::hint::black_box(ENTRIES);
}

/// The form of `name` that a program built for CUDA `version` gets: the newest that is not newer.
pub(crate) fn find(name: &str, version: u32) -> Option<&'static Entry> {
    let by_base = ENTRIES
        .iter()
        .filter(|entry| entry.base_name() == name && entry.since <= version)
        .max_by_key(|entry| entry.since);
    // A name with its version suffix asks for that form, whatever the version.
    by_base
        .or_else(|| ENTRIES.iter().find(|entry| entry.symbol == name && entry.base_name() != name))
}

/// Runs an entry point so that no panic crosses the C boundary.
pub(crate) fn guard(call: &'static str, body: impl FnOnce() -> CUresult) -> CUresult {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(payload) => {
            let message = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| payload.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "a panic without a message".to_owned());
            diagnostic::record(call, &ApiError::Panic(message))
        }
    }
}

/// Serves a call on the emulator: keeps the diagnostic of a failure, then writes what kernels printed.
pub(crate) fn serve(call: &'static str, body: impl FnOnce() -> Outcome) -> CUresult {
    let result = match body() {
        Ok(()) => CUresult::SUCCESS,
        Err(error) => diagnostic::record(call, &error),
    };
    output::drain();
    result
}

/// What the native driver answered; a failure of it leaves no diagnostic.
pub(crate) fn native_result(result: CUresult) -> CUresult {
    if !result.is_success() {
        diagnostic::forget();
    }
    result
}

macro_rules! driver_api {
    ($($group:literal { $(
        $name:ident ( $($argument:ident : $type:ty),* ) = $status:ident $($module:ident :: $handler:ident)?,
        since $since:literal, $note:literal;
    )* })*) => {
        $($(
            #[doc = concat!("`", stringify!($name), "`, ", $group, ".")]
            #[doc = driver_api!(@doc $status, $note)]
            ///
            /// # Safety
            ///
            /// As the CUDA driver API documents it: pointers are null or valid for what the call
            /// reads and writes through them. Handles may be any value.
            #[unsafe(no_mangle)]
            #[allow(clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> CUresult {
                static SLOT: backend::Slot = backend::Slot::new(concat!(stringify!($name), "\0"));
                type Function = unsafe extern "C" fn($($type),*) -> CUresult;
                guard(stringify!($name), || match backend::native() {
                    Some(driver) => match driver.resolve(&SLOT) {
                        Ok(address) => {
                            // SAFETY: the driver's function of this name has this signature (cuda.h).
                            let function = unsafe { std::mem::transmute::<*mut c_void, Function>(address) };
                            // SAFETY: the caller's promises are those that the driver asks for.
                            native_result(unsafe { function($($argument),*) })
                        }
                        Err(error) => diagnostic::record(stringify!($name), &error),
                    },
                    None => driver_api!(@emulate $name $status [$($module $handler)?] ($($argument)*) $note),
                })
            }
        )*)*

        /// All rows, by area.
        pub(crate) static ENTRIES: &[Entry] = &[$($(
            Entry {
                group: $group,
                symbol: stringify!($name),
                since: $since,
                status: driver_api!(@status $status),
                note: $note,
                address: Address($name as *const c_void),
            },
        )*)*];
    };
    (@emulate $name:ident unsupported [] ($($argument:ident)*) $note:literal) => {{
        $(let _ = $argument;)*
        serve(stringify!($name), || Err(ApiError::NotSupported { name: stringify!($name), what: $note }))
    }};
    (@emulate $name:ident $status:ident [$module:ident $handler:ident] ($($argument:ident)*) $note:literal) => {
        serve(stringify!($name), || crate::emulator::$module::$handler($($argument),*))
    };
    (@status implemented) => { Status::Implemented };
    (@status accepted) => { Status::Accepted };
    (@status unsupported) => { Status::NotSupported };
    (@doc implemented, "") => { "" };
    (@doc implemented, $note:literal) => { concat!("Emulator: ", $note, ".") };
    (@doc accepted, "") => { "Emulator: accepted, without effect." };
    (@doc accepted, $note:literal) => { concat!("Emulator: accepted; ", $note, ".") };
    (@doc unsupported, $note:literal) => { concat!("Not supported by the emulator: ", $note, ".") };
}
pub(crate) use driver_api;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_symbol_appears_twice() {
        let symbols: BTreeSet<&str> = ENTRIES.iter().map(|entry| entry.symbol).collect();
        assert_eq!(symbols.len(), ENTRIES.len());
    }

    #[test]
    fn unsupported_rows_say_what_is_missing() {
        for entry in ENTRIES.iter().filter(|entry| entry.status == Status::NotSupported) {
            assert!(!entry.note.is_empty(), "{} needs a note", entry.symbol);
        }
    }

    #[test]
    fn lookup_takes_the_newest_form_that_the_program_knows() {
        let symbol = |name, version| find(name, version).map(|entry| entry.symbol);
        assert_eq!(symbol("cuMemAlloc", 12000), Some("cuMemAlloc_v2"));
        assert_eq!(symbol("cuCtxCreate", 11000), Some("cuCtxCreate_v2"));
        assert_eq!(symbol("cuCtxCreate", 12000), Some("cuCtxCreate_v3"));
        assert_eq!(symbol("cuCtxCreate", 13000), Some("cuCtxCreate_v4"));
        assert_eq!(symbol("cuCtxCreate_v2", 13000), Some("cuCtxCreate_v2"));
        assert_eq!(symbol("cuGetProcAddress", 11040), Some("cuGetProcAddress"));
        assert_eq!(symbol("cuGetProcAddress", 12040), Some("cuGetProcAddress_v2"));
        assert_eq!(symbol("cuCtxSynchronize", 12000), Some("cuCtxSynchronize"));
        assert_eq!(symbol("cuNoSuchThing", 13000), None);
        assert_eq!(symbol("cuInit", 12000), Some("cuInit"));
        assert_eq!(symbol("cuLibraryLoadData", 11000), None);
    }
}
