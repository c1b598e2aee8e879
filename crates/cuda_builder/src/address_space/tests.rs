//! What the rewriting does, line by line. `tests/address_space_llvm.rs` has LLVM check and compile whole modules.

use super::*;

fn rewritten(module: &str) -> String {
    rewrite(module, false).expect("the module is well formed").trim_end().to_owned()
}

#[test]
fn a_module_without_markers_is_left_alone() {
    let module = "@x = global i32 0, section \".data\"\ndefine void @f() {\n  store i32 1, ptr @x\n  ret void\n}\n";
    assert!(matches!(rewrite(module, false), Ok(Cow::Borrowed(same)) if same == module));
}

#[test]
fn each_section_has_its_definition() {
    for (before, after) in [
        (
            r#"@x = internal unnamed_addr global [4096 x i8] undef, section ".cuda.shared", align 4"#,
            "@x = internal addrspace(3) global [4096 x i8] undef, align 4",
        ),
        (
            r#"@x = global <{ [4 x i8] }> poison, section ".cuda.shared", align 16"#,
            "@x = internal addrspace(3) global <{ [4 x i8] }> undef, align 16",
        ),
        (
            r#"@x = internal global <{ [0 x i8] }> zeroinitializer, section ".cuda.shared.dynamic", align 1"#,
            "@x = external addrspace(3) global [0 x i8], align 16",
        ),
        (
            r#"@x = internal constant [4 x i8] c"\01\02;@", section ".cuda.constant", align 4"#,
            r#"@x = addrspace(4) externally_initialized constant [4 x i8] c"\01\02;@", align 4"#,
        ),
        (
            r#"@x = dso_local local_unnamed_addr global [8 x i8] zeroinitializer, section ".cuda.global", comdat, align 8"#,
            "@x = addrspace(1) externally_initialized global [8 x i8] zeroinitializer, align 8",
        ),
    ] {
        assert_eq!(rewritten(before), after);
    }
}

#[test]
fn every_kind_of_use_is_cast_and_nothing_else_changes() {
    let define = "@x = internal global [4 x i8] undef, section \".cuda.shared\", align 4\n";
    let cast = "addrspacecast (ptr addrspace(3) @x to ptr)";
    for (line, expected) in [
        ("  store i32 1, ptr @x, align 4, !dbg !7", "  store i32 1, ptr X, align 4, !dbg !7"),
        ("  %1 = icmp eq ptr %a, @x", "  %1 = icmp eq ptr %a, X"),
        ("  %2 = phi ptr [ @x, %bb1 ], [ %p, %bb2 ]", "  %2 = phi ptr [ X, %bb1 ], [ %p, %bb2 ]"),
        (
            "  %3 = load float, ptr getelementptr inbounds nuw (i8, ptr @x, i64 4), align 4 ; uses @x",
            "  %3 = load float, ptr getelementptr inbounds nuw (i8, ptr X, i64 4), align 4 ; uses @x",
        ),
        (
            "  call void @f(ptr noundef nonnull @x, ptr @xy)",
            "  call void @f(ptr noundef nonnull X, ptr @xy)",
        ),
        ("  call void asm \"ld @x\", \"l\"(ptr @x)", "  call void asm \"ld @x\", \"l\"(ptr X)"),
        (
            "    #dbg_value(ptr @x, !1, !DIExpression(), !2)",
            "    #dbg_value(ptr X, !1, !DIExpression(), !2)",
        ),
        ("!3 = !{ptr @x, !\"@x\", i32 1}", "!3 = !{ptr X, !\"@x\", i32 1}"),
        (
            "@llvm.used = appending global [1 x ptr] [ptr @x], section \"llvm.metadata\"",
            "@llvm.used = appending global [1 x ptr] [ptr X], section \"llvm.metadata\"",
        ),
        ("define void @x.f(ptr %x) {", "define void @x.f(ptr %x) {"),
    ] {
        let text = rewritten(&format!("{define}{line}"));
        assert_eq!(text.lines().nth(1), Some(expected.replace('X', cast).as_str()));
    }
}

#[test]
fn quoted_names_are_found() {
    let text = rewritten(
        "@\"a b\" = internal global i32 undef, section \".cuda.shared\"\n  store i32 1, ptr @\"a b\"",
    );
    assert_eq!(
        text,
        "@\"a b\" = internal addrspace(3) global i32 undef\n  store i32 1, ptr addrspacecast (ptr addrspace(3) @\"a b\" to ptr)"
    );
}

#[test]
fn a_static_may_hold_the_address_of_a_constant() {
    let text = rewritten(
        "@t = constant i32 1, section \".cuda.constant\"\n@p = constant ptr @t, align 8\n@q = global ptr @t, section \".cuda.global\"",
    );
    assert!(
        text.contains("@p = constant ptr addrspacecast (ptr addrspace(4) @t to ptr), align 8"),
        "{text}"
    );
    assert!(
        text.contains("@q = addrspace(1) externally_initialized global ptr addrspacecast (ptr addrspace(4) @t to ptr)"),
        "{text}"
    );
}

#[test]
fn the_address_of_shared_memory_in_a_static_is_an_error() {
    for holder in
        ["@p = constant ptr @t, align 8", "@p = global ptr @t, section \".cuda.global\", align 8"]
    {
        let module = format!("@t = internal global i32 undef, section \".cuda.shared\"\n{holder}");
        let error = rewrite(&module, false).expect_err("shared memory has no constant address");
        assert_eq!(
            error,
            AddressSpaceError::SharedAddressInStatic {
                shared: "@t".to_owned(),
                holder: "@p".to_owned()
            }
        );
    }
}

#[test]
fn shared_memory_with_an_initial_value_is_an_error() {
    for value in ["zeroinitializer", "c\"\\01\\00\\00\\00\""] {
        let module = format!("@tile = internal global [4 x i8] {value}, section \".cuda.shared\"");
        let error = rewrite(&module, false).expect_err("shared memory starts uninitialised");
        assert_eq!(error, AddressSpaceError::InitialisedShared { name: "@tile".to_owned() });
        assert!(
            error.to_string().contains("`tile`") && error.to_string().contains("MaybeUninit"),
            "{error}"
        );
    }
}

#[test]
fn an_unknown_marker_is_an_error_that_lists_the_known_ones() {
    let error = rewrite("@x = global i32 0, section \".cuda.texture\"", false)
        .expect_err("there is no such marker");
    let text = error.to_string();
    assert!(
        text.contains("`x`")
            && text.contains(".cuda.texture")
            && text.contains(".cuda.shared.dynamic"),
        "{text}"
    );
}

#[test]
fn immutable_statics_go_to_constant_memory_on_request() {
    let module = "@a = private unnamed_addr constant [2 x i8] c\"hi\", align 1\n@b = internal global i32 0\n@c = constant i32 1\n  load i8, ptr @a";
    let text = rewrite(module, true).expect("the module is well formed");
    assert_eq!(
        text.trim_end(),
        "@a = internal unnamed_addr addrspace(4) constant [2 x i8] c\"hi\", align 1\n@b = internal global i32 0\n@c = constant i32 1\n  load i8, ptr addrspacecast (ptr addrspace(4) @a to ptr)"
    );
}
