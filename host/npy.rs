//! Matrices in NumPy's `.npy` files: f32, C or Fortran order, either byte order; written as f32 in C order. Arrays of other
//! types and dimensions are in [`crate::array`], which shares this module's distrust.
//!
//! `npyz` reads and writes the format. What this module adds is distrust: a header is believed only as far as
//! the file has bytes for it, so that a damaged or hostile file costs no memory and gives a clear error.
//! Format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use npyz::{DType, NpyFile, NpyHeader, Order, TypeChar, WriterBuilder};

use crate::error::{Error, NpyReason};
use crate::matrix::Matrix;

/// NumPy itself refuses longer headers (`max_header_size`), because parsing them can exhaust the stack.
const MAX_HEADER_BYTES: usize = 10_000;
/// An array of numbers needs one bracket inside the dictionary; records some more.
const MAX_HEADER_DEPTH: usize = 16;

/// Reads a 2-D f32 array as a row-major matrix.
///
/// # Errors
///
/// [`Error::Read`] when the file can't be opened or read, [`Error::Npy`] when it is damaged, has another
/// dtype or other dimensions.
pub fn read_matrix(path: &Path) -> Result<Matrix, Error> {
    let (header, reader) = open(path)?;
    let &[rows, columns] = header.shape() else {
        return Err(npy_error(path, dimensions(&header, "a 2-D array (a matrix)")));
    };
    let too_large = || npy_error(path, NpyReason::TooLarge(shape_text(header.shape())));
    let rows = usize::try_from(rows).map_err(|_| too_large())?;
    let columns = usize::try_from(columns).map_err(|_| too_large())?;
    let order = header.order();
    let values = read_values(path, header.clone(), reader)?;
    let values = match order {
        Order::C => values,
        Order::Fortran => transposed(&values, columns, rows),
    };
    Matrix::from_vec(rows, columns, values).ok_or_else(too_large)
}

/// Reads points: an f32 array of shape (n, 3), which gets 1 as fourth coordinate, or (n, 4).
///
/// # Errors
///
/// As [`read_matrix`], and [`Error::Npy`] for another number of coordinates.
pub fn read_points(path: &Path) -> Result<Vec<[f32; 4]>, Error> {
    let matrix = read_matrix(path)?;
    let rows = (0..matrix.rows()).map(|row| matrix.row(row));
    match matrix.columns() {
        3 => Ok(rows.map(|p| [p[0], p[1], p[2], 1.0]).collect()),
        4 => Ok(rows.map(|p| [p[0], p[1], p[2], p[3]]).collect()),
        columns => {
            let shape = shape_text(&[matrix.rows() as u64, columns as u64]);
            Err(npy_error(path, NpyReason::Points { shape }))
        }
    }
}

/// Writes a matrix of `rows` x `columns` values in row-major order as `<f4` in C order.
///
/// # Errors
///
/// The writer's own errors.
pub fn write_values(
    rows: usize,
    columns: usize,
    values: &[f32],
    writer: impl Write,
) -> io::Result<()> {
    let dtype: npyz::TypeStr = "<f4".parse().map_err(|e| io::Error::other(format!("{e}")))?;
    let mut npy = npyz::WriteOptions::new()
        .dtype(DType::new_scalar(dtype))
        .shape(&[rows as u64, columns as u64])
        .writer(writer)
        .begin_nd()?;
    npy.extend(values.iter().copied())?;
    npy.finish()
}

/// Opens a file of float32 values and reads its header.
fn open(path: &Path) -> Result<(NpyHeader, BufReader<File>), Error> {
    let (header, reader) = open_any(path)?;
    match header.dtype() {
        DType::Plain(ref dtype)
            if dtype.type_char() == TypeChar::Float && dtype.size_field() == 4 =>
        {
            Ok((header, reader))
        }
        other => {
            let file = path
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Err(npy_error(path, NpyReason::Dtype { found: dtype_text(&other), file }))
        }
    }
}

/// Opens a file and reads its header, having made sure that it is safe to parse. The reader stands at the data.
pub(crate) fn open_any(path: &Path) -> Result<(NpyHeader, BufReader<File>), Error> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(read_error)?;
    if file.metadata().map_err(read_error)?.is_dir() {
        return Err(read_error(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")));
    }
    let mut reader = BufReader::new(file);
    let header_bytes = match read_header_bytes(&mut reader) {
        Ok(bytes) => bytes,
        Err(HeaderError::Reason(reason)) => return Err(npy_error(path, reason)),
        Err(HeaderError::Io(source)) => return Err(read_error(source)),
    };
    let header = NpyHeader::from_reader(&header_bytes[..])
        .map_err(|error| npy_error(path, NpyReason::Header(error.to_string())))?;
    Ok((header, reader))
}

enum HeaderError {
    Reason(NpyReason),
    Io(io::Error),
}

impl From<NpyReason> for HeaderError {
    fn from(reason: NpyReason) -> Self {
        Self::Reason(reason)
    }
}

/// Everything before the data, checked so far that handing it to the parser is safe.
fn read_header_bytes(reader: &mut impl Read) -> Result<Vec<u8>, HeaderError> {
    let mut bytes = Vec::new();
    let mut take = |length: usize, bytes: &mut Vec<u8>| -> Result<(), HeaderError> {
        let found =
            reader.by_ref().take(length as u64).read_to_end(bytes).map_err(HeaderError::Io)?;
        if found < length { Err(NpyReason::TruncatedHeader.into()) } else { Ok(()) }
    };
    let magic = b"\x93NUMPY";
    match take(magic.len(), &mut bytes) {
        Ok(()) if bytes == magic => {}
        Ok(()) => return Err(NpyReason::Magic.into()),
        // An empty file or part of the magic is a truncated file; anything else is another format.
        Err(HeaderError::Reason(_)) if !magic.starts_with(&bytes) => {
            return Err(NpyReason::Magic.into());
        }
        Err(error) => return Err(error),
    }
    take(2, &mut bytes)?;
    let length_bytes = match (bytes[6], bytes[7]) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        (major, minor) => return Err(NpyReason::Version(major, minor).into()),
    };
    take(length_bytes, &mut bytes)?;
    let length =
        bytes[8..].iter().rev().fold(0_usize, |length, &byte| length << 8 | usize::from(byte));
    if length > MAX_HEADER_BYTES {
        let reason = format!(
            "it is {length} bytes long, more than NumPy's limit of {MAX_HEADER_BYTES} bytes"
        );
        return Err(NpyReason::Header(reason).into());
    }
    let text_start = bytes.len();
    take(length, &mut bytes)?;
    check_header_text(&String::from_utf8_lossy(&bytes[text_start..]))?;
    Ok(bytes)
}

/// Refuses nesting that would exhaust the parser's stack, and shapes whose element count overflows.
fn check_header_text(text: &str) -> Result<(), NpyReason> {
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_HEADER_DEPTH {
            return Err(NpyReason::Header(format!(
                "its brackets nest more than {MAX_HEADER_DEPTH} deep"
            )));
        }
    }
    // The dictionary's order is free, so every number in it counts; only the shape's and the dtype's are there.
    let mut product = 1_u64;
    for digits in text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()) {
        let factor = digits.parse::<u64>().ok().map(|value| value.max(1));
        product = factor
            .and_then(|factor| product.checked_mul(factor))
            .ok_or_else(|| NpyReason::TooLarge(shape_in(text)))?;
    }
    Ok(())
}

/// The text of the shape in a header, for messages.
fn shape_in(text: &str) -> String {
    let shape = text.split_once("shape").map_or(text, |(_, rest)| rest);
    let shape = shape.find('(').map_or(shape, |start| &shape[start..]);
    shape.split_inclusive(')').next().unwrap_or(shape).to_owned()
}

/// Reads the values in the order they are stored.
fn read_values(path: &Path, header: NpyHeader, reader: BufReader<File>) -> Result<Vec<f32>, Error> {
    let data = read_data(path, &header, reader, 4, "float32")?;
    NpyFile::with_header(header, &data[..])
        .into_vec::<f32>()
        .map_err(|error| npy_error(path, NpyReason::Header(error.to_string())))
}

/// Reads the bytes of the values, each of `item_bytes` bytes; `dtype` names the type in messages.
pub(crate) fn read_data(
    path: &Path,
    header: &NpyHeader,
    mut reader: BufReader<File>,
    item_bytes: u32,
    dtype: &str,
) -> Result<Vec<u8>, Error> {
    let values = header.len();
    let expected = u128::from(values) * u128::from(item_bytes);
    let truncated = |found: u128| {
        let (shape, dtype) = (shape_text(header.shape()), dtype.into());
        npy_error(path, NpyReason::Truncated { values, dtype, shape, expected, found })
    };
    let metadata = reader
        .get_ref()
        .metadata()
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    if metadata.is_file() {
        // `len` is the whole file; the header's own bytes were already read from it.
        let position = io::Seek::stream_position(&mut reader)
            .map_err(|source| Error::Read { path: path.to_owned(), source })?;
        let left = u128::from(metadata.len().saturating_sub(position));
        if left < expected {
            return Err(truncated(left));
        }
    }
    // A pipe can't say how long it is: room grows with what arrives, and for a regular file the
    // check above has bounded it.
    let mut data = Vec::new();
    let limit = u64::try_from(expected).unwrap_or(u64::MAX);
    let found = reader
        .by_ref()
        .take(limit)
        .read_to_end(&mut data)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    if (found as u128) < expected {
        return Err(truncated(found as u128));
    }
    Ok(data)
}

/// A column-major matrix, given as the rows of its transpose, in row-major order.
fn transposed(values: &[f32], outer: usize, inner: usize) -> Vec<f32> {
    let mut result = Vec::with_capacity(values.len());
    for row in 0..inner {
        result.extend((0..outer).map(|column| values[column * inner + row]));
    }
    result
}

pub(crate) fn npy_error(path: &Path, reason: NpyReason) -> Error {
    Error::Npy { path: path.to_owned(), reason }
}

fn dimensions(header: &NpyHeader, wanted: &'static str) -> NpyReason {
    NpyReason::Dimensions {
        dimensions: header.shape().len(),
        shape: shape_text(header.shape()),
        wanted,
    }
}

/// A shape as Python writes a tuple.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A dtype as the file has it, and the name NumPy users know it by.
pub(crate) fn dtype_text(dtype: &DType) -> String {
    let DType::Plain(plain) = dtype else {
        return format!("the record type {}", dtype.descr());
    };
    let size_bits = plain.size_field().saturating_mul(8);
    let name = match plain.type_char() {
        TypeChar::Bool => "bool".to_owned(),
        TypeChar::Int => format!("int{size_bits}"),
        TypeChar::Uint => format!("uint{size_bits}"),
        TypeChar::Float => format!("float{size_bits}"),
        TypeChar::Complex => format!("complex{size_bits}"),
        TypeChar::Object => "Python objects".to_owned(),
        TypeChar::ByteStr | TypeChar::UnicodeStr => "text".to_owned(),
        _ => return dtype.descr(),
    };
    format!("{} ({name})", dtype.descr())
}
