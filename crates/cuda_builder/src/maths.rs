//! Gives the `libm` crate's functions the GPU's instructions and libdevice's functions.
//!
//! Kernels reach `libm` through `nalgebra`, `glam`, `num-traits` and `cuda_std`. It is written for processors without any
//! floating-point instruction beyond the basic four: its square root is a loop over integers. So the bodies of its functions are
//! replaced, in the module's text:
//!
//! * of those that the GPU has an instruction for, always: the results are the same, bit for bit;
//! * of the others by a call of libdevice, where that is linked.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::{CudaBuilderError, readable};
use crate::ir::token::{Kind, tokens};

/// How a function's parameters look: `F` is its own type, f32 or f64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `F -> F`
    Unary,
    /// `(F, F) -> F`
    Binary,
    /// `(F, F, F) -> F`
    Ternary,
    /// `(F, i32) -> F`
    Scale,
    /// `(i32, F) -> F`
    Order,
    /// `F -> (F, F)`: sine and cosine.
    SinCos,
}

/// Functions that are one instruction: libm's name for f64, LLVM's intrinsic ("Language Reference", Standard C/C++ Library
/// Intrinsics).
const INSTRUCTIONS: [(&str, Shape, &str); 12] = [
    ("ceil", Shape::Unary, "ceil"),
    ("copysign", Shape::Binary, "copysign"),
    ("fabs", Shape::Unary, "fabs"),
    ("floor", Shape::Unary, "floor"),
    ("fma", Shape::Ternary, "fma"),
    ("fmax", Shape::Binary, "maxnum"),
    ("fmin", Shape::Binary, "minnum"),
    ("rint", Shape::Unary, "rint"),
    ("round", Shape::Unary, "round"),
    ("roundeven", Shape::Unary, "roundeven"),
    ("sqrt", Shape::Unary, "sqrt"),
    ("trunc", Shape::Unary, "trunc"),
];

/// Functions that libdevice has under the same name. `fdim`, `frexp`, `modf` and `ilogb` are a few operations, as good inline.
const LIBDEVICE: [(&str, Shape); 40] = [
    ("acos", Shape::Unary),
    ("acosh", Shape::Unary),
    ("asin", Shape::Unary),
    ("asinh", Shape::Unary),
    ("atan", Shape::Unary),
    ("atan2", Shape::Binary),
    ("atanh", Shape::Unary),
    ("cbrt", Shape::Unary),
    ("cos", Shape::Unary),
    ("cosh", Shape::Unary),
    ("erf", Shape::Unary),
    ("erfc", Shape::Unary),
    ("exp", Shape::Unary),
    ("exp10", Shape::Unary),
    ("exp2", Shape::Unary),
    ("expm1", Shape::Unary),
    ("fmod", Shape::Binary),
    ("hypot", Shape::Binary),
    ("j0", Shape::Unary),
    ("j1", Shape::Unary),
    ("jn", Shape::Order),
    ("ldexp", Shape::Scale),
    ("lgamma", Shape::Unary),
    ("log", Shape::Unary),
    ("log10", Shape::Unary),
    ("log1p", Shape::Unary),
    ("log2", Shape::Unary),
    ("nextafter", Shape::Binary),
    ("pow", Shape::Binary),
    ("remainder", Shape::Binary),
    ("scalbn", Shape::Scale),
    ("sin", Shape::Unary),
    ("sincos", Shape::SinCos),
    ("sinh", Shape::Unary),
    ("tan", Shape::Unary),
    ("tanh", Shape::Unary),
    ("tgamma", Shape::Unary),
    ("y0", Shape::Unary),
    ("y1", Shape::Unary),
    ("yn", Shape::Order),
];

/// The rewritten module, and what kernels' mathematical functions are.
pub(crate) struct Rewritten {
    pub(crate) module: String,
    pub(crate) uses: Uses,
}

/// Whose mathematical functions a module calls, instructions apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Uses {
    /// libdevice's: they are declared and must be linked.
    pub(crate) libdevice: bool,
    /// The `libm` crate's or `cuda_std`'s.
    pub(crate) libm: bool,
}

/// Rewrites the textual module. `libdevice` says whether `libm`'s functions become libdevice's.
pub(crate) fn rewrite(module: &str, libdevice: bool) -> Rewritten {
    let mut out = String::with_capacity(module.len());
    let mut uses = Uses::default();
    let mut declared = BTreeSet::new();
    let mut called = BTreeSet::new();
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("declare ")
            && let Some(name) = global_name(line)
        {
            declared.insert(name.to_owned());
        }
        match line.starts_with("define ").then(|| Function::parse(line)).flatten() {
            Some(function) => match function.replacement(libdevice) {
                Some(replacement) => {
                    out.push_str(&replacement.definition);
                    called.extend(replacement.declarations);
                    // The former body; nothing else stands at the start of a line there.
                    lines.find(|line| *line == "}");
                    continue;
                }
                None => uses.libm |= function.is_mathematical(),
            },
            None => uses.libm |= line.starts_with("define ") && is_fallback(line),
        }
        out.push_str(line);
        out.push('\n');
    }
    for (name, declaration) in called {
        if declared.insert(format!("@{name}")) {
            out.push_str(&declaration);
            out.push('\n');
        }
    }
    uses.libdevice = declared.iter().any(|name| name.starts_with("@__nv_"));
    Rewritten { module: out, uses }
}

/// What mathematical functions a module has, in words for its reader; `None` if it calls none.
///
/// libdevice's file is told by what is in it, not by its place: the PTX of two machines differs only if their libdevices do.
///
/// # Errors
///
/// If libdevice's file can't be read.
pub(crate) fn origin(
    uses: Uses,
    libdevice: Option<&Path>,
) -> Result<Option<String>, CudaBuilderError> {
    let libm = "the libm crate and cuda_std";
    let words = match (libdevice.filter(|_| uses.libdevice), uses.libm) {
        (Some(file), libm_too) => {
            let content = fs::read(file).map_err(CudaBuilderError::io("read", file))?;
            let also = if libm_too { format!(", {libm}") } else { String::new() };
            let name = file.file_name().unwrap_or_default().display();
            format!("{name} ({} bytes, FNV-1a {:016x}){also}", content.len(), fnv(&content))
        }
        (None, true) => libm.to_owned(),
        (None, false) => return Ok(None),
    };
    Ok(Some(format!("Mathematical functions from {words}")))
}

/// The 64-bit FNV-1a hash (<http://www.isthe.com/chongo/tech/comp/fnv/>), the same in every release of Rust.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// One of libm's functions, by its `define` line.
#[derive(Debug)]
struct Function<'a> {
    /// Its symbol, with the `@`.
    symbol: &'a str,
    /// libm's name for the function, without the `f` of f32.
    name: String,
    /// `double` or `float`.
    ty: &'static str,
    /// The `f` of f32.
    suffix: &'static str,
}

struct Replacement {
    definition: String,
    /// Name and declaration of what it calls.
    declarations: Vec<(String, String)>,
}

impl<'a> Function<'a> {
    /// The function `libm::math::FILE::NAME` that a line defines. Private helpers and generic functions stay as they are.
    fn parse(line: &'a str) -> Option<Self> {
        let symbol = global_name(line)?;
        if !symbol.contains("4libm4math") {
            return None;
        }
        let path = readable(symbol);
        let ["libm", "math", _, name] = path.split("::").collect::<Vec<_>>()[..] else {
            return None;
        };
        let ty = if line.contains("double") { "double" } else { "float" };
        let (name, suffix) = match name.strip_suffix('f').filter(|_| ty == "float") {
            Some(stem) => (stem, "f"),
            None if ty == "double" => (name, ""),
            None => return None,
        };
        Some(Self { symbol, name: name.to_owned(), ty, suffix })
    }

    fn is_mathematical(&self) -> bool {
        LIBDEVICE.iter().any(|(name, _)| *name == self.name)
    }

    fn replacement(&self, libdevice: bool) -> Option<Replacement> {
        let Self { ty, suffix, name, .. } = self;
        if let Some((_, shape, intrinsic)) = INSTRUCTIONS.iter().find(|(known, ..)| known == name) {
            let bits = if *ty == "double" { 64 } else { 32 };
            return Some(self.calling(*shape, &format!("llvm.{intrinsic}.f{bits}")));
        }
        let (_, shape) = LIBDEVICE.iter().find(|(known, _)| libdevice && known == name)?;
        Some(match shape {
            Shape::SinCos => self.sin_cos(),
            _ => self.calling(*shape, &format!("__nv_{name}{suffix}")),
        })
    }

    /// The function as one call.
    fn calling(&self, shape: Shape, callee: &str) -> Replacement {
        let Self { symbol, ty, .. } = self;
        let types: &[&str] = match shape {
            Shape::Unary | Shape::SinCos => &[ty],
            Shape::Binary => &[ty, ty],
            Shape::Ternary => &[ty, ty, ty],
            Shape::Scale => &[ty, "i32"],
            Shape::Order => &["i32", ty],
        };
        let parameters: Vec<String> =
            types.iter().enumerate().map(|(i, ty)| format!("{ty} %{i}")).collect();
        let parameters = parameters.join(", ");
        Replacement {
            definition: format!(
                "define internal {ty} {symbol}({parameters}) alwaysinline nounwind {{\n  %r = call {ty} @{callee}({parameters})\n  ret {ty} %r\n}}\n"
            ),
            declarations: vec![declaration(ty, callee, types)],
        }
    }

    /// Sine and cosine as two calls, which share nothing but the argument's reduction.
    fn sin_cos(&self) -> Replacement {
        let Self { symbol, ty, suffix, .. } = self;
        let [sin, cos] = ["sin", "cos"].map(|name| format!("__nv_{name}{suffix}"));
        let pair = format!("{{ {ty}, {ty} }}");
        Replacement {
            definition: format!(
                "define internal {pair} {symbol}({ty} %0) alwaysinline nounwind {{\n  %s = call {ty} @{sin}({ty} %0)\n  %c = call {ty} @{cos}({ty} %0)\n  %p = insertvalue {pair} poison, {ty} %s, 0\n  %r = insertvalue {pair} %p, {ty} %c, 1\n  ret {pair} %r\n}}\n"
            ),
            declarations: [sin, cos].iter().map(|name| declaration(ty, name, &[ty])).collect(),
        }
    }
}

fn declaration(result: &str, name: &str, parameters: &[&str]) -> (String, String) {
    (name.to_owned(), format!("declare {result} @{name}({})", parameters.join(", ")))
}

/// Whether a line defines one of `cuda_std`'s own functions for kernels without libdevice.
fn is_fallback(line: &str) -> bool {
    global_name(line).is_some_and(|symbol| symbol.contains("8cuda_std8fallback"))
}

/// The first global name of a line: what a `define` or `declare` line is about.
fn global_name(line: &str) -> Option<&str> {
    tokens(line).find(|token| token.kind == Kind::Global).map(|token| token.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
define internal noundef double @_RNvNtNtCs42EyNEZYQGh_4libm4math4sqrt4sqrt(double noundef %0) unnamed_addr #9 !dbg !1801 {
  %2 = call double @loop(double %0)
  ret double %2
}
define internal noundef float @_RNvNtNtCs42EyNEZYQGh_4libm4math4sinf4sinf(float noundef %0) unnamed_addr #9 !dbg !4522 {
start:
  ret float %0
}
define internal noundef double @_RNvNtNtCs42EyNEZYQGh_4libm4math5k_sin5k_sin(double noundef %0, double noundef %1, i32 noundef %2) #9 {
  ret double %0
}
define internal { double, double } @_ZN4libm4math6sincos6sincos17h0123456789abcdefE(double noundef %0) #9 {
  unreachable
}
define internal noundef double @_RNvNtNtCs42EyNEZYQGh_4libm4math2jn2jn(i32 noundef %0, double noundef %1) #9 {
  unreachable
}
";

    #[test]
    fn instructions_replace_libm_with_and_without_libdevice() {
        let Rewritten { module, uses } = rewrite(MODULE, false);
        assert!(module.contains("define internal double @_RNvNtNtCs42EyNEZYQGh_4libm4math4sqrt4sqrt(double %0) alwaysinline nounwind {\n  %r = call double @llvm.sqrt.f64(double %0)\n"));
        assert!(module.contains("declare double @llvm.sqrt.f64(double)\n"));
        assert!(!module.contains("@loop") && !module.contains("__nv_"), "{module}");
        assert!(module.contains("start:\n  ret float %0"), "{module}");
        assert_eq!(uses, Uses { libdevice: false, libm: true });
    }

    #[test]
    fn libdevice_replaces_the_rest() {
        let Rewritten { module, uses } = rewrite(MODULE, true);
        for part in [
            "call float @__nv_sinf(float %0)",
            "declare float @__nv_sinf(float)\n",
            "call double @__nv_jn(i32 %0, double %1)",
            "declare double @__nv_jn(i32, double)\n",
            "%s = call double @__nv_sin(double %0)",
            "%c = call double @__nv_cos(double %0)",
            "ret { double, double } %r",
            // A helper of the same kind of name is none of these.
            "k_sin(double noundef %0, double noundef %1, i32 noundef %2) #9",
        ] {
            assert!(module.contains(part), "`{part}` is not in {module}");
        }
        assert_eq!(uses, Uses { libdevice: true, libm: false });
    }

    #[test]
    fn a_module_without_mathematics_uses_none() {
        let module = "define void @k() {\n  ret void\n}\ndeclare double @llvm.sqrt.f64(double)\n";
        let rewritten = rewrite(module, true);
        assert_eq!((rewritten.module.as_str(), rewritten.uses), (module, Uses::default()));
    }
}
