//! One row of the table of instruction forms.

/// One instruction form: what it is called, what it takes, since when, and what the emulator does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The mnemonics, in the notation of [`Form`](super::Form).
    pub form: &'static str,
    /// The operands in the notation of [`Example`](super::Example); empty for none.
    pub operands: &'static str,
    /// The part of the emulator that decodes it.
    pub family: Family,
    /// The PTX version that introduced it, times ten; 10 where it is as old as PTX.
    pub ptx: u16,
    /// The compute capability that it needs, times ten: 90 for `sm_90`; 0 for every one.
    pub sm: u16,
    /// Whether the emulator executes it.
    pub support: Support,
    /// What shows that it does.
    pub case: Case,
}

/// Whether the emulator executes a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// As the hardware does.
    Yes,
    /// With a deliberate difference, which the text names.
    Modelled(&'static str),
    /// Not: the instruction faults when it is reached. The text says why.
    No(&'static str),
}

/// What shows that the emulator executes a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Nothing: it does not.
    None,
    /// Answers of the hardware, in this family of the recordings.
    Golden(&'static str),
    /// A test of the emulator, `file::function`.
    Test(&'static str),
}

/// A part of the emulator's decoder: one function each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names say it.
pub enum Family {
    IntegerArithmetic,
    Product24,
    FloatArithmetic,
    Transcendental,
    CopySign,
    TestProperty,
    Logic,
    Lop3,
    Shift,
    FunnelShift,
    BitField,
    BitCount,
    BitMask,
    Permute,
    DotProduct,
    SelectBySign,
    SetPredicate,
    Set,
    Select,
    Convert,
    ConvertAddress,
    IsSpace,
    Move,
    Load,
    Store,
    CacheHint,
    Alloca,
    Stack,
    Atomic,
    Branch,
    Call,
    Return,
    Exit,
    Trap,
    Breakpoint,
    Barrier,
    Fence,
    ProfilerEvent,
    GridDependency,
    RegisterCount,
    MapAddress,
    BlockRank,
    MatrixTransfer,
    MatrixTranspose,
    MatrixProduct,
    AsyncCopy,
    Mbarrier,
    Sleep,
    Shuffle,
    Vote,
    Match,
    Reduce,
    Elect,
    ActiveMask,
    /// No part: no form of the instruction is executed.
    Unsupported,
}

/// A form of PTX 1.0 that the emulator does not execute, until the methods say more.
pub(super) const fn row(form: &'static str, operands: &'static str, family: Family) -> Row {
    Row { form, operands, family, ptx: 10, sm: 0, support: Support::No(""), case: Case::None }
}

/// A form that no part of the emulator decodes.
pub(super) const fn missing(
    form: &'static str,
    operands: &'static str,
    ptx: u16,
    sm: u16,
    why: &'static str,
) -> Row {
    row(form, operands, Family::Unsupported).since(ptx, sm).missing(why)
}

impl Row {
    /// The PTX version (times ten) and compute capability (times ten) that introduced it.
    pub(super) const fn since(self, ptx: u16, sm: u16) -> Row {
        Row { ptx, sm, ..self }
    }

    /// Executed, as a family of the hardware's recorded answers shows.
    pub(super) const fn golden(self, family: &'static str) -> Row {
        Row { support: Support::Yes, case: Case::Golden(family), ..self }
    }

    /// Executed, as a test of the emulator shows: `file::function`.
    pub(super) const fn test(self, name: &'static str) -> Row {
        Row { support: Support::Yes, case: Case::Test(name), ..self }
    }

    /// Not executed, and why.
    pub(super) const fn missing(self, why: &'static str) -> Row {
        Row { support: Support::No(why), case: Case::None, ..self }
    }

    /// Executed, but not as the hardware does; follows `golden` or `test`.
    pub(super) const fn but(self, difference: &'static str) -> Row {
        Row { support: Support::Modelled(difference), ..self }
    }

    /// Whether the emulator executes it.
    pub const fn is_supported(&self) -> bool {
        !matches!(self.support, Support::No(_))
    }
}
