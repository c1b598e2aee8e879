//! Which memory an address is of, and its two forms.

use crate::device::{Device, Params, line};

#[test]
fn an_address_is_in_one_memory_and_its_specific_form_leads_back() {
    let mut device = Device::checked();
    let global = device.upload(&[1_u32, 100, 3]);
    let out = device.upload(&[[[7_u32; 4]; 4]; 40]);
    device.run("addresses", line(2, 20), &Params::default().slice(global, 3).value(out));
    for (i, rows) in (0..).zip(device.download::<[[u32; 4]; 4]>(out, 40)) {
        let values = [100, 200, 22, 300 + i];
        for (memory, (row, value)) in rows.into_iter().zip(values).enumerate() {
            assert_eq!(row[..3], [1 << memory, 1, value], "memory {memory} of thread {i}");
        }
        // Global addresses are the same in both forms (PTX ISA, "Generic Addressing"); shared and local ones lie in windows.
        assert_eq!([rows[0][3], rows[1][3], rows[3][3]], [0, 1, 1], "thread {i}");
    }
}

#[test]
fn shared_addresses_count_bytes() {
    let mut device = Device::checked();
    let out = device.upload(&[[7_u32; 2]]);
    device.run("shared_distance", line(1, 1), &Params::default().value(out));
    assert_eq!(device.download::<[u32; 2]>(out, 1), [[4; 2]]);
}
