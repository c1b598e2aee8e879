//! `launch!`: check a launch, then hand it to the driver.

mod extent;
mod macros;
mod shape;
mod transfer;

use std::ptr;
use std::sync::Arc;

use cuda_std::launch::{ArgumentFault, Arguments, KernelInfo};

pub use extent::{LaunchSize, SharedBytes};

use crate::device::DeviceState;
use crate::error::{Problem, Result};
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
    run(arguments, grid.axes(), block.axes(), shared.bytes(), stream)
}

fn run(
    mut arguments: Arguments<'_>,
    grid: [i128; 3],
    block: [i128; 3],
    shared: i128,
    stream: Option<&Stream>,
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

    state.bind()?;
    plan.reserve_shared(&state, &function)?;
    let transfers = Transfers::begin(&state, &mut arguments)?;
    let mut params = arguments.pointers();
    let [grid_x, grid_y, grid_z] = plan.grid;
    let [block_x, block_y, block_z] = plan.block;
    // SAFETY: the function's module is loaded; `params` has one pointer for each parameter of the entry
    // (`check_parameters`), each to as many bytes as it takes, and the driver copies them before it returns. What the
    // kernel does with them is what the maker of `arguments` answered for.
    let code = unsafe {
        sys::cuLaunchKernel(
            function.raw,
            grid_x,
            grid_y,
            grid_z,
            block_x,
            block_y,
            block_z,
            plan.shared,
            stream.map_or(ptr::null_mut(), Stream::raw),
            params.as_mut_ptr(),
            ptr::null_mut(),
        )
    };
    state.after(code, || format!("launch kernel `{}`", kernel.name))?;
    state.note_launch(kernel.name);
    transfers.finish(stream)
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
