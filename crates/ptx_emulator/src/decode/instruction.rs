//! From an instruction's name to the file that decodes its family.

use ptx::ast::Instruction;

use super::builder::{Builder, Decoded, invalid, unsupported};
use super::types::{Kind, Modifiers};
use super::{
    async_copy, atomic, bits, cluster, compare, control, convert, float, integer, matrix, mbarrier,
    memory, moves, warp,
};
use crate::op::OpKind;

/// Decodes everything but branches.
pub(super) fn decode(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    match i.opcode.as_str() {
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "min" | "max" | "abs" | "neg"
        | "sad" | "rcp" | "sqrt" | "addc" | "subc" | "madc" => arithmetic(b, i, m),
        "mul24" | "mad24" => integer::product24(b, i, m),
        "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => float::transcendental(b, i, m),
        "copysign" => float::copysign(b, i, m),
        "testp" => float::test(b, i, m),
        "and" | "or" | "xor" | "not" | "cnot" => bits::logic(b, i, m),
        "lop3" => bits::lop3(b, i, m),
        "shl" | "shr" => bits::shift(b, i, m),
        "shf" => bits::funnel_shift(b, i, m),
        "bfe" | "bfi" => bits::field(b, i, m),
        "bfind" | "brev" | "clz" | "popc" => bits::count(b, i, m),
        "bmsk" | "szext" | "fns" => bits::mask(b, i, m),
        "prmt" => bits::permute(b, i, m),
        "dp4a" | "dp2a" => bits::dot(b, i, m),
        "slct" => bits::select_by_sign(b, i, m),
        "setp" => compare::set_predicate(b, i, m),
        "set" => compare::set(b, i, m),
        "selp" => compare::select(b, i, m),
        "cvt" => convert::convert(b, i, m),
        "cvta" => convert::address(b, i, m),
        "isspacep" => convert::is_space(b, i, m),
        "mov" => moves::mov(b, i, m),
        "ld" | "ldu" => memory::load(b, i, m),
        "st" => memory::store(b, i, m),
        "prefetch" | "prefetchu" | "applypriority" | "discard" => memory::hint(b, i, m),
        "alloca" => memory::alloca(b, i, m),
        "stacksave" | "stackrestore" => memory::stack(b, i, m),
        "atom" | "red" => atomic::atomic(b, i, m),
        "call" => control::call(b, i, m),
        "ret" => control::ret(b, m),
        "bar" | "barrier" => control::barrier(b, i, m),
        "fence" | "membar" => control::fence(b, i, m),
        "pmevent" => control::profiler_event(b, m),
        "griddepcontrol" => cluster::grid_dependency(b, i, m),
        "setmaxnreg" => cluster::register_count(b, i, m),
        "mapa" => cluster::map_address(b, i, m),
        "getctarank" => cluster::rank(b, i, m),
        "nanosleep" => control::sleep(b, i, m),
        "shfl" => warp::shuffle(b, i, m),
        "vote" => warp::vote(b, i, m),
        "match" => warp::match_lanes(b, i, m),
        "redux" => warp::reduce(b, i, m),
        "elect" => warp::elect(b, i, m),
        "ldmatrix" | "stmatrix" => matrix::transfer(b, i, m),
        "movmatrix" => matrix::transpose(b, i, m),
        "cp" => async_copy::copy(b, i, m),
        "mbarrier" => mbarrier::decode(b, i, m),
        "mma" => matrix::multiply(b, i, m),
        "activemask" => warp::active_mask(b, i, m),
        "exit" => plain(b, OpKind::Exit),
        "trap" => plain(b, OpKind::Trap),
        "brkpt" => plain(b, OpKind::Breakpoint),
        _ => unsupported(i.mnemonic()),
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
