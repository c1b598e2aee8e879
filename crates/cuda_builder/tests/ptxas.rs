//! The pass through NVIDIA's assembler. Real builds of `fixtures/kernels`.

mod common;

use std::fs;

use common::{assert_contains, builder, copy_fixture, edit, toolchain};
use cuda_builder::{CudaBuilderError, NvvmArch};

#[test]
#[ignore = "needs NVIDIA's ptxas, which not every machine has"]
fn ptxas_reports_each_kernel_and_its_refusal_fails_the_build() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "ptxas");
    let files = builder(&folder)
        .ptxas(true)
        .build_archs([NvvmArch::Compute75, NvvmArch::Compute90a])
        .expect("ptxas accepts the fixture");
    for (_, ptx) in &files.ptx {
        let report = fs::read_to_string(ptx.with_extension("ptxas")).expect("it is there");
        let line = report.lines().find(|line| line.starts_with("kernel `reverse`:"));
        assert_contains(line.expect(&report), &[", 256 bytes of shared memory per block"]);
        assert!(!report.contains(": 0 registers"), "{report}");
    }

    edit(
        &folder.join("src/lib.rs"),
        "unsafe { *c.add(i) = sqrt(*a.add(i)) }",
        "unsafe { *c.add(i) = sqrt(*a.add(i)); core::arch::asm!(\"no.such.instruction;\") }",
    );
    edit(
        &folder.join("src/lib.rs"),
        "feature(link_llvm_intrinsics)",
        "feature(link_llvm_intrinsics, asm_experimental_arch)",
    );
    builder(&folder).build().expect("LLVM takes any inline PTX");
    let error = builder(&folder).ptxas(true).build().expect_err("there is no such instruction");
    assert!(matches!(error, CudaBuilderError::PtxasFailed { .. }), "{error}");
    assert_contains(&error.to_string(), &["in `root`", "instruction: 'no'", "command: "]);
}
