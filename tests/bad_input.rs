//! Whatever a user may give by mistake: a clear message, the right exit code, and nothing written.

mod common;

use common::{fails, ferrowarp, files_in, fixture, outcome, path_text};
use serde_json::Value;

/// Asserts that a product of these files fails with exit code 2, says `parts`, and leaves no output.
#[track_caller]
fn refuses_files(a: &str, b: &str, parts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let out = path_text(&folder.path().join("c.npy"));
    fails(&["matmul", "--a", a, "--b", b, "--out", &out], 2, parts);
    assert!(files_in(folder.path()).is_empty(), "something was written");
}

#[test]
fn missing_and_damaged_npy_files() {
    let b = fixture("b_4x3.npy");
    refuses_files("no/such/a.npy", &b, &["cannot read no/such/a.npy: "]);
    refuses_files(&fixture(""), &b, &["it is a directory"]);

    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("a_5x4.npy")).unwrap();
    let short = path_text(&folder.path().join("short.npy"));
    std::fs::write(&short, &whole[..whole.len() - 10]).unwrap();
    refuses_files(
        &short,
        &b,
        &[
            "short.npy is not a usable .npy file: it is truncated",
            "80 bytes",
            "only 70 bytes follow",
        ],
    );
    std::fs::write(&short, b"").unwrap();
    refuses_files(&short, &b, &["it is truncated"]);
    std::fs::write(&short, b"hello").unwrap();
    refuses_files(&short, &b, &["magic bytes", "numpy.save"]);

    // A header that promises a terabyte.
    let mut lie = b"\x93NUMPY\x01\x00".to_vec();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000)}\n";
    lie.extend((header.len() as u16).to_le_bytes());
    lie.extend(header.as_bytes());
    std::fs::write(&short, lie).unwrap();
    refuses_files(&short, &b, &["3.6 TiB", "only 0 bytes follow"]);
}

#[test]
fn arrays_of_another_kind() {
    let (a, b) = (fixture("a_5x4.npy"), fixture("b_4x3.npy"));
    refuses_files(
        &fixture("c_5x3_float64.npy"),
        &b,
        &["'<f8' (float64)", "float32", ".astype(np.float32)"],
    );
    refuses_files(&fixture("int32_5x4.npy"), &b, &["'<i4' (int32)"]);
    refuses_files(
        &a,
        &fixture("float32_3d.npy"),
        &["a 3-dimensional array of shape (2, 3, 4)", "2-D"],
    );
    refuses_files(&a, &fixture("float32_1d.npy"), &["a 1-dimensional array of shape (4,)"]);
    refuses_files(&b, &a, &["4 x 3", "5 x 4", "A's columns (3) must equal B's rows (5)"]);
}

#[test]
fn points_of_another_shape() {
    fails(
        &["transform", "--points", &fixture("b_4x3.npy"), "--out", "/no/such/folder/q.npy"],
        2,
        &["does not exist"],
    );
    fails(
        &["transform", "--points", &fixture("empty_5x0.npy")],
        2,
        &["(5, 0)", "(n, 3) or (n, 4)"],
    );
    fails(&["transform", "--points", &fixture("float32_3d.npy")], 2, &["3-dimensional"]);
    fails(&["transform", "--points", "nowhere.npy"], 2, &["cannot read nowhere.npy"]);
    fails(&["transform", "--count", "1000000000000000"], 2, &["PiB of host memory"]);
}

#[test]
fn blocks_and_grids_that_cannot_be() {
    fails(&["hello", "--block", "4096"], 2, &["--block 4096", "limit of 1024 threads"]);
    fails(&["hello", "--block", "1025"], 2, &["limit of 1024 threads"]);
    fails(&["hello", "--block", "0"], 2, &["--block 0", "at least one thread"]);
    fails(&["hello", "--grid", "0"], 2, &["--grid 0", "at least one block"]);
    fails(&["hello", "--grid", "4294967295"], 2, &["2147483647"]);
    fails(
        &["matmul", "--size", "8", "--block", "64"],
        2,
        &["64 x 64 = 4096 threads", "limit of 1024 threads", "--block 32"],
    );
    fails(&["matmul", "--size", "8", "--block", "33"], 2, &["33 x 33 = 1089 threads"]);
    fails(&["matmul", "--size", "8", "--block", "0"], 2, &["--block 0"]);
}

#[test]
fn absurd_sizes_say_what_they_would_take() {
    fails(
        &["matmul", "--size", "1000000"],
        2,
        &["1000000 x 1000000", "TiB of host memory", "smaller size"],
    );
    fails(&["matmul", "--size", "18446744073709551615"], 2, &["of host memory"]);
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let below_a_file = path_text(&file.join("c.npy"));
    let missing = path_text(&folder.path().join("no/such/c.npy"));
    let directory = path_text(folder.path());
    // With --cpu, the product would take hours.
    for (out, reason) in [
        (&missing, "does not exist"),
        (&directory, "it is a directory"),
        (&below_a_file, "cannot write"),
    ] {
        fails(&["matmul", "--size", "4096", "--cpu", "--out", out], 2, &["cannot write", reason]);
    }
    assert_eq!(files_in(folder.path()), std::slice::from_ref(&file));
    assert_eq!(std::fs::read(file).unwrap(), b"x");
}

#[test]
fn unknown_kernels_and_broken_ptx() {
    fails(
        &["inspect", "helo"],
        2,
        &["no kernel is called `helo` in this program", "hello", "mat_mul_naive_kernel"],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.ptx");
    let text = path_text(&path);
    std::fs::write(
        &path,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret\n}\n",
    )
    .unwrap();
    fails(&["inspect", "k", "--file", &text], 2, &["broken.ptx is not valid PTX", "7"]);
    std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    fails(&["inspect", "k", "--file", &text], 2, &["cannot read"]);
    std::fs::write(&path, "").unwrap();
    fails(&["inspect", "k", "--file", &text], 2, &["broken.ptx"]);
    fails(&["inspect", "k", "--file", "no/such.ptx"], 2, &["cannot read no/such.ptx"]);
}

#[test]
fn sass_without_the_cuda_toolkit_names_what_to_install() {
    fails(
        &["inspect", "hello", "--sass"],
        4,
        &["ptxas was not found", "pip install nvidia-cuda-nvcc", "PATH"],
    );
}

#[test]
fn a_command_line_that_is_wrong() {
    for (arguments, part) in [
        (&["frobnicate"][..], "frobnicate"),
        (&["hello", "--grid", "many"], "--grid"),
        (&["hello", "--grid", "-1"], "-1"),
        (&["matmul", "--size", "8", "--a", "x.npy", "--b", "y.npy"], "--size"),
        (&["matmul", "--a", "x.npy"], "--b"),
        (&["inspect", "hello", "--ptx", "--sass"], "--sass"),
    ] {
        fails(arguments, 2, &[part]);
    }
    // Also where --json stands first.
    let early = outcome(ferrowarp(&["--json", "frobnicate"]));
    assert_eq!(early.code, 2);
    assert_eq!(serde_json::from_str::<Value>(&early.stdout).unwrap()["exit_code"], 2);
}
