//! Where the commands write: text for people, or one JSON value for programs.
//!
//! Kernels print to the process's standard output on their own, on a GPU through the NVIDIA driver. With `--json`
//! that would mix with the JSON, so standard output is then redirected into a temporary file for the whole run, and
//! what kernels print is handed to the command as text.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use ptx_emulator::CheckSet;
use serde::Serialize;

use crate::emulate::Ran;
use crate::error::{Error, ExitStatus};
use crate::findings::Findings;

/// Emphasis for headings.
pub const HEADING: Style = Style::new().bold();
/// For what works.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// For what is missing.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// For what is missing but not needed.
pub const DIM: Style = AnsiColor::Yellow.on_default();

/// Standard output, as text or as JSON.
pub struct Console {
    json: bool,
    out: Box<dyn Write>,
    findings: Findings,
    #[cfg(unix)]
    printed: Option<std::fs::File>,
}

impl Console {
    /// A console that writes text, or with `json` one JSON value.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] when standard output cannot be redirected.
    pub fn new(json: bool) -> Result<Self, Error> {
        if !json {
            return Ok(Self {
                json,
                // Drops colours when standard output is no terminal or NO_COLOR is set.
                out: Box::new(anstream::stdout()),
                findings: Findings::default(),
                #[cfg(unix)]
                printed: None,
            });
        }
        #[cfg(unix)]
        {
            let (out, printed) = redirect().map_err(Error::Output)?;
            Ok(Self {
                json,
                out: Box::new(out),
                findings: Findings::default(),
                printed: Some(printed),
            })
        }
        #[cfg(not(unix))]
        Ok(Self { json, out: Box::new(io::stdout()), findings: Findings::default() })
    }

    /// Whether the command is to write JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Writes a line of text; nothing with `--json`.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] when standard output is closed or full.
    pub fn line(&mut self, text: impl Display) -> Result<(), Error> {
        if self.json {
            return Ok(());
        }
        // Flushed at once, so that the order is right when a kernel prints next.
        writeln!(self.out, "{text}").and_then(|()| self.out.flush()).map_err(Error::Output)
    }

    /// Writes a JSON value on one line; nothing without `--json`.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] when standard output is closed or full.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), Error> {
        if !self.json {
            return Ok(());
        }
        let mut value =
            serde_json::to_value(value).map_err(|error| Error::Output(io::Error::from(error)))?;
        if self.findings.are_wanted() {
            self.findings.add(Vec::new());
            if let Some(object) = value.as_object_mut() {
                object.insert("findings".to_owned(), self.findings.json());
            }
        }
        serde_json::to_writer(&mut self.out, &value)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(self.out))
            .and_then(|()| self.out.flush())
            .map_err(Error::Output)
    }

    /// Sets which checks watch the kernels of this run; what they find is part of the output.
    pub fn set_checks(&mut self, checks: CheckSet) {
        self.findings = Findings::new(checks);
    }

    /// Which checks watch the kernels of this run.
    #[must_use]
    pub fn checks(&self) -> CheckSet {
        self.findings.checks()
    }

    /// Takes what the checks of a launch found.
    pub fn found(&mut self, ran: &mut Ran) {
        self.findings.add(std::mem::take(&mut ran.findings));
        self.findings.add_leaks(std::mem::take(&mut ran.leaks));
        self.findings.add_left_out(ran.findings_left_out);
    }

    /// The end of a run: writes what the checks found, if there were any. A run that went well has failed if they found an
    /// error.
    ///
    /// # Errors
    ///
    /// `result`'s own error, [`Error::Findings`], or [`Error::Output`].
    pub fn conclude(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        if !self.findings.are_wanted() {
            return result;
        }
        self.findings.add(Vec::new());
        // A command line or file that is not usable: nothing ran.
        if !matches!(&result, Err(error) if error.exit_status() == ExitStatus::Usage) {
            self.line(self.findings.text())?;
        }
        result.and_then(|()| self.findings.verdict())
    }

    /// What kernels printed since the last call; with text output they print for themselves, and this is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] when the temporary file cannot be read.
    pub fn take_printed(&mut self) -> Result<String, Error> {
        flush_everything();
        #[cfg(unix)]
        if let Some(file) = &mut self.printed {
            use std::io::{Read, Seek, SeekFrom};
            let mut read = || {
                let mut bytes = Vec::new();
                file.seek(SeekFrom::Start(0))?;
                file.read_to_end(&mut bytes)?;
                file.set_len(0)?;
                // The redirected descriptor shares this offset.
                file.seek(SeekFrom::Start(0))?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            };
            return read().map_err(Error::Output);
        }
        Ok(String::new())
    }

    /// A bar for work of `steps` steps on standard error; nothing unless that is a terminal.
    #[must_use]
    pub fn progress(&self, steps: u64, what: &'static str) -> ProgressBar {
        let bar = ProgressBar::new(steps);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{bar:30}] {elapsed}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(120));
        bar
    }
}

/// Writes out what Rust's and C's standard output hold back. The NVIDIA driver prints through C's, which
/// keeps text until it has a full buffer when standard output is no terminal.
pub fn flush_everything() {
    // Nothing is lost when this fails: the next write reports the same error.
    let _ = io::stdout().flush();
    #[cfg(unix)]
    // SAFETY: fflush(NULL) flushes every open output stream and has no precondition (C17 7.21.5.2).
    unsafe {
        libc::fflush(std::ptr::null_mut());
    }
}

/// Points the process's standard output at a new temporary file; returns the old standard output and that file.
#[cfg(unix)]
fn redirect() -> io::Result<(std::fs::File, std::fs::File)> {
    io::stdout().flush()?;
    let original = rustix::io::dup(rustix::stdio::stdout())?;
    let file = tempfile::tempfile()?;
    rustix::stdio::dup2_stdout(&file)?;
    Ok((original.into(), file))
}
