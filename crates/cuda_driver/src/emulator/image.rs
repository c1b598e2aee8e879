//! Images: what a program hands over to be loaded. PTX text is compiled; machine code is refused.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use ptx::ast::{Function, Item, Linkage, Module, Operand, StateSpace};
use ptx_emulator::Program;

use crate::error::{ApiError, Outcome};
use crate::types::{HostPtr, Text};

/// The newest PTX that the driver of CUDA 13.0 takes (recorded on an H200).
const NEWEST_PTX: (u32, u32) = (9, 0);
const NEWEST_PTX_TEXT: &str = "9.0";
/// The device's architecture.
const DEVICE_SM: u32 = 90;

/// Functions that a device provides without a definition (CUDA C++ Programming Guide, Formatted Output,
/// Assertion, Dynamic Global Memory Allocation).
const PROVIDED_FUNCTIONS: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

/// Compiled PTX text.
pub(crate) struct Image {
    pub program: Arc<Program>,
    /// Constant memory that the module's variables take, bytes.
    pub constant_bytes: u64,
}

impl Deref for Image {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

/// What begins a file that is not PTX text.
const MAGIC: [(&[u8], &str); 3] = [
    (b"\x7fELF", "a cubin (machine code)"),
    (b"\x50\xED\x55\xBA", "a fat binary"),
    (b"\xB1\x43\x62\x46", "a fat binary"),
];

/// Refuses machine code, which begins with a magic number.
pub(crate) fn check_magic(start: &[u8]) -> Outcome {
    match MAGIC.iter().find(|(magic, _)| start.starts_with(magic)) {
        Some((_, what)) => Err(ApiError::BinaryImage { what }),
        None => Ok(()),
    }
}

/// The PTX text that an image without a size holds: up to its NUL.
pub(crate) fn image_text(image: HostPtr) -> Result<&'static [u8], ApiError> {
    // Read a byte at a time, because a text may be shorter than the magic number.
    let mut start = Vec::new();
    for index in 0..4 {
        match image.offset(index).read("image", 1)? {
            [0] => break,
            byte => start.extend_from_slice(byte),
        }
    }
    check_magic(&start)?;
    image.c_string("image")
}

/// Compiles PTX text, after the checks that NVIDIA's driver makes first. `max_registers` is what the caller
/// allows a thread.
pub(crate) fn compile(text: &[u8], max_registers: Option<u32>) -> Result<Arc<Image>, ApiError> {
    let text = std::str::from_utf8(text).map_err(|error| ApiError::NotPtx {
        why: format!("byte {} is not UTF-8", error.valid_up_to()),
    })?;
    let version = directive(text, ".version").ok_or_else(|| ApiError::NotPtx {
        why: if text.trim().is_empty() { "it is empty" } else { "it has no .version directive" }
            .to_owned(),
    })?;
    if parse_version(version).is_some_and(|version| version > NEWEST_PTX) {
        return Err(ApiError::PtxVersion { found: version.to_owned(), newest: NEWEST_PTX_TEXT });
    }
    if let Some(target) = directive(text, ".target")
        && sm_number(target).is_some_and(|sm| sm > DEVICE_SM)
    {
        return Err(ApiError::PtxTarget { target: target.to_owned() });
    }
    let mut program = Program::compile(text).map_err(|error| ApiError::Compile { error })?;
    if let Some(limit) = max_registers {
        program.limit_registers(limit);
    }
    // The program compiled, so it parses.
    let module = ptx::parse(text).map_err(|error| ApiError::NotPtx { why: error.to_string() })?;
    check_calls(&module)?;
    Ok(Arc::new(Image { program: Arc::new(program), constant_bytes: constant_bytes(&module) }))
}

/// Constant memory of a module's variables, each at the next multiple of its alignment; bytes.
fn constant_bytes(module: &Module) -> u64 {
    module.items.iter().fold(0, |end: u64, item| match item {
        Item::Variable(variable)
            if variable.space == StateSpace::Const && variable.linkage != Linkage::Extern =>
        {
            let element = variable.ty.bytes().unwrap_or(1) * variable.vector.max(1);
            let align = u64::from(variable.align.unwrap_or(element).max(1));
            let start = end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
            start.saturating_add(variable.bytes().unwrap_or(0))
        }
        _ => end,
    })
}

fn functions(module: &Module) -> impl Iterator<Item = &Function> {
    module.items.iter().filter_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    })
}

/// Refuses a call of a function that no text defines and the device does not provide, as NVIDIA's
/// assembler does when the module is loaded.
fn check_calls(module: &Module) -> Outcome {
    let aliases = module.items.iter().filter_map(|item| match item {
        Item::Alias { name, .. } => Some(name.as_str()),
        _ => None,
    });
    let defined: BTreeSet<&str> = functions(module)
        .filter(|function| function.body.is_some())
        .map(|function| function.name.as_str())
        .chain(aliases)
        .chain(PROVIDED_FUNCTIONS)
        .collect();
    let undefined: BTreeSet<&str> = functions(module)
        .map(|function| function.name.as_str())
        .filter(|name| !defined.contains(name))
        .collect();
    if !undefined.is_empty() {
        let bodies = functions(module).filter_map(|function| function.body.as_deref());
        let called = bodies
            .flat_map(ptx::walk::instructions)
            .filter(|instruction| instruction.opcode == "call")
            .flat_map(|instruction| &instruction.operands)
            .find_map(|operand| match operand {
                Operand::Name(name) if undefined.contains(name.as_str()) => Some(name),
                _ => None,
            });
        if let Some(name) = called {
            return Err(ApiError::UnresolvedFunction { name: name.clone() });
        }
    }
    Ok(())
}

/// The word after a directive in the head of a module; comments are skipped.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n')?.1;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else {
            let word = rest.split(char::is_whitespace).next().filter(|word| !word.is_empty())?;
            rest = &rest[word.len()..];
            if word == name {
                let value = rest.trim_start();
                return value
                    .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/'))
                    .next();
            }
        }
    }
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// 90 of `sm_90` or `sm_90a`.
pub(crate) fn sm_number(target: &str) -> Option<u32> {
    let digits: String =
        target.strip_prefix("sm_")?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Reads a file that holds PTX text.
pub(crate) fn read_file(path: Text) -> Result<Vec<u8>, ApiError> {
    let path = path.string("path")?;
    let bytes = std::fs::read(&path).map_err(|error| ApiError::File { path, error })?;
    check_magic(&bytes)?;
    Ok(bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_module_is_read_past_comments() {
        let text = "// .version 1.0\n/* .version 2.0 */ .version 8.8\n.target sm_90a, debug\n";
        assert_eq!(directive(text, ".version"), Some("8.8"));
        assert_eq!(directive(text, ".target"), Some("sm_90a"));
        assert_eq!(directive("// nothing", ".version"), None);
        assert_eq!(sm_number("sm_100f"), Some(100));
        assert_eq!(sm_number("debug"), None);
        assert_eq!(parse_version("9.10"), Some((9, 10)));
    }

    #[test]
    fn machine_code_is_told_apart_from_text() {
        assert!(matches!(check_magic(b"\x7fELF\x02"), Err(ApiError::BinaryImage { .. })));
        assert!(matches!(
            check_magic(&0xBA55_ED50_u32.to_le_bytes()),
            Err(ApiError::BinaryImage { .. })
        ));
        assert!(check_magic(b".version 8.8").is_ok());
        assert!(check_magic(b"").is_ok());
    }
}
