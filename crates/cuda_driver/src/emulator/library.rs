//! Libraries: PTX loaded without a context; a context gets its module when it first needs one.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use super::context::check_cache_config;
use super::device::check_device;
use super::function::{self, Settings};
use super::image::{Image, compile, image_text, read_file};
use super::module::{c_name, not_found};
use super::options::JitOptions;
use super::{Emulator, handles, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// A library.
pub(crate) struct Library {
    program: Arc<Image>,
    modules: BTreeMap<CUcontext, CUmodule>,
    kernels: BTreeMap<String, CUkernel>,
}

impl Library {
    /// The context's module is gone with it.
    pub(crate) fn forget_context(&mut self, context: CUcontext) {
        self.modules.remove(&context);
    }
}

/// A library's kernel.
pub(crate) struct Kernel {
    library: CUlibrary,
    name: String,
    c_name: CString,
    settings: Settings,
}

impl Emulator {
    /// The library's module in the current context.
    fn module_of_library(&mut self, library: CUlibrary) -> Result<CUmodule, ApiError> {
        let context = self.ready()?;
        let found = self.libraries.get(library)?;
        if let Some(module) = found.modules.get(&context) {
            return Ok(*module);
        }
        let program = found.program.clone();
        let module = self.load_program(context, program)?;
        self.libraries.get_mut(library)?.modules.insert(context, module);
        Ok(module)
    }

    /// A kernel's function in the current context, with the kernel's settings.
    pub(crate) fn function_of_kernel(&mut self, kernel: CUkernel) -> Result<CUfunction, ApiError> {
        let found = self.kernels.get(kernel)?;
        let (library, name, settings) = (found.library, found.name.clone(), found.settings);
        let module = self.module_of_library(library)?;
        let function = self.function_of(module, &name)?;
        self.functions.get_mut(function)?.settings = settings;
        Ok(function)
    }

    fn kernel_handle(&mut self, library: CUlibrary, name: &str) -> Result<CUkernel, ApiError> {
        let found = self.libraries.get_mut(library)?;
        if let Some(kernel) = found.kernels.get(name) {
            return Ok(*kernel);
        }
        if found.program.kernel(name).is_none() {
            return Err(not_found(
                "kernel",
                name,
                found.program.kernels().map(|kernel| kernel.name.as_str()),
            ));
        }
        let kernel = self.kernels.insert(Kernel {
            library,
            name: name.to_owned(),
            c_name: c_name(name),
            settings: Settings::default(),
        });
        found.kernels.insert(name.to_owned(), kernel);
        Ok(kernel)
    }
}

fn insert(library: Out<CUlibrary>, text: &[u8], options: &JitOptions) -> Outcome {
    let program = compile(text, options.max_registers)?;
    with(|emulator| {
        let handle = emulator.libraries.insert(Library {
            program,
            modules: BTreeMap::new(),
            kernels: BTreeMap::new(),
        });
        library.set("library", handle)
    })
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn load_data(
    library: Out<CUlibrary>,
    code: HostPtr,
    options: Out<c_uint>,
    option_values: Out<*mut c_void>,
    option_count: c_uint,
    _library_options: Out<c_uint>,
    _library_option_values: Out<*mut c_void>,
    _library_option_count: c_uint,
) -> Outcome {
    with(|_| library.check("library"))?;
    let options = JitOptions::read(option_count, options, option_values)?;
    let outcome = image_text(code).and_then(|text| insert(library, text, &options));
    options.report(outcome.as_ref().err())?;
    outcome
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn load_file(
    library: Out<CUlibrary>,
    path: Text,
    options: Out<c_uint>,
    option_values: Out<*mut c_void>,
    option_count: c_uint,
    _library_options: Out<c_uint>,
    _library_option_values: Out<*mut c_void>,
    _library_option_count: c_uint,
) -> Outcome {
    with(|_| library.check("library"))?;
    let options = JitOptions::read(option_count, options, option_values)?;
    let outcome = read_file(path).and_then(|text| insert(library, &text, &options));
    options.report(outcome.as_ref().err())?;
    outcome
}

pub(crate) fn unload(library: CUlibrary) -> Outcome {
    with(|emulator| {
        let found = emulator.libraries.remove(library)?;
        for module in found.modules.into_values() {
            // A context that was emptied meanwhile took its module along.
            let _ = emulator.unload_module(module);
        }
        drop(emulator.kernels.remove_where(|kernel| kernel.library == library));
        Ok(())
    })
}

pub(crate) fn get_kernel(kernel: Out<CUkernel>, library: CUlibrary, name: Text) -> Outcome {
    with(|emulator| {
        kernel.check("kernel")?;
        let found = emulator.kernel_handle(library, &name.string("name")?)?;
        kernel.set("kernel", found)
    })
}

pub(crate) fn kernel_count(count: Out<c_uint>, library: CUlibrary) -> Outcome {
    with(|emulator| {
        let kernels = emulator.libraries.get(library)?.program.kernels().count();
        count.set("count", kernels as c_uint)
    })
}

pub(crate) fn enumerate_kernels(
    kernels: Out<CUkernel>,
    count: c_uint,
    library: CUlibrary,
) -> Outcome {
    with(|emulator| {
        let program = emulator.libraries.get(library)?.program.clone();
        let found: Result<Vec<CUkernel>, ApiError> = program
            .kernels()
            .take(count as usize)
            .map(|kernel| emulator.kernel_handle(library, &kernel.name))
            .collect();
        kernels.set_all("kernels", &found?)
    })
}

pub(crate) fn get_module(module: Out<CUmodule>, library: CUlibrary) -> Outcome {
    with(|emulator| {
        module.check("module")?;
        let found = emulator.module_of_library(library)?;
        module.set("module", found)
    })
}

pub(crate) fn get_global(
    address: Out<CUdeviceptr>,
    bytes: Out<usize>,
    library: CUlibrary,
    name: Text,
) -> Outcome {
    with(|emulator| {
        let module = emulator.module_of_library(library)?;
        let (found, size) = emulator.global_of(module, &name.string("name")?)?;
        address.set_if_wanted("address", found)?;
        bytes.set_if_wanted("bytes", size as usize)
    })
}

pub(crate) fn kernel_function(function: Out<CUfunction>, kernel: CUkernel) -> Outcome {
    with(|emulator| {
        function.check("function")?;
        let found = emulator.function_of_kernel(kernel)?;
        function.set("function", found)
    })
}

pub(crate) fn kernel_library(library: Out<CUlibrary>, kernel: CUkernel) -> Outcome {
    with(|emulator| library.set("library", emulator.kernels.get(kernel)?.library))
}

pub(crate) fn kernel_get_attribute(
    value: Out<c_int>,
    attribute: c_uint,
    kernel: CUkernel,
    device: CUdevice,
) -> Outcome {
    // CUDA takes a CUfunction here, too.
    if handles::is_kind::<CUfunction>(kernel.0) {
        return function::get_attribute(value, attribute, CUfunction(kernel.0));
    }
    with(|emulator| {
        value.check("value")?;
        check_device(device)?;
        let found = emulator.kernels.get(kernel)?;
        let program = &emulator.libraries.get(found.library)?.program;
        let info = function::info(program, &found.name)?;
        value.set("value", function::attribute_of(program, info, found.settings, attribute)?)
    })
}

pub(crate) fn kernel_set_attribute(
    attribute: c_uint,
    value: c_int,
    kernel: CUkernel,
    device: CUdevice,
) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        let found = emulator.kernels.get_mut(kernel)?;
        let program = &emulator.libraries.get(found.library)?.program;
        function::change(
            function::info(program, &found.name)?,
            &mut found.settings,
            attribute,
            value,
        )
    })
}

pub(crate) fn kernel_set_cache_config(
    kernel: CUkernel,
    config: c_uint,
    device: CUdevice,
) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        emulator.kernels.get(kernel)?;
        check_cache_config(config)
    })
}

pub(crate) fn kernel_name(name: Out<*const c_char>, kernel: CUkernel) -> Outcome {
    with(|emulator| name.set("name", emulator.kernels.get(kernel)?.c_name.as_ptr()))
}

pub(crate) fn kernel_param_info(
    kernel: CUkernel,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Outcome {
    with(|emulator| {
        let found = emulator.kernels.get(kernel)?;
        let program = &emulator.libraries.get(found.library)?.program;
        function::tell_parameter(function::info(program, &found.name)?, index, offset, size)
    })
}
