//! Who serves the calls: the NVIDIA driver or the emulator.
//!
//! `CUDA_DRIVER_BACKEND` decides, read once at the first call:
//! - `auto` (or unset): the GPU if the NVIDIA driver loads, initialises and has a device, else the emulator;
//! - `gpu`: the NVIDIA driver; without one `cuInit` returns `CUDA_ERROR_NO_DEVICE`;
//! - `emulator`: the emulator.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::error::NoBackend;

mod native;
mod search;

pub(crate) use native::{NativeDriver, Slot};

/// Who serves the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The NVIDIA driver.
    Gpu,
    /// The emulator.
    Emulator,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Gpu => "gpu",
            Backend::Emulator => "emulator",
        })
    }
}

/// The NVIDIA driver that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeDriverInfo {
    /// The library's absolute path.
    pub path: PathBuf,
    /// The newest CUDA that it supports, 1000 × major + 10 × minor.
    pub version: i32,
    /// Devices it sees.
    pub devices: i32,
}

/// The choice, made once.
enum Selection {
    Native(NativeDriver),
    Emulator,
    None { asked: Backend, why: Arc<NoBackend> },
}

static SELECTION: OnceLock<Selection> = OnceLock::new();

fn selection() -> &'static Selection {
    SELECTION.get_or_init(|| {
        let choice = std::env::var_os("CUDA_DRIVER_BACKEND").unwrap_or_default();
        match choice.to_string_lossy().trim() {
            "" | "auto" => match NativeDriver::open_any() {
                Ok(driver) => Selection::Native(driver),
                Err(_) => Selection::Emulator,
            },
            "gpu" => match NativeDriver::open_any() {
                Ok(driver) => Selection::Native(driver),
                Err(attempts) => Selection::None {
                    asked: Backend::Gpu,
                    why: Arc::new(NoBackend::NoGpu { tried: attempts.to_string() }),
                },
            },
            "emulator" => Selection::Emulator,
            other => Selection::None {
                asked: Backend::Emulator,
                why: Arc::new(NoBackend::UnknownChoice(other.to_owned())),
            },
        }
    })
}

/// Who serves this process's calls. Where `CUDA_DRIVER_BACKEND` asks for what is not there, what it
/// asked for, and `cuInit` fails.
pub fn backend() -> Backend {
    match selection() {
        Selection::Native(_) => Backend::Gpu,
        Selection::Emulator => Backend::Emulator,
        Selection::None { asked, .. } => *asked,
    }
}

/// Makes the emulator serve this process's calls, whatever `CUDA_DRIVER_BACKEND` says. To be called before
/// anything of CUDA; false if something else was chosen before.
///
/// # Example
///
/// ```
/// assert!(cuda_driver::use_emulator());
/// assert_eq!(cuda_driver::backend(), cuda_driver::Backend::Emulator);
/// ```
pub fn use_emulator() -> bool {
    matches!(SELECTION.get_or_init(|| Selection::Emulator), Selection::Emulator)
}

/// The NVIDIA driver of this machine, whether or not it serves this process's calls: none if no library
/// was found that initialises and has a device.
///
/// # Errors
///
/// What was tried, a line each.
pub fn native_driver() -> Result<NativeDriverInfo, String> {
    // Opened apart from the selection, which may be the emulator; a second opening costs nothing.
    static INFO: OnceLock<Result<NativeDriverInfo, String>> = OnceLock::new();
    if let Some(driver) = native() {
        return Ok(driver.info());
    }
    INFO.get_or_init(|| {
        NativeDriver::open_any().map(|driver| driver.info()).map_err(|tried| tried.to_string())
    })
    .clone()
}

/// The NVIDIA driver, if it serves the calls.
pub(crate) fn native() -> Option<&'static NativeDriver> {
    match selection() {
        Selection::Native(driver) => Some(driver),
        _ => None,
    }
}

/// Why nobody serves the calls, if so.
pub(crate) fn refusal() -> Option<&'static Arc<NoBackend>> {
    match selection() {
        Selection::None { why, .. } => Some(why),
        _ => None,
    }
}

/// What came of each library that was tried.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Vec<(PathBuf, String)>);

impl Attempts {
    fn add(&mut self, path: &Path, outcome: impl Into<String>) {
        self.0.push((path.to_path_buf(), outcome.into()));
    }
}

impl fmt::Display for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (path, outcome)) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "  {}: {outcome}", path.display())?;
        }
        Ok(())
    }
}
