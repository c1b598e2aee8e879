//! Recorded matrix, asynchronous-copy and mbarrier instructions through the whole pipeline: the results must be those of the
//! hardware, bit for bit.

mod golden_support;

use std::fmt::Write as _;
use std::sync::Arc;

use golden_support::lines;
use ptx_emulator::{Launch, Machine, MachineConfig, Program};
use serde_json::Value;

/// The number in a field of a record.
fn number(record: &Value, field: &str) -> usize {
    record[field].as_u64().unwrap_or_else(|| panic!("field {field} of {record}")) as usize
}

fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap_or_else(|| panic!("field {field} of {record}"))
}

/// Little-endian bytes of hexadecimal numbers of `bits` bits, one after the other.
fn bytes(hex: &str, bits: usize) -> Vec<u8> {
    let digits = bits / 4;
    assert_eq!(hex.len() % digits, 0, "whole numbers");
    let numbers = (0..hex.len()).step_by(digits);
    let number = |at| u64::from_str_radix(&hex[at..at + digits], 16).expect("hexadecimal");
    numbers.flat_map(|at| number(at).to_le_bytes().into_iter().take(bits / 8)).collect()
}

/// A module with the kernel `k`, whose parameters are as many pointers, in registers `%p0` and so on; `%l` is the lane.
fn module(pointers: usize, body: &str) -> String {
    let params: Vec<String> = (0..pointers).map(|n| format!(".param .u64 a{n}")).collect();
    let mut source = format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k({}) {{\n\
         .reg .b32 %l, %b, %r<40>;\n.reg .b64 %p<8>, %w<40>;\n.reg .pred %q<4>;\n\
         mov.u32 %l, %tid.x;\nmov.u32 %b, %ctaid.x;\n",
        params.join(", ")
    );
    for n in 0..pointers {
        writeln!(source, "ld.param.u64 %p{n}, [a{n}];").expect("a string");
    }
    source + body + "\nret;\n}\n"
}

/// Runs `k` with one buffer an input and one for the output, under several schedules.
fn run(source: &str, grid: u32, block: u32, inputs: &[Vec<u8>], output: usize) -> Vec<u8> {
    let program = Arc::new(Program::compile(source).unwrap_or_else(|e| panic!("{e}\n{source}")));
    let mut results = [None, Some(7)].map(|seed| {
        let mut config = MachineConfig::default();
        config.schedule_seed = seed;
        let mut machine = Machine::new(config);
        let module = machine.load(Arc::clone(&program)).expect("no variables");
        let mut params = Vec::new();
        let mut place = |data: &[u8]| {
            let address = machine.memory_mut().alloc(data.len() as u64, "data").expect("memory");
            machine.memory_mut().write(address, data).expect("just allocated");
            params.extend_from_slice(&address.to_le_bytes());
            address
        };
        inputs.iter().for_each(|data| {
            place(data);
        });
        let out = place(&vec![0; output]);
        let launch = Launch {
            kernel: "k",
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            dynamic_shared_bytes: 0,
            params: &params,
        };
        machine
            .launch(module, &launch, &mut Vec::new())
            .unwrap_or_else(|fault| panic!("{fault}\n{source}"));
        let mut result = vec![0; output];
        machine.memory().read(out, &mut result).expect("allocated");
        result
    });
    assert_eq!(results[0], results[1], "schedules differ");
    std::mem::take(&mut results[0])
}

/// `{%r0,%r1}`
fn vector(registers: std::ops::Range<usize>, prefix: &str) -> String {
    let names: Vec<String> = registers.map(|n| format!("%{prefix}{n}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// The records of a kind in a file.
fn records(file: &str, kind: &'static str) -> impl Iterator<Item = Value> {
    lines(file).filter(move |record| record["kind"] == kind)
}

#[test]
fn mma() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for record in records("matrix", "mma") {
        let regs: Vec<usize> =
            (0..4).map(|n| record["regs"][n].as_u64().expect("register counts") as usize).collect();
        let (bits, trials) = (number(&record, "bits"), number(&record, "trials"));
        let (prefix, size) = if bits == 64 { ("w", 8) } else { ("r", 4) };
        let mut body = String::new();
        let mut next = 1;
        let mut vectors = Vec::new();
        for (pointer, count) in regs.iter().enumerate() {
            writeln!(body, "mad.lo.u32 %r0, %b, {}, %l;", 32 * count).expect("a string");
            writeln!(body, "mad.wide.u32 %p{pointer}, %r0, {size}, %p{pointer};")
                .expect("a string");
            for register in 0..*count {
                if pointer < 3 {
                    let at = 32 * size * register;
                    let name = format!("%{prefix}{}", next + register);
                    writeln!(body, "ld.global.b{bits} {name}, [%p{pointer}+{at}];")
                        .expect("a string");
                }
            }
            vectors.push(vector(next..next + count, prefix));
            next += count;
        }
        let ptx = text(&record, "ptx");
        let [a, b, c, d] = vectors.as_slice() else { panic!("four fragments") };
        writeln!(body, "{ptx} {d}, {a}, {b}, {c};").expect("a string");
        for register in 0..regs[3] {
            let name = format!("%{prefix}{}", next - regs[3] + register);
            writeln!(body, "st.global.b{bits} [%p3+{}], {name};", 32 * size * register)
                .expect("a string");
        }
        let inputs = ["a", "b", "c"].map(|field| bytes(text(&record, field), bits));
        let expected = bytes(text(&record, "d"), bits);
        let result = run(&module(4, &body), trials as u32, 32, &inputs, expected.len());
        let differ = result.chunks(size).zip(expected.chunks(size)).filter(|(a, b)| a != b).count();
        count += 1;
        if differ > 0 {
            let all = expected.len() / size;
            wrong.push(format!("{ptx}: {differ} of {all} numbers differ"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} forms\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(count, 110, "all recorded forms");
}

#[test]
fn ldmatrix_stmatrix_movmatrix() {
    let mut count = 0;
    for record in records("matrix", "move") {
        let (ptx, n) = (text(&record, "ptx"), number(&record, "n"));
        let (memory, addresses) =
            (bytes(text(&record, "mem"), 32), bytes(text(&record, "addr"), 32));
        let (given, expected) = (bytes(text(&record, "in"), 32), bytes(text(&record, "out"), 32));
        // Pad what the form does not have, so that all kernels have the same parameters.
        let padded = |data: Vec<u8>, size: usize| {
            let mut data = data;
            data.resize(size.max(data.len()), 0);
            data
        };
        let mut body = String::from(
            ".shared .align 128 .b8 area[1024];\nmov.u32 %r0, area;\nmad.lo.u32 %r1, %l, 4, %r0;\n\
             mad.wide.u32 %w0, %l, 4, %p0;\nmad.wide.u32 %w1, %l, 4, %p1;\n\
             mad.wide.u32 %w2, %l, 4, %p2;\nmad.wide.u32 %w3, %l, 4, %p3;\n",
        );
        for at in (0..1024).step_by(128) {
            writeln!(body, "ld.global.b32 %r2, [%w0+{at}]; st.shared.b32 [%r1+{at}], %r2;")
                .expect("a string");
        }
        body += "bar.warp.sync -1;\nld.global.b32 %r3, [%w1];\nadd.u32 %r3, %r3, %r0;\n";
        for register in 0..n {
            writeln!(body, "ld.global.b32 %r{}, [%w2+{}];", 10 + register, 128 * register)
                .expect("a string");
        }
        let fragment = vector(10..10 + n, "r");
        let stores = ptx.starts_with("stmatrix");
        if stores {
            writeln!(body, "{ptx} [%r3], {fragment};\nbar.warp.sync -1;").expect("a string");
            for at in (0..1024).step_by(128) {
                writeln!(body, "ld.shared.b32 %r2, [%r1+{at}]; st.global.b32 [%w3+{at}], %r2;")
                    .expect("a string");
            }
        } else {
            if ptx.starts_with("movmatrix") {
                writeln!(body, "{ptx} %r10, %r10;").expect("a string");
            } else {
                writeln!(body, "{ptx} {fragment}, [%r3];").expect("a string");
            }
            for register in 0..n {
                writeln!(body, "st.global.b32 [%w3+{}], %r{};", 128 * register, 10 + register)
                    .expect("a string");
            }
        }
        let inputs = [padded(memory, 1024), padded(addresses, 128), padded(given, 512)];
        let result = run(&module(4, &body), 1, 32, &inputs, expected.len());
        assert_eq!(result, expected, "{ptx}");
        count += 1;
    }
    assert_eq!(count, 13, "all recorded forms");
}

#[test]
fn cp_async() {
    let mut count = 0;
    for record in records("async", "copy") {
        let ptx = text(&record, "ptx").replace("[dst]", "[%r3]").replace("[src]", "[%w0]");
        let ptx = match ptx.rsplit_once(',') {
            Some((rest, "n")) => format!("{rest}, %r4"),
            Some((rest, "q")) => format!("{rest}, %q0"),
            _ => ptx,
        };
        let mut body = String::from(
            ".shared .align 128 .b8 area[512];\nmov.u32 %r0, area;\nmad.lo.u32 %r1, %l, 4, %r0;\n\
             mad.lo.u32 %r3, %l, 16, %r0;\nmad.wide.u32 %w0, %l, 16, %p0;\n\
             mad.wide.u32 %w1, %l, 4, %p1;\nmad.wide.u32 %w2, %l, 4, %p2;\n\
             ld.global.b32 %r4, [%w1];\nsetp.ne.u32 %q0, %r4, 0;\n",
        );
        for at in (0..512).step_by(128) {
            writeln!(body, "st.shared.b32 [%r1+{at}], 0xcccccccc;").expect("a string");
        }
        writeln!(body, "bar.warp.sync -1;\n{ptx};\ncp.async.wait_all;\nbar.warp.sync -1;")
            .expect("a string");
        for at in (0..512).step_by(128) {
            writeln!(body, "ld.shared.b32 %r2, [%r1+{at}]; st.global.b32 [%w2+{at}], %r2;")
                .expect("a string");
        }
        let inputs = [bytes(text(&record, "mem"), 32), bytes(text(&record, "n"), 32)];
        let expected = bytes(text(&record, "out"), 32);
        let result = run(&module(3, &body), 1, 32, &inputs, expected.len());
        assert_eq!(result, expected, "{ptx}");
        count += 1;
    }
    assert_eq!(count, 12, "all recorded forms");
}

/// PTX of one recorded step; what it gives goes to `%w2`.
fn step(name: &str, argument: u64, token: Option<usize>) -> String {
    let state = token.map(|step| format!("ld.global.u64 %w3, [%p0+{}];\n", 8 * step));
    let flag = "selp.u64 %w2, 1, 0, %q0;";
    let bytes = "shared.b64";
    match name {
        "init" => format!("mbarrier.init.{bytes} [%r0], {argument};"),
        "inval" => format!("mbarrier.inval.{bytes} [%r0];"),
        "arrive" => format!("mbarrier.arrive.{bytes} %w2, [%r0];"),
        "arrive_count" => format!("mbarrier.arrive.{bytes} %w2, [%r0], {argument};"),
        "arrive_noComplete" => {
            format!("mbarrier.arrive.noComplete.{bytes} %w2, [%r0], {argument};")
        }
        "arrive_drop" => format!("mbarrier.arrive_drop.{bytes} %w2, [%r0];"),
        "arrive_drop_count" => format!("mbarrier.arrive_drop.{bytes} %w2, [%r0], {argument};"),
        "arrive_drop_noComplete" => {
            format!("mbarrier.arrive_drop.noComplete.{bytes} %w2, [%r0], {argument};")
        }
        "expect_tx" => format!("mbarrier.expect_tx.relaxed.cta.{bytes} [%r0], {argument};"),
        "complete_tx" => format!("mbarrier.complete_tx.relaxed.cta.{bytes} [%r0], {argument};"),
        "arrive_expect_tx" => format!("mbarrier.arrive.expect_tx.{bytes} %w2, [%r0], {argument};"),
        "arrive_drop_expect_tx" => {
            format!("mbarrier.arrive_drop.expect_tx.{bytes} %w2, [%r0], {argument};")
        }
        "test_wait" | "try_wait" => {
            let state = state.expect("a token");
            format!("{state}mbarrier.{name}.{bytes} %q0, [%r0], %w3;\n{flag}")
        }
        "test_wait_parity" | "try_wait_parity" => {
            let name = name.trim_end_matches("_parity");
            format!("mbarrier.{name}.parity.{bytes} %q0, [%r0], {argument};\n{flag}")
        }
        "pending_count" => {
            let state = state.expect("a token");
            format!("{state}mbarrier.pending_count.b64 %r5, %w3;\ncvt.u64.u32 %w2, %r5;")
        }
        "cp_async_arrive" => format!("cp.async.mbarrier.arrive.{bytes} [%r0];"),
        "cp_async_arrive_noinc" => format!("cp.async.mbarrier.arrive.noinc.{bytes} [%r0];"),
        other => panic!("unknown step {other}"),
    }
}

#[test]
fn mbarrier() {
    let mut count = 0;
    for record in records("async", "mbarrier") {
        let steps = record["steps"].as_array().expect("steps");
        let mut body = String::from(".shared .align 8 .b64 object;\nmov.u32 %r0, object;\n");
        for (index, recorded) in steps.iter().enumerate() {
            let token = recorded[2].as_u64().map(|step| step as usize).filter(|step| *step < index);
            let name = recorded[0].as_str().expect("a name");
            let ptx = step(name, recorded[1].as_u64().expect("an argument"), token);
            writeln!(body, "mov.u64 %w2, 0;\n{ptx}\nst.global.u64 [%p0+{}], %w2;", 8 * index)
                .expect("a string");
            // Asking for the phase makes the arrival happen that was to follow the copies, of which there are none.
            if name.starts_with("cp_async") {
                body += "mbarrier.test_wait.parity.shared.b64 %q0, [%r0], 0;\n";
            }
        }
        let result = run(&module(1, &body), 1, 1, &[], 8 * steps.len());
        for (index, (recorded, result)) in steps.iter().zip(result.chunks(8)).enumerate() {
            let name = recorded[0].as_str().expect("a name");
            let expected = bytes(recorded[3].as_str().expect("a result"), 64);
            // The lower half of a state is left over from other things.
            let from = if name.starts_with("arrive") { 4 } else { 0 };
            assert_eq!(result[from..], expected[from..], "step {index}, {name}, of {record}");
        }
        count += 1;
    }
    assert_eq!(count, 66, "all recorded scripts");
}
