//! Numbers in the places of formatters.
//!
//! A formatter is a function like `<u32 as core::fmt::Display>::fmt`. Messages hold its address beside that of the value, or the address of
//! a table of methods (of `&dyn Debug`) that has it. Where nobody calls formatters through pointers, each address becomes a tag that
//! `cuda_std` reads (its `panic/tag.rs` says which bits mean what), and nothing keeps the functions. Where a kernel does, by `format!` for
//! instance, the addresses stay, and the tags are found by comparing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{graph, is_called, names, template};
use crate::error::readable;

/// What `cuda_std` asks.
const TAG_FUNCTION: &str = "@__cuda_std_formatter_tag";
const KINDS_FUNCTION: &str = "@__cuda_std_message_kinds";

/// Types, as `cuda_std`'s `panic/tag.rs` numbers them. To those of numbers the binary logarithm of their size in bytes is added.
const UNSIGNED: u32 = 0x10;
const SIGNED: u32 = 0x20;
const WIDE_UNSIGNED: u32 = UNSIGNED + 4;
const WIDE_SIGNED: u32 = SIGNED + 4;
const FLOAT: u32 = 0x30;
const BOOL: u32 = 0x40;
const CHAR: u32 = 0x41;
const STR: u32 = 0x42;
const UNIT: u32 = 0x43;
const POINTER: u32 = 0x44;
const ARGUMENTS: u32 = 0x45;
const DYN: u32 = 0x46;

/// Kinds of values, of which `cuda_std` keeps the code if messages have them; `kind` in its `panic/tag.rs`.
mod kind {
    pub(super) const INTEGER: u32 = 1 << 0;
    pub(super) const WIDE_INTEGER: u32 = 1 << 1;
    pub(super) const FLOAT: u32 = 1 << 2;
    pub(super) const WORD: u32 = 1 << 3;
    pub(super) const CHAR: u32 = 1 << 4;
    pub(super) const STR: u32 = 1 << 5;
    pub(super) const QUOTED: u32 = 1 << 6;
    pub(super) const ARGUMENTS: u32 = 1 << 7;
    pub(super) const DYN: u32 = 1 << 8;
    pub(super) const NOTE: u32 = 1 << 9;
    pub(super) const REFERENCE: u32 = 1 << 10;
    pub(super) const RADIX: u32 = 1 << 11;
    pub(super) const OPTION: u32 = 1 << 12;
}

/// Ways to show a value; their place here is their number there.
const TRAITS: [&str; 9] = [
    "Display", "Debug", "LowerHex", "UpperHex", "Octal", "Binary", "LowerExp", "UpperExp",
    "Pointer",
];

/// Types of `core` of which every value has the same text.
const FIXED: [(&str, &str, &str); 10] = [
    ("core::cell::BorrowError", "Debug", "BorrowError"),
    ("core::cell::BorrowError", "Display", "RefCell already mutably borrowed"),
    ("core::cell::BorrowMutError", "Debug", "BorrowMutError"),
    ("core::cell::BorrowMutError", "Display", "RefCell already borrowed"),
    ("core::fmt::Error", "Debug", "Error"),
    ("core::alloc::layout::LayoutError", "Debug", "LayoutError"),
    ("core::array::TryFromSliceError", "Debug", "TryFromSliceError(())"),
    ("core::char::convert::CharTryFromError", "Debug", "CharTryFromError(())"),
    ("core::num::error::TryFromIntError", "Debug", "TryFromIntError(())"),
    (
        "core::num::error::TryFromIntError",
        "Display",
        "out of range integral type conversion attempted",
    ),
];

/// What `cuda_std` knows of a value by its formatter.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tag {
    /// Its type, how to show it, and the number of references in front.
    Known { ty: u32, by: u32, references: u32 },
    /// A text that stands for it.
    Note(String),
}

/// Defines what `cuda_std` asks, and puts tags in the places of formatters.
pub(super) fn rewrite(module: &str, full: bool) -> Cow<'_, str> {
    // Neither is there in a module that can't panic, or that wasn't made with `cuda_std`.
    let asks = |function: &str| {
        let declares = |line: &str| line.starts_with("declare ") && line.contains(function);
        module.lines().any(declares)
    };
    if !asks(TAG_FUNCTION) && !asks(KINDS_FUNCTION) {
        return Cow::Borrowed(module);
    }
    let tags = tags(module);
    let stay = full || !tags.is_empty() && graph::formats(module, |name| tags.contains_key(name));
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        if line.starts_with("declare ")
            && (line.contains(TAG_FUNCTION) || line.contains(KINDS_FUNCTION))
        {
            continue;
        }
        if stay {
            out.push_str(line)
        } else {
            replace(line, &tags, &mut out)
        }
        out.push('\n');
    }
    define(&tags, stay, kinds(module, &tags), &mut out);
    Cow::Owned(out)
}

/// The formatters whose addresses are taken.
fn tags(module: &str) -> BTreeMap<&str, Tag> {
    let mut tags = BTreeMap::new();
    for line in module.lines().filter(|line| !line.starts_with("declare ")) {
        for (at, name) in names(line) {
            // Most names are none of a formatter, and don't look so.
            if name.contains("3fmt")
                && !is_called(line, at + name.len())
                && !tags.contains_key(name)
                && let Some(tag) = Tag::of(&readable(name))
            {
                tags.insert(name, tag);
            }
        }
    }
    tags
}

/// The line with tags instead of addresses.
fn replace(line: &str, tags: &BTreeMap<&str, Tag>, out: &mut String) {
    let mut copied = 0;
    for (at, name) in names(line) {
        let end = at + name.len();
        if let Some(tag) = tags.get(name)
            && let Some(number) = tags.keys().position(|known| *known == name)
            && !is_called(line, end)
        {
            out.push_str(&line[copied..at]);
            match tag {
                Tag::Known { .. } => {
                    let _ = write!(out, "inttoptr (i64 {} to ptr)", tag.operand(number));
                }
                Tag::Note(_) => {
                    let _ = write!(out, "{}", note(number));
                }
            }
            copied = end;
        }
    }
    out.push_str(&line[copied..]);
}

/// The kinds of values that the module's messages may have.
fn kinds(module: &str, tags: &BTreeMap<&str, Tag>) -> u32 {
    let options = if template::any_has_options(module) { kind::OPTION } else { 0 };
    tags.values().fold(options, |kinds, tag| kinds | tag.kinds())
}

/// The name of the note of formatter `number`.
fn note(number: usize) -> String {
    format!("@__cuda_std_formatter_note.{number}")
}

/// The functions that `cuda_std` asks, and the notes they give.
fn define(tags: &BTreeMap<&str, Tag>, stay: bool, kinds: u32, out: &mut String) {
    let numbered = || tags.iter().enumerate();
    for (number, (_, tag)) in numbered() {
        if let Tag::Note(text) = tag {
            let (name, len) = (note(number), text.len());
            let _ = write!(out, "{name}.text = private constant [{len} x i8] c\"");
            for byte in text.bytes() {
                let _ = write!(out, "\\{byte:02X}");
            }
            let _ = writeln!(out, "\"");
            let _ = writeln!(
                out,
                "{name} = private constant {{ ptr, i64 }} {{ ptr {name}.text, i64 {len} }}"
            );
        }
    }
    let _ = writeln!(out, "define internal i64 {TAG_FUNCTION}(i64 %0) nounwind {{");
    let mut result = "%0".to_owned();
    if stay {
        result = "0".to_owned();
        for (number, (name, tag)) in numbered() {
            let operand = tag.operand(number);
            let _ = writeln!(out, "  %is.{number} = icmp eq i64 %0, ptrtoint (ptr {name} to i64)");
            let _ = writeln!(
                out,
                "  %tag.{number} = select i1 %is.{number}, i64 {operand}, i64 {result}"
            );
            result = format!("%tag.{number}");
        }
    }
    let _ = writeln!(out, "  ret i64 {result}\n}}");
    let _ = writeln!(out, "define internal i32 {KINDS_FUNCTION}() alwaysinline nounwind {{");
    let _ = writeln!(out, "  ret i32 {}\n}}", kinds);
}

impl Tag {
    /// The tag as an integer constant; `number` is the formatter's.
    fn operand(&self, number: usize) -> String {
        match self {
            Self::Known { ty, by, references } => (ty | by << 8 | references << 12).to_string(),
            Self::Note(_) => format!("ptrtoint (ptr {} to i64)", note(number)),
        }
    }

    /// What `cuda_std` needs to show such a value.
    fn kinds(&self) -> u32 {
        let Self::Known { ty, by, references } = *self else { return kind::NOTE };
        let mut kinds = match ty {
            WIDE_UNSIGNED | WIDE_SIGNED => kind::WIDE_INTEGER,
            UNSIGNED..FLOAT => kind::INTEGER,
            FLOAT..BOOL => kind::FLOAT,
            BOOL | UNIT => kind::WORD,
            CHAR => kind::CHAR,
            STR => kind::STR,
            POINTER => kind::RADIX,
            ARGUMENTS => kind::ARGUMENTS,
            _ => kind::DYN,
        };
        if references > 0 {
            kinds |= kind::REFERENCE;
        }
        match TRAITS.get(by as usize) {
            Some(&"Debug") if matches!(ty, CHAR | STR) => kinds |= kind::QUOTED,
            Some(&("LowerHex" | "UpperHex" | "Octal" | "Binary")) => kinds |= kind::RADIX,
            _ => {}
        }
        kinds
    }

    /// Of a function, by its readable name; `None` if it is no formatter.
    fn of(function: &str) -> Option<Self> {
        let (subject, formatting) = subject(function)?;
        let by = TRAITS.iter().position(|known| *known == formatting)? as u32;
        Some(Self::known(subject, formatting, by).unwrap_or_else(|| {
            let ty = subject.trim_start_matches(['&', ' ']);
            let fixed = FIXED.iter().find(|(known, how, _)| (*known, *how) == (ty, formatting));
            Self::Note(fixed.map_or_else(|| format!("<{ty}>"), |(_, _, text)| (*text).to_owned()))
        }))
    }

    fn known(subject: &str, formatting: &str, by: u32) -> Option<Self> {
        if formatting == "Pointer" {
            let ty = POINTER;
            return pointee(subject).is_some_and(is_thin).then_some(Self::Known {
                ty,
                by: 0,
                references: 0,
            });
        }
        let mut subject = subject;
        let mut references = 0;
        while let Some(inner) = subject.strip_prefix('&') {
            subject = inner.strip_prefix("mut ").unwrap_or(inner);
            references += 1;
        }
        let is_debug = formatting == "Debug";
        let is_exponential = matches!(formatting, "LowerExp" | "UpperExp");
        // The type, and how many of its references are part of the value.
        let (ty, inside) = match subject {
            "f32" => (FLOAT + 2, 0),
            "f64" => (FLOAT + 3, 0),
            _ if is_exponential => return None,
            "u8" => (UNSIGNED, 0),
            "u16" => (UNSIGNED + 1, 0),
            "u32" => (UNSIGNED + 2, 0),
            "u64" | "usize" => (UNSIGNED + 3, 0),
            "u128" => (WIDE_UNSIGNED, 0),
            "i8" => (SIGNED, 0),
            "i16" => (SIGNED + 1, 0),
            "i32" => (SIGNED + 2, 0),
            "i64" | "isize" => (SIGNED + 3, 0),
            "i128" => (WIDE_SIGNED, 0),
            "bool" => (BOOL, 0),
            "char" => (CHAR, 0),
            "str" => (STR, 1),
            "()" => (UNIT, 0),
            "core::fmt::Arguments" => (ARGUMENTS, 0),
            "dyn core::fmt::Debug" if is_debug => (DYN, 1),
            "dyn core::fmt::Display" if !is_debug => (DYN, 1),
            _ if subject.starts_with('*') && pointee(subject).is_some_and(is_thin) => (POINTER, 0),
            _ => return None,
        };
        Some(Self::Known { ty, by, references: u32::checked_sub(references, inside)? })
    }
}

/// What a formatter formats, and the trait: `u32` and `Display` of `<u32 as core::fmt::Display>::fmt`.
fn subject(function: &str) -> Option<(&str, &str)> {
    let inside = function.strip_prefix('<')?.strip_suffix(">::fmt")?;
    let (subject, formatting) = inside.rsplit_once(" as core::fmt::")?;
    formatting.bytes().all(|byte| byte.is_ascii_alphabetic()).then_some((subject, formatting))
}

/// What a pointer or reference points to.
fn pointee(ty: &str) -> Option<&str> {
    ["&mut ", "&", "*const ", "*mut "].iter().find_map(|start| ty.strip_prefix(start))
}

/// Whether pointers to the type are an address and no more.
fn is_thin(ty: &str) -> bool {
    ty != "str" && !ty.starts_with("dyn ") && (!ty.starts_with('[') || ty.contains("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSIGNED_32: Tag = Tag::Known { ty: UNSIGNED + 2, by: 0, references: 0 };

    #[test]
    fn types_and_traits_are_told_by_name() {
        let known = |ty, by, references| Some(Tag::Known { ty, by, references });
        let note = |text: &str| Some(Tag::Note(text.to_owned()));
        for (function, expected) in [
            ("<u32 as core::fmt::Display>::fmt", Some(UNSIGNED_32)),
            ("<usize as core::fmt::LowerHex>::fmt", known(UNSIGNED + 3, 2, 0)),
            ("<i128 as core::fmt::Debug>::fmt", known(SIGNED + 4, 1, 0)),
            ("<&&mut i8 as core::fmt::Binary>::fmt", known(SIGNED, 5, 2)),
            ("<f32 as core::fmt::LowerExp>::fmt", known(FLOAT + 2, 6, 0)),
            ("<u8 as core::fmt::LowerExp>::fmt", note("<u8>")),
            ("<&str as core::fmt::Display>::fmt", known(STR, 0, 0)),
            ("<&&str as core::fmt::Debug>::fmt", known(STR, 1, 1)),
            ("<&dyn core::fmt::Debug as core::fmt::Debug>::fmt", known(DYN, 1, 0)),
            ("<core::fmt::Arguments as core::fmt::Display>::fmt", known(ARGUMENTS, 0, 0)),
            ("<*const u8 as core::fmt::Debug>::fmt", known(POINTER, 1, 0)),
            ("<*const [u8] as core::fmt::Debug>::fmt", note("<*const [u8]>")),
            ("<&[u8; 4] as core::fmt::Pointer>::fmt", known(POINTER, 0, 0)),
            ("<kernels::Error as core::fmt::Debug>::fmt", note("<kernels::Error>")),
            ("<&kernels::Error as core::fmt::Debug>::fmt", note("<kernels::Error>")),
            (
                "<core::cell::BorrowMutError as core::fmt::Display>::fmt",
                note("RefCell already borrowed"),
            ),
            // A `str` without a reference: its formatter takes the length too.
            ("<str as core::fmt::Display>::fmt", note("<str>")),
            ("<u32 as core::fmt::Display>::fmt::{closure#0}", None),
            ("<u32 as my::fmt::Display>::fmt", None),
            ("<Iter<u8> as Iterator>::position::<<str as core::fmt::Debug>::fmt>", None),
            ("core::fmt::write", None),
        ] {
            assert_eq!(Tag::of(function), expected, "{function}");
        }
    }

    const NAME: &str = "_RNvXsi_NtNtNtCs5BSODPsnYV7_4core3fmt3num3impjNtB9_7Display3fmt";
    const OTHER: &str = "_RNvXs8_NtCs5BSODPsnYV7_4core5errorNtB5_5ErrorNtNtB7_3fmt7Display3fmt";

    /// A kernel that panics with two values.
    fn module() -> String {
        format!(
            "\
@table = private constant <{{ ptr, ptr }}> <{{ ptr null, ptr @{OTHER} }}>
define ptx_kernel void @kernel() {{
  store ptr @{NAME}, ptr %1, align 8, !dbg !4
  %2 = call i64 @__cuda_std_formatter_tag(i64 1)
  %3 = call i32 @__cuda_std_message_kinds()
  store ptr @table, ptr %1
}}
define internal i1 @{NAME}(ptr %0, ptr %1) {{
}}
define internal i1 @{OTHER}(ptr %0, ptr %1) {{
  %2 = call i1 @{NAME}(ptr %0, ptr %1)
}}
declare i64 @__cuda_std_formatter_tag(i64 noundef) #3
declare i32 @__cuda_std_message_kinds() #3
"
        )
    }

    #[test]
    fn addresses_become_tags() {
        let module = module();
        let changed = rewrite(&module, false);
        let number = UNSIGNED + 3;
        assert!(changed.contains(&format!(
            "  store ptr inttoptr (i64 {number} to ptr), ptr %1, align 8, !dbg !4\n"
        )));
        assert!(
            changed.contains("<{ ptr null, ptr @__cuda_std_formatter_note.0 }>\n"),
            "{changed}"
        );
        // Definitions and calls stay.
        assert!(changed.contains(&format!("define internal i1 @{NAME}(")));
        assert!(changed.contains(&format!("  %2 = call i1 @{NAME}(ptr %0, ptr %1)\n")));
        assert!(!changed.contains("declare"));
        assert!(changed.contains("ret i64 %0"), "{changed}");
        let kinds = kind::INTEGER | kind::NOTE;
        assert!(changed.contains(&format!("ret i32 {kinds}\n")), "{changed}");
    }

    #[test]
    fn addresses_stay_where_formatters_are_called() {
        let module = module();
        let writes = "  %4 = call i1 %5(ptr %6, ptr %7)\n";
        let formatting = module.replacen("  store", &format!("{writes}  store"), 1);
        for changed in [rewrite(&formatting, false), rewrite(&module, true)] {
            assert!(changed.contains(&format!("  store ptr @{NAME}, ptr %1, align 8, !dbg !4\n")));
            assert!(
                changed.contains(&format!("icmp eq i64 %0, ptrtoint (ptr @{NAME} to i64)")),
                "{changed}"
            );
            assert!(changed.contains("ret i64 %tag.1"), "{changed}");
        }
    }

    #[test]
    fn modules_that_do_not_ask_stay() {
        let module = "define void @f() {\n  ret void\n}\n";
        assert!(matches!(rewrite(module, false), Cow::Borrowed(_)));
    }
}
