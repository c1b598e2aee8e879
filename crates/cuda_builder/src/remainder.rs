//! Makes Rust's `%` of floating-point numbers exact.
//!
//! It is LLVM's `frem`, whose rest is that of C's `fmod`: exact, with the dividend's sign (LLVM Language Reference, "frem"). LLVM 22
//! makes `x - trunc(x / y) * y` of it for NVPTX, with a quotient that is rounded: where it rounds up to an integer, the rest gets
//! the other sign (`1.0 % 0.1`), and where it is large, the rest can be larger than `y`. So each `frem` becomes a call of a
//! function that divides integers.

use std::borrow::Cow;

/// A type of numbers.
struct Type {
    /// In LLVM's text.
    name: &'static str,
    function: &'static str,
    /// Bits of the mantissa without the one in front.
    fraction: u32,
    /// The bit of the sign.
    sign: i64,
    /// From the argument `$` to the 64 bits that it has at the end.
    bits: &'static str,
    /// From the 64 bits `%result` to the number.
    number: &'static str,
}

const TYPES: [Type; 2] = [
    Type {
        name: "float",
        function: "__cuda_builder_remainder_f32",
        fraction: 23,
        sign: 1 << 31,
        bits: "  %$.int = bitcast float %$ to i32\n  %$.bits = zext i32 %$.int to i64\n",
        number: "  %int = trunc i64 %result to i32\n  %number = bitcast i32 %int to float\n",
    },
    Type {
        name: "double",
        function: "__cuda_builder_remainder_f64",
        fraction: 52,
        sign: i64::MIN,
        bits: "  %$.bits = bitcast double %$ to i64\n",
        number: "  %number = bitcast i64 %result to double\n",
    },
];

/// The textual module with a call in place of each `frem` of `f32`s or `f64`s.
pub(crate) fn expand(module: &str) -> Cow<'_, str> {
    if !module.contains(" = frem ") {
        return Cow::Borrowed(module);
    }
    let mut out = String::with_capacity(module.len() + 4096);
    let mut called = [false; TYPES.len()];
    for line in module.lines() {
        match call(line) {
            Some((index, call)) => {
                called[index] = true;
                out.push_str(&call);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    for (ty, _) in TYPES.iter().zip(called).filter(|(_, called)| *called) {
        out.push_str(&definition(ty));
    }
    Cow::Owned(out)
}

/// What stands for a line with a `frem`: the number of its type, and the call.
fn call(line: &str) -> Option<(usize, String)> {
    let (result, mut rest) = line.split_once(" = frem ")?;
    if !result.trim_start().starts_with('%') {
        return None;
    }
    loop {
        let (word, behind) = rest.split_once(' ')?;
        rest = behind;
        if let Some(index) = TYPES.iter().position(|ty| ty.name == word) {
            let Type { name, function, .. } = TYPES[index];
            let (dividend, rest) = rest.split_once(", ")?;
            // Behind the operands, there may be metadata.
            let (divisor, more) = rest.split_at(rest.find(", ").unwrap_or(rest.len()));
            let call = format!(
                "{result} = call {name} @{function}({name} {dividend}, {name} {divisor}){more}"
            );
            return Some((index, call));
        }
        // Flags that allow to be less exact may stand before the type. Other types are left to LLVM.
        if !["nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"].contains(&word) {
            return None;
        }
    }
}

/// The function for a type. It works on the numbers' bits, so subnormal numbers stay what they are under every option.
///
/// A number is an integer times a power of two. The dividend's integer is moved up by the difference of the exponents, as many bits
/// at a time as 64 bits hold, and each time only the rest of its division by the divisor's integer is kept.
fn definition(ty: &Type) -> String {
    let Type { name, function, fraction, sign, bits, number } = *ty;
    let [x_bits, y_bits] = ["x", "y"].map(|argument| bits.replace('$', argument));
    let one = 1_i64 << fraction;
    // All bits but the sign, those of infinity, those of a fraction.
    let (size, below_one) = (sign.wrapping_sub(1), one - 1);
    let infinity = size - below_one;
    // The bits in front of a mantissa, and so the way that a rest can be moved.
    let front = 64 - (fraction + 1);
    format!(
        "\
define internal {name} @{function}({name} %x, {name} %y) nounwind willreturn memory(none) {{
start:
{x_bits}{y_bits}  %sign = and i64 %x.bits, {sign}
  %x.size = and i64 %x.bits, {size}
  %y.size = and i64 %y.bits, {size}
  %y.zero = icmp eq i64 %y.size, 0
  %y.nan = icmp ugt i64 %y.size, {infinity}
  %x.endless = icmp uge i64 %x.size, {infinity}
  %no.divisor = or i1 %y.zero, %y.nan
  %none = or i1 %no.divisor, %x.endless
  br i1 %none, label %nan, label %compare
nan:
  ret {name} 0x7FF8000000000000
compare:
  %less = icmp ult i64 %x.size, %y.size
  br i1 %less, label %dividend, label %divide
dividend:
  ret {name} %x
divide:
  %x.field = lshr i64 %x.size, {fraction}
  %y.field = lshr i64 %y.size, {fraction}
  %x.fraction = and i64 %x.size, {below_one}
  %y.fraction = and i64 %y.size, {below_one}
  %x.normal = or i64 %x.fraction, {one}
  %y.normal = or i64 %y.fraction, {one}
  %x.subnormal = icmp eq i64 %x.field, 0
  %y.subnormal = icmp eq i64 %y.field, 0
  %x.integer = select i1 %x.subnormal, i64 %x.fraction, i64 %x.normal
  %y.integer = select i1 %y.subnormal, i64 %y.fraction, i64 %y.normal
  %x.exponent = select i1 %x.subnormal, i64 1, i64 %x.field
  %y.exponent = select i1 %y.subnormal, i64 1, i64 %y.field
  %distance = sub i64 %x.exponent, %y.exponent
  %first = urem i64 %x.integer, %y.integer
  br label %arrived
arrived:
  %rest = phi i64 [ %first, %divide ], [ %next, %move ]
  %left = phi i64 [ %distance, %divide ], [ %less.left, %move ]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %compose, label %move
move:
  %far = icmp ugt i64 %left, {front}
  %by = select i1 %far, i64 {front}, i64 %left
  %less.left = sub i64 %left, %by
  %moved = shl i64 %rest, %by
  %next = urem i64 %moved, %y.integer
  br label %arrived
compose:
  %zeros = call i64 @llvm.ctlz.i64(i64 %rest, i1 false)
  %room = sub i64 %zeros, {front}
  %lowest = sub i64 %y.exponent, 1
  %is.normal = icmp ult i64 %room, %lowest
  %up = select i1 %is.normal, i64 %room, i64 %lowest
  %mantissa = shl i64 %rest, %up
  %exponent = sub i64 %lowest, %up
  %field = shl i64 %exponent, {fraction}
  %some = add i64 %mantissa, %field
  %nothing = icmp eq i64 %rest, 0
  %found = select i1 %nothing, i64 0, i64 %some
  %result = or i64 %found, %sign
{number}  ret {name} %number
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_remainder_becomes_a_call() {
        let module = "\
define float @f(float %x) !dbg !3 {
  %r = frem float %x, 0x3FB99999A0000000, !dbg !4
  %s = frem nnan contract float %r, %x
  %t = fdiv float %s, %x
  ret float %t
}
";
        let expanded = expand(module);
        assert!(
            expanded.starts_with(
                "\
define float @f(float %x) !dbg !3 {
  %r = call float @__cuda_builder_remainder_f32(float %x, float 0x3FB99999A0000000), !dbg !4
  %s = call float @__cuda_builder_remainder_f32(float %r, float %x)
  %t = fdiv float %s, %x
"
            ),
            "{expanded}"
        );
        assert_eq!(expanded.matches("define internal float").count(), 1);
        assert!(!expanded.contains("define internal double"), "{expanded}");
        let wide = expand("  %2 = frem double %0, %1, !dbg !7");
        let expected =
            "  %2 = call double @__cuda_builder_remainder_f64(double %0, double %1), !dbg !7\n";
        assert!(wide.starts_with(expected), "{wide}");
    }

    #[test]
    fn other_modules_stay() {
        for module in ["", "  %r = fdiv float %x, %y\n", "  %r = srem i32 %x, %y\n"] {
            assert!(matches!(expand(module), Cow::Borrowed(same) if same == module));
        }
        for line in ["  %r = frem <2 x float> %x, %y\n", "@s = constant [9 x i8] c\"a = frem \"\n"]
        {
            assert_eq!(expand(line), line);
        }
    }
}
