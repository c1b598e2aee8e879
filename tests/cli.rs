//! Every command of the program on the emulator: text, JSON, exit code 0.

mod common;

use std::path::Path;

use common::{fails, fails_with, ferrowarp, files_in, fixture, json, outcome, path_text, text};
use ferrowarp::npy::{read_matrix, read_points};
use ferrowarp::report::FUNCTIONS;
use serde_json::Value;

const KERNELS: [&str; 7] = [
    "hello",
    "mat_mul_naive_kernel",
    "mat_mul_shared_kernel",
    "mat_mul_shared_kernel_16",
    "mat_mul_shared_kernel_32",
    "mat_mul_shared_kernel_8",
    "transform_points",
];

/// The lines that are nothing but a number.
fn numbers(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Asserts the shape of matmul's JSON.
#[track_caller]
fn check_matmul(value: &Value, (m, k, n): (u64, u64, u64)) {
    assert_eq!(value["command"], "matmul");
    assert_eq!(value["backend"], "emulator");
    assert!(value["device"].is_string());
    assert_eq!((&value["m"], &value["k"], &value["n"]), (&m.into(), &k.into(), &n.into()));
    let rows = value["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, FUNCTIONS);
    for row in rows {
        for figure in ["ms", "max_abs_err", "max_rel_err"] {
            assert!(row[figure].as_f64().is_some_and(|figure| figure >= 0.0), "{figure} in {row}");
        }
        for figure in ["gflops", "speedup"] {
            let figure = &row[figure];
            let fits = if m * k * n == 0 {
                figure.is_null()
            } else {
                figure.as_f64().is_some_and(|f| f > 0.0)
            };
            assert!(fits, "{row}");
        }
        assert!(row["max_rel_err"].as_f64().unwrap() < 1e-5, "{row}");
    }
    if m * k * n > 0 {
        assert_eq!(rows[0]["speedup"], 1.0);
    }
}

#[test]
fn without_arguments_the_story_is_told() {
    let text = text(&[]);
    assert!(text.starts_with("device 0: "), "{text}");
    let two = text.find("hello[1, 2]").unwrap();
    let eight = text.find("hello[2, 4]").unwrap();
    let table = text.find("C = A B").unwrap();
    assert!(two < eight && eight < table);
    let mut first = numbers(&text[two..eight]);
    let mut second = numbers(&text[eight..table]);
    first.sort();
    second.sort();
    assert_eq!(first, [0, 1]);
    assert_eq!(second, [0, 1, 2, 3, 4, 5, 6, 7]);
    let places: Vec<_> =
        FUNCTIONS.iter().map(|name| text[table..].find(&format!("| {name} ")).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn without_arguments_as_json() {
    let value = json(&[]);
    assert_eq!(value["command"], "demo");
    let mut printed: Vec<_> = value["hello"][1]["printed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap())
        .collect();
    printed.sort();
    assert_eq!(printed, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    check_matmul(&value["matmul"], (256, 256, 256));
}

#[test]
fn hello_prints_every_index_once() {
    for (grid, block) in [(1, 1), (3, 5), (2, 33)] {
        let (grid_text, block_text) = (grid.to_string(), block.to_string());
        let arguments = ["hello", "--grid", &grid_text, "--block", &block_text];
        let mut printed = numbers(&text(&arguments));
        printed.sort();
        assert_eq!(printed, (0..grid * block).collect::<Vec<_>>());
        let value = json(&arguments);
        assert_eq!(value["printed"].as_array().unwrap().len() as u64, grid * block);
        assert_eq!((&value["grid"], &value["block"]), (&grid.into(), &block.into()));
    }
    assert_eq!(numbers(&text(&["hello"])).len(), 8);
    assert_eq!(numbers(&text(&["hello", "--grid", "1", "--block", "1024"])).len(), 1024);
}

#[test]
fn devices_have_names_and_limits() {
    let text = text(&["devices"]);
    assert!(text.starts_with("backend: emulator, CUDA "), "{text}");
    assert!(text.contains("at most 1024 threads, 1024 x 1024 x 64"), "{text}");
    let value = json(&["devices"]);
    assert_eq!(value["backend"], "emulator");
    assert_eq!(value["devices"][0]["warp_size"], 32);
    assert_eq!(value["devices"][0]["max_threads_per_block"], 1024);
    assert!(value["devices"][0]["memory_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn doctor_finds_what_built_this_program() {
    let text = text(&["doctor"]);
    for name in [
        "device toolchain",
        "rustc",
        "LLVM",
        "library source",
        "libdevice",
        "kernel cache",
        "NVIDIA driver",
        "device",
        "emulator",
        "ptxas",
    ] {
        assert!(
            text.lines().any(|line| line[9..].starts_with(name)),
            "no line for {name} in\n{text}"
        );
    }
    let value = json(&["doctor"]);
    assert_eq!(value["exit_code"], 0);
    let checks = value["checks"].as_array().unwrap();
    let status = |name: &str| &checks.iter().find(|check| check["name"] == name).unwrap()["status"];
    assert_eq!(status("emulator"), "ok");
    assert_eq!(status("rustc"), "ok");
    assert_eq!(status("ptxas"), "absent");
}

#[test]
fn doctor_says_where_compiled_kernels_are_kept() {
    let with = |value: &str| {
        let mut command = ferrowarp(&["doctor"]);
        command.env("CUDA_BUILDER_CACHE", value);
        let shown = outcome(command).stdout;
        shown.lines().find(|line| line.contains("kernel cache")).unwrap().to_owned()
    };
    assert_eq!(with("/some/where"), "ok       kernel cache      /some/where");
    assert!(with("off").starts_with("absent   kernel cache"));
}

#[test]
fn doctor_says_what_to_do_without_a_toolchain() {
    let broken = |arguments: &[&str]| {
        let mut command = ferrowarp(arguments);
        command.env("CUDA_BUILDER_RUSTC", "/no/such/rustc");
        outcome(command)
    };
    let plain = broken(&["doctor"]);
    assert_eq!(plain.code, 4);
    assert!(plain.stdout.contains("missing  device toolchain"), "{}", plain.stdout);
    assert!(plain.stdout.contains("/no/such/rustc"), "{}", plain.stdout);
    assert!(plain.stdout.contains("-> "), "{}", plain.stdout);
    assert!(plain.stderr.starts_with("error: one necessary part is missing"), "{}", plain.stderr);
    // One JSON value, the findings, although the command fails.
    let json = broken(&["doctor", "--json"]);
    assert_eq!(json.code, 4);
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["exit_code"], 4);
    assert_eq!(value["checks"][0]["status"], "missing");
}

#[test]
fn inspect_lists_and_shows_kernels() {
    let value = json(&["inspect"]);
    let mut names: Vec<_> =
        value["kernels"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    names.sort();
    assert_eq!(names, KERNELS);
    for name in KERNELS {
        assert!(text(&["inspect"]).contains(name));
        let ptx = text(&["inspect", name]);
        assert!(ptx.contains(&format!(".entry {name}(")), "{ptx}");
        assert_eq!(ptx.matches(".entry").count(), 1, "only this kernel: {ptx}");
        assert!(ptx.trim_end().ends_with('}'), "{ptx}");
        assert_eq!(ptx, text(&["inspect", name, "--ptx"]));
        let llvm = text(&["inspect", name, "--llvm"]);
        assert!(llvm.contains("define ") && llvm.contains(&format!("@{name}(")), "{llvm}");
        assert_eq!(llvm.matches("\ndefine ").count(), 1, "only this kernel: {llvm}");
    }
}

#[test]
fn inspect_knows_parameters_and_shared_memory() {
    let value = json(&["inspect", "mat_mul_shared_kernel_16"]);
    // Two tiles of 16 x 16 f32.
    assert_eq!(value["shared_bytes"], 2 * 16 * 16 * 4);
    // a and b are a pointer and a length each, then c, m, k, n.
    let parameters = value["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 8);
    assert!(parameters.iter().all(|parameter| parameter["bytes"] == 8), "{value}");
    assert!(value["ptxas"].is_null());
    let value = json(&["inspect", "transform_points"]);
    let sizes: Vec<_> = value["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["bytes"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes, [8, 8, 8, 8, 64, 64]);
}

#[test]
fn inspect_reads_other_ptx() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.ptx");
    std::fs::write(
        &path,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry own()\n{\n\tret;\n}\n",
    )
    .unwrap();
    let path = path_text(&path);
    assert!(
        text(&["inspect", "own", "--file", &path]).contains(".visible .entry own()\n{\n\tret;\n}")
    );
    assert_eq!(json(&["inspect", "--file", &path])["kernels"][0], "own");
    fails(&["inspect", "own", "--file", &path, "--llvm"], 2, &["does not contain the LLVM IR"]);
}

#[cfg(unix)]
#[test]
fn inspect_asks_ptxas_and_nvdisasm() {
    let run = |arguments: &[&str]| {
        let mut command = ferrowarp(arguments);
        command.env("PTXAS", fixture("ptxas.sh")).env("NVDISASM", fixture("nvdisasm.sh"));
        outcome(command)
    };
    let plain = run(&["inspect", "hello"]);
    assert!(
        plain.stdout.contains("12 registers per thread, 34 bytes of shared memory"),
        "{}",
        plain.stdout
    );
    let json = run(&["inspect", "hello", "--sass", "--arch", "sm_90", "--json"]);
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&value["form"], &value["arch"]), (&"sass".into(), &"sm_90".into()));
    assert_eq!(value["ptxas"]["registers"], 12);
    assert_eq!(value["text"], "EXIT\n");
}

#[cfg(unix)]
#[test]
fn a_ptxas_that_fails_matters_only_where_it_is_needed() {
    let with_ptxas = |mut command: assert_cmd::Command| {
        command.env("PTXAS", fixture("ptxas_fails.sh"));
        command
    };
    let plain = outcome(with_ptxas(ferrowarp(&["inspect", "hello"])));
    assert_eq!(plain.code, 0, "{}", plain.stderr);
    fails_with(
        with_ptxas,
        &["inspect", "hello", "--sass"],
        4,
        &["too old for this", "--entry hello"],
    );
    fails_with(with_ptxas, &["inspect", "hello", "--arch", "sm_30"], 4, &["--gpu-name sm_30"]);
}

#[test]
fn transform_agrees_with_the_host() {
    let text = text(&["transform", "--count", "100"]);
    assert!(text.contains("transformed 100 points in "), "{text}");
    let value = json(&["transform", "--count", "1000", "--angle", "-45"]);
    assert_eq!((&value["points"], &value["backend"]), (&1000.into(), &"emulator".into()));
    assert!(value["max_abs_err"].as_f64().unwrap() < 1e-5, "{value}");
    assert_eq!(json(&["transform", "--count", "0"])["points"], 0);
}

#[test]
fn transform_reads_and_writes_points() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("q.npy");
    for name in ["points_6x3.npy", "points_6x4.npy"] {
        let value = json(&[
            "transform",
            "--points",
            &fixture(name),
            "--angle",
            "0",
            "--out",
            &path_text(&out),
        ]);
        assert_eq!(value["points"], 6);
        assert_eq!(value["out"].as_str(), out.to_str());
        let (points, images) =
            (read_points(Path::new(&fixture(name))).unwrap(), read_points(&out).unwrap());
        // Without rotation: f x / (3 - z) with f = 1 / tan(22.5 degrees).
        let f = 1.0 / (22.5_f64.to_radians()).tan();
        for (point, image) in points.iter().zip(&images) {
            let expected = f * f64::from(point[0]) / (3.0 - f64::from(point[2]));
            assert!(
                (f64::from(image[0]) - expected).abs() < 1e-6,
                "{point:?} -> {image:?}, not {expected}"
            );
            assert_eq!(image[3], 1.0);
        }
    }
    assert_eq!(files_in(folder.path()), [out]);
}

#[test]
fn matmul_reports_six_rows_in_order() {
    check_matmul(&json(&["matmul", "--size", "64"]), (64, 64, 64));
    check_matmul(&json(&["matmul", "--size", "33", "--block", "7", "--seed", "9"]), (33, 33, 33));
    check_matmul(&json(&["matmul", "--size", "1", "--block", "1"]), (1, 1, 1));
    let text = text(&["matmul", "--size", "40", "--block", "32"]);
    assert!(
        text.contains("A is 40 x 40, B is 40 x 40, float32; blocks of 32 x 32 threads"),
        "{text}"
    );
}

#[test]
fn matmul_of_size_0_is_empty_and_right() {
    let folder = tempfile::tempdir().unwrap();
    let out = path_text(&folder.path().join("c.npy"));
    check_matmul(&json(&["matmul", "--size", "0", "--out", &out]), (0, 0, 0));
    let c = read_matrix(Path::new(&out)).unwrap();
    assert_eq!((c.rows(), c.columns()), (0, 0));
    text(&["matmul", "--size", "0"]);

    check_matmul(
        &json(&["matmul", "--a", &fixture("empty_0x4.npy"), "--b", &fixture("b_4x3.npy")]),
        (0, 4, 3),
    );
    let (a, b) = (fixture("empty_5x0.npy"), fixture("empty_0x3.npy"));
    check_matmul(&json(&["matmul", "--a", &a, "--b", &b, "--out", &out]), (5, 0, 3));
    let c = read_matrix(Path::new(&out)).unwrap();
    assert_eq!((c.rows(), c.as_slice()), (5, [0.0; 15].as_slice()));
}

#[test]
fn matmul_of_files_gives_what_numpy_gives() {
    let folder = tempfile::tempdir().unwrap();
    let out = path_text(&folder.path().join("c.npy"));
    // NumPy's own product of these files, in float64.
    let bytes = std::fs::read(fixture("c_5x3_float64.npy")).unwrap();
    let numpy: Vec<f64> = npyz::NpyFile::new(&bytes[..]).unwrap().into_vec().unwrap();
    let (plain, fortran) = (fixture("a_5x4.npy"), fixture("a_5x4_fortran.npy"));
    let other = fixture("b_4x3_fortran_big_endian.npy");
    for (a, b) in [
        (&plain, &fixture("b_4x3.npy")),
        (&fortran, &other),
        (&fixture("a_5x4_big_endian.npy"), &other),
    ] {
        let value = json(&["matmul", "--a", a, "--b", b, "--out", &out]);
        check_matmul(&value, (5, 4, 3));
        assert!(value["seed"].is_null());
        let c = read_matrix(Path::new(&out)).unwrap();
        for (found, expected) in c.as_slice().iter().zip(&numpy) {
            assert!(
                (f64::from(*found) - expected).abs() <= 1e-6 * expected.abs(),
                "{found} is not {expected}"
            );
        }
    }
}

#[test]
fn one_seed_gives_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let run = |seed: &str, name: &str| {
        let path = folder.path().join(name);
        let value = json(&["matmul", "--size", "48", "--seed", seed, "--out", &path_text(&path)]);
        assert_eq!(value["seed"].to_string(), seed);
        let errors: Vec<_> = value["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["max_abs_err"].clone())
            .collect();
        (std::fs::read(path).unwrap(), errors)
    };
    let first = run("5", "1.npy");
    assert_eq!(first, run("5", "2.npy"));
    assert_ne!(first.0, run("6", "3.npy").0);
}

#[test]
fn the_emulator_is_measured() {
    let arguments = ["bench", "emulator", "--size", "32", "--samples", "3"];
    let shown = text(&arguments);
    for part in ["product, strided", "racecheck", "lane ops/s", "2 jobs against one"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.trim_end().ends_with(" ms"), "a time without a unit: {shown}");
    let value = json(&arguments);
    let rows = value["rows"].as_array().unwrap();
    // Six patterns, three kinds of checks on two of them, one job and two.
    assert_eq!(rows.len(), 6 + 2 * 3 + 2);
    assert!(rows.iter().all(|row| row["lane_operations_per_s"].as_f64().unwrap() > 0.0));
    assert!(rows.iter().all(|row| (row["checks"] != "none") == row["cost"].is_number()));
    assert!(value["speedup_of_jobs"].as_f64().unwrap() > 0.0);
    assert!(value["load_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn help_teaches_the_exit_codes() {
    for arguments in
        [&["--help"][..], &["-h"], &["help", "matmul"], &["hello", "--help"], &["doctor", "--help"]]
    {
        let text = text(arguments);
        assert!(text.contains("Exit codes:"), "{arguments:?}");
        assert!(text.contains("CUDA_DRIVER_BACKEND"), "{arguments:?}");
    }
    for command in ["doctor", "devices", "hello", "inspect", "transform", "matmul"] {
        assert!(text(&["--help"]).contains(&format!("\n  {command} ")), "{command}");
    }
    assert!(text(&["--version"]).starts_with("ferrowarp "));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ferrowarp"));
    command.args(["inspect", "mat_mul_shared_kernel_32"]).env("CUDA_DRIVER_BACKEND", "emulator");
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_gpu_that_is_not_there_is_exit_code_4() {
    if cuda_driver::native_driver().is_ok() {
        return;
    }
    let gpu = |mut command: assert_cmd::Command| {
        command.env("CUDA_DRIVER_BACKEND", "gpu");
        command
    };
    for arguments in [&["hello"][..], &["devices"], &["matmul", "--size", "8"], &["transform"], &[]]
    {
        fails_with(gpu, arguments, 4, &["CUDA_DRIVER_BACKEND=emulator"]);
    }
}

#[test]
fn a_backend_that_does_not_exist_is_exit_code_2() {
    let nonsense = |mut command: assert_cmd::Command| {
        command.env("CUDA_DRIVER_BACKEND", "quantum");
        command
    };
    fails_with(nonsense, &["hello"], 2, &["quantum"]);
}
