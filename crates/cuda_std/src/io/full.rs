//! Printing with all of Rust's formatting: `core::fmt` writes into a buffer, and `vprintf` prints that.

use core::fmt::{self, Write};

/// Room for one print, and the NUL behind it, bytes.
pub(super) const CAPACITY: usize = 1024;

/// Stands where a text was cut off.
const CUT: char = '…';

/// Room for the text itself: behind it there may be the mark of a cut, a line feed, and the NUL.
const ROOM: usize = CAPACITY - CUT.len_utf8() - 2;

/// Stands for a NUL, where C would stop printing.
const NUL: char = '␀';

/// The text of one print, cut off after [`CAPACITY`] bytes.
pub(super) struct Buffer {
    bytes: [u8; CAPACITY],
    len: usize,
    is_cut: bool,
}

impl Buffer {
    /// The text of a print with a NUL behind it; of a line with a line feed too, also if it is cut.
    pub(super) fn of(arguments: fmt::Arguments<'_>, is_line: bool) -> Self {
        let mut buffer = Self { bytes: [0; CAPACITY], len: 0, is_cut: false };
        // An error of a value's own formatter: what it has written before is printed.
        let _ = buffer.write_fmt(arguments);
        if buffer.is_cut {
            let mut bytes = [0; 4];
            buffer.put(CUT.encode_utf8(&mut bytes).as_bytes());
        }
        if is_line {
            buffer.put(b"\n");
        }
        buffer
    }

    /// The bytes, up to the first NUL.
    pub(super) const fn bytes(&self) -> &[u8; CAPACITY] {
        &self.bytes
    }

    /// Appends bytes, for which there is room.
    fn put(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(bytes);
            self.len = end;
        }
    }
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let character = if character == '\0' { NUL } else { character };
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            if self.is_cut || self.len + bytes.len() > ROOM {
                self.is_cut = true;
                break;
            }
            self.put(bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;

    use super::*;

    fn printed(arguments: fmt::Arguments<'_>) -> String {
        let buffer = Buffer::of(arguments, false);
        let text = core::ffi::CStr::from_bytes_until_nul(buffer.bytes()).expect("there is a NUL");
        text.to_str().expect("UTF-8").into()
    }

    #[test]
    fn texts_are_as_rust_formats_them() {
        assert_eq!(printed(format_args!("")), "");
        assert_eq!(
            printed(format_args!("{:^7}|{:?}|{:#b}", 1_u8, Some("ä"), 5_i128)),
            "   1   |Some(\"ä\")|0b101"
        );
    }

    #[test]
    fn a_nul_does_not_end_the_text() {
        assert_eq!(printed(format_args!("a{}b", '\0')), "a␀b");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        // What just fits is whole.
        let whole = "x".repeat(ROOM);
        assert_eq!(printed(format_args!("{whole}")), whole);
        let long = "x".repeat(ROOM + 1);
        assert_eq!(printed(format_args!("{long}")), std::format!("{whole}…"));
        let line = Buffer::of(format_args!("{long}"), true);
        assert!(line.bytes().ends_with("x…\n\0".as_bytes()));
        for shift in 0..4 {
            let long = "x".repeat(shift) + &"🦀".repeat(CAPACITY);
            let text = printed(format_args!("{long} and more"));
            let kept = text.strip_suffix('…').expect("it is cut");
            assert!(long.starts_with(kept) && text.len() > CAPACITY - 9, "{text}");
        }
    }
}
