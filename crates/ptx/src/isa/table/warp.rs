//! PTX ISA, Parallel Synchronization: what lanes of a warp do together.

use super::super::row::Family::{ActiveMask, Elect, Match, Reduce, Shuffle, Vote};
use super::super::row::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row("shfl.up,down,bfly,idx.b32", "t|p, t, b32, b32", Shuffle)
        .since(30, 30)
        .test("conformance::warp_operations_without_sync"),
    row("shfl.sync.up,down,bfly,idx.b32", "t|p, t, b32, b32, b32", Shuffle)
        .since(60, 30)
        .golden("warp"),
    row("vote.all,any,uni.pred", "p, p", Vote)
        .since(12, 12)
        .test("conformance::warp_operations_without_sync"),
    row("vote.ballot.b32", "b32, p", Vote)
        .since(12, 12)
        .test("conformance::warp_operations_without_sync"),
    row("vote.sync.all,any,uni.pred", "p, p, b32", Vote).since(60, 30).golden("warp"),
    row("vote.sync.ballot.b32", "b32, p, b32", Vote).since(60, 30).golden("warp"),
    row("match.any.sync.b32,b64", "b32, t, b32", Match).since(60, 70).golden("warp"),
    row("match.all.sync.b32,b64", "b32|p, t, b32", Match).since(60, 70).golden("warp"),
    row("activemask.b32", "t", ActiveMask).since(62, 30).golden("warp"),
    row("redux.sync.add,min,max.u32,s32", "t, t, b32", Reduce).since(70, 80).golden("warp"),
    row("redux.sync.and,or,xor.b32", "t, t, b32", Reduce).since(70, 80).golden("warp"),
    row("redux.sync.min,max{.abs}{.NaN}.f32", "t, t, b32", Reduce)
        .since(86, 100)
        .test("conformance::redux_of_floats"),
    row("elect.sync", "b32|p, b32", Elect).since(80, 90).golden("warp"),
];
