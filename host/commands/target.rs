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

/// The launch of a kernel as the options have it.
pub(super) fn job<'a>(
    source: &'a str,
    place: &'a str,
    kernel: Option<&'a str>,
    launch: &'a LaunchArgs,
    config: MachineConfig,
) -> Job<'a> {
    let cluster = launch.cluster.map(|Shape(blocks)| blocks);
    Job {
        source,
        place,
        kernel,
        grid: launch.grid,
        block: launch.block,
        shared: launch.shared,
        coordination: Coordination { cooperative: launch.cooperative, cluster },
        arguments: &launch.arguments,
        config,
    }
}

/// Runs the kernel that is asked for.
pub(super) fn run(target: &TargetArgs, config: MachineConfig) -> Result<Ran, Error> {
    let launch = &target.launch;
    let path = Path::new(&target.target);
    if path.extension().is_some_and(|extension| extension == "ptx") {
        let source = read(path)?;
        return job(&source, &target.target, target.kernel.as_deref(), launch, config).run();
    }
    let name = target.target.as_str();
    let job = job(KERNELS_PTX, "this program", Some(name), launch, config);
    if !launch.arguments.is_empty() {
        return job.run();
    }
    match defaults::of(name, target.size)? {
        Some(inputs) => {
            let (grid, block, shared) = (inputs.grid, inputs.block, inputs.shared);
            Job { grid, block, shared, arguments: &inputs.arguments, ..job }.run()
        }
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
