//! How far the approximate functions may be from the record.
//!
//! The hardware's results are within the PTX ISA's error bounds of the exact value, or a little outside (the README names the
//! measured largest errors), and so must ours be. Both errors together bound the distance of the two.

use super::{Form, Register};

/// A bound on the distance of two results, of which both are approximations.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Units in the last place.
    Ulps(u64),
    /// Relative to the recorded result.
    Relative(f64),
    /// Absolute.
    Absolute(f64),
    /// Absolute, growing with the argument: `sin` and `cos`.
    Periodic,
    /// Absolute near 1, relative elsewhere: `lg2`.
    Logarithm,
}

/// The bound of a form, `None` for exact instructions.
pub fn of(form: &Form) -> Option<Bound> {
    let ptx = &form.ptx;
    if !ptx.contains(".approx") && !ptx.contains("div.full") {
        return None;
    }
    let output = form.outs[0].ty.as_str();
    let has = |name: &str| ptx.contains(&format!("{name}.approx"));
    let kind = match output {
        "f64" if ptx.contains(".ftz") => Kind::Relative(2f64.powf(-19.9) + 2f64.powi(-20)),
        "f64" => Kind::Ulps(2),
        "f16" | "f16x2" if has("ex2") => Kind::Relative(2f64.powf(-9.9)),
        "f16" | "f16x2" => Kind::Absolute(2f64.powf(-10.987)),
        "bf16" | "bf16x2" if has("ex2") => Kind::Relative(2f64.powi(-7)),
        "bf16" | "bf16x2" => Kind::Absolute(2f64.powi(-8)),
        _ if ptx.contains("div.") => Kind::Ulps(3),
        _ if has("sin") || has("cos") => Kind::Periodic,
        _ if has("lg2") => Kind::Logarithm,
        _ if has("ex2") => Kind::Ulps(3),
        _ if has("tanh") => Kind::Relative(2f64.powi(-11)),
        _ if has("rsqrt") => Kind::Relative(2f64.powf(-22.9) + 2f64.powi(-24)),
        _ if has("sqrt") => Kind::Relative(2f64.powi(-23) + 2f64.powi(-24)),
        _ if has("rcp") => Kind::Ulps(1),
        _ => panic!("no bound for {ptx}"),
    };
    Some(Bound { kind })
}

/// One number of a result: its value, its bits, and the place of the bits on a line where neighbours are 1 apart.
fn number(ty: &str, bits: u128) -> (f64, i64) {
    let (value, width) = match ty {
        "f16" => (half::f16::from_bits(bits as u16).to_f64(), 16),
        "bf16" => (half::bf16::from_bits(bits as u16).to_f64(), 16),
        "f32" => (f64::from(f32::from_bits(bits as u32)), 32),
        "f64" => (f64::from_bits(bits as u64), 64),
        other => panic!("no approximate function gives {other}"),
    };
    let magnitude = (bits & ((1 << (width - 1)) - 1)) as i64;
    (value, if bits >> (width - 1) != 0 { -magnitude } else { magnitude })
}

impl Bound {
    /// Whether a result is close enough to the recorded one. Infinities, NaN and what zeros, infinities and NaN give must be equal.
    pub fn accepts(self, output: &Register, inputs: &[u128], result: u128, recorded: u128) -> bool {
        let Some(half) = output.ty.strip_suffix("x2") else {
            return self.accepts_one(&output.ty, inputs, result, recorded);
        };
        (0..2).all(|index| {
            let part = |bits: u128| bits >> (16 * index) & 0xffff;
            let inputs: Vec<u128> = inputs.iter().map(|&bits| part(bits)).collect();
            self.accepts_one(half, &inputs, part(result), part(recorded))
        })
    }

    fn accepts_one(self, ty: &str, inputs: &[u128], result: u128, recorded: u128) -> bool {
        if result == recorded {
            return true;
        }
        let ((a, a_place), (b, b_place)) = (number(ty, result), number(ty, recorded));
        let special = |value: f64| value == 0.0 || !value.is_finite();
        if !a.is_finite()
            || !b.is_finite()
            || inputs.iter().any(|&bits| special(number(ty, bits).0))
        {
            return false;
        }
        let distance = (a - b).abs();
        let input = number(ty, inputs[0]).0;
        match self.kind {
            Kind::Ulps(limit) => a_place.abs_diff(b_place) <= limit,
            Kind::Relative(limit) => distance <= limit * b.abs(),
            Kind::Absolute(limit) => distance <= limit,
            Kind::Periodic => {
                let pi = std::f64::consts::PI;
                let limit = match input.abs() {
                    x if x <= 2.0 * pi => 2f64.powf(-20.4),
                    x if x <= 100.0 * pi => 2f64.powf(-14.7),
                    x if x <= 1e4 => 2f64.powf(-9.7),
                    // No bound at all.
                    _ => 2.0,
                };
                a.abs() <= 1.0 && distance <= limit
            }
            Kind::Logarithm => {
                let limit = 2f64.powi(-22) + 2f64.powi(-24);
                distance <= if input > 0.5 && input < 2.0 { limit } else { limit * b.abs() }
            }
        }
    }
}
