//! Reading LLVM's textual IR, as far as the builder needs to: tokens, global variables, source locations.
//!
//! The text is what `llvm-dis` and `opt -S` print, so one global variable, one function header and one instruction each take
//! exactly one line. The grammar is the LLVM Language Reference's; nothing here is a full parser of it.

pub(crate) mod global;
pub(crate) mod location;
pub(crate) mod parser;
pub(crate) mod token;
