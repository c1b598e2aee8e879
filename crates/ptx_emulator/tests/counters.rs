//! What launches count: kernels whose costs are known on paper, under every schedule.

mod common;

use common::{Rig, SEEDS, kernel, kernel_with, params};
use ptx_emulator::counters::{Counters, GlobalTraffic, MemorySpace, OpClass, SharedTraffic};
use ptx_emulator::{CheckSet, MachineConfig};

/// Counters of [`kernel`]'s kernel over 64 KiB of memory, which must be the same under every schedule, with checks and
/// without, however registers are kept, waits apart.
fn counters(source: &str, grid: u32, block: u32, n: u32) -> Counters {
    let mut first: Option<Counters> = None;
    for seed in SEEDS {
        for (checks, affine) in [
            (CheckSet::NONE, true),
            (CheckSet::NONE, false),
            (CheckSet::ALL, true),
            (CheckSet::ALL, false),
        ] {
            let mut config = MachineConfig::default();
            config.schedule_seed = seed;
            config.counters = true;
            config.checks = checks;
            config.affine_registers = affine;
            let mut rig = Rig::with(source, config);
            let out = rig.words("out", &[0; 16384]);
            rig.launch("k", grid, block, &params(out, n)).unwrap_or_else(|fault| panic!("{fault}"));
            let mut counters = rig.machine.take_counters().expect("a kernel ran");
            assert!(rig.machine.take_counters().is_none(), "taken already");
            match &first {
                None => first = Some(counters),
                Some(first) => {
                    counters.total.barrier_waits = first.total.barrier_waits;
                    for (own, other) in counters.instructions.iter_mut().zip(&first.instructions) {
                        own.activity.barrier_waits = other.activity.barrier_waits;
                    }
                    assert_eq!(&counters, first, "seed {seed:?}, checks {checks}, affine {affine}");
                }
            }
        }
    }
    first.expect("there are seeds")
}

fn global(
    requests: u64,
    bytes: u64,
    sectors: u64,
    ideal_sectors: u64,
    lines: u64,
) -> GlobalTraffic {
    GlobalTraffic { requests, bytes, sectors, ideal_sectors, lines }
}

fn shared(
    requests: u64,
    bytes: u64,
    wavefronts: u64,
    ideal_wavefronts: u64,
    max_degree: u32,
) -> SharedTraffic {
    SharedTraffic { requests, bytes, wavefronts, ideal_wavefronts, max_degree }
}

#[test]
fn coalesced_strided_and_uniform_accesses() {
    let body = "
        ld.global.u32 %r1, [%a];
        mul.wide.u32 %rd1, %t, 128;
        add.u64 %rd1, %o, %rd1;
        st.global.u32 [%rd1], %r1;
        ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%o];
        ret;";
    let counters = counters(&kernel(body), 2, 64, 0);
    // 4 warps: 32 lanes side by side, 128 bytes apart, all on one address.
    let loads = counters.total.global_loads;
    assert_eq!(loads, global(8, 4 * (128 + 512), 4 * (4 + 1), 4 * (4 + 1), 4 * (1 + 1)));
    assert_eq!(counters.total.global_stores, global(4, 512, 128, 16, 128));
    assert_eq!(counters.total.global_stores.efficiency(), Some(0.125));
    let store = counters.instructions.iter().find(|i| i.text.starts_with("st.global")).unwrap();
    assert_eq!(store.activity.global_stores, counters.total.global_stores);
    assert_eq!(store.activity.global_loads, GlobalTraffic::default());
}

#[test]
fn shared_memory_by_rows_and_by_columns() {
    let body = "
        mov.u32 %r1, tile;
        shl.b32 %r2, %t, 2;
        add.u32 %r2, %r1, %r2;
        st.shared.u32 [%r2], %t;
        shl.b32 %r3, %t, 7;
        add.u32 %r3, %r1, %r3;
        st.shared.u32 [%r3], %t;
        bar.sync 0;
        ld.shared.u32 %r4, [%r1];
        ret;";
    let source = kernel_with(".shared .align 128 .b8 tile[4096];", body);
    let counters = counters(&source, 1, 32, 0);
    assert_eq!(counters.total.shared_stores, shared(2, 256, 33, 2, 32));
    assert_eq!(counters.total.shared_loads, shared(1, 128, 1, 1, 1));
    assert_eq!(counters.total.shared().bank_conflicts(), 31);
    assert_eq!(counters.total.barriers, 1);
    // The only warp of a block never waits for another.
    assert_eq!(counters.total.barrier_waits, 0);
}

#[test]
fn branches_lanes_and_guards() {
    let body = "
        setp.lt.u32 %p1, %t, 8;
        @%p1 bra $few;
        add.u32 %r1, %t, 1;
        bra.uni $end;
    $few:
        @!%p1 st.global.u32 [%a], %t;
        @%p1 ld.global.u32 %r2, [%a];
    $end:
        @!%p1 ld.global.u32 %r3, [%a];
        ret;";
    let counters = counters(&kernel(body), 1, 40, 0);
    // The first warp diverges; the second has 8 lanes, numbers 32 to 39, and does not.
    assert_eq!((counters.total.branches, counters.total.divergent_branches), (4, 1));
    let of = |text: &str| {
        let found = counters.instructions.iter().find(|i| i.text.contains(text));
        found.unwrap_or_else(|| panic!("{text}")).activity
    };
    let add = of("add.u32 %r1");
    assert_eq!((add.warp_instructions, add.thread_instructions), (2, 24 + 8));
    // Executed, but no lane went through.
    let store = of("st.global");
    assert_eq!((store.warp_instructions, store.thread_instructions), (1, 8));
    assert_eq!(store.global_stores, GlobalTraffic::default());
    assert_eq!(of("%r2, [%a]").global_loads, global(1, 32, 1, 1, 1));
    assert_eq!(of("%r3, [%a]").global_loads, global(2, 96 + 32, 3 + 1, 3 + 1, 1 + 1));
    assert_eq!(of("ret").thread_instructions, 40);
}

#[test]
fn atomics_on_one_address_and_on_many() {
    let body = "
        red.global.add.u32 [%o], 1;
        atom.global.add.u32 %r1, [%a], 1;
        and.b32 %r2, %t, 7;
        mul.wide.u32 %rd1, %r2, 4;
        add.u64 %rd1, %o, %rd1;
        red.global.add.u32 [%rd1], 1;
        mov.u32 %r3, tile;
        red.shared.add.u32 [%r3], 1;
        ret;";
    let source = kernel_with(".shared .align 4 .b8 tile[4];", body);
    let counters = counters(&source, 1, 32, 0);
    // All lanes on one address move a sector each.
    assert_eq!(counters.total.global_atomics, global(3, 384, 32 + 4 + 1, 1 + 4 + 1, 3));
    assert_eq!(counters.total.shared_atomics, shared(1, 128, 32, 1, 32));
    assert_eq!(
        (counters.total.atomic_requests(), counters.total.max_lanes_on_one_address),
        (4, 32)
    );
    let spread = counters.instructions.iter().find(|i| i.text.contains("[%rd1], 1")).unwrap();
    assert_eq!(spread.activity.max_lanes_on_one_address, 4);
}

#[test]
fn generic_addresses_are_booked_where_they_lead() {
    let body = "
        mov.u32 %r1, tile;
        cvt.u64.u32 %rd1, %r1;
        cvta.shared.u64 %rd1, %rd1;
        setp.lt.u32 %p1, %t, 16;
        selp.b64 %rd2, %rd1, %o, %p1;
        mul.wide.u32 %rd3, %t, 4;
        add.u64 %rd2, %rd2, %rd3;
        st.u32 [%rd2], %t;
        ret;";
    let source = kernel_with(".shared .align 128 .b8 tile[128];", body);
    let counters = counters(&source, 1, 32, 0);
    assert_eq!(counters.total.shared_stores, shared(1, 64, 1, 1, 1));
    assert_eq!(counters.total.global_stores, global(1, 64, 2, 2, 1));
    let class = OpClass::Store(MemorySpace::Generic);
    assert!(counters.classes.iter().any(|c| c.class == class && c.warp_instructions == 1));
}

#[test]
fn local_memory_is_traffic_and_parameters_are_not() {
    let items = "
        .func (.param .b32 result) id(.param .b32 value)
        {
            .reg .b32 %r;
            ld.param.b32 %r, [value];
            st.param.b32 [result], %r;
            ret;
        }
        .const .align 4 .b32 constant = 5;";
    let body = "
        .local .align 4 .b8 array[64];
        .param .b32 in, out;
        st.local.u32 [array+4], %t;
        ld.local.u64 %rd1, [array];
        ld.const.u32 %r3, [constant];
        st.param.b32 [in], %t;
        call (out), id, (in);
        ld.param.b32 %r2, [out];
        st.global.u32 [%a], %r2;
        ret;";
    let counters = counters(&kernel_with(items, body), 1, 32, 0);
    let total = counters.total;
    assert_eq!((total.local_store_bytes, total.local_load_bytes), (32 * 4, 32 * 8));
    assert_eq!(total.global_loads, GlobalTraffic::default());
    assert_eq!(total.global_stores, global(1, 128, 4, 4, 1));
    assert!(
        counters
            .instructions
            .iter()
            .any(|i| i.function == "id" && i.activity.warp_instructions == 1)
    );
}

#[test]
fn asynchronous_copies_and_matrices_are_traffic_too() {
    let body = "
        mov.u32 %r1, tile;
        shl.b32 %r2, %t, 4;
        add.u32 %r1, %r1, %r2;
        mul.wide.u32 %rd1, %t, 16;
        add.u64 %rd1, %o, %rd1;
        cp.async.cg.shared.global [%r1], [%rd1], 16;
        cp.async.wait_all;
        bar.warp.sync -1;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r1];
        ret;";
    let source = kernel_with(".shared .align 128 .b8 tile[512];", body);
    let counters = counters(&source, 1, 32, 0);
    assert_eq!(counters.total.global_loads, global(1, 512, 16, 16, 4));
    assert_eq!(counters.total.shared_stores, shared(1, 512, 4, 4, 1));
    // Four matrices of eight rows, each row in banks of its own.
    assert_eq!(counters.total.shared_loads, shared(1, 512, 4, 4, 1));
}

#[test]
fn warps_that_wait() {
    let counters = counters(&kernel("bar.sync 0; bar.sync 0; ret;"), 3, 128, 0);
    assert_eq!(counters.total.barriers, 3 * 4 * 2);
    // All but the last of each block and barrier, in the fixed order.
    assert_eq!(counters.total.barrier_waits, 3 * 3 * 2);
}

#[test]
fn nothing_is_counted_unless_asked_and_faults_keep_what_was() {
    let source = kernel("@%p1 ret; st.global.u32 [%a], %t; trap;");
    let mut rig = Rig::new(&source, None);
    let out = rig.words("out", &[0; 32]);
    assert!(rig.launch("k", 1, 32, &params(out, 0)).is_err());
    assert!(rig.machine.take_counters().is_none());

    let mut config = MachineConfig::default();
    config.counters = true;
    let mut rig = Rig::with(&source, config);
    let out = rig.words("out", &[0; 32]);
    assert!(rig.launch("k", 1, 32, &params(out, 0)).is_err());
    let counters = rig.machine.take_counters().expect("a kernel ran");
    assert_eq!(counters.total.global_stores.requests, 1);
    // A launch that is refused is no launch.
    assert!(rig.launch("k", 0, 32, &params(out, 0)).is_err());
    assert!(rig.machine.take_counters().is_none());
}
