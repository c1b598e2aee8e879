//! Any text that compiles runs, with little fuel and memory.
#![no_main]

#[path = "../bodies/mutate.rs"]
mod mutate;
#[path = "../bodies/run.rs"]
mod run;

libfuzzer_sys::fuzz_target!(|data: &[u8]| run::body(&String::from_utf8_lossy(data)));
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed, libfuzzer_sys::fuzzer_mutate)
});
