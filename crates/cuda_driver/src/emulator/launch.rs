//! Launches: the checks that a GPU makes, the parameters, the run, and what becomes of a fault.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use ptx_emulator::{Coordination, Ending, Fault, FaultKind, KernelInfo, Launch, Output};

use super::context::STACK_SIZE;
use super::device::limits;
use super::function::{self, Settings, max_dynamic_shared, max_threads};
use super::graph::Node;
use super::{Emulator, occupancy, with};
use crate::error::{ApiError, KernelFault, LaunchProblem, Outcome, Shape};
use crate::result::CUresult;
use crate::types::*;

/// Keys of a launch's `extra` array.
const EXTRA_END: usize = 0;
const EXTRA_BUFFER: usize = 1;
const EXTRA_BUFFER_SIZE: usize = 2;

/// `CUlaunchAttributeID`s that the emulator knows.
const ATTRIBUTE_COOPERATIVE: c_uint = 2;
const ATTRIBUTE_CLUSTER: c_uint = 4;

/// What is asked of a launch.
#[derive(Clone, Copy)]
struct Request {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    cooperative: bool,
    /// Blocks of a cluster, if the launch names them.
    cluster: Option<[u32; 3]>,
}

/// Text that kernels print, collected.
struct Collector<'a>(&'a mut Vec<u8>);

impl Output for Collector<'_> {
    fn print(&mut self, text: &[u8]) {
        self.0.extend_from_slice(text);
    }
}

/// Makes the checks of a launch's shape that an H200 makes (recorded), in a fixed order.
fn check_shape(
    kernel: &KernelInfo,
    settings: Settings,
    request: &Request,
) -> Result<(), LaunchProblem> {
    let Request { grid, block, shared, .. } = *request;
    if grid.contains(&0) {
        return Err(LaunchProblem::EmptyGrid(Shape(grid)));
    }
    if block.contains(&0) {
        return Err(LaunchProblem::EmptyBlock(Shape(block)));
    }
    for (index, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
        if grid[index] > limits::GRID[index] {
            return Err(LaunchProblem::GridDimension {
                axis,
                asked: grid[index],
                limit: limits::GRID[index],
            });
        }
    }
    let threads =
        block.iter().map(|n| u64::from(*n)).try_fold(1_u64, u64::checked_mul).unwrap_or(u64::MAX);
    if threads > u64::from(limits::THREADS) {
        return Err(LaunchProblem::Threads {
            threads,
            block: Shape(block),
            limit: limits::THREADS,
            reason: "",
        });
    }
    for (index, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
        if block[index] > limits::BLOCK[index] {
            return Err(LaunchProblem::BlockDimension {
                axis,
                asked: block[index],
                limit: limits::BLOCK[index],
            });
        }
    }
    if let Some(required) = kernel.required_threads
        && required != block
    {
        return Err(LaunchProblem::RequiredBlock {
            asked: Shape(block),
            required: Shape(required),
        });
    }
    let limit = max_threads(kernel);
    if threads > u64::from(limit) {
        return Err(LaunchProblem::Threads {
            threads,
            block: Shape(block),
            limit,
            reason: " (the kernel's .maxntid)",
        });
    }
    let fixed = kernel.static_shared_bytes;
    if shared > max_dynamic_shared(kernel, settings) {
        let (limit, help) = match settings.max_dynamic_shared {
            Some(dynamic) => {
                (fixed.saturating_add(dynamic), "\nhelp: the kernel opted in to less than is asked")
            }
            None => (
                limits::SHARED,
                "\nhelp: opt in to more, up to 232448 bytes, with \
                 cuFuncSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
            ),
        };
        return Err(LaunchProblem::Shared { asked: shared, fixed, limit, help });
    }
    if fixed > limits::SHARED {
        return Err(LaunchProblem::Shared {
            asked: shared,
            fixed,
            limit: limits::SHARED,
            help: "",
        });
    }
    if request.cooperative {
        let asked = grid.iter().map(|n| u64::from(*n)).product();
        // A block has at most 1024 threads here.
        let limit = occupancy::resident_blocks(kernel, threads as u32, shared);
        if asked > limit {
            return Err(LaunchProblem::Cooperative { asked, limit });
        }
    }
    Ok(())
}

/// The launch's clusters, which its kernel may `require`. The grid has to be made of whole ones.
fn cluster(
    required: Option<[u32; 3]>,
    request: &Request,
) -> Result<Option<[u32; 3]>, LaunchProblem> {
    if let (Some(required), Some(asked)) = (required, request.cluster)
        && required != asked
    {
        let (asked, required) = (Shape(asked), Shape(required));
        return Err(LaunchProblem::RequiredCluster { asked, required });
    }
    let Some(cluster) = request.cluster.or(required) else {
        return Ok(None);
    };
    let blocks = cluster.iter().fold(1_u64, |all, size| all.saturating_mul(u64::from(*size)));
    if blocks > u64::from(limits::CLUSTER) {
        let (cluster, limit) = (Shape(cluster), limits::CLUSTER);
        return Err(LaunchProblem::ClusterSize { cluster, limit });
    }
    let grid = request.grid;
    if grid.iter().zip(&cluster).any(|(blocks, size)| !blocks.is_multiple_of(*size)) {
        return Err(LaunchProblem::Cluster { grid: Shape(grid), cluster: Shape(cluster) });
    }
    Ok(Some(cluster))
}

/// The parameter block, from whichever of the two ways the caller chose.
fn parameters(
    kernel: &KernelInfo,
    list: Out<*mut c_void>,
    extra: Out<*mut c_void>,
) -> Result<Vec<u8>, ApiError> {
    let problem = |problem| ApiError::Launch { kernel: kernel.name.clone(), problem };
    if !list.is_null() && !extra.is_null() {
        return Err(problem(LaunchProblem::TwoParameterLists));
    }
    if kernel.params.is_empty() {
        return Ok(vec![0; kernel.param_bytes as usize]);
    }
    if !extra.is_null() {
        return parameter_buffer(kernel, extra);
    }
    if list.is_null() {
        return Err(problem(LaunchProblem::NoParameters(kernel.params.len())));
    }
    let mut block = vec![0; kernel.param_bytes as usize];
    for (index, parameter) in kernel.params.iter().enumerate() {
        let pointer = list.host_pointer("kernel_params", index)?;
        if pointer.is_null() {
            let (name, bytes) = (parameter.name.clone(), parameter.bytes);
            return Err(problem(LaunchProblem::NullParameter { index, name, bytes }));
        }
        let (offset, bytes) = (parameter.offset as usize, parameter.bytes as usize);
        let value = pointer.read("kernel_params", bytes)?;
        if let Some(place) = block.get_mut(offset..offset + bytes) {
            place.copy_from_slice(value);
        }
    }
    Ok(block)
}

/// The parameter block that `extra` points to.
fn parameter_buffer(kernel: &KernelInfo, extra: Out<*mut c_void>) -> Result<Vec<u8>, ApiError> {
    let problem = |problem| ApiError::Launch { kernel: kernel.name.clone(), problem };
    let (mut buffer, mut size) = (None, None);
    let mut index = 0;
    loop {
        match extra.get("extra", index)?.addr() {
            EXTRA_END => break,
            EXTRA_BUFFER => buffer = Some(extra.host_pointer("extra", index + 1)?),
            EXTRA_BUFFER_SIZE => {
                size = Some(
                    extra
                        .host_pointer("extra", index + 1)?
                        .out::<usize>()
                        .get("extra buffer size", 0)?,
                );
            }
            key => return Err(problem(LaunchProblem::ExtraKey(key))),
        }
        index += 2;
    }
    let (Some(buffer), Some(size)) = (buffer, size) else {
        return Err(problem(LaunchProblem::NoParameters(kernel.params.len())));
    };
    let needed = kernel.param_bytes;
    if size < needed as usize {
        return Err(problem(LaunchProblem::ParameterBuffer { found: size, needed }));
    }
    Ok(buffer.read("extra buffer", needed as usize)?.to_vec())
}

/// What the driver returns for a kernel's fault (recorded on an H200 where a GPU has the fault).
fn fault_result(fault: &Fault) -> CUresult {
    match fault.kind() {
        // A stack that overflows runs into unmapped memory.
        FaultKind::IllegalAddress | FaultKind::StackOverflow => CUresult::ILLEGAL_ADDRESS,
        FaultKind::MisalignedAddress => CUresult::MISALIGNED_ADDRESS,
        FaultKind::InvalidAddressSpace => CUresult::INVALID_ADDRESS_SPACE,
        FaultKind::InvalidPc => CUresult::INVALID_PC,
        FaultKind::Assert { .. } => CUresult::ASSERT,
        // On a GPU these would run for ever, or until a watchdog ends them.
        FaultKind::Deadlock | FaultKind::FuelExhausted => CUresult::LAUNCH_TIMEOUT,
        FaultKind::OutOfHostMemory => CUresult::OUT_OF_MEMORY,
        FaultKind::BadLaunch { .. } => CUresult::INVALID_VALUE,
        // What follows the function's last instruction is no instruction.
        FaultKind::FellOffEnd => CUresult::ILLEGAL_INSTRUCTION,
        // Of mbarrier objects and matrices.
        FaultKind::NotSharedMemory => CUresult::ILLEGAL_INSTRUCTION,
        _ => match fault.ending() {
            Ending::Unsupported => CUresult::NOT_SUPPORTED,
            Ending::LimitReached => CUresult::LAUNCH_TIMEOUT,
            Ending::KernelBug | Ending::HostMisuse => CUresult::LAUNCH_FAILED,
        },
    }
}

impl Emulator {
    /// What a context keeps of a fault.
    fn kernel_fault(&self, fault: &Fault) -> KernelFault {
        let unnoticed = *fault.kind() == FaultKind::IllegalAddress
            && fault
                .access()
                .is_some_and(|access| access.space == "global" && self.is_mapped(access.address));
        let mut text = fault.to_string();
        if unnoticed {
            text.push_str(
                "\nnote: a GPU maps memory in pages of 2 MiB; this page holds other memory, so there the kernel \
                 would go on unnoticed",
            );
        }
        KernelFault {
            text,
            ending: fault.ending(),
            result: fault_result(fault),
            // Nothing is lost with a kernel that only the emulator cannot execute: a GPU would have.
            lasting: !unnoticed && fault.ending() != Ending::Unsupported,
        }
    }

    fn run(
        &mut self,
        function: CUfunction,
        request: &Request,
        stream: CUstream,
        list: Out<*mut c_void>,
        extra: Out<*mut c_void>,
    ) -> Outcome {
        let context = self.stream_context(stream)?;
        let may_queue = self.may_queue(context)?;
        let (program, name, settings) = self.kernel_of(function)?;
        let function = self.resolve_function(function)?;
        let (owner, module) = {
            let found = self.functions.get(function)?;
            (found.context, found.module)
        };
        if owner != context {
            return Err(ApiError::ForeignHandle { kind: "function", value: function.0 });
        }
        let kernel = function::info(&program, &name)?;
        let cluster = check_shape(kernel, settings, request)
            .and_then(|()| cluster(kernel.required_cluster, request))
            .map_err(|problem| ApiError::Launch { kernel: name.clone(), problem })?;
        let params = parameters(kernel, list, extra)?;
        let request = &Request { cluster, ..*request };
        if self.capture_of(stream).is_some() {
            let request = *request;
            let work = move |emulator: &mut Emulator| {
                let may_queue = emulator.may_queue(context)?;
                emulator.start(context, module, &name, &request, &params, may_queue)
            };
            return self.capture(stream, Node::Device(Arc::new(work)));
        }
        self.start(context, module, &name, request, &params, may_queue)
    }

    /// Runs a launch that was found to be in order.
    fn start(
        &mut self,
        context: CUcontext,
        module: CUmodule,
        name: &str,
        request: &Request,
        params: &[u8],
        may_queue: bool,
    ) -> Outcome {
        // What earlier kernels printed is written at the start of a launch (CUDA C++ Programming Guide,
        // Formatted Output).
        self.context(context)?.flush();
        if !may_queue {
            return Ok(());
        }
        let stack = self.context(context)?.limit(STACK_SIZE)?;
        self.machine.set_stack_limit(u32::try_from(stack).unwrap_or(u32::MAX));
        let module = self.modules.get(module)?.id;
        let launch = Launch {
            kernel: name,
            grid: request.grid,
            block: request.block,
            dynamic_shared_bytes: request.shared,
            params,
        };
        self.mirrors_in()?;
        let mut printed = Vec::new();
        let output = &mut Collector(&mut printed);
        let Request { cooperative, cluster, .. } = *request;
        let coordination = Coordination { cooperative, cluster };
        let outcome = self.machine.launch_together(module, &launch, coordination, output);
        self.observe();
        self.mirrors_out()?;
        let fault = outcome.err().map(|fault| self.kernel_fault(&fault));
        let context = self.context(context)?;
        context.output.append(&mut printed);
        if let Some(fault) = fault {
            context.fail(fault);
        }
        Ok(())
    }
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn kernel(
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: CUstream,
    params: Out<*mut c_void>,
    extra: Out<*mut c_void>,
) -> Outcome {
    let request = Request {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        shared,
        cooperative: false,
        cluster: None,
    };
    with(|emulator| emulator.run(function, &request, stream, params, extra))
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn cooperative(
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: CUstream,
    params: Out<*mut c_void>,
) -> Outcome {
    let request = Request {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        shared,
        cooperative: true,
        cluster: None,
    };
    with(|emulator| emulator.run(function, &request, stream, params, Out::null()))
}

pub(crate) fn kernel_ex(
    config: In<CUlaunchConfig>,
    function: CUfunction,
    params: Out<*mut c_void>,
    extra: Out<*mut c_void>,
) -> Outcome {
    let config = config.read("config")?;
    let mut request = Request {
        grid: config.grid,
        block: config.block,
        shared: config.shared_mem_bytes,
        cooperative: false,
        cluster: None,
    };
    for index in 0..config.attribute_count as usize {
        let attribute = config.attributes.get("config.attrs", index)?;
        match attribute.id {
            ATTRIBUTE_COOPERATIVE => request.cooperative = attribute.value[0] as u32 != 0,
            ATTRIBUTE_CLUSTER => {
                // Three 32-bit sizes; 1 x 1 x 1 (or 0) is no cluster.
                let [first, second, ..] = attribute.value;
                let sizes = [first as u32, (first >> 32) as u32, second as u32];
                let is_cluster = sizes.iter().any(|size| *size > 1);
                request.cluster = is_cluster.then_some(sizes.map(|size| size.max(1)));
            }
            // Hints of scheduling and caching.
            _ => {}
        }
    }
    with(|emulator| emulator.run(function, &request, config.stream, params, extra))
}

pub(crate) fn host_function(stream: CUstream, function: CUhostFn, user_data: HostPtr) -> Outcome {
    let Some(function) = function else { return Err(ApiError::NullPointer { name: "function" }) };
    let call = with(|emulator| {
        let context = emulator.stream_context(stream)?;
        let may_queue = emulator.may_queue(context)?;
        if emulator.capture_of(stream).is_some() {
            emulator.capture(stream, Node::Host(Some(function), user_data))?;
            return Ok(false);
        }
        emulator.context(context)?.flush();
        Ok(may_queue)
    })?;
    if call {
        // SAFETY: the caller vouches for the function and its data; the lock is not held, so it may call back.
        unsafe { function(user_data.raw()) };
    }
    Ok(())
}
