//! `matmul`: the matrix product in six functions.

use std::path::Path;

use cuda_host::{Backend, Device};

use crate::cli::MatmulArgs;
use crate::console::Console;
use crate::cpu::{cpu_mat_mul, cpu_mat_mul_fast};
use crate::error::Error;
use crate::matmul::{DeviceProduct, HostOptimized, Kernel, Shape, check_block, host_naive};
use crate::matrix::Matrix;
use crate::memory::Need;
use crate::npy;
use crate::output_file::PendingFile;
use crate::reference::{Accuracy, Reference};
use crate::report::{FUNCTIONS, Report, Row};
use crate::timing::{Effort, Samples, timed};

/// Above this many multiply-adds `cpu_mat_mul` is left out unless asked for: it is then some ten seconds and, growing with the
/// cube of the size, soon minutes.
const CPU_LIMIT: u128 = 1 << 32;

/// Runs the command.
///
/// # Errors
///
/// For input and output files that are not usable, sizes that don't fit into memory, whatever the device reports, and a
/// wrong result.
pub fn run(arguments: &MatmulArgs, console: &mut Console) -> Result<(), Error> {
    check_block(arguments.block)?;
    let files = match (&arguments.a, &arguments.b) {
        (Some(a), Some(b)) => Some(read(a, b)?),
        _ => None,
    };
    // Before the device, so that an absurd size is refused at once on any machine.
    match (&files, arguments.size) {
        (Some((a, b)), _) => {
            check_host_memory(a.rows() as u64, a.columns() as u64, b.columns() as u64)?
        }
        (None, Some(size)) => check_host_memory(size, size, size)?,
        (None, None) => {}
    }
    let out = arguments.out.as_deref().map(PendingFile::create).transpose()?;
    let gpu = super::open()?;
    console.line(&gpu)?;
    let task = match files {
        Some((a, b)) => Task { a, b, seed: None, block: arguments.block, force_cpu: arguments.cpu },
        None => Task::random(&gpu, arguments)?,
    };
    let (mut report, c) = task.run(&gpu, console)?;
    if let Some(file) = out {
        let path =
            file.finish(|writer| npy::write_values(c.rows(), c.columns(), c.as_slice(), writer))?;
        console.line(format_args!(
            "wrote {} ({} x {}, float32)",
            path.display(),
            c.rows(),
            c.columns()
        ))?;
        report.out = Some(path.display().to_string());
    }
    console.json(&report)
}

/// A product to compute in six ways.
#[derive(Debug)]
pub struct Task {
    a: Matrix,
    b: Matrix,
    block: u32,
    seed: Option<u64>,
    force_cpu: bool,
}

impl Task {
    /// Two random square matrices, of the size asked for or of one that suits the device.
    ///
    /// # Errors
    ///
    /// When they don't fit into memory.
    pub fn random(gpu: &Device, arguments: &MatmulArgs) -> Result<Self, Error> {
        let size = arguments.size.unwrap_or(match gpu.backend() {
            Backend::Gpu => 1024,
            Backend::Emulator => 256,
        });
        check_device_memory(gpu, size, size, size)?;
        let side = usize::try_from(size)
            .map_err(|_| Error::Allocation { what: "a matrix", needed: u128::from(size).pow(2) })?;
        let seed = arguments.seed;
        Ok(Self {
            a: Matrix::random(side, side, seed)?,
            // Far from A's seed, so that no two seeds that people choose share a matrix.
            b: Matrix::random(side, side, seed ^ 0x9E37_79B9_7F4A_7C15)?,
            block: arguments.block,
            seed: Some(seed),
            force_cpu: arguments.cpu,
        })
    }

    /// Runs and judges the six functions and shows the table; returns the report and the product by `host_optimized`.
    ///
    /// # Errors
    ///
    /// Whatever the device reports, and [`Error::WrongResult`].
    pub fn run(&self, gpu: &Device, console: &mut Console) -> Result<(Report, Matrix), Error> {
        let Self { a, b, block, seed, force_cpu } = self;
        let (block, shape) = (*block, Shape::of(a, b));
        let Shape { m, k, n } = shape;
        check_device_memory(gpu, m as u64, k as u64, n as u64)?;
        console.line(format_args!(
            "\nC = A B: A is {m} x {k}, B is {k} x {n}, float32; blocks of {block} x {block} threads"
        ))?;

        let bar = console.progress(FUNCTIONS.len() as u64 + 1, "f64 reference");
        let reference = Reference::product(a, b, |_| ());
        let mut rows = Vec::with_capacity(FUNCTIONS.len());
        let mut judge = |name, samples: Samples, result: &Matrix| {
            let accuracy: Accuracy = reference.check(name, result)?;
            rows.push(Row::measured(name, shape.operations(), &samples, accuracy));
            Ok::<_, Error>(())
        };
        let next = |name| {
            bar.inc(1);
            bar.set_message(name);
            name
        };

        let name = next(FUNCTIONS[0]);
        let work = m as u128 * k as u128 * n as u128;
        let skipped = (work > CPU_LIMIT && !force_cpu).then(|| {
            format!(
                "{} multiply-adds on one core take minutes; give --cpu to run it all the same",
                crate::format::count(work)
            )
        });
        if skipped.is_none() {
            let (samples, c) = on_host(|| cpu_mat_mul(a, b))?;
            judge(name, samples, &c)?;
        }

        let name = next(FUNCTIONS[1]);
        let (samples, c) = on_host(|| cpu_mat_mul_fast(a, b))?;
        judge(name, samples, &c)?;

        let mut product = DeviceProduct::new(gpu, a, b, block)?;
        for (name, kernel) in [(FUNCTIONS[2], Kernel::Naive), (FUNCTIONS[3], Kernel::Shared)] {
            let name = next(name);
            let samples = Samples::measure(Effort::default(), || product.run(kernel))?;
            judge(name, samples, &product.result()?)?;
        }
        drop(product);

        let name = next(FUNCTIONS[4]);
        let (samples, c) = on_host(|| host_naive(gpu, a, b, block))?;
        judge(name, samples, &c)?;

        let name = next(FUNCTIONS[5]);
        let mut optimized = HostOptimized::new(gpu, a, b, block)?;
        let samples = Samples::measure(Effort::default(), || optimized.run())?;
        let c = optimized.result()?;
        judge(name, samples, &c)?;
        bar.finish_and_clear();

        if let Some(reason) = skipped {
            rows.insert(0, Row::skipped(FUNCTIONS[0], reason));
        }
        let mut report = Report {
            command: "matmul",
            backend: gpu.backend().to_string(),
            device: gpu.name()?,
            m,
            k,
            n,
            block,
            seed: *seed,
            checked_rows: reference.checked_rows(),
            rows,
            out: None,
        };
        report.compare();
        console.line(report.text())?;
        Ok((report, c))
    }
}

/// Times a function that runs on the host, and keeps its last result.
fn on_host(
    mut function: impl FnMut() -> Result<Matrix, Error>,
) -> Result<(Samples, Matrix), Error> {
    let mut last = None;
    let samples = Samples::measure(Effort::default(), || {
        // Freed first, so that no more than one result is held at a time.
        last = None;
        let (result, ms) = timed(&mut function);
        last = Some(result?);
        Ok::<_, Error>(ms)
    })?;
    // `measure` has called the function at least once.
    let result = last.ok_or(Error::Allocation { what: "a result", needed: 0 })?;
    Ok((samples, result))
}

/// Reads both matrices and makes sure that they can be multiplied.
fn read(a_path: &Path, b_path: &Path) -> Result<(Matrix, Matrix), Error> {
    let (a, b) = (npy::read_matrix(a_path)?, npy::read_matrix(b_path)?);
    if a.columns() != b.rows() {
        return Err(Error::InnerDimensions {
            a: a_path.to_owned(),
            b: b_path.to_owned(),
            a_rows: a.rows(),
            a_columns: a.columns(),
            b_rows: b.rows(),
            b_columns: b.columns(),
        });
    }
    Ok((a, b))
}

fn check_host_memory(m: u64, k: u64, n: u64) -> Result<(), Error> {
    Need::of_product(m, k, n).check_host(&describe(m, k, n))
}

fn check_device_memory(gpu: &Device, m: u64, k: u64, n: u64) -> Result<(), Error> {
    let total = gpu.memory_info()?.total;
    Need::of_product(m, k, n).check_device(&describe(m, k, n), total as u64)
}

fn describe(m: u64, k: u64, n: u64) -> String {
    format!("the product of {m} x {k} and {k} x {n} matrices")
}
