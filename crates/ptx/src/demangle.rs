//! Names as people write them.

/// A symbol's Rust path without its hash: `core::panicking::panic_bounds_check`. Names that rustc did
/// not mangle stay as they are.
///
/// ```
/// assert_eq!(ptx::demangle("_ZN4core9panicking5panic17h0123456789abcdefE"), "core::panicking::panic");
/// assert_eq!(ptx::demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
/// assert_eq!(ptx::demangle("vprintf"), "vprintf");
/// ```
pub fn demangle(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}
