//! What this crate asks of `cuda_driver` directly, beside the CUDA driver API.

pub use cuda_driver::Backend;
pub(crate) use cuda_driver::{
    CUresult, Diagnostic, Ending as EmulatorEnding, backend, ensure_linked, take_diagnostic,
};

/// The C name and a description of a result.
pub(crate) fn describe(code: u32) -> (String, String) {
    let text = |text: Option<&std::ffi::CStr>, otherwise: &str| {
        text.map_or_else(|| otherwise.into(), |text| text.to_string_lossy().into_owned())
    };
    let result = CUresult(code);
    (text(result.name(), "CUresult"), text(result.description(), "unknown error"))
}
