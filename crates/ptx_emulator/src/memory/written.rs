//! Which bytes of a piece of memory have been written: one bit a byte.

/// Bits of the bytes of an allocation or of a block's shared memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    words: Vec<u64>,
}

impl Written {
    /// `bytes` bytes that nobody has written; `None` if the host has no memory for their bits.
    pub(crate) fn new(bytes: usize) -> Option<Written> {
        let count = bytes.div_ceil(64);
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize(count, 0);
        Some(Written { words })
    }

    /// The bits of so many bytes, up to 32, all of them written.
    #[inline]
    pub(crate) fn all_bits(bytes: u32) -> u32 {
        if bytes >= 32 { u32::MAX } else { (1 << bytes) - 1 }
    }

    /// The bits of up to 32 bytes at `at`, the first one lowest.
    #[inline]
    pub(crate) fn get(&self, at: usize, bytes: u32) -> u32 {
        let (word, shift) = (at / 64, at % 64);
        let mut bits = self.words.get(word).map_or(0, |word| word >> shift);
        if shift != 0 {
            bits |= self.words.get(word + 1).map_or(0, |word| word << (64 - shift));
        }
        bits as u32 & Written::all_bits(bytes)
    }

    /// Sets the bits of up to 32 bytes at `at`, and clears those that are not in `bits`.
    #[inline]
    pub(crate) fn put(&mut self, at: usize, bytes: u32, bits: u32) {
        let (word, shift) = (at / 64, at % 64);
        let (mask, bits) = (
            u128::from(Written::all_bits(bytes)) << shift,
            u128::from(bits & Written::all_bits(bytes)) << shift,
        );
        for (word, part) in [(word, 0), (word + 1, 64)] {
            let (mask, bits) = ((mask >> part) as u64, (bits >> part) as u64);
            if mask != 0
                && let Some(word) = self.words.get_mut(word)
            {
                *word = *word & !mask | bits;
            }
        }
    }

    /// Whether all of a range was written.
    #[inline]
    pub(crate) fn all(&self, at: usize, bytes: usize) -> bool {
        let end = at + bytes;
        let mut at = at;
        while at < end {
            let (word, shift) = (at / 64, at % 64);
            let count = (64 - shift).min(end - at);
            let mask = if count == 64 { u64::MAX } else { ((1 << count) - 1) << shift };
            if self.words.get(word).is_none_or(|word| word & mask != mask) {
                return false;
            }
            at += count;
        }
        true
    }

    /// Marks a range as written.
    pub(crate) fn mark(&mut self, at: usize, bytes: usize) {
        let end = at + bytes;
        let mut at = at;
        while at < end {
            let (word, shift) = (at / 64, at % 64);
            let count = (64 - shift).min(end - at);
            let mask = if count == 64 { u64::MAX } else { ((1 << count) - 1) << shift };
            if let Some(word) = self.words.get_mut(word) {
                *word |= mask;
            }
            at += count;
        }
    }

    /// The bits of a range, on their own.
    pub(crate) fn part(&self, from: usize, bytes: usize) -> Option<Written> {
        let mut part = Written::new(bytes)?;
        part.copy(0, self, from, bytes);
        Some(part)
    }

    /// Takes over the bits of a range of another piece.
    pub(crate) fn copy(&mut self, to: usize, source: &Written, from: usize, bytes: usize) {
        let mut at = 0;
        while at < bytes {
            let count = (bytes - at).min(32) as u32;
            self.put(to + at, count, source.get(from + at, count));
            at += count as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_a_list_of_bytes() {
        let mut written = Written::new(300).unwrap();
        let mut model = [false; 300];
        let mut seed = 1u32;
        let mut random = |limit: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % limit
        };
        for _ in 0..2000 {
            let at = random(268) as usize;
            let count = random(32) + 1;
            match random(4) {
                0 => {
                    let bits = random(1 << 24).wrapping_mul(0x101);
                    written.put(at, count, bits);
                    for byte in 0..count {
                        model[at + byte as usize] = bits >> byte & 1 != 0;
                    }
                }
                1 => {
                    written.mark(at, count as usize);
                    model[at..at + count as usize].fill(true);
                }
                2 => {
                    let to = random(268) as usize;
                    let source = written.part(at, count as usize).unwrap();
                    written.copy(to, &source, 0, count as usize);
                    model.copy_within(at..at + count as usize, to);
                }
                _ => {
                    let expected = (0..count)
                        .fold(0, |bits, byte| bits | u32::from(model[at + byte as usize]) << byte);
                    assert_eq!(written.get(at, count), expected);
                    let all = model[at..at + count as usize].iter().all(|byte| *byte);
                    assert_eq!(written.all(at, count as usize), all);
                }
            }
        }
    }
}
