use cuda_std::{externally_visible, gpu_only};

#[gpu_only]
struct NotAFunction;

#[gpu_only(sm_90)]
fn with_option() {}

#[externally_visible]
struct NoSymbol;

#[externally_visible(always)]
static WITH_OPTION: u32 = 0;

fn main() {}
