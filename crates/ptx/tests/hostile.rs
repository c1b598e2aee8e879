//! No input makes the crate panic, overflow the stack, or take more than linear time.

#[path = "../../../fuzz/bodies/corpus.rs"]
mod corpus;

use std::time::{Duration, Instant};

use proptest::prelude::*;
use ptx::ast::{Item, Module};
use ptx::cfg::{Cfg, noreturn_functions};
use ptx::limits::{MAX_NESTING, MAX_SOURCE_BYTES};
use ptx::{Error, ErrorKind};

const HEADER: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";

/// Everything that the crate does with a text. An error must be printable, and its place exist.
fn exercise(source: &str) -> Result<Module, Error> {
    let result =
        ptx::parse(source).and_then(|module| ptx::validate(&module, source).map(|()| module));
    match &result {
        Err(error) => {
            let text = error.to_string();
            assert!(text.len() < 4000, "a message of {} bytes", text.len());
            assert!(error.line() as usize <= source.split('\n').count());
        }
        Ok(module) => {
            let noreturn = noreturn_functions(module);
            for item in &module.items {
                if let Item::Function(function) = item {
                    let body = function.body.as_deref().unwrap_or_default();
                    let graph = Cfg::build_with(body, |name| noreturn.contains(name));
                    graph
                        .map_err(|error| error.locate(source))
                        .expect("a validated function has a graph");
                }
            }
            let printed = ptx::print(module);
            let again = ptx::parse(&printed).expect("what was printed parses");
            assert!(again == *module, "{printed}");
        }
    }
    result
}

fn fixture() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        include_str!("fixtures/kernels.ptx"),
        include_str!("fixtures/lines.ptx"),
        include_str!("fixtures/isa.ptx"),
        include_str!("fixtures/nvcc.ptx"),
    ])
}

/// A piece of PTX syntax.
fn token() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        "<<",
        ">>",
        ",",
        ";",
        ":",
        "::",
        "@",
        "!",
        "|",
        "+",
        "-",
        "*",
        "/",
        "=",
        "~",
        "\"",
        "//",
        "/*",
        "*/",
        "\n",
        " ",
        ".",
        "..",
        "%",
        "_",
        "0x",
        "0f",
        "0f3F800000",
        "0d",
        "9999999999999999999999",
        "1e400",
        "1.5",
        "WARP_SZ",
        "generic",
        "x",
        "%r1",
        "%r<5>",
        "call",
        "bra",
        "brx.idx",
        "ret",
        ".reg",
        ".b32",
        ".pred",
        ".param",
        ".func",
        ".entry",
        ".global",
        ".extern",
        ".align",
        ".section",
        ".loc 1 2 3",
        ".file",
        ".pragma",
        ".noreturn",
        ".branchtargets",
        ".callprototype",
        ".alias",
        ".version 8.8",
        ".attribute",
        ".v4",
        "é",
        "\u{0}",
        "\u{feff}",
        "$",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400), with_header: bool) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = exercise(&if with_header { format!("{HEADER}{text}") } else { text.into_owned() });
    }

    #[test]
    fn any_tokens(tokens in proptest::collection::vec(token(), 0..60), in_body: bool) {
        let text = tokens.join(" ");
        let _ = exercise(&if in_body {
            format!("{HEADER}.entry k() {{ .reg .b32 %r<9>; {text}\n}}")
        } else {
            format!("{HEADER}{text}")
        });
    }

    #[test]
    fn mutated_modules(
        fixture in fixture(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..12, token()), 1..6),
    ) {
        let mut text = fixture.to_owned();
        for (place, remove, insert) in edits {
            let start = text.floor_char_boundary(place.index(text.len() + 1));
            let end = text.floor_char_boundary((start + remove).min(text.len()));
            text.replace_range(start..end.max(start), insert);
        }
        let _ = exercise(&text);
    }

    #[test]
    fn truncated_modules(fixture in fixture(), end: prop::sample::Index) {
        let end = fixture.floor_char_boundary(end.index(fixture.len()));
        let _ = exercise(&fixture[..end]);
    }
}

fn kind(source: &str) -> ErrorKind {
    exercise(source).expect_err("refused").kind().clone()
}

#[test]
fn nesting_is_bounded_wherever_something_nests() {
    let deep = 1_000_000;
    let too_deep = ErrorKind::NestingTooDeep { limit: MAX_NESTING };
    let scopes = format!("{HEADER}.entry k() {}", "{".repeat(deep));
    let lists = format!("{HEADER}.global .b32 x[1] = {}", "{".repeat(deep));
    let parentheses = format!("{HEADER}.global .b32 x = {}", "(".repeat(deep));
    for source in [scopes, lists, parentheses] {
        assert_eq!(kind(&source), too_deep);
    }
    // What does not nest in the tree does not nest in the parser.
    for piece in
        ["-", "[", "|", "::", "@", "!", "0xFF(", "generic(", "/*", "\"", ".ptr", "<", "(", "{", "~"]
    {
        let _ = exercise(&format!("{HEADER}.global .b64 x = {}", piece.repeat(10_000)));
        let _ = exercise(&format!("{HEADER}.entry k() {{ add {}", piece.repeat(10_000)));
        let _ = exercise(&format!("{HEADER}.attribute({}", piece.repeat(10_000)));
    }
}

#[test]
fn the_deepest_nesting_that_is_allowed_works() {
    // The body itself is one level.
    let (open, close) = ("{".repeat(MAX_NESTING), "}".repeat(MAX_NESTING));
    let source = format!("{HEADER}.entry k() {open} ret; {close}");
    assert!(exercise(&source).is_ok());
    assert!(exercise(&format!("{HEADER}.entry k() {{{open} ret; {close}}}")).is_err());
}

#[test]
fn texts_beyond_the_limit_are_refused_unread() {
    let source = format!("{HEADER}{}", " ".repeat(MAX_SOURCE_BYTES));
    let error = ptx::parse(&source).expect_err("too long");
    let bytes = source.len();
    assert_eq!(*error.kind(), ErrorKind::SourceTooLong { bytes, limit: MAX_SOURCE_BYTES });
    assert_eq!(
        error.to_string().lines().next(),
        Some(
            format!("1:1: the module is {bytes} bytes long, the limit is 67108864 bytes").as_str()
        )
    );
}

#[test]
fn more_tokens_than_the_limit_are_refused() {
    let source = format!("{HEADER}{}", ";".repeat((1 << 24) + 1));
    assert_eq!(kind(&source), ErrorKind::TooManyTokens { limit: 1 << 24 });
}

/// How long this thread has run, where the system says so: other programs do not count.
fn time_on_cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// How long the whole way takes, at best of three.
fn time(source: &str) -> Duration {
    let one = || {
        let (start, ran) = (Instant::now(), time_on_cpu());
        let _ = exercise(source);
        match (ran, time_on_cpu()) {
            (Some(from), Some(to)) => to - from,
            _ => start.elapsed(),
        }
    };
    one().min(one()).min(one())
}

/// Inputs of which a careless algorithm makes quadratic work. Eight times the input may cost at most
/// some thirty times the time, where quadratic would be sixty-four; the rest is for a noisy machine.
#[test]
fn time_grows_with_the_size_of_the_input() {
    let body = |text: String| {
        format!("{HEADER}.entry k() {{ .reg .pred %p; .reg .b32 %r<9>;\n{text}\nret; }}")
    };
    let chain = |count: usize| (0..count).map(|i| format!("@%p bra L{};\n", i)).collect::<String>();
    let labels =
        |count: usize| (0..count).map(|i| format!("L{i}: mov.b32 %r1, {i};\n")).collect::<String>();
    type Make<'a> = (&'a str, Box<dyn Fn(usize) -> String + 'a>);
    let makers: Vec<Make<'_>> = vec![
        ("one long line", Box::new(|n| body("mov.b32 %r1, %r2; ".repeat(n)))),
        (
            "an error at the end",
            Box::new(|n| body(format!("{}bra GONE;", "mov.b32 %r1, %r2;\n".repeat(n)))),
        ),
        ("many scopes", Box::new(|n| body("{ .reg .b32 %r<9>; mov.b32 %r1, %r2; }\n".repeat(n)))),
        ("many labels", Box::new(|n| body(format!("{}{}", labels(n), chain(n))))),
        (
            "one long vector",
            Box::new(|n| body(format!("mov.b32 {{{}_}}, %r1;", "%r1, ".repeat(n)))),
        ),
        ("one long name", Box::new(|n| body(format!("bra {}1;", "L0".repeat(n))))),
        ("one long number", Box::new(|n| body(format!("mov.b32 %r1, {};", "1".repeat(n))))),
        ("one long comment", Box::new(|n| body(format!("/*{}*/", "* /".repeat(n))))),
        (
            "one long section",
            Box::new(|n| format!("{HEADER}.section .x {{ {} }}", ".b8 1 // }\n".repeat(n))),
        ),
        (
            "one long initialiser",
            Box::new(|n| format!("{HEADER}.global .b8 x[] = {{{}1}};", "1,".repeat(n))),
        ),
        (
            "many register families",
            Box::new(|n| {
                let families = |i: usize| format!(".reg .b32 %a{i}b<5>;\n");
                body((0..n).map(families).collect())
            }),
        ),
        (
            "many functions",
            Box::new(|n| {
                let function =
                    |i: usize| format!(".func f{i}();\n.func f{i}() {{ call f{i}; ret; }}\n");
                format!("{HEADER}{}", (0..n).map(function).collect::<String>())
            }),
        ),
    ];
    for (what, make) in makers {
        let (small, large) = (make(4_000), make(32_000));
        let (short, long) = (time(&small), time(&large));
        assert!(
            long < short.max(Duration::from_millis(2)) * 30,
            "{what}: {short:?} for {} bytes, {long:?} for {}",
            small.len(),
            large.len()
        );
    }
}

/// What fuzzing reached, made small.
#[test]
fn the_packed_corpus_survives() {
    let inputs = corpus::unpack(include_bytes!("data/parse.corpus.gz"));
    assert!(inputs.len() > 200, "{} inputs", inputs.len());
    for input in inputs {
        let text = String::from_utf8_lossy(&input);
        if std::panic::catch_unwind(|| exercise(&text)).is_err() {
            panic!("this input did not survive:\n{text}");
        }
    }
}
