//! Names as people write them.

use std::fmt::Write;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Longest name that is made; a short symbol can stand for a very long one.
const MAX_NAME: usize = 4096;
/// Parts of a symbol that may be nested.
const MAX_DEPTH: u32 = 64;

/// A symbol's path without hash or parameters: of Rust, `core::panicking::panic_bounds_check`; of C++, `scale<float>`;
/// of Numba, with the dots of Python, `__main__.scale`. Other names stay as they are.
///
/// ```
/// assert_eq!(ptx::demangle("_ZN4core9panicking5panic17h0123456789abcdefE"), "core::panicking::panic");
/// assert_eq!(ptx::demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
/// assert_eq!(ptx::demangle("_ZN7kernels5scaleIfEEvPT_i"), "kernels::scale<float>");
/// assert_eq!(ptx::demangle("_ZN6cudapy8__main__5scaleB2v1B4cw51E5ArrayIfLi1E1C7mutable7alignedEf"), "__main__.scale");
/// assert_eq!(ptx::demangle("vprintf"), "vprintf");
/// ```
pub fn demangle(name: &str) -> String {
    match rustc_demangle::try_demangle(name) {
        Ok(rust) => format!("{rust:#}"),
        Err(_) => numba_or_cpp(name).unwrap_or_else(|| name.to_owned()),
    }
}

fn numba_or_cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let parsing = ParseOptions::default().recursion_limit(MAX_DEPTH);
    let symbol = Symbol::new_with_options(name, &parsing).ok()?;
    let writing = DemangleOptions::new().no_params().no_return_type().recursion_limit(MAX_DEPTH);
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &writing).ok()?;
    let Bounded(text) = text;
    // Numba marks each version of a function, and its options, with tags.
    match without_tags(&text) {
        Some(plain) => {
            let path = plain.strip_prefix("cudapy::").unwrap_or(&plain);
            Some(path.replace("_3clocals_3e", "<locals>").replace("::", "."))
        }
        None => Some(text),
    }
}

/// The name without `[abi:...]`, if it has any.
fn without_tags(text: &str) -> Option<String> {
    let mut parts = text.split("[abi:");
    let mut plain = parts.next()?.to_owned();
    let mut tagged = false;
    for part in parts {
        tagged = true;
        plain += part.split_once(']').map_or("", |(_, rest)| rest);
    }
    tagged.then_some(plain)
}

/// Text up to a length.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > MAX_NAME {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_numba() {
        // As Numba 0.68 and numba-cuda 0.30 make them.
        let kernel = "_ZN6cudapy8__main__7add_oneB2v1B94cw51cXTLSUwv1sCUt9Uw1VEw0NRRQPKzLTg4gaGKFsG2oMQGEYakJSQB1PQBk0Bynm21OiwU1a0UoLGhDpQE8oxrNQE_3dE5ArrayIiLi1E1C7mutable7alignedE";
        assert_eq!(demangle(kernel), "__main__.add_one");
        let nested = "_ZN6cudapy4test4main12_3clocals_3e6kernelB2v2B2abEi";
        assert_eq!(demangle(nested), "test.main.<locals>.kernel");
    }

    #[test]
    fn names_of_cpp() {
        assert_eq!(demangle("_Z6vecAddPKfS0_Pfi"), "vecAdd");
        assert_eq!(demangle("_ZN2at6native4fillIfLi4EEEvPT_"), "at::native::fill<float, 4>");
    }

    #[test]
    fn what_is_no_mangled_name_stays() {
        for name in ["", "_Z", "_ZN", "_ZN9999999999x", "main", "$L__BB0_1", "_R", "_ZN6cudapyB"] {
            assert_eq!(demangle(name), name);
        }
    }

    #[test]
    fn a_name_that_would_be_very_long_stays() {
        // Each pair names the one before twice.
        let mut name = String::from("_Z1fIN1A1BE");
        let mut last = String::from("S0_");
        for at in 0..24 {
            name += &format!("St4pairI{last}{last}E");
            last =
                format!("S{}_", char::from_digit(2 + at, 36).unwrap_or('0').to_ascii_uppercase());
        }
        name += "Evv";
        let plain = demangle(&name);
        assert!(plain == name || plain.len() <= MAX_NAME);
        let long = format!("_ZN{}E", format!("{}{}", 1000, "a".repeat(1000)).repeat(5));
        assert_eq!(demangle(&format!("{long}i")), format!("{long}i"), "5000 letters");
    }
}
