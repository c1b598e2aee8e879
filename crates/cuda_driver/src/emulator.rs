//! The emulator's side of the driver API: one file per kind of handle.
//!
//! All state is in one [`Emulator`] behind a lock; a launch holds it, so launches of several threads
//! run one after the other. Work is done at once, before the call returns, whatever the stream: the order
//! in a stream and between streams is the order of the calls, which is one of those CUDA allows.
//!
//! A kernel's fault is kept in its context. Until a synchronising call reports it, calls that only
//! queue work succeed and do nothing; from then on every call on the context returns it, as on hardware.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use ptx_emulator::{Machine, MachineConfig};

use crate::backend;
use crate::error::{ApiError, Outcome};
use crate::types::*;

pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod device;
mod device_runtime;
pub(crate) mod event;
pub(crate) mod fill;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod handles;
pub(crate) mod host_memory;
mod image;
pub(crate) mod init;
pub(crate) mod launch;
pub(crate) mod library;
pub(crate) mod link;
mod mapping;
pub(crate) mod memory;
mod mirror;
pub(crate) mod module;
pub(crate) mod observe;
pub(crate) mod occupancy;
mod options;
pub(crate) mod pool;
pub(crate) mod primary;
pub(crate) mod profiler;
pub(crate) mod stream;
pub(crate) mod user_object;

use handles::Handles;

/// Everything behind the handles.
pub(crate) struct Emulator {
    pub machine: Machine,
    pub contexts: Handles<CUcontext, context::Context>,
    pub modules: Handles<CUmodule, module::Module>,
    pub functions: Handles<CUfunction, function::Function>,
    pub libraries: Handles<CUlibrary, library::Library>,
    pub kernels: Handles<CUkernel, library::Kernel>,
    pub streams: Handles<CUstream, stream::Stream>,
    pub events: Handles<CUevent, event::Event>,
    pub links: Handles<CUlinkState, link::Link>,
    pub pools: Handles<CUmemoryPool, pool::Pool>,
    pub graphs: Handles<CUgraph, graph::Graph>,
    pub executables: Handles<CUgraphExec, graph::Executable>,
    pub user_objects: Handles<CUuserObject, user_object::UserObject>,
    pub primary: primary::Primary,
    pub allocations: memory::Allocations,
    /// Allocations made so far, by which diagnostics number them.
    pub allocated: u64,
    /// From the first device address ever given out to past the last.
    pub device_span: std::ops::Range<u64>,
    pub host: host_memory::HostMemory,
    pub device_pool: pool::DevicePool,
    /// Whether findings of checks go to the standard error.
    pub print_findings: bool,
    /// What was counted since somebody asked last.
    pub profiles: Vec<observe::Profile>,
}

impl Emulator {
    fn new(config: MachineConfig, print_findings: bool) -> Emulator {
        Emulator {
            machine: Machine::new(config),
            contexts: Handles::new(),
            modules: Handles::new(),
            functions: Handles::new(),
            libraries: Handles::new(),
            kernels: Handles::new(),
            streams: Handles::new(),
            events: Handles::new(),
            links: Handles::new(),
            pools: Handles::new(),
            graphs: Handles::new(),
            executables: Handles::new(),
            user_objects: Handles::new(),
            primary: primary::Primary::default(),
            allocations: BTreeMap::new(),
            allocated: 0,
            device_span: 0..0,
            host: host_memory::HostMemory::default(),
            device_pool: pool::DevicePool::default(),
            print_findings,
            profiles: Vec::new(),
        }
    }
}

/// The machine that the program and the environment ask for, and whether findings are to be printed.
fn configured() -> Result<(MachineConfig, bool), ApiError> {
    let mut config = MachineConfig::default();
    if let Some(bytes) = number_from("FERROWARP_EMULATOR_MEMORY", "a number of bytes, at least 1")?
    {
        config.memory_bytes = bytes;
    }
    if let Some(instructions) =
        number_from("FERROWARP_EMULATOR_FUEL", "a number of instructions, at least 1")?
    {
        config.fuel = Some(instructions);
    }
    if let Some(bytes) =
        number_from("FERROWARP_EMULATOR_LAUNCH_MEMORY", "a number of bytes, at least 1")?
    {
        config.launch_bytes = bytes;
    }
    if let Some(value) = set_variable("FERROWARP_JOBS") {
        let expected = "1 to 1024, or auto; `,any-order` may follow";
        let unknown = |_| ApiError::argument("FERROWARP_JOBS", format_args!("`{value}`"), expected);
        config.jobs = value.trim().parse().map_err(unknown)?;
    }
    let print_findings = observe::configure(&mut config)?;
    Ok((config, print_findings))
}

/// The text of a variable of the environment; an empty one counts as none.
fn set_variable(variable: &'static str) -> Option<String> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty())?;
    Some(value.to_string_lossy().into_owned())
}

/// A variable of the environment that holds a positive number, with or without `_` between digits.
fn number_from(variable: &'static str, expected: &'static str) -> Result<Option<u64>, ApiError> {
    let Some(value) = set_variable(variable) else {
        return Ok(None);
    };
    match value.trim().replace('_', "").parse() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => Err(ApiError::argument(variable, format_args!("`{value}`"), expected)),
    }
}

/// None before `cuInit`.
static EMULATOR: Mutex<Option<Emulator>> = Mutex::new(None);

/// The process that called `cuInit`; 0 before.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Refuses a process that was forked after `cuInit`, as NVIDIA's driver does (recorded, driver 580). Another thread may have held the
/// lock at that moment, and nobody would ever open it in the child: so this is asked before.
fn refuse_forked() -> Outcome {
    match PROCESS.load(Ordering::Relaxed) {
        0 => Ok(()),
        process if process == std::process::id() => Ok(()),
        _ => Err(ApiError::Forked),
    }
}

thread_local! {
    /// This thread's contexts, the current one last. A null handle stands for "none current".
    static STACK: RefCell<Vec<CUcontext>> = const { RefCell::new(Vec::new()) };
    /// The last of them. It outlives the stack: it has no destructor.
    static CURRENT: Cell<Option<CUcontext>> = const { Cell::new(None) };
}

/// Starts the emulator if it is not running.
pub(crate) fn start() -> Outcome {
    refuse_forked()?;
    let mut emulator = EMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
    if emulator.is_none() {
        let (config, print_findings) = configured()?;
        *emulator = Some(Emulator::new(config, print_findings));
        PROCESS.store(std::process::id(), Ordering::Relaxed);
    }
    Ok(())
}

/// Gives everything on the emulator back and forgets it, as if the process had just started: contexts,
/// modules, memory, and the fault that may be stuck in the primary context. Handles and device pointers
/// from before stay invalid for ever; `cuInit` is needed again. Does nothing on a GPU.
///
/// A program does not need this: as on hardware, a fault ends a process's use of the device. Tests do.
pub fn reset_emulator() {
    let old = EMULATOR.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(old);
    PROCESS.store(0, Ordering::Relaxed);
}

/// Runs `body` on the emulator's state, once `cuInit` was called.
pub(crate) fn with<T>(
    body: impl FnOnce(&mut Emulator) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    refuse_forked()?;
    let mut emulator = EMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
    match &mut *emulator {
        Some(emulator) => body(emulator),
        None => Err(match backend::refusal() {
            // cuInit said it in full; what else was called says it again.
            Some(why) => ApiError::NoBackend(why.clone()),
            None => ApiError::NotInitialized,
        }),
    }
}

/// Runs `body` on this thread's stack of contexts.
///
/// A thread that ends destroys its variables one after the other. Those of the program may go after the stack, and give memory back
/// that they hold: the context that was current is so until then.
fn with_stack<T>(body: impl FnOnce(&mut Vec<CUcontext>) -> T) -> T {
    let mut stack =
        STACK.try_with(RefCell::take).unwrap_or_else(|_| CURRENT.get().into_iter().collect());
    let result = body(&mut stack);
    CURRENT.set(stack.last().copied());
    let _ = STACK.try_with(|kept| kept.replace(stack));
    result
}
