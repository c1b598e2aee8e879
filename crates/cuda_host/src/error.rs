//! [`Error`], and the wording of everything that can go wrong between the host and a device.

use std::fmt;

use crate::driver::{self, Diagnostic};
use crate::panic::Panic;
use crate::sys::Code;

/// The result of almost everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong: [`kind`](Error::kind) for the class, `Display` for people.
///
/// The text is lower case, says what was asked, what was found and the limit with its unit, and ends in a line
/// `help: …` where there is something to do. A kernel's fault on the emulator carries the emulator's whole diagnostic:
/// the faulting line of Rust and of PTX, block and threads, address and nearest allocation.
///
/// ```text
/// kernel `mat_mul`: a block of 64 x 64 x 1 = 4096 threads is more than the 1024 threads that a block may have on this device
/// help: make the block smaller and the grid larger
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Problem>);

/// The class of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no device to open, or the driver failed for a reason of its own.
    Device,
    /// PTX that does not load, or a kernel or variable that no module has.
    Module,
    /// A grid, block or shared memory size that this device or this kernel cannot run.
    LaunchShape,
    /// A kernel failed while it ran.
    KernelFault,
    /// A kernel used up what it may: the emulator's instruction budget, the driver's time limit.
    LimitReached,
    /// Not enough memory on the device.
    OutOfMemory,
    /// The host asked for something that makes no sense: lengths that differ, a range outside an array.
    HostMisuse,
    /// Valid, but the emulator does not support it.
    Unsupported,
}

/// How a program that ends with an [`Error`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// A kernel failed: exit code 1.
    KernelFailed,
    /// The host program or its user asked for something impossible: exit code 2.
    HostMisuse,
    /// The emulator does not support something: exit code 3.
    Unsupported,
    /// Trouble with the device, the driver or the kernels' PTX: exit code 4.
    DeviceTrouble,
}

impl Ending {
    /// The exit code of a program that ends so.
    pub fn exit_code(self) -> u8 {
        match self {
            Ending::KernelFailed => 1,
            Ending::HostMisuse => 2,
            Ending::Unsupported => 3,
            Ending::DeviceTrouble => 4,
        }
    }
}

impl Error {
    /// The class.
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            // Whatever the reason: that the GPU asked for is missing is the machine's trouble.
            Problem::NoDevice { failure } if failure.code == NO_DEVICE => ErrorKind::Device,
            Problem::Driver { failure, .. } | Problem::NoDevice { failure } => {
                failure.kind(ErrorKind::Device)
            }
            Problem::Kernel { failure, .. } => failure.kind(ErrorKind::KernelFault),
            Problem::StackLimit { failure, .. } => failure.kind(ErrorKind::HostMisuse),
            Problem::LoadModule { failure, .. } => failure.kind(ErrorKind::Module),
            Problem::DeviceCount { .. } | Problem::NotOpen => ErrorKind::HostMisuse,
            Problem::UnknownKernel { .. }
            | Problem::UnknownVariable { .. }
            | Problem::Signature { .. }
            | Problem::NoFittingPtx { .. }
            | Problem::UnknownArchitecture { .. } => ErrorKind::Module,
            Problem::Shape { .. } => ErrorKind::LaunchShape,
            Problem::OutOfMemory { .. } => ErrorKind::OutOfMemory,
            Problem::TooLarge { .. }
            | Problem::Length { .. }
            | Problem::StreamDevice { .. }
            | Problem::Argument { .. }
            | Problem::DeviceLength { .. }
            | Problem::MatrixShape { .. }
            | Problem::MatrixTooLarge { .. }
            | Problem::VariableSize { .. }
            | Problem::Range { .. }
            | Problem::Cast { .. }
            | Problem::NulInText { .. }
            | Problem::EmptyReference { .. }
            | Problem::ColumnMajor { .. }
            | Problem::DifferentDevices { .. } => ErrorKind::HostMisuse,
        }
    }

    /// How a program that fails with this error ends.
    pub fn ending(&self) -> Ending {
        match self.kind() {
            ErrorKind::KernelFault | ErrorKind::LimitReached => Ending::KernelFailed,
            ErrorKind::LaunchShape | ErrorKind::HostMisuse => Ending::HostMisuse,
            ErrorKind::Unsupported => Ending::Unsupported,
            ErrorKind::Device | ErrorKind::Module => Ending::DeviceTrouble,
            ErrorKind::OutOfMemory => match &*self.0 {
                // More than the whole device has: no other moment would have done.
                Problem::OutOfMemory { bytes, total, .. } if bytes > total => Ending::HostMisuse,
                _ => Ending::DeviceTrouble,
            },
        }
    }

    /// The exit code of a program that fails with this error: 1 a kernel failed, 2 host misuse, 3 not supported by the
    /// emulator, 4 trouble with device, driver or PTX.
    pub fn exit_code(&self) -> u8 {
        self.ending().exit_code()
    }

    /// The driver's `CUresult`, where a driver call failed.
    pub fn code(&self) -> Option<u32> {
        match &*self.0 {
            Problem::Driver { failure, .. }
            | Problem::NoDevice { failure }
            | Problem::Kernel { failure, .. }
            | Problem::StackLimit { failure, .. }
            | Problem::LoadModule { failure, .. } => Some(failure.code),
            Problem::OutOfMemory { .. } => Some(OUT_OF_MEMORY),
            _ => None,
        }
    }

    /// What a kernel said when it panicked; `None` if it failed in another way, or was built without
    /// `CudaBuilder::panic_record`.
    #[must_use]
    pub fn panic(&self) -> Option<&Panic> {
        match &*self.0 {
            Problem::Kernel { panic, .. } => panic.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn driver(what: impl Into<String>, failure: Failure) -> Self {
        let what = what.into();
        Problem::Driver { what, failure }.into()
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

const OUT_OF_MEMORY: Code = 2;
const NO_DEVICE: Code = 100;
const ASSERT: Code = 710;

/// Results that say that a kernel failed; every later call in the context returns them too.
/// (CUDA Driver API, `CUresult`: illegal address, timeout, assert, hardware stack error … launch failed.)
fn is_kernel_fault(code: Code) -> bool {
    matches!(code, 700 | 702 | 710 | 714..=719)
}

/// A driver call that did not succeed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    /// The emulator's own words.
    pub(crate) diagnostic: Option<Diagnostic>,
}

impl Failure {
    /// The failure of a call that `cust` made.
    pub(crate) fn of_cust(error: cust::error::CudaError) -> Self {
        Self { code: error as Code, diagnostic: driver::take_diagnostic() }
    }

    /// Whether an earlier launch is to blame, and not the call that returned this.
    pub(crate) fn is_from_kernel(&self) -> bool {
        let ending = self.diagnostic.as_ref().map(|diagnostic| diagnostic.ending);
        is_kernel_fault(self.code)
            || ending.is_some_and(|ending| ending != driver::EmulatorEnding::HostMisuse)
    }

    fn kind(&self, otherwise: ErrorKind) -> ErrorKind {
        match self.diagnostic.as_ref().map(|diagnostic| diagnostic.ending) {
            Some(driver::EmulatorEnding::KernelBug) => ErrorKind::KernelFault,
            Some(driver::EmulatorEnding::LimitReached) => ErrorKind::LimitReached,
            Some(driver::EmulatorEnding::Unsupported) => ErrorKind::Unsupported,
            // Bad PTX is the module's trouble, whoever noticed it.
            Some(driver::EmulatorEnding::HostMisuse) if otherwise == ErrorKind::Module => otherwise,
            Some(driver::EmulatorEnding::HostMisuse) => ErrorKind::HostMisuse,
            None => match self.code {
                OUT_OF_MEMORY => ErrorKind::OutOfMemory,
                702 => ErrorKind::LimitReached,
                701 => ErrorKind::LaunchShape,
                801 if driver::backend() == driver::Backend::Emulator => ErrorKind::Unsupported,
                code if is_kernel_fault(code) => ErrorKind::KernelFault,
                _ => otherwise,
            },
        }
    }

    fn help(&self) -> Option<&'static str> {
        if self.diagnostic.is_some() {
            return None;
        }
        Some(match self.code {
            34 | 100 => {
                "run with CUDA_DRIVER_BACKEND=emulator to use the emulator, which needs no GPU"
            }
            209 => {
                "the PTX is for a newer architecture than this device's: build the kernels for an older one \
                 (`CudaBuilder::arch`)"
            }
            218 => "the driver's compiler refused the PTX: its own words are above",
            222 => {
                "this driver is older than the PTX's version: update the driver, or build the kernels for a lower PTX version"
            }
            700 | 714..=719 => {
                "run the same command with CUDA_DRIVER_BACKEND=emulator to see the faulting line, thread and address; \
                 after such a fault the GPU answers every call of this process with the same error"
            }
            ASSERT => {
                "the kernel panicked: its message, block and thread are on standard error; \
                 CUDA_DRIVER_BACKEND=emulator shows the line"
            }
            702 => {
                "the GPU also drives a display, whose time limit for a kernel ran out: split the work into shorter launches"
            }
            999 => "see whether `nvidia-smi` works, and the kernel log",
            _ => return None,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(diagnostic) = &self.diagnostic {
            // What comes before this text has said that it is an error.
            let text = diagnostic.text.trim_end();
            return f.write_str(text.strip_prefix("error: ").unwrap_or(text));
        }
        let (name, description) = driver::describe(self.code);
        write!(f, "{description} ({name}, {})", self.code)?;
        match self.help() {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

/// `Ok` for 0; otherwise the code with whatever the emulator has to say about it.
pub(crate) fn check(code: Code) -> Result<(), Failure> {
    if code == 0 {
        return Ok(());
    }
    Err(Failure { code, diagnostic: driver::take_diagnostic() })
}

/// Every message of this crate.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("no CUDA device: {failure}")]
    NoDevice { failure: Failure },

    #[error(
        "there is no device {asked}: this machine has {}\nhelp: devices are numbered from 0; \
         `Device::all()` opens every one",
        counted(*count, "device")
    )]
    DeviceCount { asked: usize, count: usize },

    #[error(
        "no device is open on this thread\nhelp: call `Device::open()` and keep the device while you use it; \
         with several devices open, call `Device::make_current()` on this thread"
    )]
    NotOpen,

    #[error("could not {what}: {failure}")]
    Driver { what: String, failure: Failure },

    #[error(
        "could not give each thread a stack of {bytes} bytes: {failure}\n\
         help: a thread can have at most 524288, and up to {threads} threads of this device at once must find room in its memory"
    )]
    StackLimit { bytes: usize, threads: u64, failure: Failure },

    #[error("{}{}", launched(kernels, failure), failed(failure, panic.as_ref()))]
    Kernel { kernels: Vec<&'static str>, failure: Failure, panic: Option<Panic> },

    #[error("the PTX does not load: {failure}{}", compiler_log(log))]
    LoadModule { failure: Failure, log: String },

    #[error(
        "{what} contains a NUL byte at offset {offset}, where the driver would end it\nhelp: pass PTX as text"
    )]
    NulInText { what: &'static str, offset: usize },

    #[error(
        "no PTX for this device, which has compute capability {0}.{1} (sm_{0}{1}): {2}\n\
         help: build the kernels for a plain architecture that is not above it as well \
         (`CudaBuilder::build_archs`); `a` and `f` ones run on their own devices only",
        device.0, device.1, there_is(available)
    )]
    NoFittingPtx { available: Vec<String>, device: (u32, u32) },

    #[error(
        "the set of PTX has an architecture `{name}`, which is none\nhelp: they are called sm_75, sm_90a, sm_100f"
    )]
    UnknownArchitecture { name: String },

    #[error("no module on this device has a kernel `{name}`{}", known_kernels(*modules, known))]
    UnknownKernel { name: String, modules: usize, known: Vec<String> },

    #[error(
        "the module has no variable `{name}`\nhelp: its name in the PTX must be exactly that: give the `static` \
         `#[unsafe(no_mangle)]` and `pub`"
    )]
    UnknownVariable { name: String },

    #[error(
        "variable `{name}` has {}, the host's data {}\nhelp: pass exactly as many elements as the `static` has",
        counted(*device, "byte"), counted(*host, "byte")
    )]
    VariableSize { name: String, device: usize, host: usize },

    #[error(
        "kernel `{kernel}`: the loaded PTX does not fit its signature `{signature}`: {difference}\n\
         help: the PTX is from another build of the kernels; rebuild and load it again"
    )]
    Signature { kernel: &'static str, signature: String, difference: String },

    #[error("kernel `{kernel}`: {problem}")]
    Shape { kernel: String, problem: Shape },

    #[error(
        "out of memory: {} for {what} are more than the {} that are free of the device's {}\nhelp: {}",
        size(*bytes), size(*free), size(*total),
        if bytes > total { "work on smaller pieces" } else { "free other arrays first, or work on smaller pieces" }
    )]
    OutOfMemory { what: String, bytes: u64, free: u64, total: u64 },

    #[error(
        "{elements} elements of {element_bytes} bytes are more bytes than an address can count"
    )]
    TooLarge { elements: usize, element_bytes: usize },

    #[error(
        "could not {what}: the device has {}, the host {}\nhelp: the two must have the same length",
        counted(*device, "element"), counted(*host, "element")
    )]
    Length { what: &'static str, device: usize, host: usize },

    #[error(
        "could not copy on the device: the source has {}, the target {}\nhelp: the two must have the same length",
        counted(*from, "element"), counted(*target, "element")
    )]
    DeviceLength { target: usize, from: usize },

    #[error("a matrix of {rows} x {columns} has {} elements, the array {len}", *rows as u128 * *columns as u128)]
    MatrixShape { rows: usize, columns: usize, len: usize },

    #[error(
        "a matrix of {rows} x {columns} elements of {element_bytes} bytes has more bytes than an address can count"
    )]
    MatrixTooLarge { rows: usize, columns: usize, element_bytes: usize },

    #[error("elements {start}..{end} are not inside an array of {}", counted(*len, "element"))]
    Range { start: usize, end: usize, len: usize },

    #[error(
        "{from_len} elements of {from_bytes} bytes are no whole number of elements of {to_bytes} bytes, \
         or not aligned to {to_align} bytes"
    )]
    Cast { from_len: usize, from_bytes: usize, to_bytes: usize, to_align: usize },

    #[error(
        "kernel `{kernel}`: `{param}` is a reference to one element, and the array passed for it has none\n\
         help: pass an array with at least one element"
    )]
    EmptyReference { kernel: &'static str, param: &'static str },

    #[error(
        "kernel `{kernel}`: `{param}` is a row-major matrix, and the one passed for it is column-major\n\
         help: make it with `Layout::RowMajor`"
    )]
    ColumnMajor { kernel: &'static str, param: &'static str },

    #[error(
        "kernel `{kernel}`: `{first}` and `{other}` lie on different devices\n\
         help: copy one of them to the other's device: `to_host()`, then `to_device(…)` there"
    )]
    DifferentDevices { kernel: &'static str, first: &'static str, other: &'static str },

    #[error(
        "kernel `{kernel}`: the stream is on device {stream}, the arguments on device {arguments}\n\
         help: make the stream with the arguments' device: `array.device().stream()`"
    )]
    StreamDevice { kernel: &'static str, stream: usize, arguments: usize },

    #[error("kernel `{kernel}`: the arguments cannot be launched: {fault}")]
    Argument { kernel: &'static str, fault: String },
}

/// The architectures of a set of PTX, none of which fits.
fn there_is(available: &[String]) -> String {
    if available.is_empty() {
        "the set is empty".into()
    } else {
        format!("there is {} only", available.join(", "))
    }
}

/// A launch that cannot be, found before the driver is asked.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Shape {
    #[error(
        "the {what} is {asked}, and {axis} may not be 0\nhelp: {}",
        match *what {
            "grid" => "nothing to compute needs no launch: skip it",
            "cluster" => "a cluster needs at least one block",
            _ => "a block needs at least one thread",
        }
    )]
    Zero { what: &'static str, asked: String, axis: char },

    #[error("the {what} is {asked}: {axis} is negative")]
    Negative { what: &'static str, asked: String, axis: char },

    #[error(
        "the {what} is {asked}: {axis} is more than the {limit} {unit} that this device allows there\nhelp: {help}"
    )]
    Axis {
        what: &'static str,
        asked: String,
        axis: char,
        limit: u32,
        unit: &'static str,
        help: &'static str,
    },

    #[error(
        "a block of {asked} = {threads} threads is more than the {limit} threads that a block may have on this device\n\
         help: make the block smaller and the grid larger"
    )]
    BlockThreads { asked: String, threads: u64, limit: u32 },

    #[error(
        "a block of {asked} = {threads} threads is more than the {limit} threads that a block of this kernel may have, \
         with {registers} registers a thread\n\
         help: make the block smaller, or build the kernel with fewer registers a thread"
    )]
    KernelThreads { asked: String, threads: u64, limit: u32, registers: u32 },

    #[error(
        "this device cannot launch kernels cooperatively\n\
         help: instead of waiting for the whole grid, end the kernel there and launch another"
    )]
    NoCooperative,

    #[error(
        "a cooperative launch of {} is more than the {limit} that the device holds at the same time, {each} on each of its \
         {multiprocessors} multiprocessors\n\
         help: use at most {limit} blocks, and let each thread do more (`thread::grid_stride`)",
        counted(*asked as usize, "block")
    )]
    CooperativeGrid { asked: u64, limit: u64, each: u32, multiprocessors: u32 },

    #[error(
        "this device has compute capability {}.{}, and clusters need 9.0\n\
         help: launch without `cluster`, with a kernel that uses none",
        capability.0, capability.1
    )]
    NoClusters { capability: (u32, u32) },

    #[error(
        "a cluster of {asked} = {blocks} blocks is more than the {limit} blocks that a cluster may have\n\
         help: make the cluster smaller"
    )]
    ClusterBlocks { asked: String, blocks: u64, limit: u64 },

    #[error(
        "a grid of {grid} blocks cannot be divided into clusters of {cluster} along {axis}\n\
         help: round the grid up to whole clusters, and let the blocks that are too many do nothing"
    )]
    PartsOfClusters { grid: String, cluster: String, axis: char },

    #[error(
        "the launch asks for clusters of {asked} blocks, and the kernel is made for clusters of {required}\n\
         help: leave `cluster` out of the launch"
    )]
    RequiredCluster { asked: String, required: String },

    #[error("{asked} bytes of dynamic shared memory: the number is negative")]
    NegativeShared { asked: i128 },

    #[error(
        "{asked} bytes of dynamic shared memory{} are more than the {limit} bytes that a block may have on this device\n\
         help: use smaller tiles",
        declared(*fixed)
    )]
    Shared { asked: i128, fixed: u32, limit: u32 },
}

fn declared(fixed: u32) -> String {
    match fixed {
        0 => String::new(),
        _ => {
            format!(" and the {} that the kernel declares itself", counted(fixed as usize, "byte"))
        }
    }
}

/// `1 device`, `2 devices`.
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A size for people, exact where it is short: `512 bytes`, `4.00 GiB (4294967296 bytes)`.
pub(crate) fn size(count: u64) -> String {
    const UNITS: [(&str, u32); 5] =
        [("EiB", 60), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.iter().find(|(_, shift)| count >> shift > 0) {
        Some((unit, shift)) => {
            let whole = count as f64 / (1_u64 << shift) as f64;
            format!("{whole:.2} {unit} ({count} bytes)")
        }
        None => counted(count as usize, "byte"),
    }
}

/// Names the kernels that may be meant; the emulator's diagnostic names its kernel itself.
fn launched(kernels: &[&str], failure: &Failure) -> String {
    match kernels {
        _ if failure.diagnostic.is_some() => String::new(),
        [] => "a kernel failed: ".into(),
        [kernel] => format!("kernel `{kernel}` failed: "),
        several => {
            let names = several.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
            format!(
                "one of the kernels launched since the last synchronisation ({}) failed: ",
                names.join(", ")
            )
        }
    }
}

/// How a kernel failed. The emulator's diagnostic has the panic and more; the driver has only a code.
fn failed(failure: &Failure, panic: Option<&Panic>) -> String {
    match panic {
        Some(panic) if failure.diagnostic.is_none() && failure.code == ASSERT => format!(
            "it {panic}\nhelp: with CUDA_DRIVER_BACKEND=emulator, the same command shows the source line and what led there"
        ),
        _ => failure.to_string(),
    }
}

/// What the driver's compiler wrote, indented below the message.
fn compiler_log(log: &str) -> String {
    log.trim().lines().map(|line| format!("\n  {line}")).collect()
}

fn known_kernels(modules: usize, known: &[String]) -> String {
    /// More names than this help nobody.
    const SHOWN: usize = 20;
    if modules == 0 {
        return ": no module is loaded\nhelp: load the kernels' PTX first: \
                `device.load(include_str!(concat!(env!(\"OUT_DIR\"), \"/kernels.ptx\")))`"
            .into();
    }
    if known.is_empty() {
        return format!(
            "; {} loaded, without kernels",
            if modules == 1 { "1 module is".into() } else { format!("{modules} modules are") }
        );
    }
    let more = known.len().saturating_sub(SHOWN);
    let names = known.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "; it has {}{more}\nhelp: is the kernel in the crate whose PTX was loaded, and `pub`?",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests;
