//! Index errors, which most kernels can panic with and with nothing else.

use super::{is_called, names};

/// Part of the mangled name of `core::panicking::panic_bounds_check`.
const BOUNDS_CHECK: &str = "4core9panicking18panic_bounds_check";

/// What `cuda_std` has instead, for index, length and place.
pub(super) const REPORT: &str = "@__cuda_std_index_error";

/// Calls `cuda_std`'s function instead of core's. It was kept by its linkage so far, and becomes the module's own.
pub(super) fn rewrite(module: &str) -> String {
    let is_report = |line: &str| line.starts_with("define ") && line.contains(REPORT);
    let is_there = module.lines().any(is_report);
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let call = names(line)
            .find(|(at, name)| name.contains(BOUNDS_CHECK) && is_called(line, at + name.len()));
        match call {
            _ if is_report(line) => {
                let rest = line["define ".len()..].replacen("dso_local ", "", 1);
                out.push_str("define internal ");
                out.push_str(&rest);
            }
            Some((at, name))
                if is_there
                    && line.starts_with(' ')
                    && takes_index_len_place(&line[at + name.len()..]) =>
            {
                out.push_str(&line[..at]);
                out.push_str(REPORT);
                out.push_str(&line[at + name.len()..]);
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// Whether these are such arguments.
fn takes_index_len_place(arguments: &str) -> bool {
    let mut depth = 0;
    let mut types = Vec::new();
    let mut begins = true;
    let words = crate::ir::token::tokens(arguments).map(|token| token.text.trim());
    for word in words.filter(|word| !word.is_empty()) {
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," => begins |= depth == 1,
            _ if begins => {
                types.push(word);
                begins = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    types == ["i64", "i64", "ptr"]
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORTS: &str =
        "define dso_local void @__cuda_std_index_error(i64 %0, i64 %1, ptr %2) #3 {\n}\n";

    fn call(name: &str, arguments: &str) -> String {
        format!("  call void {name}({arguments}) #3, !dbg !4\n")
    }

    const NAME: &str = "@_RNvNtCs5_4core9panicking18panic_bounds_check";
    const ARGUMENTS: &str = "i64 noundef %3, i64 noundef 5, ptr noalias captures(address, read_provenance) align 8 dereferenceable(24) @place";

    #[test]
    fn calls_go_to_the_report() {
        let module = format!("{REPORTS}{}", call(NAME, ARGUMENTS));
        let expected = format!(
            "define internal void @__cuda_std_index_error(i64 %0, i64 %1, ptr %2) #3 {{\n}}\n{}",
            call(REPORT, ARGUMENTS)
        );
        assert_eq!(rewrite(&module), expected);
    }

    #[test]
    fn functions_of_another_form_and_other_functions_stay() {
        let definition = format!("define internal void {NAME}(i64 %0, i64 %1, ptr %2) {{\n}}\n");
        for line in [
            call(NAME, "i64 %0, ptr %1"),
            call(NAME, "i64 %0, i64 %1, i64 %2, ptr %3"),
            call("@_RNvNtCs5_4core9panicking18panic_nounwind_fmt", ARGUMENTS),
            definition,
        ] {
            assert!(rewrite(&format!("{REPORTS}{line}")).ends_with(&line), "{line}");
        }
        // Without `cuda_std`.
        assert_eq!(rewrite(&call(NAME, ARGUMENTS)), call(NAME, ARGUMENTS));
    }
}
