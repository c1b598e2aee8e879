//! What the crate `ptx` promises of any text, as one function. The fuzz target and the tests that replay its
//! corpus share it.

use ptx::ast::Item;
use ptx::cfg::{Cfg, noreturn_functions};

/// Does everything that the crate does with a text: no panic, printable errors, `parse(print(m)) == m`.
pub fn body(source: &str) {
    let module = match ptx::parse(source) {
        Ok(module) => module,
        Err(error) => return check(&error, source),
    };
    // Also what the validator refuses is printed so that it parses again.
    let printed = ptx::print(&module);
    let again = ptx::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert!(again == module, "{printed}");
    if let Err(error) = ptx::validate(&module, source) {
        return check(&error, source);
    }
    let noreturn = noreturn_functions(&module);
    for item in &module.items {
        if let Item::Function(function) = item {
            let body = function.body.as_deref().unwrap_or_default();
            // Only an absurd number of branches has no graph.
            if let Err(error) = Cfg::build_with(body, |name| noreturn.contains(name)) {
                check(&error.locate(source), source);
            }
        }
    }
}

fn check(error: &ptx::Error, source: &str) {
    let text = error.to_string();
    assert!(text.len() < 4000, "a message of {} bytes", text.len());
    assert!(error.line() as usize <= source.split('\n').count());
}
