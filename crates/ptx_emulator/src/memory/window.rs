//! Where each state space lies in the generic address space.
//!
//! The bases differ in their upper bits, so a stray pointer tells which space it came from. Within
//! the shared, local and kernel-parameter windows a generic address is the base plus the address in
//! that space; global and constant addresses are generic addresses already.

/// First global address.
pub(crate) const GLOBAL_BASE: u64 = 0x0000_0200_0000_0000;
/// Past the last global address.
pub(crate) const GLOBAL_END: u64 = 0x0000_7000_0000_0000;
/// Shared memory of the own block.
pub(crate) const SHARED_BASE: u64 = 0x0000_7100_0000_0000;
/// Local memory of the own thread.
pub(crate) const LOCAL_BASE: u64 = 0x0000_7200_0000_0000;
/// `.const` variables.
pub(crate) const CONSTANT_BASE: u64 = 0x0000_7300_0000_0000;
/// Past the last constant address.
pub(crate) const CONSTANT_END: u64 = 0x0000_7400_0000_0000;
/// Parameters of the running kernel.
pub(crate) const PARAM_BASE: u64 = 0x0000_7400_0000_0000;
/// "Addresses" of device functions; no data lies there.
pub(crate) const FUNCTION_BASE: u64 = 0x0000_7F00_0000_0000;
/// Distance between the addresses of two functions.
pub(crate) const FUNCTION_STRIDE: u64 = 16;
/// Bytes of a shared, local or parameter window.
const WINDOW_BYTES: u64 = 1 << 40;

/// Shared addresses below this are unused, as on hardware since sm_90 (1 KiB reserved by the
/// system), so a null pointer into shared memory does not hit the first variable.
pub(crate) const SHARED_RESERVED: u64 = 1024;
/// Local addresses below this are unused: catches null pointers.
pub(crate) const LOCAL_RESERVED: u64 = 256;

/// A window of the generic address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// Global or constant memory: found by looking for an allocation.
    Global,
    Shared,
    Local,
    Param,
    Function,
}

/// The window of a generic address.
#[inline]
pub(crate) fn of(address: u64) -> Window {
    match address >> 40 {
        0x71 => Window::Shared,
        0x72 => Window::Local,
        0x74 => Window::Param,
        0x7F => Window::Function,
        _ => Window::Global,
    }
}

/// The first address of a window, what `cvta` adds.
pub(crate) fn base(window: Window) -> u64 {
    match window {
        Window::Global => 0,
        Window::Shared => SHARED_BASE,
        Window::Local => LOCAL_BASE,
        Window::Param => PARAM_BASE,
        Window::Function => FUNCTION_BASE,
    }
}

const _: () = assert!(SHARED_BASE + WINDOW_BYTES == LOCAL_BASE && 0x71 << 40 == SHARED_BASE);
