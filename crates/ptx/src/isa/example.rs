//! Whole instructions from rows of the table, for tests and for judging the table with an assembler.

use super::row::Row;

/// An instruction with the declarations that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// `.reg` and other declarations.
    pub declarations: String,
    /// The instruction, with its semicolon.
    pub instruction: String,
}

/// Bits of a register that holds a type's values; 1 for a predicate.
fn bits(modifier: &str) -> Option<u32> {
    Some(match modifier {
        "pred" => 1,
        "b8" | "u8" | "s8" => 16,
        "b16" | "u16" | "s16" | "f16" | "bf16" | "e4m3x2" | "e5m2x2" | "e2m3x2" | "e3m2x2" => 16,
        "b32" | "u32" | "s32" | "f32" | "tf32" | "f16x2" | "bf16x2" | "u16x2" | "s16x2" => 32,
        "b64" | "u64" | "s64" | "f64" | "f32x2" => 64,
        "b128" => 128,
        _ => return None,
    })
}

impl Row {
    /// An instruction of this form with these modifiers; `None` when the operands cannot be made up.
    ///
    /// The operands are a list with commas: `t` is a register of the last type among the modifiers, `t1` and
    /// `t2` of the first and second, `w` of twice the last one's width, `b32` and the like of that type, `p` a
    /// predicate, `#7` a number, `=L` a name, `x|p` a pair, `[b64]` an address, `{b32*4}` a vector of four, and `{t}` one where the modifiers say so;
    /// `x?a/b` is only there with one of the modifiers `a` and `b`, and `x!a` only without `a`.
    ///
    /// ```
    /// let row = ptx::isa::table().find(|row| row.form == "mul.wide.u16,u32,s16,s32").unwrap();
    /// let example = row.example(&["wide", "u32"]).unwrap();
    /// assert_eq!(example.instruction, "mul.wide.u32 %x0, %x1, %x2;");
    /// assert!(example.declarations.contains(".reg .b64 %x0;"));
    /// ```
    pub fn example(&self, modifiers: &[&str]) -> Option<Example> {
        let mut maker = Maker {
            types: modifiers.iter().filter_map(|word| bits(word)).collect(),
            vector: modifiers.iter().find_map(|word| match *word {
                "v2" => Some(2),
                "v4" => Some(4),
                "v8" => Some(8),
                _ => None,
            }),
            declarations: String::new(),
            count: 0,
        };
        let mut mnemonic = super::Form::new(self.form).opcode().to_owned();
        for modifier in modifiers {
            mnemonic = mnemonic + "." + modifier;
        }
        let mut operands = Vec::new();
        for operand in self.operands.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let has = |words: &str| words.split('/').any(|word| modifiers.contains(&word));
            let operand = match (operand.split_once('?'), operand.split_once('!')) {
                (Some((operand, words)), _) if has(words) => operand,
                (None, Some((operand, words))) if !has(words) => operand,
                (None, None) => operand,
                _ => continue,
            };
            operands.push(maker.operand(operand)?);
        }
        let space = if operands.is_empty() { "" } else { " " };
        let instruction = format!("{mnemonic}{space}{};", operands.join(", "));
        Some(Example { declarations: maker.declarations, instruction })
    }
}

struct Maker {
    types: Vec<u32>,
    vector: Option<usize>,
    declarations: String,
    count: usize,
}

impl Maker {
    fn operand(&mut self, text: &str) -> Option<String> {
        if let Some((first, second)) = text.split_once('|') {
            return Some(format!("{}|{}", self.operand(first)?, self.operand(second)?));
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            return Some(format!("[{}]", self.operand(inner)?));
        }
        if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            let (inner, count) = match inner.split_once('*') {
                Some((inner, count)) => (inner, count.parse().ok()),
                None => (inner, self.vector),
            };
            let Some(count) = count else { return self.operand(inner) };
            let parts: Option<Vec<String>> = (0..count).map(|_| self.operand(inner)).collect();
            return Some(format!("{{{}}}", parts?.join(", ")));
        }
        if let Some(literal) = text.strip_prefix(['#', '=']) {
            return Some(literal.to_owned());
        }
        let bits = match text {
            "t" => *self.types.last()?,
            "t1" => *self.types.first()?,
            "t2" => *self.types.get(1)?,
            "w" => *self.types.last()? * 2,
            "p" => 1,
            name => bits(name)?,
        };
        let name = format!("%x{}", self.count);
        self.count += 1;
        let ty = if bits == 1 { ".pred".to_owned() } else { format!(".b{bits}") };
        self.declarations += &format!(".reg {ty} {name};\n");
        Some(name)
    }
}
