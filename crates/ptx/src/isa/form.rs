//! The notation in which the table writes mnemonics.

/// Lists of modifiers with a name, as the PTX ISA has `.rnd` and `.type`.
const SETS: &[(&str, &str)] = &[
    ("u", "u16,u32,u64"),
    ("s", "s16,s32,s64"),
    ("i", "u16,u32,u64,s16,s32,s64"),
    ("i3264", "u32,s32,u64,s64"),
    ("i8", "u8,u16,u32,u64,s8,s16,s32,s64"),
    ("b", "b16,b32,b64"),
    ("any", "b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64"),
    ("mem", "b8,b16,b32,b64,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64"),
    ("mem32", "b8,b16,b32,u8,u16,u32,s8,s16,s32,f32"),
    ("s8", "s8,s16,s32,s64"),
    ("rnd", "rn,rz,rm,rp"),
    ("rndi", "rni,rzi,rmi,rpi"),
    ("h", "f16,f16x2"),
    ("bh", "bf16,bf16x2"),
    ("f8", "e4m3x2,e5m2x2"),
    ("f8x1", "e4m3,e5m2"),
    ("order", "eq,ne,lt,le,gt,ge"),
    ("unordered", "eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan"),
    ("bool", "and,or,xor"),
    ("sem", "relaxed,acquire,release,acq_rel"),
    ("scope", "cta,cluster,gpu,sys"),
    ("shared", "shared,shared::cta,shared::cluster"),
    ("space", "const,global,local,param,param::entry,shared,shared::cta,shared::cluster"),
    (
        "evict",
        "L1::evict_normal,L1::evict_unchanged,L1::evict_first,L1::evict_last,L1::no_allocate",
    ),
    ("evict2", "L2::evict_normal,L2::evict_first,L2::evict_last"),
    ("fetch", "L2::64B,L2::128B,L2::256B"),
];

/// A form: the mnemonics that one row of the table allows, written as in the PTX ISA.
///
/// Modifiers follow each other with dots. `a,b,c` is a choice, `@name` a named list of choices, braces are
/// around what may be absent, and `*` stands for any modifiers whatever. `add{.sat}.s32` is `add.s32` and
/// `add.sat.s32`.
///
/// ```
/// let form = ptx::isa::Form::new("setp.eq,ne{.@bool}.b32");
/// assert_eq!(form.opcode(), "setp");
/// assert!(form.allows(&["eq", "b32"]) && form.allows(&["ne", "xor", "b32"]));
/// assert!(!form.allows(&["lt", "b32"]));
/// assert_eq!(form.mnemonics().count(), 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    opcode: &'static str,
    slots: Vec<Slot>,
}

/// A place for modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    optional: bool,
    /// One list of choices for each of the modifiers that stand here together; none for `*`.
    words: Vec<Vec<&'static str>>,
}

impl Slot {
    fn is_wildcard(&self) -> bool {
        self.words.is_empty()
    }

    /// In how many ways it can be filled.
    fn variants(&self) -> usize {
        let filled: usize = self.words.iter().map(Vec::len).product();
        filled + usize::from(self.optional && !self.is_wildcard())
    }
}

impl Form {
    /// Reads the notation. What it cannot mean is left out; a test reads every row.
    pub fn new(text: &'static str) -> Form {
        let end = text.find(['.', '{']).unwrap_or(text.len());
        let (opcode, mut rest) = text.split_at(end);
        let mut slots = Vec::new();
        while !rest.is_empty() {
            let (optional, part) = match rest.strip_prefix('{') {
                Some(inner) => {
                    let end = inner.find('}').unwrap_or(inner.len());
                    rest = inner.get(end + 1..).unwrap_or_default();
                    (true, &inner[..end])
                }
                None => {
                    let end = rest[1..].find(['.', '{']).map_or(rest.len(), |at| at + 1);
                    let part = &rest[..end];
                    rest = &rest[end..];
                    (false, part)
                }
            };
            let words: Vec<Vec<&str>> = part
                .split('.')
                .filter(|word| !word.is_empty() && *word != "*")
                .map(choices)
                .collect();
            slots.push(Slot { optional, words });
        }
        Form { opcode, slots }
    }

    /// The lists that `@name` stands for: name, and words with commas between them.
    pub fn sets() -> impl Iterator<Item = (&'static str, &'static str)> {
        SETS.iter().copied()
    }

    /// The part before the first dot.
    pub fn opcode(&self) -> &'static str {
        self.opcode
    }

    /// Whether any modifiers whatever are allowed somewhere.
    pub fn is_open(&self) -> bool {
        self.slots.iter().any(Slot::is_wildcard)
    }

    /// Every modifier that the form has.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.slots.iter().flat_map(|slot| slot.words.iter().flatten().copied())
    }

    /// Whether it allows these modifiers in this order.
    pub fn allows<S: AsRef<str>>(&self, modifiers: &[S]) -> bool {
        allows(&self.slots, modifiers)
    }

    /// Whether it allows these modifiers in some order.
    pub fn allows_in_any_order<S: AsRef<str>>(&self, modifiers: &[S]) -> bool {
        let room: usize = self.slots.iter().map(|slot| slot.words.len()).sum();
        if modifiers.len() > room && !self.is_open() {
            return false;
        }
        let mut left: Vec<&str> = modifiers.iter().map(AsRef::as_ref).collect();
        any_order(&self.slots, &mut left)
    }

    /// The modifiers of every mnemonic of the form, `*` being nothing. Some forms have a million.
    pub fn mnemonics(&self) -> impl ExactSizeIterator<Item = Vec<&'static str>> {
        let count = self.slots.iter().map(Slot::variants).product();
        (0..count).map(|number| self.mnemonic(number))
    }

    /// As many of [`Form::mnemonics`], spread over all of them.
    pub fn some_mnemonics(&self, limit: usize) -> impl Iterator<Item = Vec<&'static str>> {
        let count: usize = self.slots.iter().map(Slot::variants).product();
        // A prime step visits every choice of every slot, none of which has as many.
        let step = if count <= limit { 1 } else { 104_729 };
        (0..count.min(limit)).map(move |number| self.mnemonic(number * step % count))
    }

    /// The mnemonic with a number: its digits say which variant of each slot.
    fn mnemonic(&self, mut number: usize) -> Vec<&'static str> {
        let mut mnemonic = Vec::new();
        for slot in &self.slots {
            let variants = slot.variants();
            let mut variant = number % variants;
            number /= variants;
            if slot.optional && !slot.is_wildcard() {
                match variant.checked_sub(1) {
                    Some(rest) => variant = rest,
                    None => continue,
                }
            }
            for choices in &slot.words {
                mnemonic.push(choices[variant % choices.len()]);
                variant /= choices.len();
            }
        }
        mnemonic
    }
}

/// The choices at one place.
fn choices(part: &'static str) -> Vec<&'static str> {
    part.split(',')
        .flat_map(|word| match word.strip_prefix('@') {
            Some(name) => SETS
                .iter()
                .find(|(set, _)| *set == name)
                .map_or(Vec::new(), |(_, words)| words.split(',').collect()),
            None => vec![word],
        })
        .collect()
}

fn allows<S: AsRef<str>>(slots: &[Slot], modifiers: &[S]) -> bool {
    let Some((slot, slots)) = slots.split_first() else { return modifiers.is_empty() };
    if slot.is_wildcard() {
        return (0..=modifiers.len()).any(|taken| allows(slots, &modifiers[taken..]));
    }
    let count = slot.words.len();
    let taken = modifiers.len() >= count
        && slot.words.iter().zip(modifiers).all(|(choices, word)| choices.contains(&word.as_ref()));
    (taken && allows(slots, &modifiers[count..])) || (slot.optional && allows(slots, modifiers))
}

fn any_order(slots: &[Slot], left: &mut Vec<&str>) -> bool {
    let Some((slot, slots)) = slots.split_first() else { return left.is_empty() };
    if slot.is_wildcard() {
        return slots.is_empty() || any_order(slots, &mut left.clone());
    }
    let before = left.clone();
    let taken = slot.words.iter().all(|choices| {
        let found = left.iter().position(|word| choices.contains(word));
        found.map(|at| left.remove(at)).is_some()
    });
    if taken && any_order(slots, left) {
        return true;
    }
    *left = before;
    slot.optional && any_order(slots, left)
}
