//! `--arg`: the arguments of a kernel as text.

use std::path::PathBuf;
use std::str::FromStr;

use crate::array::{Array, ArrayType};

/// One argument of a kernel, in the order of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// As the user wrote it, for messages.
    pub text: String,
    /// What it is.
    pub kind: Kind,
}

/// What an argument is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A number or structure: its bytes, little-endian.
    Scalar(Vec<u8>),
    /// The bytes of a file's array are the parameter itself (a structure that is passed by value).
    Value(PathBuf),
    /// A pointer to this array.
    Array(Array),
    /// A pointer to an array that is read from a file.
    In(PathBuf),
    /// A pointer to an array that is read from the first file and written to the second.
    InOut(PathBuf, PathBuf),
    /// A pointer to an array that nobody has written; the kernel's result goes to the file, if there is one.
    Out(ArrayType, Option<PathBuf>),
    /// As `Out`, filled with zeros.
    Zeros(ArrayType, Option<PathBuf>),
}

/// What there is, for help texts and messages.
pub const FORMS: &str = "TYPE:NUMBER, in:FILE.npy, out:TYPE[N]:FILE.npy, inout:FILE.npy:FILE.npy, zeros:TYPE[N]:FILE.npy, value:FILE.npy";

impl FromStr for Argument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((form, rest)) = text.split_once(':') else {
            return Err(format!("it has no `:`; the forms are {FORMS}"));
        };
        let kind = match form {
            "in" => Kind::In(file(rest)?),
            "value" => Kind::Value(file(rest)?),
            "inout" => {
                let (from, to) = rest.split_once(':').ok_or_else(|| {
                    format!("it needs two files, inout:FILE.npy:FILE.npy, not `{rest}` alone")
                })?;
                if to.contains(':') {
                    return Err("it has more than one `:` between files; a file name with `:` cannot be used here".to_owned());
                }
                Kind::InOut(file(from)?, file(to)?)
            }
            "out" => {
                let (ty, path) = typed(rest)?;
                Kind::Out(ty, path)
            }
            "zeros" => {
                let (ty, path) = typed(rest)?;
                Kind::Zeros(ty, path)
            }
            ty => Kind::Scalar(scalar(ty, rest)?),
        };
        Ok(Self { text: text.to_owned(), kind })
    }
}

fn file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("the file's name is missing".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// `TYPE[N]` or `TYPE[N]:FILE`
fn typed(text: &str) -> Result<(ArrayType, Option<PathBuf>), String> {
    match text.split_once(':') {
        None => Ok((text.parse()?, None)),
        Some((ty, path)) => Ok((ty.parse()?, Some(file(path)?))),
    }
}

/// The bytes of a number of type `ty`.
fn scalar(ty: &str, text: &str) -> Result<Vec<u8>, String> {
    let bits = ty.get(1..).unwrap_or_default();
    match ty {
        "u8" | "u16" | "u32" | "u64" | "b8" | "b16" | "b32" | "b64" => {
            let bytes = width(bits);
            let value = integer(text).filter(|value| (0..1 << (8 * bytes)).contains(value));
            little_endian(value, bytes, ty, text)
        }
        "i8" | "i16" | "i32" | "i64" | "s8" | "s16" | "s32" | "s64" => {
            let bytes = width(bits);
            let half = 1_i128 << (8 * bytes - 1);
            let value = integer(text).filter(|value| (-half..half).contains(value));
            little_endian(value, bytes, ty, text)
        }
        "f16" => Ok(half::f16::from_f64(float(ty, text)?).to_le_bytes().to_vec()),
        "bf16" => Ok(half::bf16::from_f64(float(ty, text)?).to_le_bytes().to_vec()),
        // Parsed as f32 at once: by way of f64 it would be rounded twice.
        "f32" => match text.parse::<f32>() {
            Ok(value) => Ok(value.to_le_bytes().to_vec()),
            Err(_) => Err(no_number(ty, text)),
        },
        "f64" => Ok(float(ty, text)?.to_le_bytes().to_vec()),
        other => Err(format!(
            "`{other}` is no type of a number and no form of an argument; the forms are {FORMS}, and the types of numbers u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64"
        )),
    }
}

fn width(bits: &str) -> usize {
    match bits {
        "8" => 1,
        "16" => 2,
        "32" => 4,
        _ => 8,
    }
}

/// An integer in decimal or, after `0x`, in hexadecimal; `_` may stand between digits.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let digits = digits.replace('_', "");
    // `from_str_radix` takes a sign of its own.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = match digits.strip_prefix("0x") {
        Some(hex) if !hex.starts_with(['+', '-']) => i128::from_str_radix(hex, 16).ok()?,
        Some(_) => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

fn little_endian(
    value: Option<i128>,
    bytes: usize,
    ty: &str,
    text: &str,
) -> Result<Vec<u8>, String> {
    let value = value.ok_or_else(|| no_number(ty, text))?;
    Ok(value.to_le_bytes()[..bytes].to_vec())
}

fn float(ty: &str, text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| no_number(ty, text))
}

fn no_number(ty: &str, text: &str) -> String {
    format!("`{text}` is no {ty}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Kind {
        text.parse::<Argument>().unwrap_or_else(|error| panic!("{text}: {error}")).kind
    }

    #[test]
    fn numbers() {
        let cases: [(&str, &[u8]); 14] = [
            ("u8:255", &[255]),
            ("i8:-128", &[128]),
            ("u16:0x1234", &[0x34, 0x12]),
            ("u32:4294967295", &[255; 4]),
            ("i32:-1", &[255; 4]),
            ("s32:-1", &[255; 4]),
            ("b32:0xdead_beef", &[0xEF, 0xBE, 0xAD, 0xDE]),
            ("u64:1_000", &[0xE8, 3, 0, 0, 0, 0, 0, 0]),
            ("i64:-9223372036854775808", &[0, 0, 0, 0, 0, 0, 0, 128]),
            ("f16:1.5", &[0, 0x3E]),
            ("bf16:-2", &[0, 0xC0]),
            ("f32:1.5", &[0, 0, 0xC0, 0x3F]),
            ("f32:-inf", &[0, 0, 0x80, 0xFF]),
            ("f64:1e0", &[0, 0, 0, 0, 0, 0, 0xF0, 0x3F]),
        ];
        for (text, bytes) in cases {
            assert_eq!(kind(text), Kind::Scalar(bytes.to_vec()), "{text}");
        }
    }

    #[test]
    fn arrays() {
        assert_eq!(kind("in:a.npy"), Kind::In("a.npy".into()));
        assert_eq!(kind("in:C:a.npy"), Kind::In("C:a.npy".into()));
        assert_eq!(kind("value:a.npy"), Kind::Value("a.npy".into()));
        assert_eq!(kind("inout:a.npy:b.npy"), Kind::InOut("a.npy".into(), "b.npy".into()));
        let ty: ArrayType = "f32[2,3]".parse().unwrap();
        assert_eq!(kind("out:f32[2,3]:r.npy"), Kind::Out(ty.clone(), Some("r.npy".into())));
        assert_eq!(kind("out:f32[2,3]"), Kind::Out(ty.clone(), None));
        assert_eq!(kind("zeros:f32[2,3]"), Kind::Zeros(ty, None));
    }

    #[test]
    fn what_is_no_argument() {
        for (text, part) in [
            ("5", "no `:`"),
            ("", "no `:`"),
            ("u32:", "`` is no u32"),
            ("u32:-1", "`-1` is no u32"),
            ("u8:256", "is no u8"),
            ("i8:128", "is no i8"),
            ("u32:1.5", "is no u32"),
            ("u32:0x", "is no u32"),
            ("u32:--1", "is no u32"),
            ("u32:0x-1", "is no u32"),
            ("u64:340282366920938463463374607431768211456", "is no u64"),
            ("f32:one", "is no f32"),
            ("u128:1", "`u128` is no type"),
            ("é:1", "is no type"),
            ("in:", "name is missing"),
            ("inout:a.npy", "needs two files"),
            ("inout:a:b:c", "more than one `:`"),
            ("inout::b", "name is missing"),
            ("out:f32[2]:", "name is missing"),
            ("out:a.npy", "no array type"),
            ("zeros:f32", "no array type"),
        ] {
            let error = text.parse::<Argument>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
