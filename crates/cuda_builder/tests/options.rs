//! Each option of the builder has an effect that shows in the PTX. Real builds of `fixtures/kernels`.

mod common;

use std::fs;

use common::{assert_contains, builder, copy_fixture, kernel, ptx, toolchain};
use cuda_builder::{CudaBuilder, CudaBuilderError, DebugInfo, EmitOption, NvvmArch, Profile};

#[test]
fn defaults_give_portable_optimised_ptx_with_lines() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "defaults");
    let ptx = ptx(builder(&folder), &folder);
    assert_contains(&ptx, &[".version 7.8\n", ".target sm_75\n", ".address_size 64"]);
    assert!(!ptx.contains("only_from_sm_90"));

    // `debug` in the target directive would make ptxas give up optimising; the lines must be there without it.
    assert!(!ptx.contains("debug\n") && !ptx.contains(".debug_info"), "{ptx}");
    let multiply_add = kernel(&ptx, "multiply_add");
    assert_contains(multiply_add, &["fma.rn.f32", ".loc"]);
    let source = fs::read_to_string(folder.join("src/lib.rs")).expect("the fixture is there");
    let line = source
        .lines()
        .position(|line| line.contains("+= *a.add(i) * *b.add(i)"))
        .expect("the kernel's line")
        + 1;
    assert_contains(multiply_add, &[&format!("src/lib.rs:{line}:")]);
    // The chain of inlined calls: `thread()` was inlined from another line.
    assert_contains(multiply_add, &["@[ src/lib.rs:"]);

    // The other crate's function is inlined, and its constant is not folded: the host may write it.
    let weigh = kernel(&ptx, "weigh");
    assert!(!weigh.contains("call"), "{weigh}");
    assert_contains(weigh, &["ld.const", "WEIGHTS"]);
    assert_contains(&ptx, &[".visible .const .align 4 .b8 WEIGHTS[16] = {0, 0, 128, 63"]);

    assert_contains(kernel(&ptx, "reverse"), &["st.shared", "ld.shared", "bar"]);
    assert_contains(kernel(&ptx, "reverse_dynamic"), &["st.shared", "ld.shared"]);
    assert_contains(
        &ptx,
        &[".extern .shared .align 16 .b8", ".visible .global .align 8 .b8 TOTAL[8] = {7"],
    );
    assert_contains(kernel(&ptx, "add_to_total"), &["ld.global", "st.global"]);
    assert_contains(kernel(&ptx, "divide"), &["div.rn.f32"]);
    assert_contains(kernel(&ptx, "root"), &["sqrt.rn.f32"]);
    assert_contains(kernel(&ptx, "increment"), &["111"]);
    assert!(!kernel(&ptx, "look_up").contains("ld.const"));
}

#[test]
fn without_contraction_each_operation_rounds() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "contraction");
    let ptx = ptx(builder(&folder).fma_contraction(false), &folder);
    let multiply_add = kernel(&ptx, "multiply_add");
    // The `.rn` matters: ptxas would fuse a plain `mul` and `add`.
    assert_contains(multiply_add, &["mul.rn.f32", "add.rn.f32"]);
    assert!(!ptx.contains("fma."), "{multiply_add}");
}

#[test]
fn fast_options_choose_fast_instructions() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "fast");
    let fast = ptx(builder(&folder).fast_div(true).fast_sqrt(true), &folder);
    assert_contains(kernel(&fast, "divide"), &["div.full.f32"]);
    assert_contains(kernel(&fast, "root"), &["sqrt.approx.f32"]);
    let flushing = ptx(builder(&folder).ftz(true), &folder);
    assert_contains(kernel(&flushing, "divide"), &["div.rn.ftz.f32"]);
    assert_contains(kernel(&flushing, "root"), &["sqrt.rn.ftz.f32"]);
    assert_contains(kernel(&flushing, "multiply_add"), &["fma.rn.ftz.f32"]);
}

#[test]
fn line_numbers_can_be_left_out_and_asked_for_twice() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "lines");
    let without = ptx(builder(&folder).debug(DebugInfo::None), &folder);
    assert!(!without.contains(".loc") && !without.contains(".file"), "{without}");
    let with = ptx(builder(&folder).debug(DebugInfo::None).generate_line_info(true), &folder);
    assert_contains(&with, &[".loc", ".file"]);
}

#[test]
fn the_architecture_and_the_ptx_version_are_written_and_seen_by_the_crate() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "architecture");
    let hopper = ptx(builder(&folder).arch(NvvmArch::Compute90), &folder);
    assert_contains(&hopper, &[".target sm_90\n", ".version 7.8\n", ".entry only_from_sm_90("]);
    let blackwell = ptx(builder(&folder).arch(NvvmArch::Compute100a), &folder);
    assert_contains(&blackwell, &[".target sm_100a\n", ".version 8.6\n"]);
    let newer = ptx(builder(&folder).ptx_version(8, 3), &folder);
    assert_contains(&newer, &[".target sm_75\n", ".version 8.3\n"]);
    // And back: the cached module of another architecture must not be taken.
    let again = ptx(builder(&folder), &folder);
    assert_contains(&again, &[".target sm_75\n", ".version 7.8\n"]);
    assert!(!again.contains("only_from_sm_90"));

    let error = builder(&folder)
        .arch(NvvmArch::Compute90)
        .ptx_version(7, 0)
        .build()
        .expect_err("too old for sm_90");
    assert!(matches!(error, CudaBuilderError::UnsupportedOption { option: "ptx_version", .. }));
    assert_contains(&error.to_string(), &["PTX 7.0 doesn't know sm_90", "7.8"]);
    let error = builder(&folder).ptx_version(99, 0).build().expect_err("there is no PTX 99");
    assert_contains(&error.to_string(), &["ptx_version", "99.0"]);
}

#[test]
fn the_crate_sees_the_architecture_as_its_author_asks() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "features");
    for (arch, kernels) in [
        (NvvmArch::Compute75, [false, false, false, false]),
        (NvvmArch::Compute80, [true, true, false, false]),
        (NvvmArch::Compute90, [true, true, true, false]),
        (NvvmArch::Compute90a, [true, true, true, true]),
        (NvvmArch::Compute100, [true, true, true, false]),
    ] {
        let ptx = ptx(builder(&folder).arch(arch), &folder);
        let found =
            ["from_sm_80_on", "from_compute_80_on", "only_from_sm_90", "only_on_compute_90a"]
                .map(|name| ptx.contains(&format!(".entry {name}(")));
        assert_eq!(found, kernels, "{arch}");
    }
}

#[test]
fn profiles_are_sets_of_options_and_later_calls_win() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "profiles");
    let build =
        |options: &dyn Fn(CudaBuilder) -> CudaBuilder| ptx(options(builder(&folder)), &folder);

    let debug = build(&|builder| builder.profile(Profile::Debug));
    // Overflow checks, calls that the optimiser would inline, and lines.
    assert_contains(kernel(&debug, "increment"), &["setp", ".loc"]);
    assert_contains(kernel(&debug, "weigh"), &["call"]);

    let fast = build(&|builder| builder.profile(Profile::FastMath));
    assert_contains(kernel(&fast, "divide"), &["div.full.ftz.f32"]);
    assert_contains(kernel(&fast, "root"), &["sqrt.approx.ftz.f32"]);
    assert_contains(kernel(&fast, "multiply_add"), &["fma.rn.ftz.f32"]);
    assert_eq!(build(&|builder| builder.fma_contraction(false).fast_math(true)), fast);
    let kept = build(&|builder| builder.profile(Profile::FastMath).ftz(false));
    assert_contains(kernel(&kept, "divide"), &["div.full.f32"]);

    let precise = build(&|builder| builder.profile(Profile::Precise));
    assert_contains(kernel(&precise, "multiply_add"), &["mul.rn.f32", "add.rn.f32"]);
    assert_contains(kernel(&precise, "divide"), &["div.rn.f32"]);

    let release = build(&|builder| {
        builder.release(false).nvvm_opts(false).fast_math(true).profile(Profile::Release)
    });
    assert_eq!(release, build(&|builder| builder));
    assert_eq!(release, build(&|builder| builder.fast_math(true).fast_math(false)));
}

#[test]
fn debug_builds_check_for_overflow() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "checks");
    let checked = ptx(builder(&folder).release(false), &folder);
    assert_contains(kernel(&checked, "increment"), &["setp", "111"]);
    let release = ptx(builder(&folder), &folder);
    assert!(!kernel(&release, "increment").contains("setp"));
}

#[test]
fn without_the_optimiser_the_code_stays_as_written() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "unoptimised");
    let plain = ptx(builder(&folder).nvvm_opts(false), &folder);
    let optimised = ptx(builder(&folder), &folder);
    assert_contains(kernel(&plain, "weigh"), &["call"]);
    assert!(!kernel(&optimised, "weigh").contains("call"));
}

#[test]
fn immutable_statics_move_to_constant_memory() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "constant");
    let ptx = ptx(builder(&folder).use_constant_memory_space(true), &folder);
    assert_contains(kernel(&ptx, "look_up"), &["ld.const"]);
}

#[test]
fn cargo_gets_the_build_arguments() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "arguments");
    let ptx = ptx(builder(&folder).build_args(&["--features", "tripled"]), &folder);
    assert_contains(kernel(&ptx, "increment"), &["333"]);
}

#[test]
fn the_module_is_written_in_each_form() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "emit");
    let target = folder.join("build");
    let shared = common::scratch().join("build");
    let ptx = builder(&folder)
        .emit_llvm_ir(true)
        .final_module_path(target.join("deep/final.ll"))
        .build()
        .expect("builds");
    assert_eq!(ptx, shared.join("fixture_kernels.ptx"));
    let text = fs::read_to_string(ptx.with_extension("ll")).expect("the IR is there");
    assert_contains(&text, &["define ptx_kernel void @multiply_add(", "addrspace(3)"]);
    assert_eq!(
        fs::read_to_string(target.join("deep/final.ll")).expect("the module is there"),
        text
    );
    let ptx = builder(&folder).emit_llvm_bitcode(true).build().expect("builds");
    let bitcode = fs::read(ptx.with_extension("bc")).expect("the bitcode is there");
    assert!(bitcode.starts_with(b"BC\xC0\xDE"));
}

#[test]
fn of_two_forms_the_later_counts() {
    let builder = CudaBuilder::new("kernels").emit_llvm_ir(true).emit_llvm_bitcode(true);
    assert_eq!(builder.emit, Some(EmitOption::Bitcode));
    assert_eq!(builder.clone().emit_llvm_ir(true).emit, Some(EmitOption::LlvmIr));
    assert_eq!(builder.emit_llvm_ir(false).emit, None);
}

#[test]
fn any_recent_cargo_drives_the_compiler() {
    let Some(mut toolchain) = toolchain() else { return };
    // The one that runs these tests, which need not be of the compiler's release.
    toolchain.cargo = env!("CARGO").into();
    let folder = copy_fixture("kernels", "other_cargo");
    let ptx = ptx(builder(&folder).toolchain(toolchain), &folder);
    assert_contains(&ptx, &[".entry multiply_add("]);
}

#[test]
fn builds_at_the_same_time_dont_mix() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "parallel");
    let architectures = [NvvmArch::Compute75, NvvmArch::Compute80, NvvmArch::Compute90];
    std::thread::scope(|scope| {
        for arch in architectures {
            let path = folder.join(format!("{arch}.ptx"));
            let builder = builder(&folder).arch(arch).copy_to(path);
            scope.spawn(|| builder.build().expect("the fixture compiles"));
        }
    });
    for arch in architectures {
        let ptx = fs::read_to_string(folder.join(format!("{arch}.ptx"))).expect("the PTX is there");
        assert_contains(&ptx, &[&format!(".target {arch}\n")]);
        assert_eq!(ptx.contains("only_from_sm_90"), arch == NvvmArch::Compute90);
    }
}

#[test]
fn options_of_rust_cuda_that_do_nothing_here_say_so() {
    let error = CudaBuilder::new(".").optix(true).build().expect_err("it can't be used");
    assert_contains(&error.to_string(), &["optix", "leave the option out"]);
}
