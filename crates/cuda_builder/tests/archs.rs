//! One build for several architectures. Real builds of `fixtures/kernels`.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{assert_contains, builder, copy_fixture, edit, scratch, toolchain};
use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch};

#[test]
fn each_architecture_gets_its_own_ptx_and_the_index_names_them() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "archs");
    let build = || {
        builder(&folder).copy_to(folder.join("out/kernels.ptx")).build_archs([
            NvvmArch::Compute90,
            NvvmArch::Compute75,
            NvvmArch::Compute90,
        ])
    };
    let files = build().expect("the fixture compiles");
    let archs: Vec<NvvmArch> = files.ptx.iter().map(|(arch, _)| *arch).collect();
    assert_eq!(archs, [NvvmArch::Compute75, NvvmArch::Compute90]);

    let read = |path: &Path| fs::read_to_string(path).expect("it is there");
    for (arch, path) in &files.ptx {
        assert!(path.ends_with(format!("fixture_kernels.{arch}.ptx")), "{}", path.display());
        let ptx = read(path);
        assert_contains(&ptx, &[&format!(".target {arch}\n"), ".entry multiply_add("]);
        // The crate was compiled for each: it asks for the architecture.
        assert_eq!(ptx.contains(".entry only_from_sm_90("), *arch == NvvmArch::Compute90);
        assert_eq!(read(&folder.join(format!("out/kernels.{arch}.ptx"))), ptx);
    }
    assert_eq!(
        read(&files.index),
        "&[\n    (\"sm_75\", include_str!(\"fixture_kernels.sm_75.ptx\")),\n    (\"sm_90\", include_str!(\"fixture_kernels.sm_90.ptx\")),\n]\n"
    );
    let copied = folder.join("out/kernels.rs");
    assert_contains(&read(&copied), &["(\"sm_90\", include_str!(\"kernels.sm_90.ptx\"))"]);

    // A program that includes the index has the text.
    let program = folder.join("program.rs");
    let main = "const KERNELS: &[(&str, &str)] = include!(\"out/kernels.rs\");\n\
                fn main() { KERNELS.iter().for_each(|(arch, ptx)| println!(\"{arch} {}\", ptx.len())) }\n";
    fs::write(&program, main).expect("writable");
    let binary = folder.join("program");
    let status = Command::new("rustc").arg(&program).arg("-o").arg(&binary).status();
    assert!(status.expect("rustc runs").success());
    let said = Command::new(&binary).output().expect("the program runs").stdout;
    let lengths = files.ptx.iter().map(|(arch, path)| format!("{arch} {}\n", read(path).len()));
    assert_eq!(String::from_utf8_lossy(&said), lengths.collect::<String>());

    // What fails for the newest architecture leaves the results of all of them as they were.
    let former = read(&folder.join("out/kernels.sm_75.ptx"));
    edit(&folder.join("src/lib.rs"), "333 } else { 111", "333 } else { 112");
    edit(
        &folder.join("src/lib.rs"),
        "fn only_from_sm_90() {}",
        "fn only_from_sm_90() { missing() }",
    );
    let error = build().expect_err("`missing` is undefined");
    assert!(matches!(error, CudaBuilderError::BuildFailed { .. }), "{error}");
    assert_eq!(read(&folder.join("out/kernels.sm_75.ptx")), former);
}

#[test]
fn options_are_checked_for_each_architecture() {
    let error = CudaBuilder::new(scratch())
        .ptx_version(7, 0)
        .build_archs([NvvmArch::Compute75, NvvmArch::Compute90a])
        .expect_err("too old for sm_90a");
    assert_contains(&error.to_string(), &["PTX 7.0 doesn't know sm_90a"]);
}
