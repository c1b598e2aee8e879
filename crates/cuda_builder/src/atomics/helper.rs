//! The functions that stand for atomic instructions; LLVM inlines them.
//!
//! What PTX has is inline PTX. The rest is a loop around the compare-and-swap of 32 or 64 bits that LLVM gets right, or that of 16
//! bits that PTX has. A value of 8 bits (before sm_70 of 16 bits too) is a part of an aligned word there, all of which is read
//! and written.
//!
//! PTX's orderings stop at acquire-release. A sequentially consistent operation is a `fence.sc` and then an acquiring one
//! (Lustig, Sahasrabuddhe, Giroux: A Formal Analysis of the NVIDIA PTX Memory Consistency Model, ASPLOS 2019; LLVM does the same
//! with loads and stores). Loops release by a fence before them, so that the swap in the loop need not.

use std::fmt::Write;

use super::line::{Atomic, Kinds};
use super::{Ordering, Scope};

/// What the PTX is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    /// 75 for sm_75.
    pub(crate) capability: u32,
    /// The PTX ISA version, as (major, minor).
    pub(crate) ptx: (u32, u32),
}

impl Target {
    /// Whether PTX has orderings (PTX ISA, "Memory Consistency Model": sm_70, PTX 6.0).
    pub(super) fn has_orderings(self) -> bool {
        self.capability >= 70 && self.ptx >= (6, 0)
    }

    /// Whether PTX swaps 16 bits (PTX ISA, `atom`: sm_70, PTX 6.3); LLVM takes the word around them.
    fn swaps_16_bits(self) -> bool {
        self.capability >= 70 && self.ptx >= (6, 3)
    }
}

/// A function, and its name with the `@`.
pub(super) struct Helper {
    pub(super) name: String,
    pub(super) definition: String,
}

/// The function for an instruction that LLVM gets wrong; `None` for one that it gets right, or that has neither PTX nor a loop
/// here.
pub(super) fn helper(target: Target, atomic: &Atomic<'_>) -> Option<Helper> {
    let space = match atomic.pointer_type {
        "ptr" => "",
        "ptr addrspace(1)" => ".global",
        "ptr addrspace(3)" => ".shared",
        _ => return None,
    };
    let scope = atomic.scope;
    let (op, failure) = match atomic.kind {
        Kinds::ReadModifyWrite { op, .. } => (op, ""),
        Kinds::CompareExchange { failure, .. } => ("cmpxchg", failure.llvm()),
    };
    let order = Order::new(atomic.ordering, target);
    let body = if op == "cmpxchg" {
        compare_exchange(target, atomic, order, space)?
    } else if let Some(ptx) = instruction(target, atomic.ty, op) {
        Body { before: order.instruction.0, text: inline(target, atomic, &order, space, &ptx) }
    } else {
        let word = narrow_bits(target, atomic.ty, op);
        let text = match word.and_then(|word| instruction(target, "i32", word)) {
            Some(ptx) => bits_of_a_word(target, atomic, &order, space, op, &ptx),
            None => read_modify_write(target, atomic, &order, space, op)?,
        };
        let before = if word.is_some() { order.instruction.0 } else { order.swap.0 };
        Body { before, text }
    };
    let name = format!(
        "@cuda_builder.{op}.{}{space}.{}.{}{}{failure}",
        atomic.ty,
        scope.ptx(),
        atomic.ordering.llvm(),
        if failure.is_empty() { "" } else { "." },
    );
    let (ty, pointer_type) = (atomic.ty, atomic.pointer_type);
    let (result, parameters) = if op == "cmpxchg" {
        (format!("{{ {ty}, i1 }}"), format!("{ty} %current, {ty} %value"))
    } else {
        (ty.to_owned(), format!("{ty} %value"))
    };
    let before = body.before.map_or(String::new(), |fence| fence_line(scope, fence));
    let after = order.after.map_or(String::new(), |fence| fence_line(scope, fence));
    let text = body.text;
    let definition = format!(
        "\ndefine internal {result} {name}({pointer_type} %place, {parameters}) alwaysinline nounwind {{\nstart:\n{before}{text}{after}  ret {result} %result\n}}\n"
    );
    Some(Helper { name, definition })
}

struct Body {
    before: Option<Ordering>,
    /// Ends with `%result` defined.
    text: String,
}

/// A line with a fence.
pub(super) fn fence_line(scope: Scope, ordering: Ordering) -> String {
    format!("  fence{} {}\n", scope.llvm(), ordering.llvm())
}

/// How an ordering is kept.
#[derive(Clone, Copy)]
pub(super) struct Order {
    /// With an instruction of PTX: a fence before it, and its qualifier.
    instruction: (Option<Ordering>, &'static str),
    /// With LLVM's compare-and-swap: a fence before it, and its ordering.
    swap: (Option<Ordering>, Ordering),
    /// With both: a fence behind it.
    pub(super) after: Option<Ordering>,
}

impl Order {
    pub(super) fn new(ordering: Ordering, target: Target) -> Self {
        let fence = Ordering::SequentiallyConsistent;
        if !target.has_orderings() {
            let before = ordering.releases().then_some(fence);
            let after = ordering.acquires().then_some(fence);
            let swap = (before, Ordering::Monotonic);
            return Self { instruction: (before, ""), swap, after };
        }
        let instruction = match ordering {
            Ordering::Monotonic => (None, ".relaxed"),
            Ordering::Acquire => (None, ".acquire"),
            Ordering::Release => (None, ".release"),
            Ordering::AcquireRelease => (None, ".acq_rel"),
            Ordering::SequentiallyConsistent => (Some(fence), ".acquire"),
        };
        let swap = match ordering {
            Ordering::Monotonic | Ordering::Acquire => (None, ordering),
            Ordering::Release => (Some(Ordering::Release), Ordering::Monotonic),
            Ordering::AcquireRelease => (Some(Ordering::Release), Ordering::Acquire),
            Ordering::SequentiallyConsistent => (Some(fence), Ordering::Acquire),
        };
        Self { instruction, swap, after: None }
    }

    /// The qualifier of a swap in inline PTX.
    fn swap_qualifier(&self) -> &'static str {
        match self.swap.1 {
            _ if self.instruction.1.is_empty() => "",
            Ordering::Acquire => ".acquire",
            _ => ".relaxed",
        }
    }

    /// The fence before LLVM's own relaxed instruction.
    pub(super) fn before(&self) -> Option<Ordering> {
        self.swap.0
    }
}

/// Operation and type in PTX, and the letter of its registers in inline PTX (PTX ISA, `atom`).
fn instruction(target: Target, ty: &str, op: &str) -> Option<(String, char)> {
    let (bits, register) = match ty {
        "i32" => (32, 'r'),
        "i64" | "ptr" => (64, 'l'),
        "float" if op == "fadd" => return Some(("add.f32".into(), 'f')),
        "double" if op == "fadd" && target.capability >= 60 => {
            return Some(("add.f64".into(), 'd'));
        }
        "half" if op == "fadd" && target.capability >= 70 && target.ptx >= (6, 3) => {
            return Some(("add.noftz.f16".into(), 'h'));
        }
        "bfloat" if op == "fadd" && target.capability >= 90 && target.ptx >= (7, 8) => {
            return Some(("add.noftz.bf16".into(), 'h'));
        }
        _ => return None,
    };
    let name = match op {
        "xchg" => format!("exch.b{bits}"),
        "add" | "sub" => format!("add.u{bits}"),
        "and" | "or" | "xor" => format!("{op}.b{bits}"),
        "max" | "min" => format!("{op}.s{bits}"),
        "umax" => format!("max.u{bits}"),
        "umin" => format!("min.u{bits}"),
        "uinc_wrap" if bits == 32 => "inc.u32".into(),
        "udec_wrap" if bits == 32 => "dec.u32".into(),
        _ => return None,
    };
    Some((name, register))
}

/// The instruction as a call of inline PTX, its result in `%result`.
fn inline(
    target: Target,
    atomic: &Atomic<'_>,
    order: &Order,
    space: &str,
    ptx: &(String, char),
) -> String {
    let (ty, pointer_type) = (atomic.ty, atomic.pointer_type);
    let (negated, value) = match atomic.kind {
        Kinds::ReadModifyWrite { op: "sub", .. } => {
            (format!("  %negated = sub {ty} 0, %value\n"), "%negated")
        }
        _ => (String::new(), "%value"),
    };
    let call = call(target, order, atomic.scope, space, ptx);
    format!("{negated}  %result = call {ty} {call}({pointer_type} %place, {ty} {value})\n")
}

/// The inline PTX: takes an address and a value, gives the old value.
fn call(
    target: Target,
    order: &Order,
    scope: Scope,
    space: &str,
    (name, register): &(String, char),
) -> String {
    let scope = scope_qualifier(target, scope);
    let ordering = order.instruction.1;
    format!(
        "asm sideeffect \"atom{ordering}{scope}{space}.{name} $0, [$1], $2;\", \"={register},l,{register},~{{memory}}\""
    )
}

/// Scopes came with sm_60 and PTX 5.0 (PTX ISA, `atom`).
fn scope_qualifier(target: Target, scope: Scope) -> String {
    let scoped = target.capability >= 60 && target.ptx >= (5, 0);
    if scoped { format!(".{}", scope.ptx()) } else { String::new() }
}

/// The 32-bit operation that does a bitwise one on a part of a word.
fn narrow_bits(target: Target, ty: &str, op: &str) -> Option<&'static str> {
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

fn bits_of_a_word(
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
    let call = call(target, order, atomic.scope, space, ptx);
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
        let (scope, ordering) = (atomic.scope.llvm(), ordering.llvm());
        format!(
            "  %pair = cmpxchg {pointer_type} {place}, {ty} %old, {ty} %next{scope} {ordering} monotonic, align {align}
  %seen = extractvalue {{ {ty}, i1 }} %pair, 0
  %swapped = extractvalue {{ {ty}, i1 }} %pair, 1
"
        )
    }
}

/// A loop. The load before it is relaxed: a plain one would be a race.
fn read_modify_write(
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
    let (word, align, scope) = (word.ty, word.align, atomic.scope.llvm());
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
fn compare_exchange(
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
  %first = load atomic i32, {pointer_type} %word{scope} monotonic, align 4
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
  %pair = cmpxchg {pointer_type} %word, i32 %expected, i32 %next{scope} {success} monotonic, align 4
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

/// Compare-and-swap of a thread's own memory, for which PTX has none.
pub(super) fn local_compare_exchange(atomic: &Atomic<'_>) -> Helper {
    let (ty, pointer_type) = (atomic.ty, atomic.pointer_type);
    let name = format!("@cuda_builder.cmpxchg.{ty}.local");
    let definition = format!(
        "
define internal {{ {ty}, i1 }} {name}({pointer_type} %place, {ty} %current, {ty} %value) alwaysinline nounwind {{
start:
  %old = load {ty}, {pointer_type} %place
  %same = icmp eq {ty} %old, %current
  %new = select i1 %same, {ty} %value, {ty} %old
  store {ty} %new, {pointer_type} %place
  %half = insertvalue {{ {ty}, i1 }} poison, {ty} %old, 0
  %result = insertvalue {{ {ty}, i1 }} %half, i1 %same, 1
  ret {{ {ty}, i1 }} %result
}}
"
    );
    Helper { name, definition }
}
