//! How far the generators jump: polynomials over GF(2), `x^n` modulo the characteristic polynomial of the generator's step for
//! a jump of `n` steps, the least significant word first. From Blackman and Vigna's published generators, <https://prng.di.unimi.it>.

/// A generator's `jump` and `long_jump`.
pub(super) struct Jumps<W, const N: usize> {
    /// The polynomial of `jump`.
    pub(super) jump: [W; N],
    /// The polynomial of `long_jump`.
    pub(super) long_jump: [W; N],
}

/// `Xoroshiro128Plus` and `Xoroshiro128StarStar`: 2^64 and 2^96 steps.
pub(super) const XOROSHIRO128: Jumps<u64, 2> = Jumps {
    jump: [0xdf90_0294_d8f5_54a5, 0x1708_65df_4b32_01fc],
    long_jump: [0xd2a9_8b26_625e_ee7b, 0xdddf_9b10_90aa_7ac1],
};

/// `Xoroshiro128PlusPlus`: 2^64 and 2^96 steps.
pub(super) const XOROSHIRO128_PLUS_PLUS: Jumps<u64, 2> = Jumps {
    jump: [0x2bd7_a6a6_e99c_2ddc, 0x0992_ccaf_6a6f_ca05],
    long_jump: [0x360f_d5f2_cf8d_5d99, 0x9c6e_6877_736c_46e3],
};

/// `Xoshiro128…`: 2^64 and 2^96 steps.
pub(super) const XOSHIRO128: Jumps<u32, 4> = Jumps {
    jump: [0x8764_000b, 0xf542_d2d3, 0x6fa0_35c3, 0x77f2_db5b],
    long_jump: [0xb523_952e, 0x0b6f_099f, 0xccf5_a0ef, 0x1c58_0662],
};

/// `Xoshiro256…`: 2^128 and 2^192 steps.
pub(super) const XOSHIRO256: Jumps<u64, 4> = Jumps {
    jump: [
        0x180e_c6d3_3cfd_0aba,
        0xd5a6_1266_f0c9_392c,
        0xa958_2618_e03f_c9aa,
        0x39ab_dc45_29b1_661c,
    ],
    long_jump: [
        0x76e1_5d3e_fefd_cbbf,
        0xc500_4e44_1c52_2fb3,
        0x7771_0069_854e_e241,
        0x3910_9bb0_2acb_e635,
    ],
};

/// `Xoshiro512…`: 2^256 and 2^384 steps.
pub(super) const XOSHIRO512: Jumps<u64, 8> = Jumps {
    jump: [
        0x33ed_89b6_e7a3_53f9,
        0x7600_83d7_9553_23be,
        0x2837_f2fb_b5f2_2fae,
        0x4b8c_5674_d309_511c,
        0xb11a_c47a_7ba2_8c25,
        0xf1be_7667_092b_cc1c,
        0x5385_1efd_b6df_0aaf,
        0x1ebb_c8b2_3eaf_25db,
    ],
    long_jump: [
        0x1146_7fef_8f92_1d28,
        0xa2a8_19f2_e79c_8ea8,
        0xa829_9fc2_84b3_959a,
        0xb4d3_4734_0ca6_3ee1,
        0x1cb0_940b_edbf_f6ce,
        0xd956_c5c4_fa1f_8e17,
        0x915e_38fd_4eda_93bc,
        0x5b3c_cdfa_5d7d_aca5,
    ],
};
