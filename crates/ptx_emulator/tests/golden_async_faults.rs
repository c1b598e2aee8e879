//! What a GPU answers to misused copies, mbarrier objects and matrices: the emulator must give the same error code. Where it is
//! deliberately stricter, the case is listed with the reason.

mod golden_support;

use std::sync::Arc;

use golden_support::lines;
use ptx_emulator::{FaultKind, Launch, Machine, MachineConfig, Program};

/// A kernel around a recorded misuse: `%r0` is a shared array of 2048 bytes whose word i is 0x1001 * i, `%r2` the lane's 16 bytes of
/// it, `%r1` the place of an mbarrier object, `%w1` its generic address, `%p0` and `%w0` the same in 4096 bytes of global memory,
/// `%l` the lane, `%q0` true in lane 0, `%q1` in lane 8, `%q2` from lane 16 on, `%q3` in lane 31. `%r4` to `%r7` are 9; each is
/// stored, 32 lanes each, when the misuse is over.
fn kernel(misuse: &str) -> String {
    format!(
        ".version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{{
.reg .b32 %l, %n, %r<8>;
.reg .b64 %p0, %w<4>, %out;
.reg .pred %q<4>;
.shared .align 128 .b8 array[2048];
.shared .align 16 .b64 objects[2];
ld.param.u64 %p0, [p];
mov.u32 %l, %tid.x;
mov.u32 %n, %ntid.x;
mov.u32 %r0, array;
mov.u32 %r1, %l;
FILL:
mad.lo.u32 %r2, %r1, 4, %r0;
mul.lo.u32 %r3, %r1, 0x1001;
st.shared.b32 [%r2], %r3;
add.u32 %r1, %r1, %n;
setp.lt.u32 %q0, %r1, 512;
@%q0 bra FILL;
bar.sync 0;
mad.lo.u32 %r2, %l, 16, %r0;
mov.u32 %r1, objects;
mov.u64 %w1, objects;
cvta.shared.u64 %w1, %w1;
mad.wide.u32 %w0, %l, 16, %p0;
mad.wide.u32 %out, %l, 4, %p0;
setp.eq.u32 %q0, %l, 0;
setp.eq.u32 %q1, %l, 8;
setp.ge.u32 %q2, %l, 16;
setp.eq.u32 %q3, %l, 31;
mov.b32 %r4, 9;
mov.b32 %r5, 9;
mov.b32 %r6, 9;
mov.b32 %r7, 9;
{misuse}
cp.async.wait_all;
st.global.b32 [%out], %r4;
st.global.b32 [%out+128], %r5;
st.global.b32 [%out+256], %r6;
st.global.b32 [%out+384], %r7;
ret;
}}
"
    )
}

/// The `CUresult` that a fault stands for.
fn code(kind: &FaultKind) -> u64 {
    match kind {
        FaultKind::IllegalAddress => 700,
        FaultKind::NotSharedMemory => 715,
        FaultKind::MisalignedAddress => 716,
        FaultKind::InvalidMbarrier => 719,
        other => panic!("{other:?} is not expected"),
    }
}

/// Runs a misuse under several schedules: the outputs as hexadecimal words, or the fault.
fn run(misuse: &str, threads: u32) -> Result<String, FaultKind> {
    let program = Program::compile(&kernel(misuse)).unwrap_or_else(|e| panic!("{misuse}: {e}"));
    let program = Arc::new(program);
    let [result, other] = [None, Some(7)].map(|seed| {
        let mut config = MachineConfig::default();
        config.schedule_seed = seed;
        let mut machine = Machine::new(config);
        let module = machine.load(Arc::clone(&program)).expect("the variables fit");
        let data = machine.memory_mut().alloc(4096, "data").expect("memory");
        machine.memory_mut().write(data, &[0xcc; 512]).expect("just allocated");
        let launch = Launch {
            kernel: "k",
            grid: [1, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared_bytes: 0,
            params: &data.to_le_bytes(),
        };
        match machine.launch(module, &launch, &mut Vec::new()) {
            Ok(_) => {
                let mut out = [0; 512];
                machine.memory().read(data, &mut out).expect("allocated");
                let words = out.chunks_exact(4).map(|word| word.iter().rev());
                Ok(words.flatten().map(|byte| format!("{byte:02x}")).collect())
            }
            Err(fault) => Err(fault.kind().clone()),
        }
    });
    assert_eq!(result, other, "schedules differ: {misuse}");
    result
}

/// What the emulator says where it refuses what the hardware takes.
fn stricter(misuse: &str, threads: u32) -> Option<FaultKind> {
    // The PTX ISA wants counts from 1 to 2^20 - 1, .noComplete to leave an arrival pending, and nothing after .inval; what
    // hardware does then is not what the program meant.
    let mbarrier = [
        "@%q0 mbarrier.init.shared.b64 [%r1], 0;",
        "@%q0 mbarrier.init.shared.b64 [%r1], 1048576;",
        "@%q0 mbarrier.init.shared.b64 [%r1], 1; @%q0 mbarrier.arrive.shared.b64 %w2, [%r1], 0;",
        "@%q0 mbarrier.init.shared.b64 [%r1], 2; @%q0 mbarrier.arrive.noComplete.shared.b64 %w2, [%r1], 2;",
        "@%q0 mbarrier.init.shared.b64 [%r1], 2; @%q0 mbarrier.inval.shared.b64 [%r1]; @%q0 mbarrier.arrive.shared.b64 %w2, [%r1];",
    ];
    // Matrix instructions are undefined if a thread of the warp has exited (PTX ISA, "mma", "ldmatrix", "movmatrix"). The hardware
    // then went on without an error and wrote no results: each output was what the register had held before.
    let incomplete = misuse.contains("sync.aligned") && (threads < 32 || misuse.contains("exit;"));
    match () {
        () if mbarrier.contains(&misuse) => Some(FaultKind::InvalidMbarrier),
        () if incomplete => Some(FaultKind::IncompleteWarp),
        () => None,
    }
}

/// Compares the records of a kind; how many there are, and at how many the emulator is stricter.
fn compare(kind: &str) -> (usize, usize) {
    let (mut count, mut deviations) = (0, 0);
    for record in lines("async").filter(|record| record["kind"] == kind) {
        let misuse = record["ptx"].as_str().expect("PTX");
        let threads = record["threads"].as_u64().unwrap_or(32) as u32;
        let recorded = record["result"].as_u64().expect("a CUresult");
        let result = run(misuse, threads);
        count += 1;
        if let Some(kind) = stricter(misuse, threads) {
            assert_eq!((recorded, result), (0, Err(kind)), "{threads} threads: {misuse}");
            deviations += 1;
            continue;
        }
        assert_eq!(
            result.as_ref().map_or_else(code, |_| 0),
            recorded,
            "{threads} threads: {misuse}"
        );
        if let (Ok(out), Some(recorded)) = (result, record["out"].as_str()) {
            assert_eq!(out, recorded, "{threads} threads: {misuse}");
        }
    }
    (count, deviations)
}

#[test]
fn every_misuse_gives_the_recorded_code() {
    assert_eq!(compare("fault"), (36, 5), "all recorded cases");
}

#[test]
fn every_misused_matrix_gives_the_recorded_code_and_outputs() {
    assert_eq!(compare("misuse"), (14, 6), "all recorded cases");
}
