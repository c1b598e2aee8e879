//! The Ferrowarp host program: see `ferrowarp --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ferrowarp::commands::main(std::env::args_os()).code())
}
