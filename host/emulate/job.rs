//! One launch on a machine of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ptx_emulator::counters::Counters;
use ptx_emulator::{
    Check, Coordination, Finding, Launch, LaunchReport, Leak, Machine, MachineConfig, MemoryError,
    ModuleId, Output, Program,
};

use super::argument::{Argument, Kind};
use super::error::{ArgumentError, ArgumentReason};
use super::shape::Shape;
use crate::array::{Array, ArrayType};
use crate::error::Error;
use crate::kernel_text::{self, Parameter};
use crate::memory::check_host;
use crate::output_file::PendingFile;

/// Bytes of a pointer.
const POINTER: u64 = 8;

/// What to run.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The module's text.
    pub source: &'a str,
    /// Where that is from, for messages.
    pub place: &'a str,
    /// The kernel's name; may be left out if there is one only.
    pub kernel: Option<&'a str>,
    /// Blocks.
    pub grid: Shape,
    /// Threads of a block.
    pub block: Shape,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// What the blocks do together.
    pub coordination: Coordination,
    /// One for each parameter.
    pub arguments: &'a [Argument],
    /// The machine.
    pub config: MachineConfig,
}

/// A launch that happened, however it ended.
#[derive(Debug)]
pub struct Ran {
    /// The kernel's name.
    pub kernel: String,
    /// What the kernel did, or how it failed.
    pub outcome: Result<Finished, Error>,
    /// What checks found.
    pub findings: Vec<Finding>,
    /// Different findings that were not kept.
    pub findings_left_out: u64,
    /// With memcheck: what the kernel allocated and did not free.
    pub leaks: Vec<Leak>,
    /// What was counted, if the machine was to count.
    pub counters: Option<Counters>,
}

/// A launch that came to its end.
#[derive(Debug)]
pub struct Finished {
    /// What the machine counted.
    pub report: LaunchReport,
    /// The arrays that the kernel may have written, in the order of its parameters.
    pub outputs: Vec<OutputArray>,
}

/// An array that a kernel may have written.
#[derive(Debug)]
pub struct OutputArray {
    /// The argument as the user wrote it.
    pub argument: String,
    /// What it holds now.
    pub array: Array,
    /// The file that it was written to.
    pub file: Option<PathBuf>,
}

/// An argument in the machine.
struct Placed<'a> {
    argument: &'a Argument,
    /// The array's address and type, for arrays.
    array: Option<(u64, ArrayType)>,
    /// Where its content goes afterwards.
    file: Option<PendingFile>,
}

/// Kernels print to standard output at once, so that it is there even if the kernel fails next.
struct Stdout;

impl Output for Stdout {
    fn print(&mut self, text: &[u8]) {
        let mut out = std::io::stdout().lock();
        // As on a GPU, a kernel's printf has no result that could say so.
        let _ = out.write_all(text).and_then(|()| out.flush());
    }
}

impl Job<'_> {
    /// Runs it. Files are written only if the kernel comes to its end.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenPtx`], [`Error::UnknownKernel`], [`Error::Arguments`] and the errors of `.npy` files: nothing ran. In
    /// [`Ran::outcome`]: [`Error::Fault`] when the emulator stops the kernel or refuses the launch, [`Error::Write`].
    pub fn run(self) -> Result<Ran, Error> {
        let broken =
            |source| Error::BrokenPtx { place: self.place.to_owned(), source: Box::new(source) };
        let program = Arc::new(Program::compile(self.source).map_err(broken)?);
        let kernels = kernel_text::kernels(self.source, self.place)?;
        let names = || kernels.iter().map(|kernel| kernel.name.clone()).collect::<Vec<_>>();
        let place = self.place.to_owned();
        let kernel = match (self.kernel, kernels.as_slice()) {
            (Some(name), _) => {
                kernels.iter().find(|kernel| kernel.name == name).ok_or_else(|| {
                    Error::UnknownKernel { name: name.to_owned(), place, known: names() }
                })?
            }
            (None, [only]) => only,
            (None, []) => return Err(ArgumentError::NoKernel { place }.into()),
            (None, _) => return Err(ArgumentError::KernelNeeded { place, known: names() }.into()),
        };
        check(&kernel.name, &kernel.params, self.arguments)?;

        let mut machine = Machine::new(self.config.clone());
        let module = machine
            .load(Arc::clone(&program))
            .map_err(|source| ArgumentError::Module { place: self.place.to_owned(), source })?;
        let mut params = Vec::new();
        let mut placed = Vec::new();
        for (index, (argument, param)) in self.arguments.iter().zip(&kernel.params).enumerate() {
            let offset = program
                .kernel(&kernel.name)
                .and_then(|info| info.params.get(index))
                .map_or(0, |info| info.offset as usize);
            params.resize(offset, 0);
            placed.push(place_argument(
                &mut machine,
                argument,
                index,
                &kernel.name,
                param,
                &mut params,
            )?);
        }
        let report = self.launch(&mut machine, module, &kernel.name, &params);
        let findings_left_out = machine.findings_left_out();
        let findings = machine.take_findings();
        let leaks = match self.config.checks.contains(Check::Memcheck) {
            true => machine.leaks().into_iter().filter(|leak| leak.device_heap).collect(),
            false => Vec::new(),
        };
        let counters = machine.take_counters();
        let outcome = report.and_then(|report| {
            let outputs = placed
                .into_iter()
                .filter_map(|placed| collect(&machine, placed).transpose())
                .collect::<Result<_, _>>()?;
            Ok(Finished { report, outputs })
        });
        Ok(Ran {
            kernel: kernel.name.clone(),
            outcome,
            findings,
            findings_left_out,
            leaks,
            counters,
        })
    }

    fn launch(
        &self,
        machine: &mut Machine,
        module: ModuleId,
        kernel: &str,
        params: &[u8],
    ) -> Result<LaunchReport, Error> {
        let launch = Launch {
            kernel,
            grid: self.grid.0,
            block: self.block.0,
            dynamic_shared_bytes: self.shared,
            params,
        };
        let coordination = self.coordination;
        machine.launch_together(module, &launch, coordination, &mut Stdout).map_err(Error::Fault)
    }
}

/// Number and sizes of the arguments, as far as they are known without reading files.
fn check(kernel: &str, params: &[Parameter], arguments: &[Argument]) -> Result<(), Error> {
    if arguments.len() != params.len() {
        let (given, wanted) = (arguments.len(), params.len());
        let list = |(index, param): (usize, &Parameter)| {
            format!("\n  {}: {} {} ({} bytes)", index + 1, param.ty, param.name, param.bytes)
        };
        let params = match params {
            [] => " none".to_owned(),
            _ => params.iter().enumerate().map(list).collect(),
        };
        return Err(
            ArgumentError::Count { kernel: kernel.to_owned(), given, wanted, params }.into()
        );
    }
    for (index, (argument, param)) in arguments.iter().zip(params).enumerate() {
        match &argument.kind {
            Kind::Scalar(bytes) => check_size(argument, index, kernel, param, bytes.len() as u64)?,
            Kind::Value(_) => {}
            _ if param.bytes != POINTER => {
                let reason = ArgumentReason::NoPointer {
                    name: param.name.clone(),
                    kernel: kernel.to_owned(),
                    ty: param.ty.clone(),
                    wanted: param.bytes,
                };
                return Err(refused(argument, index, reason));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_size(
    argument: &Argument,
    index: usize,
    kernel: &str,
    param: &Parameter,
    found: u64,
) -> Result<(), Error> {
    if found == param.bytes {
        return Ok(());
    }
    let reason = ArgumentReason::Size {
        found,
        name: param.name.clone(),
        kernel: kernel.to_owned(),
        ty: param.ty.clone(),
        wanted: param.bytes,
    };
    Err(refused(argument, index, reason))
}

fn refused(argument: &Argument, index: usize, reason: ArgumentReason) -> Error {
    ArgumentError::Argument { text: argument.text.clone(), number: index + 1, reason }.into()
}

/// Puts an argument into memory and its bytes behind `params`.
fn place_argument<'a>(
    machine: &mut Machine,
    argument: &'a Argument,
    index: usize,
    kernel: &str,
    param: &Parameter,
    params: &mut Vec<u8>,
) -> Result<Placed<'a>, Error> {
    let pending = |path: &Path| PendingFile::create(path);
    let mut placed = Placed { argument, array: None, file: None };
    let (ty, content) = match &argument.kind {
        Kind::Scalar(bytes) => {
            params.extend_from_slice(bytes);
            return Ok(placed);
        }
        Kind::Value(path) => {
            let array = Array::read(path)?;
            check_size(argument, index, kernel, param, array.data.len() as u64)?;
            params.extend_from_slice(&array.data);
            return Ok(placed);
        }
        Kind::Array(array) => (array.ty.clone(), Some(array.data.clone())),
        Kind::In(path) => {
            let array = Array::read(path)?;
            (array.ty, Some(array.data))
        }
        Kind::InOut(from, to) => {
            let array = Array::read(from)?;
            placed.file = Some(pending(to)?);
            (array.ty, Some(array.data))
        }
        Kind::Out(ty, path) => {
            placed.file = path.as_deref().map(pending).transpose()?;
            (ty.clone(), None)
        }
        Kind::Zeros(ty, path) => {
            placed.file = path.as_deref().map(pending).transpose()?;
            (ty.clone(), None)
        }
    };
    let bytes = ty.bytes();
    check_host(u128::from(bytes), || format!("--arg {}", argument.text))?;
    let memory = machine.memory_mut();
    // An array without elements has an address too, of memory that is no one's to touch but its first byte.
    let mut fill = || -> Result<u64, MemoryError> {
        let address = memory.alloc(bytes.max(1), &argument.text)?;
        match (&argument.kind, &content) {
            (_, Some(content)) => memory.write(address, content)?,
            (Kind::Zeros(..), None) => memory.fill(address, &[0], bytes)?,
            _ => {}
        }
        Ok(address)
    };
    let address =
        fill().map_err(|error| refused(argument, index, ArgumentReason::Memory(error)))?;
    params.extend_from_slice(&address.to_le_bytes());
    placed.array = Some((address, ty));
    Ok(placed)
}

/// Reads an array back that the kernel may have written, and writes its file.
fn collect(machine: &Machine, placed: Placed<'_>) -> Result<Option<OutputArray>, Error> {
    let Some((address, ty)) =
        placed.array.filter(|_| !matches!(placed.argument.kind, Kind::In(_) | Kind::Array(_)))
    else {
        return Ok(None);
    };
    // It was allocated, so its size fits.
    let mut data = vec![0; ty.bytes() as usize];
    let read = machine.memory().read(address, &mut data);
    read.map_err(|error| refused(placed.argument, 0, ArgumentReason::Memory(error)))?;
    let array = Array { ty, data };
    let file = match placed.file {
        Some(file) => Some(file.finish(|writer| array.write(writer))?),
        None => None,
    };
    Ok(Some(OutputArray { argument: placed.argument.text.clone(), array, file }))
}
