//! Grids and blocks on the command line.

use std::fmt;
use std::str::FromStr;

/// `X`, `X,Y` or `X,Y,Z`, written as in CUDA: x first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape(pub [u32; 3]);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut shape = [1; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(format!("it has {} dimensions, there are at most 3", parts.len()));
        }
        for (axis, part) in shape.iter_mut().zip(parts) {
            *axis = part
                .trim()
                .parse()
                .map_err(|_| format!("`{part}` is no number from 1 to {}", u32::MAX))?;
            if *axis == 0 {
                return Err("a launch needs at least 1 in each dimension".to_owned());
            }
        }
        Ok(Self(shape))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_three_dimensions() {
        let shape = |text: &str| text.parse::<Shape>().map(|shape| shape.0);
        assert_eq!(shape("7"), Ok([7, 1, 1]));
        assert_eq!(shape("7,2"), Ok([7, 2, 1]));
        assert_eq!(shape("7, 2, 3"), Ok([7, 2, 3]));
        for (text, part) in [
            ("", "no number"),
            ("1,2,3,4", "4 dimensions"),
            ("0", "at least 1"),
            ("-1", "no number"),
            ("4294967296", "no number"),
            ("1,,2", "no number"),
        ] {
            let error = shape(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
