//! PTX, the assembly language of NVIDIA GPUs: lexer, parser, syntax tree with spans, validator, printer
//! and control-flow graph. This crate knows the language, not its execution.
//!
//! ```
//! let source = "
//! .version 8.8
//! .target sm_90
//! .address_size 64
//!
//! .visible .entry double(.param .u64 .ptr .global .align 4 data)
//! {
//!     .reg .b32 %r<3>;
//!     .reg .b64 %rd<4>;
//!     ld.param.b64 %rd1, [data];
//!     mov.u32 %r1, %tid.x;
//!     mul.wide.u32 %rd2, %r1, 4;
//!     add.s64 %rd3, %rd1, %rd2;
//!     ld.global.b32 %r2, [%rd3];
//!     shl.b32 %r2, %r2, 1;
//!     st.global.b32 [%rd3], %r2;
//!     ret;
//! }
//! ";
//! let module = ptx::parse(source)?;
//! ptx::validate(&module, source)?;
//! let ptx::ast::Item::Function(kernel) = &module.items[0] else { unreachable!() };
//! let body = kernel.body.as_deref().unwrap_or_default();
//! assert_eq!(ptx::walk::instructions(body).count(), 8);
//! assert_eq!(ptx::parse(&ptx::print(&module))?, module);
//! # Ok::<(), ptx::Error>(())
//! ```
//!
//! # What it promises
//!
//! - It reads what LLVM, nvcc and NVVM write. Instructions are kept in a generic form, so that one that
//!   is newer than this crate parses too.
//! - `parse(print(module)) == module`. Spans compare equal wherever they point.
//! - No text makes it panic or overflow the stack; time is linear in the text, and what could
//!   multiply has a limit, named in [`limits`].
//! - Every error has a place, an excerpt and says what was expected; all wording is in one file.
//!
//! # What it does not do
//!
//! It does not check operand types of instructions, nor what a target or version offers: the
//! assembler does. Of an instruction's modifiers it checks that they go together ([`isa::table`]). Comments are dropped, except behind `.loc` (see [`loc`]). Of PTX's syntax it leaves
//! out `array[index]` operands, numbered families of variables other than registers, comparisons and
//! casts in constant expressions, and the `@@DWARF` lines of PTX before 2.0.
#![forbid(unsafe_code)]

pub mod ast;
pub mod cfg;
mod demangle;
mod error;
mod escape;
pub mod isa;
mod lexer;
pub mod limits;
pub mod loc;
mod number;
mod parser;
mod print;
pub mod scope;
pub mod source_map;
pub mod span;
mod types;
mod validate;
pub mod walk;

pub use demangle::demangle;
pub use error::{CfgError, Error, ErrorKind};
pub use parser::parse;
pub use print::{print, print_instruction};
pub use source_map::SourceMap;
pub use span::Span;
pub use validate::validate;
