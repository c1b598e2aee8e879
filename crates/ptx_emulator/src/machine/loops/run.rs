//! Executing a counting loop.

use super::ahead::Ahead;
use super::{By, Item, Loop, Name, Step, address};
use crate::checks::race::{BlockRace, Race};
use crate::checks::{BlockChecks, Checks};
use crate::events::{self, Action, Area, Offsets};
use crate::machine::affine::{row_otherwise, widen_unsigned};
use crate::machine::hot::{Hot, Pace};
use crate::machine::pattern::Pattern;
use crate::machine::quick::{Found, read, write};
use crate::machine::short::ShortOp;
use crate::memory::{Memory, Storage};
use crate::op::{AddressRow, OpKind, Order, Space};
use crate::registers::{Affine, Window, copy_register};
use crate::row::{Class, FULL, Outcome, RowFn, Rows};

impl Loop {
    /// Operations of an iteration, with the comparison and the jump.
    fn operations(&self) -> u64 {
        u64::from(self.end - self.start) + 2
    }

    /// As [`Loops::run`](super::Loops::run). `None`: nothing was done.
    pub(super) fn run(
        &self,
        hot: &mut Hot<'_, '_>,
        end: &ShortOp,
        mask: u32,
        pace: &mut Pace,
    ) -> Option<u32> {
        let (mut checks, mut state) = (hot.engine.checks.take(), hot.block.checks.take());
        let result = match watcher(checks.as_deref_mut(), state.as_deref_mut()) {
            Watcher::None => self.go_round(hot, end, mask, pace, |_| true),
            Watcher::Race(race, own) => {
                let warp = hot.warp;
                self.go_round(hot, end, mask, pace, |moving| {
                    let offsets = moving.offsets();
                    race.note(own, &moving.event(warp, mask, &offsets))
                })
            }
            Watcher::Other => None,
        };
        (hot.engine.checks, hot.block.checks) = (checks, state);
        result
    }

    /// `watch`: whether an access can be executed without a closer look.
    #[inline(always)]
    fn go_round(
        &self,
        hot: &mut Hot<'_, '_>,
        end: &ShortOp,
        mask: u32,
        pace: &mut Pace,
        mut watch: impl FnMut(&Moving<'_>) -> bool,
    ) -> Option<u32> {
        let room = pace.fuel.saturating_sub(pace.executed) / self.operations();
        let mut limit = u64::from(pace.jumps).min(room);
        let by: Vec<u64> =
            self.steps.iter().map(|step| step.by(&hot.window, mask)).collect::<Option<_>>()?;
        let moves = |step: Option<usize>| step.map_or(0, |step| by[step]);
        let mut sides = [0; 2];
        for (value, side) in sides.iter_mut().zip(self.sides) {
            let known = known(&hot.window, side.register, mask)?;
            *value = known.is_uniform().then_some(known.base)?;
        }
        let engine = &mut *hot.engine;
        let (memory, shared) = (&*engine.memory, &hot.block.shared);
        let shared_base = hot.block.rank.shared_base;
        let mut doing = Vec::with_capacity(self.items.len());
        for item in &self.items {
            doing.push(match *item {
                Item::Other { pc } => Doing::of(&hot.ops.get(pc as usize)?.kind)?,
                Item::Access { pc, step, stepped } => {
                    let op = hot.ops.get(pc as usize)?;
                    let mut at = known(&hot.window, address(op)?, mask)?;
                    if stepped {
                        at = at.plus(moves(step));
                    }
                    let pattern = engine.patterns.get(pc as usize)?;
                    let (moving, iterations) = Moving::of(
                        &op.kind,
                        at,
                        moves(step),
                        mask,
                        pattern,
                        (memory, shared, shared_base),
                    )?;
                    limit = limit.min(iterations);
                    Doing::access(Moving { pc, ..moving })
                }
            });
        }
        let stores =
            |doing: &Doing<'_>| doing.moving().is_some_and(|moving| moving.action == Action::Write);
        if !doing.iter().any(stores) {
            doing = doing.into_iter().map(Doing::ahead).collect();
        }
        let mut done = 0;
        // Where the last iteration stopped; what is before that was executed once more than the rest.
        let mut next = self.start;
        let window = &mut hot.window;
        'rounds: while done < limit {
            for doing in &mut doing {
                if let Some(moving) = doing.moving()
                    && !watch(moving)
                {
                    next = moving.pc;
                    engine.suspicious = Some(next);
                    break 'rounds;
                }
                doing.execute(window, mask, limit - done);
            }
            for (value, side) in sides.iter_mut().zip(self.sides) {
                *value = value.wrapping_add(moves(side.step));
            }
            let holds = if end.compare.holds(sides[0], sides[1]) { FULL } else { 0 };
            if end.jumping(holds) == 0 {
                // The comparison that says so is yet to be executed.
                next = self.end;
                break;
            }
            done += 1;
        }
        let times = |pc: u32| done + u64::from(pc < next);
        for (step, by) in self.steps.iter().zip(by) {
            let all = Affine::uniform(by.wrapping_mul(times(step.pc)));
            let (class, row) = step.register;
            match class {
                Class::D => hot.window.r64[row as usize].add(all),
                _ => hot.window.r32[row as usize].add(all),
            }
        }
        for item in &self.items {
            if let Item::Access { pc, .. } = *item
                && let Some(pattern) = engine.patterns.get_mut(pc as usize)
            {
                pattern.count(times(pc));
            }
        }
        pace.went_round(done, self.operations());
        Some(next)
    }
}

/// Who wants to see accesses.
enum Watcher<'a> {
    None,
    Race(&'a mut Race, &'a mut BlockRace),
    /// Someone who has to be asked in another way.
    Other,
}

fn watcher<'a>(checks: Option<&'a mut Checks>, state: Option<&'a mut BlockChecks>) -> Watcher<'a> {
    let (Some(checks), Some(state)) = (checks, state) else {
        return Watcher::None;
    };
    match (&mut checks.race, &mut state.race, &state.init) {
        (_, _, Some(_)) => Watcher::Other,
        (Some(race), Some(own), None) => Watcher::Race(race, own),
        _ => Watcher::None,
    }
}

/// What is known about the lanes of `mask` of a register.
fn known(window: &Window<'_>, (class, row): Name, mask: u32) -> Option<Affine> {
    match class {
        Class::D => window.r64.get(row as usize)?.affine(mask),
        _ => window.r32.get(row as usize)?.affine(mask),
    }
}

impl Step {
    /// By what it moves on, if that is the same for all lanes and for those of `mask` alone.
    fn by(&self, window: &Window<'_>, mask: u32) -> Option<u64> {
        let (class, row) = self.register;
        let only = match class {
            Class::D => window.r64.get(row as usize)?.is_only(mask),
            _ => window.r32.get(row as usize)?.is_only(mask),
        };
        let by = match self.by {
            By::Number(number) => Affine::uniform(number),
            By::Register(register) => known(window, register, mask)?,
        };
        (only && by.is_uniform()).then_some(by.base)
    }
}

/// An operation with all that it needs.
enum Doing<'a> {
    Load32(Moving<'a>),
    Load64(Moving<'a>),
    Ahead32(Moving<'a>, Box<Ahead<u32, 16>>),
    Ahead64(Moving<'a>, Box<Ahead<u64, 8>>),
    Store32(Moving<'a>),
    Store64(Moving<'a>),
    Row(&'a RowFn, &'a Rows),
    Move32(u32, u32),
    Move64(u32, u32),
}

/// An access that moves on.
pub(super) struct Moving<'a> {
    pub(super) found: Found<'a>,
    pub(super) at: Affine,
    pub(super) by: u64,
    /// The register that is loaded or stored.
    register: Name,
    pc: u32,
    area: Area,
    action: Action,
    bytes: u32,
    pub(super) order: Order,
}

impl<'a> Moving<'a> {
    /// An access, and how many iterations it is good for. `None` if it is not like the last one of its operation, or its moves change its
    /// pattern.
    fn of(
        kind: &OpKind,
        at: Affine,
        by: u64,
        mask: u32,
        pattern: &Pattern,
        (memory, shared, shared_base): (&'a Memory, &'a Storage, u64),
    ) -> Option<(Moving<'a>, u64)> {
        let (op, action) = match kind {
            OpKind::Load(op) => (op, Action::Read),
            OpKind::Store(op) => (op, Action::Write),
            _ => return None,
        };
        let mut at = at.plus(op.address.offset);
        if matches!(op.address.base, AddressRow::Narrow(_)) {
            at = widen_unsigned(at)?;
        }
        let (base, data, area) = if op.space == Space::Shared {
            (shared_base, shared, Area::Shared)
        } else {
            let found = memory.slot(pattern.slot)?;
            (found.base, &found.data, Area::Global { slot: pattern.slot, base: found.base })
        };
        let bytes = u64::from(op.bytes);
        if !pattern.is(at, mask) || !pattern.stays(by) || (at.base | by) & (bytes - 1) != 0 {
            return None;
        }
        let first = at.base.wrapping_sub(base);
        let lowest = first.wrapping_sub(pattern.low);
        let rest = (data.len() as u64).checked_sub(lowest.checked_add(pattern.span)?)?;
        let iterations = match by.cast_signed() {
            0 => u64::MAX,
            up @ 1.. => rest / up.unsigned_abs() + 1,
            down => lowest / down.unsigned_abs() + 1,
        };
        let moving = Moving {
            found: Found { data, layout: pattern.layout, first: first as usize },
            at,
            by,
            register: super::data(op)?,
            pc: 0,
            area,
            action,
            bytes: op.bytes,
            order: op.order,
        };
        Some((moving, iterations))
    }

    /// Where the lanes' elements are in the area.
    #[inline(always)]
    fn offsets(&self) -> Offsets {
        Offsets::Even(Affine { base: self.found.first as u64, ..self.at })
    }

    #[inline(always)]
    fn event<'e>(&self, warp: u32, lanes: u32, offsets: &'e Offsets) -> events::Access<'e> {
        let Moving { pc, area, action, bytes, order, .. } = *self;
        events::Access { warp, pc, lanes, action, area, offsets, bytes, order }
    }

    /// Of the address only distances from the first lane's count behind this.
    #[inline(always)]
    fn move_on(&mut self) {
        self.found.first = self.found.first.wrapping_add(self.by as usize);
    }
}

impl<'a> Doing<'a> {
    fn access(moving: Moving<'a>) -> Doing<'a> {
        match (moving.action, moving.register.0) {
            (Action::Write, Class::D) => Doing::Store64(moving),
            (Action::Write, _) => Doing::Store32(moving),
            (_, Class::D) => Doing::Load64(moving),
            _ => Doing::Load32(moving),
        }
    }

    /// The same, reading ahead if it is a load for which that is good. Nothing in the loop may store.
    fn ahead(self) -> Doing<'a> {
        match self {
            Doing::Load32(moving) => match Ahead::of(&moving) {
                Some(ahead) => Doing::Ahead32(moving, ahead),
                None => Doing::Load32(moving),
            },
            Doing::Load64(moving) => match Ahead::of(&moving) {
                Some(ahead) => Doing::Ahead64(moving, ahead),
                None => Doing::Load64(moving),
            },
            other => other,
        }
    }

    #[inline(always)]
    fn moving(&self) -> Option<&Moving<'a>> {
        match self {
            Doing::Load32(moving) | Doing::Load64(moving) => Some(moving),
            Doing::Ahead32(moving, _) | Doing::Ahead64(moving, _) => Some(moving),
            Doing::Store32(moving) | Doing::Store64(moving) => Some(moving),
            _ => None,
        }
    }

    fn of(kind: &'a OpKind) -> Option<Doing<'a>> {
        match kind {
            OpKind::Row { f, rows } => Some(Doing::Row(f, rows)),
            OpKind::Move32 { d, a } => Some(Doing::Move32(*d, *a)),
            OpKind::Move64 { d, a } => Some(Doing::Move64(*d, *a)),
            _ => None,
        }
    }

    /// `left`: iterations that are good, this one included.
    #[inline(always)]
    fn execute(&mut self, window: &mut Window<'_>, mask: u32, left: u64) {
        match self {
            Doing::Ahead32(moving, ahead) => {
                ahead.read(&mut window.r32[moving.register.1 as usize], moving, mask, left);
                moving.move_on();
            }
            Doing::Ahead64(moving, ahead) => {
                ahead.read(&mut window.r64[moving.register.1 as usize], moving, mask, left);
                moving.move_on();
            }
            Doing::Load32(moving) => {
                read(&mut window.r32[moving.register.1 as usize], moving.found, moving.at, mask);
                moving.move_on();
            }
            Doing::Load64(moving) => {
                read(&mut window.r64[moving.register.1 as usize], moving.found, moving.at, mask);
                moving.move_on();
            }
            Doing::Store32(moving) => {
                write(moving.found, window.r32[moving.register.1 as usize].read(), moving.at, mask);
                moving.move_on();
            }
            Doing::Store64(moving) => {
                write(moving.found, window.r64[moving.register.1 as usize].read(), moving.at, mask);
                moving.move_on();
            }
            Doing::Row(f, rows) => {
                let outcome = f.code.rows(window, rows, mask);
                if outcome != Outcome::Done {
                    row_otherwise(window, f, rows, mask, outcome);
                }
            }
            Doing::Move32(d, a) => copy_register(window.r32, *d as usize, *a as usize, mask),
            Doing::Move64(d, a) => copy_register(window.r64, *d as usize, *a as usize, mask),
        }
    }
}
