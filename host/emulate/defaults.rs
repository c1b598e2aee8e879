//! Inputs for the kernels of this program, for commands that run a kernel by its name alone.

use nalgebra::Matrix4;

use super::argument::{Argument, Kind};
use super::shape::Shape;
use crate::array::{Array, ArrayType};
use crate::error::Error;
use crate::matrix::Matrix;
use crate::transform::View;

/// A launch of a kernel of this program.
#[derive(Debug, Clone)]
pub struct DefaultLaunch {
    /// Blocks.
    pub grid: Shape,
    /// Threads of a block.
    pub block: Shape,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
}

/// Rows and columns of the matrices unless the user says otherwise; no multiple of the tiles, so that the edges are seen too.
pub const SIZE: u32 = 70;
/// Largest number of rows that is possible: 100 million elements, more than anybody can wait for here.
pub const MAX_SIZE: u32 = 10_000;

/// The launch for `kernel`, with `size` rows, columns or points; `None` if it is not one of this program's.
///
/// # Errors
///
/// [`Error::Allocation`] when the host has no memory for the inputs.
pub fn of(kernel: &str, size: u32) -> Result<Option<DefaultLaunch>, Error> {
    let size = size.clamp(1, MAX_SIZE);
    Ok(match kernel {
        "hello" => Some(DefaultLaunch {
            grid: Shape([2, 1, 1]),
            block: Shape([4, 1, 1]),
            shared: 0,
            arguments: Vec::new(),
        }),
        "mat_mul_naive_kernel" | "mat_mul_shared_kernel" | "mat_mul_shared_kernel_16" => {
            Some(product(kernel, size, 16)?)
        }
        "mat_mul_shared_kernel_8" => Some(product(kernel, size, 8)?),
        "mat_mul_shared_kernel_32" => Some(product(kernel, size, 32)?),
        "transform_points" => Some(transform(size)?),
        _ => None,
    })
}

fn product(kernel: &str, size: u32, block: u32) -> Result<DefaultLaunch, Error> {
    let rows = size as usize;
    let blocks = size.div_ceil(block);
    let shared = if kernel == "mat_mul_shared_kernel" { 2 * block * block * 4 } else { 0 };
    let matrix = |name: &str, seed: u64| -> Result<[Argument; 2], Error> {
        let matrix = Matrix::random(rows, rows, seed)?;
        let values = (0..rows).flat_map(|row| matrix.row(row).iter().copied());
        Ok(slice(name, values, &[u64::from(size), u64::from(size)]))
    };
    let mut arguments = Vec::new();
    arguments.extend(matrix("A", 1)?);
    arguments.extend(matrix("B", 2)?);
    let ty = array_type(&[u64::from(size), u64::from(size)]);
    arguments.push(Argument { text: "C".to_owned(), kind: Kind::Out(ty, None) });
    arguments.extend(["m", "k", "n"].map(|name| number(name, u64::from(size))));
    Ok(DefaultLaunch {
        grid: Shape([blocks, blocks, 1]),
        block: Shape([block, block, 1]),
        shared,
        arguments,
    })
}

fn transform(size: u32) -> Result<DefaultLaunch, Error> {
    let count = size as usize;
    let cube = Matrix::random(count, 3, 1)?;
    let points = (0..count).flat_map(|row| match cube.row(row) {
        [x, y, z, ..] => [x - 0.5, y - 0.5, z - 0.5, 1.0],
        _ => [0.0, 0.0, 0.0, 1.0],
    });
    let shape = [u64::from(size), 4];
    let [pointer, _] = slice("points", points, &shape);
    let view = View::new(30.0);
    let matrix = |name: &str, matrix: &Matrix4<f32>| {
        // Column by column, as nalgebra stores it.
        let bytes = matrix.as_slice().iter().flat_map(|value| value.to_le_bytes()).collect();
        Argument { text: name.to_owned(), kind: Kind::Scalar(bytes) }
    };
    let arguments = vec![
        pointer,
        number("points.len()", u64::from(size)),
        Argument { text: "out".to_owned(), kind: Kind::Out(array_type(&shape), None) },
        number("out.len()", u64::from(size)),
        matrix("model", &view.model),
        matrix("projection", &view.projection),
    ];
    Ok(DefaultLaunch {
        grid: Shape([size.div_ceil(256), 1, 1]),
        block: Shape([256, 1, 1]),
        shared: 0,
        arguments,
    })
}

fn array_type(shape: &[u64]) -> ArrayType {
    ArrayType { element: crate::array::Element::F32, shape: shape.to_vec() }
}

/// A `&[f32]` of a kernel: pointer and length.
fn slice(name: &str, values: impl Iterator<Item = f32>, shape: &[u64]) -> [Argument; 2] {
    let data: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    let length = (data.len() / 4) as u64;
    let array = Array { ty: array_type(shape), data };
    let pointer = Argument { text: name.to_owned(), kind: Kind::Array(array) };
    [pointer, number(&format!("{name}.len()"), length)]
}

fn number(name: &str, value: u64) -> Argument {
    Argument { text: name.to_owned(), kind: Kind::Scalar(value.to_le_bytes().to_vec()) }
}
