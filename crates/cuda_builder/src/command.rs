//! Running programs, with the command line kept for error messages.

use std::process::{Command, Output};

use crate::error::CudaBuilderError;

/// Runs a command to its end and gives its output, whatever its exit status.
///
/// # Errors
///
/// If it can't be started.
pub(crate) fn output(command: &mut Command) -> Result<Output, CudaBuilderError> {
    command.output().map_err(|source| CudaBuilderError::CouldNotRun {
        program: command.get_program().into(),
        command: line(command),
        source,
    })
}

/// The command line as one would type it, with the folder to run it in and the variables it sets.
pub(crate) fn line(command: &Command) -> String {
    let mut text = String::new();
    if let Some(folder) = command.get_current_dir() {
        text.push_str(&format!("cd {} && ", quote(&folder.to_string_lossy())));
    }
    for (name, value) in command.get_envs() {
        // Variables that are only removed, or emptied to override a setting, would be noise.
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text.push_str(&format!(
                "{}={} ",
                name.to_string_lossy(),
                quote(&value.to_string_lossy())
            ));
        }
    }
    text.push_str(&quote(&command.get_program().to_string_lossy()));
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&quote(&argument.to_string_lossy()));
    }
    text
}

/// Quotes a word for a POSIX shell, where it needs it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_can_be_pasted_into_a_shell() {
        let mut command = Command::new("/usr/bin/cargo");
        command
            .args(["rustc", "--config", "profile.release.lto=\"fat\"", "it's"])
            .env("A", "b c")
            .env("WRAPPER", "")
            .current_dir("/tmp");
        assert_eq!(
            line(&command),
            r#"cd /tmp && A='b c' /usr/bin/cargo rustc --config 'profile.release.lto="fat"' 'it'\''s'"#
        );
    }
}
