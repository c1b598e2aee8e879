//! Speed of the inner loop of a matrix product, in lane operations a second.
#![allow(missing_docs)] // criterion's macros make undocumented items

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ptx_emulator::{Launch, Machine, MachineConfig, Program};

/// `c[y][x] = sum over k of a[y][k] * b[k][x]`, n x n, one thread an element, as rustc and LLVM write it.
const NAIVE: &str = ".version 8.6
.target sm_90
.address_size 64
.visible .entry mat_mul(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pn)
{
    .reg .pred %p<3>;
    .reg .b32 %r<14>;
    .reg .b64 %rd<20>;
    ld.param.b64 %rd1, [pa];
    ld.param.b64 %rd2, [pb];
    ld.param.b64 %rd3, [pc];
    ld.param.b64 %rd4, [pn];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd5, %r4;
    mov.u32 %r5, %ctaid.y;
    mov.u32 %r6, %ntid.y;
    mov.u32 %r7, %tid.y;
    mad.lo.s32 %r8, %r5, %r6, %r7;
    cvt.u64.u32 %rd6, %r8;
    max.u64 %rd7, %rd5, %rd6;
    setp.ge.u64 %p1, %rd7, %rd4;
    @%p1 bra DONE;
    mul.lo.s64 %rd8, %rd6, %rd4;
    shl.b64 %rd9, %rd8, 2;
    add.s64 %rd10, %rd1, %rd9;
    shl.b64 %rd11, %rd5, 2;
    add.s64 %rd12, %rd2, %rd11;
    shl.b64 %rd13, %rd4, 2;
    mov.b32 %r9, 0f00000000;
    mov.b64 %rd14, %rd4;
LOOP:
    ld.global.b32 %r10, [%rd10];
    ld.global.b32 %r11, [%rd12];
    fma.rn.f32 %r9, %r10, %r11, %r9;
    add.s64 %rd14, %rd14, -1;
    add.s64 %rd12, %rd12, %rd13;
    add.s64 %rd10, %rd10, 4;
    setp.ne.b64 %p2, %rd14, 0;
    @%p2 bra LOOP;
    add.s64 %rd15, %rd3, %rd9;
    add.s64 %rd16, %rd15, %rd11;
    st.global.b32 [%rd16], %r9;
DONE:
    ret;
}
";

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("matmul");
    group.sample_size(10);
    let program = Arc::new(Program::compile(NAIVE).expect("the kernel above is valid"));
    let n: u64 = 128;
    for (name, block) in [("coalesced 32x32", 32), ("two rows a warp 16x16", 16)] {
        let mut machine = Machine::new(MachineConfig::default());
        let module = machine.load(Arc::clone(&program)).expect("the module has no variables");
        let mut params = Vec::new();
        for label in ["a", "b", "c"] {
            let address = machine.memory_mut().alloc(4 * n * n, label).expect("memory");
            machine.memory_mut().fill(address, &1f32.to_le_bytes(), n * n).expect("allocated");
            params.extend_from_slice(&address.to_le_bytes());
        }
        params.extend_from_slice(&n.to_le_bytes());
        let blocks = n as u32 / block;
        let launch = Launch {
            kernel: "mat_mul",
            grid: [blocks, blocks, 1],
            block: [block, block, 1],
            dynamic_shared_bytes: 0,
            params: &params,
        };
        // Eight instructions in the loop.
        group.throughput(Throughput::Elements(8 * n * n * n));
        group.bench_function(name, |b| {
            b.iter(|| {
                let report = machine.launch(module, &launch, &mut Vec::new());
                black_box(report.expect("the kernel ends"))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
