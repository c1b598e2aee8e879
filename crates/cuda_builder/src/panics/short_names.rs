//! Short names for what reports panics, and for constants.
//!
//! PTX repeats a function's name in its declaration, its definition, each of its parameters and each call, and Rust's names are long: of a
//! small kernel that can panic they would be a quarter.

use std::collections::{BTreeMap, BTreeSet};

use super::{HANDLER, names, stand_ins};
use crate::error::readable;

/// Gives functions and variables of `cuda_std::panic`, and constants that have a hash for a name, short names.
pub(super) fn rewrite(module: &str) -> String {
    let defines =
        |line: &&str| ["define ", "declare ", "@"].iter().any(|start| line.starts_with(start));
    let defined: Vec<&str> = module
        .lines()
        .filter(defines)
        .filter_map(|line| names(line).next())
        .map(|(_, name)| name)
        .collect();
    let mut taken: BTreeSet<String> = defined.iter().map(|name| (*name).to_owned()).collect();
    let mut short = BTreeMap::new();
    let mut constants = 0;
    for name in defined {
        let wanted = if name == stand_ins::INDEX_ERROR {
            "@panic_index_error".to_owned()
        } else if name.contains(HANDLER) {
            format!("@panic_{}", last_name(&readable(name)))
        } else if is_hash(name) {
            constants += 1;
            format!("@const_{constants}")
        } else {
            continue;
        };
        let mut new = wanted.clone();
        let mut number = 2;
        while !taken.insert(new.clone()) {
            new = format!("{wanted}_{number}");
            number += 1;
        }
        short.insert(name, new);
    }
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let mut copied = 0;
        for (at, name) in names(line) {
            if let Some(new) = short.get(name) {
                out.push_str(&line[copied..at]);
                out.push_str(new);
                copied = at + name.len();
            }
        }
        out.push_str(&line[copied..]);
        out.push('\n');
    }
    out
}

/// Whether the compiler named a constant by a hash: `alloc_` or `anon.`, 32 hexadecimal digits, perhaps a number.
fn is_hash(name: &str) -> bool {
    let hash = name.strip_prefix("@alloc_").or_else(|| name.strip_prefix("@anon."));
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    hash.is_some_and(|hash| {
        hash.len() >= 32
            && hash.bytes().take(32).all(is_digit)
            && hash.bytes().skip(32).all(|byte| byte == b'.' || byte.is_ascii_digit())
    })
}

/// The last part of a path that is a name: `push` of `<text::Text>::push::<T>`.
fn last_name(path: &str) -> String {
    let path = match path.strip_suffix('>').and_then(|_| path.rfind("::<")) {
        Some(arguments) => &path[..arguments],
        None => path,
    };
    let last = path.rsplit("::").next().unwrap_or(path);
    last.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_handler_get_short() {
        let push = "@_RNvMNtNtCskHApeYnczOW_8cuda_std5panic4textNtB2_4Text4push";
        let other = "@_RNvNtNtCskHApeYnczOW_8cuda_std5panic5value4push";
        let module = format!(
            "define internal void {push}(ptr %0) {{\n  call void {other}(ptr {push})\n  call void @kernel()\n}}\n\
             define internal void {other}() {{\n"
        );
        let expected = "define internal void @panic_push(ptr %0) {\n  \
                        call void @panic_push_2(ptr @panic_push)\n  call void @kernel()\n}\n\
                        define internal void @panic_push_2() {\n";
        assert_eq!(rewrite(&module), expected);
    }

    #[test]
    fn constants_with_hashes_get_short_names_that_nobody_has() {
        let (hash, other) =
            ("466e6e10d4d5a95679ab35d1156aa54e", "f79ba29fe134deac4fdbb1130fd62c99");
        let module = format!(
            "@alloc_{hash} = private constant i8 0\n@anon.{other}.74 = private constant i8 1\n@const_2 = global ptr @anon.{other}.74\n\
             @alloc_table = constant i8 0\n"
        );
        let expected = "@const_1 = private constant i8 0\n@const_2_2 = private constant i8 1\n@const_2 = global ptr @const_2_2\n\
                        @alloc_table = constant i8 0\n";
        assert_eq!(rewrite(&module), expected);
    }

    #[test]
    fn paths_have_a_last_name() {
        for (path, name) in [
            ("cuda_std::panic::value::decimal", "decimal"),
            ("<cuda_std::panic::text::Text>::push", "push"),
            (
                "<cuda_std::panic::message::Reader>::step::<cuda_std::panic::handler::ThisModule>",
                "step",
            ),
            ("cuda_std::panic::f::{closure#0}", "_closure_0_"),
            ("push", "push"),
        ] {
            assert_eq!(last_name(path), name);
        }
    }
}
