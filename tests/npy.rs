//! Reading and writing `.npy` files: what NumPy wrote (`tests/data`), and what no one should have written.

use std::path::{Path, PathBuf};

use ferrowarp::error::{Error, ExitStatus};
use ferrowarp::matrix::Matrix;
use ferrowarp::npy::{read_matrix, read_points, write_values};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Writes `bytes` to a file of its own and reads it as a matrix.
fn read_bytes(bytes: &[u8]) -> Result<Matrix, Error> {
    let file = tempfile::NamedTempFile::with_suffix(".npy").unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    read_matrix(file.path())
}

#[track_caller]
fn refused(result: Result<Matrix, Error>, message: &str) {
    let error = result.unwrap_err();
    assert!(error.to_string().contains(message), "`{error}` does not say `{message}`");
    assert_eq!(error.exit_status(), ExitStatus::Usage);
}

/// A version 1.0 file with this header text and data.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn every_order_and_byte_order_gives_the_same_matrix() {
    let a = read_matrix(&fixture("a_5x4.npy")).unwrap();
    assert_eq!((a.rows(), a.columns()), (5, 4));
    // numpy.random.default_rng(7).random((5, 4), dtype=float32)[0, :2] and [4, 3]
    assert_eq!(a.row(0)[..2], [0.9449049, 0.6250954]);
    assert_eq!(a.row(4)[3], 0.4679349);
    assert_eq!(read_matrix(&fixture("a_5x4_fortran.npy")).unwrap(), a);
    assert_eq!(read_matrix(&fixture("a_5x4_big_endian.npy")).unwrap(), a);
    let b = read_matrix(&fixture("b_4x3.npy")).unwrap();
    assert_eq!(read_matrix(&fixture("b_4x3_fortran_big_endian.npy")).unwrap(), b);
}

#[test]
fn empty_arrays_keep_their_shape() {
    let empty = read_matrix(&fixture("empty_5x0.npy")).unwrap();
    assert_eq!((empty.rows(), empty.columns()), (5, 0));
    let empty = read_matrix(&fixture("empty_0x4.npy")).unwrap();
    assert_eq!((empty.rows(), empty.columns()), (0, 4));
    assert_eq!(read_points(&fixture("empty_0x3.npy")).unwrap(), Vec::<[f32; 4]>::new());
}

#[test]
fn points_with_three_coordinates_get_a_one() {
    let points = read_points(&fixture("points_6x3.npy")).unwrap();
    assert_eq!(points.len(), 6);
    assert!(points.iter().all(|p| p[3] == 1.0));
    assert_eq!(read_points(&fixture("points_6x4.npy")).unwrap().len(), 6);
    let error = read_points(&fixture("empty_5x0.npy")).unwrap_err();
    assert!(
        error.to_string().ends_with("its shape is (5, 0), but points need shape (n, 3) or (n, 4)"),
        "{error}"
    );
}

#[test]
fn other_dtypes_are_named_with_the_way_to_convert_them() {
    refused(
        read_matrix(&fixture("c_5x3_float64.npy")),
        "its dtype is '<f8' (float64), but float32",
    );
    refused(
        read_matrix(&fixture("c_5x3_float64.npy")),
        r#"np.save("c_5x3_float64.npy", np.load("c_5x3_float64.npy").astype(np.float32))"#,
    );
    refused(read_matrix(&fixture("int32_5x4.npy")), "'<i4' (int32)");
    refused(read_matrix(&fixture("objects.npy")), "(Python objects)");
    refused(
        read_matrix(&fixture("records.npy")),
        "the record type [('x', '<f4'), ('y', '<f4', (2,)), ]",
    );
}

#[test]
fn other_dimensions_are_named() {
    refused(
        read_matrix(&fixture("float32_3d.npy")),
        "a 3-dimensional array of shape (2, 3, 4), but a 2-D array",
    );
    refused(read_matrix(&fixture("float32_1d.npy")), "a 1-dimensional array of shape (4,)");
    refused(read_matrix(&fixture("float32_0d.npy")), "a 0-dimensional array of shape ()");
}

#[test]
fn every_truncation_is_an_error() {
    let whole = std::fs::read(fixture("a_5x4.npy")).unwrap();
    assert!(read_bytes(&whole).is_ok());
    for length in 0..whole.len() {
        refused(read_bytes(&whole[..length]), "it is truncated");
    }
    refused(
        read_bytes(&whole[..whole.len() - 1]),
        "its header says 20 float32 values of shape (5, 4), which take 80 bytes, but only 79 bytes follow",
    );
}

#[test]
fn bytes_after_the_array_are_left_alone_as_numpy_does() {
    let mut two = std::fs::read(fixture("a_5x4.npy")).unwrap();
    two.extend(std::fs::read(fixture("b_4x3.npy")).unwrap());
    assert_eq!(read_bytes(&two).unwrap(), read_matrix(&fixture("a_5x4.npy")).unwrap());
}

#[test]
fn other_files_are_recognised() {
    refused(read_bytes(b"PK\x03\x04 an npz archive"), "does not start with NumPy's magic bytes");
    refused(read_bytes(b"1.0,2.0\n"), "does not start with NumPy's magic bytes");
    refused(read_bytes(b"\x93NUMPY\x09\x00\x10\x00"), "format version 9.0 is not known");
    refused(read_bytes(b""), "it is truncated");
    refused(read_matrix(Path::new("no/such/file.npy")), "cannot read no/such/file.npy: ");
    refused(read_matrix(&fixture("")), "it is a directory");
}

#[test]
fn a_header_that_lies_about_the_size_costs_no_memory() {
    let lie = |shape: &str| {
        npy(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n"), &[0; 16])
    };
    refused(read_bytes(&lie("(1000000, 1000000)")), "which take 3.6 TiB, but only 16 bytes follow");
    refused(read_bytes(&lie("(4294967296, 4294967296)")), "more than this machine can address");
    refused(
        read_bytes(&lie("(99999999999999999999, 1)")),
        "(99999999999999999999, 1), which is more",
    );
    refused(read_bytes(&lie("(-1, 4)")), "its header is damaged");
    refused(read_bytes(&lie("(2.5, 4)")), "its header is damaged");
    assert!(read_bytes(&lie("(2, 2)")).is_ok());
}

#[test]
fn damaged_headers_are_errors() {
    refused(
        read_bytes(&npy("{'descr': '<f4'}", b"")),
        "its header is damaged: dict is missing key",
    );
    refused(read_bytes(&npy("not a dictionary", b"")), "its header is damaged");
    refused(read_bytes(&npy(&"(".repeat(9_000), b"")), "its brackets nest more than 16 deep");
    refused(read_bytes(&npy(&" ".repeat(20_000), b"")), "more than NumPy's limit of 10000 bytes");
    let mut version_2 = b"\x93NUMPY\x02\x00".to_vec();
    version_2.extend(u32::MAX.to_le_bytes());
    refused(read_bytes(&version_2), "it is 4294967295 bytes long");
}

#[test]
fn what_is_written_is_what_numpy_would_write() {
    let a = read_matrix(&fixture("a_5x4.npy")).unwrap();
    let mut written = Vec::new();
    write_values(a.rows(), a.columns(), a.as_slice(), &mut written).unwrap();
    assert_eq!(read_bytes(&written).unwrap(), a);
    // The data are the last 80 bytes in both, and start at a multiple of 64 bytes as NumPy aligns them.
    let numpy = std::fs::read(fixture("a_5x4.npy")).unwrap();
    assert_eq!(written[written.len() - 80..], numpy[numpy.len() - 80..]);
    assert!((written.len() - 80).is_multiple_of(16));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_matrix_survives_a_round_trip(rows in 0_usize..9, columns in 0_usize..9, seed: u64) {
        let matrix = Matrix::random(rows, columns, seed).unwrap();
        let mut bytes = Vec::new();
        write_values(rows, columns, matrix.as_slice(), &mut bytes).unwrap();
        prop_assert_eq!(read_bytes(&bytes).unwrap(), matrix);
    }

    #[test]
    fn damaged_files_never_panic(changes in prop::collection::vec((0_usize..208, any::<u8>()), 1..6)) {
        let mut bytes = std::fs::read(fixture("a_5x4.npy")).unwrap();
        for (position, byte) in changes {
            bytes[position] = byte;
        }
        if let Ok(matrix) = read_bytes(&bytes) {
            prop_assert!(matrix.as_slice().len() * 4 <= bytes.len());
        }
    }

    #[test]
    fn any_header_never_panics(header in "[{}()\\[\\]',:0-9a-zA-Z_<>|. -]{0,120}") {
        let _ = read_bytes(&npy(&header, &[0; 64]));
    }
}
