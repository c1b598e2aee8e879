//! The kernels of `tests/device_maths`, compiled with and without libdevice, on the emulator.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cuda_builder::{CudaBuilder, Libdevice};
use ptx_emulator::{Launch, Machine, MachineConfig, Output, Program};

/// Whose functions a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The `libm` crate's and `cuda_std`'s.
    Fallback,
    /// NVIDIA's libdevice.
    Libdevice,
}

impl Source {
    /// Those that this machine can test: libdevice where it is found.
    pub fn all() -> impl Iterator<Item = Self> {
        let libdevice = Libdevice::Search.find().unwrap_or_else(|error| panic!("{error}"));
        [Self::Fallback].into_iter().chain(libdevice.map(|_| Self::Libdevice))
    }

    fn program(self) -> &'static Arc<Program> {
        static FALLBACK: LazyLock<Arc<Program>> =
            LazyLock::new(|| compile("fallback", builder().without_libdevice()));
        static LIBDEVICE: LazyLock<Arc<Program>> =
            LazyLock::new(|| compile("libdevice", builder()));
        match self {
            Self::Fallback => &FALLBACK,
            Self::Libdevice => &LIBDEVICE,
        }
    }
}

fn builder() -> CudaBuilder {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device_maths");
    CudaBuilder::new(folder).target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("device_maths"))
}

fn compile(name: &str, builder: CudaBuilder) -> Arc<Program> {
    let program = Program::compile(&ptx(name, builder));
    Arc::new(program.unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Builds the kernels and gives the PTX.
fn ptx(name: &str, builder: CudaBuilder) -> String {
    let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("maths_{name}.ptx"));
    let built = builder.copy_to(&path).build();
    built.unwrap_or_else(|error| panic!("{error}"));
    std::fs::read_to_string(&path).expect("the builder wrote the file")
}

/// The kernels' PTX without libdevice, with subnormal f32s flushed to zero.
pub fn flushing_ptx() -> String {
    ptx("flushing", builder().without_libdevice().ftz(true))
}

struct Silent;

impl Output for Silent {
    fn print(&mut self, _: &[u8]) {}
}

/// Runs the kernel `name` on arguments of up to 64 bits each; up to two results each.
pub fn run(source: Source, name: &str, arguments: &[[u64; 4]]) -> Vec<[u64; 2]> {
    run_words(source, name, arguments)
}

/// Runs the kernel `name`, one thread for each of `arguments`, which gets as many results.
pub fn run_words<const N: usize, const M: usize>(
    source: Source,
    name: &str,
    arguments: &[[u64; N]],
) -> Vec<[u64; M]> {
    let mut machine = Machine::new(MachineConfig::default());
    let module = machine.load(Arc::clone(source.program())).expect("the statics fit");
    let bytes: Vec<u8> =
        arguments.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
    let poison = vec![0xA5; arguments.len() * 8 * M];
    let memory = machine.memory_mut();
    let input = memory.alloc(bytes.len().max(1) as u64, "arguments").expect("there is memory");
    let output = memory.alloc(poison.len().max(1) as u64, "results").expect("there is memory");
    memory.write(input, &bytes).expect("just allocated");
    memory.write(output, &poison).expect("just allocated");
    let params: Vec<u8> = [input, arguments.len() as u64, output]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let blocks = arguments.len().div_ceil(128).max(1) as u32;
    let launch = Launch {
        kernel: name,
        grid: [blocks, 1, 1],
        block: [128, 1, 1],
        dynamic_shared_bytes: 0,
        params: &params,
    };
    machine
        .launch(module, &launch, &mut Silent)
        .unwrap_or_else(|fault| panic!("{name} from {source:?}: {fault}"));
    let mut bytes = vec![0; poison.len()];
    machine.memory().read(output, &mut bytes).expect("an allocation");
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")))
        .collect();
    words.chunks_exact(M).map(|chunk| chunk.try_into().expect("M words")).collect()
}

/// Numbers that repeat nowhere (SplitMix64).
pub fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |step: u64| {
        let mut z = seed.wrapping_add(step.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    })
}
