//! PTX ISA, Warp Level Matrix Multiply-Accumulate Instructions, and those of warp groups and of fifth generation
//! tensor cores.

use super::super::row::Family::{MatrixProduct, MatrixTransfer, MatrixTranspose};
use super::super::row::{Row, missing, row};

const OTHER: &str =
    "sparse matrices, scaled blocks and numbers of 4 and 6 bits are not implemented";
const TENSOR_CORES: &str = "only `mma` of the tensor cores' instructions is implemented";

pub(super) const ROWS: &[Row] = &[
    row(
        "mma.sync.aligned.m8n8k4.row,col.row,col.f16.f16.f16.f16",
        "{b32*4}, {b32*2}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(64, 70)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m8n8k4.row,col.row,col.f32.f16.f16.f16",
        "{b32*8}, {b32*2}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(64, 70)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m8n8k4.row,col.row,col.f32.f16.f16.f32",
        "{b32*8}, {b32*2}, {b32*2}, {b32*8}",
        MatrixProduct,
    )
    .since(64, 70)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
        "{b32*2}, {b32*2}, {b32*1}, {b32*2}",
        MatrixProduct,
    )
    .since(65, 75)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
        "{b32*4}, {b32*2}, {b32*1}, {b32*4}",
        MatrixProduct,
    )
    .since(65, 75)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "{b32*2}, {b32*4}, {b32*2}, {b32*2}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "{b32*4}, {b32*4}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
        "{b32*4}, {b32*2}, {b32*1}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "{b32*4}, {b32*4}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
        "{b32*4}, {b32*2}, {b32*1}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
        "{b32*4}, {b32*4}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m8n8k4.row.col{.@rnd}.f64.f64.f64.f64",
        "{b64*2}, {b64*1}, {b64*1}, {b64*2}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k4.row.col{.@rnd}.f64.f64.f64.f64",
        "{b64*4}, {b64*2}, {b64*1}, {b64*4}",
        MatrixProduct,
    )
    .since(78, 90)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k8.row.col{.@rnd}.f64.f64.f64.f64",
        "{b64*4}, {b64*4}, {b64*2}, {b64*4}",
        MatrixProduct,
    )
    .since(78, 90)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k16.row.col{.@rnd}.f64.f64.f64.f64",
        "{b64*4}, {b64*8}, {b64*4}, {b64*4}",
        MatrixProduct,
    )
    .since(78, 90)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32.u8,s8.u8,s8.s32",
        "{b32*2}, {b32*1}, {b32*1}, {b32*2}",
        MatrixProduct,
    )
    .since(65, 75)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k16.row.col{.satfinite}.s32.u8,s8.u8,s8.s32",
        "{b32*4}, {b32*2}, {b32*1}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.u8,s8.u8,s8.s32",
        "{b32*4}, {b32*4}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m8n8k32.row.col{.satfinite}.s32.u4,s4.u4,s4.s32",
        "{b32*2}, {b32*1}, {b32*1}, {b32*2}",
        MatrixProduct,
    )
    .since(65, 75)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.u4,s4.u4,s4.s32",
        "{b32*4}, {b32*2}, {b32*1}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k64.row.col{.satfinite}.s32.u4,s4.u4,s4.s32",
        "{b32*4}, {b32*4}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor,and.popc",
        "{b32*2}, {b32*1}, {b32*1}, {b32*2}",
        MatrixProduct,
    )
    .since(70, 75)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor,and.popc",
        "{b32*4}, {b32*2}, {b32*1}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor,and.popc",
        "{b32*4}, {b32*4}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(70, 80)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k16.row.col.f16.@f8x1.@f8x1.f16",
        "{b32*2}, {b32*2}, {b32*1}, {b32*2}",
        MatrixProduct,
    )
    .since(87, 89)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k16.row.col.f32.@f8x1.@f8x1.f32",
        "{b32*4}, {b32*2}, {b32*1}, {b32*4}",
        MatrixProduct,
    )
    .since(84, 89)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k32.row.col.f16.@f8x1.@f8x1.f16",
        "{b32*2}, {b32*4}, {b32*2}, {b32*2}",
        MatrixProduct,
    )
    .since(87, 89)
    .golden("matrix"),
    row(
        "mma.sync.aligned.m16n8k32.row.col.f32.@f8x1.@f8x1.f32",
        "{b32*4}, {b32*4}, {b32*2}, {b32*4}",
        MatrixProduct,
    )
    .since(84, 89)
    .golden("matrix"),
    missing("mma.*", "", 64, 70, OTHER),
    missing("wmma.*", "", 60, 70, TENSOR_CORES),
    row(
        "ldmatrix.sync.aligned.m8n8.x1{.trans}{.shared,shared::cta}.b16",
        "{b32*1}, [b64]",
        MatrixTransfer,
    )
    .since(65, 75)
    .golden("matrix"),
    row(
        "ldmatrix.sync.aligned.m8n8.x2{.trans}{.shared,shared::cta}.b16",
        "{b32*2}, [b64]",
        MatrixTransfer,
    )
    .since(65, 75)
    .golden("matrix"),
    row(
        "ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared,shared::cta}.b16",
        "{b32*4}, [b64]",
        MatrixTransfer,
    )
    .since(65, 75)
    .golden("matrix"),
    missing(
        "ldmatrix.*",
        "",
        86,
        100,
        "elements of 8 bits need sm_100, of which there are no recordings yet",
    ),
    row(
        "stmatrix.sync.aligned.m8n8.x1{.trans}{.shared,shared::cta}.b16",
        "[b64], {b32*1}",
        MatrixTransfer,
    )
    .since(78, 90)
    .golden("matrix"),
    row(
        "stmatrix.sync.aligned.m8n8.x2{.trans}{.shared,shared::cta}.b16",
        "[b64], {b32*2}",
        MatrixTransfer,
    )
    .since(78, 90)
    .golden("matrix"),
    row(
        "stmatrix.sync.aligned.m8n8.x4{.trans}{.shared,shared::cta}.b16",
        "[b64], {b32*4}",
        MatrixTransfer,
    )
    .since(78, 90)
    .golden("matrix"),
    missing(
        "stmatrix.*",
        "",
        86,
        100,
        "elements of 8 bits need sm_100, of which there are no recordings yet",
    ),
    row("movmatrix.sync.aligned.m8n8.trans.b16", "b32, b32", MatrixTranspose)
        .since(78, 75)
        .golden("matrix"),
    missing("wgmma.*", "", 80, 90, TENSOR_CORES),
    missing("tcgen05.*", "", 86, 100, TENSOR_CORES),
];
