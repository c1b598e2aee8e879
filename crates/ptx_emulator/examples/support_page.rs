//! Prints `docs/SUPPORT.md`; `cargo xtask tables` writes it, but builds the kernels first.

fn main() {
    print!("{}", ptx_emulator::support::page());
}
