//! The full text behind a failed call, for callers in the same program.
//!
//! A [`CUresult`] is a number; what was wrong is kept beside it, on the thread that made the call,
//! until that thread takes it or another of its calls fails. A kernel's fault is found on whichever
//! thread a synchronising call reports it.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{PoisonError, RwLock};

pub use ptx_emulator::Ending;

use crate::error::ApiError;
use crate::result::CUresult;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The whole message: a line for a misused call, several for a kernel's fault.
    pub text: String,
    /// Which of the four ends it is: the kernel's bug, not supported, a limit, or the host's misuse.
    pub ending: Ending,
    /// What the call returned.
    pub result: CUresult,
    /// The entry point that reported it, such as `cuCtxSynchronize`.
    pub call: &'static str,
}

thread_local! {
    static LAST: RefCell<Option<Diagnostic>> = const { RefCell::new(None) };
}

/// Called with each new diagnostic.
type Hook = Box<dyn Fn(&Diagnostic) + Send + Sync>;

static HOOK: RwLock<Option<Hook>> = RwLock::new(None);

/// The diagnostic of this thread's latest failed call, if it was not taken yet.
///
/// # Example
///
/// ```
/// // No call has failed on this thread.
/// assert!(cuda_driver::take_diagnostic().is_none());
/// ```
pub fn take_diagnostic() -> Option<Diagnostic> {
    LAST.try_with(|last| last.borrow_mut().take()).ok().flatten()
}

/// Sets what is called with each new diagnostic, on the thread of the failed call; `None` for nothing.
/// The stand-alone `libcuda.so` prints kernel faults this way, since no caller could take them.
pub fn set_diagnostic_hook(hook: Option<Hook>) {
    *HOOK.write().unwrap_or_else(PoisonError::into_inner) = hook;
}

/// Keeps what was wrong with `call` and returns the result that the call returns.
pub(crate) fn record(call: &'static str, error: &ApiError) -> CUresult {
    let result = error.result();
    let text = match error {
        ApiError::Fault(_) | ApiError::NoBackend(_) => error.to_string(),
        _ => format!("{call}: {error}"),
    };
    let diagnostic = Diagnostic { text, ending: error.ending(), result, call };
    let hook = HOOK.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(hook) = &*hook {
        // A hook that panics must not take the call down with it.
        let _ = catch_unwind(AssertUnwindSafe(|| hook(&diagnostic)));
    }
    // A thread that is ending has no place left to keep it.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(diagnostic));
    result
}

/// Forgets this thread's diagnostic: the NVIDIA driver failed a call and says nothing more.
pub(crate) fn forget() {
    let _ = LAST.try_with(|last| *last.borrow_mut() = None);
}
