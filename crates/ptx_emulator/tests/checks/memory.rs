//! The device heap, leaks, and who freed what.

use ptx_emulator::FaultKind;

use crate::common::{kernel_with, params};
use crate::support::rig;

/// Each thread allocates 16 bytes and writes to them; then `body`, with the address in `%rd1`.
fn heap(body: &str) -> String {
    kernel_with(
        ".extern .func (.param .b64 back) malloc(.param .b64 bytes);
         .extern .func free(.param .b64 at);",
        &format!(
            "{{ .param .b64 p0; .param .b64 back0; st.param.b64 [p0], 16;
                call (back0), malloc, (p0); ld.param.b64 %rd1, [back0]; }}
             st.global.b32 [%rd1], %t;
             {body}
             ret;"
        ),
    )
}

const FREE: &str = "{ .param .b64 p0; st.param.b64 [p0], %rd1; call free, (p0); }";

#[test]
fn what_kernels_leave_in_the_heap() {
    let mut machine = rig(&heap(""), "memcheck", None);
    machine.launch("k", 2, 1, &params(0, 0)).expect("no fault");
    let leaks = machine.machine.leaks();
    assert_eq!((leaks.len(), leaks[1].bytes, leaks[1].device_heap), (2, 16, true));
    let expected = format!(
        "memcheck error: leak of 16 bytes at {:#x}: `malloc in a kernel` was never freed
  allocated by block (1, 0, 0), thread (0, 0, 0) of `k`, ptx line 20
help: free in a kernel what a kernel's malloc gave; the heap is small",
        leaks[1].address
    );
    assert_eq!(leaks[1].to_string(), expected);
    let mut machine = rig(&heap(FREE), "memcheck", None);
    machine.launch("k", 2, 40, &params(0, 0)).expect("no fault");
    assert_eq!(machine.machine.leaks(), []);
}

#[test]
fn what_the_host_leaves() {
    let mut machine = rig(&heap(FREE), "memcheck", None);
    let memory = machine.machine.memory_mut();
    let (kept, freed) = (memory.alloc(8, "kept").unwrap(), memory.alloc(8, "freed").unwrap());
    memory.free(freed).unwrap();
    let leaks = machine.machine.leaks();
    assert_eq!((leaks.len(), leaks[0].address, leaks[0].device_heap), (1, kept, false));
}

#[test]
fn freed_twice() {
    let mut machine = rig(&heap(&format!("{FREE} {FREE}")), "memcheck", None);
    let fault = machine.launch("k", 1, 1, &params(0, 0)).expect_err("freed twice");
    assert_eq!(fault.kind(), &FaultKind::IllegalAddress);
    let text = fault.to_string();
    assert!(
        text.contains("allocated by block (0, 0, 0), thread (0, 0, 0) of `k`, ptx line 20"),
        "{text}"
    );
    assert!(
        text.contains("freed by block (0, 0, 0), thread (0, 0, 0) of `k`, ptx line 22"),
        "{text}"
    );
    // Something else than malloc gave.
    let mut machine = rig(&heap(&format!("add.u64 %rd1, %rd1, 4; {FREE}")), "memcheck", None);
    let fault = machine.launch("k", 1, 1, &params(0, 0)).expect_err("not the start");
    assert!(fault.to_string().contains("free takes what"), "{fault}");
}

#[test]
fn use_after_free() {
    let source = heap(&format!("{FREE} ld.global.b32 %r1, [%rd1+8];"));
    let mut machine = rig(&source, "memcheck", None);
    let text = machine.launch("k", 1, 1, &params(0, 0)).expect_err("freed").to_string();
    assert!(text.contains("at offset 8 of the freed `malloc in a kernel` (16 bytes"), "{text}");
    assert!(
        text.contains(", freed by block (0, 0, 0), thread (0, 0, 0) of `k`, ptx line 22"),
        "{text}"
    );
    // The host's memory: the launch after which it was freed is named.
    let source = crate::common::kernel("ld.global.b32 %r1, [%o]; ret;");
    let mut machine = rig(&source, "memcheck", None);
    let old = machine.words("old", &[1, 2]);
    machine.launch("k", 1, 1, &params(old, 0)).expect("still there");
    machine.machine.memory_mut().free(old).unwrap();
    let text = machine.launch("k", 1, 1, &params(old, 0)).expect_err("freed").to_string();
    assert!(text.contains("freed by the host after launch 1, of `k`"), "{text}");
}
