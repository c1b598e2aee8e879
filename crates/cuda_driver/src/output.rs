//! Where the text goes that kernels print.
//!
//! A context collects it while kernels run; a synchronising call moves it here, and it is written
//! after the emulator's lock is released, so that a receiver may itself call the driver.

use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Receives what kernels print, in order.
type Receiver = Box<dyn FnMut(&[u8]) + Send>;

static READY: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static RECEIVER: Mutex<Option<Receiver>> = Mutex::new(None);

/// Sets who receives the text that kernels print on the emulator, in order, at synchronising calls;
/// `None`, as at the start, for the standard output. The receiver must not wait for another thread that
/// uses the driver, and must not call `set_output`. On a GPU the NVIDIA driver writes to the standard
/// output itself.
///
/// # Example
///
/// ```
/// use std::sync::mpsc;
/// let (sender, receiver) = mpsc::channel();
/// cuda_driver::set_output(Some(Box::new(move |text| {
///     let _ = sender.send(text.to_vec());
/// })));
/// // … launch, synchronise …
/// # drop(receiver);
/// cuda_driver::set_output(None);
/// ```
pub fn set_output(receiver: Option<Receiver>) {
    *RECEIVER.lock().unwrap_or_else(PoisonError::into_inner) = receiver;
}

/// Queues text for [`drain`].
pub(crate) fn ready(text: &[u8]) {
    READY.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(text);
}

thread_local! {
    static DRAINING: Cell<bool> = const { Cell::new(false) };
}

/// Writes what is queued.
pub(crate) fn drain() {
    if READY.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
        return;
    }
    // A receiver that calls the driver comes back here on the same thread; its outer call drains the rest.
    if DRAINING.try_with(|draining| draining.replace(true)).unwrap_or(true) {
        return;
    }
    let mut receiver = RECEIVER.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let text = std::mem::take(&mut *READY.lock().unwrap_or_else(PoisonError::into_inner));
        if text.is_empty() {
            break;
        }
        match &mut *receiver {
            // A receiver that panics must not take the call down with it.
            Some(receiver) => drop(catch_unwind(AssertUnwindSafe(|| receiver(&text)))),
            None => {
                let mut stdout = std::io::stdout().lock();
                // Nobody to tell: CUDA's printf has no result for this either.
                let _ = stdout.write_all(&text);
                let _ = stdout.flush();
            }
        }
    }
    drop(receiver);
    let _ = DRAINING.try_with(|draining| draining.set(false));
}
