//! How a message's values are to be shown.
//!
//! In a message each value has with it the address of the function that formats it, `<u32 as Display>::fmt` for instance. Calling it
//! would bring all of `core::fmt` into every kernel that can panic. So the handler compares instead of calling: `cuda_builder` puts a
//! number in the place of each such address, which says type and trait ([`Tag`]), and drops the functions. Where kernels format texts of
//! their own, the functions stay, and `__cuda_std_formatter_tag` tells their numbers. The builder's `panics/formatters.rs` has the same
//! constants.

/// Type, trait and number of references, in bits: 0 to 7, 8 to 11, 12 to 15. Larger ones are addresses of a [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag(pub(super) usize);

/// What a value is.
pub(super) mod ty {
    /// Unsigned integers; plus the binary logarithm of the size in bytes, as for the next ones.
    pub const UNSIGNED: usize = 0x10;
    pub const SIGNED: usize = 0x20;
    pub const FLOAT: usize = 0x30;
    pub const BOOL: usize = 0x40;
    pub const CHAR: usize = 0x41;
    /// `&str`: address and length.
    pub const STR: usize = 0x42;
    pub const UNIT: usize = 0x43;
    /// A pointer or reference, shown by its address.
    pub const POINTER: usize = 0x44;
    /// `fmt::Arguments`.
    pub const ARGUMENTS: usize = 0x45;
    /// A reference to a trait object whose first method formats it: address and vtable.
    pub const DYN: usize = 0x46;
}

/// How it is to be shown: by which trait.
pub(super) mod by {
    /// What is left when it is none of the others.
    #[cfg(test)]
    pub const DISPLAY: usize = 0;
    pub const DEBUG: usize = 1;
    pub const LOWER_HEX: usize = 2;
    pub const UPPER_HEX: usize = 3;
    pub const OCTAL: usize = 4;
    pub const BINARY: usize = 5;
    pub const LOWER_EXP: usize = 6;
    pub const UPPER_EXP: usize = 7;
}

/// What messages of a module may have in them. What they have not is left out of the PTX.
pub(super) mod kind {
    /// Integers of up to 64 bits.
    pub const INTEGER: u32 = 1 << 0;
    pub const WIDE_INTEGER: u32 = 1 << 1;
    pub const FLOAT: u32 = 1 << 2;
    /// `true`, `()`.
    pub const WORD: u32 = 1 << 3;
    pub const CHAR: u32 = 1 << 4;
    pub const STR: u32 = 1 << 5;
    /// Characters and texts in quotes.
    pub const QUOTED: u32 = 1 << 6;
    pub const ARGUMENTS: u32 = 1 << 7;
    pub const DYN: u32 = 1 << 8;
    pub const NOTE: u32 = 1 << 9;
    /// References to what is shown.
    pub const REFERENCE: u32 = 1 << 10;
    /// Integers in other digits than decimal ones, addresses.
    pub const RADIX: u32 = 1 << 11;
    /// Something behind the colon in `{…:…}`, or a number or name in front of it.
    pub const OPTION: u32 = 1 << 12;
}

impl Tag {
    #[inline(always)]
    pub(super) const fn ty(self) -> usize {
        self.0 & 0xFF
    }

    #[inline(always)]
    pub(super) const fn by(self) -> usize {
        self.0 >> 8 & 0xF
    }

    /// References to follow from the value to what is shown.
    #[inline(always)]
    pub(super) const fn references(self) -> usize {
        self.0 >> 12 & 0xF
    }

    /// Whether this is no number but the address of a [`Note`]: type and trait are none that are known here.
    #[inline(always)]
    pub(super) const fn is_note(self) -> bool {
        self.0 >> 16 != 0
    }
}

/// What is shown instead of a value of an unknown type.
#[repr(C)]
pub(super) struct Note {
    pub(super) text: *const u8,
    pub(super) len: usize,
}
