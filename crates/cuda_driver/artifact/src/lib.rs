//! `libcuda.so`: the CUDA driver library with the emulator inside, for programs that are not ours.
//!
//! ```sh
//! cargo build --release -p cuda_driver_artifact
//! mkdir -p cuda && cp target/release/libcuda.so cuda/libcuda.so.1
//! LD_LIBRARY_PATH=$PWD/cuda CUDA_DRIVER_BACKEND=emulator some-cuda-program
//! ```
//!
//! All entry points are those of the crate `cuda_driver`; this crate only makes a shared library of them,
//! marks it, so that the search for the NVIDIA driver does not find it, and prints kernels' faults and what is
//! wrong with PTX, which a program in another language cannot ask for.

use std::io::Write;

use cuda_driver::{CUresult, Diagnostic, Ending};

/// Says that this is not NVIDIA's library: `cuda_driver` never forwards calls to a library that has it.
#[unsafe(no_mangle)]
pub static ferrowarp_cuda_driver_marker: u8 = 1;

/// Runs when the loader has loaded the library.
extern "C" fn on_load() {
    cuda_driver::ensure_linked();
    cuda_driver::set_diagnostic_hook(Some(Box::new(print_fault)));
}

/// Prints what a kernel did wrong, what is wrong with PTX, and what the emulator cannot do.
fn print_fault(diagnostic: &Diagnostic) {
    if concerns_the_user(diagnostic) && is_new(&diagnostic.text) {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "{}", diagnostic.text);
    }
}

/// Misused calls stay silent: programs make some to find out what there is, and they have the result. So does
/// the question for NVIDIA's private tables, which NVRTC asks and does without. Why nothing can begin, a misspelt
/// variable of the environment for instance, the result alone does not say.
fn concerns_the_user(diagnostic: &Diagnostic) -> bool {
    let refused_ptx = diagnostic.result == CUresult::INVALID_PTX;
    let begins = diagnostic.call == "cuInit";
    (diagnostic.ending != Ending::HostMisuse || refused_ptx || begins)
        && diagnostic.call != "cuGetExportTable"
}

/// Whether the text is another than the last one: every later call repeats a kernel's fault.
fn is_new(text: &str) -> bool {
    use std::sync::{Mutex, PoisonError};
    static LAST: Mutex<String> = Mutex::new(String::new());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if *last == text {
        return false;
    }
    text.clone_into(&mut last);
    true
}

#[cfg_attr(target_os = "linux", used)]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
static ON_LOAD: extern "C" fn() = on_load;
