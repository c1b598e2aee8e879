//! `inspect`: one kernel as PTX, LLVM IR or SASS, with what it needs.

use std::fs;

use ptx_emulator::Program;
use serde::Serialize;

use crate::cli::InspectArgs;
use crate::console::{Console, HEADING};
use crate::error::Error;
use crate::kernel_text::{self, KernelText};
use crate::toolkit::{self, Compiled, Resources};
use crate::{KERNELS_LLVM_IR, KERNELS_PTX};

#[derive(Serialize)]
struct Names<'a> {
    command: &'static str,
    kernels: Vec<&'a str>,
}

#[derive(Serialize)]
struct Output<'a> {
    command: &'static str,
    kernel: &'a str,
    target: &'a str,
    parameters: Vec<Parameter<'a>>,
    /// Statically declared shared memory, bytes per block.
    shared_bytes: Option<u32>,
    /// What ptxas compiled for.
    arch: &'a str,
    /// What ptxas says; null when there is none.
    ptxas: Option<Resources>,
    form: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
    bytes: u64,
}

/// Runs the command.
///
/// # Errors
///
/// For an unknown kernel, unreadable or broken PTX, a missing program of the CUDA toolkit, and [`Error::Output`].
pub fn run(arguments: &InspectArgs, console: &mut Console) -> Result<(), Error> {
    let file = match &arguments.file {
        Some(path) => {
            let text = fs::read_to_string(path)
                .map_err(|source| Error::Read { path: path.clone(), source })?;
            Some((text, path.display().to_string()))
        }
        None => None,
    };
    let (source, place) = match &file {
        Some((text, place)) => (text.as_str(), place.as_str()),
        None => (KERNELS_PTX, "this program"),
    };
    let kernels = kernel_text::kernels(source, place)?;
    let Some(name) = &arguments.kernel else {
        return list(&kernels, console);
    };
    let Some(kernel) = kernels.iter().find(|kernel| kernel.name == *name) else {
        let known = kernels.into_iter().map(|kernel| kernel.name).collect();
        return Err(Error::UnknownKernel { name: name.clone(), place: place.to_owned(), known });
    };
    show(arguments, kernel, source, place, console)
}

fn list(kernels: &[KernelText<'_>], console: &mut Console) -> Result<(), Error> {
    console.line("kernels (`ferrowarp inspect NAME` shows one):")?;
    for kernel in kernels {
        console.line(format_args!("  {}", kernel.name))?;
    }
    console.json(&Names {
        command: "inspect",
        kernels: kernels.iter().map(|kernel| kernel.name.as_str()).collect(),
    })
}

fn show(
    arguments: &InspectArgs,
    kernel: &KernelText<'_>,
    source: &str,
    place: &str,
    console: &mut Console,
) -> Result<(), Error> {
    let broken = |error| Error::BrokenPtx { place: place.to_owned(), source: Box::new(error) };
    let program = Program::compile(source).map_err(broken)?;
    let target = program.target();
    let arch = arguments.arch.as_deref().unwrap_or(target);
    // Asking for an architecture asks for ptxas as well.
    let needed = arguments.sass || arguments.arch.is_some();
    let compiled = compile(source, &kernel.name, arch, needed)?;
    let sass;
    let (form, comment, text) = if arguments.llvm {
        if arguments.file.is_some() {
            return Err(Error::NoLlvmIr);
        }
        let text = kernel_text::llvm_function(KERNELS_LLVM_IR, &kernel.name).unwrap_or_default();
        ("llvm", ";", text)
    } else if let (true, Some(compiled)) = (arguments.sass, &compiled) {
        sass = compiled.sass()?;
        ("sass", "//", sass.as_str())
    } else {
        ("ptx", "//", kernel.ptx)
    };
    let shared_bytes = program.kernel(&kernel.name).map(|info| info.static_shared_bytes);
    let resources = compiled.as_ref().map(|compiled| compiled.resources);

    console.line(format_args!("{HEADING}{comment} {}{HEADING:#} for {target}", kernel.name))?;
    for parameter in &kernel.params {
        let plural = if parameter.bytes == 1 { "byte" } else { "bytes" };
        console.line(format_args!(
            "{comment} parameter {}: {}, {} {plural}",
            parameter.name, parameter.ty, parameter.bytes
        ))?;
    }
    match resources {
        Some(Resources { registers, shared_bytes, spill_store_bytes, stack_bytes }) => console.line(format_args!(
            "{comment} {registers} registers per thread, {shared_bytes} bytes of shared memory per block, {stack_bytes} bytes of stack, {spill_store_bytes} bytes spilled (ptxas, {arch})"
        ))?,
        None => {
            if let Some(shared) = shared_bytes {
                console.line(format_args!("{comment} {shared} bytes of shared memory per block"))?;
            }
            console.line(format_args!("{comment} registers per thread: not known without ptxas (see `ferrowarp doctor`)"))?;
        }
    }
    console.line(text.trim_end())?;
    let parameters = kernel
        .params
        .iter()
        .map(|p| Parameter { name: &p.name, ty: &p.ty, bytes: p.bytes })
        .collect();
    console.json(&Output {
        command: "inspect",
        kernel: &kernel.name,
        target,
        parameters,
        shared_bytes,
        arch,
        ptxas: resources,
        form,
        text,
    })
}

/// Compiles the kernel where there is a ptxas; without one that is an error only when it is `needed`.
fn compile(
    source: &str,
    kernel: &str,
    arch: &str,
    needed: bool,
) -> Result<Option<Compiled>, Error> {
    match toolkit::find("ptxas") {
        Some(ptxas) => match toolkit::compile(&ptxas, source, kernel, arch) {
            // Too old for this PTX, perhaps: no reason not to show the PTX itself.
            Err(_) if !needed => Ok(None),
            result => result.map(Some),
        },
        None if needed => Err(toolkit::missing("ptxas")),
        None => Ok(None),
    }
}
