//! The loads and stores that kernels consist of: one 4- or 8-byte element a lane, global or shared memory, evenly spaced
//! addresses that are all good. Whatever is not so simple goes the general way, which also finds out what is wrong.

use super::block::BlockState;
use super::counting::What;
use super::hot::{Handler, Hot};
use super::launch::Engine;
use super::pattern::{Layout, Pattern};
use super::places::highest;
use super::short::ShortOp;
use super::transfer::{Stored, read_halves};
use super::warp::{Frame, Warp};
use crate::memory::{Memory, Storage};
use crate::op::Space;
use crate::registers::{Affine, Register, Window};
use crate::row::{FULL, LANES, Outcome, lanes};

/// The function for a load, or else a `store`, to `shared` or else global memory, of 8 bytes (`wide`) or 4, at an address in a
/// 64-bit register (`wide_address`) or a 32-bit one.
pub(super) fn handler(store: bool, shared: bool, wide: bool, wide_address: bool) -> Handler {
    match (store, shared, wide, wide_address) {
        (false, false, false, false) => load::<u32, false, false>,
        (false, false, false, true) => load::<u32, false, true>,
        (false, false, true, false) => load::<u64, false, false>,
        (false, false, true, true) => load::<u64, false, true>,
        (false, true, false, false) => load::<u32, true, false>,
        (false, true, false, true) => load::<u32, true, true>,
        (false, true, true, false) => load::<u64, true, false>,
        (false, true, true, true) => load::<u64, true, true>,
        (true, false, false, false) => store_to::<u32, false, false>,
        (true, false, false, true) => store_to::<u32, false, true>,
        (true, false, true, false) => store_to::<u64, false, false>,
        (true, false, true, true) => store_to::<u64, false, true>,
        (true, true, false, false) => store_to::<u32, true, false>,
        (true, true, false, true) => store_to::<u32, true, true>,
        (true, true, true, false) => store_to::<u64, true, false>,
        (true, true, true, true) => store_to::<u64, true, true>,
    }
}

/// The registers as wide as an element in memory.
trait Registered: Stored {
    fn registers<'a>(window: &'a mut Window<'_>) -> &'a mut [Register<Self>];
}

impl Registered for u32 {
    #[inline(always)]
    fn registers<'a>(window: &'a mut Window<'_>) -> &'a mut [Register<u32>] {
        window.r32
    }
}

impl Registered for u64 {
    #[inline(always)]
    fn registers<'a>(window: &'a mut Window<'_>) -> &'a mut [Register<u64>] {
        window.r64
    }
}

/// Where the lanes of `mask` access memory, if their addresses rise evenly.
#[inline(always)]
fn addresses<const WIDE: bool>(window: &Window<'_>, op: &ShortOp, mask: u32) -> Option<Affine> {
    let row = usize::from(op.s[0]);
    if WIDE {
        let register = &window.r64[row];
        register.is_known(mask).then(|| register.known().plus(op.number()))
    } else {
        // 32-bit addresses stay in 32 bits.
        super::affine::widen_unsigned(window.r32[row].affine(mask)?.plus(op.number()))
    }
}

/// An access of which the pattern is known: where it is in memory.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) data: &'a Storage,
    pub(super) layout: Layout,
    /// Place of lane 0's element.
    pub(super) first: usize,
}

/// Looks whether an access is good and like the last one of its operation. `COUNT`: it is counted then.
#[inline(always)]
fn find<'a, T: Stored, const SHARED: bool, const COUNT: bool>(
    patterns: &mut [Pattern],
    memory: &'a Memory,
    shared: (&'a Storage, u64),
    at: Affine,
    mask: u32,
    pc: u32,
) -> Option<Found<'a>> {
    let pattern = patterns.get_mut(pc as usize)?;
    if !pattern.is(at, mask) {
        return None;
    }
    let (base, data) = if SHARED {
        (shared.1, shared.0)
    } else {
        let found = memory.slot(pattern.slot)?;
        (found.base, &found.data)
    };
    let first = at.base.wrapping_sub(base);
    let end = first.wrapping_sub(pattern.low).checked_add(pattern.span)?;
    if end > data.len() as u64 || at.base & (T::BYTES as u64 - 1) != 0 {
        return None;
    }
    if COUNT {
        pattern.count(1);
    }
    Some(Found { data, layout: pattern.layout, first: first as usize })
}

/// As [`find`], where an operation's addresses and the rest of the machine are.
macro_rules! found {
    ($hot:ident, $op:ident, $at:ident, $mask:ident, $count:literal) => {
        find::<T, SHARED, $count>(
            &mut $hot.engine.patterns,
            &$hot.engine.memory,
            (&$hot.block.shared, $hot.block.rank.shared_base),
            $at,
            $mask,
            $op.pc,
        )
    };
}

/// Executes an access that is not like the last one of its operation, after a look at its pattern.
#[cold]
#[inline(never)]
fn again<T: Registered, const SHARED: bool, const WIDE_ADDRESS: bool>(
    hot: &mut Hot<'_, '_>,
    op: &ShortOp,
    mask: u32,
    what: What,
) -> Outcome {
    let Some(at) = addresses::<WIDE_ADDRESS>(&hot.window, op, mask) else {
        return Outcome::Access;
    };
    let space = if SHARED { Space::Shared } else { Space::Global };
    // Found here, it is found by the handler too, which does not come back then.
    if !hot.engine.learn(op.pc, what, space, at, mask, T::BYTES as u32)
        || found!(hot, op, at, mask, false).is_none()
    {
        return Outcome::Access;
    }
    (op.handler)(hot, op, mask)
}

fn load<T: Registered, const SHARED: bool, const WIDE_ADDRESS: bool>(
    hot: &mut Hot<'_, '_>,
    op: &ShortOp,
    mask: u32,
) -> Outcome {
    let Some(at) = addresses::<WIDE_ADDRESS>(&hot.window, op, mask) else {
        return Outcome::Access;
    };
    let Some(found) = found!(hot, op, at, mask, true) else {
        return again::<T, SHARED, WIDE_ADDRESS>(hot, op, mask, What::Load);
    };
    let target = &mut T::registers(&mut hot.window)[usize::from(op.d)];
    if read_simply(target, found, at, mask) {
        return Outcome::Done;
    }
    load_found::<T, SHARED, WIDE_ADDRESS>(hot, op, mask)
}

/// Loads elements that lie in any simple way; the access is counted already.
#[inline(never)]
fn load_found<T: Registered, const SHARED: bool, const WIDE_ADDRESS: bool>(
    hot: &mut Hot<'_, '_>,
    op: &ShortOp,
    mask: u32,
) -> Outcome {
    let Some(at) = addresses::<WIDE_ADDRESS>(&hot.window, op, mask) else {
        return Outcome::Access;
    };
    let Some(found) = found!(hot, op, at, mask, false) else {
        return Outcome::Access;
    };
    read_otherwise(&mut T::registers(&mut hot.window)[usize::from(op.d)], found, at, mask);
    Outcome::Done
}

/// Loads elements.
#[inline(always)]
pub(super) fn read<T: Stored>(target: &mut Register<T>, found: Found<'_>, at: Affine, mask: u32) {
    if !read_simply(target, found, at, mask) {
        read_otherwise(target, found, at, mask);
    }
}

/// Loads elements if they lie in one of the simplest ways. False: nothing was done.
#[inline(always)]
fn read_simply<T: Stored>(
    target: &mut Register<T>,
    found: Found<'_>,
    at: Affine,
    mask: u32,
) -> bool {
    let Found { data, layout, first } = found;
    if !target.is_free(mask) {
        return false;
    }
    match layout {
        Layout::Same => {
            target.set_free(Affine::uniform(T::load(data, first).bits()), mask);
        }
        Layout::TwoElements => target.set_free(two_elements::<T>(data, first, at.step), mask),
        Layout::Row if mask == FULL => data.read_line(first, target.overwrite_free()),
        Layout::TwoRows if mask == FULL => {
            read_halves(data, target.overwrite_free(), first, at.step as usize);
        }
        _ => return false,
    }
    true
}

#[inline(never)]
fn read_otherwise<T: Stored>(target: &mut Register<T>, found: Found<'_>, at: Affine, mask: u32) {
    let Found { data, layout, first } = found;
    match layout {
        Layout::Same => target.set_affine(Affine::uniform(T::load(data, first).bits()), mask),
        Layout::TwoElements => target.set_affine(two_elements::<T>(data, first, at.step), mask),
        Layout::Row => {
            let mut values = [T::POISON; LANES];
            data.read_line(first, &mut values);
            T::blend(target.overwrite(mask), &values, mask);
        }
        Layout::TwoRows if mask == FULL => {
            read_halves(data, target.overwrite(FULL), first, at.step as usize);
        }
        Layout::TwoRows | Layout::Apart => apart(target, data, first, at, mask),
    }
}

/// One element for each half of the warp.
#[inline(always)]
fn two_elements<T: Stored>(data: &Storage, first: usize, step: u64) -> Affine {
    let base = T::load(data, first).bits();
    let other = T::load(data, first.wrapping_add(step as usize)).bits();
    Affine { base, stride: 0, step: other.wrapping_sub(base) }
}

fn store_to<T: Registered, const SHARED: bool, const WIDE_ADDRESS: bool>(
    hot: &mut Hot<'_, '_>,
    op: &ShortOp,
    mask: u32,
) -> Outcome {
    let Some(at) = addresses::<WIDE_ADDRESS>(&hot.window, op, mask) else {
        return Outcome::Access;
    };
    let Some(found) = found!(hot, op, at, mask, true) else {
        return again::<T, SHARED, WIDE_ADDRESS>(hot, op, mask, What::Store);
    };
    write(found, T::registers(&mut hot.window)[usize::from(op.d)].read(), at, mask);
    Outcome::Done
}

/// Stores elements.
#[inline(always)]
pub(super) fn write<T: Stored>(found: Found<'_>, values: &[T; LANES], at: Affine, mask: u32) {
    let put = |lane: usize| {
        let place = at.lane(lane).wrapping_sub(at.base) as usize;
        values[lane].store(found.data, found.first.wrapping_add(place));
    };
    match found.layout {
        // Of lanes that write the same bytes the highest one wins.
        Layout::Same => put(highest(mask)),
        Layout::Row if mask == FULL => found.data.write_line(found.first, values),
        _ => lanes(mask).for_each(put),
    }
}

impl Engine<'_> {
    /// Executes a load or store in its short form. False: nothing was done.
    pub(super) fn quick_access(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: &Frame,
        mask: u32,
        pc: u32,
    ) -> bool {
        let Some(op) = self.short.get(pc as usize) else {
            return false;
        };
        (op.handler)(&mut Hot::new(self, block, warp, frame), op, mask) == Outcome::Done
    }
}

/// Reads elements that lie apart.
#[inline(never)]
fn apart<T: Stored>(target: &mut Register<T>, data: &Storage, first: usize, at: Affine, mask: u32) {
    let target = target.overwrite(mask);
    if mask != FULL {
        let place = |lane: usize| first.wrapping_add(at.lane(lane).wrapping_sub(at.base) as usize);
        return lanes(mask).for_each(|lane| target[lane] = T::load(data, place(lane)));
    }
    let (low, high) = target.split_at_mut(LANES / 2);
    data.read_apart(first, at.stride as usize, low);
    data.read_apart(first.wrapping_add(at.step as usize), at.stride as usize, high);
}
