//! Linker invocations: the texts that were added, and the joined one that `cuLinkComplete` gives back.
//!
//! Of the libraries of machine code one is known: the device runtime, in whose place stands PTX.

use std::ffi::{c_uint, c_void};

mod join;

use super::device_runtime;
use super::image::check_magic;
use super::options::JitOptions;
use super::with;
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CUjitInputType`: PTX text.
const INPUT_PTX: c_uint = 1;
/// `CUjitInputType`: a static library.
const INPUT_LIBRARY: c_uint = 4;
/// The other input types by number.
const INPUT_NAMES: [&str; 6] =
    ["a cubin (machine code)", "PTX", "a fat binary", "an object file", "a library", "LLVM code"];

/// A linker invocation.
pub(crate) struct Link {
    pub context: CUcontext,
    options: JitOptions,
    /// Names and texts.
    inputs: Vec<(String, String)>,
    /// The joined text with its NUL, once complete; lives until the invocation is destroyed.
    output: Option<Vec<u8>>,
}

pub(crate) fn create(
    option_count: c_uint,
    options: Out<c_uint>,
    option_values: Out<*mut c_void>,
    state: Out<CUlinkState>,
) -> Outcome {
    let options = JitOptions::read(option_count, options, option_values)?;
    with(|emulator| {
        let context = emulator.ready()?;
        state.check("state")?;
        let handle =
            emulator.links.insert(Link { context, options, inputs: Vec::new(), output: None });
        state.set("state", handle)
    })
}

/// Takes a text, which must parse, so that the error names the input it is in.
fn add(state: CUlinkState, kind: c_uint, name: String, data: &[u8]) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let link = emulator.links.get_mut(state)?;
        let outcome = (|| {
            if kind == INPUT_LIBRARY && device_runtime::is_device_runtime(data) {
                if link.inputs.iter().all(|(_, text)| text != device_runtime::PTX) {
                    link.inputs.push((name, device_runtime::PTX.to_owned()));
                }
                return Ok(());
            }
            if kind != INPUT_PTX {
                let what = INPUT_NAMES.get(kind as usize).copied();
                return Err(match what {
                    Some(what) => ApiError::BinaryImage { what },
                    None => ApiError::argument("type", kind, "0 to 5"),
                });
            }
            check_magic(data)?;
            // A text ends at its NUL.
            let text = data.split(|byte| *byte == 0).next().unwrap_or_default();
            let text = str::from_utf8(text).map_err(|error| ApiError::NotPtx {
                why: format!("byte {} is not UTF-8", error.valid_up_to()),
            })?;
            let parsed = ptx::parse(text).and_then(|module| ptx::validate(&module, text));
            parsed.map_err(|error| ApiError::Link(format!("input `{name}`: {error}")))?;
            link.inputs.push((name, text.to_owned()));
            Ok(())
        })();
        link.options.report(outcome.as_ref().err())?;
        outcome
    })
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn add_data(
    state: CUlinkState,
    kind: c_uint,
    data: HostPtr,
    size: usize,
    name: Text,
    _option_count: c_uint,
    _options: Out<c_uint>,
    _option_values: Out<*mut c_void>,
) -> Outcome {
    with(|emulator| emulator.links.get(state).map(drop))?;
    let data = data.read("data", size)?;
    let name = if name.is_null() { "unnamed".to_owned() } else { name.string("name")? };
    add(state, kind, name, data)
}

pub(crate) fn add_file(
    state: CUlinkState,
    kind: c_uint,
    path: Text,
    _option_count: c_uint,
    _options: Out<c_uint>,
    _option_values: Out<*mut c_void>,
) -> Outcome {
    with(|emulator| emulator.links.get(state).map(drop))?;
    let name = path.string("path")?;
    let data =
        std::fs::read(&name).map_err(|error| ApiError::File { path: name.clone(), error })?;
    add(state, kind, name, &data)
}

pub(crate) fn complete(state: CUlinkState, image: Out<*mut c_void>, size: Out<usize>) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        image.check("cubin_out")?;
        let link = emulator.links.get_mut(state)?;
        let joined = join::join(&link.inputs, link.options.max_registers);
        link.options.report(joined.as_ref().err())?;
        let mut bytes = joined?.into_bytes();
        bytes.push(0);
        let output = link.output.insert(bytes);
        size.set_if_wanted("size_out", output.len())?;
        image.set("cubin_out", output.as_mut_ptr().cast())
    })
}

pub(crate) fn destroy(state: CUlinkState) -> Outcome {
    with(|emulator| emulator.links.remove(state).map(drop))
}
