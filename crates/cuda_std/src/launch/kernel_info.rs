//! A kernel as its Rust source declares it.

use core::fmt;

/// What `#[kernel]` saw: name, parameters, place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// The function's name, which is also the entry's name in PTX.
    pub name: &'static str,
    /// The parameters in order, as written.
    pub params: &'static [ParamInfo],
    /// True for an `unsafe fn`: a launch needs an `unsafe` block.
    pub is_unsafe: bool,
    /// The module that declares it (`kernels::matmul`).
    pub module: &'static str,
    /// The source file, as `file!()` gives it.
    pub file: &'static str,
    /// The line of its `#[kernel]`, 1-based.
    pub line: u32,
}

/// One parameter of a kernel as its Rust source declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// The parameter's name; `_0`, `_1`, … by position for `_`.
    pub name: &'static str,
    /// The type as written.
    pub ty: &'static str,
}

impl fmt::Display for KernelInfo {
    /// The signature: `unsafe fn scale(x: *mut f32, by: f32, n: usize)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unsafe {
            f.write_str("unsafe ")?;
        }
        write!(f, "fn {}(", self.name)?;
        for (index, param) in self.params.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}: {}", param.name, param.ty)?;
        }
        f.write_str(")")
    }
}
