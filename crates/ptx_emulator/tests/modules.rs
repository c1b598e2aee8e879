//! Variables of a module, special registers, dynamic shared memory.

mod common;

use common::{Rig, kernel, kernel_with, module, outputs, params};
use ptx_emulator::Launch;

#[test]
fn initial_values() {
    let source = module(
        ".global .align 8 .u64 pointers[3] = {generic(text), text+2, f};
         .global .align 1 .b8 text[8] = {104, 105};
         .global .align 4 .f32 floats[2] = {0f3F800000, 2.5};
         .const .align 2 .s16 numbers[2][3] = {{1, -2}, {3}};
         .global .align 4 .b32 flat[2][2] = {1, 2, 3};
         .global .align 1 .b8 bytes[2] = {0xFF(text), 0xFF00(text)};
         .global .u32 zero;
         .func f() { ret; }
         .visible .entry k() { ret; }",
    );
    let rig = Rig::new(&source, None);
    let bytes = |name: &str| {
        let (address, size) = rig.machine.global(rig.module, name).expect(name);
        let mut bytes = vec![0; size as usize];
        rig.machine.memory().read(address, &mut bytes).expect("allocated");
        (address, bytes)
    };
    let (text, content) = bytes("text");
    assert_eq!(content, b"hi\0\0\0\0\0\0");
    let pointers = bytes("pointers").1;
    let pointer = |at: usize| u64::from_le_bytes(pointers[at..at + 8].try_into().expect("8 bytes"));
    assert_eq!((pointer(0), pointer(8)), (text, text + 2));
    assert_ne!(pointer(16), 0);
    assert_eq!(bytes("floats").1, [1f32.to_le_bytes(), 2.5f32.to_le_bytes()].concat());
    let numbers: Vec<u8> = [1i16, -2, 0, 3, 0, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!(bytes("numbers").1, numbers);
    let flat: Vec<u8> = [1u32, 2, 3, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!(bytes("flat").1, flat);
    assert_eq!(bytes("bytes").1, text.to_le_bytes()[..2]);
    assert_eq!(bytes("zero").1, [0; 4]);
    assert_eq!(rig.machine.global(rig.module, "nothing"), None);
}

#[test]
fn the_host_writes_constants() {
    let mut rig = Rig::new(
        &kernel_with(
            ".const .u32 factor;",
            "ld.const.b32 %r1, [factor]; mul.lo.u32 %r1, %r1, %t; st.global.b32 [%a], %r1; ret;",
        ),
        None,
    );
    let (factor, _) = rig.machine.global(rig.module, "factor").expect("declared");
    rig.machine.memory_mut().write(factor, &7u32.to_le_bytes()).expect("the host may");
    let out = rig.words("out", &[0; 4]);
    rig.launch("k", 1, 4, &params(out, 0)).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(rig.read(out, 4), [0, 7, 14, 21]);
}

#[test]
fn special_registers() {
    // Every thread of a 3-D launch writes its own place, computed from its coordinates.
    let source = module(
        ".visible .entry k(.param .u64 out) {
            .reg .b32 %x, %y, %z, %i, %n; .reg .b64 %o, %a;
            ld.param.u64 %o, [out];
            mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;
            mov.u32 %n, %ntid.y; mad.lo.u32 %i, %z, %n, %y;
            mov.u32 %n, %ntid.x; mad.lo.u32 %i, %i, %n, %x;
            mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z;
            mov.u32 %n, %nctaid.y; mad.lo.u32 %z, %z, %n, %y;
            mov.u32 %n, %nctaid.x; mad.lo.u32 %z, %z, %n, %x;
            mov.u32 %n, %ntid.x; mul.lo.u32 %z, %z, %n;
            mov.u32 %n, %ntid.y; mul.lo.u32 %z, %z, %n;
            mov.u32 %n, %ntid.z; mad.lo.u32 %i, %z, %n, %i;
            mad.wide.u32 %a, %i, 4, %o;
            mov.u32 %x, %laneid; mov.u32 %y, %warpid; mad.lo.u32 %x, %y, 32, %x;
            mov.u32 %y, %dynamic_smem_size; mad.lo.u32 %x, %y, 1000, %x;
            mov.u32 %y, %nwarpid; mad.lo.u32 %x, %y, 1000000, %x;
            st.global.b32 [%a], %x;
            ret; }",
    );
    let mut rig = Rig::new(&source, None);
    let count = 2 * 3 * 4 * 5 * 7 * 2;
    let out = rig.words("out", &vec![u32::MAX; count]);
    let launch = Launch {
        kernel: "k",
        grid: [2, 3, 4],
        block: [5, 7, 2],
        dynamic_shared_bytes: 16,
        params: &out.to_le_bytes(),
    };
    rig.machine.launch(rig.module, &launch, &mut Vec::new()).unwrap_or_else(|f| panic!("{f}"));
    let expected: Vec<u32> = (0..count as u32).map(|i| i % 70 + 16_000 + 3_000_000).collect();
    assert_eq!(rig.read(out, count), expected);
}

#[test]
fn lane_masks_and_clocks() {
    let source = kernel(
        "mov.u64 %rd1, %clock64;
         mov.u32 %r1, %lanemask_lt; mov.u32 %r2, %lanemask_ge;
         mov.u64 %rd2, %clock64;
         setp.le.u64 %p1, %rd2, %rd1;
         @%p1 trap;
         not.b32 %r2, %r2;
         xor.b32 %r1, %r1, %r2;
         mov.u32 %r3, %lanemask_eq;
         or.b32 %r1, %r1, %r3;
         st.global.b32 [%a], %r1;
         ret;",
    );
    assert_eq!(outputs(&source, 1, 32, 0), (0..32).map(|t| 1 << t).collect::<Vec<u32>>());
}

#[test]
fn dynamic_shared_memory_lies_behind_the_static() {
    let source = kernel_with(
        ".extern .shared .align 16 .b8 dynamic[]; .shared .align 4 .b8 fixed[20];",
        "mov.u64 %rd1, dynamic; mov.u64 %rd2, fixed;
         mul.wide.u32 %rd3, %t, 4;
         add.u64 %rd1, %rd1, %rd3;
         st.shared.b32 [%rd2], 1234;
         st.shared.b32 [%rd1], %t;
         bar.sync 0;
         ld.shared.b32 %r1, [%rd1]; ld.shared.b32 %r2, [%rd2];
         add.u32 %r1, %r1, %r2;
         st.global.b32 [%a], %r1;
         ret;",
    );
    let mut rig = Rig::new(&source, None);
    let out = rig.words("out", &[0; 8]);
    let mut launch = |bytes: u32| {
        let params = params(out, 0);
        let launch = Launch {
            kernel: "k",
            grid: [1; 3],
            block: [8, 1, 1],
            dynamic_shared_bytes: bytes,
            params: &params,
        };
        rig.machine.launch(rig.module, &launch, &mut Vec::new())
    };
    assert!(launch(32).is_ok());
    let fault = launch(28).expect_err("the last thread's word does not fit");
    assert_eq!(fault.lanes(), 1 << 7);
    assert_eq!(rig.read(out, 8), (1234..1242).collect::<Vec<u32>>());
}

#[test]
fn shared_variables_count_where_they_are_used() {
    let program = common::compile(&module(
        ".shared .align 16 .b8 big[10000]; .shared .b8 odd[3];
         .func helper() { .reg .b64 %rd; mov.u64 %rd, big; ret; }
         .visible .entry uses_both() { .reg .b64 %rd; mov.u64 %rd, odd; call helper, (); ret; }
         .visible .entry uses_odd() { .reg .b64 %rd; mov.u64 %rd, odd; ret; }
         .visible .entry uses_none(.param .u8 a, .param .align 16 .b8 b[20], .param .f64 c) .maxntid 128 { .local .b8 l[12]; ret; }",
    ));
    let kernel = |name: &str| program.kernel(name).expect(name).clone();
    assert_eq!(kernel("uses_both").static_shared_bytes, 10_003);
    assert_eq!(kernel("uses_odd").static_shared_bytes, 3);
    let none = kernel("uses_none");
    assert_eq!((none.static_shared_bytes, none.local_bytes), (0, 12));
    assert_eq!(none.max_threads, Some([128, 1, 1]));
    let layout: Vec<(u32, u32)> = none.params.iter().map(|p| (p.offset, p.bytes)).collect();
    assert_eq!((layout, none.param_bytes), (vec![(0, 1), (16, 20), (40, 8)], 48));
    assert_eq!(program.version(), (8, 6));
    assert_eq!(program.target(), "sm_90");
    assert_eq!(program.kernels().count(), 3);
}
