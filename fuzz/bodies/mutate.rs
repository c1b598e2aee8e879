//! Mutations that keep a text PTX: words are exchanged for words of their kind, numbers for extreme numbers,
//! statements are copied and removed. Bytes alone seldom get past the parser.

/// A generator of numbers that is good enough to choose places.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

const EXTREMES: [&str; 28] = [
    "0",
    "-1",
    "1",
    "31",
    "32",
    "255",
    "1024",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "-9223372036854775808",
    "0x7fffffff",
    "0f7FC00000",
    "0d7FF0000000000000",
    "_",
    "%tid.x",
    "%r1",
    "%rd1",
    "%p1",
    "b128",
    "v4",
    "f16x2",
    "pred",
    "s8",
    "u64",
    "%clock64",
];

#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Register(u8),
    Modifier,
    Number,
    Other,
}

struct Word {
    start: usize,
    end: usize,
    kind: Kind,
}

fn words(text: &[u8]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"%_$:".contains(&byte);
    while at < text.len() {
        if !inside(text[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < text.len() && inside(text[at]) {
            at += 1;
        }
        let kind = match text[start] {
            b'%' => Kind::Register(text.get(start + 1).copied().unwrap_or(0)),
            b'0'..=b'9' => Kind::Number,
            _ if start > 0 && text[start - 1] == b'.' => Kind::Modifier,
            _ => Kind::Other,
        };
        words.push(Word { start, end: at, kind });
    }
    words
}

/// Changes `data[..size]` in place and gives its new size, at most `max_size`; `bytes` is the fuzzer's own
/// mutation, which is used half of the time.
pub fn mutate(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    bytes: impl Fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut random = Random(u64::from(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    if random.below(3) == 0 {
        return bytes(data, size, max_size);
    }
    let mut text = data[..size].to_vec();
    for _ in 0..1 + random.below(4) {
        let all = words(&text);
        if all.is_empty() {
            return bytes(data, size, max_size);
        }
        let at = random.below(all.len());
        let to = &all[at];
        match random.below(8) {
            // A word of the same kind, from anywhere.
            0..4 => {
                let same: Vec<&Word> = all.iter().filter(|word| word.kind == to.kind).collect();
                let from = same[random.below(same.len())];
                let word = text[from.start..from.end].to_vec();
                text.splice(to.start..to.end, word);
            }
            4 => {
                let word = EXTREMES[random.below(EXTREMES.len())].bytes();
                text.splice(to.start..to.end, word);
            }
            // Without the modifier, its dot included.
            5 if to.kind == Kind::Modifier => {
                text.drain(to.start - 1..to.end);
            }
            // A statement again, elsewhere or not at all.
            other => {
                let start = text[..to.start]
                    .iter()
                    .rposition(|byte| b";{}".contains(byte))
                    .map_or(0, |p| p + 1);
                let end = text[to.end..]
                    .iter()
                    .position(|byte| *byte == b';')
                    .map_or(text.len(), |p| to.end + p + 1);
                if other == 6 {
                    text.drain(start..end);
                } else {
                    let statement = text[start..end].to_vec();
                    let ends: Vec<usize> =
                        (0..text.len()).filter(|p| text[*p] == b';').map(|p| p + 1).collect();
                    let place = if ends.is_empty() { 0 } else { ends[random.below(ends.len())] };
                    text.splice(place..place, statement);
                }
            }
        }
    }
    let size = text.len().min(max_size);
    data[..size].copy_from_slice(&text[..size]);
    size
}
