//! Modules: PTX text, compiled and loaded into a context.

use std::collections::BTreeMap;
use std::ffi::{CString, c_uint, c_void};
use std::sync::Arc;

use ptx_emulator::ModuleId;

use super::function::Function;
use super::image::{Image, compile, image_text, read_file};
use super::options::JitOptions;
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// A loaded module.
pub(crate) struct Module {
    pub context: CUcontext,
    pub id: ModuleId,
    pub program: Arc<Image>,
    /// The handles given out for its kernels.
    functions: BTreeMap<String, CUfunction>,
}

impl Emulator {
    /// Loads a program into a context.
    pub(crate) fn load_program(
        &mut self,
        context: CUcontext,
        program: Arc<Image>,
    ) -> Result<CUmodule, ApiError> {
        let id = self.machine.load(program.program.clone()).map_err(|error| ApiError::Memory {
            action: "loading the module's variables".to_owned(),
            error,
        })?;
        Ok(self.modules.insert(Module { context, id, program, functions: BTreeMap::new() }))
    }

    /// Unloads a module; the handles of its kernels end with it.
    pub(crate) fn unload_module(&mut self, module: CUmodule) -> Outcome {
        let found = self.modules.remove(module)?;
        self.machine.unload(found.id);
        drop(self.functions.remove_where(|function| function.module == module));
        Ok(())
    }

    /// The handle of a module's kernel; the same one each time.
    pub(crate) fn function_of(
        &mut self,
        module: CUmodule,
        name: &str,
    ) -> Result<CUfunction, ApiError> {
        let found = self.modules.get_mut(module)?;
        if let Some(function) = found.functions.get(name) {
            return Ok(*function);
        }
        if found.program.kernel(name).is_none() {
            let names = found.program.kernels().map(|kernel| kernel.name.as_str());
            return Err(not_found("kernel", name, names));
        }
        let function = self.functions.insert(Function::new(found.context, module, name));
        found.functions.insert(name.to_owned(), function);
        Ok(function)
    }

    /// Address and size of a module's variable.
    pub(crate) fn global_of(&self, module: CUmodule, name: &str) -> Result<(u64, u64), ApiError> {
        let id = self.modules.get(module)?.id;
        self.machine.global(id, name).ok_or_else(|| not_found("variable", name, std::iter::empty()))
    }
}

/// A name that a module does not have, with the ones it has.
pub(crate) fn not_found<'a>(
    kind: &'static str,
    name: &str,
    others: impl Iterator<Item = &'a str>,
) -> ApiError {
    const SHOWN: usize = 8;
    let others: Vec<&str> = others.collect();
    let hint = match others.len() {
        0 => String::new(),
        count => {
            let more =
                if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
            format!(
                "; it has {}{more}",
                others
                    .iter()
                    .take(SHOWN)
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
    };
    ApiError::SymbolNotFound { kind, name: name.to_owned(), hint }
}

/// Compiles outside the lock, then loads into the current context.
fn load_text(module: Out<CUmodule>, text: &[u8], max_registers: Option<u32>) -> Outcome {
    module.check("module")?;
    with(|emulator| {
        let context = emulator.ready()?;
        emulator.context(context)?.flush();
        Ok(())
    })?;
    let program = compile(text, max_registers)?;
    with(|emulator| {
        let context = emulator.ready()?;
        let handle = emulator.load_program(context, program)?;
        module.set("module", handle)
    })
}

pub(crate) fn load(module: Out<CUmodule>, path: Text) -> Outcome {
    with(|emulator| emulator.ready().map(drop))?;
    load_text(module, &read_file(path)?, None)
}

pub(crate) fn load_data(module: Out<CUmodule>, image: HostPtr) -> Outcome {
    load_limited(module, image, None)
}

fn load_limited(module: Out<CUmodule>, image: HostPtr, max_registers: Option<u32>) -> Outcome {
    with(|emulator| emulator.ready().map(drop))?;
    load_text(module, image_text(image)?, max_registers)
}

pub(crate) fn load_data_ex(
    module: Out<CUmodule>,
    image: HostPtr,
    option_count: c_uint,
    options: Out<c_uint>,
    option_values: Out<*mut c_void>,
) -> Outcome {
    let options = JitOptions::read(option_count, options, option_values)?;
    let outcome = load_limited(module, image, options.max_registers);
    options.report(outcome.as_ref().err())?;
    outcome
}

pub(crate) fn unload(module: CUmodule) -> Outcome {
    with(|emulator| {
        emulator.settle_current()?;
        emulator.unload_module(module)
    })
}

pub(crate) fn get_function(function: Out<CUfunction>, module: CUmodule, name: Text) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        function.check("function")?;
        let found = emulator.function_of(module, &name.string("name")?)?;
        function.set("function", found)
    })
}

pub(crate) fn get_global(
    address: Out<CUdeviceptr>,
    bytes: Out<usize>,
    module: CUmodule,
    name: Text,
) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let (found, size) = emulator.global_of(module, &name.string("name")?)?;
        address.set_if_wanted("address", found)?;
        bytes.set_if_wanted("bytes", size as usize)
    })
}

pub(crate) fn loading_mode(mode: Out<c_uint>) -> Outcome {
    // CU_MODULE_EAGER_LOADING
    with(|_| mode.set("mode", 1))
}

pub(crate) fn function_count(count: Out<c_uint>, module: CUmodule) -> Outcome {
    with(|emulator| {
        let kernels = emulator.modules.get(module)?.program.kernels().count();
        count.set("count", kernels as c_uint)
    })
}

pub(crate) fn enumerate_functions(
    functions: Out<CUfunction>,
    count: c_uint,
    module: CUmodule,
) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let program = emulator.modules.get(module)?.program.clone();
        let found: Result<Vec<CUfunction>, ApiError> = program
            .kernels()
            .take(count as usize)
            .map(|kernel| emulator.function_of(module, &kernel.name))
            .collect();
        functions.set_all("functions", &found?)
    })
}

/// A name as C sees it.
pub(crate) fn c_name(name: &str) -> CString {
    // PTX names hold no NUL.
    CString::new(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_name_lists_the_others() {
        let names = ["a", "b"];
        assert_eq!(
            not_found("kernel", "c", names.into_iter()).to_string(),
            "kernel `c` was not found in the module; it has `a`, `b`"
        );
    }
}
