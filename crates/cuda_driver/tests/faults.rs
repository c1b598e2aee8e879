//! Kernel faults: the launch succeeds, the next synchronising call reports, and the context keeps it.

mod common;

use std::ptr::null_mut;

use common::*;
use cuda_driver::Ending;

/// One kernel for each fault; all take an address.
const FAULTY: &str = "
.global .align 1 .b8 message[6] = {120, 32, 61, 61, 32, 0};
.global .align 1 .b8 file[5] = {102, 46, 114, 115, 0};
.global .align 1 .b8 kern[5] = {107, 101, 114, 110, 0};
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.visible .entry load(.param .u64 a) {
    .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [a]; ld.global.b32 %r1, [%rd1]; st.global.b32 [%rd1], %r1; ret;
}
.visible .entry store(.param .u64 a) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [a]; st.global.b32 [%rd1], 7; ret;
}
.visible .entry fail(.param .u64 a) { trap; }
.visible .entry debug(.param .u64 a) { brkpt; ret; }
.visible .entry shared_as_global(.param .u64 a) {
    .shared .align 4 .b8 s[64]; .reg .b64 %rd<3>; .reg .b32 %r<2>;
    mov.u64 %rd1, s; cvta.shared.u64 %rd2, %rd1; ld.global.b32 %r1, [%rd2]; ret;
}
.visible .entry assertion(.param .u64 a) {
    .reg .b64 %rd<4>;
    mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1;
    mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
    mov.u64 %rd3, kern; cvta.global.u64 %rd3, %rd3;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
      st.param.b64 [m], %rd1; st.param.b64 [f], %rd2; st.param.b32 [l], 42; st.param.b64 [n], %rd3; st.param.b64 [c], 1;
      call.uni __assertfail, (m, f, l, n, c); }
    ret;
}
";

/// Launches, and gives what synchronising answers and the diagnostic.
fn fault_of(name: &str, address: impl FnOnce() -> u64) -> (u32, cuda_driver::Diagnostic) {
    let _context = Context::new();
    let kernel = function(load(FAULTY), name);
    ok(launch_one(kernel, &[address()]));
    // SAFETY: no pointer is passed.
    let result = unsafe { cuCtxSynchronize() };
    (result, cuda_driver::take_diagnostic().expect("a diagnostic"))
}

/// The codes are those an H200 answered to the same kernels.
#[test]
fn each_fault_has_its_recorded_code() {
    let cases: [(&str, u64, u32); 9] = [
        ("load", 0, 700),
        ("load", 4, 700),
        ("load", 1 << 46, 700),
        ("load", 1 << 63, 700),
        ("load", u64::MAX - 3, 700),
        ("fail", 0, 719),
        ("debug", 0, 719),
        ("shared_as_global", 0, 717),
        ("assertion", 0, 710),
    ];
    for (name, address, code) in cases {
        let (result, diagnostic) = fault_of(name, || address);
        assert_eq!(result, code, "{name}({address:#x}): {}", diagnostic.text);
        assert_eq!(diagnostic.result.0, code);
        assert_eq!(diagnostic.ending, Ending::KernelBug);
        assert_eq!(diagnostic.call, "cuCtxSynchronize");
        assert!(diagnostic.text.contains(name), "{}", diagnostic.text);
    }
    let (result, diagnostic) = fault_of("load", || alloc(16) + 1);
    assert_eq!(result, 716, "{}", diagnostic.text);
    let (result, _) = fault_of("store", || {
        let data = alloc(16);
        // SAFETY: no pointer is passed.
        ok(unsafe { cuMemFree_v2(data) });
        data
    });
    assert_eq!(result, 700);
    let (_, diagnostic) = fault_of("assertion", || 0);
    assert!(
        diagnostic.text.contains("x == ") && diagnostic.text.contains("f.rs"),
        "{}",
        diagnostic.text
    );
}

/// Calls itself `depth` times, with 256 bytes of local memory each time.
const RECURSION: &str = "
.func down(.param .b64 left) {
    .local .align 16 .b8 depot[256];
    .reg .b64 %rd<4>; .reg .pred %p;
    ld.param.b64 %rd1, [left];
    mov.u64 %rd2, depot;
    st.local.b64 [%rd2+248], %rd1;
    setp.eq.u64 %p, %rd1, 0;
    @%p ret;
    sub.u64 %rd3, %rd1, 1;
    { .param .b64 next; st.param.b64 [next], %rd3; call down, (next); }
    ret;
}
.visible .entry recurse(.param .u64 depth) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [depth];
    { .param .b64 left; st.param.b64 [left], %rd1; call down, (left); }
    ret;
}
";

const STACK_SIZE: u32 = 0;

/// What synchronising answers after a launch in the current context.
fn recursion_of(depth: u64) -> u32 {
    ok(launch_one(function(load(RECURSION), "recurse"), &[depth]));
    // SAFETY: no pointer is passed.
    unsafe { cuCtxSynchronize() }
}

fn stack_limit() -> usize {
    let mut bytes = 0;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuCtxGetLimit(&mut bytes, STACK_SIZE) });
    bytes
}

/// Depths and codes are those of an H200.
#[test]
fn launches_obey_the_contexts_stack_limit() {
    let roomy = Context::new();
    assert_eq!(stack_limit(), 1024);
    assert_eq!(recursion_of(2), result::SUCCESS);
    // SAFETY: no pointer is passed.
    ok(unsafe { cuCtxSetLimit(STACK_SIZE, 65_536) });
    assert_eq!(stack_limit(), 65_536);
    assert_eq!(recursion_of(220), result::SUCCESS);
    // Each context has its own.
    {
        let _context = Context::new();
        assert_eq!(stack_limit(), 1024);
        assert_eq!(recursion_of(3), 700);
        let diagnostic = cuda_driver::take_diagnostic().expect("a diagnostic");
        assert_eq!(diagnostic.ending, Ending::KernelBug);
        let text = diagnostic.text;
        assert!(text.starts_with("error: stack overflow\n  kernel:  recurse"), "{text}");
        assert!(
            text.contains("the limit is 1024") && text.contains("CU_LIMIT_STACK_SIZE"),
            "{text}"
        );
    }
    // SAFETY: the context is live.
    ok(unsafe { cuCtxSetCurrent(roomy.0) });
    assert_eq!(recursion_of(220), result::SUCCESS);
    // A value that is refused changes nothing.
    // SAFETY: no pointer is passed.
    expect(result::INVALID_VALUE, unsafe { cuCtxSetLimit(STACK_SIZE, (512 << 10) + 1) });
    assert_eq!(stack_limit(), 65_536);
    assert_eq!(recursion_of(300), 700);
}

#[test]
fn a_fault_waits_for_a_synchronising_call_and_then_stays() {
    let _context = Context::new();
    let module = load(&format!("{FAULTY}{ADD_ONE}"));
    let data = alloc(4);
    upload(data, &[1]);
    let mut stream = 0;
    let mut event = 0;
    let mut word = 0_u32;
    // SAFETY: pointers are to live variables.
    unsafe {
        ok(cuStreamCreate(&mut stream, 0));
        ok(cuEventCreate(&mut event, 0));
        ok(launch_one(function(module, "fail"), &[0]));
        // Work that is only queued is taken without a word, and not done.
        ok(launch_one(function(module, "add_one"), &[data, 1]));
        ok(cuMemcpyDtoHAsync_v2((&raw mut word).cast(), data, 4, stream));
        ok(cuEventRecord(event, stream));
        assert_eq!(word, 0);
        expect(719, cuMemcpyDtoH_v2((&raw mut word).cast(), data, 4));
        let first = cuda_driver::take_diagnostic().unwrap();
        // From now on it is what every call on the context answers, each time with its text.
        let mut address = 0;
        expect(719, cuMemAlloc_v2(&mut address, 4));
        assert_eq!(cuda_driver::take_diagnostic().unwrap().text, first.text);
        expect(719, cuMemFree_v2(data));
        expect(719, launch_one(function_handle(module), &[data, 1]));
        expect(719, cuCtxSynchronize());
        expect(719, cuStreamSynchronize(stream));
        expect(719, cuStreamQuery(stream));
        expect(719, cuEventSynchronize(event));
        expect(719, cuEventQuery(event));
        expect(719, cuMemcpyHtoD_v2(data, (&raw const word).cast(), 4));
        expect(719, cuMemsetD8_v2(data, 0, 4));
        expect(719, cuStreamCreate(&mut stream, 0));
        expect(719, cuModuleUnload(module));
    }
    // Another context is not touched by it.
    let _other = Context::new();
    // SAFETY: no pointer is passed.
    ok(unsafe { cuCtxSynchronize() });
}

/// Any function handle will do in a context that is lost.
fn function_handle(module: Handle) -> Handle {
    module
}

#[test]
fn a_fault_is_told_on_the_thread_that_synchronises() {
    let context = Context::new();
    let kernel = function(load(FAULTY), "fail");
    ok(launch_one(kernel, &[0]));
    let handle = context.0;
    std::thread::spawn(move || {
        // SAFETY: no pointer is passed.
        unsafe {
            ok(cuCtxSetCurrent(handle));
            expect(719, cuCtxSynchronize());
        }
        assert!(cuda_driver::take_diagnostic().is_some());
    })
    .join()
    .unwrap();
    assert!(cuda_driver::take_diagnostic().is_none());
}

#[test]
fn an_unknown_instruction_is_not_the_kernels_fault() {
    let _context = Context::new();
    let kernel = function(
        load(".visible .entry odd() { .reg .b32 %r<2>; frobnicate.b32 %r1, 1; ret; }\n"),
        "odd",
    );
    ok(launch_one(kernel, &[]));
    // SAFETY: no pointer is passed.
    expect(result::NOT_SUPPORTED, unsafe { cuCtxSynchronize() });
    let found = cuda_driver::take_diagnostic().unwrap();
    assert_eq!(found.ending, Ending::Unsupported);
    assert!(found.text.contains("frobnicate"), "{}", found.text);
    // It is told once; the program may go on with kernels that the emulator can run.
    // SAFETY: no pointer is passed.
    ok(unsafe { cuCtxSynchronize() });
}

#[test]
fn a_lost_context_can_be_destroyed() {
    let mut context = 0;
    {
        let _first = Context::new();
        // SAFETY: pointers are to live variables.
        unsafe {
            ok(cuCtxCreate_v2(&mut context, 0, 0));
            let kernel = function(load(FAULTY), "fail");
            ok(launch_one(kernel, &[0]));
            expect(719, cuCtxSynchronize());
            ok(cuCtxDestroy_v2(context));
            // The one below is current again, and well.
            ok(cuCtxSynchronize());
            expect(result::CONTEXT_IS_DESTROYED, cuCtxSetCurrent(context));
        }
    }
    // SAFETY: no pointer is passed.
    expect(result::INVALID_CONTEXT, unsafe { cuCtxPopCurrent_v2(null_mut()) });
}

/// Memory is mapped in pages of 2 MiB: there a GPU lets pass what leaves an allocation, and a program that
/// does it must be able to go on here, too, once it was told.
#[test]
fn what_a_gpu_would_not_notice_is_told_once() {
    let _context = Context::new();
    let module = load(&format!("{FAULTY}{ADD_ONE}"));
    let data = alloc(40);
    upload(data, &[1; 10]);
    ok(launch_one(function(module, "store"), &[data + 40]));
    // What is queued behind it is not done, as with any fault.
    ok(launch_one(function(module, "add_one"), &[data, 10]));
    // SAFETY: no pointer is passed.
    assert_eq!(unsafe { cuCtxSynchronize() }, 700);
    let text = diagnostic();
    assert!(text.contains("pages of 2 MiB"), "{text}");
    assert_eq!(download(data, 10), [1; 10]);
    ok(launch(function(module, "add_one"), [1; 3], [10, 1, 1], 0, &[data, 10]));
    assert_eq!(download(data, 10), [2; 10]);
    // The next page but one holds nothing.
    ok(launch_one(function(module, "store"), &[data + (4 << 20)]));
    // SAFETY: no pointer is passed.
    unsafe {
        expect(700, cuCtxSynchronize());
        assert!(!cuda_driver::take_diagnostic().unwrap().text.contains("2 MiB"));
        expect(700, cuCtxSynchronize());
    }
}
