//! The table itself, a file a chapter of the PTX ISA's instruction set, and how it is searched.

mod asynchronous;
mod bits;
mod compare;
mod control;
mod convert;
mod float;
mod half;
mod integer;
mod matrix;
mod memory;
mod texture;
mod warp;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::form::Form;
use super::row::Row;

/// The chapters, in the order of the PTX ISA.
const CHAPTERS: [&[Row]; 12] = [
    integer::ROWS,
    float::ROWS,
    half::ROWS,
    compare::ROWS,
    bits::ROWS,
    memory::ROWS,
    convert::ROWS,
    asynchronous::ROWS,
    texture::ROWS,
    control::ROWS,
    warp::ROWS,
    matrix::ROWS,
];

/// The newest PTX version that the table knows, major and minor. A module of a newer version may use forms that
/// are not in it.
pub const NEWEST: (u32, u32) = (9, 1);

/// The fundamental types (PTX ISA, Types): they are as old as PTX, so that an instruction that lacks a form with one of
/// them has none.
const TYPES: [&str; 15] = [
    "pred", "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32",
    "f64",
];

/// Every row, in the order of the PTX ISA's chapters.
pub fn table() -> impl Iterator<Item = &'static Row> {
    CHAPTERS.into_iter().flatten()
}

/// The rows of one opcode.
struct Opcode {
    rows: Vec<(&'static Row, Form)>,
    /// Every modifier that some row has.
    words: Vec<&'static str>,
}

static OPCODES: LazyLock<HashMap<&'static str, Opcode>> = LazyLock::new(|| {
    let mut opcodes: HashMap<&'static str, Opcode> = HashMap::new();
    for row in table() {
        let form = Form::new(row.form);
        let opcode = opcodes
            .entry(form.opcode())
            .or_insert_with(|| Opcode { rows: Vec::new(), words: Vec::new() });
        opcode.words.extend(form.words());
        opcode.rows.push((row, form));
    }
    opcodes
});

/// What the table says of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has this form.
    Known(&'static Row),
    /// Opcode and modifiers exist, but not in this combination; the row has as much as any in common with it.
    Impossible(&'static Row),
    /// The opcode or a modifier is not in the table: a newer instruction, or none at all.
    Unknown,
}

/// Looks an instruction up by its opcode and modifiers, as they stand in
/// [`Instruction`](crate::ast::Instruction).
///
/// ```
/// use ptx::isa::{Verdict, instruction};
///
/// assert!(matches!(instruction("add", &["sat", "s32"]), Verdict::Known(row) if row.form == "add.sat.s32"));
/// assert!(matches!(instruction("add", &["sat", "u64"]), Verdict::Impossible(_)));
/// assert_eq!(instruction("add", &["frob", "s32"]), Verdict::Unknown);
/// ```
pub fn instruction<S: AsRef<str>>(opcode: &str, modifiers: &[S]) -> Verdict {
    let Some(opcode) = OPCODES.get(opcode) else { return Verdict::Unknown };
    let in_order = opcode.rows.iter().find(|(_, form)| form.allows(modifiers));
    // Assemblers are not strict about the order, and compilers know it.
    let found = in_order
        .or_else(|| opcode.rows.iter().find(|(_, form)| form.allows_in_any_order(modifiers)));
    if let Some((row, _)) = found {
        return Verdict::Known(row);
    }
    let exists = |word: &str| opcode.words.contains(&word) || TYPES.contains(&word);
    if !modifiers.iter().all(|word| exists(word.as_ref())) {
        return Verdict::Unknown;
    }
    // `max_by_key` takes the last of equals; the first row is the plainest.
    let nearest = opcode.rows.iter().rev().max_by_key(|(_, form)| {
        let words: Vec<&str> = form.words().collect();
        modifiers.iter().filter(|word| words.contains(&word.as_ref())).count()
    });
    nearest.map_or(Verdict::Unknown, |(row, _)| Verdict::Impossible(row))
}

#[cfg(test)]
mod tests {
    use super::super::row::Support;
    use super::*;

    #[test]
    fn every_row_is_well_formed_and_reachable() {
        for row in table() {
            let form = Form::new(row.form);
            assert!(!form.opcode().is_empty(), "{}", row.form);
            assert_eq!(
                row.form.matches('{').count(),
                row.form.matches('}').count(),
                "{}",
                row.form
            );
            assert!(
                form.words().all(|word| !word.is_empty() && !word.contains('@')),
                "{}",
                row.form
            );
            if let Support::No(why) | Support::Modelled(why) = row.support {
                assert!(!why.is_empty(), "`{}` should say why", row.form);
            }
            let mut shadowed = true;
            for mnemonic in form.some_mnemonics(2000) {
                let Verdict::Known(found) = instruction(form.opcode(), &mnemonic) else {
                    panic!("`{}` does not allow its own {mnemonic:?}", row.form);
                };
                shadowed &= found != row;
            }
            assert!(!shadowed, "rows before `{}` have all that it has", row.form);
        }
    }

    #[test]
    fn forms_are_told_apart() {
        let known = |mnemonic: &str| {
            let mut parts = mnemonic.split('.');
            let opcode = parts.next().unwrap_or_default();
            match instruction(opcode, &parts.collect::<Vec<_>>()) {
                Verdict::Known(row) => row.form,
                Verdict::Impossible(_) => "impossible",
                Verdict::Unknown => "unknown",
            }
        };
        assert_eq!(known("add.s32"), "add.@i");
        assert_eq!(known("add.sat.s32"), "add.sat.s32");
        assert_eq!(known("add.s32.sat"), "add.sat.s32");
        assert_eq!(known("min.xorsign.abs.f32"), "min{.ftz}{.NaN}{.xorsign.abs}.f32");
        assert_eq!(known("min.xorsign.f32"), "impossible");
        assert_eq!(known("add.rn.u32"), "impossible");
        assert_eq!(known("ld.global.pred"), "impossible");
        assert_eq!(known("add.frob.u32"), "unknown");
        assert_eq!(known("frobnicate.u32"), "unknown");
        assert_eq!(known("st.async.weak.b32"), "st.async.*");
        assert_eq!(known("exit"), "exit");
        assert_eq!(known("exit.uni"), "unknown");
        let many = "add".to_owned() + &".sat".repeat(100_000);
        assert_eq!(known(&many), "impossible");
    }
}
