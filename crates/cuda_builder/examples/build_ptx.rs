//! Compiles a kernel crate from the command line: `cargo run -p cuda_builder --example build_ptx -- CRATE OUTPUT.ptx [ARCH]`.

use std::process::ExitCode;

use cuda_builder::{CudaBuilder, Toolchain};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(krate), Some(output)) = (arguments.next(), arguments.next()) else {
        eprintln!(
            "usage: build_ptx CRATE OUTPUT.ptx [ARCH]\n\ntoolchains:\n{}",
            Toolchain::report()
        );
        return ExitCode::from(2);
    };
    let mut builder = CudaBuilder::new(krate).copy_to(output);
    match arguments.next().map(|name| name.parse()) {
        Some(Ok(arch)) => builder = builder.arch(arch),
        Some(Err(error)) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
        None => {}
    }
    match builder.build() {
        Ok(path) => {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(4)
        }
    }
}
