//! The functions that stand for atomic instructions; LLVM inlines them.
//!
//! What PTX has is inline PTX. The rest is a loop around the compare-and-swap of 32 or 64 bits that LLVM gets right, or that of 16
//! bits that PTX has. A value of 8 bits (before sm_70 of 16 bits too) is a part of an aligned word there, all of which is read
//! and written: with the scope of the system, since the values beside it may be anybody's.
//!
//! PTX's orderings stop at acquire-release. A sequentially consistent operation is a `fence.sc` and then an acquiring one
//! (Lustig, Sahasrabuddhe, Giroux: A Formal Analysis of the NVIDIA PTX Memory Consistency Model, ASPLOS 2019; LLVM does the same
//! with loads and stores). Loops release by a fence before them, so that the swap in the loop need not.

use super::line::{Atomic, Kinds};
use super::{Ordering, Scope};

mod loops;

use loops::{bits_of_a_word, compare_exchange, narrow_bits, read_modify_write};

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
