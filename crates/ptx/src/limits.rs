//! Limits that keep hostile input from costing unbounded memory, time or stack.
//!
//! Each is far above what compilers emit: the largest PTX files in the wild are some tens of
//! megabytes, and scopes nest two or three deep.

/// Longest text that is parsed, in bytes.
pub const MAX_SOURCE_BYTES: usize = 64 << 20;

/// Most tokens in one text. Bodies of `.section` blocks (debug data) do not count.
pub const MAX_TOKENS: u32 = 1 << 24;

/// Deepest nesting of `{ }` scopes, of initialiser lists and of parentheses in constant expressions.
pub const MAX_NESTING: usize = 64;

/// Most registers that one function may declare.
pub const MAX_REGISTERS: u64 = 1 << 20;

/// Largest variable, in bytes: no device has more memory.
pub const MAX_VARIABLE_BYTES: u64 = 1 << 40;

/// Largest alignment, in bytes.
pub const MAX_ALIGN: u32 = 1 << 20;

/// Most bytes of parameters that a kernel may take (PTX ISA, "Kernel Function Parameter Attributes":
/// 32,764 bytes from PTX 8.1 on sm_70, 4,352 before).
pub const MAX_KERNEL_PARAMETER_BYTES: u64 = 32_764;
