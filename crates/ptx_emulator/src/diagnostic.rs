//! The text of a [`Fault`]: what, who, where, how the address lies, and one line of help.

use std::fmt::{self, Formatter};

use crate::checks::{Finding, Party};
use crate::fault::{Code, Ending, Fault, FaultKind, Threads};
use crate::program::{SourceLine, SourcePosition};
use crate::row::lanes;

/// Most functions of a call stack that are shown.
const STACK_SHOWN: usize = 12;

pub(crate) fn write(fault: &Fault, f: &mut Formatter<'_>) -> fmt::Result {
    let class = match fault.ending() {
        Ending::KernelBug => "error",
        Ending::Unsupported => "unsupported",
        Ending::LimitReached => "limit reached",
        Ending::HostMisuse => "launch refused",
    };
    write!(f, "{class}: {}", headline(fault))?;
    write!(
        f,
        "\n  kernel:  {}, grid {}, block {}",
        fault.kernel,
        triple(fault.grid),
        triple(fault.block_dim)
    )?;
    if let Some(threads) = &fault.threads {
        write!(f, "\n  where:   ")?;
        write_threads(threads, fault.block_dim, f)?;
    }
    if let Some(access) = &fault.access {
        write!(f, "\n  address: {:#x} in {} memory", access.address, access.space)?;
        if !access.place.is_empty() {
            write!(f, ", {}", access.place)?;
        }
    }
    if let Some(code) = &fault.code {
        write!(f, "\n  ptx:     line {}: {}", code.line, code.text)?;
        if let Some(source) = &code.source {
            write_source(source, "", f)?;
        }
    }
    if fault.stack.len() > 1 {
        for (depth, entry) in fault.stack.iter().take(STACK_SHOWN).enumerate() {
            let label = if depth == 0 { "stack:" } else { "" };
            write!(f, "\n  {label:<8} {}", entry.function)?;
            // The innermost position is shown above.
            if depth > 0
                && let Some(line) = &entry.line
                && let Some(position) = own_position(line)
            {
                write!(f, " at {}", place(position))?;
            }
        }
        if fault.stack.len() > STACK_SHOWN {
            write!(f, "\n           and {} more", fault.stack.len() - STACK_SHOWN)?;
        }
    }
    for note in &fault.notes {
        write!(f, "\n  note:    {note}")?;
    }
    write!(f, "\nhelp: {}", fault.help)
}

/// Block, warp, lanes, and the first lane's thread.
fn write_threads(threads: &Threads, block_dim: [u32; 3], f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "block {}", triple(threads.block))?;
    if threads.lanes == 0 {
        return Ok(());
    }
    let plural = if threads.lanes.count_ones() == 1 { "lane" } else { "lanes" };
    write!(f, ", warp {}, {plural} {}", threads.warp, ranges(threads.lanes))?;
    let first = threads.lanes.trailing_zeros() + threads.warp * 32;
    let label = if threads.lanes.count_ones() == 1 { "thread" } else { "first thread" };
    write!(f, " ({label} {})", triple(thread_index(first, block_dim)))
}

pub(crate) fn write_finding(finding: &Finding, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{} {}: {}", finding.check(), finding.severity, finding.title)?;
    write!(
        f,
        "\n  kernel:  {}, grid {}, block {}",
        finding.kernel,
        triple(finding.grid),
        triple(finding.block_dim)
    )?;
    if let Some(address) = &finding.address {
        write!(f, "\n  address: {:#x} in {} memory", address.address, address.space)?;
        if !address.place.is_empty() {
            write!(f, ", {}", address.place)?;
        }
    }
    for party in &finding.parties {
        write_party(party, finding.block_dim, f)?;
    }
    for note in &finding.notes {
        write!(f, "\n  note:    {note}")?;
    }
    if finding.count > 1 {
        write!(f, "\n  note:    found {} times; this is the first", finding.count)?;
    }
    write!(f, "\nhelp: {}", finding.help)
}

fn write_party(party: &Party, block_dim: [u32; 3], f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "\n  {:<8} ", format!("{}:", party.action))?;
    write_threads(&party.threads, block_dim, f)?;
    if let Some(code) = &party.code {
        write!(f, "\n    ptx:     line {}: {}", code.line, code.text)?;
        if let Some(source) = &code.source {
            write_source(source, "  ", f)?;
        }
        if let Some(excerpt) = &party.excerpt {
            write!(f, "\n    code:    {excerpt}")?;
        }
    }
    for entry in party.stack.iter().skip(1).take(STACK_SHOWN) {
        write!(f, "\n    in:      {}", entry.function)?;
        if let Some(position) = entry.line.as_ref().and_then(own_position) {
            write!(f, " at {}", place(position))?;
        }
    }
    Ok(())
}

fn headline(fault: &Fault) -> String {
    if let Some(message) = &fault.panic {
        return match &fault.kind {
            FaultKind::Assert { file, line, .. } => {
                format!("kernel panicked at {file}:{line}: {message}")
            }
            _ => format!("kernel panicked: {message}"),
        };
    }
    let access = fault.access.as_ref();
    let action = access.map_or_else(String::new, |access| {
        format!(": {} of {} bytes at {:#x}", access.action, access.bytes, access.address)
    });
    match &fault.kind {
        FaultKind::IllegalAddress => format!("illegal address{action}"),
        FaultKind::MisalignedAddress => format!("misaligned address{action}"),
        FaultKind::InvalidAddressSpace => format!("address of another state space{action}"),
        FaultKind::NotSharedMemory => format!("not an address of shared memory{action}"),
        FaultKind::InvalidPc => "call of an address that is not a function".to_owned(),
        FaultKind::Trap => "the kernel executed a trap".to_owned(),
        FaultKind::Breakpoint => "the kernel hit a breakpoint, and there is no debugger".to_owned(),
        FaultKind::Assert { message, file, line, function } => {
            let inside =
                if function.is_empty() { String::new() } else { format!(" in {function}") };
            format!("assertion failed at {file}:{line}{inside}: {message}")
        }
        FaultKind::Deadlock => "deadlock: no thread of the block can go on".to_owned(),
        FaultKind::InvalidBarrier => "invalid barrier".to_owned(),
        FaultKind::InvalidWarpMask => {
            "a lane executes a warp instruction whose member mask leaves it out".to_owned()
        }
        FaultKind::IncompleteWarp => {
            "a warp instruction needs all 32 lanes, and some are not there".to_owned()
        }
        FaultKind::InvalidMbarrier => "invalid use of an mbarrier object".to_owned(),
        FaultKind::FellOffEnd => "the end of a function was reached without a return".to_owned(),
        FaultKind::UnsupportedInstruction { mnemonic } => {
            format!("the emulator does not implement `{mnemonic}`")
        }
        FaultKind::UnresolvedFunction { name } if name.starts_with("llvm.") => {
            format!("unresolved intrinsic `{name}`")
        }
        FaultKind::UnresolvedFunction { name } => {
            format!("call of `{name}`, which is defined nowhere")
        }
        FaultKind::FuelExhausted => "the launch executed as many instructions as it may".to_owned(),
        FaultKind::OutOfHostMemory => {
            "the launch needs more of the host's memory than it may take".to_owned()
        }
        FaultKind::StackOverflow => "stack overflow".to_owned(),
        FaultKind::CallDepth => "too many nested calls".to_owned(),
        FaultKind::BadLaunch(problem) => problem.to_string(),
    }
}

fn write_source(source: &SourceLine, indent: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(position) = own_position(source) else {
        return Ok(());
    };
    write!(f, "\n  {indent}source:  {}", place(position))?;
    if source.chain.len() > 1 {
        let chain: Vec<String> = source.chain.iter().map(place).collect();
        write!(f, "\n  {indent}inlined: {}", chain.join(", called at "))?;
    }
    Ok(())
}

/// Largest source file that is read, bytes.
const LARGEST_SOURCE: u64 = 4 << 20;

/// The text of the line that is shown for a source position, if its file is there.
pub(crate) fn excerpt(source: &SourceLine) -> Option<String> {
    let position = own_position(source)?;
    let path = std::path::Path::new(&position.file);
    // The module's text names the file: only what looks like source is read.
    let known = ["rs", "cu", "cuh", "cpp", "h", "py"];
    if !known.contains(&path.extension()?.to_str()?) {
        return None;
    }
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > LARGEST_SOURCE {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().nth(position.line.checked_sub(1)? as usize)?.trim();
    (!line.is_empty()).then(|| line.chars().take(160).collect())
}

/// The innermost position in code of the user's own: not in the standard library or a registry crate.
pub(crate) fn own_position(source: &SourceLine) -> Option<&SourcePosition> {
    let foreign = |position: &&SourcePosition| {
        ["/rustlib/", "/rustc/", "/registry/src/"].iter().any(|part| position.file.contains(part))
    };
    source.chain.iter().find(|position| !foreign(position)).or(source.chain.first())
}

/// PTX line, and the source line in the user's own code.
pub(crate) fn code_place(code: &Code) -> String {
    let source = code.source.as_ref().and_then(own_position);
    let source = source.map_or_else(String::new, |position| format!(", {}", place(position)));
    format!("ptx line {}{source}", code.line)
}

/// `file:line:column`, the standard library's files without the path to the toolchain.
fn place(position: &SourcePosition) -> String {
    let file = match position.file.find("/library/") {
        Some(at) if position.file.contains("/rust") => &position.file[at + "/library/".len()..],
        _ => position.file.as_str(),
    };
    match (position.line, position.column) {
        (0, _) => file.to_owned(),
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

pub(crate) fn triple(value: [u32; 3]) -> String {
    format!("({}, {}, {})", value[0], value[1], value[2])
}

pub(crate) fn thread_index(linear: u32, block: [u32; 3]) -> [u32; 3] {
    let (x, y) = (block[0].max(1), block[1].max(1));
    [linear % x, linear / x % y, linear / x / y]
}

/// Lanes as ranges: `0-3, 8`.
pub(crate) fn ranges(mask: u32) -> String {
    let mut parts = Vec::new();
    let mut run: Option<(usize, usize)> = None;
    for lane in lanes(mask) {
        run = match run {
            Some((start, end)) if end + 1 == lane => Some((start, lane)),
            previous => {
                parts.extend(previous);
                Some((lane, lane))
            }
        };
    }
    parts.extend(run);
    let text: Vec<String> = parts
        .into_iter()
        .map(|(start, end)| if start == end { start.to_string() } else { format!("{start}-{end}") })
        .collect();
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_ranges() {
        assert_eq!(ranges(0), "");
        assert_eq!(ranges(1), "0");
        assert_eq!(ranges(u32::MAX), "0-31");
        assert_eq!(ranges(0b1000_0000_1011), "0-1, 3, 11");
    }
}
