//! Contexts: their life, the stack of each thread, and how a fault sticks.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use super::device::check_device;
use super::{Emulator, with, with_stack};
use crate::error::{ApiError, KernelFault, Outcome};
use crate::output;
use crate::result::CUresult;
use crate::types::*;

/// What `cuCtxGetApiVersion` answers for contexts made by the calls of this version.
const API_VERSION: c_uint = 3020;
/// Least and greatest stream priority of compute capability 9.0.
pub(crate) const PRIORITIES: (c_int, c_int) = (0, -5);

/// `CU_CTX_*` flags that exist; of the scheduling flags (the lowest three bits) one at most.
const CONTEXT_FLAGS: c_uint = 0xFF;
const SCHEDULING_FLAGS: c_uint = 0x07;

/// `CU_LIMIT_STACK_SIZE`
pub(super) const STACK_SIZE: c_uint = 0;
/// `CU_LIMIT_*` by number, with the H200's value in a fresh context; none where it refuses the limit.
pub(super) const LIMITS: [Option<usize>; 7] = [
    Some(1024),      // stack of a thread, bytes
    Some(8_650_752), // buffer of printf, bytes
    Some(8_388_608), // heap of malloc, bytes
    None,       // synchronisation depth of dynamic parallelism: not since compute capability 9.0
    Some(2048), // pending launches of dynamic parallelism
    Some(64),   // largest fetch of the L2 cache, bytes
    Some(0),    // persisting L2 cache, bytes
];
/// Largest stack of a thread, bytes.
const MAX_STACK: usize = ptx_emulator::MAX_LOCAL_BYTES as usize;

/// One context.
pub(crate) struct Context {
    pub flags: c_uint,
    pub(super) is_primary: bool,
    /// False for the primary context while nobody retains it.
    pub(super) active: bool,
    /// Counted by the deprecated cuCtxAttach and cuCtxDetach.
    attached: u32,
    number: u64,
    pub(super) limits: [Option<usize>; 7],
    cache_config: c_uint,
    shared_config: c_uint,
    /// A fault that no synchronising call has reported yet.
    pending: Option<Arc<KernelFault>>,
    /// A reported fault: every call returns it.
    fault: Option<Arc<KernelFault>>,
    /// What kernels printed since the last synchronising call.
    pub output: Vec<u8>,
}

impl Context {
    fn new(flags: c_uint, is_primary: bool, number: u64) -> Context {
        Context {
            flags,
            is_primary,
            active: true,
            attached: 1,
            number,
            limits: LIMITS,
            cache_config: 0,
            shared_config: 1,
            pending: None,
            fault: None,
            output: Vec::new(),
        }
    }

    /// Keeps a launch's fault; the first one counts.
    pub(crate) fn fail(&mut self, fault: KernelFault) {
        self.pending.get_or_insert_with(|| Arc::new(fault));
    }

    /// Refuses what is asked of a context that a fault was reported in.
    pub(super) fn check(&self) -> Outcome {
        match &self.fault {
            Some(fault) => Err(ApiError::Fault(fault.clone())),
            None => Ok(()),
        }
    }

    /// What a synchronising call would return now.
    pub(crate) fn waiting_result(&self) -> CUresult {
        self.fault
            .as_ref()
            .or(self.pending.as_ref())
            .map_or(CUresult::SUCCESS, |fault| fault.result)
    }

    /// Hands on what kernels printed.
    pub(crate) fn flush(&mut self) {
        if !self.output.is_empty() {
            output::ready(&std::mem::take(&mut self.output));
        }
    }

    /// What a synchronising call does: everything is done already, so it reports.
    pub(super) fn settle(&mut self) -> Outcome {
        self.flush();
        if self.fault.is_none()
            && let Some(fault) = self.pending.take()
        {
            if !fault.lasting {
                return Err(ApiError::Fault(fault));
            }
            self.fault = Some(fault);
        }
        self.check()
    }

    /// A limit's value, for a number that exists and is supported.
    pub(crate) fn limit(&self, limit: c_uint) -> Result<usize, ApiError> {
        match self.limits.get(limit as usize) {
            Some(Some(value)) => Ok(*value),
            Some(None) => Err(ApiError::UnsupportedLimit(limit)),
            None => Err(ApiError::argument("limit", limit, "0 to 6")),
        }
    }
}

impl Emulator {
    /// A live context.
    pub(crate) fn context(&mut self, handle: CUcontext) -> Result<&mut Context, ApiError> {
        match self.contexts.get_mut(handle) {
            Ok(context) if context.active => Ok(context),
            Ok(_) | Err(ApiError::DestroyedHandle { .. }) => {
                Err(ApiError::ContextDestroyed(handle.0))
            }
            Err(_) => Err(ApiError::UnknownContext(handle.0)),
        }
    }

    /// The calling thread's context, whatever state it is in.
    pub(crate) fn current(&mut self) -> Result<CUcontext, ApiError> {
        let handle = with_stack(|stack| stack.last().copied()).ok_or(ApiError::NoContext)?;
        self.context(handle)?;
        Ok(handle)
    }

    /// The calling thread's context, unless a fault was reported in it.
    pub(crate) fn ready(&mut self) -> Result<CUcontext, ApiError> {
        let handle = self.current()?;
        self.context(handle)?.check()?;
        Ok(handle)
    }

    /// For calls that queue work: whether it may be done, or a fault is waiting to be reported and the
    /// work is dropped without a word, as on hardware.
    pub(crate) fn may_queue(&mut self, handle: CUcontext) -> Result<bool, ApiError> {
        let context = self.context(handle)?;
        context.check()?;
        Ok(context.pending.is_none())
    }

    /// Synchronises a context: hands on what was printed and reports a fault.
    pub(crate) fn settle(&mut self, handle: CUcontext) -> Outcome {
        self.context(handle)?.settle()
    }

    /// Synchronises the calling thread's context.
    pub(crate) fn settle_current(&mut self) -> Result<CUcontext, ApiError> {
        let handle = self.current()?;
        self.settle(handle)?;
        Ok(handle)
    }

    pub(super) fn insert_context(&mut self, flags: c_uint, is_primary: bool) -> CUcontext {
        let number = self.contexts.iter().map(|(_, context)| context.number).max().unwrap_or(0) + 1;
        self.contexts.insert(Context::new(flags, is_primary, number))
    }

    /// Gives back what a context holds.
    pub(super) fn empty_context(&mut self, handle: CUcontext) {
        if let Ok(context) = self.contexts.get_mut(handle) {
            context.flush();
            context.pending = None;
        }
        for module in self.modules.remove_where(|module| module.context == handle) {
            self.machine.unload(module.id);
        }
        drop(self.functions.remove_where(|function| function.context == handle));
        for library in self.libraries.values_mut() {
            library.forget_context(handle);
        }
        drop(self.streams.remove_where(|stream| stream.context == handle));
        drop(self.events.remove_where(|event| event.context == handle));
        drop(self.graphs.remove_where(|graph| graph.context == handle));
        drop(self.executables.remove_where(|graph| graph.context == handle));
        drop(self.links.remove_where(|link| link.context == handle));
        self.free_of_context(handle);
    }
}

pub(super) fn check_flags(flags: c_uint) -> Outcome {
    if flags & !CONTEXT_FLAGS != 0 || (flags & SCHEDULING_FLAGS).count_ones() > 1 {
        return Err(ApiError::argument(
            "flags",
            format_args!("{flags:#x}"),
            "one scheduling flag of 1, 2 and 4, and flags up to 0x80",
        ));
    }
    Ok(())
}

pub(crate) fn create(context: Out<CUcontext>, flags: c_uint, device: CUdevice) -> Outcome {
    with(|emulator| {
        context.check("context")?;
        check_flags(flags)?;
        check_device(device)?;
        let handle = emulator.insert_context(flags, false);
        with_stack(|stack| stack.push(handle));
        context.set("context", handle)
    })
}

pub(crate) fn create_v3(
    context: Out<CUcontext>,
    _params: Opaque,
    affinity_count: c_int,
    flags: c_uint,
    device: CUdevice,
) -> Outcome {
    if affinity_count != 0 {
        return Err(ApiError::ExecAffinity);
    }
    create(context, flags, device)
}

pub(crate) fn create_v4(
    context: Out<CUcontext>,
    params: Out<CUctxCreateParams>,
    flags: c_uint,
    device: CUdevice,
) -> Outcome {
    if !params.is_null() {
        let params = params.get("params", 0)?;
        if params.affinity_count != 0 {
            return Err(ApiError::ExecAffinity);
        }
        if !params.cig.is_null() {
            return Err(ApiError::NotSupported {
                name: "cuCtxCreate_v4",
                what: "graphics parameters",
            });
        }
    }
    create(context, flags, device)
}

pub(crate) fn destroy(context: CUcontext) -> Outcome {
    with(|emulator| {
        if emulator.context(context)?.is_primary {
            return Err(ApiError::PrimaryContext(context.0));
        }
        emulator.empty_context(context);
        emulator.contexts.remove(context)?;
        with_stack(|stack| {
            if stack.last() == Some(&context) {
                stack.pop();
            }
        });
        Ok(())
    })
}

pub(crate) fn push(context: CUcontext) -> Outcome {
    with(|emulator| {
        emulator.context(context)?;
        with_stack(|stack| stack.push(context));
        Ok(())
    })
}

pub(crate) fn pop(context: Out<CUcontext>) -> Outcome {
    with(|_| {
        let top = with_stack(Vec::pop).ok_or(ApiError::NoContext)?;
        context.set_if_wanted("context", top)
    })
}

pub(crate) fn set_current(context: CUcontext) -> Outcome {
    with(|emulator| {
        if !context.is_null() {
            emulator.context(context)?;
        }
        with_stack(|stack| {
            stack.pop();
            if !context.is_null() {
                stack.push(context);
            }
        });
        Ok(())
    })
}

pub(crate) fn get_current(context: Out<CUcontext>) -> Outcome {
    with(|_| context.set("context", with_stack(|stack| stack.last().copied()).unwrap_or_default()))
}

pub(crate) fn get_device(device: Out<CUdevice>) -> Outcome {
    with(|emulator| {
        emulator.current()?;
        device.set("device", 0)
    })
}

/// The context named, or the current one for null.
fn named_or_current(emulator: &mut Emulator, context: CUcontext) -> Result<CUcontext, ApiError> {
    if context.is_null() {
        return emulator.current();
    }
    emulator.context(context)?;
    Ok(context)
}

pub(crate) fn get_device_v2(device: Out<CUdevice>, context: CUcontext) -> Outcome {
    with(|emulator| {
        named_or_current(emulator, context)?;
        device.set("device", 0)
    })
}

pub(crate) fn get_flags(flags: Out<c_uint>) -> Outcome {
    with(|emulator| {
        let handle = emulator.current()?;
        flags.set("flags", emulator.context(handle)?.flags)
    })
}

pub(crate) fn set_flags(flags: c_uint) -> Outcome {
    with(|emulator| {
        let handle = emulator.current()?;
        check_flags(flags)?;
        emulator.context(handle)?.flags = flags;
        Ok(())
    })
}

pub(crate) fn get_id(context: CUcontext, id: Out<u64>) -> Outcome {
    with(|emulator| {
        let handle = named_or_current(emulator, context)?;
        id.set("ctx_id", emulator.context(handle)?.number)
    })
}

pub(crate) fn synchronize() -> Outcome {
    with(|emulator| emulator.settle_current().map(drop))
}

pub(crate) fn synchronize_v2(context: CUcontext) -> Outcome {
    with(|emulator| {
        let handle = named_or_current(emulator, context)?;
        emulator.settle(handle)
    })
}

pub(crate) fn set_limit(limit: c_uint, value: usize) -> Outcome {
    with(|emulator| {
        let handle = emulator.ready()?;
        let context = emulator.context(handle)?;
        context.limit(limit)?;
        if limit == STACK_SIZE && value > MAX_STACK {
            return Err(ApiError::argument(
                "value",
                format_args!("{value} bytes of stack"),
                format_args!("at most {MAX_STACK} bytes"),
            ));
        }
        if let Some(place) = context.limits.get_mut(limit as usize) {
            *place = Some(value);
        }
        Ok(())
    })
}

pub(crate) fn get_limit(value: Out<usize>, limit: c_uint) -> Outcome {
    with(|emulator| {
        let handle = emulator.ready()?;
        value.set("value", emulator.context(handle)?.limit(limit)?)
    })
}

pub(crate) fn get_cache_config(config: Out<c_uint>) -> Outcome {
    with(|emulator| {
        let handle = emulator.ready()?;
        config.set("config", emulator.context(handle)?.cache_config)
    })
}

/// Refuses what is no `CUfunc_cache`.
pub(crate) fn check_cache_config(config: c_uint) -> Outcome {
    if config > 3 { Err(ApiError::argument("config", config, "0 to 3")) } else { Ok(()) }
}

/// Refuses what is no `CUsharedconfig`.
pub(crate) fn check_shared_config(config: c_uint) -> Outcome {
    if config > 2 { Err(ApiError::argument("config", config, "0 to 2")) } else { Ok(()) }
}

pub(crate) fn set_cache_config(config: c_uint) -> Outcome {
    with(|emulator| {
        let handle = emulator.ready()?;
        check_cache_config(config)?;
        emulator.context(handle)?.cache_config = config;
        Ok(())
    })
}

pub(crate) fn get_shared_config(config: Out<c_uint>) -> Outcome {
    with(|emulator| {
        let handle = emulator.ready()?;
        config.set("config", emulator.context(handle)?.shared_config)
    })
}

pub(crate) fn set_shared_config(config: c_uint) -> Outcome {
    with(|emulator| {
        let handle = emulator.ready()?;
        check_shared_config(config)?;
        emulator.context(handle)?.shared_config = 1;
        Ok(())
    })
}

pub(crate) fn api_version(context: CUcontext, version: Out<c_uint>) -> Outcome {
    with(|emulator| {
        named_or_current(emulator, context)?;
        version.set("version", API_VERSION)
    })
}

pub(crate) fn stream_priority_range(least: Out<c_int>, greatest: Out<c_int>) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        least.set_if_wanted("least_priority", PRIORITIES.0)?;
        greatest.set_if_wanted("greatest_priority", PRIORITIES.1)
    })
}

pub(crate) fn reset_persisting_l2() -> Outcome {
    with(|emulator| emulator.ready().map(drop))
}

pub(crate) fn attach(context: Out<CUcontext>, flags: c_uint) -> Outcome {
    with(|emulator| {
        context.check("context")?;
        if flags != 0 {
            return Err(ApiError::argument("flags", flags, 0));
        }
        let handle = emulator.current()?;
        let found = emulator.context(handle)?;
        if found.is_primary {
            return Err(ApiError::PrimaryContext(handle.0));
        }
        found.attached += 1;
        context.set("context", handle)
    })
}

pub(crate) fn detach(context: CUcontext) -> Outcome {
    let last = with(|emulator| {
        let found = emulator.context(context)?;
        if found.is_primary {
            return Err(ApiError::PrimaryContext(context.0));
        }
        found.attached -= 1;
        Ok(found.attached == 0)
    })?;
    if last { destroy(context) } else { Ok(()) }
}

pub(crate) fn enable_peer_access(peer: CUcontext, _flags: c_uint) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        emulator.context(peer)?;
        Err(ApiError::NoPeer)
    })
}

pub(crate) fn disable_peer_access(peer: CUcontext) -> Outcome {
    enable_peer_access(peer, 0)
}
