//! The linker: what its options do, and the device runtime with its barrier of the whole grid.

mod common;

use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use common::*;

/// `CUjitInputType`.
const PTX: c_uint = 1;
const LIBRARY: c_uint = 4;
/// `CU_JIT_MAX_REGISTERS`.
const MAX_REGISTERS: c_uint = 0;
/// `CUfunction_attribute`.
const CONST_SIZE_BYTES: c_uint = 2;
const NUM_REGS: c_uint = 4;

/// Links, and loads what comes of it.
fn link(inputs: &[(c_uint, &[u8])], max_registers: Option<usize>) -> Result<Handle, u32> {
    let (mut state, mut size, mut module) = (0, 0, 0);
    let mut image: *mut c_void = null_mut();
    let mut option = MAX_REGISTERS;
    let mut value = without_provenance_mut(max_registers.unwrap_or_default());
    // SAFETY: pointers are to live variables, sizes are those of the inputs.
    unsafe {
        ok(cuLinkCreate_v2(
            max_registers.iter().count() as c_uint,
            &mut option,
            &mut value,
            &mut state,
        ));
        let added = inputs.iter().try_for_each(|(kind, data)| {
            let pointer = data.as_ptr().cast_mut().cast();
            let name = c"input".as_ptr();
            match cuLinkAddData_v2(
                state,
                *kind,
                pointer,
                data.len(),
                name,
                0,
                null_mut(),
                null_mut(),
            ) {
                0 => Ok(()),
                error => Err(error),
            }
        });
        let complete = added.and_then(|()| match cuLinkComplete(state, &mut image, &mut size) {
            0 => Ok(()),
            error => Err(error),
        });
        if complete.is_ok() {
            ok(cuModuleLoadData(&mut module, image));
        }
        ok(cuLinkDestroy(state));
        complete.map(|()| module)
    }
}

fn attribute(function: Handle, attribute: c_uint) -> c_int {
    let mut value = -7;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuFuncGetAttribute(&mut value, attribute, function) });
    value
}

/// Uses `count` registers at once.
fn hungry(count: usize) -> String {
    let each = |text: &dyn Fn(usize) -> String| (1..=count).map(text).collect::<String>();
    format!(
        "{HEAD}.visible .entry hungry(.param .u64 a) {{ .reg .b32 %r<{}>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [a];\n{}{} ret; }}\n",
        count + 1,
        each(&|n| format!("ld.global.b32 %r{n}, [%rd1+{}];\n", 4 * n)),
        each(&|n| format!("st.global.b32 [%rd1], %r{n};\n")),
    )
}

#[test]
fn a_limit_of_registers_is_kept() {
    let _context = Context::new();
    let text = hungry(100);
    let registers = |limit| {
        attribute(function(link(&[(PTX, text.as_bytes())], limit).unwrap(), "hungry"), NUM_REGS)
    };
    assert!(registers(None) > 57, "{}", registers(None));
    assert!(registers(Some(57)) <= 57, "{}", registers(Some(57)));
    assert!(registers(Some(38)) <= 38, "{}", registers(Some(38)));
    // 0 is no limit.
    assert_eq!(registers(Some(0)), registers(None));
    // The same option at loading.
    let text = CString::new(text).unwrap();
    let (mut module, mut option, mut value) = (0, MAX_REGISTERS, without_provenance_mut(32));
    // SAFETY: the text ends in NUL; there is one option with its value.
    ok(unsafe {
        cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 1, &mut option, &mut value)
    });
    assert!(attribute(function(module, "hungry"), NUM_REGS) <= 32);
}

#[test]
fn a_kernels_own_limit_counts() {
    let _context = Context::new();
    let text = hungry(100).replace("(.param .u64 a) {", "(.param .u64 a) .maxnreg 40 {");
    let kernel = function(link(&[(PTX, text.as_bytes())], None).unwrap(), "hungry");
    assert_eq!(attribute(kernel, NUM_REGS), 40);
}

#[test]
fn constant_variables_are_counted() {
    let _context = Context::new();
    let module = load(
        ".const .align 4 .b8 a[10];\n.const .align 8 .u64 b[2];\n.global .u32 c;\n.visible .entry k() { ret; }\n",
    );
    // b begins at 16.
    assert_eq!(attribute(function(module, "k"), CONST_SIZE_BYTES), 32);
    let module = load(".global .u32 c;\n.visible .entry k() { ret; }\n");
    assert_eq!(attribute(function(module, "k"), CONST_SIZE_BYTES), 0);
}

/// The start of NVIDIA's `libcudadevrt.a`, as far as the names of its members.
fn device_runtime() -> Vec<u8> {
    let member = "cuda_device_runtime.o/";
    format!("!<arch>\n{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{member}\n", "//", 0, 0, 0, 0, 24)
        .into_bytes()
}

/// Each block writes its number, all meet, and each adds what its right neighbour wrote; twice.
const NEIGHBOURS: &str = "
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry neighbours(.param .u64 data, .param .u32 rounds)
{
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<10>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r12, [rounds];
    { .param .b32 scope; .param .b64 handle; st.param.b32 [scope], 1;
      call.uni (handle), cudaCGGetIntrinsicHandle, (scope); ld.param.b64 %rd2, [handle]; }
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %nctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    add.u32 %r4, %r2, 1;
    rem.u32 %r4, %r4, %r3;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd3, %rd1, %rd3;
    mul.wide.u32 %rd4, %r4, 4;
    add.u64 %rd4, %rd1, %rd4;
    @!%p1 st.global.b32 [%rd3], %r2;
ROUND:
    { .param .b64 handle; .param .b32 flags; .param .b32 error; st.param.b64 [handle], %rd2; st.param.b32 [flags], 0;
      call.uni (error), cudaCGSynchronize, (handle, flags); ld.param.b32 %r5, [error]; }
    @!%p1 ld.global.b32 %r6, [%rd4];
    @!%p1 ld.global.b32 %r7, [%rd3];
    { .param .b64 handle; .param .b32 flags; .param .b32 error; st.param.b64 [handle], %rd2; st.param.b32 [flags], 0;
      call.uni (error), cudaCGSynchronize, (handle, flags); ld.param.b32 %r5, [error]; }
    add.u32 %r8, %r6, %r7;
    add.u32 %r8, %r8, %r5;
    @!%p1 st.global.b32 [%rd3], %r8;
    sub.u32 %r12, %r12, 1;
    setp.ne.u32 %p2, %r12, 0;
    @%p2 bra ROUND;
    ret;
}
";

#[test]
fn blocks_meet_at_a_barrier_of_the_grid() {
    const BLOCKS: u32 = 50;
    let _context = Context::new();
    let text = format!("{HEAD}{NEIGHBOURS}");
    let archive = device_runtime();
    // Added twice, it counts once.
    let inputs: [(c_uint, &[u8]); 3] =
        [(PTX, text.as_bytes()), (LIBRARY, &archive), (LIBRARY, &archive)];
    let kernel = function(link(&inputs, None).unwrap(), "neighbours");
    let data = alloc(BLOCKS as usize * 4);
    let mut expected: Vec<u32> = (0..BLOCKS).collect();
    for _ in 0..3 {
        expected = (0..BLOCKS as usize)
            .map(|block| expected[block] + expected[(block + 1) % BLOCKS as usize])
            .collect();
    }
    // The barrier is as it was after a launch, so another may follow.
    for _ in 0..2 {
        let (mut address, mut rounds) = (data, 3_u32);
        let mut parameters = [(&raw mut address).cast(), (&raw mut rounds).cast()];
        // SAFETY: two parameters, as the kernel declares.
        ok(unsafe {
            cuLaunchCooperativeKernel(kernel, BLOCKS, 1, 1, 64, 1, 1, 0, 0, parameters.as_mut_ptr())
        });
        assert_eq!(download(data, BLOCKS as usize), expected);
    }
}

#[test]
fn without_the_device_runtime_the_barrier_is_not_defined() {
    let _context = Context::new();
    let text = CString::new(format!("{HEAD}{NEIGHBOURS}")).unwrap();
    let mut module = 0;
    // SAFETY: the text ends in NUL.
    expect(result::INVALID_PTX, unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) });
    assert!(diagnostic().contains("cudaCG"));
    // Another library is machine code like any other.
    let inputs: [(c_uint, &[u8]); 2] = [(PTX, text.as_bytes()), (LIBRARY, b"!<arch>\n")];
    assert_eq!(link(&inputs, None), Err(result::NO_BINARY_FOR_GPU));
    assert!(diagnostic().contains("a library, not PTX text"));
}
