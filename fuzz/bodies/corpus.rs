//! Inputs that fuzzing found, as `cargo xtask corpus` packs them. The tests that replay them share it.

use std::io::Read as _;

/// The inputs in a packed file: gzip of each input's length, four bytes with the lowest first, and its bytes.
pub fn unpack(packed: &[u8]) -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("a whole gzip file");
    let mut inputs = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some((length, more)) = rest.split_first_chunk() {
        let (input, more) = more.split_at(u32::from_le_bytes(*length) as usize);
        inputs.push(input.to_vec());
        rest = more;
    }
    inputs
}
