//! What one request to global memory costs: 32-byte sectors and 128-byte lines.
//!
//! A warp instruction that accesses global memory is one request at any width. The memory system moves data in sectors of
//! 32 bytes, four of which make a cache line of 128 bytes; the request costs as many as its active lanes touch, each
//! counted once. All of this is recorded from an H200 (`tests/data/golden/banks.jsonl.gz`) and equal to it in every pattern.

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 128;

/// The cost of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalCost {
    /// Different 32-byte sectors that the active lanes touch.
    pub sectors: u32,
    /// Different 128-byte lines that they touch.
    pub lines: u32,
    /// Sectors that the same data would take if it lay together, at the start of a sector: the bytes of all *different*
    /// elements, divided by 32, rounded up. `ideal_sectors / sectors` is the efficiency, never more than 1.
    pub ideal_sectors: u32,
}

impl GlobalCost {
    /// The cost of a load or store of `bytes` bytes by each lane of `mask`.
    ///
    /// ```
    /// use ptx_emulator::counters::GlobalCost;
    ///
    /// let together: [u64; 32] = std::array::from_fn(|lane| 4096 + 4 * lane as u64);
    /// let apart: [u64; 32] = std::array::from_fn(|lane| 4096 + 128 * lane as u64);
    /// assert_eq!(GlobalCost::of(&together, u32::MAX, 4).sectors, 4);
    /// assert_eq!(GlobalCost::of(&apart, u32::MAX, 4).sectors, 32);
    /// ```
    #[must_use]
    pub fn of(addresses: &[u64; 32], mask: u32, bytes: u32) -> GlobalCost {
        let mut rising = [0; 32];
        let (active, sorted) = super::active(addresses, mask, &mut rising);
        if !sorted {
            active.sort_unstable();
        }
        let last = u64::from(bytes.max(1)) - 1;
        let (mut sectors, mut lines, mut elements) = (Span::default(), Span::default(), 0);
        let mut previous = None;
        for &address in &*active {
            if previous == Some(address) {
                continue;
            }
            previous = Some(address);
            elements += 1;
            let end = address.saturating_add(last);
            sectors.add(address / SECTOR_BYTES, end / SECTOR_BYTES);
            lines.add(address / LINE_BYTES, end / LINE_BYTES);
        }
        GlobalCost {
            sectors: sectors.count,
            lines: lines.count,
            ideal_sectors: ideal(elements, bytes),
        }
    }

    /// As [`of`](GlobalCost::of) with all 32 lanes active, lane l at `base + l * stride` (wrapping), in constant time wherever the
    /// addresses are multiples of `bytes` and `bytes` is at most 32.
    #[must_use]
    pub fn affine(base: u64, stride: i64, bytes: u32) -> GlobalCost {
        let wide = u64::from(bytes);
        let regular = wide.is_power_of_two()
            && wide <= SECTOR_BYTES
            && (base | stride as u64).is_multiple_of(wide);
        let step = stride.unsigned_abs();
        let reach = step.checked_mul(31);
        let first =
            if stride < 0 { reach.and_then(|reach| base.checked_sub(reach)) } else { Some(base) };
        let end = first.zip(reach).and_then(|(first, reach)| first.checked_add(reach));
        let (true, Some(first), Some(end)) = (regular, first, end) else {
            return GlobalCost::of(&super::addresses(base, stride), u32::MAX, bytes);
        };
        // Steps of at most a unit leave none out; with larger steps every lane has one to itself.
        let units = |unit: u64| match step {
            0 => 1,
            step if step > unit => 32,
            _ => (end / unit - first / unit + 1) as u32,
        };
        let elements = if step == 0 { 1 } else { 32 };
        GlobalCost {
            sectors: units(SECTOR_BYTES),
            lines: units(LINE_BYTES),
            ideal_sectors: ideal(elements, bytes),
        }
    }

    /// As [`affine`](GlobalCost::affine) for the lanes of `mask` alone.
    #[must_use]
    pub fn affine_masked(base: u64, stride: i64, mask: u32, bytes: u32) -> GlobalCost {
        let wide = u64::from(bytes);
        let regular = wide.is_power_of_two()
            && wide <= SECTOR_BYTES
            && (base | stride as u64).is_multiple_of(wide)
            && stride != 0;
        let reach = stride.unsigned_abs().checked_mul(31);
        let end = reach.and_then(|reach| base.checked_add(reach));
        if !regular || end.is_none() || reach.is_some_and(|reach| stride < 0 && reach > base) {
            return GlobalCost::of(&super::addresses(base, stride), mask, bytes);
        }
        // Addresses that rise or fall come to a unit once; an element lies in one sector.
        let (mut sectors, mut lines) = (0, 0);
        let (mut sector, mut line) = (u64::MAX, u64::MAX);
        for lane in crate::row::lanes(mask) {
            let address = base.wrapping_add((stride as u64).wrapping_mul(lane as u64));
            sectors += u32::from(address / SECTOR_BYTES != sector);
            lines += u32::from(address / LINE_BYTES != line);
            (sector, line) = (address / SECTOR_BYTES, address / LINE_BYTES);
        }
        GlobalCost { sectors, lines, ideal_sectors: ideal(mask.count_ones(), bytes) }
    }

    /// The cost of an `atom` or `red`. When all active lanes name one address, the hardware moves a sector for each lane
    /// (recorded for `red.global.add.u32`); the lines and the ideal are those of a load.
    #[must_use]
    pub fn of_atomic(addresses: &[u64; 32], mask: u32, bytes: u32) -> GlobalCost {
        let mut cost = GlobalCost::of(addresses, mask, bytes);
        if super::same_address(addresses, mask) == mask.count_ones() {
            cost.sectors = mask.count_ones();
        }
        cost
    }
}

/// Sectors that `elements` elements of `bytes` bytes fill.
fn ideal(elements: u32, bytes: u32) -> u32 {
    (u64::from(elements) * u64::from(bytes)).div_ceil(SECTOR_BYTES) as u32
}

/// Counts the units of rising ranges, each once.
#[derive(Default)]
struct Span {
    /// The first unit that is not counted yet.
    next: u64,
    count: u32,
}

impl Span {
    fn add(&mut self, first: u64, last: u64) {
        let first = first.max(self.next);
        if last >= first {
            self.count = self.count.saturating_add((last - first + 1) as u32);
            self.next = last + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::row::lanes;

    #[test]
    fn some_lanes_of_even_addresses() {
        let masks = [0, 1, 0x8000_0000, 0x5555_5555, 0xFFFF, 0xFFFF_0000, 0x0F0F_1234, u32::MAX];
        for (base, bytes) in [(0, 4), (4096, 4), (4100, 4), (64, 8), (65, 1), (48, 16), (66, 4)] {
            for stride in [-256, -32, -8, -4, -1, 0, 1, 2, 4, 8, 12, 16, 32, 36, 128, 1 << 40] {
                for mask in masks {
                    let expected =
                        GlobalCost::of(&super::super::addresses(base, stride), mask, bytes);
                    let found = GlobalCost::affine_masked(base, stride, mask, bytes);
                    assert_eq!(found, expected, "{base} {bytes} {stride} {mask:#x}");
                }
            }
        }
    }

    /// The definition, word for word.
    fn definition(addresses: &[u64; 32], mask: u32, bytes: u32) -> GlobalCost {
        let units = |unit: u64| {
            let touched: BTreeSet<u64> = lanes(mask)
                .flat_map(|lane| addresses[lane]..addresses[lane] + u64::from(bytes))
                .map(|byte| byte / unit)
                .collect();
            touched.len() as u32
        };
        let elements: BTreeSet<u64> = lanes(mask).map(|lane| addresses[lane]).collect();
        GlobalCost {
            sectors: units(SECTOR_BYTES),
            lines: units(LINE_BYTES),
            ideal_sectors: (elements.len() as u32 * bytes).div_ceil(32),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]


    #[test]
        fn general_costs_are_the_definition(
            offsets in prop::array::uniform32(0_u64..600), mask: u32, shift in 0_u32..6, aligned: bool,
        ) {
            let bytes = 1 << shift;
            let step = if aligned { u64::from(bytes) } else { 1 };
            let addresses = offsets.map(|offset| 0x1000 + offset * step);
            prop_assert_eq!(
                GlobalCost::of(&addresses, mask, bytes),
                definition(&addresses, mask, bytes)
            );
        }

        #[test]
        fn affine_costs_are_the_general_ones(
            base in prop_oneof![0_u64..4096, any::<u64>()],
            stride in prop_oneof![-300_i64..300, any::<i64>()],
            shift in 0_u32..6, aligned: bool,
        ) {
            let bytes = 1 << shift;
            let fit = if aligned { i64::from(bytes) } else { 1 };
            let (base, stride) = (base / fit as u64 * fit as u64, stride.wrapping_mul(fit));
            prop_assert_eq!(
                GlobalCost::affine(base, stride, bytes),
                GlobalCost::of(&super::super::addresses(base, stride), u32::MAX, bytes)
            );
        }
    }

    #[test]
    fn no_lane_costs_nothing_and_the_end_of_memory_is_no_trouble() {
        assert_eq!(GlobalCost::of(&[0; 32], 0, 4), GlobalCost::default());
        let cost = GlobalCost::of(&[u64::MAX - 3; 32], u32::MAX, 4);
        assert_eq!((cost.sectors, cost.lines, cost.ideal_sectors), (1, 1, 1));
        assert_eq!(GlobalCost::affine(u64::MAX - 3, 0, 4), cost);
    }

    #[test]
    fn an_atomic_on_one_address_costs_a_sector_a_lane() {
        assert_eq!(GlobalCost::of_atomic(&[64; 32], u32::MAX, 4).sectors, 32);
        assert_eq!(GlobalCost::of_atomic(&[64; 32], 0b1011, 4).sectors, 3);
        let mut two = [64; 32];
        two[5] = 68;
        assert_eq!(GlobalCost::of_atomic(&two, u32::MAX, 4).sectors, 1);
    }
}
