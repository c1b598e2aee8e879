//! How a split parts, and how others get their turn.

use super::barrier::count_row;
use super::warp::{Frame, Join, Split, State, Warp};
use crate::op::{BarrierOp, NONE};

/// Sends a split's lanes two ways. Those that are at the meeting point already wait there; the others run, one
/// side as the present split. `second_first` picks which.
pub(super) fn diverge(
    warp: &mut Warp,
    index: usize,
    mut ways: [(u32, u32); 2],
    join_pc: u32,
    second_first: bool,
) {
    let Split { mask, join: outer, frame, .. } = warp.splits[index];
    let mut join = outer;
    if join_pc != NONE {
        // A loop that lanes leave one by one needs only one join.
        let same = outer != NONE && {
            let found = &warp.joins[outer as usize];
            found.pc == join_pc && found.frame == frame && found.callee == NONE
        };
        if !same {
            join = warp.new_join(Join {
                pc: join_pc,
                expected: mask,
                arrived: 0,
                parent: outer,
                frame,
                callee: NONE,
            });
        }
    }
    if second_first {
        ways.swap(0, 1);
    }
    // The two ways differ, so at most one of them is the meeting point.
    let waits = |pc: u32| join_pc != NONE && pc == join_pc;
    if waits(ways[0].0) {
        ways.swap(0, 1);
    }
    let [(pc, lanes), (other_pc, others)] = ways;
    let split = &mut warp.splits[index];
    (split.pc, split.mask, split.join) = (pc, lanes, join);
    if waits(other_pc) {
        warp.arrive(join, others);
    } else {
        warp.add_split(other_pc, others, join, frame);
    }
}

/// Keeps `mask` in the split; the other lanes go on at `pc` on their own.
pub(super) fn part(warp: &mut Warp, index: usize, mask: u32, pc: u32) {
    let split = warp.splits[index];
    let others = split.mask & !mask;
    warp.splits[index].mask = mask;
    if others != 0 {
        warp.add_split(pc, others, split.join, split.frame);
    }
}

/// Lets another split of the warp run before `index`: one that is ready, or lanes that wait where ways meet.
/// False if there is none.
pub(super) fn rotate(warp: &mut Warp, index: usize) -> bool {
    let other_ready = warp
        .splits
        .iter()
        .enumerate()
        .any(|(other, split)| other != index && split.state == State::Ready);
    if !other_ready && !warp.release_waiting(index) {
        return false;
    }
    // The last ready split runs first, so the first place is the end of the queue.
    let split = warp.splits.remove(index);
    warp.splits.insert(0, split);
    true
}

/// Number and count of a barrier; lanes that disagree with the first become a split of their own.
pub(super) fn agree(
    warp: &mut Warp,
    index: usize,
    frame: &Frame,
    barrier: &BarrierOp,
    pc: u32,
) -> (u32, u32) {
    let mask = warp.splits[index].mask;
    let (number, mut same) = warp.agreeing(frame.base32 + barrier.id, mask);
    let mut count = 0;
    if let Some(row) = count_row(barrier) {
        (count, same) = warp.agreeing(frame.base32 + row, same);
    }
    if same != mask {
        part(warp, index, same, pc);
    }
    (number, count)
}
