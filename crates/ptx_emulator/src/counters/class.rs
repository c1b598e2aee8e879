//! Classes of instructions, by their mnemonics.

use std::fmt;

/// State space of a memory instruction, as its text names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemorySpace {
    /// `.global`
    Global,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.const`
    Constant,
    /// `.param`
    Param,
    /// None: the address decides when the instruction runs.
    Generic,
}

/// What kind of work an instruction is. Every instruction of a module has exactly one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OpClass {
    /// Arithmetic, logic, shifts and comparisons of integers, bits and predicates.
    Integer,
    /// Arithmetic and comparisons of `f16`, `f16x2`, `bf16`, `bf16x2`.
    Half,
    /// Arithmetic and comparisons of `f32`.
    Single,
    /// Arithmetic and comparisons of `f64`.
    Double,
    /// `sin`, `cos`, `lg2`, `ex2`, `tanh`, `rcp`, `sqrt`, `rsqrt` of any type.
    Special,
    /// `mma`, `wmma`, `wgmma`.
    Matrix,
    /// `cvt`.
    Conversion,
    /// `mov`, `cvta`, `selp`, `slct`, `prmt`: values change their place only.
    Move,
    /// Branches, calls, returns, `exit`, `trap`, `brkpt`.
    Control,
    /// Loads.
    Load(MemorySpace),
    /// Stores.
    Store(MemorySpace),
    /// `atom`, `red`.
    Atomic(MemorySpace),
    /// Copies between memories that run beside the kernel: `cp`.
    Copy,
    /// `bar`, `barrier`, `mbarrier`, `fence`, `membar`.
    Barrier,
    /// Lanes on each other: `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`, `bar.warp.sync`.
    Warp,
    /// Everything else: prefetches, `nanosleep`, `alloca`, instructions the emulator does not implement.
    Other,
    /// No instruction: one of several operations of which the emulator makes one, or a place where lanes meet. Never counted.
    Part,
}

impl OpClass {
    /// The class of the instruction `opcode` with these qualifiers, `ld` and `["global", "b32"]` for instance.
    ///
    /// ```
    /// use ptx_emulator::counters::{MemorySpace, OpClass};
    ///
    /// let class = |opcode, modifiers: &[&str]| OpClass::of(opcode, modifiers);
    /// assert_eq!(class("fma", &["rn", "f32"]), OpClass::Single);
    /// assert_eq!(class("ld", &["shared", "v4", "b32"]), OpClass::Load(MemorySpace::Shared));
    /// ```
    #[must_use]
    pub fn of<S: AsRef<str>>(opcode: &str, modifiers: &[S]) -> OpClass {
        let has = |name: &str| modifiers.iter().any(|modifier| modifier.as_ref() == name);
        match opcode {
            "ld" | "ldu" => OpClass::Load(space(modifiers)),
            "st" => OpClass::Store(space(modifiers)),
            "ldmatrix" => OpClass::Load(MemorySpace::Shared),
            "stmatrix" => OpClass::Store(MemorySpace::Shared),
            "atom" | "red" => OpClass::Atomic(space(modifiers)),
            "cp" => OpClass::Copy,
            "bar" | "barrier" if has("warp") => OpClass::Warp,
            "bar" | "barrier" | "mbarrier" | "fence" | "membar" => OpClass::Barrier,
            "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => OpClass::Warp,
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" => OpClass::Control,
            "sin" | "cos" | "lg2" | "ex2" | "tanh" | "rcp" | "sqrt" | "rsqrt" => OpClass::Special,
            "mma" | "wmma" | "wgmma" => OpClass::Matrix,
            "cvt" => OpClass::Conversion,
            "mov" | "cvta" | "selp" | "slct" | "prmt" => OpClass::Move,
            // `set.lt.u32.f32`: destination first; what is compared decides.
            "set" => arithmetic(modifiers.iter().rev()),
            "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "min" | "max" | "abs"
            | "neg" | "setp" | "testp" | "copysign" => arithmetic(modifiers.iter()),
            "addc" | "subc" | "madc" | "mul24" | "mad24" | "sad" | "and" | "or" | "xor" | "not"
            | "cnot" | "lop3" | "shl" | "shr" | "shf" | "bfe" | "bfi" | "bfind" | "brev"
            | "clz" | "popc" | "bmsk" | "szext" | "fns" | "dp4a" | "dp2a" | "isspacep" => {
                OpClass::Integer
            }
            _ => OpClass::Other,
        }
    }
}

fn space<S: AsRef<str>>(modifiers: &[S]) -> MemorySpace {
    let named = modifiers.iter().find_map(|modifier| {
        // `shared::cluster`, `param::entry`
        let name = modifier.as_ref();
        Some(match name.split_once("::").map_or(name, |(space, _)| space) {
            "global" => MemorySpace::Global,
            "shared" => MemorySpace::Shared,
            "local" => MemorySpace::Local,
            "const" => MemorySpace::Constant,
            "param" => MemorySpace::Param,
            _ => return None,
        })
    });
    named.unwrap_or(MemorySpace::Generic)
}

/// By the first type among the qualifiers.
fn arithmetic<S: AsRef<str>>(mut modifiers: impl Iterator<Item = S>) -> OpClass {
    modifiers
        .find_map(|modifier| {
            Some(match modifier.as_ref() {
                "f16" | "f16x2" | "bf16" | "bf16x2" => OpClass::Half,
                "f32" | "f32x2" => OpClass::Single,
                "f64" => OpClass::Double,
                "pred" | "b16" | "b32" | "b64" | "u16" | "u32" | "u64" | "s16" | "s32" | "s64"
                | "u16x2" | "s16x2" => OpClass::Integer,
                _ => return None,
            })
        })
        .unwrap_or(OpClass::Integer)
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemorySpace::Global => "global",
            MemorySpace::Shared => "shared",
            MemorySpace::Local => "local",
            MemorySpace::Constant => "constant",
            MemorySpace::Param => "param",
            MemorySpace::Generic => "generic",
        })
    }
}

impl fmt::Display for OpClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OpClass::Integer => "integer",
            OpClass::Half => "fp16",
            OpClass::Single => "fp32",
            OpClass::Double => "fp64",
            OpClass::Special => "special function",
            OpClass::Matrix => "matrix",
            OpClass::Conversion => "conversion",
            OpClass::Move => "move",
            OpClass::Control => "control",
            OpClass::Load(space) => return write!(f, "load {space}"),
            OpClass::Store(space) => return write!(f, "store {space}"),
            OpClass::Atomic(space) => return write!(f, "atomic {space}"),
            OpClass::Copy => "asynchronous copy",
            OpClass::Barrier => "barrier",
            OpClass::Warp => "warp",
            OpClass::Other => "other",
            OpClass::Part => "part",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mnemonic: &str) -> String {
        let mut parts = mnemonic.split('.');
        let opcode = parts.next().unwrap_or_default();
        OpClass::of(opcode, &parts.collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn classes_by_mnemonic() {
        let expected = [
            ("add.s32", "integer"),
            ("add.rn.f32", "fp32"),
            ("fma.rn.bf16x2", "fp16"),
            ("mul.wide.u32", "integer"),
            ("div.rn.f64", "fp64"),
            ("rcp.approx.ftz.f64", "special function"),
            ("setp.lt.f32", "fp32"),
            ("setp.ne.s32", "integer"),
            ("set.lt.u32.f32", "fp32"),
            ("set.lt.f32.s32", "integer"),
            ("and.pred", "integer"),
            ("cvt.rn.f16.f32", "conversion"),
            ("cvta.to.global.u64", "move"),
            ("ld.global.nc.v2.f32", "load global"),
            ("ld.volatile.shared::cta.u32", "load shared"),
            ("ld.f32", "load generic"),
            ("st.param.b32", "store param"),
            ("st.local.u8", "store local"),
            ("ld.const.f64", "load constant"),
            ("atom.shared.cas.b32", "atomic shared"),
            ("red.add.u32", "atomic generic"),
            ("bar.sync", "barrier"),
            ("barrier.cta.sync.aligned", "barrier"),
            ("bar.warp.sync", "warp"),
            ("shfl.sync.bfly.b32", "warp"),
            ("cp.async.ca.shared.global", "asynchronous copy"),
            ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "matrix"),
            ("bra.uni", "control"),
            ("nanosleep.u32", "other"),
            ("dp4a.u32.s32", "integer"),
        ];
        for (mnemonic, class) in expected {
            assert_eq!(of(mnemonic), class, "{mnemonic}");
        }
    }
}
