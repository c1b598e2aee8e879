//! Functions of `cuda_std`'s in the places of others.

use super::{is_called, names};

/// `cuda_std`'s function for index errors, for index, length and place. Most kernels can panic with them and with nothing else;
/// core's function would write a message with values, which has to be read again.
pub(super) const INDEX_ERROR: &str = "@__cuda_std_index_error";

/// A function, by a part of its name, what is called instead, and the types of both ones' parameters.
struct StandIn {
    original: &'static str,
    replacement: &'static str,
    parameters: [&'static str; 3],
}

const STAND_INS: [StandIn; 1] = [StandIn {
    original: "4core9panicking18panic_bounds_check",
    replacement: INDEX_ERROR,
    parameters: ["i64", "i64", "ptr"],
}];

impl StandIn {
    fn is_original(&self, name: &str) -> bool {
        name.contains(self.original)
    }

    /// Whether the line defines the replacement.
    fn is_defined_in(&self, line: &str) -> bool {
        line.starts_with("define ")
            && names(line).next().is_some_and(|(_, name)| name == self.replacement)
    }
}

/// Calls `cuda_std`'s functions. They were kept by their linkage so far, and become the module's own.
pub(super) fn rewrite(module: &str) -> String {
    let there: Vec<&StandIn> = STAND_INS
        .iter()
        .filter(|stand_in| module.lines().any(|line| stand_in.is_defined_in(line)))
        .collect();
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        write(line, &there, &mut out);
        out.push('\n');
    }
    out
}

fn write(line: &str, stand_ins: &[&StandIn], out: &mut String) {
    if stand_ins.iter().any(|stand_in| stand_in.is_defined_in(line)) {
        let rest = line["define ".len()..].replacen("dso_local ", "", 1);
        out.push_str("define internal ");
        out.push_str(&rest);
        return;
    }
    let calls = names(line).filter(|(at, name)| is_called(line, at + name.len()));
    for (at, name) in calls.take(if line.starts_with(' ') { 1 } else { 0 }) {
        let arguments = &line[at + name.len()..];
        let stand_in = stand_ins
            .iter()
            .find(|stand_in| stand_in.is_original(name) && types(arguments) == stand_in.parameters);
        if let Some(stand_in) = stand_in {
            out.push_str(&line[..at]);
            out.push_str(stand_in.replacement);
            out.push_str(arguments);
            return;
        }
    }
    out.push_str(line);
}

/// The types of the arguments in parentheses.
fn types(arguments: &str) -> Vec<&str> {
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
    types
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
            call(INDEX_ERROR, ARGUMENTS)
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
