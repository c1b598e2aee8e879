//! Whether a kernel's results can show the order in which its blocks run.

use crate::op::{AtomicKind, AtomicOp, AtomicType, Callee, Intrinsic, MemoryOp, Op, OpKind, Scope};
use crate::program::{KernelInfo, Program};

/// What the order of blocks means to a kernel without data races.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockOrder {
    /// No block can see what another does, but for those of its cluster. Without one,
    /// [`Engine::may_wait`](super::launch::Engine::may_wait) never comes true then, so that each runs to its end in one go, whoever
    /// runs it. And so does a cluster.
    Hidden,
    /// A block may see what others have done already, or wait for them.
    Shows,
    /// Blocks use what there is once only: the output, the heap.
    Matters,
}

/// Atomics of which only the sum of all can be seen, if there are none of another kind.
type Sum = (AtomicKind, AtomicType);

impl BlockOrder {
    /// Looks at all operations that the kernel can reach.
    pub(super) fn of(program: &Program, kernel: &KernelInfo) -> BlockOrder {
        let mut order = BlockOrder::Hidden;
        let mut sums: Option<Sum> = None;
        // A launch in which a thread gets to `panic_begin` has no results.
        let reachable = kernel.reachable.iter();
        for function in reachable.filter(|function| program.panic_begin != Some(**function)) {
            for op in operations(program, *function) {
                let found = match &op.kind {
                    OpKind::Atomic(access) if access.space.is_common() => match sum(access) {
                        Some(sum) if *sums.get_or_insert(sum) == sum => BlockOrder::Hidden,
                        _ => BlockOrder::Shows,
                    },
                    kind => of_operation(kind),
                };
                order = order.max(found);
            }
        }
        order
    }
}

/// The operations of a function.
fn operations(program: &Program, function: u32) -> &[Op] {
    let Some(start) = program.functions.get(function as usize).map(|found| found.start) else {
        return &[];
    };
    let starts = program.functions.iter().map(|function| function.start);
    let end = starts.filter(|other| *other > start).min();
    let end = end.map_or(program.ops.len(), |end| end as usize);
    program.ops.get(start as usize..end).unwrap_or_default()
}

fn of_operation(kind: &OpKind) -> BlockOrder {
    match kind {
        OpKind::Load(access) | OpKind::Store(access) if is_shared_access(access) => {
            BlockOrder::Shows
        }
        // Within a cluster, which one job runs.
        OpKind::Fence(order) if order.scope > Scope::Cluster => BlockOrder::Shows,
        // It counts what ran before.
        OpKind::Clock { .. } => BlockOrder::Shows,
        // Threads sleep while they wait for others.
        OpKind::Yield => BlockOrder::Shows,
        OpKind::Call(call) => match call.callee {
            Callee::Intrinsic(Intrinsic::Printf | Intrinsic::Malloc | Intrinsic::Free) => {
                BlockOrder::Matters
            }
            Callee::Intrinsic(Intrinsic::AssertFail)
            | Callee::Function(_)
            | Callee::Indirect(_)
            | Callee::Unresolved(_) => BlockOrder::Hidden,
        },
        _ => BlockOrder::Hidden,
    }
}

/// Whether threads use a load or store to talk to other blocks. Weak ones that meet are a data race.
fn is_shared_access(access: &MemoryOp) -> bool {
    (access.strong || access.order.is_strong()) && access.space.is_common()
}

/// The sum that an atomic adds to, if it gives nothing back and the order of its operands does not show.
fn sum(access: &AtomicOp) -> Option<Sum> {
    let integer = matches!(access.ty, AtomicType::Bits | AtomicType::Unsigned | AtomicType::Signed);
    let ty = match access.kind {
        // Modulo the size, signed or not.
        AtomicKind::Add | AtomicKind::And | AtomicKind::Or | AtomicKind::Xor => AtomicType::Bits,
        AtomicKind::Min | AtomicKind::Max => access.ty,
        AtomicKind::Inc | AtomicKind::Dec | AtomicKind::Exchange | AtomicKind::CompareAndSwap => {
            return None;
        }
    };
    (integer && access.d.is_empty()).then_some((access.kind, ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(body: &str) -> BlockOrder {
        let program = Program::compile(&format!(
            ".version 8.6 .target sm_90 .address_size 64
             .extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);
             .global .align 8 .b8 cell[8];
             .func add() {{ red.global.add.u32 [cell], 1; ret; }}
             .func sees() {{ .reg .b32 %r; atom.global.add.u32 %r, [cell], 1; ret; }}
             .visible .entry k() {{
                 .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .shared .align 8 .b8 tile[8];
                 {body}
                 ret;
             }}"
        ))
        .unwrap();
        BlockOrder::of(&program, program.kernel("k").unwrap())
    }

    #[test]
    fn what_other_blocks_cannot_see() {
        for body in [
            "",
            "ld.global.b32 %r1, [cell]; st.global.b32 [cell+4], %r1; bar.sync 0;",
            "red.global.add.u32 [cell], %r1; red.global.add.s32 [cell], %r2;",
            "red.global.max.s32 [cell], %r1;",
            "red.global.xor.b32 [cell], %r1;",
            "atom.shared.add.u32 %r1, [tile], %r2; atom.shared.add.f32 %f1, [tile], %f2;",
            "ld.volatile.shared.b32 %r1, [tile]; membar.cta;",
            "atom.shared::cluster.add.u32 %r1, [tile], %r2; fence.acq_rel.cluster;",
            "barrier.cluster.arrive; barrier.cluster.wait;",
            "call add;",
        ] {
            assert_eq!(order(body), BlockOrder::Hidden, "{body}");
        }
    }

    #[test]
    fn what_shows_the_order_of_blocks() {
        for body in [
            "atom.global.add.u32 %r1, [cell], %r2;",
            "red.global.add.f32 [cell], %f1;",
            "red.global.add.u32 [cell], %r1; red.global.max.u32 [cell], %r1;",
            "red.global.max.u32 [cell], %r1; red.global.max.s32 [cell], %r1;",
            "red.global.inc.u32 [cell], %r1;",
            "atom.global.exch.b32 %r1, [cell], %r2;",
            "atom.add.u32 %r1, [%d1], %r2;",
            "ld.volatile.global.b32 %r1, [cell];",
            "ld.acquire.gpu.global.b32 %r1, [cell];",
            "st.release.gpu.global.b32 [cell], %r1;",
            "membar.gl;",
            "mov.u64 %d1, %clock64;",
            "nanosleep.u32 10;",
            "call sees;",
        ] {
            assert_eq!(order(body), BlockOrder::Shows, "{body}");
        }
    }

    #[test]
    fn what_there_is_once_only() {
        let print = "{ .param .b64 a; .param .b64 b; .param .b32 s; st.param.b64 [a], %d1; st.param.b64 [b], %d2;
            call.uni (s), vprintf, (a, b); }";
        assert_eq!(order(print), BlockOrder::Matters);
        assert_eq!(order(&format!("membar.gl; {print}")), BlockOrder::Matters);
    }
}
