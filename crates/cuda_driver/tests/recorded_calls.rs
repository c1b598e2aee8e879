//! Bad launches and calls answer what an H200 answered (`data/recorded_calls.jsonl`, driver 580, CUDA 13.0).
//!
//! Every recorded case is either replayed here or listed with the reason why not.

mod common;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::ptr::null_mut;

use common::*;

/// Cases that are not replayed here, and why.
const OTHERWISE: [(&str, &str); 5] = [
    (
        "cuDeviceGetCount before cuInit",
        "in primary_context.rs: here another test may have called cuInit",
    ),
    (
        "cuModuleLoadData: unresolved .extern .global",
        "a variable that is defined nowhere is refused at once; hardware takes it",
    ),
    ("a kernel of 128 registers: its max threads per block attribute is 512", REGISTERS),
    ("launch: 1024 threads of a kernel of 128 registers", REGISTERS),
    ("launch: 512 threads of a kernel of 128 registers", REGISTERS),
];
const REGISTERS: &str = "registers are not allocated, so no launch is refused for them";

const KERNELS: &str = "
.visible .global .align 8 .b8 gdata[64];
.visible .entry k() { ret; }
.visible .entry static_shared() {
    .shared .align 4 .b8 s[40960]; .reg .b64 %rd<2>;
    mov.u64 %rd1, s; st.shared.b32 [%rd1], 1; ret;
}
.visible .entry dynamic() { ret; }
.visible .entry reqntid64() .reqntid 64 { ret; }
.visible .entry maxntid64() .maxntid 64 { ret; }
.visible .entry cluster2() .reqnctapercluster 2 { ret; }
";

/// What one case came to: the call's result, and what the record says of its outcome besides.
struct Found {
    result: u32,
    value: Option<(&'static str, u64)>,
}

impl From<u32> for Found {
    fn from(result: u32) -> Found {
        Found { result, value: None }
    }
}

fn load_text(text: &str) -> u32 {
    let text = CString::new(text).unwrap();
    let mut module = 0;
    // SAFETY: the text ends in NUL.
    unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) }
}

fn load_version(version: &str, target: &str) -> u32 {
    load_text(&format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
    ))
}

/// The kernel that a recorded launch used.
fn kernel_of(case: &str) -> &'static str {
    match case {
        _ if case.contains("static") => "static_shared",
        _ if case.contains("reqntid") => "reqntid64",
        _ if case.contains("maxntid") => "maxntid64",
        _ if case.contains("cluster") => "cluster2",
        _ if case.contains("opt-in") => "dynamic",
        _ => "k",
    }
}

fn replay_launch(module: Handle, record: &serde_json::Value, case: &str) -> Found {
    let shape = |key: &str| -> [u32; 3] {
        let numbers: Vec<u32> =
            record[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect();
        numbers.try_into().unwrap()
    };
    let shared = record["shared"].as_u64().unwrap() as u32;
    let result =
        launch(function(module, kernel_of(case)), shape("grid"), shape("block"), shared, &[]);
    // SAFETY: no pointer is passed.
    ok(unsafe { cuCtxSynchronize() });
    result.into()
}

/// Replays a case; `at` keeps an allocation from case to case, as in the recording.
fn replay(case: &str, module: Handle, at: &mut u64) -> Option<Found> {
    let mut word = 0_u64;
    let mut size = 0;
    let mut buffer = vec![0_u8; 4096];
    let host = buffer.as_mut_ptr().cast();
    let mut handle = 0;
    // SAFETY: pointers are to live variables, names end in NUL, sizes are those of the buffers; where
    // a copy is larger than the buffer, it is refused before the buffer is touched.
    let found: Found = unsafe {
        match case {
            "cuFuncSetAttribute(max dynamic shared) = 232448 (opt-in limit)" => {
                cuFuncSetAttribute(function(module, "dynamic"), 8, 232_448).into()
            }
            "cuFuncSetAttribute(max dynamic shared) = 232449" => {
                cuFuncSetAttribute(function(module, "dynamic"), 8, 232_449).into()
            }
            "cuLaunchCooperativeKernel, 132 blocks of 1024" => {
                cuLaunchCooperativeKernel(function(module, "k"), 132, 1, 1, 1024, 1, 1, 0, 0, null_mut()).into()
            }
            "cuLaunchCooperativeKernel, 100000 blocks of 1024" => {
                cuLaunchCooperativeKernel(function(module, "k"), 100_000, 1, 1, 1024, 1, 1, 0, 0, null_mut()).into()
            }
            "cuModuleGetFunction, no such name" => {
                cuModuleGetFunction(&mut handle, module, c"nosuch".as_ptr()).into()
            }
            "cuModuleGetGlobal, no such name" => {
                cuModuleGetGlobal_v2(&mut word, &mut size, module, c"nosuch".as_ptr()).into()
            }
            "cuModuleGetGlobal, gdata" => {
                let result = cuModuleGetGlobal_v2(&mut word, &mut size, module, c"gdata".as_ptr());
                Found { result, value: Some(("size", size as u64)) }
            }
            "cuModuleLoadData: empty text" => load_text("").into(),
            "cuModuleLoadData: text that is not PTX" => load_text("this is not PTX\n").into(),
            "cuModuleLoadData: unknown instruction" => {
                load_text(&format!("{HEAD}.visible .entry k() {{ frobnicate.u32 %r1, 1; ret; }}\n")).into()
            }
            "cuModuleLoadData: undeclared register" => {
                load_text(&format!("{HEAD}.visible .entry k() {{ mov.u32 %r1, 1; ret; }}\n")).into()
            }
            "cuModuleLoadData: .version 9.9" => load_version("9.9", "sm_90").into(),
            "cuModuleLoadData: .version 9.1" => load_version("9.1", "sm_90").into(),
            "cuModuleLoadData: .target sm_100" => load_version("8.8", "sm_100").into(),
            "cuModuleLoadData: .target sm_90a" => load_version("8.8", "sm_90a").into(),
            "cuModuleLoadData: .target sm_30" => load_version("6.0", "sm_30").into(),
            "cuModuleLoadData: .target sm_50" => load_version("8.8", "sm_50").into(),
            "cuModuleLoadData: unresolved .extern .func" => load_text(&format!(
                "{HEAD}.extern .func nosuch();\n.visible .entry k() {{ call.uni nosuch, (); ret; }}\n"
            ))
            .into(),
            "cuModuleLoadData: unresolved .extern .global" => load_text(&format!(
                "{HEAD}.extern .global .align 4 .u32 nosuch;\n.visible .entry k() {{ .reg .b32 %r<2>; ld.global.u32 %r1, [nosuch]; ret; }}\n"
            ))
            .into(),
            "cuModuleLoadData: static shared memory 49152 B" => load_shared(49_152).into(),
            "cuModuleLoadData: static shared memory 49153 B" => load_shared(49_153).into(),
            "cuModuleLoadData: no entry at all" => load_text(&format!("{HEAD}.global .u32 x;\n")).into(),
            "cuMemAlloc(0)" => cuMemAlloc_v2(&mut word, 0).into(),
            "cuMemAlloc(2^50)" => cuMemAlloc_v2(&mut word, 1 << 50).into(),
            "cuMemAlloc(1)" => cuMemAlloc_v2(at, 1).into(),
            "distance of two 1 B allocations" => cuMemAlloc_v2(&mut word, 1).into(),
            "cuMemFree(0)" => cuMemFree_v2(0).into(),
            "cuMemFree(pointer + 8)" => {
                *at = alloc(4096);
                cuMemFree_v2(*at + 8).into()
            }
            "cuMemFree(pointer)" => cuMemFree_v2(*at).into(),
            "cuMemFree(pointer) again" => {
                let result = cuMemFree_v2(*at);
                *at = alloc(4096);
                result.into()
            }
            "cuMemcpyDtoH of 4096 B of 4096" => cuMemcpyDtoH_v2(host, *at, 4096).into(),
            "cuMemcpyDtoH from address 0" => cuMemcpyDtoH_v2(host, 0, 4).into(),
            "cuMemcpyDtoH from 2^46" => cuMemcpyDtoH_v2(host, 1 << 46, 4).into(),
            "cuMemcpyHtoD of 0 B" => cuMemcpyHtoD_v2(*at, host, 0).into(),
            "cuMemcpyDtoH of 64 MiB + 4096 B from a 64 MiB allocation" => {
                let large = alloc(64 << 20);
                let mut target = vec![0_u8; (64 << 20) + 4096];
                cuMemcpyDtoH_v2(target.as_mut_ptr().cast(), large, target.len()).into()
            }
            "cuMemsetD32 at a misaligned address" => cuMemsetD32_v2(*at + 2, 1, 1).into(),
            "cuMemsetD16 at a misaligned address" => cuMemsetD16_v2(*at + 1, 1, 1).into(),
            "cuEventElapsedTime of events never recorded" => {
                let (mut first, mut second) = (0, 0);
                ok(cuEventCreate(&mut first, 0));
                ok(cuEventCreate(&mut second, 0));
                cuEventElapsedTime(&mut 0.0, first, second).into()
            }
            "cuEventQuery of an event never recorded" => {
                ok(cuEventCreate(&mut handle, 0));
                cuEventQuery(handle).into()
            }
            "cuDeviceGet(99)" => cuDeviceGet(&mut 0, 99).into(),
            "cuCtxSetCurrent(NULL)" => {
                ok(cuCtxGetCurrent(&mut handle));
                *at = handle as u64;
                cuCtxSetCurrent(0).into()
            }
            "cuCtxSynchronize without a context" => cuCtxSynchronize().into(),
            "cuMemAlloc without a context" => cuMemAlloc_v2(&mut word, 4).into(),
            "cuCtxSetCurrent(context)" => cuCtxSetCurrent(*at as Handle).into(),
            "cuCtxGetLimit(stack size)" => limit(0),
            "cuCtxGetLimit(printf fifo size)" => limit(1),
            "cuCtxGetLimit(malloc heap size)" => limit(2),
            _ => return None,
        }
    };
    Some(found)
}

fn load_shared(bytes: u32) -> u32 {
    load_text(&format!(
        "{HEAD}.visible .entry k() {{ .shared .align 4 .b8 s[{bytes}]; .reg .b64 %rd<2>; mov.u64 %rd1, s; st.shared.b32 [%rd1], 1; ret; }}\n"
    ))
}

fn limit(which: u32) -> Found {
    let mut value = 0;
    // SAFETY: the pointer is to a live variable.
    let result = unsafe { cuCtxGetLimit(&mut value, which) };
    Found { result, value: Some(("value", value as u64)) }
}

#[test]
fn calls_answer_what_an_h200_answered() {
    assert!(cuda_driver::use_emulator());
    let otherwise: BTreeMap<&str, &str> = OTHERWISE.into_iter().collect();
    let mut said_before_init = cuda_driver::take_diagnostic();
    let _context = Context::new();
    let module = load(KERNELS);
    let mut at = 0;
    let mut replayed = 0;
    for line in include_str!("data/recorded_calls.jsonl").lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let case = record["case"].as_str().unwrap();
        if otherwise.contains_key(case) {
            continue;
        }
        let found = if case.starts_with("launch: ") {
            replay_launch(module, &record, case)
        } else {
            replay(case, module, &mut at)
                .unwrap_or_else(|| panic!("`{case}` is recorded but not replayed"))
        };
        let said = if case == "cuDeviceGetCount before cuInit" {
            said_before_init.take()
        } else {
            cuda_driver::take_diagnostic()
        };
        let text = said.map(|found| found.text);
        assert_eq!(u64::from(found.result), record["result"].as_u64().unwrap(), "{case}: {text:?}");
        if let Some((key, value)) = found.value {
            assert_eq!(value, record[key].as_u64().unwrap(), "{case}");
        }
        // Whatever fails says why.
        assert_eq!(found.result != 0, text.is_some(), "{case}: {text:?}");
        replayed += 1;
    }
    assert_eq!(replayed, 76 - OTHERWISE.len());
}

#[test]
fn launch_diagnostics_name_kernel_request_and_limit() {
    let _context = Context::new();
    let module = load(&format!("{KERNELS}{ADD_ONE}"));
    let text = |name: &str, grid: [u32; 3], block: [u32; 3], shared: u32| {
        assert_ne!(launch(function(module, name), grid, block, shared, &[]), 0);
        let found = cuda_driver::take_diagnostic().unwrap();
        assert_eq!(found.ending, cuda_driver::Ending::HostMisuse);
        found.text
    };
    assert_eq!(
        text("k", [1; 3], [4096, 1, 1], 0),
        "cuLaunchKernel: kernel `k`: 4096 threads in a block (4096 x 1 x 1), the limit is 1024"
    );
    assert_eq!(
        text("k", [1, 0, 1], [1; 3], 0),
        "cuLaunchKernel: kernel `k`: the grid is 1 x 0 x 1 blocks; every dimension must be at least 1"
    );
    assert_eq!(
        text("k", [1; 3], [1, 1, 65], 0),
        "cuLaunchKernel: kernel `k`: 65 threads in the block's z dimension, the limit is 64"
    );
    assert_eq!(
        text("k", [1, 65_536, 1], [1; 3], 0),
        "cuLaunchKernel: kernel `k`: 65536 blocks in the grid's y dimension, the limit is 65535"
    );
    assert_eq!(
        text("k", [1; 3], [1; 3], 49_153),
        "cuLaunchKernel: kernel `k`: 49153 bytes of dynamic shared memory and 0 bytes of static, the limit is \
         49152 bytes together\nhelp: opt in to more, up to 232448 bytes, with \
         cuFuncSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)"
    );
    assert_eq!(
        text("reqntid64", [1; 3], [32, 1, 1], 0),
        "cuLaunchKernel: kernel `reqntid64`: the block is 32 x 1 x 1 threads, but the kernel was compiled for \
         exactly 64 x 1 x 1 (.reqntid)"
    );
    assert_eq!(
        text("maxntid64", [1; 3], [65, 1, 1], 0),
        "cuLaunchKernel: kernel `maxntid64`: 65 threads in a block (65 x 1 x 1), the limit is 64 (the kernel's .maxntid)"
    );
    // SAFETY: null stands for no parameters.
    let found = unsafe {
        cuLaunchKernel(function(module, "add_one"), 1, 1, 1, 1, 1, 1, 0, 0, null_mut(), null_mut())
    };
    expect(result::INVALID_VALUE, found);
    assert_eq!(
        diagnostic(),
        "cuLaunchKernel: kernel `add_one`: no parameters were passed, but the kernel has 2"
    );
    let mut pointers = [null_mut(), null_mut()];
    // SAFETY: the array holds a pointer for each parameter; null is refused.
    let found = unsafe {
        cuLaunchKernel(
            function(module, "add_one"),
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            0,
            pointers.as_mut_ptr(),
            null_mut(),
        )
    };
    expect(result::INVALID_VALUE, found);
    assert_eq!(
        diagnostic(),
        "cuLaunchKernel: kernel `add_one`: the pointer to parameter 0 (`data`, 8 bytes) is null"
    );
}

#[test]
fn other_misuse_says_what_is_wrong() {
    let _context = Context::new();
    let module = load(KERNELS);
    // SAFETY: pointers are null, or to live variables; handles may be anything.
    unsafe {
        expect(result::INVALID_VALUE, cuMemAlloc_v2(null_mut(), 4));
        assert_eq!(diagnostic(), "cuMemAlloc_v2: parameter `address` is a null pointer");
        expect(result::INVALID_VALUE, cuMemcpyHtoD_v2(alloc(4), std::ptr::null(), 4));
        assert_eq!(diagnostic(), "cuMemcpyHtoD_v2: parameter `source` is a null pointer");
        expect(result::INVALID_HANDLE, cuStreamSynchronize(0xDEAD_BEE0));
        assert_eq!(diagnostic(), "cuStreamSynchronize: 0xdeadbee0 is not a handle of a stream");
        expect(result::INVALID_HANDLE, cuModuleUnload(function(module, "k")));
        assert!(diagnostic().ends_with("is not a handle of a module"));
        expect(result::NOT_FOUND, cuModuleGetFunction(&mut 0, module, c"nosuch".as_ptr()));
        assert_eq!(
            diagnostic(),
            "cuModuleGetFunction: kernel `nosuch` was not found in the module; it has `k`, `static_shared`, \
             `dynamic`, `reqntid64`, `maxntid64`, `cluster2`"
        );
        expect(result::INVALID_CONTEXT, cuCtxPushCurrent_v2(7));
        assert_eq!(
            diagnostic(),
            "cuCtxPushCurrent_v2: the context 0x7 is not one of this driver's"
        );
        let other = Context::new();
        let gone = other.0;
        drop(other);
        expect(result::CONTEXT_IS_DESTROYED, cuCtxPushCurrent_v2(gone));
        expect(result::INVALID_VALUE, cuCtxSetLimit(0, 1 << 30));
        expect(215, cuCtxGetLimit(&mut 0, 3));
        let data = alloc(64);
        expect(result::INVALID_VALUE, cuMemFree_v2(data + 8));
        assert!(diagnostic().contains("it is byte 8 of the 64 bytes at"));
        ok(cuMemFree_v2(data));
        expect(result::INVALID_VALUE, cuMemFree_v2(data));
        assert!(diagnostic().contains("was freed already"));
        expect(result::INVALID_VALUE, cuMemcpyDtoD_v2(alloc(8), alloc(4), 8));
        assert!(diagnostic().contains("reach"), "names the range that is too short");
    }
}
