//! Which lane's register holds which element of a matrix (PTX ISA, "Matrix Fragments for mma" of each shape).
//!
//! All shapes but one follow one rule. In terms of the group `lane / 4` and the place in it, `lane % 4`: A's register r holds
//! neighbouring columns of row `group`, or of row `group + 8` for odd r; two registers on, the columns go on. B's registers
//! hold neighbouring rows of column `group`. C and D hold two neighbouring columns at a time.
//!
//! The exception is `m8n8k4` of f16: four multiplications at once, each by the eight lanes of a quad pair.

use super::Shape;

/// A place in one of the matrices that a warp multiplies at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Place {
    /// Number of the multiplication; 0 but for `m8n8k4` of f16.
    pub matrix: usize,
    /// Row.
    pub row: usize,
    /// Column.
    pub column: usize,
}

/// One element of a lane's fragment: the register, and the element in the register from the low bits up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Lane, 0 to 31.
    pub lane: usize,
    /// Register of the fragment.
    pub register: usize,
    /// Element in the register.
    pub element: usize,
    /// Elements of a register.
    pub per_register: usize,
}

impl Slot {
    fn index(self) -> usize {
        self.register * self.per_register + self.element
    }
}

/// How the elements of the multiplicands of `m8n8k4` of f16 are ordered (`.row`, `.col`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `.row`
    Row,
    /// `.col`
    Column,
}

/// The element of A in a slot.
#[must_use]
pub fn a(slot: Slot) -> Place {
    let (group, place) = (slot.lane / 4, slot.lane % 4);
    Place {
        matrix: 0,
        row: group + 8 * (slot.register % 2),
        column: (slot.register / 2 * 4 + place) * slot.per_register + slot.element,
    }
}

/// The element of B in a slot.
#[must_use]
pub fn b(slot: Slot) -> Place {
    let (group, place) = (slot.lane / 4, slot.lane % 4);
    Place {
        matrix: 0,
        row: (slot.register * 4 + place) * slot.per_register + slot.element,
        column: group,
    }
}

/// The element of C or D in a slot.
#[must_use]
pub fn c(slot: Slot) -> Place {
    let (group, place) = (slot.lane / 4, slot.lane % 4);
    let index = slot.index();
    Place { matrix: 0, row: group + 8 * (index / 2), column: 2 * place + index % 2 }
}

/// The lane's quad pair, and its place among the eight lanes of the pair.
fn quad_pair(lane: usize) -> (usize, usize) {
    (lane % 16 / 4, lane % 4 + lane / 16 * 4)
}

/// The element of A in a slot, `m8n8k4` of f16.
#[must_use]
pub fn quad_pair_a(slot: Slot, order: Order) -> Place {
    let (matrix, place) = quad_pair(slot.lane);
    let index = slot.index();
    match order {
        Order::Row => Place { matrix, row: place, column: index },
        Order::Column => Place { matrix, row: index + place / 4 * 4, column: place % 4 },
    }
}

/// The element of B in a slot, `m8n8k4` of f16.
#[must_use]
pub fn quad_pair_b(slot: Slot, order: Order) -> Place {
    let (matrix, place) = quad_pair(slot.lane);
    let index = slot.index();
    match order {
        Order::Row => Place { matrix, row: place % 4, column: index + place / 4 * 4 },
        Order::Column => Place { matrix, row: index, column: place },
    }
}

/// The element of C or D in a slot, `m8n8k4` of f16: f16 elements have two a register, f32 ones one.
#[must_use]
pub fn quad_pair_c(slot: Slot) -> Place {
    let (matrix, place) = quad_pair(slot.lane);
    let index = slot.index();
    if slot.per_register == 2 {
        return Place { matrix, row: place, column: index };
    }
    Place {
        matrix,
        row: (place & 1) + (index & 2) + place / 4 * 4,
        column: (index & 4) + (place & 2) + (index & 1),
    }
}

/// Registers that a lane needs for `elements` elements of a matrix.
#[must_use]
pub fn registers(elements: usize, per_register: usize) -> usize {
    (elements / 32 / per_register.max(1)).max(1)
}

/// The registers of a lane's fragments of A, B and C for a shape of the common rule.
#[must_use]
pub fn fragment_registers(shape: Shape, per_ab: usize, per_c: usize) -> [usize; 3] {
    let Shape { m, n, k } = shape;
    [registers(m * k, per_ab), registers(k * n, per_ab), registers(m * n, per_c)]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn places(registers: usize, per_register: usize, of: impl Fn(Slot) -> Place) -> Vec<Place> {
        let mut all = Vec::new();
        for lane in 0..32 {
            for register in 0..registers {
                for element in 0..per_register {
                    all.push(of(Slot { lane, register, element, per_register }));
                }
            }
        }
        all
    }

    fn is_permutation(places: &[Place], matrices: usize, rows: usize, columns: usize) {
        let distinct: HashSet<Place> = places.iter().copied().collect();
        assert_eq!((places.len(), distinct.len()), (distinct.len(), matrices * rows * columns));
        assert!(
            places.iter().all(|p| p.matrix < matrices && p.row < rows && p.column < columns),
            "{places:?}"
        );
    }

    #[test]
    fn every_element_has_one_slot() {
        for (text, per_ab, per_c) in [
            ("m16n8k8", 2, 2),
            ("m16n8k16", 2, 1),
            ("m16n8k4", 1, 1),
            ("m16n8k8", 1, 1),
            ("m16n8k16", 1, 1),
            ("m8n8k4", 1, 1),
            ("m8n8k16", 4, 1),
            ("m16n8k32", 4, 1),
            ("m8n8k32", 8, 1),
            ("m16n8k64", 8, 1),
            ("m8n8k128", 32, 1),
            ("m16n8k256", 32, 1),
        ] {
            let shape = Shape::from_modifier(text).expect(text);
            let [in_a, in_b, in_c] = fragment_registers(shape, per_ab, per_c);
            is_permutation(&places(in_a, per_ab, a), 1, shape.m, shape.k);
            is_permutation(&places(in_b, per_ab, b), 1, shape.k, shape.n);
            is_permutation(&places(in_c, per_c, c), 1, shape.m, shape.n);
        }
        for order in [Order::Row, Order::Column] {
            is_permutation(&places(2, 2, |slot| quad_pair_a(slot, order)), 4, 8, 4);
            is_permutation(&places(2, 2, |slot| quad_pair_b(slot, order)), 4, 4, 8);
        }
        is_permutation(&places(4, 2, quad_pair_c), 4, 8, 8);
        is_permutation(&places(8, 1, quad_pair_c), 4, 8, 8);
    }
}
