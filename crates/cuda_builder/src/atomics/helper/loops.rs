//! Loops around a compare-and-swap, and operations on a part of a word.

use std::fmt::Write;

use super::super::line::{Atomic, Kinds};
use super::super::{Ordering, Scope};
use super::{Body, Order, Target, call, scope_qualifier};

/// The 32-bit operation that does a bitwise one on a part of a word.
pub(super) fn narrow_bits(target: Target, ty: &str, op: &str) -> Option<&'static str> {
    if ty != "i8" && (ty != "i16" || target.swaps_16_bits()) {
        return None;
    }
    ["and", "or", "xor"].into_iter().find(|known| *known == op)
}

/// Where a value of 8 or 16 bits is: `%word`, the aligned word's address; `%shift`, in bits; `%keep`, the other bits.
fn part_of_a_word(pointer_type: &str, ty: &str) -> String {
    let mask = if ty == "i8" { 0xFF } else { 0xFFFF };
    format!(
        "  %address = ptrtoint {pointer_type} %place to i64
  %byte = and i64 %address, 3
  %back = sub i64 0, %byte
  %word = getelementptr i8, {pointer_type} %place, i64 %back
  %number = trunc i64 %byte to i32
  %shift = shl i32 %number, 3
  %mask = shl i32 {mask}, %shift
  %keep = xor i32 %mask, -1
"
    )
}

pub(super) fn bits_of_a_word(
    target: Target,
    atomic: &Atomic<'_>,
    order: &Order,
    space: &str,
    op: &str,
    ptx: &(String, char),
) -> String {
    let (ty, pointer_type) = (atomic.ty, atomic.pointer_type);
    let mut text = part_of_a_word(pointer_type, ty);
    // The bits of the others must be 1 for `and`, 0 else.
    let others = if op == "and" { "%keep" } else { "0" };
    let call = call(target, order, Scope::System, space, ptx);
    let _ = write!(
        text,
        "  %wide = zext {ty} %value to i32
  %placed = shl i32 %wide, %shift
  %operand = or i32 %placed, {others}
  %old = call i32 {call}({pointer_type} %word, i32 %operand)
  %part = lshr i32 %old, %shift
  %result = trunc i32 %part to {ty}
"
    );
    text
}

/// How many bits a loop swaps at once.
fn word_of(target: Target, ty: &str) -> Option<Word> {
    Some(match ty {
        "i16" | "half" | "bfloat" if target.swaps_16_bits() => {
            Word { ty: "i16", bits: "i16", align: 2 }
        }
        "i16" | "half" | "bfloat" => Word { ty: "i32", bits: "i16", align: 4 },
        "i8" => Word { ty: "i32", bits: "i8", align: 4 },
        "i32" | "float" => Word { ty: "i32", bits: "i32", align: 4 },
        "i64" | "double" => Word { ty: "i64", bits: "i64", align: 8 },
        _ => return None,
    })
}

struct Word {
    ty: &'static str,
    /// The integer type of the value in it.
    bits: &'static str,
    /// In bytes.
    align: u32,
}

impl Word {
    /// Whether there are other values in it.
    fn is_shared(&self) -> bool {
        self.ty != self.bits
    }

    /// Whose accesses it must be atomic for.
    fn scope(&self, atomic: &Atomic<'_>) -> Scope {
        if self.is_shared() { Scope::System } else { atomic.scope }
    }

    /// The lines that swap it, with `%seen` and `%swapped` as results.
    fn swap(
        &self,
        target: Target,
        atomic: &Atomic<'_>,
        (ordering, qualifier): (Ordering, &str),
        space: &str,
        place: &str,
    ) -> String {
        let (ty, pointer_type, align) = (self.ty, atomic.pointer_type, self.align);
        if ty == "i16" {
            let scope = scope_qualifier(target, atomic.scope);
            return format!(
                "  %seen = call i16 asm sideeffect \"atom{qualifier}{scope}{space}.cas.b16 $0, [$1], $2, $3;\", \"=h,l,h,h,~{{memory}}\"({pointer_type} {place}, i16 %old, i16 %next)
  %swapped = icmp eq i16 %seen, %old
"
            );
        }
        let (scope, ordering) = (self.scope(atomic).llvm(), ordering.llvm());
        format!(
            "  %pair = cmpxchg {pointer_type} {place}, {ty} %old, {ty} %next{scope} {ordering} monotonic, align {align}
  %seen = extractvalue {{ {ty}, i1 }} %pair, 0
  %swapped = extractvalue {{ {ty}, i1 }} %pair, 1
"
        )
    }
}

/// A loop. The load before it is relaxed: a plain one would be a race.
pub(super) fn read_modify_write(
    target: Target,
    atomic: &Atomic<'_>,
    order: &Order,
    space: &str,
    op: &str,
) -> Option<String> {
    let Atomic { ty, pointer_type, .. } = *atomic;
    let word = word_of(target, ty)?;
    let bits = word.bits;
    let (mut text, place, take, put) = if word.is_shared() {
        let take = format!("  %part = lshr i32 %old, %shift\n  %was = trunc i32 %part to {bits}\n");
        let put = format!(
            "  %wide = zext {bits} %will to i32
  %placed = shl i32 %wide, %shift
  %others = and i32 %old, %keep
  %next = or i32 %others, %placed
"
        );
        (part_of_a_word(pointer_type, bits), "%word", take, put)
    } else {
        let copy = |to: &str, from: &str| format!("  {to} = add {bits} {from}, 0\n");
        (String::new(), "%place", copy("%was", "%old"), copy("%next", "%will"))
    };
    // Old and new as the type that the operation is on.
    let (before, old, new, after) = if bits == ty {
        (String::new(), "%was", "%will", String::new())
    } else {
        (
            format!("  %result = bitcast {bits} %was to {ty}\n"),
            "%result",
            "%sum",
            format!("  %will = bitcast {ty} %sum to {bits}\n"),
        )
    };
    let compute = compute(op, ty, old, new)?;
    let done = if bits == ty {
        format!("done:\n  %result = add {ty} %was, 0\n")
    } else {
        "done:\n".to_owned()
    };
    let swap = word.swap(target, atomic, (order.swap.1, order.swap_qualifier()), space, place);
    let (word, align, scope) = (word.ty, word.align, word.scope(atomic).llvm());
    let _ = write!(
        text,
        "  %first = load atomic {word}, {pointer_type} {place}{scope} monotonic, align {align}
  br label %again

again:
  %old = phi {word} [ %first, %start ], [ %seen, %again ]
{take}{before}{compute}{after}{put}{swap}  br i1 %swapped, label %done, label %again

{done}"
    );
    Some(text)
}

/// The lines that compute `new` from `old` and `%value` (LLVM Language Reference, "atomicrmw").
fn compute(op: &str, ty: &str, old: &str, new: &str) -> Option<String> {
    let select = |condition: &str| {
        format!(
            "  %better = icmp {condition} {ty} {old}, %value\n  {new} = select i1 %better, {ty} {old}, {ty} %value\n"
        )
    };
    // LLVM's other operations on floating-point numbers are in no program of Rust's.
    let is_float = matches!(ty, "half" | "bfloat" | "float" | "double");
    if is_float != (op == "fadd") {
        return None;
    }
    Some(match op {
        "xchg" => format!("  {new} = add {ty} %value, 0\n"),
        "add" | "sub" | "and" | "or" | "xor" | "fadd" => {
            format!("  {new} = {op} {ty} {old}, %value\n")
        }
        "nand" => format!("  %both = and {ty} {old}, %value\n  {new} = xor {ty} %both, -1\n"),
        "max" => select("sgt"),
        "min" => select("slt"),
        "umax" => select("ugt"),
        "umin" => select("ult"),
        "uinc_wrap" => format!(
            "  %over = icmp uge {ty} {old}, %value
  %more = add {ty} {old}, 1
  {new} = select i1 %over, {ty} 0, {ty} %more
"
        ),
        "udec_wrap" => format!(
            "  %zero = icmp eq {ty} {old}, 0
  %above = icmp ugt {ty} {old}, %value
  %over = or i1 %zero, %above
  %less = sub {ty} {old}, 1
  {new} = select i1 %over, {ty} %value, {ty} %less
"
        ),
        _ => return None,
    })
}

/// Compare-and-swap of 8 or 16 bits: fails only when these bits differ, not when their neighbours change.
pub(super) fn compare_exchange(
    target: Target,
    atomic: &Atomic<'_>,
    order: Order,
    space: &str,
) -> Option<Body> {
    let Atomic { ty, pointer_type, .. } = *atomic;
    if !matches!(ty, "i8" | "i16") {
        return None;
    }
    let Kinds::CompareExchange { failure, .. } = atomic.kind else {
        return None;
    };
    if ty == "i16" && target.swaps_16_bits() {
        return Some(compare_exchange_16(target, atomic, failure, space));
    }
    let scope = atomic.scope.llvm();
    let (before, success) = order.swap;
    // A failure that acquires does so in the last swap, which is one that failed or none: the fence covers both.
    let acquire = if failure.acquires() && order.after.is_none() {
        format!("  fence{scope} acquire\n")
    } else {
        String::new()
    };
    let before = if failure == Ordering::SequentiallyConsistent { Some(failure) } else { before };
    let success = success.llvm();
    let mut text = part_of_a_word(pointer_type, ty);
    let _ = write!(
        text,
        "  %from = zext {ty} %current to i32
  %from.placed = shl i32 %from, %shift
  %to = zext {ty} %value to i32
  %to.placed = shl i32 %to, %shift
  %first = load atomic i32, {pointer_type} %word monotonic, align 4
  br label %again

again:
  %old = phi i32 [ %first, %start ], [ %seen, %differs ]
  %part = lshr i32 %old, %shift
  %was = trunc i32 %part to {ty}
  %same = icmp eq {ty} %was, %current
  br i1 %same, label %swap, label %done

swap:
  %others = and i32 %old, %keep
  %expected = or i32 %others, %from.placed
  %next = or i32 %others, %to.placed
  %pair = cmpxchg {pointer_type} %word, i32 %expected, i32 %next {success} monotonic, align 4
  %swapped = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %swapped, label %done, label %differs

differs:
  %seen = extractvalue {{ i32, i1 }} %pair, 0
  br label %again

done:
  %success = phi i1 [ false, %again ], [ true, %swap ]
{acquire}  %half = insertvalue {{ {ty}, i1 }} poison, {ty} %was, 0
  %result = insertvalue {{ {ty}, i1 }} %half, i1 %success, 1
"
    );
    Some(Body { before, text })
}

/// With PTX's own instruction, and the stronger of both orderings, as LLVM has it for 32 bits.
fn compare_exchange_16(
    target: Target,
    atomic: &Atomic<'_>,
    failure: Ordering,
    space: &str,
) -> Body {
    let ordering = match (atomic.ordering, failure) {
        (Ordering::Release, Ordering::Acquire) => Ordering::AcquireRelease,
        (success, failure) => success.max(failure),
    };
    let (before, qualifier) = Order::new(ordering, target).instruction;
    let scope = scope_qualifier(target, atomic.scope);
    let pointer_type = atomic.pointer_type;
    let text = format!(
        "  %old = call i16 asm sideeffect \"atom{qualifier}{scope}{space}.cas.b16 $0, [$1], $2, $3;\", \"=h,l,h,h,~{{memory}}\"({pointer_type} %place, i16 %current, i16 %value)
  %same = icmp eq i16 %old, %current
  %half = insertvalue {{ i16, i1 }} poison, i16 %old, 0
  %result = insertvalue {{ i16, i1 }} %half, i1 %same, 1
"
    );
    Body { before, text }
}
