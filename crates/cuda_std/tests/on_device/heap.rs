//! The crate `alloc`, on the device's heap.

use ptx_emulator::{FaultKind, MachineConfig};

use crate::device::{Device, Params, line, ptx_of};
use crate::faults::{Failed, failing};

const THREADS: u32 = 200;

/// Runs a kernel in 200 threads, with a poisoned output element for each.
fn outputs<T: crate::device::Bytes + Clone, const N: usize>(
    device: &mut Device,
    kernel: &str,
    poison: T,
) -> [Vec<T>; N] {
    let poison = vec![poison; THREADS as usize];
    let addresses: [u64; N] = std::array::from_fn(|_| device.upload(&poison));
    let params = addresses.iter().fold(Params::default(), |params, &out| params.value(out));
    device.run(kernel, line(4, THREADS / 4), &params);
    addresses.map(|out| device.download(out, THREADS as usize))
}

/// What the kernel `vectors` does.
fn vectors(i: u32) -> [u32; 4] {
    let values: Vec<u32> = (0..i % 97).map(|x| x ^ i).collect();
    let even: Vec<u32> = values.iter().copied().filter(|x| x % 2 == 0).collect();
    let grouped = (0..5).flat_map(|rest| values.iter().filter(move |&&x| x % 5 == rest));
    [
        even.len() as u32 + 1,
        even.iter().sum::<u32>() + 7,
        values.len() as u32,
        grouped.zip(1..).fold(0, |sum, (x, at)| sum.wrapping_add(at * x)),
    ]
}

#[test]
fn vectors_grow() {
    let [out] = outputs(&mut Device::new(), "vectors", [u32::MAX; 4]);
    assert_eq!(out, (0..THREADS).map(vectors).collect::<Vec<_>>());
}

#[test]
fn alignment_above_that_of_malloc() {
    let [out] = outputs(&mut Device::new(), "aligned", [u32::MAX; 3]);
    let expected = (0..THREADS).map(|i| [0, 36 + 9 * i + i + 3 * i, i]);
    assert_eq!(out, expected.collect::<Vec<_>>());
}

#[test]
fn owners_and_trait_objects() {
    let [out] = outputs(&mut Device::new(), "owners", [u32::MAX; 4]);
    let expected = (0..THREADS).map(|i| {
        let area = (0..i % 6).map(|x| if x % 2 == 0 { i * i } else { x * i }).sum();
        [area, 1 + i % 6 / 2, 1, 1]
    });
    assert_eq!(out, expected.collect::<Vec<_>>());
}

#[test]
fn between_launches_and_threads() {
    let mut device = Device::new();
    let kept = device.upload(&[0_u64; 96]);
    device.run("keep", line(3, 32), &Params::default().value(kept));
    let addresses = device.download::<u64>(kept, 96);
    assert!(addresses.iter().all(|address| address % 16 == 0 && *address != 0), "{addresses:?}");
    let out = device.upload(&[u32::MAX; 96]);
    let params = Params::default().value(kept).value(96_u32).value(out);
    device.run("take", line(3, 32), &params);
    assert_eq!(device.download::<u32>(out, 96), (0..96).rev().map(|i| i * i).collect::<Vec<_>>());
}

#[test]
fn malloc_and_values_without_size() {
    let [out] = outputs(&mut Device::new(), "by_hand", u32::MAX);
    assert_eq!(out, (1000..1000 + THREADS).collect::<Vec<_>>());
}

/// The heap has 8 MB, on a GPU and on the emulator, less what it keeps for itself.
#[test]
fn the_end_of_the_heap_is_an_error_that_can_be_handled() {
    let mut device = Device::new();
    // What the first launch did not give back, the next would lack.
    for _ in 0..20 {
        let out = device.upload(&[u32::MAX; 2]);
        device.run("exhaust", line(1, 1), &Params::default().value(1_u64 << 20).value(out));
        let answers = device.download::<u32>(out, 2);
        assert!((1..=8).contains(&answers[0]) && answers[1] == 1, "{answers:?}");
    }
}

const FULL: &str = "memory allocation failed: the device heap is full (its size is CU_LIMIT_MALLOC_HEAP_SIZE, 8 MB unless set)";

#[test]
fn the_end_of_the_heap_is_a_panic() {
    let failed = failing("heap::the_end_of_the_heap_is_a_panic", "ask", line(2, 64), |device| {
        let out = device.upload(&[0xA5_u8]);
        Params::default().value(70_u32).value(1_u64 << 40).value(out)
    });
    match failed {
        Failed::Emulator(fault) => match fault.kind() {
            FaultKind::Assert { message, .. } => {
                assert_eq!(message, FULL);
                assert_eq!((fault.block(), fault.lanes()), (Some([1, 0, 0]), 1 << 6));
            }
            _ => panic!("{fault}"),
        },
        Failed::Driver { error, said } => {
            assert_eq!(error, "AssertError", "{said}");
            assert!(said.contains(FULL), "{said}");
        }
    }
}

/// Under memcheck, on the emulator: nothing is left, nothing outside is touched; and a leak would show.
#[test]
fn no_leaks() {
    let mut config = MachineConfig::default();
    // Not initcheck: a vector that moves takes bytes along that nobody has written.
    config.checks = "memcheck".parse().expect("a check");
    let mut device = Device::emulated(config);
    // Few threads: memcheck keeps a record of each allocation.
    for kernel in ["vectors", "aligned", "owners", "by_hand"] {
        let out = device.upload(&[[0xA5_u8; 64]; 33]);
        device.run(kernel, line(1, 33), &Params::default().value(out));
    }
    assert_eq!(device.take_findings(), <[String; 0]>::default());
    assert_eq!(device.heap_leaks(), <[String; 0]>::default());
    let kept = device.upload(&[0_u64; 32]);
    device.run("keep", line(1, 32), &Params::default().value(kept));
    assert_eq!(device.heap_leaks().len(), 32);
}

#[test]
fn kernels_without_collections_have_no_allocator() {
    assert!(ptx_of("vectors").contains("malloc"));
    assert!(!ptx_of("broadcast").contains("malloc"));
}

#[test]
fn texts_and_slices_become_owned() {
    let mut device = Device::new();
    let [out] = outputs(&mut device, "owned_texts", [u32::MAX; 4]);
    let sum = |text: &str| text.bytes().map(u32::from).sum::<u32>();
    for (i, row) in (0_u32..).zip(out) {
        let owned = format!("{}{i}", ["warp", "", "block of threads", "größer"][i as usize % 4]);
        let signed = (-i64::from(i)).to_string();
        let elements = (0..=i % 4).sum();
        let signed = signed.len() as u32 * 1000 + sum(&signed);
        assert_eq!(row, [owned.len() as u32, sum(&owned), signed, elements], "thread {i}");
    }
    assert_eq!(device.heap_leaks(), Vec::<String>::new());
}

#[test]
fn the_global_allocator_itself() {
    let mut device = Device::new();
    let [out] = outputs(&mut device, "through_the_allocator", [u32::MAX; 4]);
    let expected = (0..THREADS).map(|i| [1, i + 1, i + 2, i + 1]);
    assert_eq!(out, expected.collect::<Vec<_>>());
    assert_eq!(device.heap_leaks(), Vec::<String>::new());
}
