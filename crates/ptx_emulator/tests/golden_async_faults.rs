//! What a GPU answers to misused copies, mbarrier objects and matrices: the emulator must give the same error code. Where it is
//! deliberately stricter, the case is listed with the reason.

mod golden_support;

use std::sync::Arc;

use golden_support::lines;
use ptx_emulator::{FaultKind, Launch, Machine, MachineConfig, Program};

/// A kernel around a recorded misuse: `%r0` is a shared array of 2048 bytes, `%r2` the lane's 16 bytes of it, `%r1` the place of an
/// mbarrier object, `%w1` its generic address, `%p0` and `%w0` the same in 4096 bytes of global memory, `%l` the lane,
/// `%q0` true in lane 0, `%q1` in lane 8.
fn kernel(misuse: &str) -> String {
    format!(
        ".version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{{
.reg .b32 %l, %r<8>;
.reg .b64 %p0, %w<4>;
.reg .pred %q<4>;
.shared .align 128 .b8 array[2048];
.shared .align 16 .b64 objects[2];
ld.param.u64 %p0, [p];
mov.u32 %l, %tid.x;
mov.u32 %r0, array;
mad.lo.u32 %r2, %l, 16, %r0;
mov.u32 %r1, objects;
mov.u64 %w1, objects;
cvta.shared.u64 %w1, %w1;
mad.wide.u32 %w0, %l, 16, %p0;
setp.eq.u32 %q0, %l, 0;
setp.eq.u32 %q1, %l, 8;
{misuse}
cp.async.wait_all;
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

/// Whether the emulator refuses what the hardware takes.
fn stricter(misuse: &str) -> bool {
    // The PTX ISA wants counts from 1 to 2^20 - 1, .noComplete to leave an arrival pending, and nothing after .inval; what
    // hardware does then is not what the program meant.
    [
        "@%q0 mbarrier.init.shared.b64 [%r1], 0;",
        "@%q0 mbarrier.init.shared.b64 [%r1], 1048576;",
        "@%q0 mbarrier.init.shared.b64 [%r1], 1; @%q0 mbarrier.arrive.shared.b64 %w2, [%r1], 0;",
        "@%q0 mbarrier.init.shared.b64 [%r1], 2; @%q0 mbarrier.arrive.noComplete.shared.b64 %w2, [%r1], 2;",
        "@%q0 mbarrier.init.shared.b64 [%r1], 2; @%q0 mbarrier.inval.shared.b64 [%r1]; @%q0 mbarrier.arrive.shared.b64 %w2, [%r1];",
    ]
    .contains(&misuse)
}

#[test]
fn every_misuse_gives_the_recorded_code() {
    let (mut count, mut deviations) = (0, 0);
    for record in lines("async").filter(|record| record["kind"] == "fault") {
        let misuse = record["ptx"].as_str().expect("PTX");
        let recorded = record["result"].as_u64().expect("a CUresult");
        let program = Program::compile(&kernel(misuse)).unwrap_or_else(|e| panic!("{misuse}: {e}"));
        let mut machine = Machine::new(MachineConfig::default());
        let module = machine.load(Arc::new(program)).expect("the variables fit");
        let data = machine.memory_mut().alloc(4096, "data").expect("memory");
        let launch = Launch {
            kernel: "k",
            grid: [1, 1, 1],
            block: [32, 1, 1],
            dynamic_shared_bytes: 0,
            params: &data.to_le_bytes(),
        };
        let result = match machine.launch(module, &launch, &mut Vec::new()) {
            Ok(_) => 0,
            Err(fault) => code(fault.kind()),
        };
        if stricter(misuse) {
            assert_eq!((recorded, result), (0, 719), "{misuse}");
            deviations += 1;
        } else {
            assert_eq!(result, recorded, "{misuse}");
        }
        count += 1;
    }
    assert_eq!((count, deviations), (36, 5), "all recorded cases");
}
