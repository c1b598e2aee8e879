//! Any sequence of calls with any handles, sizes and addresses of the device: no crash, and every failure
//! explained.

#[path = "../../../fuzz/bodies/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/bodies/driver.rs"]
mod driver;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_calls_crashes(calls in prop::collection::vec(any::<u8>(), 1..800)) {
        driver::body(&calls);
    }
}

/// What fuzzing reached, made small.
#[test]
fn the_packed_corpus_survives() {
    let inputs = corpus::unpack(include_bytes!("data/driver.corpus.gz"));
    assert!(inputs.len() > 100, "{} inputs", inputs.len());
    for input in inputs {
        if std::panic::catch_unwind(|| driver::body(&input)).is_err() {
            panic!("these calls did not survive: {input:?}");
        }
    }
}
