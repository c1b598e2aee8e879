//! A loaded module: decoded operations and everything that does not change while kernels run.

use std::sync::{Arc, OnceLock};

use crate::checks::init::Effects;
use crate::counters::{MemorySpace, OpClass};
use crate::error::CompileError;
use crate::op::{FrameSlot, Op, OpKind};
use crate::row::Class;

/// Bytes of local memory, the stack included, that a thread can have (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
///
/// ```
/// assert_eq!(ptx_emulator::MAX_LOCAL_BYTES, 512 << 10);
/// ```
pub const MAX_LOCAL_BYTES: u32 = 512 << 10;

/// A parsed, validated and decoded PTX module. Immutable: any number of machines may share one.
///
/// ```
/// let program = ptx_emulator::Program::compile(
///     ".version 7.8 .target sm_90 .address_size 64
///      .visible .entry nothing(.param .u64 p) { ret; }",
/// )?;
/// let kernel = program.kernel("nothing").expect("declared above");
/// assert_eq!((kernel.param_bytes, kernel.params.len()), (8, 1));
/// # Ok::<(), ptx_emulator::CompileError>(())
/// ```
pub struct Program {
    pub(crate) source: Arc<str>,
    pub(crate) version: (u32, u32),
    pub(crate) target: String,
    pub(crate) kernels: Vec<KernelInfo>,
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<ModuleVariable>,
    /// All functions' operations; a position in here is a program counter.
    pub(crate) ops: Vec<Op>,
    /// Where each operation comes from, same length as `ops`.
    pub(crate) places: Vec<Place>,
    /// What each operation counts as, same length as `ops`.
    pub(crate) classes: Vec<OpClass>,
    pub(crate) lines: Vec<SourceLine>,
    /// Names of functions without a body, by the number in [`crate::op::Callee::Unresolved`].
    pub(crate) unresolved: Vec<String>,
    /// The function in which kernels made with `cuda_std` choose the one thread that reports a panic.
    pub(crate) panic_begin: Option<u32>,
    /// Made when first needed.
    pub(crate) effects: OnceLock<Effects>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("target", &self.target)
            .field("kernels", &self.kernels)
            .field("operations", &self.ops.len())
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Parses, validates and decodes a module. An instruction that the emulator does not know is no
    /// error here: it becomes a fault of the launch that reaches it.
    ///
    /// # Errors
    /// [`CompileError`] names line and column and shows the line.
    pub fn compile(source: &str) -> Result<Program, CompileError> {
        crate::decode::compile(source)
    }

    /// The module's kernels in source order.
    pub fn kernels(&self) -> impl Iterator<Item = &KernelInfo> {
        self.kernels.iter()
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Allows a thread of any kernel at most `limit` registers, as an assembler's option does. Only
    /// [`KernelInfo::registers`] changes: the machine has as many registers as PTX names.
    pub fn limit_registers(&mut self, limit: u32) {
        for kernel in &mut self.kernels {
            kernel.registers = kernel.registers.min(limit);
        }
    }

    /// `.version`: major, minor.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The instructions that the emulator does not implement, with their lines (1-based) in the PTX text. A launch
    /// that reaches one ends with [`FaultKind::UnsupportedInstruction`](crate::FaultKind::UnsupportedInstruction).
    pub fn unsupported_instructions(&self) -> Vec<(u32, &str)> {
        let map = ptx::SourceMap::new(&self.source);
        let found = self.ops.iter().zip(&self.places).filter_map(|(op, place)| match &op.kind {
            OpKind::Unsupported { reason } => {
                Some((map.position(place.span.start).line, &**reason))
            }
            _ => None,
        });
        found.collect()
    }

    /// What initcheck knows of the operations.
    pub(crate) fn effects(&self) -> &Effects {
        self.effects.get_or_init(|| Effects::of(self))
    }

    /// Whether the operation is a load or store that names local memory.
    pub(crate) fn is_local(&self, pc: u32) -> bool {
        let local = MemorySpace::Local;
        let class = self.classes.get(pc as usize).copied();
        class == Some(OpClass::Load(local)) || class == Some(OpClass::Store(local))
    }

    /// `.target`'s architecture, `sm_90` for instance.
    pub fn target(&self) -> &str {
        &self.target
    }
}

/// What a host needs to know to launch a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name as in PTX.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of the parameter block, from the first parameter's start to the last one's end.
    pub param_bytes: u32,
    /// Bytes of statically declared shared memory that the kernel and the functions it can reach use.
    pub static_shared_bytes: u32,
    /// Bytes of local memory a thread of the kernel uses itself, called functions not counted.
    pub local_bytes: u32,
    /// 32-bit registers a thread uses: those PTX names, at most 255 or the kernel's `.maxnreg`. An estimate:
    /// a GPU's assembler allocates fewer.
    pub registers: u32,
    /// `.maxntid`: the most threads a block may have in each direction.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the block shape the kernel must be launched with.
    pub required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the blocks of the clusters that the kernel is launched in.
    pub required_cluster: Option<[u32; 3]>,
    /// Position of the kernel's code.
    pub(crate) function: u32,
    /// Offset of each shared variable it uses, by number of the variable; bytes.
    pub(crate) shared_layout: Vec<(u32, u32)>,
    /// Where dynamic shared memory begins, bytes from the first variable.
    pub(crate) dynamic_shared_offset: u32,
    /// Functions it can reach, itself included.
    pub(crate) reachable: Vec<u32>,
    /// Whether nobody can tell before a launch how much stack a thread takes, because calls may come back to a function that is active.
    pub(crate) stack_is_unknown: bool,
}

/// One kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Name as in PTX.
    pub name: String,
    /// Bytes from the start of the parameter block.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// A function with a body.
pub(crate) struct Function {
    pub(crate) name: String,
    /// First operation.
    pub(crate) start: u32,
    /// Rows of each class in a frame.
    pub(crate) rows32: u32,
    pub(crate) rows64: u32,
    pub(crate) predicates: u32,
    /// Rows that are filled when a frame is made.
    pub(crate) constants: Vec<(Class, u32, Value)>,
    /// Bytes of the frame's local memory: `.local` variables, parameters, call arguments.
    pub(crate) frame_bytes: u32,
    /// Alignment of the frame, at least 16 bytes.
    pub(crate) frame_align: u32,
    /// Bytes of the `.local` variables alone, which a GPU keeps on the stack, and their alignment.
    pub(crate) depot_bytes: u32,
    pub(crate) depot_align: u32,
    pub(crate) params: Vec<FrameSlot>,
    pub(crate) returns: Vec<FrameSlot>,
    pub(crate) signature: Signature,
    pub(crate) callees: Vec<u32>,
    /// The kinds of functions that it calls by address.
    pub(crate) calls_by_address: Vec<Signature>,
    /// Functions whose address it takes.
    pub(crate) takes_address_of: Vec<u32>,
    pub(crate) shared_used: Vec<u32>,
}

/// What a call by address and the function it reaches have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Signature {
    /// Bytes of each.
    params: Box<[u32]>,
    returns: Box<[u32]>,
}

impl Signature {
    pub(crate) fn of(params: &[FrameSlot], returns: &[FrameSlot]) -> Signature {
        let bytes = |slots: &[FrameSlot]| slots.iter().map(|slot| slot.bytes).collect();
        Signature { params: bytes(params), returns: bytes(returns) }
    }
}

/// The content of a constant row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Bits(u64),
    /// Address of a module variable, in its own space, plus bytes.
    Variable {
        index: u32,
        offset: u64,
    },
    /// Address of a function.
    Function(u32),
    /// Local address of a byte of the frame.
    Frame(u32),
    /// Address of a kernel parameter in the parameter space.
    Param(u64),
    Special(Special),
}

/// Special registers with one value for the life of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    ThreadId(u8),
    BlockDim(u8),
    BlockId(u8),
    GridDim(u8),
    /// The cluster's index, and clusters in the grid.
    ClusterId(u8),
    ClusterCount(u8),
    /// The block's index in its cluster, and the cluster's blocks.
    ClusterBlockId(u8),
    ClusterDim(u8),
    ClusterRank,
    ClusterBlocks,
    IsExplicitCluster,
    LaneId,
    LaneMaskEqual,
    LaneMaskLess,
    LaneMaskLessEqual,
    LaneMaskGreater,
    LaneMaskGreaterEqual,
    WarpId,
    WarpCount,
    MultiprocessorId,
    MultiprocessorCount,
    GridId,
    /// `%envreg1` and `%envreg2`: the upper and the lower half of the address of the grid's barrier.
    GridWorkspaceHigh,
    GridWorkspaceLow,
    DynamicShared,
    TotalShared,
}

/// A `.global`, `.const` or `.shared` variable.
#[derive(Debug)]
pub(crate) struct ModuleVariable {
    pub(crate) name: String,
    pub(crate) space: VariableSpace,
    pub(crate) bytes: u64,
    pub(crate) align: u32,
    /// Initial values, each with its offset in bytes; the rest is zero.
    pub(crate) image: Vec<(u64, Vec<u8>)>,
    pub(crate) relocations: Vec<Relocation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableSpace {
    Global,
    Constant,
    Shared,
    /// `.extern .shared x[]`
    DynamicShared,
}

/// An address inside an initial image.
#[derive(Clone, Debug)]
pub(crate) struct Relocation {
    pub(crate) offset: u64,
    /// Bytes written.
    pub(crate) bytes: u32,
    pub(crate) value: Value,
    /// Bits to the right by which the address is shifted first (`mask(symbol)` takes one byte).
    pub(crate) shift: u32,
}

/// Where an operation comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) span: ptx::Span,
    /// Index in [`Program::lines`], [`crate::op::NONE`] without `.loc`.
    pub(crate) line: u32,
}

/// A position in the program's own source (Rust, usually), with the chain of inlined calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The position, then where that code was inlined, and so on outwards.
    pub chain: Vec<SourcePosition>,
}

/// File, line, column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// Path as the compiler wrote it.
    pub file: String,
    /// Line, 1-based; 0 if the compiler had none.
    pub line: u32,
    /// Column, 1-based; 0 if the compiler had none.
    pub column: u32,
}
