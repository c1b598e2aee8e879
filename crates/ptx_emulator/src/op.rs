//! Decoded operations: what the machine executes.
//!
//! Everything that the text of an instruction decides is decided here already: types, rounding and
//! other qualifiers are captured in a row function or an enum, operands are row numbers relative to
//! the frame (immediates, symbol addresses and special registers have rows of their own, filled
//! when the frame is made), branch targets and reconvergence points are positions in the program's one array of operations.

pub(crate) use crate::semantics::cmp::BooleanOp as Logic;

use crate::async_op::{AsyncCopyOp, MbarrierOp};
use crate::matrix_op::MatrixOp;
use crate::row::{RowFn, Rows};

/// No row, no position.
pub(crate) const NONE: u32 = u32::MAX;

/// `@p` or `@!p`: row of the predicate shifted left by 1, plus 1 for `!`; [`NONE`] without a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard(pub(crate) u32);

impl Guard {
    pub(crate) const ALWAYS: Guard = Guard(NONE);

    pub(crate) fn new(row: u32, negated: bool) -> Guard {
        Guard(row << 1 | negated as u32)
    }
}

/// One operation.
pub(crate) struct Op {
    pub(crate) guard: Guard,
    pub(crate) kind: OpKind,
}

/// A predicate operand: row, and whether it is negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pred {
    pub(crate) row: u32,
    pub(crate) negated: bool,
}

/// What an operation does. `d` is a destination row, `a`, `b`, `c` are source rows.
pub(crate) enum OpKind {
    /// Registers to registers; the destination and sources have the classes of the function.
    Row { f: RowFn, rows: Rows },
    /// `mov.b32`
    Move32 { d: u32, a: u32 },
    /// `mov.b64`
    Move64 { d: u32, a: u32 },
    /// `setp`: `d` gets the comparison, `q` its opposite, each combined with `c` where there is one.
    Compare { f: RowFn, rows: Rows, q: u32, combine: Option<(Logic, Pred)> },
    /// `setp.f16x2`: `d` for the low half, `q` for the high half.
    ComparePacked {
        low: RowFn,
        high: RowFn,
        d: u32,
        q: u32,
        s: [u32; 2],
        combine: Option<(Logic, Pred)>,
    },
    /// `and.pred` and its kin.
    Predicate { logic: Logic, d: u32, a: Pred, b: Pred },
    /// `mov.pred`, `not.pred`
    MovePredicate { d: u32, a: Pred },
    /// `set`-like: 32-bit lanes from a predicate.
    FromPredicate { d: u32, a: Pred, yes: u32, no: u32 },
    /// `selp` of 32-bit rows.
    Select32 { d: u32, a: u32, b: u32, p: Pred },
    /// `selp` of 64-bit rows.
    Select64 { d: u32, a: u32, b: u32, p: Pred },
    /// `add.cc` and its kin, 32 bits; `flag` is the frame's CC row.
    Carry32 { f: Carry32, d: u32, s: [u32; 3], flag: u32, reads: CarryIn, writes: bool },
    /// As `Carry32`, 64 bits.
    Carry64 { f: Carry64, d: u32, s: [u32; 3], flag: u32, reads: CarryIn, writes: bool },
    /// A load.
    Load(Box<MemoryOp>),
    /// A store.
    Store(Box<MemoryOp>),
    /// `atom` and `red`.
    Atomic(Box<AtomicOp>),
    /// `prefetch`, `discard` and other hints with an address to check and no other effect.
    Touch(Box<MemoryOp>),
    /// `isspacep`
    IsSpace { d: u32, address: u32, window: SpaceTest },
    /// `alloca`: bytes in 32- or 64-bit row `size`; `d` gets the local address.
    Alloca { d: u32, wide: bool, size: u32, size_wide: bool, align: u32 },
    /// `stacksave`
    StackSave { d: u32, wide: bool },
    /// `stackrestore`
    StackRestore { a: u32, wide: bool },
    /// `%clock` and other registers that change by themselves.
    Clock { d: u32, clock: Clock },
    /// `activemask`
    ActiveMask { d: u32 },
    /// A point where diverged lanes meet again.
    Join,
    /// `bra`: target; where the two sides meet ([`NONE`]: at the function's end).
    Branch { target: u32, join: u32 },
    /// `brx.idx`: a branch by index.
    BranchTable { index: u32, targets: Box<[u32]>, join: u32 },
    /// `call` of a function in this program.
    Call(Box<CallOp>),
    /// `ret`
    Return,
    /// `exit`
    Exit,
    /// `trap`
    Trap,
    /// `brkpt`
    Breakpoint,
    /// `bar`, `barrier`
    Barrier(Box<BarrierOp>),
    /// `shfl`, `vote`, `match`, `redux`, `elect`, `bar.warp.sync`
    Warp(Box<WarpOp>),
    /// `cp.async`
    AsyncCopy(Box<AsyncCopyOp>),
    /// `mbarrier`
    Mbarrier(Box<MbarrierOp>),
    /// `nanosleep`: lets others run.
    Yield,
    /// `fence`, `membar`: nothing to do in a machine that runs one access at a time, but race detection needs them.
    Fence(Order),
    /// `pmevent` and others without effects here.
    Nothing,
    /// The end of a function without `ret`.
    FellOffEnd,
    /// An instruction that is not implemented; a fault when reached.
    Unsupported { reason: Box<str> },
}

/// Where the incoming carry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarryIn {
    Clear,
    Set,
    Flag,
}

pub(crate) type Carry32 = fn(u32, u32, u32, bool) -> (u32, bool);
pub(crate) type Carry64 = fn(u64, u64, u64, bool) -> (u64, bool);

/// Counters a kernel can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Low32,
    High32,
    Full64,
    /// Nanoseconds; the virtual clock counts one a warp instruction.
    Nanoseconds64,
    NanosecondsLow32,
    NanosecondsHigh32,
}

/// State space of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Constant,
    /// Of the own block: `.shared`, which is short for `.shared::cta` (PTX ISA, "Shared State Space").
    Shared,
    /// Of any block of the cluster: `.shared::cluster`. The machine makes [`Space::Shared`] of it, and remembers that the address
    /// may be another block's.
    Cluster,
    Local,
    /// Parameters of the kernel.
    Param,
    /// The frame's own `.param` variables, at a fixed offset: they live in local memory.
    Frame,
}

impl Space {
    /// Shared memory is shared memory, whoever's.
    #[inline]
    pub(crate) fn seen(self) -> Space {
        match self {
            Space::Cluster => Space::Shared,
            space => space,
        }
    }

    /// Whether it may be memory that other blocks write.
    pub(crate) fn is_common(self) -> bool {
        match self {
            Space::Generic | Space::Global => true,
            Space::Constant
            | Space::Shared
            | Space::Cluster
            | Space::Local
            | Space::Param
            | Space::Frame => false,
        }
    }
}

/// What `isspacep` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpaceTest {
    Global,
    Constant,
    /// The own block's.
    Shared,
    /// Of any block of the cluster.
    Cluster,
    Local,
    Param,
}

/// An address: a row and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) base: AddressRow,
    pub(crate) offset: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressRow {
    /// The offset alone.
    Zero,
    Narrow(u32),
    Wide(u32),
}

/// How an element in memory meets its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Memory to a 32-bit row, `bytes` <= 4; `sign`-extended to `register` bits.
    Narrow { bytes: u8, sign: bool, register: u8 },
    /// To a 64-bit row, `bytes` <= 8.
    Wide { bytes: u8, sign: bool },
    /// 16 bytes to two 64-bit rows.
    Pair,
}

impl Element {
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Element::Narrow { bytes, .. } | Element::Wide { bytes, .. } => bytes as u32,
            Element::Pair => 16,
        }
    }
}

/// Memory order of an access (PTX ISA, "Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Semantics {
    Weak,
    /// `.volatile`: as `Relaxed` at system scope.
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
}

/// The threads that an access or fence is meant for, the fewest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Block,
    Cluster,
    Gpu,
    System,
}

/// Memory order and scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) semantics: Semantics,
    pub(crate) scope: Scope,
    /// `.nc`: through the cache for data that no thread writes.
    pub(crate) non_coherent: bool,
}

impl Order {
    pub(crate) const WEAK: Order =
        Order { semantics: Semantics::Weak, scope: Scope::Gpu, non_coherent: false };

    /// Whether the access is one of those that threads may use to talk to each other.
    pub(crate) fn is_strong(self) -> bool {
        self.semantics != Semantics::Weak
    }

    pub(crate) fn releases(self) -> bool {
        matches!(self.semantics, Semantics::Release | Semantics::AcquireRelease)
    }
}

/// A load or store of 1 to 8 elements.
pub(crate) struct MemoryOp {
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// Each element's register row ([`NONE`] for `_`) and shape; all have the same size in memory.
    pub(crate) elements: Box<[(u32, Element)]>,
    /// Bytes of the whole access, also its alignment.
    pub(crate) bytes: u32,
    /// Whether it may see what other threads write while it runs: volatile, relaxed, acquire.
    pub(crate) strong: bool,
    pub(crate) order: Order,
}

/// Read-modify-write operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    Add,
    Inc,
    Dec,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
}

/// Types that atomics compute on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicType {
    Bits,
    Unsigned,
    Signed,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

/// An `atom` or `red`.
pub(crate) struct AtomicOp {
    pub(crate) kind: AtomicKind,
    pub(crate) ty: AtomicType,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// 2, 4, 8 or 16.
    pub(crate) bytes: u32,
    /// Destination rows by vector element; empty for `red`. In 16-byte operations the second row follows the first.
    pub(crate) d: Box<[u32]>,
    /// First operand rows by vector element, second operand row of `cas`.
    pub(crate) b: Box<[u32]>,
    pub(crate) c: u32,
    pub(crate) order: Order,
}

/// Who is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A function of the program.
    Function(u32),
    /// A function that the machine provides.
    Intrinsic(Intrinsic),
    /// By address, in a 64-bit row.
    Indirect(u32),
    /// By name, without a body anywhere: a fault when called.
    Unresolved(u32),
}

/// Functions the machine provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    Printf,
    AssertFail,
    Malloc,
    Free,
}

/// A piece of frame memory: a parameter or return value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameSlot {
    /// Bytes from the start of the frame's local memory.
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

/// A `call`.
pub(crate) struct CallOp {
    pub(crate) callee: Callee,
    pub(crate) arguments: Box<[FrameSlot]>,
    pub(crate) returns: Box<[FrameSlot]>,
}

/// What a barrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    /// At the cluster's barrier. `relaxed`: without ordering what the thread did before.
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    RedPopc {
        d: u32,
        p: Pred,
    },
    Red {
        and: bool,
        d: u32,
        p: Pred,
    },
}

/// A `bar`.
pub(crate) struct BarrierOp {
    pub(crate) kind: BarrierKind,
    /// Row of the barrier number.
    pub(crate) id: u32,
    /// Row of the thread count, [`NONE`]: all of the block.
    pub(crate) count: u32,
    /// Whether all lanes of a warp must come together: `bar`, and `barrier` with `.aligned`.
    pub(crate) aligned: bool,
}

/// Where `shfl` takes its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What `vote` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// What `redux` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduce {
    AddU,
    MinU,
    MaxU,
    MinS,
    MaxS,
    And,
    Or,
    Xor,
    MinF { absolute: bool, nan: bool },
    MaxF { absolute: bool, nan: bool },
}

/// Operations of a warp's lanes on each other. Lanes meet when kind and mask agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarpKind {
    Sync,
    Shuffle(Shuffle),
    Vote(Vote),
    MatchAny {
        wide: bool,
    },
    MatchAll {
        wide: bool,
    },
    Reduce(Reduce),
    Elect,
    /// An operation on matrices. All lanes must come to the same instruction (`.aligned`), which is told by where it stands
    /// in the text.
    Matrix {
        at: u32,
    },
}

/// A `shfl`, `vote`, ….
pub(crate) struct WarpOp {
    pub(crate) kind: WarpKind,
    /// Destination row ([`NONE`]: none): a 32-bit row, or a predicate for votes other than ballot.
    pub(crate) d: u32,
    /// Second, predicate destination.
    pub(crate) p: u32,
    /// Value: 32- or 64-bit row.
    pub(crate) a: u32,
    /// Value of a vote.
    pub(crate) vote: Pred,
    pub(crate) b: u32,
    pub(crate) c: u32,
    /// Row of the member mask; [`NONE`]: the lanes that are active now (forms without `.sync`).
    pub(crate) members: u32,
    /// What is done, if this is an operation on matrices.
    pub(crate) matrix: Option<Box<MatrixOp>>,
}
