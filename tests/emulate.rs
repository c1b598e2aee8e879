//! `ferrowarp emulate`: kernels of a PTX file with typed arguments.

mod common;

use std::path::Path;

use common::{Outcome, fails, ferrowarp, files_in, fixture, json, outcome, path_text, text};
use ferrowarp::array::Array;
use proptest::prelude::*;

fn ptx() -> String {
    fixture("emulate.ptx")
}

/// `emulate FILE --kernel kernel` and more.
#[track_caller]
fn emulate<'a>(file: &'a str, kernel: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["emulate", file, "--kernel", kernel], more].concat()
}

/// A file with an array written as `u32[4]: 1 2 3 4` would be; the values are raw bytes.
fn array_file(folder: &Path, name: &str, ty: &str, data: &[u8]) -> String {
    let path = folder.join(name);
    let array = Array { ty: ty.parse().unwrap(), data: data.to_vec() };
    array.write(std::fs::File::create(&path).unwrap()).unwrap();
    path_text(&path)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn arrays_go_in_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let x = array_file(folder.path(), "x.npy", "f32[5]", &floats(&[1.0, 2.0, 3.0, 4.0, 5.0]));
    let y = array_file(folder.path(), "y.npy", "f32[5]", &floats(&[10.0; 5]));
    let result = path_text(&folder.path().join("result.npy"));
    let (x_arg, y_arg) = (format!("in:{x}"), format!("inout:{y}:{result}"));
    let arguments =
        ["--block", "4", "--grid", "2", "--arg", "f32:0.5", "--arg", &x_arg, "--arg", &y_arg];
    let file = ptx();
    let all = emulate(&file, "saxpy", &[&arguments[..], &["--arg", "u32:5"]].concat());
    let printed = text(&all);
    assert!(printed.starts_with("saxpy, grid (2, 1, 1), block (4, 1, 1): "), "{printed}");
    assert!(printed.contains(&format!("wrote {result} (f32[5])")), "{printed}");
    let array = Array::read(Path::new(&result)).unwrap();
    assert_eq!(array.data, floats(&[10.5, 11.0, 11.5, 12.0, 12.5]));
    // The input stays as it was.
    assert_eq!(Array::read(Path::new(&y)).unwrap().data, floats(&[10.0; 5]));
    // The same for every order of blocks and warps, and on several threads.
    for more in [["--seed", "7"], ["--jobs", "3"], ["--jobs", "auto,any-order"]] {
        std::fs::remove_file(&result).unwrap();
        text(&[&all[..], &more].concat());
        assert_eq!(Array::read(Path::new(&result)).unwrap(), array);
    }
}

#[test]
fn outputs_without_a_file_are_shown() {
    let file = ptx();
    let folder = tempfile::tempdir().unwrap();
    let values = array_file(folder.path(), "v.npy", "f32[4]", &floats(&[1.0, 2.0, 3.0, 4.5]));
    let value = format!("value:{values}");
    let arguments = emulate(&file, "sum4", &["--arg", &value, "--arg", "out:f32[2]"]);
    let shown = text(&arguments);
    // What nobody wrote has the bytes 0xCB.
    let poison = f32::from_bits(0xCBCB_CBCB);
    assert!(shown.ends_with(&format!("  out:f32[2]: 10.5 {poison}\n")), "{shown}");
    let value = json(&arguments);
    assert_eq!(value["command"], "emulate");
    assert_eq!(value["outputs"][0]["first"][0], "10.5");
    assert_eq!(value["outputs"][0]["type"], "f32[2]");
    assert!(value["outputs"][0]["file"].is_null());
    assert!(value["warp_instructions"].as_u64().unwrap() > 0);
}

#[test]
fn blocks_come_in_clusters() {
    let file = fixture("together.ptx");
    let run = |more: &[&str]| {
        let launch = ["--grid", "6", "--arg", "out:u32[6]"];
        text(&emulate(&file, "ranks", &[&launch[..], more].concat()))
    };
    assert!(run(&[]).ends_with("out:u32[6]: 10 10 10 10 10 10\n"));
    assert!(run(&["--cluster", "3"]).ends_with("out:u32[6]: 30 31 32 30 31 32\n"));
    let arguments = ["--grid", "6", "--cluster", "4", "--arg", "out:u32[6]"];
    fails(
        &emulate(&file, "ranks", &arguments),
        2,
        &["the grid is (6, 1, 1); it cannot be divided into clusters of (4, 1, 1) blocks"],
    );
}

#[test]
fn a_cooperative_grid_has_a_barrier() {
    let file = fixture("together.ptx");
    let launch = ["--grid", "5", "--arg", "out:u32[5]"];
    let cooperative = [&launch[..], &["--cooperative", "--check", "all"]].concat();
    let shown = text(&emulate(&file, "after_the_last", &cooperative));
    assert!(shown.contains("out:u32[5]: 4 5 6 7 4\n"), "{shown}");
    fails(&emulate(&file, "after_the_last", &launch), 1, &["trap"]);
}

#[test]
fn grids_and_blocks_have_three_dimensions() {
    let file = ptx();
    let shape = ["--grid", "3,2", "--block", "2,4,1", "--arg", "zeros:u32[1]"];
    // Blocks 0, 1, 2 in x, twice; threads 0 to 3 in y, two of each.
    let expected = 2 * 8 * 3 + 6 * 2 * 6;
    let shown = text(&emulate(&file, "shape", &shape));
    assert!(shown.ends_with(&format!("  zeros:u32[1]: {expected}\n")), "{shown}");
    assert!(shown.contains("grid (3, 2, 1), block (2, 4, 1)"), "{shown}");
}

#[test]
fn files_of_every_order_are_read() {
    // Two files with the same matrix in both orders, written by NumPy; the kernel copies nothing but adds 0 * x.
    let file = ptx();
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| {
        let out = path_text(&folder.path().join(name));
        let argument = format!("inout:{}:{out}", fixture(name));
        let arguments =
            ["--arg", "f32:0", "--arg", &argument, "--arg", &argument, "--arg", "u32:0"];
        text(&emulate(&file, "saxpy", &arguments));
        Array::read(Path::new(&out)).unwrap()
    };
    let plain = read("a_5x4.npy");
    assert_eq!(plain.ty.to_string(), "f32[5,4]");
    assert_eq!(plain.data[..4], 0.9449049_f32.to_le_bytes());
    assert_eq!(read("a_5x4_fortran.npy"), plain);
    assert_eq!(read("a_5x4_big_endian.npy"), plain);
    assert_eq!(read("int32_5x4.npy").ty.to_string(), "i32[5,4]");
    assert_eq!(read("c_5x3_float64.npy").ty.to_string(), "f64[5,3]");
    assert_eq!(read("empty_0x3.npy").ty.to_string(), "f32[0,3]");
    assert_eq!(read("float32_0d.npy").data.len(), 4);
}

#[test]
fn what_kernels_print_comes_out() {
    let file = ptx();
    let arguments = emulate(&file, "greet", &["--block", "2", "--arg", "u32:0"]);
    assert!(text(&arguments).starts_with("hello world!\nhello world!\ngreet, grid "));
    assert_eq!(json(&arguments)["printed"], "hello world!\nhello world!\n");
    // Also when the kernel fails afterwards.
    let Outcome { code, stdout, stderr } =
        outcome(ferrowarp(&emulate(&file, "greet", &["--arg", "u32:1"])));
    assert_eq!((code, stdout.as_str()), (1, "hello world!\n"), "{stderr}");
    assert!(stderr.starts_with("error: the kernel executed a trap\n  kernel:  greet"), "{stderr}");
}

#[test]
fn faults_are_reported_and_nothing_is_written() {
    let file = ptx();
    let folder = tempfile::tempdir().unwrap();
    let out = format!("out:f32[4]:{}", path_text(&folder.path().join("r.npy")));
    let arguments = ["--block", "8", "--arg", "f32:1", "--arg", &out, "--arg", "zeros:f32[8]"];
    let arguments = emulate(&file, "saxpy", &[&arguments[..], &["--arg", "u32:8"]].concat());
    // The report names the argument.
    let parts = [
        "illegal address: read of 4 bytes",
        "past the end of `out:f32[4]",
        "ld.global.f32 %f2, [%rd4]",
    ];
    fails(&arguments, 1, &parts);
    assert!(files_in(folder.path()).is_empty(), "something was written");

    let shared = ["--shared", "64", "--arg", "u32:64"];
    fails(&emulate(&file, "last_word", &shared), 1, &["illegal address: write of 4 bytes"]);
    text(&emulate(&file, "last_word", &["--shared", "64", "--arg", "u32:60"]));
    fails(&emulate(&file, "forever", &["--fuel", "1000"]), 1, &["limit reached"]);
    fails(&emulate(&file, "unknown", &[]), 3, &["does not implement `frobnicate.b32`"]);
    fails(&emulate(&file, "forever", &["--block", "1025"]), 2, &["1025", "1024"]);
    fails(&emulate(&file, "forever", &["--grid", "1,70000"]), 2, &["70000"]);
    fails(&emulate(&file, "forever", &["--shared", "9999999"]), 2, &["shared"]);
}

#[test]
fn the_stack_limit_counts_for_recursion() {
    let file = ptx();
    let ten = ["--block", "40", "--arg", "u32:10"];
    let parts = ["stack overflow", "the limit is 1024: 4 times 256 in `down`", "help: set"];
    fails(&emulate(&file, "recurse", &ten), 1, &parts);
    let roomy = [&ten[..], &["--stack", "4096"]].concat();
    text(&emulate(&file, "recurse", &roomy));
    for command in ["check", "profile"] {
        let run = [&[command, &file, "--kernel", "recurse"], &ten[..]].concat();
        fails(&run, 1, &["stack overflow"]);
        text(&[&run[..], &["--stack", "4096"]].concat());
    }
}

#[test]
fn arguments_must_fit_the_parameters() {
    let file = ptx();
    let parts = [
        "`saxpy` takes 4 arguments and 1 --arg is given; its parameters are\n  1: .f32 a (4 bytes)",
        "4: .u32 n (4 bytes)",
    ];
    fails(&emulate(&file, "saxpy", &["--arg", "u32:1"]), 2, &parts);
    let parts = ["takes 0 arguments and 1 --arg is given; its parameters are none"];
    fails(&emulate(&file, "forever", &["--arg", "u32:1"]), 2, &parts);
    let parts =
        ["--arg u64:1 (argument 1)", "8 bytes", "`fail` of kernel `greet` is .u32, which has 4"];
    fails(&emulate(&file, "greet", &["--arg", "u64:1"]), 2, &parts);
    let parts = ["--arg zeros:u32[1] (argument 1)", "a pointer of 8 bytes", ".u32, which has 4"];
    fails(&emulate(&file, "greet", &["--arg", "zeros:u32[1]"]), 2, &parts);
    let value = format!("value:{}", fixture("a_5x4.npy"));
    let parts = ["80 bytes", "`values` of kernel `sum4` is .b8[16], which has 16"];
    fails(&emulate(&file, "sum4", &["--arg", &value, "--arg", "out:f32[1]"]), 2, &parts);
    // More than the emulated device, or the host, has.
    let parts = ["--arg out:u8[1099511627776]", "memory"];
    fails(&emulate(&file, "shape", &["--arg", "out:u8[1099511627776]"]), 2, &parts);
}

#[test]
fn files_that_are_not_usable() {
    let file = ptx();
    fails(&["emulate", "no/such.ptx"], 2, &["cannot read no/such.ptx"]);
    fails(&["emulate", &fixture("a_5x4.npy")], 2, &["cannot read", "a_5x4.npy"]);
    fails(&["emulate", &file], 2, &["has 8 kernels: saxpy, sum4", "name one with --kernel"]);
    fails(&emulate(&file, "nothing", &[]), 2, &["no kernel is called `nothing`", "saxpy, sum4"]);
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.ptx");
    std::fs::write(&broken, ".version 8.6\n.target sm_90\n.entry k() { add }").unwrap();
    fails(&["emulate", &path_text(&broken)], 2, &["broken.ptx is not valid PTX", "3:"]);
    std::fs::write(&broken, ".version 8.6\n.target sm_90\n.address_size 64\n").unwrap();
    fails(&["emulate", &path_text(&broken)], 2, &["has no kernel", ".entry"]);
    for name in ["objects.npy", "records.npy"] {
        let argument = format!("in:{}", fixture(name));
        fails(&emulate(&file, "shape", &["--arg", &argument]), 2, &[name, "plain numbers"]);
    }
    fails(&emulate(&file, "shape", &["--arg", "in:no/such.npy"]), 2, &["cannot read no/such.npy"]);
    let parts = ["cannot write no/such/r.npy", "does not exist"];
    fails(&emulate(&file, "shape", &["--arg", "out:u32[1]:no/such/r.npy"]), 2, &parts);
}

#[test]
fn command_lines_that_make_no_sense() {
    let file = ptx();
    for (arguments, part) in [
        (["--grid", "0"], "at least 1"),
        (["--grid", "1,2,3,4"], "4 dimensions"),
        (["--block", "x"], "no number"),
        (["--arg", "u32"], "no `:`"),
        (["--arg", "u32:-1"], "is no u32"),
        (["--arg", "out:f32"], "no array type"),
        (["--fuel", "0"], "0"),
        (["--shared", "-1"], "-1"),
        (["--stack", "524289"], "524289"),
    ] {
        fails(&emulate(&file, "forever", &arguments), 2, &[part]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Nothing that is written on the command line or in a file makes the parsers panic.
    #[test]
    fn no_text_is_too_strange(text in "[a-z0-9:\\[\\],.\\-_xé ]{0,24}", bytes: Vec<u8>) {
        let _ = text.parse::<ferrowarp::emulate::Argument>();
        let _ = text.parse::<ferrowarp::emulate::Shape>();
        let _ = text.parse::<ferrowarp::array::ArrayType>();
        let file = tempfile::NamedTempFile::with_suffix(".npy").unwrap();
        let whole = std::fs::read(fixture("a_5x4_fortran.npy")).unwrap();
        // Damage behind the magic, so that the header's parser is reached.
        let mut damaged = whole[..10].to_vec();
        damaged.extend(&bytes);
        damaged.extend(&whole[(10 + bytes.len()).min(whole.len())..]);
        std::fs::write(file.path(), damaged).unwrap();
        let _ = Array::read(file.path());
    }

    /// What is written is read back the same.
    #[test]
    fn arrays_round_trip(shape in prop::collection::vec(0_u64..5, 0..4), ty in 0_usize..12) {
        let names = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"];
        prop_assume!(!shape.is_empty());
        let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
        let ty: ferrowarp::array::ArrayType =
            format!("{}[{}]", names[ty], dims.join(",")).parse().unwrap();
        let data = (0..ty.bytes()).map(|byte| byte as u8 & 1).collect();
        let array = Array { ty, data };
        let file = tempfile::NamedTempFile::with_suffix(".npy").unwrap();
        array.write(std::fs::File::create(file.path()).unwrap()).unwrap();
        prop_assert_eq!(Array::read(file.path()).unwrap(), array);
    }
}
