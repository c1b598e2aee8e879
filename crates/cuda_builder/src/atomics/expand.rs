//! From calls of `cuda_std.atomic.…` to LLVM's atomic instructions.

use std::borrow::Cow;
use std::fmt::Write;

use super::{Ordering, Scope};
use crate::ir::parser::Parser;
use crate::ir::token::Kind;

/// All the functions' names begin so.
const PREFIX: &str = "@cuda_std.atomic.";

/// The textual module with those calls replaced. The functions, with `T` one of `i16`, `i32`, `i64`, `f32`, `f64`, or for
/// `rmw.fadd` also `f16` and `bf16`, whose bits are passed as `i16`:
///
/// | name | parameters | result |
/// | --- | --- | --- |
/// | `load.T` | pointer, ordering, scope | value |
/// | `store.T` | pointer, value, ordering, scope | |
/// | `rmw.op.T` (LLVM's names) | pointer, value, ordering, scope | old value |
/// | `cas.T` | pointer, current, new, ordering, ordering of failure, scope | old value |
/// | `fence` | ordering, scope | |
///
/// Orderings must be ones that the operation can have. They and the scope are constants, the numbers of [`Ordering::ALL`] and [`Scope::ALL`]. A call that is otherwise stays, and
/// with it an undefined function, of which the builder complains.
pub(crate) fn expand(module: &str) -> Cow<'_, str> {
    if !module.contains(PREFIX) {
        return Cow::Borrowed(module);
    }
    let mut out = String::with_capacity(module.len());
    let mut expanded = 0;
    for line in module.lines() {
        let instructions = (line.starts_with(' ') && line.contains(PREFIX))
            .then(|| Call::parse(line))
            .flatten()
            .and_then(|call| call.instructions(expanded));
        match instructions {
            Some(instructions) => {
                out.push_str(&instructions);
                expanded += 1;
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Cow::Owned(out)
}

/// One call.
struct Call<'a> {
    /// With its `%`; empty if there is none.
    result: &'a str,
    /// Behind the prefix.
    function: &'a str,
    arguments: Vec<&'a str>,
    /// `, !dbg !7` and other metadata.
    metadata: &'a str,
}

/// Attributes of arguments that rustc writes (LLVM Language Reference, "Parameter Attributes").
const ATTRIBUTES: [&str; 6] = ["noundef", "nonnull", "signext", "zeroext", "align", "captures"];

impl<'a> Call<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut parser = Parser::new(line);
        let first = parser.peek()?;
        let result = if first.kind == Kind::Local { first.text } else { "" };
        let function = loop {
            let token = parser.next()?;
            if token.kind == Kind::Global {
                break token.text.strip_prefix(PREFIX)?;
            }
        };
        parser.next().filter(|token| token.is("("))?;
        let mut arguments = Vec::new();
        loop {
            parser.ty()?;
            while parser.peek().is_some_and(|token| ATTRIBUTES.contains(&token.text)) {
                let attribute = parser.next()?;
                if attribute.is("align") || parser.peek()?.is("(") {
                    parser.tree()?;
                }
            }
            let start = parser.position();
            while !parser.peek()?.is(",") && !parser.peek()?.is(")") {
                parser.tree()?;
            }
            arguments.push(line[start..parser.position()].trim());
            if parser.next()?.is(")") {
                break;
            }
        }
        let behind = &line[parser.position()..];
        let metadata = behind.find(", !").map_or("", |start| &behind[start..]);
        Some(Self { result, function, arguments, metadata })
    }

    /// The lines that do it; `number` tells the names of their values apart.
    fn instructions(&self, number: usize) -> Option<String> {
        let Self { result, metadata, .. } = self;
        let mut parts = self.function.split('.');
        let (action, mut arguments) = (parts.next()?, self.arguments.iter().copied());
        let op = if action == "rmw" { parts.next()? } else { "" };
        let mut next = || arguments.next();
        let mut out = String::new();
        if action == "fence" {
            let (ordering, scope) = (ordering(next()?)?, scope(next()?)?);
            if ordering == Ordering::Monotonic {
                return None;
            }
            writeln!(out, "  fence{} {}{metadata}", scope.llvm(), ordering.llvm()).ok()?;
            return Some(out);
        }
        let (ty, align) = match parts.next()? {
            "i16" => ("i16", 2),
            "i32" => ("i32", 4),
            "i64" => ("i64", 8),
            "f16" => ("half", 2),
            "bf16" => ("bfloat", 2),
            "f32" => ("float", 4),
            "f64" => ("double", 8),
            _ => return None,
        };
        let pointer = next()?;
        let written = match action {
            "load" => {
                let (ordering, scope) = (ordering(next()?)?, scope(next()?)?);
                if matches!(ordering, Ordering::Release | Ordering::AcquireRelease) {
                    return None;
                }
                let (scope, ordering) = (scope.llvm(), ordering.llvm());
                writeln!(
                    out,
                    "  {result} = load atomic {ty}, ptr {pointer}{scope} {ordering}, align {align}{metadata}"
                )
            }
            "store" => {
                let (value, ordering, scope) = (next()?, ordering(next()?)?, scope(next()?)?);
                if matches!(ordering, Ordering::Acquire | Ordering::AcquireRelease) {
                    return None;
                }
                let (scope, ordering) = (scope.llvm(), ordering.llvm());
                writeln!(
                    out,
                    "  store atomic {ty} {value}, ptr {pointer}{scope} {ordering}, align {align}{metadata}"
                )
            }
            "rmw" => {
                let (value, ordering, scope) = (next()?, ordering(next()?)?, scope(next()?)?);
                let (scope, ordering) = (scope.llvm(), ordering.llvm());
                if matches!(ty, "half" | "bfloat") {
                    let name = format!("%cuda_std.atomic.{number}");
                    writeln!(out, "  {name}.value = bitcast i16 {value} to {ty}").ok()?;
                    writeln!(
                        out,
                        "  {name}.old = atomicrmw {op} ptr {pointer}, {ty} {name}.value{scope} {ordering}, align {align}{metadata}"
                    )
                    .ok()?;
                    writeln!(out, "  {result} = bitcast {ty} {name}.old to i16")
                } else {
                    writeln!(
                        out,
                        "  {result} = atomicrmw {op} ptr {pointer}, {ty} {value}{scope} {ordering}, align {align}{metadata}"
                    )
                }
            }
            "cas" => {
                let (current, new) = (next()?, next()?);
                let (success, failure) = (ordering(next()?)?, ordering(next()?)?);
                let scope = scope(next()?)?.llvm();
                if matches!(failure, Ordering::Release | Ordering::AcquireRelease) {
                    return None;
                }
                let (success, failure) = (success.llvm(), failure.llvm());
                let pair = format!("%cuda_std.atomic.{number}.pair");
                writeln!(
                    out,
                    "  {pair} = cmpxchg ptr {pointer}, {ty} {current}, {ty} {new}{scope} {success} {failure}, align {align}{metadata}"
                )
                .ok()?;
                writeln!(out, "  {result} = extractvalue {{ {ty}, i1 }} {pair}, 0")
            }
            _ => return None,
        };
        written.ok()?;
        Some(out)
    }
}

fn ordering(number: &str) -> Option<Ordering> {
    Ordering::ALL.get(number.parse::<usize>().ok()?).copied()
}

fn scope(number: &str) -> Option<Scope> {
    Scope::ALL.get(number.parse::<usize>().ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_become_instructions() {
        for (call, expected) in [
            (
                "  %_0 = call noundef i32 @cuda_std.atomic.rmw.add.i32(ptr noundef align 4 %p, i32 noundef -1, i32 noundef 3, i32 noundef 1) #8, !dbg !77",
                "  %_0 = atomicrmw add ptr %p, i32 -1 syncscope(\"device\") acq_rel, align 4, !dbg !77\n",
            ),
            (
                "  %3 = call float @cuda_std.atomic.rmw.fadd.f32(ptr @X, float 1.000000e+00, i32 0, i32 2)",
                "  %3 = atomicrmw fadd ptr @X, float 1.000000e+00 monotonic, align 4\n",
            ),
            (
                "  %3 = tail call zeroext i16 @cuda_std.atomic.rmw.fadd.bf16(ptr %p, i16 noundef zeroext %v, i32 4, i32 0) #1",
                "  %cuda_std.atomic.0.value = bitcast i16 %v to bfloat\n  %cuda_std.atomic.0.old = atomicrmw fadd ptr %p, bfloat %cuda_std.atomic.0.value syncscope(\"block\") seq_cst, align 2\n  %3 = bitcast bfloat %cuda_std.atomic.0.old to i16\n",
            ),
            (
                "  %x = call i64 @cuda_std.atomic.load.i64(ptr %p, i32 1, i32 0), !dbg !1",
                "  %x = load atomic i64, ptr %p syncscope(\"block\") acquire, align 8, !dbg !1\n",
            ),
            (
                "  call void @cuda_std.atomic.store.i16(ptr %p, i16 %v, i32 2, i32 1)",
                "  store atomic i16 %v, ptr %p syncscope(\"device\") release, align 2\n",
            ),
            (
                "  %x = call i32 @cuda_std.atomic.cas.i32(ptr %p, i32 1, i32 %n, i32 3, i32 1, i32 1)",
                "  %cuda_std.atomic.0.pair = cmpxchg ptr %p, i32 1, i32 %n syncscope(\"device\") acq_rel acquire, align 4\n  %x = extractvalue { i32, i1 } %cuda_std.atomic.0.pair, 0\n",
            ),
            (
                "  call void @cuda_std.atomic.fence(i32 noundef 4, i32 noundef 2) #3",
                "  fence seq_cst\n",
            ),
        ] {
            assert_eq!(expand(call), expected);
        }
    }

    #[test]
    fn other_lines_stay() {
        for line in [
            "declare i32 @cuda_std.atomic.rmw.add.i32(ptr, i32, i32, i32) #4\n",
            "  %x = call i32 @cuda_std.atomic.rmw.add.i32(ptr %p, i32 1, i32 %ordering, i32 0)\n",
            "  %x = call i32 @cuda_std.atomic.rmw.add.i32(ptr %p, i32 1, i32 5, i32 0)\n",
            "  call void @cuda_std.atomic.fence(i32 0, i32 1)\n",
            "  %x = call i32 @cuda_std.atomic.load.i32(ptr %p, i32 2, i32 0)\n",
            "  call void @cuda_std.atomic.store.i32(ptr %p, i32 %v, i32 1, i32 0)\n",
            "  %x = call i32 @cuda_std.atomic.load.i7(ptr %p, i32 1, i32 0)\n",
            "  store ptr @cuda_std.atomic.fence, ptr %p\n",
        ] {
            assert_eq!(expand(line), line);
        }
    }
}
