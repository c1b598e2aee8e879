//! `cuda_std::atomic`, and core's atomics in kernels.

mod by_name;
mod contention;
mod floats;
mod handing_over;
mod history;

use crate::device::{Device, Params, line, ptx_of};

#[test]
fn every_ordering_can_be_chosen_at_run_time() {
    let mut device = Device::new();
    let sum = device.upload(&[0_u32]);
    for order in 0..5_u32 {
        device.run("any_ordering", line(4, 50), &Params::default().value(sum).value(order));
        let sign = if order == 4 { 1 << 31 } else { 0 };
        let expected = ((order + 1) * 200) | sign;
        assert_eq!(device.download::<u32>(sum, 1), [expected]);
    }
}

#[test]
fn loads_stores_and_rust_cudas_functions() {
    let mut device = Device::new();
    let words = device.upload(&(0..96_u32).collect::<Vec<_>>());
    let wide = device.upload(&[2.0_f64; 96]);
    let half = device.upload(&(0..96_u16).collect::<Vec<_>>());
    let out = device.upload(&[[-1.0_f64; 3]; 96]);
    let params = Params::default().value(words).value(wide).value(half).value(out);
    device.run("loads_and_stores", line(3, 32), &params);
    let expected: Vec<[f64; 3]> =
        (0..96).map(|i| [f64::from(i) + 1.0, 2.0, f64::from(i) + 1.0]).collect();
    assert_eq!(device.download::<[f64; 3]>(out, 96), expected);
    assert_eq!(device.download::<f64>(wide, 96), [2.5; 96]);
    assert_eq!(device.download::<u16>(half, 96), (1..97).collect::<Vec<_>>());
}

#[test]
fn histogram_in_shared_memory() {
    for len in [0, 1, 5000] {
        let bytes: Vec<u8> =
            (0..len).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 21) as u8 & 0x5F).collect();
        let mut expected = vec![0_u32; 256];
        for byte in &bytes {
            expected[usize::from(*byte)] += 1;
        }
        let mut device = Device::new();
        let input = device.upload(&[&bytes[..], &[0]].concat());
        let counts = device.upload(&[0_u32; 256]);
        let params = Params::default().slice(input, bytes.len()).value(counts);
        device.run("histogram", line(3, 100), &params);
        assert_eq!(device.download::<u32>(counts, 256), expected);
    }
}

#[test]
fn statics_and_rust_cudas_types() {
    let mut device = Device::new();
    let sums = device.upload(&[1_f32]);
    let blocks = device.upload(&[0_f64; 5]);
    let params = Params::default().value(sums).value(blocks);
    device.run("statics_of_atomics", line(5, 40), &params);
    let (tally, bytes) = device.global("TALLY").expect("the static is a symbol");
    assert_eq!((device.download::<u64>(tally, 1), bytes), (vec![300], 8));
    assert_eq!(device.download::<f32>(sums, 1), [51.0]);
    assert_eq!(device.download::<f64>(blocks, 5), [81.0; 5]);
}

#[test]
fn the_ptx_says_ordering_scope_and_space() {
    for (kernel, instructions) in [
        ("histogram", &["atom.relaxed.cta.shared.add.u32", "atom.relaxed.gpu.global.add.u32"][..]),
        (
            "statics_of_atomics",
            &[
                "atom.relaxed.gpu.global.add.u64",
                "atom.relaxed.gpu.global.add.f32",
                "atom.acq_rel.cta.shared.add.f64",
            ],
        ),
        ("spin_lock", &["atom.acquire.gpu.global.cas.b32", "st.release.gpu.global.b32"]),
        (
            "look_back_system",
            &["fence.sc.sys", "atom.acquire.sys.global.exch.b32", "ld.acquire.sys.global.b32"],
        ),
        ("look_back_fences", &["fence.acq_rel.gpu", "ld.relaxed.gpu.global.b32"]),
        ("look_back_core", &["atom.release.sys.global.max.u32", "atom.acquire.sys.global.or.b32"]),
        ("contend_f16_device", &["atom.relaxed.gpu.add.noftz.f16"]),
        ("contend_f64_block", &["atom.relaxed.cta.add.f64"]),
        ("core_u8", &["atom.acq_rel.sys.global.and.b32", "ld.relaxed.sys.global.b32"]),
        ("core_u16", &["atom.acquire.sys.global.cas.b16", "ld.relaxed.sys.global.b16"]),
    ] {
        let ptx = ptx_of(kernel);
        for instruction in instructions {
            assert!(ptx.contains(instruction), "no {instruction} in {ptx}");
        }
    }
}
