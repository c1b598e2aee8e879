//! Running LLVM's tools on the kernels' module.

use std::path::Path;
use std::process::Command;

use crate::command;
use crate::error::CudaBuilderError;
use crate::toolchain::Toolchain;

/// Runs one tool with `arguments`.
///
/// # Errors
///
/// If it can't be run or fails; the error holds what it said, with Rust names readable.
pub(crate) fn run<'a>(
    toolchain: &Toolchain,
    tool: &'static str,
    arguments: impl IntoIterator<Item = Argument<'a>>,
) -> Result<(), CudaBuilderError> {
    let mut command = Command::new(toolchain.llvm_tool(tool));
    for argument in arguments {
        match argument {
            Argument::Flag(flag) => command.arg(flag),
            Argument::Path(path) => command.arg(path),
            Argument::Output(path) => command.arg("-o").arg(path),
        };
    }
    let output = command::output(&mut command)?;
    if output.status.success() {
        return Ok(());
    }
    let said = demangle_all(&String::from_utf8_lossy(&output.stderr));
    Err(CudaBuilderError::LlvmFailed {
        tool: tool.to_owned(),
        status: output.status.to_string(),
        command: command::line(&command),
        help: help(&said),
        output: said,
    })
}

/// One argument of a tool.
pub(crate) enum Argument<'a> {
    Flag(String),
    Path(&'a Path),
    /// `-o PATH`
    Output(&'a Path),
}

/// A flag.
pub(crate) fn flag<'a>(text: impl Into<String>) -> Argument<'a> {
    Argument::Flag(text.into())
}

/// What to do about the messages that kernels meet.
fn help(said: &str) -> Vec<String> {
    let mut help = Vec::new();
    if said.contains("no libcall available") || said.contains("Cannot select") {
        help.push(
            "the GPU has no instruction for an operation the code asks of LLVM, such as f32::sin or f64::exp from core's intrinsics; use cuda_std's float functions or the libm crate"
                .to_owned(),
        );
    }
    if said.contains("does not support target") {
        help.push(
            "ask for a PTX version that knows the architecture, or leave `ptx_version` out"
                .to_owned(),
        );
    }
    help
}

/// The text with every mangled Rust symbol made readable.
pub(crate) fn demangle_all(text: &str) -> String {
    let is_symbol = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let symbol = is_symbol(first);
        let length = rest.find(|c: char| is_symbol(c) != symbol).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        match rustc_demangle::try_demangle(word) {
            Ok(name) if symbol => out.push_str(&format!("{name:#}")),
            _ => out.push_str(word),
        }
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_names_in_messages_are_readable() {
        assert_eq!(
            demangle_all("error: in function _RNvNtCs5BSODPsnYV7_4core9panicking9panic_fmt: §no\n"),
            "error: in function core::panicking::panic_fmt: §no\n"
        );
        assert_eq!(demangle_all("no symbols, _R alone"), "no symbols, _R alone");
    }

    #[test]
    fn known_messages_get_help() {
        assert!(help("LLVM ERROR: no libcall available for fsin")[0].contains("libm"));
        assert!(help("anything else").is_empty());
    }
}
