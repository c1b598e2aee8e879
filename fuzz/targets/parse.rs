//! Any text through parser, validator, control-flow graph and printer.
#![no_main]

#[path = "../bodies/mutate.rs"]
mod mutate;
#[path = "../bodies/parse.rs"]
mod parse;

libfuzzer_sys::fuzz_target!(|data: &[u8]| parse::body(&String::from_utf8_lossy(data)));
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed, libfuzzer_sys::fuzzer_mutate)
});
