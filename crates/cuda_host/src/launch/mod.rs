//! `launch!`: check a launch, then hand it to the driver.

mod extent;
mod macros;
mod shape;
mod together;
mod transfer;

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cuda_std::launch::{ArgumentFault, Arguments, KernelInfo};

pub use extent::{LaunchSize, SharedBytes};
pub use together::Together;

use crate::device::DeviceState;
use crate::error::{Problem, Result};
use crate::module::Function;
use crate::stream::Stream;
use crate::sys;
use shape::Plan;
use transfer::Transfers;

/// What [`launch!`](crate::launch!) expands to: runs `arguments`' kernel on `grid` blocks of `block` threads, with
/// `shared` bytes of dynamic shared memory, on `stream` (`None`: the default stream).
///
/// It runs on the device that its arguments lie on; without device arguments on the stream's; without either on the
/// device that this thread opened or selected last.
///
/// Safe, since whoever made `arguments` has answered for the kernel already.
///
/// # Errors
/// If no module has the kernel, the PTX does not fit the signature, or grid, block or shared memory exceed what the device
/// or the kernel allows: all found before the driver is asked. If the driver refuses the launch. With host slices among
/// the arguments, also whatever the kernel fails with.
pub fn submit(
    arguments: Arguments<'_>,
    grid: impl LaunchSize,
    block: impl LaunchSize,
    shared: impl SharedBytes,
    stream: Option<&Stream>,
) -> Result<()> {
    submit_together(arguments, grid, block, shared, stream, Together::new())
}

/// [`submit`] with what the blocks do `together`: what [`launch!`](crate::launch!) expands to where its brackets have a `;`.
///
/// # Errors
/// As for [`submit`], and if the device, the kernel or the grid do not allow the clusters, or the device cannot hold all blocks of a
/// cooperative launch at the same time.
pub fn submit_together(
    arguments: Arguments<'_>,
    grid: impl LaunchSize,
    block: impl LaunchSize,
    shared: impl SharedBytes,
    stream: Option<&Stream>,
    together: Together,
) -> Result<()> {
    run(arguments, (grid.axes(), block.axes(), shared.bytes()), stream, together)
}

/// How many blocks of a kernel the device holds at the same time.
pub(crate) fn resident_blocks(
    state: &Arc<DeviceState>,
    kernel: &str,
    block: impl LaunchSize,
    shared: impl SharedBytes,
) -> Result<u64> {
    let function = state.function(kernel)?;
    let plan = Plan::check(kernel, [1; 3], block.axes(), shared.bytes(), &state.attributes)?;
    let plan = plan.for_kernel(kernel, &function.attributes, &state.attributes)?;
    state.bind()?;
    plan.reserve_shared(state, &function)?;
    let threads = plan.block.iter().product();
    let each = together::resident_blocks(state, &function, threads, plan.shared)?;
    Ok(u64::from(each) * u64::from(state.attributes.multiprocessors))
}

fn run(
    mut arguments: Arguments<'_>,
    (grid, block, shared): ([i128; 3], [i128; 3], i128),
    stream: Option<&Stream>,
    together: Together,
) -> Result<()> {
    let kernel = arguments.kernel();
    if let Some(fault) = arguments.fault() {
        return Err(refused(kernel, fault).into());
    }
    let state = device(&arguments, stream)?;
    let plan = Plan::check(kernel.name, grid, block, shared, &state.attributes)?;
    let function = state.function(kernel.name)?;
    function.check_parameters(kernel, arguments.packed())?;
    let plan = plan.for_kernel(kernel.name, &function.attributes, &state.attributes)?;

    let refused = |problem| Problem::Shape { kernel: kernel.name.into(), problem };
    let cluster =
        together.check(plan.grid, &function.attributes, &state.attributes).map_err(refused)?;

    state.bind()?;
    plan.reserve_shared(&state, &function)?;
    if together.cooperative {
        plan.check_resident(&state, &function)?.map_err(refused)?;
    }
    let transfers = Transfers::begin(&state, &mut arguments)?;
    let mut params = arguments.pointers();
    let stream_raw = stream.map_or(ptr::null_mut(), Stream::raw);
    // SAFETY: the function's module is loaded; `params` has one pointer for each parameter of the entry
    // (`check_parameters`), each to as many bytes as it takes, and the driver copies them before it returns. What the
    // kernel does with them is what the maker of `arguments` answered for.
    let code = unsafe {
        start(&function, &plan, (together.cooperative, cluster), stream_raw, &mut params)
    };
    state.after(code, || format!("launch kernel `{}`", kernel.name))?;
    state.note_launch(kernel.name);
    transfers.finish(stream)
}

/// Hands a launch to the driver.
///
/// # Safety
/// The function's module is loaded, the stream is one of its device or null, and `params` points to as many bytes for each parameter
/// as it has.
unsafe fn start(
    function: &Function,
    plan: &Plan,
    (cooperative, cluster): (bool, Option<[u32; 3]>),
    stream: sys::CUstream,
    params: &mut [*mut c_void],
) -> sys::Code {
    let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (plan.grid, plan.block);
    let params = params.as_mut_ptr();
    if let Some(cluster) = cluster {
        let mut attributes = [
            sys::LaunchAttribute::cluster(cluster),
            sys::LaunchAttribute::cooperative(cooperative),
        ];
        let config = sys::LaunchConfig {
            grid: plan.grid,
            block: plan.block,
            shared_bytes: plan.shared,
            stream,
            attributes: attributes.as_mut_ptr(),
            attribute_count: if cooperative { 2 } else { 1 },
        };
        // SAFETY: the caller's promise; the configuration and its attributes outlive the call.
        return unsafe { sys::cuLaunchKernelEx(&config, function.raw, params, ptr::null_mut()) };
    }
    if cooperative {
        // SAFETY: the caller's promise.
        return unsafe {
            sys::cuLaunchCooperativeKernel(
                function.raw,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                plan.shared,
                stream,
                params,
            )
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        sys::cuLaunchKernel(
            function.raw,
            grid_x,
            grid_y,
            grid_z,
            block_x,
            block_y,
            block_z,
            plan.shared,
            stream,
            params,
            ptr::null_mut(),
        )
    }
}

/// The device to run on.
fn device(arguments: &Arguments<'_>, stream: Option<&Stream>) -> Result<Arc<DeviceState>> {
    let by_arguments = arguments.device().and_then(DeviceState::with_tag);
    match (by_arguments, stream) {
        (Some(state), Some(stream)) if !Arc::ptr_eq(&state, stream.state()) => {
            Err(Problem::StreamDevice {
                kernel: arguments.kernel().name,
                stream: stream.state().ordinal,
                arguments: state.ordinal,
            }
            .into())
        }
        (Some(state), _) => Ok(state),
        (None, Some(stream)) => Ok(Arc::clone(stream.state())),
        (None, None) => DeviceState::current(),
    }
}

/// Arguments that fit no launch.
fn refused(kernel: &'static KernelInfo, fault: ArgumentFault) -> Problem {
    let name = |index: usize| kernel.params.get(index).map_or("?", |param| param.name);
    match fault {
        ArgumentFault::DifferentDevices { first, other } => Problem::DifferentDevices {
            kernel: kernel.name,
            first: name(first),
            other: name(other),
        },
        ArgumentFault::EmptyReference { declared } => {
            Problem::EmptyReference { kernel: kernel.name, param: name(declared) }
        }
        ArgumentFault::ColumnMajor { declared } => {
            Problem::ColumnMajor { kernel: kernel.name, param: name(declared) }
        }
        other => Problem::Argument { kernel: kernel.name, fault: format!("{other:?}") },
    }
}
