//! What PTX predefines: the forms of its instructions, and its special registers.
//!
//! [`table()`] has one [`Row`] an instruction form. The validator refuses what no row allows, the emulator
//! dispatches by [`Row::family`], `docs/SUPPORT.md` is printed from it, and tests fail when a row that is
//! marked as supported has no conformance case.
//!
//! # Adding a row
//!
//! Add `row("opcode.modifiers", "operands", Family)` to the file of its chapter under `isa/table/`, with the
//! PTX version and compute capability that introduced it (`.since(86, 100)`), and then one of
//! `.golden("family")` (a record under `crates/ptx_emulator/tests/data/golden` has it), `.test("file::name")`
//! (that test of the emulator uses it) or `.missing("why")`. [`Form`] explains the notation. Then run
//! `cargo xtask tables`, and where there is a ptxas `PTXAS=… cargo test -p ptx --test isa -- --ignored`, which
//! lets it judge what the row allows.

mod example;
mod form;
mod row;
mod special;
mod table;

pub use example::Example;
pub use form::Form;
pub use row::{Case, Family, Row, Support};
pub use special::{Part, SpecialRegister, component_index, special_register};
pub use table::{NEWEST, Verdict, instruction, table};
