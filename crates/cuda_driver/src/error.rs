//! What a call can fail with: every message of this crate, and the [`CUresult`] it becomes.
//!
//! Messages are lower case and say what was asked, what was found and the limit with its unit.
//! Results follow what an H200 (driver 580, CUDA 13.0) was seen to answer.

use std::sync::Arc;

use ptx_emulator::{CompileError, CompileErrorKind, Ending, MemoryError};

use crate::result::CUresult;

/// What an entry point of the emulator comes to.
pub(crate) type Outcome = Result<(), ApiError>;

/// A kernel's fault, kept by its context until a synchronising call reports it, or for ever.
#[derive(Debug)]
pub(crate) struct KernelFault {
    /// The whole diagnostic, several lines.
    pub text: String,
    /// Which of the four ends it is.
    pub ending: Ending,
    /// What the driver returns for it.
    pub result: CUresult,
    /// Whether every later call reports it, as on hardware. A fault that a GPU would not have noticed, or not
    /// have had, is reported once: there the program would have gone on.
    pub lasting: bool,
}

/// Why a call on the emulator did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("parameter `{name}` is a null pointer")]
    NullPointer { name: &'static str },
    #[error("parameter `{name}` points to {address:#x}, which is not a multiple of {align} bytes")]
    MisalignedPointer { name: &'static str, address: usize, align: usize },
    #[error("parameter `{name}`: {bytes} bytes from there leave the address space")]
    HostRegionTooLarge { name: &'static str, bytes: u64 },
    #[error("the driver is not initialised\nhelp: call cuInit(0) first")]
    NotInitialized,
    #[error(
        "this process was forked from one that had called cuInit, and cannot use the device\nhelp: start processes before cuInit, or without fork (Python: multiprocessing.set_start_method(\"spawn\"))"
    )]
    Forked,
    #[error("{0}")]
    NoBackend(Arc<NoBackend>),
    #[error(
        "no context is current on this thread\nhelp: make one current with cuCtxSetCurrent or cuCtxCreate"
    )]
    NoContext,
    #[error("the context {0:#x} is not one of this driver's")]
    UnknownContext(usize),
    #[error("the context {0:#x} was destroyed")]
    ContextDestroyed(usize),
    #[error("{value:#x} is not a handle of a {kind}")]
    InvalidHandle { kind: &'static str, value: usize },
    #[error("the {kind} {value:#x} was destroyed or unloaded")]
    DestroyedHandle { kind: &'static str, value: usize },
    #[error("the {kind} {value:#x} belongs to another context than the current one")]
    ForeignHandle { kind: &'static str, value: usize },
    #[error("device {0} does not exist: the emulator has one device, number 0")]
    InvalidDevice(i32),
    #[error("`{name}` is {found}, expected {expected}")]
    InvalidArgument { name: &'static str, found: String, expected: String },
    #[error(
        "the context {0:#x} is the device's primary one\nhelp: release it with cuDevicePrimaryCtxRelease"
    )]
    PrimaryContext(usize),
    #[error("limit {0} is not supported")]
    UnsupportedLimit(u32),
    #[error("execution affinity is not supported by the emulator")]
    ExecAffinity,
    #[error("there is one device, which has no peer")]
    NoPeer,
    #[error(
        "`{name}` is not supported by the emulator ({what})\nhelp: it works on a GPU, with CUDA_DRIVER_BACKEND=gpu"
    )]
    NotSupported { name: &'static str, what: &'static str },
    #[error("{what} not supported by the emulator\nhelp: {help}")]
    FeatureNotSupported { what: String, help: &'static str },
    #[error("{kind} `{name}` was not found in the module{hint}")]
    SymbolNotFound { kind: &'static str, name: String, hint: String },
    #[error("no entry point is called `{0}`")]
    EntryPointNotFound(String),
    #[error(
        "the image is {what}, not PTX text: the emulator runs PTX only\nhelp: load the PTX text that it was made from"
    )]
    BinaryImage { what: &'static str },
    #[error("the image is not PTX: {why}")]
    NotPtx { why: String },
    #[error("PTX version {found} is not supported; the newest is {newest}")]
    PtxVersion { found: String, newest: &'static str },
    #[error("the PTX is for {target}, but the device is sm_90")]
    PtxTarget { target: String },
    #[error("the PTX was refused\n{error}")]
    Compile { error: CompileError },
    #[error(
        "the PTX calls `{name}`, which it does not define\nhelp: link the text that defines it (cuLinkAddData)"
    )]
    UnresolvedFunction { name: String },
    #[error("cannot join the PTX texts: {0}")]
    Link(String),
    #[error("cannot read `{path}`: {error}")]
    File { path: String, error: std::io::Error },
    #[error("{action}: {error}")]
    Memory { action: String, error: MemoryError },
    #[error(
        "a copy of {bytes} bytes at {address:#x} reaches past the end of the {size} bytes at {base:#x}"
    )]
    CopyRange { bytes: u64, address: u64, size: u64, base: u64 },
    #[error("{address:#x} was not returned by an allocation function, or was freed already{hint}")]
    NotAllocated { address: u64, hint: String },
    #[error("no allocation holds the address {address:#x}{hint}")]
    NoAllocationAt { address: u64, hint: String },
    #[error("{action}: {address:#x} is not device memory")]
    NotDeviceMemory { action: &'static str, address: u64 },
    #[error(
        "host memory at {address:#x} ({bytes} bytes) overlaps memory that is registered already"
    )]
    AlreadyRegistered { address: u64, bytes: u64 },
    #[error("host memory at {address:#x} was not registered with, or allocated by, the driver")]
    NotRegistered { address: u64 },
    #[error("the host has no {bytes} bytes left")]
    HostOutOfMemory { bytes: u64 },
    #[error("kernel `{kernel}`: {problem}")]
    Launch { kernel: String, problem: LaunchProblem },
    #[error("the event {0:#x} was created without timing, or was never recorded")]
    EventNotTimed(usize),
    #[error("the pool {0:#x} is the device's default and cannot be destroyed")]
    DefaultPool(usize),
    #[error(
        "{action} on the stream {stream:#x}, which is capturing a graph\nhelp: end the capture first"
    )]
    Capturing { stream: usize, action: &'static str },
    #[error("the stream {stream:#x} is not capturing")]
    NotCapturing { stream: usize },
    #[error(
        "the capture did not begin on the stream {stream:#x}: end it on the stream where it did"
    )]
    ForeignCapture { stream: usize },
    #[error(
        "the stream {stream:#x} took part in the capture, and the stream {origin:#x}, which ends it, does not wait for its last work\nhelp: record an event in the one and let the other wait for it (cuEventRecord, cuStreamWaitEvent)"
    )]
    UnjoinedCapture { stream: usize, origin: usize },
    #[error(
        "the stream {stream:#x} is capturing a graph, and the event belongs to the capture of another"
    )]
    MergedCapture { stream: usize },
    #[error("work of a default stream cannot be captured\nhelp: create a stream (cuStreamCreate)")]
    DefaultStreamCapture,
    #[error("{}", .0.text)]
    Fault(Arc<KernelFault>),
    #[error(
        "the NVIDIA driver at {path} has no entry point `{name}`: it is older than the program"
    )]
    NativeSymbolMissing { path: String, name: String },
    #[error("internal error: {0}\nhelp: this is a bug in the emulator, not in the program")]
    Panic(String),
}

/// Why no backend serves the calls.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoBackend {
    #[error("CUDA_DRIVER_BACKEND is `{0}`, expected auto, gpu or emulator")]
    UnknownChoice(String),
    #[error(
        "CUDA_DRIVER_BACKEND=gpu, but there is no usable NVIDIA driver; tried:\n{tried}\nhelp: install the NVIDIA driver, or use CUDA_DRIVER_BACKEND=emulator"
    )]
    NoGpu { tried: String },
}

/// Three dimensions, as messages show them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape(pub [u32; 3]);

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x} x {y} x {z}")
    }
}

/// What is wrong with a launch's shape or parameters.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchProblem {
    #[error("the grid is {0} blocks; every dimension must be at least 1")]
    EmptyGrid(Shape),
    #[error("the block is {0} threads; every dimension must be at least 1")]
    EmptyBlock(Shape),
    #[error("{asked} blocks in the grid's {axis} dimension, the limit is {limit}")]
    GridDimension { axis: char, asked: u32, limit: u32 },
    #[error("{asked} threads in the block's {axis} dimension, the limit is {limit}")]
    BlockDimension { axis: char, asked: u32, limit: u32 },
    #[error("{threads} threads in a block ({block}), the limit is {limit}{reason}")]
    Threads { threads: u64, block: Shape, limit: u32, reason: &'static str },
    #[error(
        "the block is {asked} threads, but the kernel was compiled for exactly {required} (.reqntid)"
    )]
    RequiredBlock { asked: Shape, required: Shape },
    #[error(
        "{asked} bytes of dynamic shared memory and {fixed} bytes of static, the limit is {limit} bytes together{help}"
    )]
    Shared { asked: u32, fixed: u32, limit: u32, help: &'static str },
    #[error("no parameters were passed, but the kernel has {0}")]
    NoParameters(usize),
    #[error("parameters were passed both as `kernelParams` and as `extra`")]
    TwoParameterLists,
    #[error("the pointer to parameter {index} (`{name}`, {bytes} bytes) is null")]
    NullParameter { index: usize, name: String, bytes: u32 },
    #[error(
        "the parameter buffer holds {found} bytes, the kernel's parameters take {needed} bytes"
    )]
    ParameterBuffer { found: usize, needed: u32 },
    #[error("`extra` holds the key {0}, expected 1 (buffer pointer), 2 (buffer size) or 0 (end)")]
    ExtraKey(usize),
    #[error("a grid of {grid} blocks cannot be divided into clusters of {cluster}")]
    Cluster { grid: Shape, cluster: Shape },
    #[error("a cluster of {cluster} blocks; clusters have at most {limit} blocks")]
    ClusterSize { cluster: Shape, limit: u32 },
    #[error(
        "clusters of {asked} blocks, but the kernel was compiled for exactly {required} (.reqnctapercluster)"
    )]
    RequiredCluster { asked: Shape, required: Shape },
    #[error("a cooperative launch of {asked} blocks, but only {limit} fit the device at once")]
    Cooperative { asked: u64, limit: u64 },
}

impl ApiError {
    /// A parameter whose value is outside what the call takes.
    pub(crate) fn argument(
        name: &'static str,
        found: impl std::fmt::Display,
        expected: impl std::fmt::Display,
    ) -> ApiError {
        ApiError::InvalidArgument { name, found: found.to_string(), expected: expected.to_string() }
    }

    /// What the driver returns for it.
    pub(crate) fn result(&self) -> CUresult {
        match self {
            ApiError::NullPointer { .. }
            | ApiError::MisalignedPointer { .. }
            | ApiError::HostRegionTooLarge { .. }
            | ApiError::InvalidArgument { .. }
            | ApiError::CopyRange { .. }
            | ApiError::NotAllocated { .. }
            | ApiError::NotDeviceMemory { .. }
            | ApiError::DefaultPool(_) => CUresult::INVALID_VALUE,
            ApiError::NotInitialized | ApiError::Forked => CUresult::NOT_INITIALIZED,
            ApiError::NoBackend(why) => match &**why {
                NoBackend::UnknownChoice(_) => CUresult::INVALID_VALUE,
                NoBackend::NoGpu { .. } => CUresult::NO_DEVICE,
            },
            ApiError::NoContext | ApiError::UnknownContext(_) | ApiError::PrimaryContext(_) => {
                CUresult::INVALID_CONTEXT
            }
            ApiError::ContextDestroyed(_) => CUresult::CONTEXT_IS_DESTROYED,
            ApiError::InvalidHandle { .. }
            | ApiError::DestroyedHandle { .. }
            | ApiError::ForeignHandle { .. }
            | ApiError::EventNotTimed(_) => CUresult::INVALID_HANDLE,
            ApiError::InvalidDevice(_) => CUresult::INVALID_DEVICE,
            ApiError::UnsupportedLimit(_) => CUresult::UNSUPPORTED_LIMIT,
            ApiError::ExecAffinity => CUresult::UNSUPPORTED_EXEC_AFFINITY,
            ApiError::NoPeer => CUresult::PEER_ACCESS_UNSUPPORTED,
            ApiError::NotSupported { .. } | ApiError::FeatureNotSupported { .. } => {
                CUresult::NOT_SUPPORTED
            }
            ApiError::SymbolNotFound { .. }
            | ApiError::EntryPointNotFound(_)
            | ApiError::NoAllocationAt { .. }
            | ApiError::NativeSymbolMissing { .. } => CUresult::NOT_FOUND,
            ApiError::BinaryImage { .. } => CUresult::NO_BINARY_FOR_GPU,
            ApiError::NotPtx { .. } => CUresult::INVALID_IMAGE,
            ApiError::PtxVersion { .. } => CUresult::UNSUPPORTED_PTX_VERSION,
            ApiError::PtxTarget { .. }
            | ApiError::UnresolvedFunction { .. }
            | ApiError::Link(_) => CUresult::INVALID_PTX,
            ApiError::Compile { error } => match error.kind() {
                CompileErrorKind::Unsupported => CUresult::NOT_SUPPORTED,
                _ => CUresult::INVALID_PTX,
            },
            ApiError::File { .. } => CUresult::FILE_NOT_FOUND,
            ApiError::Memory { error: MemoryError::OutOfMemory { .. }, .. }
            | ApiError::HostOutOfMemory { .. } => CUresult::OUT_OF_MEMORY,
            ApiError::Memory { .. } => CUresult::INVALID_VALUE,
            ApiError::AlreadyRegistered { .. } => CUresult::HOST_MEMORY_ALREADY_REGISTERED,
            ApiError::NotRegistered { .. } => CUresult::HOST_MEMORY_NOT_REGISTERED,
            ApiError::Launch { problem: LaunchProblem::Cooperative { .. }, .. } => {
                CUresult::COOPERATIVE_LAUNCH_TOO_LARGE
            }
            ApiError::Launch {
                problem:
                    LaunchProblem::Cluster { .. }
                    | LaunchProblem::ClusterSize { .. }
                    | LaunchProblem::RequiredCluster { .. },
                ..
            } => CUresult::INVALID_CLUSTER_SIZE,
            ApiError::Launch { .. } => CUresult::INVALID_VALUE,
            ApiError::Capturing { .. } | ApiError::DefaultStreamCapture => {
                CUresult::STREAM_CAPTURE_UNSUPPORTED
            }
            ApiError::NotCapturing { .. } => CUresult::ILLEGAL_STATE,
            ApiError::ForeignCapture { .. } => CUresult::STREAM_CAPTURE_UNMATCHED,
            ApiError::UnjoinedCapture { .. } => CUresult::STREAM_CAPTURE_UNJOINED,
            ApiError::MergedCapture { .. } => CUresult::STREAM_CAPTURE_MERGE,
            ApiError::Fault(fault) => fault.result,
            ApiError::Panic(_) => CUresult::UNKNOWN,
        }
    }

    /// Which of the four ends it is.
    pub(crate) fn ending(&self) -> Ending {
        match self {
            ApiError::Fault(fault) => fault.ending,
            ApiError::NotSupported { .. }
            | ApiError::FeatureNotSupported { .. }
            | ApiError::BinaryImage { .. }
            | ApiError::PtxVersion { .. }
            | ApiError::PtxTarget { .. }
            | ApiError::ExecAffinity
            | ApiError::Panic(_) => Ending::Unsupported,
            ApiError::Compile { error } if error.kind() == CompileErrorKind::Unsupported => {
                Ending::Unsupported
            }
            ApiError::Memory { error: MemoryError::OutOfMemory { .. }, .. }
            | ApiError::HostOutOfMemory { .. } => Ending::LimitReached,
            _ => Ending::HostMisuse,
        }
    }
}
