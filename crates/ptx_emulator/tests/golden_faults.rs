//! Recorded faults: the emulator must end a launch where the hardware ended it, with the same error code. Where it is
//! deliberately stricter than the hardware, the case is listed with the reason.

mod golden_support;

use std::collections::BTreeMap;
use std::sync::Arc;

use golden_support::lines;
use ptx_emulator::support::DEVIATIONS;
use ptx_emulator::{FaultKind, Launch, Machine, MachineConfig, Output, Program};
use serde_json::Value;

/// What stands around the recorded kernels.
const HEADER: &str = "
.version 8.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.const .align 16 .b32 cm[64] = {1, 2, 3, 4};
.extern .func __assertfail(.param .b64 p0, .param .b64 p1, .param .b32 p2, .param .b64 p3, .param .b64 p4);
.global .align 1 .b8 s_msg[6] = {120, 32, 61, 61, 32, 0};
.global .align 1 .b8 s_file[5] = {102, 46, 114, 115, 0};
.global .align 1 .b8 s_func[5] = {107, 101, 114, 110, 0};
.global .align 16 .b8 gdata[64];
";

/// Success, as the driver's `CUresult`.
const SUCCESS: u64 = 0;
/// `CUDA_ERROR_ILLEGAL_ADDRESS`.
const ILLEGAL_ADDRESS: u64 = 700;
/// `CUDA_ERROR_INVALID_PC`.
const INVALID_PC: u64 = 718;

/// The `CUresult` that a fault stands for.
fn code(kind: &FaultKind) -> u64 {
    match kind {
        FaultKind::IllegalAddress | FaultKind::StackOverflow => ILLEGAL_ADDRESS,
        FaultKind::MisalignedAddress => 716,
        FaultKind::InvalidAddressSpace => 717,
        FaultKind::InvalidPc => INVALID_PC,
        FaultKind::Trap | FaultKind::Breakpoint => 719,
        FaultKind::Assert { .. } => 710,
        _ => u64::MAX,
    }
}

/// What the emulator answers where it does not follow the hardware, and why.
fn deviation(label: &str) -> Option<(u64, &'static str)> {
    let (code, name) = match label {
        "shared ld b32, 1024 B declared, offset -1024"
        | "shared st b32, 1024 B declared, offset -1024"
        | "local ld b32, 256 B declared, offset 256"
        | "local st b32, 256 B declared, offset 256"
        | "global ld b32 4 B past a 4 B allocation"
        | "global st b32 4 B past a 4 B allocation"
        | "const ld b32, 256 B declared, offset 256"
        | "const ld b32, 256 B declared, offset 65536"
        | "const ld b32, 256 B declared, offset 16777216"
        | "shared ld b32, 4 B declared, offset 4"
        | "shared ld b32, 4 B declared, offset 124"
        | "shared ld b32, 100 B declared, offset 100"
        | "shared ld b32, 100 B declared, offset 124"
        | "shared ld b32, 1000 B dynamic, offset 1000"
        | "shared ld b32, 1000 B dynamic, offset 1020"
        | "shared ld b32, 1025 B dynamic, offset 1024"
        | "shared ld b32, 1025 B dynamic, offset 1028"
        | "shared ld b32, 1025 B dynamic, offset 1148" => (ILLEGAL_ADDRESS, "declared size"),
        "shared ld b32, 1024 B declared, offset 16777216"
        | "shared st b32, 1024 B declared, offset 16777216"
        | "shared ld b32, 1024 B declared, offset -1280"
        | "shared st b32, 1024 B declared, offset -1280" => (ILLEGAL_ADDRESS, "no clusters"),
        "generic store to a .const variable" => (ILLEGAL_ADDRESS, "constants"),
        "indirect call to 0x1000" | "indirect call to 0xdeadbeef0" => {
            (INVALID_PC, "code addresses")
        }
        _ => return None,
    };
    // Every difference is in the list that users read.
    let listed = DEVIATIONS.iter().find(|deviation| deviation.name == name);
    Some((
        code,
        listed.unwrap_or_else(|| panic!("`{name}` is not in the list of deviations")).reason,
    ))
}

/// Cases that have no counterpart here: a prepared binary, host memory. Those of recursion, which need a stack limit each, have a test of
/// their own.
fn has_no_counterpart(label: &str) -> bool {
    label.starts_with("illegal instruction")
        || label.contains("pageable host memory")
        || label.starts_with("recursion of depth")
}

/// The number that a text begins with.
fn first_number(text: &str) -> Option<u32> {
    text.split([' ', ',']).next()?.parse().ok()
}

/// Cases whose output says nothing: memory that was never written (zero by luck there, a poison pattern here), or the
/// last of several lanes that write to one place.
const ACCIDENTAL: [&str; 4] = [
    "shared ld b32, 100 B declared, offset 96",
    "shared ld b32, 1000 B dynamic, offset 996",
    "generic atom.add.u32 on shared memory",
    "bar.sync 0 at two places by the two halves of a warp",
];

/// The text between a marker and the next space, comma or end.
fn word_after<'a>(label: &'a str, marker: &str) -> Option<&'a str> {
    let rest = &label[label.find(marker)? + marker.len()..];
    Some(rest.split([' ', ',']).next().unwrap_or(rest))
}

/// The number a label gives after a marker: decimal, hexadecimal or a power of two, perhaps negative (as 32 bits).
fn number_after(label: &str, marker: &str) -> Option<u64> {
    let word = word_after(label, marker)?;
    if let Some(power) = word.strip_prefix("2^") {
        return Some(1 << power.parse::<u32>().ok()?);
    }
    if let Some(hex) = word.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    word.parse::<i64>()
        .ok()
        .map(|value| if value < 0 { u64::from(value as u32) } else { value as u64 })
}

/// The address or offset that a case gives its kernel; it allocates what the case needs.
fn address(machine: &mut Machine, label: &str, kernel: &str) -> u64 {
    const BIG: u64 = 64 << 20;
    let mut alloc =
        |bytes: u64| machine.memory_mut().alloc(bytes, "case").expect("memory for a case");
    if label.contains("past the end of a 64 MiB allocation") {
        let distance = if label.contains("32 GiB") { 1 << 35 } else { 1 << 20 };
        return alloc(BIG) + BIG + distance;
    }
    if label.contains("in a freed 64 MiB allocation") {
        let address = alloc(BIG);
        machine.memory_mut().free(address).expect("just allocated");
        return address + 4096;
    }
    if label.contains("past a 4 B allocation") {
        return alloc(4) + 4;
    }
    if let Some(distance) = number_after(label, "address = 16k + ") {
        let in_buffer = ["global", "generic"].iter().any(|space| kernel.contains(space));
        return distance + if in_buffer { alloc(1 << 20) } else { 0 };
    }
    if label.starts_with("control") {
        let address = alloc(1 << 20);
        machine.memory_mut().fill(address, &[1], 1 << 20).expect("just allocated");
        return address;
    }
    if label.contains("2^64 - 4") {
        return u64::MAX - 3;
    }
    if label.contains("offset 1 MiB") {
        return 1 << 20;
    }
    [
        "offset ",
        "at address ",
        " b32 at ",
        ".u32 at ",
        "indirect call to ",
        "barrier number ",
        "bar.sync 1, ",
    ]
    .iter()
    .find_map(|marker| number_after(label, marker))
    .unwrap_or(0)
}

/// What a kernel prints.
struct Silent;

impl Output for Silent {
    fn print(&mut self, _text: &[u8]) {}
}

/// Runs a case; the error code and, after success, the first word of the output.
fn run(program: &Arc<Program>, label: &str, kernel: &str) -> (u64, Option<u32>, String) {
    let mut machine = Machine::new(MachineConfig::default());
    let module = machine.load(Arc::clone(program)).expect("the kernels load");
    let output = machine.memory_mut().alloc(4096, "output").expect("memory for the output");
    let address = address(&mut machine, label, kernel);
    let value = if kernel == "div_zero" { 0u32 } else { 4 };
    let threads = match kernel {
        "trap_one_lane" | "bar_divergent" => 32,
        "bar_register" | "bar_register_count" | "bar_exited" => 64,
        _ => 1,
    };
    let mut params = Vec::new();
    params.extend_from_slice(&address.to_le_bytes());
    params.extend_from_slice(&output.to_le_bytes());
    params.extend_from_slice(&value.to_le_bytes());
    let dynamic_shared_bytes = word_after(label, "shared ld b32, ")
        .filter(|_| label.contains("dynamic"))
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or(0);
    let launch = Launch {
        kernel,
        grid: [1; 3],
        block: [threads, 1, 1],
        dynamic_shared_bytes,
        params: &params,
    };
    match machine.launch(module, &launch, &mut Silent) {
        Ok(_) => {
            let mut word = [0; 4];
            machine.memory().read(output, &mut word).expect("the output is allocated");
            (SUCCESS, Some(u32::from_le_bytes(word)), String::new())
        }
        Err(fault) => (code(fault.kind()), None, fault.to_string()),
    }
}

#[test]
fn faults_end_as_recorded() {
    let records: Vec<Value> = lines("faults").collect();
    let of_kind = |kind: &str| {
        records.iter().filter(move |record| record["kind"] == kind).collect::<Vec<_>>()
    };
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let kernels: BTreeMap<String, String> = of_kind("kernel")
        .iter()
        .map(|record| (text(&record["name"]), text(&record["ptx"])))
        .collect();
    let mut source = format!("{HEADER}{}\n", kernels["function"]);
    for (name, body) in kernels.iter().filter(|(name, _)| *name != "function") {
        source += &format!(
            ".visible .entry {name}(.param .u64 pa, .param .u64 po, .param .u32 pv)\n{body}\n"
        );
    }
    let program = Arc::new(Program::compile(&source).unwrap_or_else(|error| panic!("{error}")));
    let (mut checked, mut wrong) = (0, Vec::new());
    for record in of_kind("fault") {
        let (label, kernel) = (text(&record["case"]), text(&record["kernel"]));
        if has_no_counterpart(&label) {
            continue;
        }
        let recorded = record["cuCtxSynchronize"].as_u64().expect("a code");
        let expected = deviation(&label).map_or(recorded, |(code, _)| code);
        let (found, output, diagnostic) = run(&program, &label, &kernel);
        checked += 1;
        if found != expected {
            wrong.push(format!("{label}: {found} instead of {expected}\n{diagnostic}"));
        } else if found == SUCCESS && !ACCIDENTAL.contains(&label.as_str()) {
            let recorded =
                u32::from_str_radix(record["output"][0].as_str().expect("an output"), 16)
                    .expect("hexadecimal");
            if output != Some(recorded) {
                wrong.push(format!("{label}: output {output:x?} instead of {recorded:x}"));
            }
        }
    }
    assert!(checked > 120, "only {checked} cases were found");
    assert!(wrong.is_empty(), "{} of {checked} cases differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn recursion_works_as_deep_as_the_stack_limit_allows() {
    let records: Vec<Value> = lines("faults").collect();
    let function =
        records.iter().find(|record| record["name"] == "function").expect("the recursive function");
    let kernel = records.iter().find(|record| record["name"] == "recurse").expect("its kernel");
    let source = format!(
        "{HEADER}{}\n.visible .entry recurse(.param .u64 pa, .param .u64 po, .param .u32 pv)\n{}\n",
        function["ptx"].as_str().expect("text"),
        kernel["ptx"].as_str().expect("text")
    );
    let program = Arc::new(Program::compile(&source).unwrap_or_else(|error| panic!("{error}")));
    let recurse = |depth: u32, limit: u32| {
        let mut machine = Machine::new(MachineConfig::default());
        machine.set_stack_limit(limit);
        let module = machine.load(Arc::clone(&program)).expect("the kernel loads");
        let output = machine.memory_mut().alloc(4096, "output").expect("memory for the output");
        let mut params = vec![0; 8];
        params.extend_from_slice(&output.to_le_bytes());
        params.extend_from_slice(&depth.to_le_bytes());
        let launch = Launch {
            kernel: "recurse",
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared_bytes: 0,
            params: &params,
        };
        let ended = machine.launch(module, &launch, &mut Silent).map(|_| ());
        let mut word = [0; 4];
        machine.memory().read(output, &mut word).expect("the output is allocated");
        ended.map(|()| u32::from_le_bytes(word))
    };
    // The recorded results are the square of the depth, with a word of the last frame added that was never written: zero there.
    let unwritten = recurse(0, 1024).unwrap_or_else(|fault| panic!("{fault}"));
    let mut ended = [0; 2];
    for record in &records {
        let label = record["case"].as_str().unwrap_or_default();
        let Some(depth) = label.strip_prefix("recursion of depth ").and_then(first_number) else {
            continue;
        };
        let limit = record["stack_limit"].as_u64().expect("a number") as u32;
        let recorded = record["cuCtxSynchronize"].as_u64().expect("a code");
        match recurse(depth, limit) {
            Ok(result) => {
                assert_eq!(recorded, SUCCESS, "{label}");
                let expected = record["output"][0].as_str().expect("an output");
                assert_eq!(format!("{:08x}", result.wrapping_sub(unwritten)), expected, "{label}");
                ended[0] += 1;
            }
            Err(fault) => {
                assert_eq!(recorded, code(fault.kind()), "{label}: {fault}");
                assert_eq!(fault.kind(), &FaultKind::StackOverflow, "{label}");
                ended[1] += 1;
            }
        }
    }
    assert_eq!(ended, [7, 10], "of the recorded cases");
}
