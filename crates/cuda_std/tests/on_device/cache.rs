//! Loads and stores with a word about the caches: the values are those of ordinary ones.

use crate::device::{Device, Params, line, numbers, ptx_of};

#[test]
fn every_way_moves_values_of_every_size() {
    for (bytes, ty) in [(1, "b8"), (2, "b16"), (4, "b32"), (8, "b64"), (16, "v4.b32")] {
        let mut device = Device::checked();
        let len = 8 * 48 * bytes;
        let values: Vec<u8> = numbers(bytes as u64).take(len).map(|n| n as u8).collect();
        let x = device.upload(&values);
        let y = device.upload(&vec![0x5A_u8; len + 16]);
        let kernel = format!("copies_{bytes}");
        device.run(&kernel, line(3, 16), &Params::default().value(x).value(y));
        let found = device.download::<u8>(y, len + 16);
        for (place, (found, expected)) in found.chunks(bytes).zip(values.chunks(bytes)).enumerate()
        {
            // The eighth of eight elements is a copy of the seventh.
            if place % 8 == 7 {
                assert_eq!(
                    found,
                    &values[(place - 1) * bytes..place * bytes],
                    "{place} of {kernel}"
                );
            } else {
                assert_eq!(found, expected, "{place} of {kernel}");
            }
        }
        assert_eq!(found[len..], [0x5A; 16], "{kernel}");
        let text = ptx_of(&kernel);
        for instruction in ["ld.global.nc", "ld.global.ca", "ld.global.cg", "ld.global.cs"]
            .into_iter()
            .chain(["ld.global.lu", "ld.global.cv", "st.global.wb", "st.global.cg"])
            .chain(["st.global.cs", "st.global.wt"])
        {
            assert!(text.contains(&format!("{instruction}.{ty} ")), "{instruction}.{ty}:\n{text}");
        }
        assert!(text.contains("prefetch.global.L1") && text.contains("prefetch.global.L2"));
    }
}

#[test]
fn aligned_vectors_are_moved_at_once() {
    let mut device = Device::checked();
    let values: Vec<[f64; 2]> =
        numbers(7).take(65).map(|n| [n as f64, (n % 1000) as f64 / 7.0]).collect();
    let x = device.upload(&values);
    let y = device.upload(&vec![[-1.0_f64; 2]; 65]);
    device.run("doubles_vectors", line(5, 13), &Params::default().value(x).value(y));
    let expected: Vec<[f64; 2]> = values.iter().map(|pair| pair.map(|x| 2.0 * x)).collect();
    assert_eq!(device.download::<[f64; 2]>(y, 65), expected);
    let text = ptx_of("doubles_vectors");
    assert!(
        text.contains(".v2.b64") || text.contains(".v2.f64") || text.contains(".v4."),
        "{text}"
    );
}

/// The bytes of elements of `width` bytes after `vectors_…`: one more each, and the last two swapped.
fn changed(vector: &[u8], width: usize) -> Vec<u8> {
    let mut elements: Vec<Vec<u8>> = vector
        .chunks(width)
        .map(|bytes| {
            let mut word = [0; 8];
            word[..width].copy_from_slice(bytes);
            u64::from_le_bytes(word).wrapping_add(1).to_le_bytes()[..width].to_vec()
        })
        .collect();
    let last = elements.len() - 1;
    elements.swap(last - 1, last);
    elements.concat()
}

#[test]
fn vectors_of_every_type_are_moved_at_once() {
    for (kernel, width, bytes) in [
        ("vectors_i32x2", 4, 8),
        ("vectors_i32x4", 4, 16),
        ("vectors_i64x2", 8, 16),
        ("vectors_u32x2", 4, 8),
        ("vectors_u32x4", 4, 16),
        ("vectors_u64x2", 8, 16),
        ("vectors_u16x4", 2, 8),
        ("vectors_u16x8", 2, 16),
        ("vectors_u8x8", 1, 8),
        ("vectors_u8x16", 1, 16),
    ] {
        let mut device = Device::checked();
        // Elements of all ones among the others, which become zero.
        let values: Vec<u8> = numbers(bytes as u64 + width as u64)
            .take(33 * bytes / width)
            .flat_map(|n| {
                if n % 5 == 0 { [0xFF; 8] } else { n.to_le_bytes() }.into_iter().take(width)
            })
            .collect();
        let x = device.upload(&values);
        let y = device.upload(&vec![0x5A_u8; values.len() + 16]);
        device.run(kernel, line(3, 11), &Params::default().value(x).value(y));
        let mut expected: Vec<u8> =
            values.chunks(bytes).flat_map(|vector| changed(vector, width)).collect();
        expected.extend([0x5A; 16]);
        assert_eq!(device.download::<u8>(y, values.len() + 16), expected, "{kernel}");
        let (text, ty) = (ptx_of(kernel), if bytes == 8 { "b64" } else { "v4.b32" });
        for instruction in ["ld.global.nc", "st.global.cs"] {
            assert!(text.contains(&format!("{instruction}.{ty} ")), "{instruction}.{ty}:\n{text}");
        }
    }
}
