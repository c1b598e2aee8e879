//! Attributes of items that are no kernels.

use crate::device::{Device, Params, USUAL, line};

#[test]
fn visible_items_have_their_names_in_the_module() {
    let mut device = Device::checked();
    let (address, bytes) = device.global("SEEN_BY_THE_HOST").expect("a symbol");
    assert_eq!((bytes, device.download::<u32>(address, 3)), (12, vec![3, 5, 7]));
    let ptx = USUAL.ptx();
    assert!(ptx.contains(".visible .func"), "other modules can call functions");
    let function = ptx.lines().any(|line| line.contains("twice_and_one("));
    assert!(function, "the function keeps its name");

    let out = device.upload(&[[u32::MAX; 3]; 10]);
    let params = Params::default().value(out);
    let expected = |values: [u32; 3]| -> Vec<[u32; 3]> {
        (0..10).map(|i| [values[i as usize % 3], 2 * i + 1, 4 - i % 5]).collect()
    };
    device.run("attributed", line(2, 5), &params);
    assert_eq!(device.download::<[u32; 3]>(out, 10), expected([3, 5, 7]));
    // What the host writes there, the next launch reads.
    let values = [11_u32, 13, u32::MAX];
    device.write(address, &values.map(u32::to_le_bytes).concat());
    device.run("attributed", line(2, 5), &params);
    assert_eq!(device.download::<[u32; 3]>(out, 10), expected(values));
}
