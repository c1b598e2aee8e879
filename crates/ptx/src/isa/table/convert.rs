//! PTX ISA, Data Movement and Conversion Instructions: `cvt`, `cvt.pack`, `cvta`, `isspacep`.

use super::super::row::Family::{Convert, ConvertAddress, IsSpace};
use super::super::row::{Row, missing, row};

const NARROW: &str = "numbers of 4 and 6 bits, scales and stochastic rounding need sm_100, of which there are no \
                      recordings yet";

pub(super) const ROWS: &[Row] = &[
    row("cvt.@i8.@i8", "t1, t", Convert).golden("cvt"),
    // Saturation exists where something can be out of range.
    row("cvt.sat.u8.u16,u32,u64,@s8", "t1, t", Convert).golden("cvt"),
    row("cvt.sat.u16.u32,u64,@s8", "t1, t", Convert).golden("cvt"),
    row("cvt.sat.u32.u64,@s8", "t1, t", Convert).golden("cvt"),
    row("cvt.sat.u64.@s8", "t1, t", Convert).golden("cvt"),
    row("cvt.sat.s8.u8,u16,u32,u64,s16,s32,s64", "t1, t", Convert).golden("cvt"),
    row("cvt.sat.s16.u16,u32,u64,s32,s64", "t1, t", Convert).golden("cvt"),
    row("cvt.sat.s32.u32,u64,s64", "t1, t", Convert).golden("cvt"),
    row("cvt.sat.s64.u64", "t1, t", Convert).golden("cvt"),
    row("cvt.@rndi{.ftz}{.sat}.@i8.f32", "t1, t", Convert).golden("cvt"),
    row("cvt.@rndi{.sat}.@i8.f16,f64", "t1, t", Convert).golden("cvt"),
    row("cvt.@rndi.@i8.bf16", "t1, t", Convert).since(78, 90).golden("cvt"),
    row("cvt.@rnd{.sat}.f16,f32,f64.@i8", "t1, t", Convert).golden("cvt"),
    row("cvt.@rnd.ftz{.sat}.f32.@i8", "t1, t", Convert).golden("cvt"),
    row("cvt.@rnd.bf16.@i8", "t1, t", Convert).since(78, 90).golden("cvt"),
    // Between floats of one type: as it is, or rounded to a whole number.
    row("cvt{.@rndi}{.ftz}{.sat}.f32.f32", "t1, t", Convert).golden("cvt"),
    row("cvt{.@rndi}{.sat}.f16.f16", "t1, t", Convert).since(42, 53).golden("cvt"),
    row("cvt{.@rndi}{.sat}.f64.f64", "t1, t", Convert).since(10, 13).golden("cvt"),
    row("cvt{.@rndi}.bf16.bf16", "t1, t", Convert).since(78, 90).golden("cvt"),
    // To a wider float: exact.
    row("cvt{.ftz}{.sat}.f32.f16", "t1, t", Convert).since(42, 53).golden("cvt"),
    row("cvt{.ftz}.f32.bf16", "t1, t", Convert).since(71, 80).golden("cvt"),
    row("cvt{.sat}.f64.f16", "t1, t", Convert).since(42, 53).golden("cvt"),
    row("cvt{.ftz}{.sat}.f64.f32", "t1, t", Convert).since(10, 13).golden("cvt"),
    row("cvt.f64,f16.bf16", "t1, t", Convert).since(78, 90).golden("cvt"),
    row("cvt.bf16.f16", "t1, t", Convert).since(78, 90).golden("cvt"),
    // To a narrower float.
    row("cvt.@rnd{.ftz}{.sat}.f32.f64", "t1, t", Convert).since(10, 13).golden("cvt"),
    row("cvt.@rnd{.sat}.f16.f64", "t1, t", Convert).since(42, 53).golden("cvt"),
    row("cvt.@rnd{.ftz}{.sat}.f16.f32", "t1, t", Convert).since(42, 53).golden("cvt"),
    row("cvt.rn,rz{.relu}{.satfinite}.f16,bf16.f32", "t1, t", Convert).since(70, 80).golden("cvt"),
    row("cvt.@rnd{.ftz}.bf16.f32", "t1, t", Convert).since(78, 80).golden("cvt"),
    row("cvt.@rnd.bf16.f16,f64", "t1, t", Convert).since(78, 90).golden("cvt"),
    row("cvt.@rnd{.ftz}.f32.bf16", "t1, t", Convert).since(78, 90).golden("cvt"),
    row("cvt.@rnd.f16,f64.bf16", "t1, t", Convert).since(78, 90).golden("cvt"),
    row("cvt.rn,rz{.relu}{.satfinite}.f16x2,bf16x2.f32", "t1, t, t", Convert)
        .since(70, 80)
        .golden("cvt"),
    row("cvt.rna{.satfinite}.tf32.f32", "t1, t", Convert).since(70, 80).golden("cvt"),
    row("cvt.rn,rz{.relu}.tf32.f32", "t1, t", Convert).since(78, 90).golden("cvt"),
    row("cvt.rn,rz{.relu}.satfinite.tf32.f32", "t1, t", Convert)
        .since(86, 100)
        .test("conformance::tf32_saturates"),
    row("cvt.rn.satfinite{.relu}.@f8.f32", "t1, t, t", Convert).since(78, 89).golden("cvt"),
    row("cvt.rn.satfinite{.relu}.@f8.f16x2", "t1, t", Convert).since(78, 89).golden("cvt"),
    row("cvt.rn{.relu}.f16x2.@f8", "t1, t", Convert).since(78, 89).golden("cvt"),
    missing("cvt.rs{.relu}{.satfinite}.f16x2,bf16x2.f32", "t1, t, t, b32", 87, 100, NARROW),
    missing("cvt.rn.satfinite{.relu}.e2m1x2,e2m3x2,e3m2x2.f32", "", 86, 100, NARROW),
    missing("cvt.rn{.relu}.f16x2.e2m1x2,e2m3x2,e3m2x2", "", 86, 100, NARROW),
    missing("cvt.rs.satfinite{.relu}.e4m3x4,e5m2x4,e2m3x4,e3m2x4,e2m1x4.f32", "", 87, 100, NARROW),
    missing("cvt.rz,rp{.satfinite}.ue8m0x2.f32,bf16x2", "", 86, 100, NARROW),
    missing("cvt.rn.bf16x2.ue8m0x2", "", 86, 100, NARROW),
    row("cvt.pack.sat.u16,s16.s32", "b32, t, t", Convert).since(65, 72).golden("cvt"),
    row("cvt.pack.sat.u2,s2,u4,s4,u8,s8.s32.b32", "b32, b32, b32, b32", Convert)
        .since(65, 72)
        .golden("cvt"),
    row("cvta.const,global,local,param,param::entry,@shared.u64", "t, t", ConvertAddress)
        .since(20, 20)
        .test("memory_faults::spaces_are_recognised"),
    row("cvta.to.const,global,local,param,param::entry,@shared.u64", "t, t", ConvertAddress)
        .since(20, 20)
        .test("conformance::addresses_into_and_out_of_generic_space"),
    missing(
        "cvta{.to}.const,global,local,param,param::entry,@shared.u32",
        "t, t",
        20,
        20,
        "modules with addresses of 32 bits are refused",
    ),
    row("isspacep.const,global,local,param,param::entry,@shared", "p, b64", IsSpace)
        .since(20, 20)
        .test("memory_faults::spaces_are_recognised"),
];
