//! `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`, `bar.warp.sync`.

use ptx::ast::{Instruction, Operand};

use super::builder::{Builder, Decoded, invalid, unsupported};
use super::control::no_predicate;
use super::types::{Kind, Modifiers, Ty};
use crate::op::{NONE, OpKind, Reduce, Shuffle, Vote, WarpKind, WarpOp};
use crate::row::Class;

pub(super) fn warp_op(kind: WarpKind) -> WarpOp {
    WarpOp {
        kind,
        d: NONE,
        p: NONE,
        a: NONE,
        vote: no_predicate(),
        b: NONE,
        c: NONE,
        members: NONE,
        matrix: None,
    }
}

/// `bar.warp.sync`, after `warp` was taken.
pub(super) fn sync(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (true, [members]) = (m.take("sync"), i.operands.as_slice()) else {
        return invalid("takes a member mask");
    };
    let members = b.source(members, Class::R, Ty::B32)?;
    b.emit(OpKind::Warp(Box::new(WarpOp { members, ..warp_op(WarpKind::Sync) })));
    Ok(())
}

/// A destination `d` or `d|p`.
fn target(operand: &Operand) -> (&Operand, Option<&Operand>) {
    match operand {
        Operand::Pair(d, p) => (d, Some(p)),
        d => (d, None),
    }
}

/// The member mask: the last operand of forms with `.sync`.
fn members(
    b: &mut Builder,
    i: &Instruction,
    sync: bool,
    at: usize,
) -> Result<u32, super::builder::Refusal> {
    if i.operands.len() != at + sync as usize {
        return invalid(format!(
            "takes {} operands, {} are given",
            at + sync as usize,
            i.operands.len()
        ));
    }
    if sync { b.source(&i.operands[at], Class::R, Ty::B32) } else { Ok(NONE) }
}

/// `shfl`
pub(super) fn shuffle(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let sync = m.take("sync");
    let mode = m.find(|name| match name {
        "up" => Some(Shuffle::Up),
        "down" => Some(Shuffle::Down),
        "bfly" => Some(Shuffle::Butterfly),
        "idx" => Some(Shuffle::Index),
        _ => None,
    });
    m.ty();
    let Some(mode) = mode else {
        return invalid("needs .up, .down, .bfly or .idx");
    };
    let members = members(b, i, sync, 4)?;
    let a = b.source(&i.operands[1], Class::R, Ty::B32)?;
    let lane = b.source(&i.operands[2], Class::R, Ty::B32)?;
    let clamp = b.source(&i.operands[3], Class::R, Ty::B32)?;
    let (d, p) = target(&i.operands[0]);
    let p = match p {
        Some(p) => b.predicate_destination(p)?,
        None => NONE,
    };
    let d = b.destination(d, Class::R, Ty::B32)?;
    let op =
        WarpOp { d: d.row, p, a, b: lane, c: clamp, members, ..warp_op(WarpKind::Shuffle(mode)) };
    b.emit(OpKind::Warp(Box::new(op)));
    b.finish(d);
    Ok(())
}

/// `vote`
pub(super) fn vote(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let sync = m.take("sync");
    let mode = m.find(|name| match name {
        "all" => Some(Vote::All),
        "any" => Some(Vote::Any),
        "uni" => Some(Vote::Uniform),
        "ballot" => Some(Vote::Ballot),
        _ => None,
    });
    m.ty();
    let Some(mode) = mode else {
        return invalid("needs .all, .any, .uni or .ballot");
    };
    let members = members(b, i, sync, 2)?;
    let vote = b.predicate(&i.operands[1])?;
    let op = WarpOp { vote, members, ..warp_op(WarpKind::Vote(mode)) };
    if mode == Vote::Ballot {
        let d = b.destination(&i.operands[0], Class::R, Ty::B32)?;
        b.emit(OpKind::Warp(Box::new(WarpOp { d: d.row, ..op })));
        b.finish(d);
    } else {
        let p = b.predicate_destination(&i.operands[0])?;
        b.emit(OpKind::Warp(Box::new(WarpOp { p, ..op })));
    }
    Ok(())
}

/// `match`
pub(super) fn match_lanes(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    let (any, all) = (m.take("any"), m.take("all"));
    let sync = m.take("sync");
    let (true, true, Some(ty)) = (any ^ all, sync, m.ty()) else {
        return unsupported(i.mnemonic());
    };
    let members = members(b, i, true, 2)?;
    let wide = ty.class() == Class::D;
    let a = b.source(&i.operands[1], ty.class(), ty)?;
    let (d, p) = target(&i.operands[0]);
    let p = match p {
        Some(p) if all => b.predicate_destination(p)?,
        Some(_) => return invalid("match.any has no predicate destination"),
        None => NONE,
    };
    let d = b.destination(d, Class::R, Ty::B32)?;
    let kind = if any { WarpKind::MatchAny { wide } } else { WarpKind::MatchAll { wide } };
    b.emit(OpKind::Warp(Box::new(WarpOp { d: d.row, p, a, members, ..warp_op(kind) })));
    b.finish(d);
    Ok(())
}

/// `redux`
pub(super) fn reduce(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if !m.take("sync") {
        return unsupported(i.mnemonic());
    }
    let operation = m.next();
    let (absolute, nan) = (m.take("abs"), m.take("NaN"));
    let (Some(operation), Some(ty)) = (operation, m.ty()) else {
        return invalid("needs an operation and a type");
    };
    let reduce = match (operation, ty.kind, ty.bits) {
        ("add", Kind::Unsigned | Kind::Signed, 32) => Reduce::AddU,
        ("min", Kind::Unsigned, 32) => Reduce::MinU,
        ("max", Kind::Unsigned, 32) => Reduce::MaxU,
        ("min", Kind::Signed, 32) => Reduce::MinS,
        ("max", Kind::Signed, 32) => Reduce::MaxS,
        ("and", Kind::Bits, 32) => Reduce::And,
        ("or", Kind::Bits, 32) => Reduce::Or,
        ("xor", Kind::Bits, 32) => Reduce::Xor,
        ("min", Kind::F32, _) => Reduce::MinF { absolute, nan },
        ("max", Kind::F32, _) => Reduce::MaxF { absolute, nan },
        _ => return unsupported(i.mnemonic()),
    };
    let members = members(b, i, true, 2)?;
    let a = b.source(&i.operands[1], Class::R, ty)?;
    let d = b.destination(&i.operands[0], Class::R, Ty::B32)?;
    let op = WarpOp { d: d.row, a, members, ..warp_op(WarpKind::Reduce(reduce)) };
    b.emit(OpKind::Warp(Box::new(op)));
    b.finish(d);
    Ok(())
}

/// `elect`
pub(super) fn elect(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    if !m.take("sync") {
        return unsupported(i.mnemonic());
    }
    let members = members(b, i, true, 1)?;
    let (d, p) = target(&i.operands[0]);
    let Some(p) = p else {
        return invalid("writes `d|p`");
    };
    let p = b.predicate_destination(p)?;
    let d = b.destination(d, Class::R, Ty::B32)?;
    let op = WarpOp { d: d.row, p, members, ..warp_op(WarpKind::Elect) };
    b.emit(OpKind::Warp(Box::new(op)));
    b.finish(d);
    Ok(())
}

/// `activemask`
pub(super) fn active_mask(b: &mut Builder, i: &Instruction, m: &mut Modifiers) -> Decoded {
    m.ty();
    let [d] = i.operands.as_slice() else {
        return invalid("takes 1 operand");
    };
    let d = b.destination(d, Class::R, Ty::B32)?;
    b.emit(OpKind::ActiveMask { d: d.row });
    b.finish(d);
    Ok(())
}
