//! Every recorded instruction form through the whole pipeline: PTX text, parser, decoder, machine, memory. The results must be
//! those of the hardware, bit for bit; the approximate functions must lie inside their documented bounds.

mod golden_support;

use std::collections::BTreeSet;

use golden_support::bounds;
use golden_support::kernel::{Failure, module, run};
use golden_support::{Form, forms};

/// Forms the emulator does not have, one `family mnemonic` a line.
const UNSUPPORTED: &str = include_str!("data/unsupported_forms.txt");

/// Lines of the list that belong to a family.
fn listed(family: &str) -> BTreeSet<String> {
    UNSUPPORTED
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            line.split_once(' ').unwrap_or_else(|| panic!("`{line}` should read `family mnemonic`"))
        })
        .filter(|(of, _)| *of == family)
        .map(|(_, mnemonic)| mnemonic.to_owned())
        .collect()
}

/// Differences between a form's results and its record, at most a few of them in words.
fn differences(form: &Form, results: &[Vec<u128>]) -> Option<String> {
    let bound = bounds::of(form);
    let mut count = 0;
    let mut examples = String::new();
    for ((output, results), recorded) in form.outs.iter().zip(results).zip(form.outputs.iter()) {
        assert_eq!(results.len(), recorded.len());
        for (index, (&result, &recorded)) in results.iter().zip(recorded).enumerate() {
            let inputs: Vec<u128> =
                form.inputs.iter().take(form.ins.len()).map(|column| column[index]).collect();
            let right = match bound {
                Some(bound) => bound.accepts(output, &inputs, result, recorded),
                None => result == recorded,
            };
            if right {
                continue;
            }
            count += 1;
            if count <= 3 {
                examples += &format!(
                    "\n    element {index}, inputs {inputs:x?}: {} is {result:x}, recorded {recorded:x}",
                    output.name
                );
            }
        }
    }
    (count > 0).then(|| {
        format!("{} of {} results differ{examples}", count, form.count() * form.outs.len())
    })
}

/// Runs a family and fails with all that is wrong with it.
fn check(family: &str) {
    let mut passed = 0;
    let mut unsupported = BTreeSet::new();
    let mut wrong = Vec::new();
    for form in forms(family) {
        match run(&form) {
            Ok(results) => match differences(&form, &results) {
                None => passed += 1,
                Some(text) => wrong.push(format!("{} (set {}): {text}", form.ptx, form.set)),
            },
            Err(Failure::Unsupported(mnemonic)) => {
                unsupported.insert(mnemonic);
            }
            Err(Failure::Other(text)) => {
                wrong.push(format!("{} (set {}): {text}\n{}", form.ptx, form.set, module(&form)))
            }
        }
    }
    let listed = listed(family);
    for mnemonic in unsupported.difference(&listed) {
        wrong.push(format!(
            "{mnemonic} is not supported, and not in tests/data/unsupported_forms.txt"
        ));
    }
    for mnemonic in listed.difference(&unsupported) {
        wrong.push(format!("{mnemonic} works now: remove `{family} {mnemonic}` from tests/data/unsupported_forms.txt"));
    }
    println!(
        "{family}: {passed} forms as recorded, {} mnemonics unsupported, {} complaints",
        unsupported.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{family}: {} complaints\n{}", wrong.len(), wrong.join("\n"));
}

macro_rules! families {
    ($($family:ident),*) => {
        $(#[test]
        fn $family() {
            check(stringify!($family));
        })*
    };
}

families!(int, bits, cmp, f32, f64, half, approx, cvt, warp, atom);

#[test]
fn an_instruction_that_is_missing_is_told_apart_from_a_wrong_one() {
    let mut form = forms("int").swap_remove(0);
    form.ptx = "frobnicate.s16 d, a, b;".to_owned();
    assert!(
        matches!(run(&form), Err(Failure::Unsupported(mnemonic)) if mnemonic.contains("frobnicate"))
    );
    form.ptx = "sub.s16 d, a, b;".to_owned();
    let results = run(&form).expect("sub.s16 works");
    assert!(
        differences(&form, &results).is_some_and(|text| text.contains("differ")),
        "the record is one of add.s16"
    );
}
