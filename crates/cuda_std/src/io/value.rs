//! What a kernel can print: for each type its [`Class`] and its 8 bytes in the argument buffer.

use core::mem::MaybeUninit;

use super::format::{Class, Classes};

/// A value on its way into the argument buffer of `vprintf`.
pub trait Slot {
    /// How C reads it.
    const CLASS: Class;
    /// Room beside the buffer, for a text that is not in memory as C wants it.
    type Storage;
    /// The 8 bytes. A pointer among them may point into `storage`.
    fn bits(&self, storage: &mut MaybeUninit<Self::Storage>) -> u64;
}

/// All values of a print: `()`, or a value and the others.
pub trait Slots {
    /// The values' classes.
    const CLASSES: Option<&'static Classes>;
    /// The values' storage.
    type Storage;
    /// Writes each value's 8 bytes to `buffer` and on.
    ///
    /// # Safety
    ///
    /// `buffer` has room for all of them.
    unsafe fn store(&self, buffer: *mut u64, storage: &mut MaybeUninit<Self::Storage>);
}

impl Slots for () {
    const CLASSES: Option<&'static Classes> = None;
    type Storage = ();

    #[inline(always)]
    unsafe fn store(&self, _buffer: *mut u64, _storage: &mut MaybeUninit<()>) {}
}

impl<S: Slot, R: Slots> Slots for (S, R) {
    const CLASSES: Option<&'static Classes> = Some(&Classes { first: S::CLASS, rest: R::CLASSES });
    type Storage = (MaybeUninit<S::Storage>, MaybeUninit<R::Storage>);

    #[inline(always)]
    unsafe fn store(&self, buffer: *mut u64, storage: &mut MaybeUninit<Self::Storage>) {
        // SAFETY: the storage's two halves may hold anything; the buffer has room for this value and the others.
        unsafe {
            let (first, rest) = &mut *storage.as_mut_ptr();
            buffer.write(self.0.bits(first));
            self.1.store(buffer.add(1), rest);
        }
    }
}

/// A value for `{}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed in a kernel",
    label = "print one of its parts, or convert it",
    note = "`{{}}` is for integers of up to 64 bits, `f32`, `f64`, `bool`, `char` and `&str`"
)]
pub trait Plain {
    /// What it becomes.
    type Slot: Slot;
    /// Reads it.
    fn slot(&self) -> Self::Slot;
}

/// A value for `{:?}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed in a kernel",
    label = "print one of its parts, or convert it",
    note = "`{{:?}}` is for integers of up to 64 bits, `f32`, `f64`, `bool`, `char`, `&str` and raw pointers"
)]
pub trait Debug {
    /// What it becomes.
    type Slot: Slot;
    /// Reads it.
    fn debug_slot(&self) -> Self::Slot;
}

/// A value for `{:x}`, `{:X}` and `{:o}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed in hexadecimal or octal in a kernel",
    label = "`x`, `X` and `o` are for integers of up to 64 bits"
)]
pub trait Digits {
    /// The bits, without sign.
    fn digits(&self) -> u64;
}

/// A value for `{:e}` and `{:E}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be printed with an exponent in a kernel",
    label = "`e` and `E` are for `f32` and `f64`"
)]
pub trait Exponent {
    /// What it becomes.
    type Slot: Slot;
    /// Reads it.
    fn exponent_slot(&self) -> Self::Slot;
}

/// A value for `{:p}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no address to print",
    label = "`p` is for pointers and references"
)]
pub trait Address {
    /// The address.
    fn address(&self) -> u64;
}

/// The slot of a `{}`.
#[inline(always)]
pub fn plain<T: Plain + ?Sized>(value: &T) -> T::Slot {
    value.slot()
}

/// The slot of a `{:?}`.
#[inline(always)]
pub fn debug<T: Debug + ?Sized>(value: &T) -> T::Slot {
    value.debug_slot()
}

/// The slot of a `{:x}`, `{:X}` or `{:o}`.
#[inline(always)]
pub fn digits<T: Digits + ?Sized>(value: &T) -> Unsigned {
    Unsigned(value.digits())
}

/// The slot of a `{:e}` or `{:E}`.
#[inline(always)]
pub fn exponent<T: Exponent + ?Sized>(value: &T) -> T::Slot {
    value.exponent_slot()
}

/// The slot of a `{:p}`.
#[inline(always)]
pub fn address<T: Address + ?Sized>(value: &T) -> Pointer {
    Pointer(value.address())
}

macro_rules! slot {
    ($(#[$doc:meta])* $Name:ident($T:ty), $class:ident, $value:ident => $bits:expr) => {
        $(#[$doc])*
        pub struct $Name(pub $T);

        impl Slot for $Name {
            const CLASS: Class = Class::$class;
            type Storage = ();

            #[inline(always)]
            fn bits(&self, _storage: &mut MaybeUninit<()>) -> u64 {
                let $value = self.0;
                $bits
            }
        }
    };
}

slot! {
    /// A signed number.
    Signed(i64), Signed, value => value.cast_unsigned()
}
slot! {
    /// An unsigned number.
    Unsigned(u64), Unsigned, value => value
}
slot! {
    /// An `f32`, as the `f64` that C's variable arguments make of it.
    Single(f32), Single, value => f64::from(value).to_bits()
}
slot! {
    /// An `f64`.
    Double(f64), Double, value => value.to_bits()
}
slot! {
    /// A text that ends with NUL.
    CText(*const u8), Text, value => value as u64
}
slot! {
    /// An address.
    Pointer(u64), Address, value => value
}

/// Bytes of a `&str` that are printed; the rest is cut off.
const TEXT_BYTES: usize = 255;

/// A text without a NUL: copied, up to [`TEXT_BYTES`] of it.
pub struct Text<'a>(&'a str);

impl Slot for Text<'_> {
    const CLASS: Class = Class::Text;
    type Storage = [MaybeUninit<u8>; TEXT_BYTES + 1];

    #[inline(always)]
    fn bits(&self, storage: &mut MaybeUninit<Self::Storage>) -> u64 {
        copy_text(self.0, storage.as_mut_ptr().cast()) as u64
    }
}

/// A [`Text`] or [`Char`] in quotes.
pub struct Quoted<S>(S);

impl Slot for Quoted<Text<'_>> {
    const CLASS: Class = Class::QuotedText;
    type Storage = <Text<'static> as Slot>::Storage;

    #[inline(always)]
    fn bits(&self, storage: &mut MaybeUninit<Self::Storage>) -> u64 {
        self.0.bits(storage)
    }
}

impl Slot for Quoted<Char> {
    const CLASS: Class = Class::QuotedChar;
    type Storage = <Char as Slot>::Storage;

    #[inline(always)]
    fn bits(&self, storage: &mut MaybeUninit<Self::Storage>) -> u64 {
        self.0.bits(storage)
    }
}

/// Out of line: one copy loop in a module, however many texts it prints.
#[inline(never)]
fn copy_text(text: &str, to: *mut u8) -> *const u8 {
    // Not through a character.
    let len = text.floor_char_boundary(TEXT_BYTES);
    // SAFETY: only `Text::bits` calls this, with room for `TEXT_BYTES` bytes and the NUL.
    unsafe {
        to.copy_from_nonoverlapping(text.as_ptr(), len);
        *to.add(len) = 0;
    }
    to
}

/// A character, as UTF-8.
pub struct Char(char);

impl Slot for Char {
    const CLASS: Class = Class::Text;
    /// The longest character and the NUL.
    type Storage = [u8; 5];

    #[inline(always)]
    fn bits(&self, storage: &mut MaybeUninit<Self::Storage>) -> u64 {
        let bytes = storage.write([0; 5]);
        self.0.encode_utf8(bytes);
        bytes.as_ptr() as u64
    }
}

macro_rules! plain {
    ($($T:ty, $Slot:ty, $value:ident => $slot:expr;)+) => {$(
        impl Plain for $T {
            type Slot = $Slot;

            #[inline(always)]
            fn slot(&self) -> $Slot {
                let $value = *self;
                $slot
            }
        }

        impl Debug for $T {
            type Slot = $Slot;

            #[inline(always)]
            fn debug_slot(&self) -> $Slot {
                self.slot()
            }
        }
    )+};
}

plain! {
    i8, Signed, value => Signed(i64::from(value));
    i16, Signed, value => Signed(i64::from(value));
    i32, Signed, value => Signed(i64::from(value));
    i64, Signed, value => Signed(value);
    isize, Signed, value => Signed(value as i64);
    u8, Unsigned, value => Unsigned(u64::from(value));
    u16, Unsigned, value => Unsigned(u64::from(value));
    u32, Unsigned, value => Unsigned(u64::from(value));
    u64, Unsigned, value => Unsigned(value);
    usize, Unsigned, value => Unsigned(value as u64);
    f32, Single, value => Single(value);
    f64, Double, value => Double(value);
    bool, CText, value => CText(if value { c"true" } else { c"false" }.as_ptr().cast());
}

impl Plain for char {
    type Slot = Char;

    #[inline(always)]
    fn slot(&self) -> Char {
        Char(*self)
    }
}

impl Debug for char {
    type Slot = Quoted<Char>;

    #[inline(always)]
    fn debug_slot(&self) -> Quoted<Char> {
        Quoted(Char(*self))
    }
}

impl<T: Plain> Plain for &T {
    type Slot = T::Slot;

    #[inline(always)]
    fn slot(&self) -> T::Slot {
        (**self).slot()
    }
}

impl<T: Debug> Debug for &T {
    type Slot = T::Slot;

    #[inline(always)]
    fn debug_slot(&self) -> T::Slot {
        (**self).debug_slot()
    }
}

impl<T: Digits> Digits for &T {
    #[inline(always)]
    fn digits(&self) -> u64 {
        (**self).digits()
    }
}

impl<T: Exponent> Exponent for &T {
    type Slot = T::Slot;

    #[inline(always)]
    fn exponent_slot(&self) -> T::Slot {
        (**self).exponent_slot()
    }
}

macro_rules! digits {
    ($($T:ty => $U:ty;)+) => {$(
        impl Digits for $T {
            #[inline(always)]
            fn digits(&self) -> u64 {
                // Through the unsigned type of the same size, so that -1_i8 prints as `ff`.
                (*self as $U) as u64
            }
        }
    )+};
}

digits! {
    i8 => u8; i16 => u16; i32 => u32; i64 => u64; isize => usize;
    u8 => u8; u16 => u16; u32 => u32; u64 => u64; usize => usize;
}

impl Exponent for f32 {
    type Slot = Single;

    #[inline(always)]
    fn exponent_slot(&self) -> Single {
        Single(*self)
    }
}

impl Exponent for f64 {
    type Slot = Double;

    #[inline(always)]
    fn exponent_slot(&self) -> Double {
        Double(*self)
    }
}

macro_rules! pointer {
    ($($T:ty),+) => {$(
        impl<T> Debug for $T {
            type Slot = Pointer;

            #[inline(always)]
            fn debug_slot(&self) -> Pointer {
                Pointer(self.address())
            }
        }

        impl<T> Address for $T {
            #[inline(always)]
            fn address(&self) -> u64 {
                *self as *const T as u64
            }
        }
    )+};
}

pointer!(*const T, *mut T);

impl<T> Address for &T {
    #[inline(always)]
    fn address(&self) -> u64 {
        core::ptr::from_ref::<T>(self) as u64
    }
}

impl<'a> Plain for &'a str {
    type Slot = Text<'a>;

    #[inline(always)]
    fn slot(&self) -> Text<'a> {
        Text(self)
    }
}

impl<'a> Debug for &'a str {
    type Slot = Quoted<Text<'a>>;

    #[inline(always)]
    fn debug_slot(&self) -> Quoted<Text<'a>> {
        Quoted(Text(self))
    }
}
