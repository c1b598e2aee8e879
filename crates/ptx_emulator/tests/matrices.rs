//! Operations of a whole warp on matrices: products that can be checked by hand, and warps that are not whole. All forms are
//! checked against recorded hardware in `golden_matrix.rs`.

mod common;

use common::{fault_text, kernel, kernel_with, outputs};
use ptx_emulator::{CompileErrorKind, FaultKind, Program};

/// A kernel with 1 KiB of shared memory at `%r10`, of which word i is i.
fn with_matrix(body: &str) -> String {
    kernel_with(
        ".shared .align 16 .b32 s[256];",
        &format!(
            "mov.u32 %r10, s;
             mov.u32 %r2, %t;
             mov.u32 %r4, %ntid.x;
         FILL:
             mad.lo.u32 %r3, %r2, 4, %r10;
             st.shared.b32 [%r3], %r2;
             add.u32 %r2, %r2, %r4;
             setp.lt.u32 %p1, %r2, 256;
             @%p1 bra FILL;
             bar.sync 0;
             mad.lo.u32 %r11, %t, 16, %r10;
             {body}
             st.global.b32 [%a], %r1;
             ret;"
        ),
    )
}

#[test]
fn a_product_by_hand() {
    // A: row i is 1 at column i % 8, else 0; B: column j holds k + 8 * j at row k; C: 1000. In s8: D[i][j] = i % 8 + 8 * j + 1000.
    let body = "shr.u32 %r2, %t, 2;
         and.b32 %r3, %t, 3;
         mov.b32 %r4, 0;
         mul.lo.u32 %r5, %r3, 4;
         sub.u32 %r6, %r2, %r5;
         setp.lt.u32 %p1, %r6, 4;
         mul.lo.u32 %r6, %r6, 8;
         shl.b32 %r7, 1, %r6;
         selp.b32 %r4, %r7, 0, %p1;
         mul.lo.u32 %r6, %r2, 8;
         mad.lo.u32 %r6, %r3, 4, %r6;
         mul.lo.u32 %r6, %r6, 0x01010101;
         add.u32 %r6, %r6, 0x03020100;
         mov.b32 %r8, 1000;
         mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r12, %r13, %r14, %r15}, {%r4, %r4}, {%r6}, {%r8, %r8, 1000, %r8};
         mad.lo.u32 %r1, %r13, 10000, %r14;";
    let expected: Vec<u32> = (0..32)
        .map(|lane| {
            let element = |row: u32, column: u32| row % 8 + 8 * column + 1000;
            let (row, column) = (lane / 4, 2 * (lane % 4));
            element(row, column + 1) * 10000 + element(row + 8, column)
        })
        .collect();
    assert_eq!(
        outputs(&kernel(&format!("{body} st.global.b32 [%a], %r1; ret;")), 1, 32, 0),
        expected
    );
}

#[test]
fn a_matrix_goes_through_memory_and_back() {
    // Transposed twice in two ways: loaded transposed, moved transposed, stored and loaded plainly.
    let body = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r2, %r3, %r4, %r5}, [%r11];
         movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r2;
         bar.sync 0;
         stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r11+512], {%r6};
         bar.sync 0;
         mad.lo.u32 %r7, %t, 4, %r10;
         ld.shared.b32 %r1, [%r7+512];";
    assert_eq!(outputs(&with_matrix(body), 1, 32, 0), (0..32).collect::<Vec<u32>>());
}

#[test]
fn lanes_meet_after_a_branch() {
    let body = "and.b32 %r2, %t, 1;
         setp.eq.u32 %p1, %r2, 0;
         @%p1 bra MEET;
         mov.b32 %r6, 7;
     MEET:
         ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r11];";
    let expected: Vec<u32> = (0..128).map(|t| t % 64 / 32 * 128 + t % 32).collect();
    assert_eq!(outputs(&with_matrix(body), 2, 64, 0), expected);
}

#[test]
fn lanes_that_cannot_meet() {
    // The same text twice is two instructions: `.aligned` wants all lanes at one.
    let body = "setp.lt.u32 %p1, %t, 16;
         @%p1 bra LOW;
         ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r11];
         bra.uni DONE;
     LOW:
         ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r11];
     DONE:";
    let (kind, text) = fault_text(&with_matrix(body), 1, 32, 0);
    assert_eq!(kind, FaultKind::Deadlock);
    assert!(text.contains("wait for lanes") && text.contains("ldmatrix"), "{text}");
    // A guard that leaves lanes out does the same.
    let body = "setp.lt.u32 %p1, %t, 16;
         @%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r1, %t;
         bar.sync 0;";
    assert_eq!(fault_text(&with_matrix(body), 1, 32, 0).0, FaultKind::Deadlock);
}

#[test]
fn a_warp_that_is_not_whole() {
    let multiply = "mov.b32 %r2, 0;
        mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r1, %r3}, {%r2}, {%r2}, {%r2, %r2};";
    let (kind, text) = fault_text(&with_matrix(multiply), 1, 40, 0);
    assert_eq!(kind, FaultKind::IncompleteWarp);
    assert!(text.contains("warp 1, lanes 0-7"), "{text}");
    assert!(
        text.contains("lanes 8-31 have exited, or the block has no threads for them"),
        "{text}"
    );
    let exited = format!("setp.eq.u32 %p1, %t, 5; @%p1 exit; {multiply}");
    assert_eq!(fault_text(&with_matrix(&exited), 1, 32, 0).0, FaultKind::IncompleteWarp);
    assert_eq!(outputs(&with_matrix(multiply), 1, 64, 0), [0; 64]);
}

#[test]
fn addresses_of_rows() {
    let load = |count: u32, address: &str| {
        let d = ["{%r1}", "{%r1, %r2}", "", "{%r1, %r2, %r3, %r4}"][count as usize - 1];
        with_matrix(&format!(
            "setp.ge.u32 %p1, %t, 8;
             {address}
             ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {d}, [%r11];"
        ))
    };
    // Lanes from 8 on give no address to a single matrix.
    let elsewhere = "@%p1 mov.b32 %r11, 3;";
    assert_eq!(outputs(&load(1, elsewhere), 1, 32, 0), (0..32).collect::<Vec<u32>>());
    let (kind, text) = fault_text(&load(2, elsewhere), 1, 32, 0);
    assert_eq!(kind, FaultKind::MisalignedAddress);
    assert!(text.contains("lanes 8-15"), "{text}");
    let (kind, text) = fault_text(&load(4, "@%p1 add.u32 %r11, %r11, 1024;"), 1, 32, 0);
    assert_eq!(kind, FaultKind::IllegalAddress);
    assert!(text.contains("read of 16 bytes") && text.contains("lanes 8-31"), "{text}");
    let store = "stmatrix.sync.aligned.m8n8.x1.b16 [%o], {%t};";
    let (kind, text) = fault_text(&with_matrix(store), 1, 32, 0);
    assert_eq!(kind, FaultKind::NotSharedMemory);
    assert!(text.contains("write of 16 bytes"), "{text}");
}

#[test]
fn fragments_of_the_wrong_size() {
    let three = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1, %r2, %r3}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};";
    let error = Program::compile(&with_matrix(three)).expect_err("three registers");
    assert_eq!(error.kind(), CompileErrorKind::Invalid);
    assert!(error.to_string().contains("has 3 registers; this form needs 4"), "{error}");
}

#[test]
fn forms_that_are_not_there_are_named_when_reached() {
    for form in [
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2}, {%r1, %r2, %r3, %r4}, %r1, 0x0;",
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};",
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};",
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {%r1, %r2}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2};",
        "mma.sync.aligned.m16n8k8.row.col.satfinite.f32.tf32.tf32.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%r11];",
        "wgmma.fence.sync.aligned;",
    ] {
        let (kind, text) = fault_text(&with_matrix(form), 1, 32, 0);
        let name = form.split_whitespace().next().expect("a mnemonic").trim_end_matches(';');
        assert_eq!(kind, FaultKind::UnsupportedInstruction { mnemonic: name.to_owned() }, "{text}");
    }
}

#[test]
fn a_block_is_a_cluster_of_its_own() {
    let body = "mapa.shared::cluster.u32 %r2, %r10, 0;
         getctarank.shared::cluster.u32 %r3, %r10;
         cvta.shared.u64 %rd1, 0;
         mapa.u64 %rd2, %rd1, 0;
         getctarank.u64 %r4, %rd1;
         setp.eq.u64 %p1, %rd1, %rd2;
         selp.u32 %r5, 1, 0, %p1;
         sub.u32 %r1, %r2, %r10;
         add.u32 %r1, %r1, %r3;
         add.u32 %r1, %r1, %r4;
         add.u32 %r1, %r1, %r5;
         griddepcontrol.wait;
         griddepcontrol.launch_dependents;
         setmaxnreg.inc.sync.aligned.u32 232;
         fence.proxy.async.shared::cta;
         fence.proxy.tensormap::generic.release.gpu;
         fence.mbarrier_init.release.cluster;";
    assert_eq!(outputs(&with_matrix(body), 1, 32, 0), [1; 32]);
    let (kind, _) = fault_text(
        &with_matrix("mapa.shared::cluster.u32 %r2, %r10, 1; ld.shared::cluster.b32 %r1, [%r2];"),
        1,
        32,
        0,
    );
    assert_eq!(kind, FaultKind::IllegalAddress);
    let error = Program::compile(&with_matrix("setmaxnreg.dec.sync.aligned.u32 25;"))
        .expect_err("25 is no multiple of 8");
    assert_eq!(error.kind(), CompileErrorKind::Invalid);
    let (kind, _) = fault_text(&with_matrix("fence.frobnicate;"), 1, 32, 0);
    assert!(matches!(kind, FaultKind::UnsupportedInstruction { .. }));
}
