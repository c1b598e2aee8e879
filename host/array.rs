//! Arrays of any shape and any plain number type, as bytes in C order and little-endian: what a kernel's memory holds.
//!
//! Files are `.npy` (see [`crate::npy`]); every order and byte order is read.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use npyz::{DType, Endianness, Order, TypeChar};

use crate::error::{Error, NpyReason};
use crate::npy::{dtype_text, npy_error, open_any, read_data};

/// A plain number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    kind: Kind,
    bytes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

impl Element {
    /// `f32`
    pub const F32: Element = Element { kind: Kind::Float, bytes: 4 };

    /// Bytes of one number.
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.bytes
    }

    /// As a `.npy` header names it, `<f4` for instance.
    fn descr(self) -> String {
        let order = if self.bytes == 1 { '|' } else { '<' };
        let kind = match self.kind {
            Kind::Bool => 'b',
            Kind::Signed => 'i',
            Kind::Unsigned => 'u',
            Kind::Float => 'f',
        };
        format!("{order}{kind}{}", self.bytes)
    }

    /// One number of this type as text.
    fn text(self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let bits = u64::from_le_bytes(wide);
        match (self.kind, self.bytes) {
            (Kind::Bool, _) => (bits != 0).to_string(),
            (Kind::Unsigned, _) => bits.to_string(),
            (Kind::Signed, bytes) => {
                let unused = 64 - 8 * bytes.min(8);
                ((bits << unused) as i64 >> unused).to_string()
            }
            (Kind::Float, 2) => half::f16::from_bits(bits as u16).to_string(),
            (Kind::Float, 4) => f32::from_bits(bits as u32).to_string(),
            (Kind::Float, _) => f64::from_bits(bits).to_string(),
        }
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, bytes) = match text {
            "bool" => (Kind::Bool, 1),
            "i8" | "s8" => (Kind::Signed, 1),
            "i16" | "s16" => (Kind::Signed, 2),
            "i32" | "s32" => (Kind::Signed, 4),
            "i64" | "s64" => (Kind::Signed, 8),
            "u8" => (Kind::Unsigned, 1),
            "u16" => (Kind::Unsigned, 2),
            "u32" => (Kind::Unsigned, 4),
            "u64" => (Kind::Unsigned, 8),
            "f16" => (Kind::Float, 2),
            "f32" => (Kind::Float, 4),
            "f64" => (Kind::Float, 8),
            _ => {
                return Err(format!(
                    "`{text}` is no element type; there are bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64"
                ));
            }
        };
        Ok(Self { kind, bytes })
    }
}

/// Element type and shape, written `f32[32,32]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayType {
    /// Type of an element.
    pub element: Element,
    /// Elements in each dimension, the slowest first.
    pub shape: Vec<u64>,
}

impl ArrayType {
    /// Bytes of all elements; at most `u64::MAX`, which no machine has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let count = self.shape.iter().fold(1_u64, |count, n| count.saturating_mul(*n));
        count.saturating_mul(u64::from(self.element.bytes))
    }
}

impl FromStr for ArrayType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((element, shape)) = text.strip_suffix(']').and_then(|text| text.split_once('['))
        else {
            return Err(format!("`{text}` is no array type; write it as f32[1024] or f32[32,32]"));
        };
        let element = element.parse()?;
        let number = |text: &str| {
            let text = text.trim();
            text.replace('_', "").parse().map_err(|_| format!("`{text}` is no number of elements"))
        };
        let shape: Vec<u64> = shape.split(',').map(number).collect::<Result<_, _>>()?;
        let count = shape.iter().try_fold(1_u64, |count, n| count.checked_mul(*n));
        if count.and_then(|count| count.checked_mul(8)).is_none() {
            return Err(format!("`{text}` has more elements than any machine can hold"));
        }
        Ok(Self { element, shape })
    }
}

/// Shape as in `f32[32,32]`.
impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.element.kind {
            Kind::Bool => return write!(f, "bool{:?}", self.shape),
            Kind::Signed => 'i',
            Kind::Unsigned => 'u',
            Kind::Float => 'f',
        };
        let shape: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        write!(f, "{letter}{}[{}]", 8 * self.element.bytes, shape.join(","))
    }
}

/// An array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Element type and shape.
    pub ty: ArrayType,
    /// The elements in C order, little-endian.
    pub data: Vec<u8>,
}

impl Array {
    /// Reads a `.npy` file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] when the file can't be opened or read, [`Error::Npy`] when it is damaged or holds anything but plain numbers.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (header, reader) = open_any(path)?;
        let dtype = header.dtype();
        let refused = || npy_error(path, NpyReason::NotNumbers(dtype_text(&dtype)));
        let DType::Plain(plain) = &dtype else {
            return Err(refused());
        };
        let kind = match plain.type_char() {
            TypeChar::Bool => Kind::Bool,
            TypeChar::Int => Kind::Signed,
            TypeChar::Uint => Kind::Unsigned,
            TypeChar::Float => Kind::Float,
            _ => return Err(refused()),
        };
        let bytes = match plain.num_bytes() {
            Some(bytes @ (1 | 2 | 4 | 8)) if kind != Kind::Float || bytes > 1 => bytes as u32,
            _ => return Err(refused()),
        };
        let element = Element { kind, bytes };
        let mut data = read_data(path, &header, reader, bytes, &dtype_text(&dtype))?;
        let size = bytes as usize;
        if size > 1 && plain.endianness() == Endianness::Big {
            data.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        let shape = header.shape().to_vec();
        if header.order() == Order::Fortran {
            data = c_order(&data, &shape, size);
        }
        Ok(Self { ty: ArrayType { element, shape }, data })
    }

    /// Writes a `.npy` file.
    ///
    /// # Errors
    ///
    /// The writer's own errors.
    pub fn write(&self, mut writer: impl Write) -> io::Result<()> {
        let shape = crate::npy::shape_text(&self.ty.shape);
        let descr = self.ty.element.descr();
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        // Format version 1.0: magic, version, length of the header; the data begins at a multiple of 64 bytes.
        let unpadded = 10 + header.len() + 1;
        header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
        header.push('\n');
        let length = u16::try_from(header.len())
            .map_err(|_| io::Error::other("the array has too many dimensions for a .npy file"))?;
        writer.write_all(b"\x93NUMPY\x01\x00")?;
        writer.write_all(&length.to_le_bytes())?;
        writer.write_all(header.as_bytes())?;
        writer.write_all(&self.data)
    }

    /// The first `count` elements as text.
    pub fn first(&self, count: usize) -> impl Iterator<Item = String> + '_ {
        let element = self.ty.element;
        self.data
            .chunks_exact(element.bytes as usize)
            .take(count)
            .map(move |bytes| element.text(bytes))
    }
}

/// Elements stored with the first index fastest, with the last index fastest.
fn c_order(data: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    let mut result = Vec::with_capacity(data.len());
    let mut index = vec![0_u64; shape.len()];
    for _ in 0..data.len() / size {
        let position = index.iter().zip(shape).rev().fold(0, |at, (i, n)| at * n + i) as usize;
        result.extend_from_slice(data.get(position * size..(position + 1) * size).unwrap_or(&[]));
        for (i, n) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *n {
                break;
            }
            *i = 0;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_as_they_are_written() {
        for text in ["f32[1024]", "u8[2,3,4]", "i64[0]", "f16[1]"] {
            assert_eq!(text.parse::<ArrayType>().unwrap().to_string(), text);
        }
        assert_eq!("s32[4]".parse::<ArrayType>().unwrap().to_string(), "i32[4]");
        assert_eq!("f64[1_000, 2]".parse::<ArrayType>().unwrap().bytes(), 16_000);
    }

    #[test]
    fn broken_types_say_why() {
        let cases = [
            ("f32", "write it as f32[1024]"),
            ("f31[4]", "no element type"),
            ("f32[]", "no number of elements"),
            ("f32[-1]", "no number of elements"),
            ("f32[4294967296,4294967296]", "more elements"),
            ("u8[2305843009213693952]", "more elements"),
        ];
        for (text, part) in cases {
            let error = text.parse::<ArrayType>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_order_of_dimensions() {
        // 2 x 3 x 2, the first index fastest.
        let shape = [2, 3, 2];
        let fortran: Vec<u8> = (0..12).collect();
        let expected = [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11];
        assert_eq!(c_order(&fortran, &shape, 1), expected);
        assert_eq!(c_order(&[1, 2], &[], 2), [1, 2]);
        assert!(c_order(&[], &[0, 3], 4).is_empty());
    }

    #[test]
    fn numbers_as_text() {
        let text = |ty: &str, bytes: &[u8]| ty.parse::<Element>().unwrap().text(bytes);
        assert_eq!(text("i16", &[0xFE, 0xFF]), "-2");
        assert_eq!(text("u16", &[0xFE, 0xFF]), "65534");
        assert_eq!(text("f32", &1.5_f32.to_le_bytes()), "1.5");
        assert_eq!(text("f16", &[0x00, 0xC0]), "-2");
        assert_eq!(text("f64", &(-0.25_f64).to_le_bytes()), "-0.25");
        assert_eq!(text("bool", &[1]), "true");
        assert_eq!(text("i64", &i64::MIN.to_le_bytes()), i64::MIN.to_string());
    }
}
