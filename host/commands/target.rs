//! What `check` and `profile` run: a kernel of this program or of a PTX file.

use std::path::{Path, PathBuf};

use ptx_emulator::{Coordination, MachineConfig};

use crate::KERNELS_PTX;
use crate::cli::{LaunchArgs, TargetArgs};
use crate::emulate::{ArgumentError, Job, Ran, Shape, defaults};
use crate::error::Error;

/// Reads a PTX file.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path)
        .map_err(|source| Error::Read { path: PathBuf::from(path), source })
}

/// The machine that the options ask for.
pub(super) fn config(launch: &LaunchArgs) -> MachineConfig {
    let mut config = MachineConfig::default();
    config.schedule_seed = launch.seed;
    config.jobs = launch.jobs;
    config.stack_limit = launch.stack;
    if launch.fuel.is_some() {
        config.fuel = launch.fuel;
    }
    config
}

/// What the blocks do together.
pub(super) fn coordination(launch: &LaunchArgs) -> Coordination {
    let cluster = launch.cluster.map(|Shape(blocks)| blocks);
    Coordination { cooperative: launch.cooperative, cluster }
}

/// Runs the kernel that is asked for.
pub(super) fn run(target: &TargetArgs, config: MachineConfig) -> Result<Ran, Error> {
    let launch = &target.launch;
    let coordination = coordination(launch);
    let path = Path::new(&target.target);
    if path.extension().is_some_and(|extension| extension == "ptx") {
        return Job {
            source: &read(path)?,
            place: &target.target,
            kernel: target.kernel.as_deref(),
            grid: launch.grid,
            block: launch.block,
            shared: launch.shared,
            coordination,
            arguments: &launch.arguments,
            config,
        }
        .run();
    }
    let name = target.target.as_str();
    let job = |grid, block, shared, arguments: &[_]| {
        let (source, place) = (KERNELS_PTX, "this program");
        Job {
            source,
            place,
            kernel: Some(name),
            grid,
            block,
            shared,
            coordination,
            arguments,
            config,
        }
        .run()
    };
    if !launch.arguments.is_empty() {
        return job(launch.grid, launch.block, launch.shared, &launch.arguments);
    }
    match defaults::of(name, target.size)? {
        Some(inputs) => job(inputs.grid, inputs.block, inputs.shared, &inputs.arguments),
        // Says which kernels there are, if there is none of that name.
        None => match crate::kernel_text::kernels(KERNELS_PTX, "this program")? {
            kernels if kernels.iter().any(|kernel| kernel.name == name) => {
                Err(ArgumentError::NoDefaults { kernel: name.to_owned() }.into())
            }
            kernels => Err(Error::UnknownKernel {
                name: name.to_owned(),
                place: "this program".to_owned(),
                known: kernels.into_iter().map(|kernel| kernel.name).collect(),
            }),
        },
    }
}
