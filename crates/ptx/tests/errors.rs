//! Error messages as text: tables of bad snippets and exactly what is said of each.
//!
//! A table is a file under `tests/errors`: a line `place: …`, then for each case a line `======`, the
//! snippet, a line `------` and the rendered error.

use std::path::Path;

/// The module that a snippet is put into.
fn source(place: &str, snippet: &str) -> String {
    let header = ".version 8.8\n.target sm_90\n.address_size 64\n";
    match place {
        // The snippet is the whole module.
        "module" => snippet.to_owned(),
        // It begins on line 4.
        "after header" => format!("{header}{snippet}"),
        // It begins on line 7.
        "body" => format!(
            "{header}.func (.param .b32 r) two(.param .b32 a, .param .b32 b);\n\
             .entry k() {{\n.reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{snippet}\n}}\n"
        ),
        other => panic!("unknown place {other:?}"),
    }
}

fn check(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors").join(table);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut cases = text.split("======\n");
    let place = cases.next().and_then(|head| head.strip_prefix("place: ")).expect("a place").trim();
    let mut count = 0;
    for case in cases {
        let (snippet, expected) = case.split_once("------\n").expect("a snippet and its error");
        let source = source(place, snippet.trim_end());
        let error = match ptx::parse(&source).and_then(|module| ptx::validate(&module, &source)) {
            Ok(()) => panic!("{table}: accepted: {snippet}"),
            Err(error) => error,
        };
        assert_eq!(error.to_string(), expected.trim_end(), "{table}: {snippet}");
        assert!(expected.starts_with(&format!("{}:{}: ", error.line(), error.column())));
        assert!(expected.trim_end().ends_with(error.excerpt()));
        count += 1;
    }
    assert!(count > 5, "{table}: only {count} cases");
}

#[test]
fn lexical() {
    check("lexical.txt");
}

#[test]
fn header() {
    check("header.txt");
}

#[test]
fn module_scope() {
    check("module_scope.txt");
}

#[test]
fn functions() {
    check("functions.txt");
}

#[test]
fn bodies() {
    check("bodies.txt");
}

#[test]
fn calls() {
    check("calls.txt");
}

#[test]
fn every_table_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let known = [
        "bodies.txt",
        "calls.txt",
        "functions.txt",
        "header.txt",
        "lexical.txt",
        "module_scope.txt",
    ];
    assert_eq!(found, known);
}
