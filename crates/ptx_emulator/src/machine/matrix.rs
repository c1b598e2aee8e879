//! Operations of a whole warp on matrices (PTX ISA, "Warp-level Matrix Instructions").
//!
//! They are `.aligned`: all 32 lanes execute the same instruction. Lanes meet as for `shfl.sync`; here all of them are
//! there.

use super::access::addresses;
use super::async_watch::{SharedMemory, shared_addresses};
use super::block::BlockState;
use super::counting::What;
use super::launch::Engine;
use super::places::Places;
use super::report::BadAccess;
use super::shared_address;
use super::warp::{Frame, Warp};
use super::watch::Position;
use crate::diagnostic::ranges;
use crate::events::Action;
use crate::fault::{Fault, FaultKind};
use crate::matrix_op::{MatrixOp, Multiply, Numbers};
use crate::op::{Address, Space, WarpOp};
use crate::row::{FULL, LANES, Row32, Row64, lanes};
use crate::semantics::mma::layout::{self, Place, Slot};
use crate::semantics::mma::{self, Shape};

/// Bytes of a row of an 8x8 matrix of 16-bit elements.
const ROW_BYTES: u32 = 16;

/// The lanes that came, with the frames their registers are in.
type Parts = Vec<(Frame, u32)>;

impl Engine<'_> {
    /// Runs an operation on matrices once its lanes are there: `group` has the splits, all at the same instruction.
    pub(super) fn matrix(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        group: &[(usize, &WarpOp)],
        present: u32,
    ) -> Result<(), Box<Fault>> {
        let Some((index, op)) = group.first() else {
            return Ok(());
        };
        let Some(matrix) = op.matrix.as_deref() else {
            return Ok(());
        };
        let (frame, pc) = (warp.splits[*index].frame, warp.splits[*index].pc);
        if present != FULL {
            // Undefined in the PTX ISA; an H200 goes on without an error and leaves the results unwritten (recorded).
            let fault = self.fault(block, warp, frame, pc, present, FaultKind::IncompleteWarp);
            return Err(fault.with_note(format!(
                "lanes {} have exited, or the block has no threads for them",
                ranges(!present)
            )));
        }
        let parts: Parts = group
            .iter()
            .map(|(index, _)| {
                let split = warp.splits[*index];
                (warp.frames[split.frame as usize], split.mask)
            })
            .collect();
        let done = match matrix {
            MatrixOp::Load { space, address, transpose, d } => {
                load(block, warp, &parts, (*space, address), *transpose, d)
            }
            MatrixOp::Store { space, address, transpose, a } => {
                store(block, warp, &parts, (*space, address), *transpose, a)
            }
            MatrixOp::Transpose { d, a } => {
                let matrix = Matrix8::from_row(&gather32(warp, &parts, *a)).transposed();
                scatter32(warp, &parts, *d, &matrix.to_row());
                Ok(None)
            }
            MatrixOp::Multiply(multiply) => {
                self::multiply(warp, &parts, multiply);
                Ok(None)
            }
        };
        let access = done.map_err(|bad| self.access_fault(block, warp, frame, pc, *bad))?;
        let Some(Access { action, lanes: active, offsets }) = access else {
            return Ok(());
        };
        if let Some(counting) = &mut self.counting {
            let what = if action == Action::Read { What::Load } else { What::Store };
            let rows = offsets.map(|offset| offset as u64);
            counting.access(pc, what, Space::Shared, Places::Each(&rows), active, ROW_BYTES);
        }
        if self.checks.is_some() {
            let place = (Space::Shared, &shared_addresses(block, &offsets));
            let what = (action, ROW_BYTES, 2);
            self.moved(block, warp, Position { frame, pc, active }, place, what);
        }
        Ok(())
    }
}

/// Rows of matrices in shared memory that were read or written.
struct Access {
    action: Action,
    /// The lanes that gave an address.
    lanes: u32,
    offsets: [usize; LANES],
}

/// A 32-bit row, each lane's column from its own frame.
fn gather32(warp: &Warp, parts: &Parts, row: u32) -> Row32 {
    let mut value = [0; LANES];
    for (frame, mask) in parts {
        let source = warp.r32.copy(frame.base32 + row);
        lanes(*mask).for_each(|lane| value[lane] = source[lane]);
    }
    value
}

fn gather64(warp: &Warp, parts: &Parts, row: u32) -> Row64 {
    let mut value = [0; LANES];
    for (frame, mask) in parts {
        let source = warp.r64.copy(frame.base64 + row);
        lanes(*mask).for_each(|lane| value[lane] = source[lane]);
    }
    value
}

fn scatter32(warp: &mut Warp, parts: &Parts, row: u32, value: &Row32) {
    for (frame, mask) in parts {
        warp.r32.write(frame.base32 + row, value, *mask);
    }
}

fn scatter64(warp: &mut Warp, parts: &Parts, row: u32, value: &Row64) {
    for (frame, mask) in parts {
        warp.r64.write(frame.base64 + row, value, *mask);
    }
}

/// An 8x8 matrix of 16-bit elements.
struct Matrix8([[u16; 8]; 8]);

impl Matrix8 {
    /// Lane l holds columns 2 * (l % 4) and the next one of row l / 4, the lower column in the low half.
    fn from_row(row: &Row32) -> Matrix8 {
        let mut matrix = [[0; 8]; 8];
        for (lane, word) in row.iter().enumerate() {
            matrix[lane / 4][2 * (lane % 4)] = *word as u16;
            matrix[lane / 4][2 * (lane % 4) + 1] = (word >> 16) as u16;
        }
        Matrix8(matrix)
    }

    fn to_row(&self) -> Row32 {
        std::array::from_fn(|lane| {
            let row = &self.0[lane / 4];
            u32::from(row[2 * (lane % 4)]) | u32::from(row[2 * (lane % 4) + 1]) << 16
        })
    }

    fn transposed(&self) -> Matrix8 {
        Matrix8(std::array::from_fn(|row| std::array::from_fn(|column| self.0[column][row])))
    }
}

/// The lanes that give addresses for so many matrices.
fn addressing(count: usize) -> u32 {
    if count >= 4 { FULL } else { (1 << (8 * count)) - 1 }
}

/// Offsets in the block's shared memory of the rows that `count` matrices have: row r of matrix i is where lane 8 * i + r
/// says. The other lanes' addresses do not matter.
fn row_offsets(
    block: &BlockState,
    warp: &mut Warp,
    parts: &Parts,
    (space, address): (Space, &Address),
    count: usize,
) -> Result<[usize; LANES], Box<BadAccess>> {
    let mut at: Row64 = [0; LANES];
    for (frame, mask) in parts {
        let own = addresses(warp, frame, address);
        lanes(*mask).for_each(|lane| at[lane] = own[lane]);
    }
    let used = addressing(count);
    shared_address::offsets(block, &at, space, used, ROW_BYTES)
}

fn load(
    block: &BlockState,
    warp: &mut Warp,
    parts: &Parts,
    place: (Space, &Address),
    transpose: bool,
    d: &[u32],
) -> Result<Option<Access>, Box<BadAccess>> {
    let offsets = row_offsets(block, warp, parts, place, d.len())?;
    for (rows, row) in offsets.chunks_exact(8).zip(d) {
        let element =
            |row: usize, column: usize| block.shared.read(rows[row] + 2 * column, 2) as u16;
        let matrix =
            Matrix8(std::array::from_fn(|row| std::array::from_fn(|column| element(row, column))));
        let matrix = if transpose { matrix.transposed() } else { matrix };
        scatter32(warp, parts, *row, &matrix.to_row());
    }
    let lanes = addressing(d.len());
    Ok(Some(Access { action: Action::Read, lanes, offsets }))
}

fn store(
    block: &mut BlockState,
    warp: &mut Warp,
    parts: &Parts,
    place: (Space, &Address),
    transpose: bool,
    a: &[u32],
) -> Result<Option<Access>, Box<BadAccess>> {
    let offsets = row_offsets(block, warp, parts, place, a.len())?;
    for (rows, row) in offsets.chunks_exact(8).zip(a) {
        let matrix = Matrix8::from_row(&gather32(warp, parts, *row));
        let matrix = if transpose { matrix.transposed() } else { matrix };
        for (offset, elements) in rows.iter().zip(matrix.0) {
            for (column, element) in elements.into_iter().enumerate() {
                block.shared.write(offset + 2 * column, 2, element.into());
            }
        }
    }
    let lanes = addressing(a.len());
    let BlockState { shared: bytes, checks, .. } = block;
    for lane in crate::row::lanes(lanes) {
        SharedMemory { bytes, checks }.written(offsets[lane], ROW_BYTES);
    }
    Ok(Some(Access { action: Action::Write, lanes, offsets }))
}

/// A fragment's elements in the order of a matrix; `index` says where each goes.
fn collect(
    fragment: &[Row32],
    per_register: usize,
    length: usize,
    index: impl Fn(Slot) -> usize,
) -> Vec<u32> {
    let bits = 32 / per_register.max(1) as u32;
    let keep = if bits == 32 { u32::MAX } else { (1 << bits) - 1 };
    let mut elements = vec![0; length];
    for (register, row) in fragment.iter().enumerate() {
        for (lane, word) in row.iter().enumerate() {
            for element in 0..per_register {
                let slot = Slot { lane, register, element, per_register };
                if let Some(target) = elements.get_mut(index(slot)) {
                    *target = word >> (bits * element as u32) & keep;
                }
            }
        }
    }
    elements
}

/// The fragment that holds a matrix's elements.
fn spread(
    elements: &[u32],
    per_register: usize,
    registers: usize,
    index: impl Fn(Slot) -> usize,
) -> Vec<Row32> {
    let bits = 32 / per_register.max(1) as u32;
    let mut fragment = vec![[0; LANES]; registers];
    for (register, row) in fragment.iter_mut().enumerate() {
        for (lane, word) in row.iter_mut().enumerate() {
            for element in 0..per_register {
                let slot = Slot { lane, register, element, per_register };
                let value = elements.get(index(slot)).copied().unwrap_or_default();
                *word |= value << (bits * element as u32);
            }
        }
    }
    fragment
}

fn multiply(warp: &mut Warp, parts: &Parts, op: &Multiply) {
    let Multiply { shape, numbers, .. } = op;
    if let Numbers::F64(rounding) = numbers {
        return multiply_f64(warp, parts, op, *rounding);
    }
    let fragment = |rows: &[u32]| -> Vec<Row32> {
        rows.iter().map(|row| gather32(warp, parts, *row)).collect()
    };
    let (a, b, c) = (fragment(&op.a), fragment(&op.b), fragment(&op.c));
    let d = if let Numbers::QuadPairs { .. } = numbers {
        quad_pairs(op, &a, &b, &c)
    } else {
        let [per_ab, per_c] = numbers.per_register();
        let at = Index(*shape);
        let a = collect(&a, per_ab, shape.m * shape.k, |slot| at.a(layout::a(slot)));
        let b = collect(&b, per_ab, shape.k * shape.n, |slot| at.b(layout::b(slot)));
        let c = collect(&c, per_c, shape.m * shape.n, |slot| at.c(layout::c(slot)));
        let d = match *numbers {
            Numbers::Float { multiplicands, accumulator } => {
                mma::multiply_float(*shape, multiplicands, accumulator, &a, &b, &c)
            }
            Numbers::Integers(integers) => mma::multiply_integers(*shape, integers, &a, &b, &c),
            Numbers::Bits(operation) => mma::multiply_bits(*shape, operation, &a, &b, &c),
            Numbers::F64(_) | Numbers::QuadPairs { .. } => Vec::new(),
        };
        spread(&d, per_c, op.d.len(), |slot| at.c(layout::c(slot)))
    };
    for (row, value) in op.d.iter().zip(&d) {
        scatter32(warp, parts, *row, value);
    }
}

/// Positions in matrices stored as rows of A, columns of B, rows of C, one matrix after the other.
struct Index(Shape);

impl Index {
    fn a(&self, place: Place) -> usize {
        (place.matrix * self.0.m + place.row) * self.0.k + place.column
    }

    fn b(&self, place: Place) -> usize {
        (place.matrix * self.0.n + place.column) * self.0.k + place.row
    }

    fn c(&self, place: Place) -> usize {
        (place.matrix * self.0.m + place.row) * self.0.n + place.column
    }
}

/// `m8n8k4` of f16: four multiplications.
fn quad_pairs(op: &Multiply, a: &[Row32], b: &[Row32], c: &[Row32]) -> Vec<Row32> {
    let Numbers::QuadPairs { orders: [left, right], c: from, d: to } = op.numbers else {
        return Vec::new();
    };
    let Shape { m, n, k } = op.shape;
    let at = Index(op.shape);
    let a = collect(a, 2, 4 * m * k, |slot| at.a(layout::quad_pair_a(slot, left)));
    let b = collect(b, 2, 4 * k * n, |slot| at.b(layout::quad_pair_b(slot, right)));
    let c = collect(c, from.per_register(), 4 * m * n, |slot| at.c(layout::quad_pair_c(slot)));
    let mut d = Vec::with_capacity(4 * m * n);
    for matrix in 0..4 {
        let part = |all: &'_ [u32], size: usize| all[matrix * size..(matrix + 1) * size].to_vec();
        let (a, b, c) = (part(&a, m * k), part(&b, k * n), part(&c, m * n));
        d.extend(mma::multiply_quad_pair(op.shape, from, to, &a, &b, &c));
    }
    spread(&d, to.per_register(), op.d.len(), |slot| at.c(layout::quad_pair_c(slot)))
}

fn multiply_f64(
    warp: &mut Warp,
    parts: &Parts,
    op: &Multiply,
    rounding: crate::semantics::Rounding,
) {
    let Shape { m, n, k } = op.shape;
    let at = Index(op.shape);
    let slots = |registers: usize| {
        (0..registers).flat_map(|register| {
            (0..LANES).map(move |lane| Slot { lane, register, element: 0, per_register: 1 })
        })
    };
    let collect = |rows: &[u32], length: usize, index: &dyn Fn(Slot) -> usize| {
        let fragment: Vec<Row64> = rows.iter().map(|row| gather64(warp, parts, *row)).collect();
        let mut elements = vec![0; length];
        for slot in slots(rows.len()) {
            if let Some(target) = elements.get_mut(index(slot)) {
                *target = fragment[slot.register][slot.lane];
            }
        }
        elements
    };
    let a = collect(&op.a, m * k, &|slot| at.a(layout::a(slot)));
    let b = collect(&op.b, k * n, &|slot| at.b(layout::b(slot)));
    let c = collect(&op.c, m * n, &|slot| at.c(layout::c(slot)));
    let d = mma::multiply_f64(op.shape, rounding, &a, &b, &c);
    let mut fragment = vec![[0; LANES]; op.d.len()];
    for slot in slots(op.d.len()) {
        fragment[slot.register][slot.lane] = d.get(at.c(layout::c(slot))).copied().unwrap_or(0);
    }
    for (row, value) in op.d.iter().zip(&fragment) {
        scatter64(warp, parts, *row, value);
    }
}
