//! Kernels by which the machine's speed is measured: the patterns of access that other kernels consist of.
//!
//! `cargo bench -p ptx_emulator --bench patterns` and the program's `bench emulator` run the same ones. Speed is told in lane operations a
//! second: one PTX instruction of one active lane each.

use std::sync::Arc;

use crate::error::{CompileError, MemoryError};
use crate::fault::Fault;
use crate::machine::{Launch, LaunchReport, Machine, MachineConfig, ModuleId};
use crate::program::Program;

const PRODUCT: &str = include_str!("product.ptx");
const TILED: &str = include_str!("tiled.ptx");
const MANDELBROT: &str = include_str!("mandelbrot.ptx");

/// Neighbouring lanes read neighbouring elements.
const COALESCED: &str = "add.s64 %rd12, %rd2, %rd11; shl.b64 %rd13, %rd4, 2;";
/// Neighbouring lanes read elements of neighbouring rows.
const STRIDED: &str =
    "mul.lo.s64 %rd12, %rd11, %rd4; add.s64 %rd12, %rd2, %rd12; mov.b64 %rd13, 4;";
/// Every other lane is off.
const EVEN_LANES: &str = "and.b32 %r12, %r3, 1; setp.ne.b32 %p1, %r12, 0; @%p1 bra DONE;";

/// A kernel that stands for a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pattern {
    /// A matrix product whose lanes read neighbouring elements.
    Coalesced,
    /// A matrix product whose lanes read elements of neighbouring rows.
    Strided,
    /// [`Coalesced`](Pattern::Coalesced), with every other lane off.
    HalfMasked,
    /// [`Coalesced`](Pattern::Coalesced) in blocks of 16 x 16 threads, whose warps are two rows each.
    Square,
    /// A matrix product by tiles in shared memory, 16 x 16 threads.
    Tiled,
    /// Mandelbrot's set in f64: arithmetic, and lanes that leave at different times.
    Mandelbrot,
}

/// Why a pattern cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The kernel was refused.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// There is no room for its matrices.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 6] = [
        Pattern::Coalesced,
        Pattern::Strided,
        Pattern::HalfMasked,
        Pattern::Square,
        Pattern::Tiled,
        Pattern::Mandelbrot,
    ];

    /// What it is called in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Coalesced => "product, coalesced",
            Pattern::Strided => "product, strided",
            Pattern::HalfMasked => "product, every other lane off",
            Pattern::Square => "product, 16x16 blocks",
            Pattern::Tiled => "product in shared memory, 16x16 blocks",
            Pattern::Mandelbrot => "mandelbrot in f64",
        }
    }

    /// Threads of a block in x and in y. Matrices have a multiple of as many rows.
    #[must_use]
    pub fn block(self) -> u32 {
        match self {
            Pattern::Square | Pattern::Tiled => 16,
            _ => 32,
        }
    }

    /// The module's text.
    #[must_use]
    pub fn source(self) -> String {
        match self {
            Pattern::Coalesced | Pattern::Square => product("", COALESCED),
            Pattern::Strided => product("", STRIDED),
            Pattern::HalfMasked => product(EVEN_LANES, COALESCED),
            Pattern::Tiled => tiled(),
            Pattern::Mandelbrot => MANDELBROT.to_owned(),
        }
    }

    /// A machine with the kernel and matrices of `n` rows, ready to run.
    ///
    /// # Errors
    /// [`PatternError::Memory`] if the machine has no room.
    pub fn prepare(self, n: u32, config: MachineConfig) -> Result<Prepared, PatternError> {
        let program = Arc::new(Program::compile(&self.source())?);
        let mut machine = Machine::new(config);
        let module = machine.load(program)?;
        let mut params = Vec::new();
        let elements = u64::from(n) * u64::from(n);
        for label in ["a", "b", "c"] {
            let address = machine.memory_mut().alloc(4 * elements, label)?;
            machine.memory_mut().fill(address, &1f32.to_le_bytes(), elements)?;
            params.extend_from_slice(&address.to_le_bytes());
        }
        params.extend_from_slice(&u64::from(n).to_le_bytes());
        Ok(Prepared { machine, module, params, block: self.block(), blocks: n / self.block() })
    }
}

fn product(guard: &str, column: &str) -> String {
    // The comment at the top names the places too.
    let (comment, code) = PRODUCT.split_once(".visible").unwrap_or_default();
    format!("{comment}.visible{}", code.replace("GUARD", guard).replace("COLUMN", column))
}

fn tiled() -> String {
    let steps: String = (0..16)
        .map(|k| {
            format!(
                "ld.shared.b32 %r34, [%r29+{}]; ld.shared.b32 %r35, [%r30+{}]; fma.rn.f32 %r9, %r34, %r35, %r9;\n",
                4 * k,
                64 * k
            )
        })
        .collect();
    let (comment, code) = TILED.split_once(".visible").unwrap_or_default();
    format!("{comment}.visible{}", code.replace("STEPS", &steps))
}

/// A pattern in a machine of its own.
#[derive(Debug)]
pub struct Prepared {
    machine: Machine,
    module: ModuleId,
    params: Vec<u8>,
    block: u32,
    blocks: u32,
}

impl Prepared {
    /// Runs the kernel once.
    ///
    /// # Errors
    /// As [`Machine::launch`].
    pub fn run(&mut self) -> Result<LaunchReport, Box<Fault>> {
        let launch = Launch {
            kernel: "kernel",
            grid: [self.blocks, self.blocks, 1],
            block: [self.block, self.block, 1],
            dynamic_shared_bytes: 0,
            params: &self.params,
        };
        self.machine.launch(self.module, &launch, &mut Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_runs_and_fills_its_matrix() {
        for pattern in Pattern::ALL {
            let mut prepared = pattern.prepare(32, MachineConfig::default()).unwrap();
            let report = prepared.run().unwrap_or_else(|fault| panic!("{fault}"));
            assert!(report.thread_instructions > 32 * 32 * 10, "{}", pattern.name());
            let (words, _) = prepared.params.as_chunks();
            let mut c = vec![0; 4 * 32 * 32];
            prepared.machine.memory().read(u64::from_le_bytes(words[2]), &mut c).unwrap();
            let (elements, _) = c.as_chunks();
            let sums = elements.iter().filter(|bytes| f32::from_le_bytes(**bytes) == 32.0).count();
            let expected = match pattern {
                Pattern::HalfMasked => 32 * 32 / 2,
                Pattern::Mandelbrot => 0,
                _ => 32 * 32,
            };
            assert_eq!(sums, expected, "{}", pattern.name());
        }
    }
}
