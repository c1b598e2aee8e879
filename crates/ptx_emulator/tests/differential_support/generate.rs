//! Random functions on integers, as LLVM IR: arithmetic of every width from i1 to i128, memory, calls, branches, loops
//! and switches. No function has undefined behaviour, so that every target must compute the same.

use std::fmt::Write;

/// A generator of numbers (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

const WIDTHS: [u32; 6] = [1, 8, 16, 32, 64, 128];

/// A value: its width in bits and its name or number.
#[derive(Clone)]
struct Value {
    bits: u32,
    name: String,
}

/// One function being written.
struct Function<'a> {
    random: &'a mut Random,
    text: String,
    values: Vec<Value>,
    count: u32,
    /// The block that is being written, which a `phi` names.
    block: String,
    /// Statements left to write.
    budget: u32,
    helpers: bool,
}

impl Function<'_> {
    fn name(&mut self) -> String {
        self.count += 1;
        format!("%v{}", self.count)
    }

    fn label(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what}{}", self.count)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    fn start(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
        self.block = label.to_owned();
    }

    /// A new value.
    fn define(&mut self, bits: u32, expression: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {expression}"));
        self.values.push(Value { bits, name: name.clone() });
        name
    }

    /// A value of a width: one that exists, one that is made to fit, or a number.
    fn operand(&mut self, bits: u32) -> String {
        if self.random.below(6) == 0 {
            let small = self.random.next() as i64 >> self.random.below(64);
            let kept = if bits >= 64 { small } else { small << (64 - bits) >> (64 - bits) };
            return match bits {
                1 => (if small & 1 == 1 { "true" } else { "false" }).to_owned(),
                _ => kept.to_string(),
            };
        }
        let recent = self.values.len().min(12);
        let index = self.values.len() - 1 - self.random.below(recent);
        let value = self.values[index].clone();
        self.fit(&value, bits)
    }

    /// A value cut or extended to a width.
    fn fit(&mut self, value: &Value, bits: u32) -> String {
        let from = value.bits;
        let name = &value.name;
        match from.cmp(&bits) {
            std::cmp::Ordering::Equal => name.clone(),
            std::cmp::Ordering::Greater => {
                self.define(bits, &format!("trunc i{from} {name} to i{bits}"))
            }
            std::cmp::Ordering::Less => {
                let how = *self.random.pick(&["zext", "sext"]);
                self.define(bits, &format!("{how} i{from} {name} to i{bits}"))
            }
        }
    }

    /// A divisor of `a` that is neither zero nor, for signed division, -1 of the least number.
    fn divisor(&mut self, bits: u32, a: &str, b: &str, signed: bool) -> String {
        let odd = self.define(bits, &format!("or i{bits} {b}, 1"));
        if !signed {
            return odd;
        }
        let least = i128::MIN >> (128 - bits);
        let edge = self.define(1, &format!("icmp eq i{bits} {a}, {least}"));
        self.define(bits, &format!("select i1 {edge}, i{bits} 1, i{bits} {odd}"))
    }

    fn arithmetic(&mut self) {
        let bits = *self.random.pick(&WIDTHS[1..]);
        let (a, b) = (self.operand(bits), self.operand(bits));
        let ty = format!("i{bits}");
        let expression = match self.random.below(26) {
            0 => format!("add {ty} {a}, {b}"),
            1 => format!("sub {ty} {a}, {b}"),
            2 | 3 => format!("mul {ty} {a}, {b}"),
            4 => format!("and {ty} {a}, {b}"),
            5 => format!("or {ty} {a}, {b}"),
            6 => format!("xor {ty} {a}, {b}"),
            op @ 7..=10 => {
                let name = ["udiv", "urem", "sdiv", "srem"][op - 7];
                let divisor = self.divisor(bits, &a, &b, op >= 9);
                format!("{name} {ty} {a}, {divisor}")
            }
            op @ 11..=13 => {
                let amount = self.define(bits, &format!("and {ty} {b}, {}", bits - 1));
                format!("{} {ty} {a}, {amount}", ["shl", "lshr", "ashr"][op - 11])
            }
            op @ 14..=15 => {
                let c = self.operand(bits);
                format!(
                    "call {ty} @llvm.{}.{ty}({ty} {a}, {ty} {b}, {ty} {c})",
                    ["fshl", "fshr"][op - 14]
                )
            }
            op @ 16..=23 => {
                let name = [
                    "smax", "smin", "umax", "umin", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat",
                ][op - 16];
                format!("call {ty} @llvm.{name}.{ty}({ty} {a}, {ty} {b})")
            }
            _ => {
                let name =
                    *self.random.pick(&["ctpop", "ctlz", "cttz", "bitreverse", "bswap", "abs"]);
                match name {
                    "ctlz" | "cttz" | "abs" => {
                        format!("call {ty} @llvm.{name}.{ty}({ty} {a}, i1 false)")
                    }
                    "bswap" if bits == 8 => format!("call {ty} @llvm.ctpop.{ty}({ty} {a})"),
                    _ => format!("call {ty} @llvm.{name}.{ty}({ty} {a})"),
                }
            }
        };
        self.define(bits, &expression);
    }

    fn condition(&mut self) -> String {
        let bits = *self.random.pick(&WIDTHS[1..]);
        let (a, b) = (self.operand(bits), self.operand(bits));
        let how = *self
            .random
            .pick(&["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"]);
        self.define(1, &format!("icmp {how} i{bits} {a}, {b}"))
    }

    fn select(&mut self) {
        let condition = self.condition();
        let bits = *self.random.pick(&WIDTHS[1..]);
        let (a, b) = (self.operand(bits), self.operand(bits));
        self.define(bits, &format!("select i1 {condition}, i{bits} {a}, i{bits} {b}"));
    }

    /// A sum, difference or product with the word whether it overflowed.
    fn overflow(&mut self) {
        let bits = *self.random.pick(&WIDTHS[1..5]);
        let (a, b) = (self.operand(bits), self.operand(bits));
        let how = *self.random.pick(&["uadd", "sadd", "usub", "ssub", "umul", "smul"]);
        let pair = self.name();
        self.line(&format!(
            "{pair} = call {{ i{bits}, i1 }} @llvm.{how}.with.overflow.i{bits}(i{bits} {a}, i{bits} {b})"
        ));
        self.define(bits, &format!("extractvalue {{ i{bits}, i1 }} {pair}, 0"));
        self.define(1, &format!("extractvalue {{ i{bits}, i1 }} {pair}, 1"));
    }

    /// A store to and a load from the function's array of 16 words.
    fn memory(&mut self) {
        let bits = *self.random.pick(&[8, 16, 32, 64]);
        let (value, at) = (self.operand(bits), self.operand(32));
        let index = self.define(32, &format!("and i32 {at}, 7"));
        let place = self.name();
        self.line(&format!("{place} = getelementptr i{bits}, ptr %array, i32 {index}"));
        self.line(&format!("store i{bits} {value}, ptr {place}"));
        let other = *self.random.pick(&[8, 16, 32, 64]);
        let at = self.operand(32);
        let index = self.define(32, &format!("and i32 {at}, 7"));
        let place = self.name();
        self.line(&format!("{place} = getelementptr i{other}, ptr %array, i32 {index}"));
        self.define(other, &format!("load i{other}, ptr {place}"));
    }

    fn call(&mut self) {
        let (a, b, c) = (self.operand(64), self.operand(32), self.operand(8));
        let helper = self.random.below(2);
        self.define(64, &format!("call i64 @helper{helper}(i64 {a}, i32 {b}, i8 {c})"));
    }

    /// Statements of an inner block, whose values are not known behind it: gives one of them.
    fn inner(&mut self, label: &str, next: &str, bits: u32) -> (String, String) {
        let kept = self.values.len();
        self.start(label);
        for _ in 0..1 + self.random.below(4) {
            self.statement();
        }
        let result = self.operand(bits);
        let from = self.block.clone();
        self.line(&format!("br label %{next}"));
        self.values.truncate(kept);
        (result, from)
    }

    fn branch(&mut self) {
        let bits = *self.random.pick(&WIDTHS[1..]);
        let condition = self.condition();
        let (yes, no, join) = (self.label("yes"), self.label("no"), self.label("join"));
        self.line(&format!("br i1 {condition}, label %{yes}, label %{no}"));
        let (a, from_yes) = self.inner(&yes, &join, bits);
        let (b, from_no) = self.inner(&no, &join, bits);
        self.start(&join);
        self.define(bits, &format!("phi i{bits} [ {a}, %{from_yes} ], [ {b}, %{from_no} ]"));
    }

    fn switch(&mut self) {
        let bits = *self.random.pick(&[32, 64]);
        let at = self.operand(32);
        let index = self.define(32, &format!("and i32 {at}, 15"));
        let labels: Vec<String> = (0..9).map(|_| self.label("case")).collect();
        let join = self.label("join");
        let cases: Vec<String> = labels
            .iter()
            .skip(1)
            .enumerate()
            .map(|(i, label)| format!("i32 {i}, label %{label}"))
            .collect();
        self.line(&format!("switch i32 {index}, label %{} [ {} ]", labels[0], cases.join(" ")));
        let ends: Vec<String> = labels
            .iter()
            .map(|label| {
                let (value, from) = self.inner(label, &join, bits);
                format!("[ {value}, %{from} ]")
            })
            .collect();
        self.start(&join);
        self.define(bits, &format!("phi i{bits} {}", ends.join(", ")));
    }

    /// A loop of at most eight rounds with two values that go around.
    fn repeat(&mut self) {
        let (x, y) = (*self.random.pick(&WIDTHS[1..]), *self.random.pick(&WIDTHS[1..]));
        let (first_x, first_y, rounds) = (self.operand(x), self.operand(y), self.operand(32));
        let rounds = self.define(32, &format!("and i32 {rounds}, 7"));
        let (head, latch, after) = (self.label("loop"), self.label("latch"), self.label("after"));
        let before = self.block.clone();
        self.line(&format!("br label %{head}"));
        let kept = self.values.len();
        self.start(&head);
        let (i, next_i) = (self.name(), self.name());
        let (vx, vy) = (self.name(), self.name());
        // The phis name what the end of the loop defines, which is written later.
        let place = self.text.len();
        self.values.push(Value { bits: 32, name: i.clone() });
        self.values.push(Value { bits: x, name: vx.clone() });
        self.values.push(Value { bits: y, name: vy.clone() });
        for _ in 0..1 + self.random.below(4) {
            self.statement();
        }
        let (next_x, next_y) = (self.operand(x), self.operand(y));
        self.line(&format!("br label %{latch}"));
        self.start(&latch);
        self.line(&format!("{next_i} = add i32 {i}, 1"));
        let done = self.name();
        self.line(&format!("{done} = icmp ugt i32 {next_i}, {rounds}"));
        self.line(&format!("br i1 {done}, label %{after}, label %{head}"));
        let phis = format!(
            "  {i} = phi i32 [ 0, %{before} ], [ {next_i}, %{latch} ]\n  \
             {vx} = phi i{x} [ {first_x}, %{before} ], [ {next_x}, %{latch} ]\n  \
             {vy} = phi i{y} [ {first_y}, %{before} ], [ {next_y}, %{latch} ]\n"
        );
        self.text.insert_str(place, &phis);
        self.values.truncate(kept);
        self.start(&after);
        // What the loop's last round saw is defined here too.
        self.values.push(Value { bits: x, name: vx });
        self.values.push(Value { bits: y, name: vy });
    }

    fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        match self.random.below(if self.budget > 0 { 20 } else { 14 }) {
            0..=8 => self.arithmetic(),
            9 => self.select(),
            10 => self.overflow(),
            11 | 12 => self.memory(),
            13 if self.helpers => self.call(),
            13 | 14 => self.arithmetic(),
            15 | 16 => self.branch(),
            17 => self.switch(),
            _ => self.repeat(),
        }
    }
}

fn function<'a>(random: &'a mut Random, header: &str, helpers: bool) -> Function<'a> {
    Function {
        random,
        text: format!("{header} {{\nentry:\n  %array = alloca [8 x i64]\n"),
        values: Vec::new(),
        count: 0,
        block: "entry".to_owned(),
        budget: if helpers { 30 } else { 6 },
        helpers,
    }
}

/// The IR of `count` functions `@f0`, `@f1`, … that read four i64 at their first argument and write four at their
/// second.
pub fn functions(seed: u64, count: usize) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for number in 0..2 {
        let header = format!("define internal i64 @helper{number}(i64 %a, i32 %b, i8 %c) noinline");
        let mut f = function(&mut random, &header, false);
        for (bits, name) in [(64, "%a"), (32, "%b"), (8, "%c")] {
            f.values.push(Value { bits, name: name.to_owned() });
        }
        clear_array(&mut f);
        for _ in 0..4 {
            f.statement();
        }
        let result = f.operand(64);
        f.line(&format!("ret i64 {result}"));
        text += &f.text;
        text += "}\n\n";
    }
    for number in 0..count {
        let mut f =
            function(&mut random, &format!("define void @f{number}(ptr %in, ptr %out)"), true);
        for index in 0..4 {
            f.line(&format!("%p{index} = getelementptr i64, ptr %in, i64 {index}"));
            f.define(64, &format!("load i64, ptr %p{index}"));
        }
        clear_array(&mut f);
        for _ in 0..12 {
            f.statement();
        }
        for index in 0..4 {
            let result = f.operand(64);
            f.line(&format!("%q{index} = getelementptr i64, ptr %out, i64 {index}"));
            f.line(&format!("store i64 {result}, ptr %q{index}"));
        }
        f.line("ret void");
        text += &f.text;
        text += "}\n\n";
    }
    text
}

fn clear_array(f: &mut Function<'_>) {
    for index in 0..8 {
        f.line(&format!("%z{index} = getelementptr i64, ptr %array, i64 {index}"));
        f.line(&format!("store i64 0, ptr %z{index}"));
    }
}

/// Inputs of a function for `threads` threads: numbers at the edges of every width, and others.
pub fn inputs(seed: u64, threads: usize) -> Vec<u64> {
    let mut random = Random::new(seed ^ 0x5EED);
    (0..threads * 4)
        .map(|_| {
            let width = *random.pick(&[1, 7, 8, 15, 16, 31, 32, 63]);
            let edge = 1_u64 << width;
            match random.below(8) {
                0 => random.next(),
                1 => edge,
                2 => edge.wrapping_sub(1),
                3 => edge.wrapping_neg(),
                4 => 0,
                5 => random.next() >> random.below(64),
                6 => u64::MAX,
                _ => (random.next() as i64 >> random.below(64)) as u64,
            }
        })
        .collect()
}
