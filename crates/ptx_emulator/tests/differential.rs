//! The emulator against the host's own processor: LLVM compiles the same functions to PTX and to native code, and
//! both must compute the same bits.
//!
//! The cases under `tests/data/differential` are replayed everywhere. New ones need `llc`, `opt` and a C compiler:
//! `cargo xtask differential --count 200`, or
//! `DIFFERENTIAL_COUNT=200 cargo test -p ptx_emulator --test differential -- --ignored`.

#[path = "differential_support/generate.rs"]
mod generate;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ptx_emulator::{Launch, Machine, MachineConfig, Program};

/// Functions of one module.
const FUNCTIONS: usize = 12;
/// Inputs of each function; one thread each, in blocks that are no whole number of warps.
const THREADS: usize = 80;

/// What the emulator computes for each function of a module.
fn emulate(ptx: &str, inputs: &[u64], schedule_seed: Option<u64>) -> Vec<Vec<u64>> {
    let program = Program::compile(ptx).unwrap_or_else(|error| panic!("{error}"));
    let functions = program.kernels().count();
    let mut config = MachineConfig::default();
    config.schedule_seed = schedule_seed;
    let mut machine = Machine::new(config);
    let module = machine.load(Arc::new(program)).expect("little memory is needed");
    let bytes: Vec<u8> = inputs.iter().flat_map(|word| word.to_le_bytes()).collect();
    let memory = machine.memory_mut();
    let input = memory.alloc(bytes.len() as u64, "in").expect("memory");
    let output = memory.alloc(bytes.len() as u64, "out").expect("memory");
    memory.write(input, &bytes).expect("allocated");
    (0..functions)
        .map(|number| {
            machine.memory_mut().write(output, &vec![0xCC; bytes.len()]).expect("allocated");
            let launch = Launch {
                kernel: &format!("k{number}"),
                grid: [2, 1, 1],
                block: [(THREADS / 2) as u32, 1, 1],
                dynamic_shared_bytes: 0,
                params: &[input.to_le_bytes(), output.to_le_bytes()].concat(),
            };
            machine
                .launch(module, &launch, &mut Vec::new())
                .unwrap_or_else(|fault| panic!("k{number}: {fault}"));
            let mut bytes = vec![0; bytes.len()];
            machine.memory().read(output, &mut bytes).expect("allocated");
            words(&bytes)
        })
        .collect()
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    bytes.chunks_exact(8).map(word).collect()
}

/// Fails with the first difference.
fn compare(what: &str, inputs: &[u64], expected: &[Vec<u64>], found: &[Vec<u64>]) {
    assert_eq!(expected.len(), found.len(), "{what}: number of functions");
    for (function, (expected, found)) in expected.iter().zip(found).enumerate() {
        assert_eq!(expected.len(), found.len());
        if let Some(at) = (0..expected.len()).find(|at| expected[*at] != found[*at]) {
            let (thread, word) = (at / 4, at % 4);
            panic!(
                "{what}: f{function} gives {:#x} as word {word} for {:x?}, but {:#x} natively",
                found[at],
                &inputs[thread * 4..thread * 4 + 4],
                expected[at]
            );
        }
    }
}

/// A tool by the path in a variable, in LLVM's usual folder, or by name.
fn tool(variable: &str, name: &str) -> PathBuf {
    if let Some(path) = std::env::var_os(variable) {
        return path.into();
    }
    let folder =
        std::env::var("CUDA_BUILDER_LLVM_BIN").unwrap_or("/usr/lib/llvm-22/bin".to_owned());
    let path = Path::new(&folder).join(name);
    if path.is_file() { path } else { name.into() }
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles a module to PTX.
fn to_ptx(folder: &Path, functions: &str, seed: u64) -> String {
    let mut text = format!("target triple = \"nvptx64-nvidia-cuda\"\n\n{functions}");
    for number in 0..FUNCTIONS {
        text += &format!(
            "define ptx_kernel void @k{number}(ptr %in, ptr %out) {{\n  \
             %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  \
             %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n  \
             %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n  \
             %m = mul i32 %b, %n\n  %i = add i32 %m, %t\n  %w = mul i32 %i, 4\n  \
             %a = getelementptr i64, ptr %in, i32 %w\n  %c = getelementptr i64, ptr %out, i32 %w\n  \
             call void @f{number}(ptr %a, ptr %c)\n  ret void\n}}\n"
        );
    }
    for name in ["tid", "ctaid", "ntid"] {
        text += &format!("declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()\n");
    }
    // Little optimised code has other instructions than well optimised code.
    let level = ["-O0", "-O1", "-O2", "-O3"][seed as usize % 4];
    let (source, better, ptx) = (folder.join("k.ll"), folder.join("k.bc"), folder.join("k.ptx"));
    fs::write(&source, text).expect("written");
    succeed(Command::new(tool("OPT", "opt")).arg(level).arg(&source).arg("-o").arg(&better));
    let mut llc = Command::new(tool("LLC", "llc"));
    succeed(llc.arg(level).arg("-mcpu=sm_90").arg(&better).arg("-o").arg(&ptx));
    fs::read_to_string(ptx).expect("llc writes it")
}

/// Compiles a module for this machine and runs it.
fn natively(folder: &Path, functions: &str, inputs: &[u64]) -> Vec<Vec<u64>> {
    let (source, object) = (folder.join("n.ll"), folder.join("n.o"));
    let (main, program) = (folder.join("main.c"), folder.join("n"));
    fs::write(&source, functions).expect("written");
    succeed(
        Command::new(tool("LLC", "llc"))
            .args(["-O1", "-filetype=obj", "-relocation-model=pic"])
            .arg(&source)
            .arg("-o")
            .arg(&object),
    );
    let names: Vec<String> = (0..FUNCTIONS).map(|number| format!("f{number}")).collect();
    let declared: String =
        names.iter().map(|f| format!("void {f}(const void *, void *);\n")).collect();
    fs::write(
        &main,
        format!(
            "#include <stdio.h>\n#include <string.h>\n{declared}\
             static void (*const all[])(const void *, void *) = {{ {} }};\n\
             static unsigned long long in[{}][4];\n\
             int main(void) {{\n  if (fread(in, sizeof in, 1, stdin) != 1) return 1;\n  \
             for (unsigned f = 0; f < sizeof all / sizeof *all; f++)\n    for (unsigned i = 0; i < {THREADS}; i++) {{\n      \
             unsigned long long out[4];\n      memset(out, 0xCC, sizeof out);\n      all[f](in[i], out);\n      \
             fwrite(out, sizeof out, 1, stdout);\n    }}\n  return 0;\n}}\n",
            names.join(", "),
            THREADS
        ),
    )
    .expect("written");
    succeed(
        Command::new(tool("CC", "cc")).arg("-O1").arg(&main).arg(&object).arg("-o").arg(&program),
    );
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let bytes: Vec<u8> = inputs.iter().flat_map(|word| word.to_le_bytes()).collect();
    child.stdin.take().expect("piped").write_all(&bytes).expect("it reads them all first");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", output.status);
    words(&output.stdout).chunks(THREADS * 4).map(<[u64]>::to_vec).collect()
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/differential")
}

fn unpack(path: &Path) -> Vec<u8> {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    GzDecoder::new(file).read_to_end(&mut bytes).expect("gzip");
    bytes
}

fn pack(path: &Path, bytes: &[u8]) {
    let mut encoder = GzEncoder::new(fs::File::create(path).expect("created"), Compression::best());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("written");
}

#[test]
fn recorded_cases() {
    let mut count = 0;
    for entry in fs::read_dir(data()).expect("the folder exists") {
        let path = entry.expect("readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(seed) = name.strip_suffix(".ptx.gz") else { continue };
        let ptx = String::from_utf8(unpack(&path)).expect("text");
        let expected = words(&unpack(&path.with_file_name(format!("{seed}.out.gz"))));
        let expected: Vec<Vec<u64>> = expected.chunks(THREADS * 4).map(<[u64]>::to_vec).collect();
        let inputs = generate::inputs(seed.parse().expect("a number"), THREADS);
        for schedule in [None, Some(1), Some(2)] {
            compare(&name, &inputs, &expected, &emulate(&ptx, &inputs, schedule));
        }
        count += 1;
    }
    assert!(count >= 4, "{count} cases");
}

#[test]
fn a_wrong_instruction_is_noticed() {
    let entry = fs::read_dir(data()).expect("the folder exists").flatten();
    let path =
        entry.map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with(".ptx.gz"));
    let path = path.expect("there is a case");
    let seed = path.file_name().unwrap_or_default().to_string_lossy().replace(".ptx.gz", "");
    let inputs = generate::inputs(seed.parse().expect("a number"), THREADS);
    let ptx = String::from_utf8(unpack(&path)).expect("text");
    let right = emulate(&ptx, &inputs, None);
    let wrong = emulate(&ptx.replace("mul.lo.s64", "add.s64"), &inputs, None);
    assert_ne!(right, wrong);
}

#[test]
#[ignore = "needs LLVM's tools and a C compiler"]
fn new_cases() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let count = number("DIFFERENTIAL_COUNT", 48) as usize;
    let first = number("DIFFERENTIAL_SEED", 1);
    let save = std::env::var_os("DIFFERENTIAL_SAVE").is_some();
    let folder = std::env::temp_dir().join(format!("ptx-differential-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    for seed in (first..).take(count.div_ceil(FUNCTIONS)) {
        let functions = generate::functions(seed, FUNCTIONS);
        let inputs = generate::inputs(seed, THREADS);
        let ptx = to_ptx(&folder, &functions, seed);
        let expected = natively(&folder, &functions, &inputs);
        let found = emulate(&ptx, &inputs, (seed % 2 == 0).then_some(seed));
        compare(
            &format!("seed {seed} (files in {})", folder.display()),
            &inputs,
            &expected,
            &found,
        );
        if save {
            fs::create_dir_all(data()).expect("created");
            pack(&data().join(format!("{seed}.ptx.gz")), ptx.as_bytes());
            let bytes: Vec<u8> =
                expected.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
            pack(&data().join(format!("{seed}.out.gz")), &bytes);
        }
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{count} functions agree");
}
