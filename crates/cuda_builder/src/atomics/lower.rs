//! From LLVM's atomic instructions to what stands for them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::helper::{Helper, Order, Target, fence_line, helper, local_compare_exchange};
use super::line::{Atomic, Kinds, parse};
use super::{Ordering, Scope};
use crate::ir::token::{Kind, tokens};

/// The textual module, which is optimised but for what is inserted here: borrowed if nothing is.
pub(crate) fn lower(module: &str, target: Target) -> Cow<'_, str> {
    let mut helpers = BTreeMap::new();
    let mut out = String::with_capacity(module.len());
    let mut changed = false;
    for line in module.lines() {
        // Instructions are indented.
        let replaced = line.starts_with(' ').then(|| replace(line, target, &mut helpers)).flatten();
        changed |= replaced.is_some();
        out.push_str(replaced.as_deref().unwrap_or(line));
        out.push('\n');
    }
    for definition in helpers.values() {
        out.push_str(definition);
    }
    if changed { Cow::Owned(out) } else { Cow::Borrowed(module) }
}

/// What stands for the instruction of a line; `None` if it stays.
fn replace(line: &str, target: Target, helpers: &mut BTreeMap<String, String>) -> Option<String> {
    let text = line.trim_start();
    if text.starts_with("fence syncscope(\"singlethread\")") {
        // Of compilers alone, and LLVM has no PTX for it.
        return Some("  call void asm sideeffect \"\", \"~{memory}\"()".to_owned());
    }
    if text.contains(" atomicrmw ") || text.contains(" cmpxchg ") {
        let atomic = parse(line)?;
        if atomic.pointer_type == "ptr addrspace(5)" {
            // LLVM makes plain code of the others.
            let is_swap = matches!(atomic.kind, Kinds::CompareExchange { .. });
            return is_swap.then(|| call(&atomic, local_compare_exchange(&atomic), helpers));
        }
        if let Some(helper) = helper(target, &atomic) {
            return Some(call(&atomic, helper, helpers));
        }
        let (is_swap, failure) = match atomic.kind {
            Kinds::CompareExchange { failure, .. } => (true, failure),
            Kinds::ReadModifyWrite { .. } => (false, Ordering::Monotonic),
        };
        let strongest = atomic.ordering.max(failure);
        if strongest == Ordering::Monotonic || is_swap && target.has_orderings() {
            return None;
        }
        return fenced(line, target, &atomic, failure);
    }
    if !target.has_orderings()
        && (text.starts_with("store atomic ") || text.contains(" load atomic "))
    {
        return fenced_access(line, target);
    }
    None
}

/// A call in the instruction's place.
fn call(atomic: &Atomic<'_>, helper: Helper, helpers: &mut BTreeMap<String, String>) -> String {
    let Atomic { result, pointer_type, pointer, ty, rest, .. } = atomic;
    let (returns, operands) = match atomic.kind {
        Kinds::ReadModifyWrite { value, .. } => (ty.to_string(), format!("{ty} {value}")),
        Kinds::CompareExchange { current, new, .. } => {
            (format!("{{ {ty}, i1 }}"), format!("{ty} {current}, {ty} {new}"))
        }
    };
    let metadata = rest.find(", !dbg").map_or("", |start| &rest[start..]);
    let line = format!(
        "  {result} = call {returns} {}({pointer_type} {pointer}, {operands}){metadata}",
        helper.name
    );
    helpers.entry(helper.name).or_insert(helper.definition);
    line
}

/// LLVM's own instruction, relaxed, between fences.
fn fenced(line: &str, target: Target, atomic: &Atomic<'_>, failure: Ordering) -> Option<String> {
    let order = Order::new(atomic.ordering.max(failure), target);
    let before = order.before().map_or(String::new(), |fence| fence_line(atomic.scope, fence));
    let acquires = atomic.ordering.acquires() || failure.acquires();
    let after = acquires.then(|| fence_line(atomic.scope, Ordering::AcquireRelease));
    let after = after.unwrap_or_default();
    Some(format!("{before}{}\n{after}", relaxed(line)?).trim_end().to_owned())
}

/// A load or store before sm_70.
fn fenced_access(line: &str, target: Target) -> Option<String> {
    let word = ordering_words(line).last()?;
    let ordering = Ordering::from_llvm(word.1)?;
    if ordering == Ordering::Monotonic {
        return None;
    }
    let scope = Scope::ALL
        .into_iter()
        .find(|scope| !scope.llvm().is_empty() && line.contains(scope.llvm()))
        .unwrap_or(Scope::System);
    let order = Order::new(ordering, target);
    let before = order.before().map_or(String::new(), |fence| fence_line(scope, fence));
    let after = order.after.map_or(String::new(), |fence| fence_line(scope, fence));
    Some(format!("{before}{}\n{after}", relaxed(line)?).trim_end().to_owned())
}

/// The line with its orderings relaxed.
fn relaxed(line: &str) -> Option<String> {
    let mut out = line.to_owned();
    let words: Vec<_> = ordering_words(line).collect();
    for (start, word) in words.into_iter().rev() {
        out.replace_range(start..start + word.len(), Ordering::Monotonic.llvm());
    }
    Some(out)
}

/// The orderings on a line, with the byte where each starts.
fn ordering_words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut position = 0;
    tokens(line).filter_map(move |token| {
        let start = position;
        position += token.text.len();
        let is_ordering = token.kind == Kind::Word && Ordering::from_llvm(token.text).is_some();
        is_ordering.then_some((start, token.text))
    })
}

#[cfg(test)]
mod tests;
