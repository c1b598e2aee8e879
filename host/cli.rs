//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use ptx_emulator::{CheckSet, Jobs, MAX_LOCAL_BYTES, MachineConfig};

use crate::emulate::{Argument, Shape};

/// What every help text ends with.
const EXIT_CODES: &str = "\
Exit codes:
  0  everything worked and every result was right
  1  a kernel failed, a check found an error, or a result differs from its reference
  2  the command line, an input file or an output file is not usable
  3  the kernel needs something that the emulator does not do
  4  the toolchain, the driver or the device is missing or failed

Environment:
  CUDA_DRIVER_BACKEND  auto (default): the GPU if there is one, else the emulator
                       gpu: the GPU, or exit code 4 if there is none
                       emulator: the CPU executes the kernels' PTX
  FERROWARP_CHECK      checks for the emulator, as --check; what they find goes to
                       standard error and does not change the exit code
  FERROWARP_JOBS       threads that run a kernel's blocks on the emulator, as --jobs of emulate
                       [default: 1]";

/// The whole help of `emulate`: brackets in a doc comment would be links.
const EMULATE: &str = "\
Run a kernel of any PTX file on the emulator, with arguments from the command line and from .npy files

No GPU is used, whatever CUDA_DRIVER_BACKEND says. Give one --arg for each parameter of the kernel, in order:

  u32:5  i64:-3  f32:1.5  b32:0xff      a number: u8 to u64, i8 to i64, f16, bf16, f32, f64
  in:a.npy                              a pointer to the array in the file
  inout:a.npy:b.npy                     the same; the result goes to the second file
  out:f32[32,32]:r.npy                  an array that nobody has written; its file gets the result
  zeros:u32[8]:r.npy                    the same, filled with zeros first
  value:s.npy                           the bytes are the parameter: a structure by value

Without `:r.npy` the first elements are shown. Arrays are in C order; a file may have any order and byte order. Elements \
of an `out` array that the kernel does not write have the bytes 0xCB. A kernel with slices (`&[f32]`) takes a pointer and a \
length, a u64, for each.";

/// CUDA kernels in plain Rust, with Numba's way of working, on a GPU or on an emulator.
///
/// The kernels are ordinary Rust functions in the folder kernels/. The build turned them into PTX, which is inside this
/// program. On a machine with an NVIDIA GPU the driver runs that PTX; on any other machine an emulator in this program
/// executes the same PTX on the CPU. The commands below show, in order: that a kernel runs (hello), what the machine
/// offers (doctor, devices), how a kernel looks to the machine (inspect), Rust types shared by both sides (transform),
/// what makes a kernel fast (matmul), any PTX on the emulator (emulate), what is wrong
/// with a kernel (check), what it does (profile), and how fast the emulator is (bench). `new` makes a project of your own.
///
/// Without a command: the hello kernels, then the matrix product in six functions.
#[derive(Debug, Parser)]
#[command(name = "ferrowarp", version, after_help = EXIT_CODES, propagate_version = true)]
pub struct Cli {
    /// Write one JSON value to standard output instead of text
    ///
    /// An error is then the value {"error": "...", "exit_code": N}, and its text also goes to standard error as usual. What kernels print is
    /// part of the value (hello, emulate, and no command).
    #[arg(long, global = true)]
    pub json: bool,

    /// Let checks watch the kernels: memcheck, racecheck, initcheck, synccheck, with commas between them, or all
    ///
    /// The kernels then run on the emulator, whatever CUDA_DRIVER_BACKEND says. What the checks find is shown at the end, with --json
    /// as the field `findings`; a finding that is an error is exit code 1, a warning is not.
    #[arg(long, global = true, value_name = "CHECKS")]
    pub check: Option<CheckSet>,

    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check everything that building and running needs, and say what to do about what is missing
    ///
    /// Each line is `ok`, `missing` (exit code 4) or `absent` (optional: only what the line names does not work without it).
    #[command(after_help = EXIT_CODES)]
    Doctor,

    /// List the devices that kernels can run on, with their limits
    #[command(after_help = EXIT_CODES)]
    Devices,

    /// Launch the hello kernel: every thread prints its index in the grid
    ///
    /// Each thread prints threadIdx.x + blockIdx.x * blockDim.x. The launch returns at once; the text appears when the host waits for
    /// the device. In which order blocks print is up to the device. A GPU keeps only the last megabyte or so of what kernels print.
    #[command(after_help = EXIT_CODES)]
    Hello(HelloArgs),

    /// Show a kernel as the machine gets it: PTX, LLVM IR or SASS, its parameters, registers and memory
    ///
    /// Registers and shared memory come from ptxas where it is installed (PATH, CUDA_HOME, CUDA_PATH or the variable
    /// PTXAS); without it, shared memory comes from the PTX, and the registers a GPU will use are not known.
    #[command(after_help = EXIT_CODES)]
    Inspect(InspectArgs),

    /// Rotate and project points with a kernel whose parameters and arithmetic are nalgebra types
    ///
    /// The kernel and the host call the same Rust function on `Matrix4<f32>` and `Vector4<f32>`; the results are compared. A result
    /// that differs by more than rounding explains is exit code 1.
    #[command(after_help = EXIT_CODES)]
    Transform(TransformArgs),

    /// Multiply two matrices in six ways and compare their speed and accuracy
    ///
    /// cpu_mat_mul is three plain loops on one core; cpu_mat_mul_fast is nalgebra's product on all cores.
    /// mat_mul_naive_kernel reads every operand from global memory, mat_mul_shared_kernel stages tiles in shared memory;
    /// both are timed on the device alone. host_naive is the whole way with the naive kernel: allocate, copy A and B to the
    /// device, launch, copy C back. host_optimized is the whole way with the shared kernel and page-locked host memory, with
    /// device memory that is allocated once.
    ///
    /// Every result is compared with a product in f64; a difference that rounding cannot explain is exit code 1.
    /// max_abs_err is the largest |c - reference|, max_rel_err the largest |c - reference| / |reference|.
    #[command(after_help = EXIT_CODES)]
    Matmul(MatmulArgs),

    /// Run a kernel of any PTX file on the emulator, with arguments from the command line and from .npy files
    #[command(after_help = EXIT_CODES, long_about = EMULATE)]
    Emulate(EmulateArgs),

    /// Run one kernel on the emulator and look for races, uninitialised memory, misused barriers and leaks
    ///
    /// A kernel of this program runs with inputs of its own (see --size), or with those that --arg gives; a kernel of a PTX file
    /// needs --arg, as with `emulate`. All checks watch, unless --check names some. What is found is shown with kernel, threads, memory,
    /// PTX line and source line; an error is exit code 1, a warning is not. Nothing found means that nothing was wrong in this
    /// launch with these inputs; --seed runs it in another order.
    #[command(after_help = EXIT_CODES)]
    Check(TargetArgs),

    /// Run one kernel on the emulator and show what it did: instructions, lanes, memory traffic, bank conflicts
    ///
    /// As with `check`, a kernel of this program or of a PTX file. A table of totals, then a line for each line of the kernel's
    /// source, with --ptx also for each PTX instruction. The counts are exact for the PTX; they are no times, and a GPU's own
    /// instructions are not PTX. docs/profiling.md says what each counter means.
    #[command(after_help = EXIT_CODES)]
    Profile(ProfileArgs),

    /// Make a project of your own: kernels, a host program, and tests that run without a GPU
    ///
    /// The project builds and passes its tests at once (`cargo test` in it). It uses the crates of the Ferrowarp that this program was
    /// built from, by path. Its kernels are a sum of two scaled vectors, without any `unsafe`, and sums of blocks in shared memory.
    #[command(after_help = EXIT_CODES)]
    New(NewArgs),

    /// Measure how fast something is on this machine
    #[command(after_help = EXIT_CODES, subcommand)]
    Bench(Bench),
}

/// What `bench` measures.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Measure the emulator by patterns of access, with one job and several, and what checks cost
    ///
    /// Each row is a kernel with counters on; times are medians, `spread` is the slowest minus the fastest as a part of that. A lane
    /// operation is one PTX instruction of one active lane. Times mean something on a machine that does nothing else. The last
    /// line also says how long a module of 1 MiB of PTX takes from text to loaded.
    #[command(after_help = EXIT_CODES)]
    Emulator(BenchArgs),
}

/// Options of `bench emulator`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Rows and columns of the matrices, in steps of 32; those that several jobs share have twice as many
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = steps_of_32)]
    pub size: u32,
    /// Runs of each, after one to warm up
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(3..=1000))]
    pub samples: u16,
    /// Jobs that are compared with one
    #[arg(long, default_value_t = Jobs::new(2), value_name = "N|auto")]
    pub jobs: Jobs,
}

fn steps_of_32(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(size @ 32..=4096) if size % 32 == 0 => Ok(size),
        _ => Err("a multiple of 32 from 32 to 4096 is needed".to_owned()),
    }
}

/// What `check` and `profile` run.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// A kernel of this program (`ferrowarp inspect` lists them), or a PTX file, whose name ends with .ptx
    #[arg(value_name = "KERNEL|FILE.ptx")]
    pub target: String,
    /// The kernel of the PTX file; may be left out if there is one only
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Rows and columns of the matrices, or number of points, for a kernel of this program
    #[arg(long, value_name = "N", default_value_t = crate::emulate::defaults::SIZE,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::emulate::defaults::MAX_SIZE)))]
    pub size: u32,
    /// The launch.
    #[command(flatten)]
    pub launch: LaunchArgs,
}

/// Options of `profile`.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// What to run.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Show the counters of each PTX instruction too
    #[arg(long)]
    pub ptx: bool,
}

/// Options of `emulate`.
#[derive(Debug, Args)]
pub struct EmulateArgs {
    /// The PTX file
    #[arg(value_name = "FILE.ptx")]
    pub file: PathBuf,
    /// The kernel's name as in the PTX; may be left out if there is one only
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// The launch.
    #[command(flatten)]
    pub launch: LaunchArgs,
}

/// What a launch on the emulator needs.
#[derive(Debug, Args)]
pub struct LaunchArgs {
    /// Blocks in the grid
    #[arg(long, default_value = "1", value_name = "X[,Y[,Z]]", hide_default_value = true)]
    pub grid: Shape,
    /// Threads in each block, at most 1024 together
    #[arg(long, default_value = "1", value_name = "X[,Y[,Z]]", hide_default_value = true)]
    pub block: Shape,
    /// Dynamic shared memory of a block, bytes
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    pub shared: u32,
    /// Blocks of a cluster, whose barrier and shared memory they have in common [default: what the kernel is compiled for]
    #[arg(long, value_name = "X[,Y[,Z]]")]
    pub cluster: Option<Shape>,
    /// A cooperative launch: all blocks are there at once, and a barrier of the whole grid works
    #[arg(long)]
    pub cooperative: bool,
    /// Stack of a thread, where nobody can know how much a kernel needs: with recursion, println_full! or format!
    ///
    /// The driver's CU_LIMIT_STACK_SIZE. Where calls cannot come back to a function that is active, a kernel gets what it needs.
    #[arg(long, default_value_t = MachineConfig::default().stack_limit, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_LOCAL_BYTES)))]
    pub stack: u32,
    /// An argument, one for each parameter, in order; `ferrowarp emulate --help` shows the forms
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub arguments: Vec<Argument>,
    /// Run blocks and warps in another order, the same for the same number
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run blocks on so many threads of this machine, where their order cannot show; `N,any-order`: also where it can
    ///
    /// Results, counters and faults of a kernel without data races are then those of one job. Kernels that use atomics' results, clocks,
    /// printf, malloc or strong accesses, and all kernels under checks, run as one job; with `,any-order` behind the number those that only
    /// let the order of blocks show run side by side too, and may give other results each time, as on a GPU.
    #[arg(long, value_name = "N|auto", default_value_t = Jobs::ONE, env = "FERROWARP_JOBS", hide_env_values = true)]
    pub jobs: Jobs,
    /// Stop after this many warp instructions [default: 2^40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub fuel: Option<u64>,
}

/// Arguments of `new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// The project's folder, which must not exist yet or be empty; its last part is the name of the package
    pub folder: PathBuf,

    /// Host program with cust alone, in the layout of rust-cuda, instead of typed launches
    #[arg(long)]
    pub cust: bool,

    /// Checkout of Ferrowarp whose crates the project uses [default: the one that this program was built from]
    #[arg(long, value_name = "FOLDER")]
    pub sources: Option<PathBuf>,
}

/// Options of `hello`.
#[derive(Debug, Args)]
pub struct HelloArgs {
    /// Blocks in the grid
    #[arg(long, default_value_t = 2, value_name = "BLOCKS")]
    pub grid: u32,
    /// Threads in each block, at most 1024
    #[arg(long, default_value_t = 4, value_name = "THREADS")]
    pub block: u32,
}

/// Options of `inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The kernel's name; without it, the kernels there are
    pub kernel: Option<String>,
    /// Show the kernel's PTX, the virtual assembly that the driver compiles (this is the default)
    #[arg(long, group = "form")]
    pub ptx: bool,
    /// Show the kernel's LLVM IR, from which the PTX was made
    #[arg(long, group = "form")]
    pub llvm: bool,
    /// Show the kernel's SASS, the GPU's own instructions (needs ptxas, and nvdisasm or cuobjdump)
    #[arg(long, group = "form")]
    pub sass: bool,
    /// The GPU that ptxas compiles for, such as sm_90 [default: the PTX's own target]
    #[arg(long, value_name = "SM")]
    pub arch: Option<String>,
    /// Look into this PTX file instead of the kernels of this program
    #[arg(long, value_name = "FILE.ptx")]
    pub file: Option<PathBuf>,
}

/// Options of `transform`.
#[derive(Debug, Args)]
pub struct TransformArgs {
    /// Points to transform: a .npy file of float32, shape (n, 3) or (n, 4); without it, random points
    #[arg(long, value_name = "P.npy")]
    pub points: Option<PathBuf>,
    /// Write the transformed points here, float32, shape (n, 4)
    #[arg(long, value_name = "Q.npy")]
    pub out: Option<PathBuf>,
    /// How many random points
    #[arg(long, default_value_t = 10_000, value_name = "N", conflicts_with = "points")]
    pub count: u64,
    /// Rotation about the y axis, in degrees
    #[arg(long, default_value_t = 30.0, value_name = "DEGREES", allow_negative_numbers = true)]
    pub angle: f32,
    /// Seed of the random points
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Options of `matmul`.
#[derive(Debug, Args)]
pub struct MatmulArgs {
    /// Multiply two random square matrices of this many rows [default: 1024 on a GPU, 256 on the emulator]
    #[arg(long, value_name = "N", conflicts_with_all = ["a", "b"])]
    pub size: Option<u64>,
    /// A: a .npy file of float32, shape (m, k)
    #[arg(long, value_name = "A.npy", requires = "b")]
    pub a: Option<PathBuf>,
    /// B: a .npy file of float32, shape (k, n)
    #[arg(long, value_name = "B.npy", requires = "a")]
    pub b: Option<PathBuf>,
    /// Write the result of host_optimized here, float32, shape (m, n)
    #[arg(long, value_name = "C.npy")]
    pub out: Option<PathBuf>,
    /// Rows and columns of the square thread blocks, 1 to 32
    #[arg(long, default_value_t = 16, value_name = "B")]
    pub block: u32,
    /// Seed of the random matrices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Run cpu_mat_mul even where it would take minutes
    #[arg(long)]
    pub cpu: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
