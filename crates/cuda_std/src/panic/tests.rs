//! What kernels' panics say, against `core::fmt`, which formats the same arguments here.

use core::cell::RefCell;
use core::fmt::{
    self, Arguments, Binary, Debug, Display, LowerExp, LowerHex, Octal, Pointer, UpperExp, UpperHex,
};
use core::mem::MaybeUninit;
use std::string::{String, ToString};

use super::message::{self, Module, Pair};
use super::tag::{Note, Tag, by, ty};
use super::text::{CAPACITY, Text};
use super::value::decimal;

/// Stands in for the builder: the tags of the formatters that these tests use.
fn tag_of(formatter: usize) -> Tag {
    macro_rules! tags {
        ($($T:ty: $ty:expr, $references:literal, [$($Trait:ident $by:expr),+];)+) => {
            $($(
                let known: fn(&_, &mut fmt::Formatter<'_>) -> fmt::Result = <$T as $Trait>::fmt;
                if known as usize == formatter {
                    return Tag($ty | $by << 8 | $references << 12);
                }
            )+)+
        };
    }
    macro_rules! integers {
        ($($T:ty: $ty:expr;)+) => {
            tags!($($T: $ty, 0, [
                Display by::DISPLAY, Debug by::DEBUG, LowerHex by::LOWER_HEX, UpperHex by::UPPER_HEX, Octal by::OCTAL,
                Binary by::BINARY
            ];)+)
        };
    }
    integers! {
        u8: ty::UNSIGNED; u16: ty::UNSIGNED + 1; u32: ty::UNSIGNED + 2; u64: ty::UNSIGNED + 3; u128: ty::UNSIGNED + 4;
        i8: ty::SIGNED; i16: ty::SIGNED + 1; i32: ty::SIGNED + 2; i64: ty::SIGNED + 3; i128: ty::SIGNED + 4;
        usize: ty::UNSIGNED + 3; isize: ty::SIGNED + 3;
    }
    tags! {
        f32: ty::FLOAT + 2, 0, [Display by::DISPLAY, Debug by::DEBUG, LowerExp by::LOWER_EXP, UpperExp by::UPPER_EXP];
        f64: ty::FLOAT + 3, 0, [Display by::DISPLAY, Debug by::DEBUG, LowerExp by::LOWER_EXP, UpperExp by::UPPER_EXP];
        bool: ty::BOOL, 0, [Display by::DISPLAY, Debug by::DEBUG];
        char: ty::CHAR, 0, [Display by::DISPLAY, Debug by::DEBUG];
        &str: ty::STR, 0, [Display by::DISPLAY, Debug by::DEBUG];
        &&str: ty::STR, 1, [Display by::DISPLAY, Debug by::DEBUG];
        &u32: ty::UNSIGNED + 2, 1, [Display by::DISPLAY, Debug by::DEBUG];
        &&i16: ty::SIGNED + 1, 2, [Display by::DISPLAY, Debug by::DEBUG];
        (): ty::UNIT, 0, [Debug by::DEBUG];
        *const u8: ty::POINTER, 0, [Debug by::DEBUG, Pointer by::DISPLAY];
        &u8: ty::POINTER, 0, [Pointer by::DISPLAY];
        Arguments<'_>: ty::ARGUMENTS, 0, [Display by::DISPLAY];
        &dyn Debug: ty::DYN, 0, [Debug by::DEBUG];
        &dyn Display: ty::DYN, 0, [Display by::DISPLAY];
    }
    static UNKNOWN: Note = Note { text: b"<unknown>".as_ptr(), len: 9 };
    Tag(&raw const UNKNOWN as usize)
}

struct Here;

impl Module for Here {
    fn tag_of(formatter: usize) -> Tag {
        tag_of(formatter)
    }

    fn has(_: u32) -> bool {
        true
    }
}

// Its text is a constant.
// SAFETY: it is never written.
unsafe impl Sync for Note {}

/// What a kernel's panic would say.
fn said(arguments: Arguments<'_>) -> String {
    let mut memory = MaybeUninit::uninit();
    let text = Text::new(&mut memory);
    match arguments.as_str() {
        Some(all) => text.push_str(all),
        // SAFETY: as in the handler.
        None => unsafe {
            message::write::<Here>(text, core::mem::transmute::<Arguments<'_>, Pair>(arguments));
        },
    }
    text.finish();
    // SAFETY: so many bytes have been written, and one more.
    let bytes = unsafe { core::slice::from_raw_parts(text.first(), text.len() + 1) };
    let (nul, bytes) = bytes.split_last().expect("a NUL at least");
    assert_eq!(*nul, 0);
    str::from_utf8(bytes).expect("UTF-8").to_string()
}

macro_rules! same {
    ($($arguments:tt)+) => {
        assert_eq!(said(format_args!($($arguments)+)), std::format!($($arguments)+), "{}", stringify!($($arguments)+))
    };
}

/// Numbers that repeat nowhere (SplitMix64).
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |step: u64| {
        let mut z = seed.wrapping_add(step.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    })
}

#[test]
fn integers_in_every_form() {
    fn check<T>(value: T)
    where
        T: Copy + Display + Debug + LowerHex + UpperHex + Octal + Binary,
    {
        same!("{value} {value:?} {value:x} {value:X} {value:o}");
        same!("{value:b}");
        same!("{value:+}{value:#x}{value:#X}{value:#o}");
        same!("{value:#b}");
        same!("{value:x?}{value:X?}{value:#x?}");
        same!("[{value:12}][{value:<12}][{value:^13}][{value:>12}]");
        same!("[{value:012}][{value:*^+14}][{value:#014x}][{value:é>9}]");
    }
    macro_rules! all {
        ($($T:ident)+) => {$(
            for value in [<$T>::MIN, <$T>::MAX, 0, 1, 9, 10, 99, 100] {
                check(value);
            }
            for number in numbers(stringify!($T).len() as u64).take(200) {
                check((i128::from(number) * 0x1234_5678_9ABC_DEF1 >> (number % 120)) as $T);
            }
        )+};
    }
    all!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);
}

#[test]
fn texts_characters_truth_values() {
    for text in
        ["", "a", "twelve chars", "ä日本🦀", "quote \" back\\slash\n\r\t\0 \u{1} \u{7f} 'single'"]
    {
        same!("{text} {text:?}");
        same!(
            "[{text:14}][{text:>14}][{text:^15}][{text:-<14}][{text:.3}][{text:6.2}][{text:🦀^9.1}]"
        );
        let reference = &text;
        same!("{reference} {reference:?}");
    }
    for character in ['a', 'é', '日', '🦀', '\'', '"', '\\', '\n', '\0'] {
        same!("{character} {character:?} [{character:3}][{character:>3}]");
    }
    for truth in [true, false] {
        same!("{truth} {truth:?} [{truth:7}][{truth:>7?}][{truth:.2}]");
    }
    same!("{:?}", ());
}

#[test]
fn floats() {
    fn check<T: Copy + Display + Debug + LowerExp + UpperExp>(value: T) {
        same!("{value} {value:?} {value:e} {value:E}");
        same!("{value:.0} {value:.1} {value:.3} {value:.7?}");
        same!("{value:.0e} {value:.4e}");
        same!("[{value:+.2e}][{value:12.3e}][{value:012.2e}][{value:<+12e}]");
    }
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        0.5,
        1.5,
        2.5,
        0.25,
        0.35,
        9.5,
        9.96,
        99.95,
        0.05,
        0.95,
        1e16,
        1e15,
        9_999_999.0,
        1e-4,
        9.9e-5,
        1e-5,
        1e21,
        123_456.789,
        1e7,
        16_777_216.0,
        0.000_4,
        0.006,
    ];
    for value in special {
        check::<f64>(value);
        check(value as f32);
        same!("[{value:+}][{value:20}][{value:<20}][{value:^20}][{value:020.3}][{value:*>+20.1}]");
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        check(value);
        same!("[{value:+}][{value:8}][{value:<8}][{value:08}][{value:+08.1}]");
    }
    for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::EPSILON] {
        same!("{value:?} {value:e} {value:.3e}");
    }
    for value in [f32::MAX, f32::MIN_POSITIVE, 1e-45, f32::EPSILON] {
        check(value);
    }
    for bits in numbers(1).take(2000) {
        check(f32::from_bits(bits as u32));
        let value = f64::from_bits(bits);
        same!("{value:?} {value:e} {value:.9e}");
        check((bits as i64 >> (bits % 64)) as f64 / 1024.0);
    }
}

#[test]
fn references_trait_objects_messages_in_messages() {
    let (a, b) = (&7_u32, &&-3_i16);
    same!("{a} {b:?} {a:?}");
    let objects: [&dyn Debug; 4] = [&1_u8, &"text", &a, &'x'];
    for object in objects {
        same!("{object:?} and {object:5?}");
    }
    let object: &dyn Display = &2.5_f64;
    same!("{object:.2}");
    same!("left {} right", format_args!("[{} {}]", 1_u32, format_args!("({})", 'c')));
    same!("{} {}", format_args!("no values"), 3_u8);
    let address = &3_u8;
    same!("{address:p} {address:#p} {:?} {:20p}", address as *const u8, address as *const u8);
}

#[test]
fn positions_names_counts() {
    let (width, precision, name) = (9_usize, 2_usize, 1.25_f64);
    same!(
        "{1} {0} {1} {name} {0:>width$} {name:.precision$} {name:>1$.3$} {2}",
        1_u8,
        12_usize,
        "three",
        1_usize
    );
    same!("{:4$} {:.*} {{}} {{{}}}", 5_u32, 3_usize, 2.5_f32, 6_u16, 8_usize);
    same!("{}{}{}", 1_u8, 2_u8, 3_u8);
    same!("100 % of {}", "it");
}

#[test]
fn long_texts_are_cut_between_characters() {
    let long = "0123456789".repeat(40);
    let long = long.as_str();
    let cut = said(format_args!("{long}{}", 1_u8));
    assert_eq!(cut.len(), CAPACITY - 1);
    assert_eq!(cut.strip_suffix('…').expect("says so"), &long[..CAPACITY - 4]);
    for shift in 0..4 {
        let text = "a".repeat(shift) + &"🦀".repeat(100);
        let text = text.as_str();
        let cut = said(format_args!("{text}{}", 1_u8));
        let kept = cut.strip_suffix('…').expect("says so");
        assert!(text.starts_with(kept) && kept.len() > CAPACITY - 8, "{cut}");
    }
    // What just fits is whole.
    let fits = &long[..CAPACITY - 2];
    same!("{fits}{}", 1_u8);
    for padded in [
        said(format_args!("{:>400}", 1_u8)),
        said(format_args!("{:<400}", 1_u8)),
        said(format_args!("{:.400}", 0.1_f64)),
    ] {
        assert!(padded.ends_with('…') && padded.len() == CAPACITY - 1, "{padded}");
    }
}

#[test]
fn a_second_text_lies_behind_the_first() {
    let mut memory = MaybeUninit::uninit();
    let text = Text::new(&mut memory);
    text.push_str(&"x".repeat(300));
    text.finish();
    text.begin_second();
    text.push_str("kernel panic at column ");
    decimal(text, u64::from(u32::MAX));
    text.finish_second();
    // SAFETY: both end with a NUL.
    let [first, second] = [text.first(), text.second()]
        .map(|start| unsafe { core::ffi::CStr::from_ptr(start.cast()) }.to_str().expect("UTF-8"));
    assert_eq!(first, "x".repeat(CAPACITY - 4) + "…");
    assert_eq!(second, "kernel panic at column 4294967295");
}

#[test]
fn unknown_types_are_named() {
    struct Unknown;
    impl Display for Unknown {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            Ok(())
        }
    }
    assert_eq!(said(format_args!("a {} b {}", Unknown, 4_u8)), "a <unknown> b 4");
    let cell = RefCell::new(1);
    let error: &dyn Debug = &cell;
    assert_eq!(said(format_args!("{error:?}")), "<unknown>");
}
