//! JIT options: the log buffers are filled, a limit of registers is kept; other options of code generation
//! are ignored.
//!
//! A value is the option's value itself, cast to a pointer, and not a pointer to it.

use std::ffi::{c_uint, c_void};

use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CUjit_option`.
const MAX_REGISTERS: c_uint = 0;
const INFO_LOG_BUFFER: c_uint = 3;
const INFO_LOG_BUFFER_SIZE: c_uint = 4;
const ERROR_LOG_BUFFER: c_uint = 5;
const ERROR_LOG_BUFFER_SIZE: c_uint = 6;
/// Options up to this number exist (CUDA 13.0).
const LAST: c_uint = 39;

/// A buffer of the caller's for a log.
#[derive(Clone, Copy)]
struct Log {
    buffer: HostPtr,
    bytes: usize,
    /// Where the number of bytes written is told: the option value with this index.
    size_index: usize,
}

/// What counts among a call's options.
pub(crate) struct JitOptions {
    values: Out<*mut c_void>,
    /// Registers that a thread may use at most.
    pub max_registers: Option<u32>,
    info: Option<Log>,
    error: Option<Log>,
}

// SAFETY: the pointers are only used in calls of the program that passed them; it vouches that they stay
// valid as long as the linker invocation that they were given to, on whichever thread.
unsafe impl Send for JitOptions {}

impl JitOptions {
    /// Reads `count` options.
    pub(crate) fn read(
        count: c_uint,
        options: Out<c_uint>,
        values: Out<*mut c_void>,
    ) -> Result<JitOptions, ApiError> {
        let find = |wanted: c_uint| -> Result<Option<usize>, ApiError> {
            for index in 0..count as usize {
                let option = options.get("options", index)?;
                if option > LAST {
                    return Err(ApiError::argument("options", option, format_args!("0 to {LAST}")));
                }
                if option == wanted {
                    return Ok(Some(index));
                }
            }
            Ok(None)
        };
        let log = |buffer: c_uint, size: c_uint| -> Result<Option<Log>, ApiError> {
            let (Some(buffer), Some(size_index)) = (find(buffer)?, find(size)?) else {
                return Ok(None);
            };
            let buffer = values.host_pointer("option_values", buffer)?;
            // Sizes are 32-bit values.
            let bytes = values.get("option_values", size_index)?.addr() & 0xFFFF_FFFF;
            Ok((!buffer.is_null() && bytes > 0).then_some(Log { buffer, bytes, size_index }))
        };
        let max_registers = match find(MAX_REGISTERS)? {
            Some(index) => {
                let value = values.get("option_values", index)?.addr() & 0xFFFF_FFFF;
                u32::try_from(value).ok().filter(|value| *value > 0)
            }
            None => None,
        };
        Ok(JitOptions {
            values,
            max_registers,
            info: log(INFO_LOG_BUFFER, INFO_LOG_BUFFER_SIZE)?,
            error: log(ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE)?,
        })
    }

    /// Fills the logs: the error's text, or nothing where all went well.
    pub(crate) fn report(&self, error: Option<&ApiError>) -> Outcome {
        let text = error.map(ToString::to_string).unwrap_or_default();
        self.fill(self.error, &text)?;
        self.fill(self.info, "")
    }

    fn fill(&self, log: Option<Log>, text: &str) -> Outcome {
        let Some(log) = log else { return Ok(()) };
        let length = text.len().min(log.bytes - 1);
        let target = log.buffer.write("log buffer", length + 1)?;
        target[..length].copy_from_slice(&text.as_bytes()[..length]);
        target[length] = 0;
        let written = if length == 0 { 0 } else { length + 1 };
        self.values.put("option_values", log.size_index, std::ptr::without_provenance_mut(written))
    }
}
