//! Reading one line that holds an atomic instruction.

use super::{Ordering, Scope};
use crate::ir::parser::Parser;
use crate::ir::token::Kind;

/// An atomic instruction; the types and operands as LLVM's text has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Atomic<'a> {
    /// With `%`.
    pub(super) result: &'a str,
    pub(super) kind: Kinds<'a>,
    /// `ptr` or `ptr addrspace(n)`.
    pub(super) pointer_type: &'a str,
    pub(super) pointer: &'a str,
    /// Of what is in memory.
    pub(super) ty: &'a str,
    pub(super) scope: Scope,
    pub(super) ordering: Ordering,
    /// Everything from the comma behind the ordering on: alignment, metadata.
    pub(super) rest: &'a str,
}

/// What the instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinds<'a> {
    ReadModifyWrite { op: &'a str, value: &'a str },
    CompareExchange { current: &'a str, new: &'a str, failure: Ordering },
}

/// Reads an `atomicrmw` or `cmpxchg`; `None` for anything else, and for scopes that PTX's instructions don't have.
pub(super) fn parse(line: &str) -> Option<Atomic<'_>> {
    let mut parser = Parser::new(line);
    let result = parser.next().filter(|token| token.kind == Kind::Local)?.text;
    parser.next().filter(|token| token.is("="))?;
    let instruction = parser.next()?.text;
    if !matches!(instruction, "atomicrmw" | "cmpxchg") {
        return None;
    }
    while parser.peek().is_some_and(|token| token.is("weak") || token.is("volatile")) {
        parser.next();
    }
    let op = if instruction == "atomicrmw" { parser.next()?.text } else { "" };
    let pointer_type = parser.ty()?;
    let pointer = until_comma(&mut parser, line)?;
    let ty = parser.ty()?;
    let (current, value) = if instruction == "cmpxchg" {
        let current = until_comma(&mut parser, line)?;
        parser.ty().filter(|second| *second == ty)?;
        (current, until_ordering(&mut parser, line)?)
    } else {
        ("", until_ordering(&mut parser, line)?)
    };
    let scope = scope(&mut parser)?;
    let ordering = Ordering::from_llvm(parser.next()?.text)?;
    let kind = if instruction == "cmpxchg" {
        let failure = Ordering::from_llvm(parser.next()?.text)?;
        Kinds::CompareExchange { current, new: value, failure }
    } else {
        Kinds::ReadModifyWrite { op, value }
    };
    let rest = &line[parser.position()..];
    Some(Atomic { result, kind, pointer_type, pointer, ty, scope, ordering, rest })
}

/// What stands before the next comma outside brackets; takes the comma too.
fn until_comma<'a>(parser: &mut Parser<'a>, line: &'a str) -> Option<&'a str> {
    let start = parser.position();
    parser.skip_to_comma();
    let text = line[start..parser.position()].trim();
    parser.next()?;
    Some(text)
}

/// What stands before the scope or the ordering.
fn until_ordering<'a>(parser: &mut Parser<'a>, line: &'a str) -> Option<&'a str> {
    let start = parser.position();
    loop {
        let token = parser.peek()?;
        if token.kind == Kind::Word
            && (token.is("syncscope") || Ordering::from_llvm(token.text).is_some())
        {
            return Some(line[start..parser.position()].trim());
        }
        parser.tree()?;
    }
}

/// Takes `syncscope("…")`, if it is there.
fn scope(parser: &mut Parser<'_>) -> Option<Scope> {
    if !parser.peek()?.is("syncscope") {
        return Some(Scope::System);
    }
    parser.next();
    parser.next()?;
    let name = parser.next()?.text;
    parser.next()?;
    Scope::ALL.into_iter().find(|scope| scope.llvm().contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_instructions_apart() {
        let line = r#"  %7 = atomicrmw volatile add ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @"a, b", i64 4), i32 -1 syncscope("device") acq_rel, align 4, !dbg !7"#;
        let expected = Atomic {
            result: "%7",
            kind: Kinds::ReadModifyWrite { op: "add", value: "-1" },
            pointer_type: "ptr addrspace(3)",
            pointer: r#"getelementptr inbounds (i8, ptr addrspace(3) @"a, b", i64 4)"#,
            ty: "i32",
            scope: Scope::Device,
            ordering: Ordering::AcquireRelease,
            rest: ", align 4, !dbg !7",
        };
        assert_eq!(parse(line), Some(expected));

        let line = "  %x = cmpxchg weak ptr %p, i8 %c, i8 1 release monotonic, align 1";
        let expected = Atomic {
            result: "%x",
            kind: Kinds::CompareExchange { current: "%c", new: "1", failure: Ordering::Monotonic },
            pointer_type: "ptr",
            pointer: "%p",
            ty: "i8",
            scope: Scope::System,
            ordering: Ordering::Release,
            rest: ", align 1",
        };
        assert_eq!(parse(line), Some(expected));
    }

    #[test]
    fn values_of_every_form() {
        for value in ["1.000000e+00", "0xFFF0", "ptrtoint (ptr @release to i64)", "%acquire"] {
            let line = format!("  %x = atomicrmw xchg ptr %p, i64 {value} seq_cst, align 8");
            let kind = Kinds::ReadModifyWrite { op: "xchg", value };
            assert_eq!(parse(&line).map(|atomic| atomic.kind), Some(kind));
        }
    }

    #[test]
    fn anything_else_is_left_alone() {
        for line in [
            "  %x = load atomic i32, ptr %p acquire, align 4",
            "  %x = call i32 @atomicrmw(ptr %p)",
            "  %x = atomicrmw add ptr %p, i32 1 syncscope(\"cluster\") acq_rel, align 4",
            "",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
