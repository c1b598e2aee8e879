//! From an instruction's row in the table of forms to the function that decodes its family.

use ptx::ast::Instruction;
use ptx::isa::{self, Family, Verdict};

use super::builder::{Builder, Decoded, invalid, unsupported};
use super::types::{Kind, Modifiers};
use super::{
    async_copy, atomic, bits, cluster, compare, control, convert, float, integer, matrix, mbarrier,
    memory, moves, warp,
};
use crate::op::OpKind;

/// Decodes everything but branches.
pub(super) fn decode(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    // The validator has refused combinations that are impossible, unless the module is newer than the table.
    let row = match isa::instruction(&i.opcode, &i.modifiers) {
        Verdict::Known(row) if row.is_supported() => row,
        Verdict::Known(_) | Verdict::Impossible(_) | Verdict::Unknown => {
            return unsupported(i.mnemonic());
        }
    };
    match row.family {
        Family::IntegerArithmetic | Family::FloatArithmetic => arithmetic(b, i, m),
        Family::Product24 => integer::product24(b, i, m),
        Family::Transcendental => float::transcendental(b, i, m),
        Family::CopySign => float::copysign(b, i, m),
        Family::TestProperty => float::test(b, i, m),
        Family::Logic => bits::logic(b, i, m),
        Family::Lop3 => bits::lop3(b, i, m),
        Family::Shift => bits::shift(b, i, m),
        Family::FunnelShift => bits::funnel_shift(b, i, m),
        Family::BitField => bits::field(b, i, m),
        Family::BitCount => bits::count(b, i, m),
        Family::BitMask => bits::mask(b, i, m),
        Family::Permute => bits::permute(b, i, m),
        Family::DotProduct => bits::dot(b, i, m),
        Family::SelectBySign => bits::select_by_sign(b, i, m),
        Family::SetPredicate => compare::set_predicate(b, i, m),
        Family::Set => compare::set(b, i, m),
        Family::Select => compare::select(b, i, m),
        Family::Convert => convert::convert(b, i, m),
        Family::ConvertAddress => convert::address(b, i, m),
        Family::IsSpace => convert::is_space(b, i, m),
        Family::Move => moves::mov(b, i, m),
        Family::Load => memory::load(b, i, m),
        Family::Store => memory::store(b, i, m),
        Family::CacheHint => memory::hint(b, i, m),
        Family::Alloca => memory::alloca(b, i, m),
        Family::Stack => memory::stack(b, i, m),
        Family::Atomic => atomic::atomic(b, i, m),
        Family::Call => control::call(b, i, m),
        Family::Return => control::ret(b, m),
        Family::Barrier => control::barrier(b, i, m),
        Family::Fence => control::fence(b, i, m),
        Family::ProfilerEvent => control::profiler_event(b, m),
        Family::GridDependency => cluster::grid_dependency(b, i, m),
        Family::RegisterCount => cluster::register_count(b, i, m),
        Family::MapAddress => cluster::map_address(b, i, m),
        Family::BlockRank => cluster::rank(b, i, m),
        Family::MatrixTransfer => matrix::transfer(b, i, m),
        Family::MatrixTranspose => matrix::transpose(b, i, m),
        Family::MatrixProduct => matrix::multiply(b, i, m),
        Family::AsyncCopy => async_copy::copy(b, i, m),
        Family::Mbarrier => mbarrier::decode(b, i, m),
        Family::Sleep => control::sleep(b, i, m),
        Family::Shuffle => warp::shuffle(b, i, m),
        Family::Vote => warp::vote(b, i, m),
        Family::Match => warp::match_lanes(b, i, m),
        Family::Reduce => warp::reduce(b, i, m),
        Family::Elect => warp::elect(b, i, m),
        Family::ActiveMask => warp::active_mask(b, i, m),
        Family::Exit => plain(b, OpKind::Exit),
        Family::Trap => plain(b, OpKind::Trap),
        Family::Breakpoint => plain(b, OpKind::Breakpoint),
        // Branches are decoded where the control-flow graph is at hand.
        Family::Branch | Family::Unsupported => unsupported(i.mnemonic()),
    }
}

fn plain(b: &mut Builder, kind: OpKind) -> Decoded {
    b.emit(kind);
    Ok(())
}

/// Instructions that exist for integers and for floats.
fn arithmetic(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let Some(ty) = m.ty() else {
        return invalid("needs a type");
    };
    match (ty.kind, m.ty()) {
        (Kind::F32, Some(narrow)) => float::mixed(b, i, m, narrow),
        (_, Some(_)) => unsupported(i.mnemonic()),
        (Kind::F16 | Kind::F16x2 | Kind::Bf16 | Kind::Bf16x2 | Kind::F32 | Kind::F64, None) => {
            float::arithmetic(b, i, m, ty)
        }
        (_, None) => integer::arithmetic(b, i, m, ty),
    }
}
