//! What the builder says when it can't build, and that nothing is left half-done.

mod common;

use std::fs;

use common::{assert_contains, builder, copy_fixture, edit, scratch, toolchain};
use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch, TooMuchMemory};

#[test]
fn a_missing_crate_is_named_with_the_folder_it_was_looked_for_in() {
    let error = CudaBuilder::new("no/such/kernels").build().expect_err("there is no such folder");
    assert!(
        matches!(&error, CudaBuilderError::CratePathDoesntExist { path } if path.ends_with("kernels"))
    );
    let here = std::env::current_dir().expect("there is one");
    assert_contains(&error.to_string(), &["no/such/kernels", &here.display().to_string()]);
    // What a build script's `unwrap` shows is the text, too.
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn a_folder_without_a_library_says_what_to_do() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "not_a_library");
    let error = builder(&folder.join("src")).build().expect_err("no manifest");
    assert_contains(&error.to_string(), &["no Cargo.toml"]);

    fs::rename(folder.join("src/lib.rs"), folder.join("src/main.rs")).expect("renamed");
    let error = builder(&folder).build().expect_err("a binary");
    assert_contains(&error.to_string(), &["`fixture-kernels` has no library", "src/lib.rs"]);

    edit(&folder.join("Cargo.toml"), "[package]", "[package");
    let error = builder(&folder).build().expect_err("no TOML");
    assert_contains(&error.to_string(), &["Cargo.toml", "can't be built"]);
}

#[test]
fn a_compile_error_is_shown_as_rustc_shows_it_and_the_former_ptx_stays() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "compile_error");
    let out = folder.join("out/kernels.ptx");
    builder(&folder).copy_to(&out).build().expect("the fixture compiles");
    let former = fs::read(&out).expect("the PTX is there");

    edit(&folder.join("src/lib.rs"), "*a.add(i) / *b.add(i)", "*a.add(i) / missing");
    let error = builder(&folder).copy_to(&out).build().expect_err("`missing` is undefined");
    assert!(
        matches!(&error, CudaBuilderError::BuildFailed { package, .. } if package == "fixture-kernels")
    );
    assert_contains(
        &error.to_string(),
        &["error[E0425]", "missing", "src/lib.rs:", "command: ", "-Zbuild-std"],
    );
    assert_eq!(fs::read(&out).expect("the former PTX stays"), former);
}

#[test]
fn crates_that_need_std_are_named() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "needs_std");
    edit(&folder.join("device/src/lib.rs"), "#![no_std]", "pub use std::fs::File;");
    let error = builder(&folder).build().expect_err("a GPU has no std");
    assert_contains(
        &error.to_string(),
        &["can't find crate for `std`", "help: crate `device` needs std"],
    );

    drop(folder);
    let folder = copy_fixture("kernels", "no_no_std");
    edit(&folder.join("src/lib.rs"), "#![no_std]\n", "");
    let error = builder(&folder).build().expect_err("a GPU has no std");
    assert_contains(&error.to_string(), &["begin ", "with `#![no_std]`"]);
}

#[test]
fn a_missing_panic_handler_points_to_cuda_std() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "panic_handler");
    edit(&folder.join("src/lib.rs"), "#[panic_handler]", "#[allow(dead_code)]");
    let error = builder(&folder).build().expect_err("rustc wants a panic handler");
    assert_contains(
        &error.to_string(),
        &["#[panic_handler]", "help: cuda_std has the panic handler"],
    );
}

#[test]
fn an_undefined_function_is_named_with_its_caller_and_line() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "undefined");
    let source = folder.join("src/lib.rs");
    edit(
        &source,
        "unsafe { *c.add(i) = sqrt(*a.add(i)) }",
        "unsafe { *c.add(i) = __nv_sinf(*a.add(i)) }",
    );
    edit(
        &source,
        "fn sqrt(x: f32) -> f32;",
        "fn sqrt(x: f32) -> f32;\n}\nunsafe extern \"C\" {\n    fn __nv_sinf(x: f32) -> f32;",
    );
    let text = fs::read_to_string(&source).expect("readable");
    let line =
        text.lines().position(|line| line.contains("= __nv_sinf(")).expect("just written") + 1;
    let error = builder(&folder).build().expect_err("nothing defines it");
    assert!(
        matches!(&error, CudaBuilderError::UnresolvedSymbols { symbols } if symbols[0].name == "__nv_sinf")
    );
    assert_contains(&error.to_string(), &["`root`", &format!("src/lib.rs:{line}:"), "libdevice"]);
}

#[test]
fn shared_memory_with_an_initial_value_names_the_static() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "initialised");
    edit(
        &folder.join("src/lib.rs"),
        "MaybeUninit<[f32; 64]> = MaybeUninit::uninit()",
        "MaybeUninit<[f32; 64]> = MaybeUninit::zeroed()",
    );
    let error = builder(&folder).build().expect_err("shared memory starts uninitialised");
    assert!(matches!(error, CudaBuilderError::AddressSpace(_)));
    assert_contains(&error.to_string(), &["fixture_kernels::reverse::TILE", "MaybeUninit"]);
}

#[test]
fn statics_that_do_not_fit_name_the_kernel_the_line_and_the_limit() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "too_large");
    let source = folder.join("src/lib.rs");
    let line_of = |what: &str| {
        let text = fs::read_to_string(&source).expect("readable");
        text.lines().position(|line| line.contains(what)).expect("it is there") + 1
    };
    // 13000 elements of 4 bytes, where 12288 fit.
    edit(
        &source,
        "MaybeUninit<[f32; 64]> = MaybeUninit::uninit()",
        "MaybeUninit<[f32; 13000]> = MaybeUninit::uninit()",
    );
    let error = builder(&folder).build().expect_err("52000 bytes are too many");
    assert!(
        matches!(&error, CudaBuilderError::TooMuchMemory(TooMuchMemory::Shared { kernel, bytes: 52000, statics, .. })
            if kernel == "reverse" && statics.len() == 1),
        "{error}"
    );
    let place = format!("`reverse` at src/lib.rs:{}:", line_of("*tile.add(i) = *a.add(i);"));
    assert_contains(
        &error.to_string(),
        &["fixture_kernels::reverse::TILE: 52000 bytes", "(48 KiB)", &place, "help: "],
    );

    edit(&source, "[f32; 13000]", "[f32; 64]");
    edit(&source, "static TABLE: [u32; 16] = [", "static TABLE: [u32; 16400] = filled([");
    edit(
        &source,
        "9, 7, 9, 3];",
        "9, 7, 9, 3]);\nconst fn filled(of: [u32; 16]) -> [u32; 16400] {\n    let mut all = [0; 16400];\n    let mut i = 0;\n    while i < 16400 {\n        all[i] = of[i % 16];\n        i += 1;\n    }\n    all\n}",
    );
    edit(&source, "TABLE[i & 15]", "TABLE[i & 1023]");
    let error = builder(&folder).use_constant_memory_space(true).build();
    let error = error.expect_err("65600 bytes are too many");
    assert!(
        matches!(&error, CudaBuilderError::TooMuchMemory(TooMuchMemory::Constant { bytes, .. }) if *bytes >= 65600),
        "{error}"
    );
    let place = format!("`look_up` at src/lib.rs:{}:", line_of("TABLE[i & 1023]"));
    assert_contains(
        &error.to_string(),
        &["fixture_kernels::TABLE: 65600 bytes", "(64 KiB)", &place, "use_constant_memory_space"],
    );
    builder(&folder).build().expect("in global memory it fits");
}

#[test]
fn an_operation_the_gpu_lacks_names_the_function() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "no_instruction");
    let source = folder.join("src/lib.rs");
    edit(&source, "llvm.sqrt.f32", "llvm.acos.f32");
    let text = fs::read_to_string(&source).expect("readable");
    let line = text.lines().position(|line| line.contains("sqrt(*a.add(i))")).expect("there") + 1;
    let error = builder(&folder).build().expect_err("there is no such instruction");
    assert!(matches!(error, CudaBuilderError::UnsupportedOperation { .. }), "{error}");
    let place = format!("`root` at src/lib.rs:{line}:");
    assert_contains(&error.to_string(), &["`llvm.acos.f32`", &place, "libm"]);

    edit(&source, "llvm.acos.f32", "llvm.sqrt.f32");
    edit(&source, "feature(link_llvm_intrinsics)", "feature(link_llvm_intrinsics, f128)");
    edit(
        &source,
        "*a.add(i) / *b.add(i)",
        "(f128::from(*a.add(i)) / f128::from(*b.add(i)) + 0.5) as f32",
    );
    let error = builder(&folder).build().expect_err("a GPU has no f128");
    assert!(matches!(error, CudaBuilderError::UnsupportedOperation { .. }), "{error}");
    assert_contains(&error.to_string(), &["`divide` at src/lib.rs:", "f128"]);
}

#[test]
fn a_conversion_the_gpu_lacks_names_its_line() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "wide_conversion");
    let source = folder.join("src/lib.rs");
    edit(&source, "*a.add(i) / *b.add(i)", "*a.add(i) + a.read().to_bits() as u128 as f32");
    // From 32 bits, LLVM sees through it.
    builder(&folder).build().expect("the fixture compiles");
    edit(&source, "a.read().to_bits() as u128 as f32", "a.cast::<u128>().read() as f32");
    let text = fs::read_to_string(&source).expect("readable");
    let line = text.lines().position(|line| line.contains("cast::<u128>()")).expect("there") + 1;
    let error = builder(&folder).build().expect_err("a GPU has no such conversion");
    assert!(matches!(error, CudaBuilderError::UnsupportedOperation { .. }), "{error}");
    let place = format!("`divide` at src/lib.rs:{line}:");
    assert_contains(&error.to_string(), &[&place, "128-bit integers", "help: "]);
}

#[test]
fn clusters_are_refused_where_the_architecture_has_none() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "clusters");
    let source = folder.join("src/lib.rs");
    let kernel = "pub unsafe extern \"ptx-kernel\" fn divide(";
    // What `#[kernel(cluster(2))]` of cuda_std writes.
    let marked = format!("#[unsafe(link_section = \".cuda.kernel.cluster_dim=2x1x1\")]\n{kernel}");
    edit(&source, kernel, &marked);
    let text = fs::read_to_string(&source).expect("readable");
    let line = text.lines().position(|line| line.starts_with(kernel)).expect("there") + 1;
    let error = builder(&folder).build().expect_err("the default architecture has no clusters");
    assert!(matches!(&error, CudaBuilderError::NoClusters(_)), "{error}");
    let place = format!("`divide` (src/lib.rs:{line})");
    assert_contains(&error.to_string(), &[&place, "sm_90", "sm_75"]);

    let ptx = builder(&folder).arch(NvvmArch::Compute90).build().expect("sm_90 has them");
    let ptx = fs::read_to_string(ptx).expect("readable");
    assert_contains(&ptx, &[".reqnctapercluster 2"]);
}

#[test]
fn an_intrinsic_that_llvm_lacks_is_named_with_its_line() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "no_intrinsic");
    let source = folder.join("src/lib.rs");
    edit(&source, "llvm.sqrt.f32", "llvm.nvvm.sqrt.no.such");
    let text = fs::read_to_string(&source).expect("readable");
    let line = text.lines().position(|line| line.contains("sqrt(*a.add(i))")).expect("there") + 1;
    let error = builder(&folder).build().expect_err("there is no such intrinsic");
    assert!(
        matches!(&error, CudaBuilderError::UnresolvedSymbols { symbols } if symbols.len() == 1),
        "{error}"
    );
    let place = format!("`root` at src/lib.rs:{line}:");
    assert_contains(
        &error.to_string(),
        &["llvm.nvvm.sqrt.no.such\n", &place, "this LLVM has none"],
    );
}

#[test]
fn an_output_that_cant_be_written_is_named() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "unwritable");
    // A file where a folder is needed: this fails for root as well.
    let file = folder.join("file");
    fs::write(&file, "").expect("writable");
    let error = builder(&folder)
        .copy_to(file.join("kernels.ptx"))
        .build()
        .expect_err("a file is in the way");
    assert!(matches!(error, CudaBuilderError::FailedToCopyPtxFile { .. }));
    assert_contains(&error.to_string(), &["the PTX is complete", "file/kernels.ptx"]);
    let error =
        builder(&folder).target_dir(file.join("build")).build().expect_err("a file is in the way");
    assert_contains(&error.to_string(), &["could not create", "file/build"]);
}

#[test]
fn bitcode_that_someone_removed_is_made_again() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "removed");
    let target = scratch().join("build");
    let ptx = builder(&folder).build().expect("the fixture compiles");
    let first = fs::read(&ptx).expect("the PTX is there");
    for entry in fs::read_dir(&target).expect("readable").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "bc") {
            // Another test may have removed it first.
            let _ = fs::remove_file(entry.path());
        }
    }
    let ptx = builder(&folder).build().expect("the fixture compiles again");
    assert!(!first.is_empty() && ptx.is_file());
}
