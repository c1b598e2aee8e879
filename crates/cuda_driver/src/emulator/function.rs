//! Functions: the kernels of a module, and their attributes.

use std::ffi::{CString, c_char, c_int, c_uint};
use std::sync::Arc;

use ptx_emulator::{KernelInfo, Program};

use super::context::{check_cache_config, check_shared_config};
use super::device::limits;
use super::image::{Image, sm_number};
use super::module::c_name;
use super::{Emulator, handles, library, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CUfunction_attribute`.
const MAX_DYNAMIC_SHARED: c_uint = 8;
const SHARED_CARVEOUT: c_uint = 9;

/// What a program sets on a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Dynamic shared memory that the kernel opted in to, bytes.
    pub max_dynamic_shared: Option<u32>,
    /// Preferred share of shared memory, percent; -1 for the driver's choice.
    carveout: c_int,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { max_dynamic_shared: None, carveout: -1 }
    }
}

/// A kernel of a module.
pub(crate) struct Function {
    pub context: CUcontext,
    pub module: CUmodule,
    pub name: String,
    c_name: CString,
    pub settings: Settings,
}

impl Function {
    pub(crate) fn new(context: CUcontext, module: CUmodule, name: &str) -> Function {
        Function {
            context,
            module,
            name: name.to_owned(),
            c_name: c_name(name),
            settings: Settings::default(),
        }
    }
}

/// Threads of a block that a kernel allows at most.
pub(crate) fn max_threads(kernel: &KernelInfo) -> u32 {
    let declared = kernel.required_threads.or(kernel.max_threads);
    let product = declared.map_or(limits::THREADS.into(), |threads| {
        threads.iter().fold(1_u64, |product, n| product.saturating_mul(u64::from(*n)))
    });
    u32::try_from(product).unwrap_or(limits::THREADS).clamp(1, limits::THREADS)
}

/// Registers of a thread: an estimate.
///
/// A GPU's assembler allocates registers and spills what does not fit the largest block that the kernel
/// declares (`.maxntid`); the emulator allocates none. What PTX names is cut so that the largest block fits
/// a multiprocessor, so no launch is refused for registers here.
pub(crate) fn registers(kernel: &KernelInfo) -> u32 {
    let warps = max_threads(kernel).div_ceil(limits::WARP);
    // Registers are allocated in units of 256 a warp: 8 a thread.
    let fitting = limits::REGISTERS / (warps * limits::WARP) / 8 * 8;
    kernel.registers.clamp(16, fitting.clamp(16, 255))
}

/// `CU_FUNC_ATTRIBUTE_*` of a kernel.
pub(crate) fn attribute_of(
    image: &Image,
    kernel: &KernelInfo,
    settings: Settings,
    attribute: c_uint,
) -> Result<c_int, ApiError> {
    let value = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
    let constant = u32::try_from(image.constant_bytes).unwrap_or(u32::MAX);
    Ok(match attribute {
        0 => value(max_threads(kernel)),
        1 => value(kernel.static_shared_bytes),
        // A module's constant variables share a bank, so all its kernels have all of them.
        2 => value(constant),
        3 => value(kernel.local_bytes),
        4 => value(registers(kernel)),
        5 => value(sm_number(image.target()).unwrap_or(90)),
        6 => 90,
        7 => 0, // -dlcm=ca
        MAX_DYNAMIC_SHARED => value(max_dynamic_shared(kernel, settings)),
        SHARED_CARVEOUT => settings.carveout,
        // Must clusters be named by the launch; the ones that the kernel requires; may they be larger; how they are scheduled.
        10 | 14 | 15 => 0,
        11..=13 => {
            let required = kernel.required_cluster.unwrap_or_default();
            value(required[attribute as usize - 11])
        }
        _ => return Err(ApiError::argument("attribute", attribute, "0 to 15")),
    })
}

/// Dynamic shared memory that a launch may ask for, bytes.
pub(crate) fn max_dynamic_shared(kernel: &KernelInfo, settings: Settings) -> u32 {
    let default = limits::SHARED.saturating_sub(kernel.static_shared_bytes);
    settings.max_dynamic_shared.unwrap_or(default)
}

/// Sets an attribute that can be set.
pub(crate) fn change(
    kernel: &KernelInfo,
    settings: &mut Settings,
    attribute: c_uint,
    value: c_int,
) -> Outcome {
    match attribute {
        MAX_DYNAMIC_SHARED => {
            let limit = limits::SHARED_OPT_IN.saturating_sub(kernel.static_shared_bytes);
            match u32::try_from(value) {
                Ok(bytes) if bytes <= limit => settings.max_dynamic_shared = Some(bytes),
                _ => {
                    return Err(ApiError::argument(
                        "value",
                        format_args!("{value} bytes of dynamic shared memory"),
                        format_args!(
                            "0 to {limit} bytes ({} less the {} bytes of static shared memory)",
                            limits::SHARED_OPT_IN,
                            kernel.static_shared_bytes
                        ),
                    ));
                }
            }
        }
        SHARED_CARVEOUT => {
            if !(-1..=100).contains(&value) {
                return Err(ApiError::argument(
                    "value",
                    format_args!("{value} percent"),
                    "-1 to 100",
                ));
            }
            settings.carveout = value;
        }
        10..=15 => {
            return Err(ApiError::FeatureNotSupported {
                what: "changing the clusters of a kernel is".to_owned(),
                help: "it works on a GPU, with CUDA_DRIVER_BACKEND=gpu",
            });
        }
        _ => {
            return Err(ApiError::argument("attribute", attribute, "8 or 9: others cannot be set"));
        }
    }
    Ok(())
}

impl Emulator {
    /// The function behind a handle, which may also be a library's kernel: CUDA takes both.
    pub(crate) fn resolve_function(
        &mut self,
        function: CUfunction,
    ) -> Result<CUfunction, ApiError> {
        if handles::is_kind::<CUkernel>(function.0) {
            return self.function_of_kernel(CUkernel(function.0));
        }
        self.functions.get(function)?;
        Ok(function)
    }

    /// A function's program, name and settings.
    pub(crate) fn kernel_of(
        &mut self,
        function: CUfunction,
    ) -> Result<(Arc<Image>, String, Settings), ApiError> {
        let function = self.resolve_function(function)?;
        let found = self.functions.get(function)?;
        let program = self.modules.get(found.module)?.program.clone();
        Ok((program, found.name.clone(), found.settings))
    }
}

/// The kernel of this name, which was there when its handle was made.
pub(crate) fn info<'a>(program: &'a Program, name: &str) -> Result<&'a KernelInfo, ApiError> {
    program.kernel(name).ok_or_else(|| ApiError::SymbolNotFound {
        kind: "kernel",
        name: name.to_owned(),
        hint: String::new(),
    })
}

pub(crate) fn get_attribute(value: Out<c_int>, attribute: c_uint, function: CUfunction) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        value.check("value")?;
        let (program, name, settings) = emulator.kernel_of(function)?;
        value.set("value", attribute_of(&program, info(&program, &name)?, settings, attribute)?)
    })
}

pub(crate) fn set_attribute(function: CUfunction, attribute: c_uint, value: c_int) -> Outcome {
    if handles::is_kind::<CUkernel>(function.0) {
        return library::kernel_set_attribute(attribute, value, CUkernel(function.0), 0);
    }
    with(|emulator| {
        emulator.ready()?;
        let (program, name, mut settings) = emulator.kernel_of(function)?;
        change(info(&program, &name)?, &mut settings, attribute, value)?;
        let function = emulator.resolve_function(function)?;
        emulator.functions.get_mut(function)?.settings = settings;
        Ok(())
    })
}

pub(crate) fn set_cache_config(function: CUfunction, config: c_uint) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        emulator.resolve_function(function)?;
        check_cache_config(config)
    })
}

pub(crate) fn set_shared_config(function: CUfunction, config: c_uint) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        emulator.resolve_function(function)?;
        check_shared_config(config)
    })
}

pub(crate) fn get_module(module: Out<CUmodule>, function: CUfunction) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let function = emulator.resolve_function(function)?;
        module.set("module", emulator.functions.get(function)?.module)
    })
}

pub(crate) fn name(name: Out<*const c_char>, function: CUfunction) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let function = emulator.resolve_function(function)?;
        name.set("name", emulator.functions.get(function)?.c_name.as_ptr())
    })
}

/// Tells one parameter's place; past the last one is an error that programs use to count.
pub(crate) fn tell_parameter(
    kernel: &KernelInfo,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Outcome {
    let Some(parameter) = kernel.params.get(index) else {
        return Err(ApiError::argument(
            "param_index",
            index,
            format_args!("below {}", kernel.params.len()),
        ));
    };
    offset.set("param_offset", parameter.offset as usize)?;
    size.set_if_wanted("param_size", parameter.bytes as usize)
}

pub(crate) fn param_info(
    function: CUfunction,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let (program, name, _) = emulator.kernel_of(function)?;
        tell_parameter(info(&program, &name)?, index, offset, size)
    })
}

pub(crate) fn is_loaded(state: Out<c_uint>, function: CUfunction) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        emulator.resolve_function(function)?;
        // CU_FUNCTION_LOADING_STATE_LOADED
        state.set("state", 1)
    })
}

pub(crate) fn load(function: CUfunction) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        emulator.resolve_function(function).map(drop)
    })
}
