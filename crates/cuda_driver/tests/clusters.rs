//! Launches of blocks in clusters, on the emulator.

mod common;

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use common::*;

/// Each block of a cluster writes its rank and its cluster's size to `out[block]`, by way of the next one's shared memory.
const CLUSTER_RANKS: &str = "
.shared .align 4 .u32 place;
.visible .entry ranks(.param .u64 out) REQUIRED {
    .reg .b32 %r<9>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
    add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2;
    mov.u32 %r4, place; mapa.shared::cluster.u32 %r5, %r4, %r3;
    mad.lo.u32 %r6, %r2, 100, %r1; st.shared::cluster.u32 [%r5], %r6;
    barrier.cluster.arrive; barrier.cluster.wait;
    ld.shared.u32 %r6, [%r4];
    mov.u32 %r7, %ctaid.x; mul.wide.u32 %rd2, %r7, 4; add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r6; ret;
}
";

#[test]
fn blocks_are_launched_in_clusters() {
    let _context = Context::new();
    let free = function(load(&CLUSTER_RANKS.replace("REQUIRED", "")), "ranks");
    let pairs =
        function(load(&CLUSTER_RANKS.replace("REQUIRED", ".reqnctapercluster 2, 1, 1")), "ranks");
    let out = alloc(32);
    let mut address = out;
    let mut params: [*mut c_void; 1] = [(&raw mut address).cast()];
    let mut launch = |kernel, cluster: [u32; 3]| {
        upload(out, &[u32::MAX; 8]);
        let mut attribute = LaunchAttribute { id: 4, pad: [0; 4], value: [0; 16] };
        attribute.value[..3].copy_from_slice(&cluster);
        let config = LaunchConfig {
            grid: [8, 1, 1],
            block: [1, 1, 1],
            shared: 0,
            stream: 0,
            attributes: &mut attribute,
            attribute_count: 1,
        };
        // SAFETY: the configuration, its attribute and the parameters are live.
        unsafe { cuLaunchKernelEx(&config, kernel, params.as_mut_ptr(), null_mut()) }
    };
    ok(launch(free, [4, 1, 1]));
    assert_eq!(download(out, 8), [403, 400, 401, 402, 403, 400, 401, 402]);
    ok(launch(free, [1, 1, 1]));
    assert_eq!(download(out, 8), [100; 8]);
    ok(launch(pairs, [2, 1, 1]));
    assert_eq!(download(out, 8), [201, 200, 201, 200, 201, 200, 201, 200]);
    // The kernel's own clusters, where the launch names none.
    upload(out, &[u32::MAX; 8]);
    ok(launch_grid(pairs, 8, out));
    assert_eq!(download(out, 8), [201, 200, 201, 200, 201, 200, 201, 200]);
    expect(result::INVALID_CLUSTER_SIZE, launch(pairs, [4, 1, 1]));
    assert!(diagnostic().contains(
        "clusters of 4 x 1 x 1 blocks, but the kernel was compiled for exactly 2 x 1 x 1"
    ));
    expect(result::INVALID_CLUSTER_SIZE, launch(free, [9, 1, 1]));
    assert!(diagnostic().contains("a cluster of 9 x 1 x 1 blocks; clusters have at most 8 blocks"));
    expect(result::INVALID_CLUSTER_SIZE, launch(free, [3, 1, 1]));
    assert_eq!([11, 12, 13].map(|attribute| function_attribute(pairs, attribute)), [2, 1, 1]);
    assert_eq!([11, 12, 13].map(|attribute| function_attribute(free, attribute)), [0; 3]);
    assert_eq!(download(out, 8), [u32::MAX; 8]);
}

/// Launches a kernel with one parameter on blocks of one thread.
fn launch_grid(kernel: Handle, blocks: u32, out: u64) -> u32 {
    launch(kernel, [blocks, 1, 1], [1, 1, 1], 0, &[out])
}

fn function_attribute(kernel: Handle, attribute: c_uint) -> c_int {
    let mut value = -1;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuFuncGetAttribute(&mut value, attribute, kernel) });
    value
}
