//! `transform`: points rotated and projected with `nalgebra` types on both sides.

use nalgebra::Vector4;
use serde::Serialize;

use crate::cli::TransformArgs;
use crate::console::Console;
use crate::error::Error;
use crate::format::{bytes, count, milliseconds, scientific};
use crate::matrix::Matrix;
use crate::npy;
use crate::output_file::PendingFile;
use crate::timing::timed;
use crate::transform::View;

/// Points shown in the text.
const SHOWN: usize = 3;

#[derive(Serialize)]
struct Output {
    command: &'static str,
    backend: String,
    device: String,
    points: usize,
    /// Milliseconds with the copies there and back.
    ms: f64,
    max_abs_err: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
}

/// Runs the command.
///
/// # Errors
///
/// For input and output files that are not usable, whatever the device reports, and a wrong result.
pub fn run(arguments: &TransformArgs, console: &mut Console) -> Result<(), Error> {
    let points = match &arguments.points {
        Some(path) => npy::read_points(path)?,
        None => random_points(arguments.count, arguments.seed)?,
    };
    let points: Vec<Vector4<f32>> = points.into_iter().map(Vector4::from).collect();
    let out = arguments.out.as_deref().map(PendingFile::create).transpose()?;
    let gpu = super::open()?;
    let view = View::new(arguments.angle);
    let (device, ms) = timed(|| view.on_device(&gpu, &points));
    let device = device?;
    let host = view.on_host(&points);
    let difference = view.compare(&points, &device, &host)?;
    let out = match out {
        Some(file) => {
            let values: Vec<f32> = device.iter().flat_map(|point| point.iter().copied()).collect();
            let path = file.finish(|writer| npy::write_values(device.len(), 4, &values, writer))?;
            Some(path.display().to_string())
        }
        None => None,
    };

    console.line(&gpu)?;
    console.line(format_args!(
        "transformed {} points in {} ms, copies included; the host runs the same Rust function: largest difference {}",
        count(points.len() as u128),
        milliseconds(ms),
        scientific(difference.max_abs_err)
    ))?;
    for (point, image) in points.iter().zip(&device).take(SHOWN) {
        console.line(format_args!(
            "  ({:.3}, {:.3}, {:.3}) -> ({:.3}, {:.3}, {:.3})",
            point.x, point.y, point.z, image.x, image.y, image.z
        ))?;
    }
    if let Some(path) = &out {
        console.line(format_args!("wrote {path}"))?;
    }
    console.json(&Output {
        command: "transform",
        backend: gpu.backend().to_string(),
        device: gpu.name()?,
        points: points.len(),
        ms,
        max_abs_err: difference.max_abs_err,
        out,
    })
}

/// Points in the cube from -0.5 to 0.5, the same for the same seed.
fn random_points(count: u64, seed: u64) -> Result<Vec<[f32; 4]>, Error> {
    // The points here and their copies below: about 100 bytes a point at the peak.
    let needed = u128::from(count) * 100;
    let what = || {
        format!(
            "transforming {} points ({} each)",
            crate::format::count(u128::from(count)),
            bytes(100)
        )
    };
    crate::memory::check_host(needed, what)?;
    let count = usize::try_from(count).map_err(|_| Error::Allocation { what: "points", needed })?;
    let cube = Matrix::random(count, 3, seed)?;
    Ok((0..count).map(|i| cube.row(i)).map(|p| [p[0] - 0.5, p[1] - 0.5, p[2] - 0.5, 1.0]).collect())
}
