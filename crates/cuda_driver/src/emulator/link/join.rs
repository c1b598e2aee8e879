//! Joining PTX texts into one.
//!
//! The rules are a linker's: what is `.visible` in one text defines what is `.extern` in another; of
//! `.weak` and `.common` definitions one is kept; names private to a text are renamed where two texts
//! have them. Debug sections are dropped, source lines (`.loc`) are kept.

use std::collections::{BTreeMap, BTreeSet};

use ptx::ast::{Function, FunctionDirective, Item, Linkage, Loc, Module, Operand, Statement};

use crate::emulator::image::sm_number;
use crate::error::ApiError;

/// Joins texts; one alone stays as it is unless the kernels get a limit of registers.
pub(super) fn join(
    inputs: &[(String, String)],
    max_registers: Option<u32>,
) -> Result<String, ApiError> {
    let (first, others) =
        inputs.split_first().ok_or_else(|| ApiError::Link("no input was added".to_owned()))?;
    if others.is_empty() && max_registers.is_none() {
        return Ok(first.1.clone());
    }
    let modules = private_names_apart(inputs)?;
    let definitions = Definitions::of(&modules, inputs)?;
    let mut joined = Module {
        version: modules.iter().map(|module| module.version).max().unwrap_or_default(),
        target: modules
            .iter()
            .max_by_key(|module| module.target.first().and_then(|target| sm_number(target)))
            .map(|module| module.target.clone())
            .unwrap_or_default(),
        address_size: 64,
        items: Vec::new(),
    };
    let (mut files, mut prototypes, mut variables, mut bodies) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut first_file = 0;
    let void = functions_without_result(&modules);
    let mut declared: BTreeSet<String> = BTreeSet::new();
    for (index, module) in modules.into_iter().enumerate() {
        let mut last_file = 0;
        let mistaken = declared_with_result(&module, &void);
        for item in module.items {
            match item {
                Item::File(mut file) => {
                    last_file = last_file.max(file.index);
                    file.index = file.index.saturating_add(first_file);
                    files.push(Item::File(file));
                }
                Item::Function(mut function) => {
                    let here = definitions.keeps(&function.name, index);
                    let defined = definitions.by_name.contains_key(&function.name);
                    if function.body.is_none() || !here {
                        // A declaration of what no text defines stays, once: the driver knows `vprintf`.
                        if !defined && declared.insert(function.name.clone()) {
                            prototypes.push(Item::Function(function));
                        }
                        continue;
                    }
                    if let Some(body) = &mut function.body {
                        renumber(body, first_file);
                        if !mistaken.is_empty() {
                            drop_results(body, &mistaken);
                        }
                    }
                    if function.is_entry
                        && let Some(limit) = max_registers
                    {
                        limit_registers(&mut function, limit);
                    }
                    if !function.is_entry {
                        // Calls may stand before the body.
                        prototypes
                            .push(Item::Function(Function { body: None, ..function.clone() }));
                    }
                    bodies.push(Item::Function(function));
                }
                Item::Variable(variable) => {
                    let defined = definitions.by_name.contains_key(&variable.name);
                    let keep = if defined {
                        variable.linkage != Linkage::Extern
                            && definitions.keeps(&variable.name, index)
                    } else {
                        declared.insert(variable.name.clone())
                    };
                    if keep {
                        variables.push(Item::Variable(variable));
                    }
                }
                alias @ Item::Alias { .. } => bodies.push(alias),
                pragma @ Item::Pragma { .. } => prototypes.push(pragma),
                Item::Section { .. } | Item::Loc(_) => {}
            }
        }
        first_file += last_file;
    }
    joined.items = [files, prototypes, variables, bodies].concat();
    Ok(ptx::print(&joined))
}

/// Where each name is defined.
struct Definitions {
    by_name: BTreeMap<String, usize>,
}

impl Definitions {
    fn of(modules: &[Module], inputs: &[(String, String)]) -> Result<Definitions, ApiError> {
        let mut found: BTreeMap<String, (usize, Linkage)> = BTreeMap::new();
        for (index, module) in modules.iter().enumerate() {
            for (name, linkage) in module.items.iter().filter_map(definition) {
                match found.get(name) {
                    None => {
                        found.insert(name.to_owned(), (index, linkage));
                    }
                    Some((first, _)) if *first == index => {}
                    Some((_, Linkage::Weak | Linkage::Common)) if linkage == Linkage::Visible => {
                        found.insert(name.to_owned(), (index, linkage));
                    }
                    Some(_) if matches!(linkage, Linkage::Weak | Linkage::Common) => {}
                    Some((first, _)) => {
                        return Err(ApiError::Link(format!(
                            "`{name}` is defined in both `{}` and `{}`",
                            inputs[*first].0, inputs[index].0
                        )));
                    }
                }
            }
        }
        Ok(Definitions {
            by_name: found.into_iter().map(|(name, (index, _))| (name, index)).collect(),
        })
    }

    fn keeps(&self, name: &str, module: usize) -> bool {
        self.by_name.get(name) == Some(&module)
    }
}

/// The name and linkage of what an item defines.
fn definition(item: &Item) -> Option<(&str, Linkage)> {
    match item {
        Item::Function(function) if function.body.is_some() => {
            Some((&function.name, function.linkage))
        }
        Item::Variable(variable) if variable.linkage != Linkage::Extern => {
            Some((&variable.name, variable.linkage))
        }
        _ => None,
    }
}

/// Parses the texts, after renaming what is private to one and exists in another.
fn private_names_apart(inputs: &[(String, String)]) -> Result<Vec<Module>, ApiError> {
    let parse = |name: &str, text: &str| {
        ptx::parse(text).map_err(|error| ApiError::Link(format!("input `{name}`: {error}")))
    };
    let mut modules = Vec::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (index, (name, text)) in inputs.iter().enumerate() {
        let module = parse(name, text)?;
        let clashing: BTreeSet<&str> = module
            .items
            .iter()
            .filter_map(definition)
            .filter(|(name, linkage)| *linkage == Linkage::Internal && taken.contains(*name))
            .map(|(name, _)| name)
            .collect();
        let module = if clashing.is_empty() {
            module
        } else {
            parse(name, &rename(text, &clashing, &format!("$link{index}")))?
        };
        taken.extend(module.items.iter().filter_map(definition).map(|(name, _)| name.to_owned()));
        modules.push(module);
    }
    Ok(modules)
}

/// Appends `suffix` to each of `names` in a PTX text, outside comments and strings.
fn rename(text: &str, names: &BTreeSet<&str>, suffix: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    let mut renamed = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (piece, tail) = rest.split_at(length);
        renamed.push_str(piece);
        if names.contains(piece) {
            renamed.push_str(suffix);
        }
        rest = tail;
    }
    renamed
}

/// The functions that are defined without a result.
fn functions_without_result(modules: &[Module]) -> BTreeSet<String> {
    let items = modules.iter().flat_map(|module| &module.items);
    items
        .filter_map(|item| match item {
            Item::Function(function) if function.body.is_some() && function.returns.is_empty() => {
                Some(function.name.clone())
            }
            _ => None,
        })
        .collect()
}

/// Those of them that a module takes for functions with a result.
///
/// In machine code a call and what it calls need not agree on a result: it is whatever the register holds. Numba
/// declares a C function without one this way.
fn declared_with_result(module: &Module, void: &BTreeSet<String>) -> BTreeSet<String> {
    module
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Function(function) if function.body.is_none() && !function.returns.is_empty() => {
                void.get(&function.name).cloned()
            }
            _ => None,
        })
        .collect()
}

/// Makes calls of `functions` calls without a result.
fn drop_results(body: &mut [Statement], functions: &BTreeSet<String>) {
    let mut open = vec![body];
    while let Some(statements) = open.pop() {
        for statement in statements {
            match statement {
                Statement::Instruction(call) if call.opcode == "call" => {
                    if let [Operand::List(_), Operand::Name(name), ..] = call.operands.as_slice()
                        && functions.contains(name)
                    {
                        call.operands.remove(0);
                    }
                }
                Statement::Block(inner) => open.push(inner),
                _ => {}
            }
        }
    }
}

/// Gives a kernel the linker's limit of registers, unless it has a lower one.
fn limit_registers(kernel: &mut Function, limit: u32) {
    const DIRECTIVE: &str = ".maxnreg";
    let own = kernel.directives.iter_mut().find(|directive| directive.name == DIRECTIVE);
    match own.map(|directive| directive.values.as_mut_slice()) {
        Some([registers, ..]) => *registers = (*registers).min(limit.into()),
        _ => kernel.directives.push(FunctionDirective {
            name: DIRECTIVE.to_owned(),
            values: vec![limit.into()],
            strings: Vec::new(),
        }),
    }
}

/// Moves the file numbers of a body's source lines; what refers to dropped debug sections goes.
fn renumber(body: &mut [Statement], by: u32) {
    let mut open = vec![body];
    while let Some(statements) = open.pop() {
        for statement in statements {
            match statement {
                Statement::Loc(Loc { file, attributes, .. }) => {
                    *file = file.saturating_add(by);
                    attributes.clear();
                }
                Statement::Block(inner) => open.push(inner),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    fn link(texts: &[&str]) -> Result<String, String> {
        let inputs: Vec<(String, String)> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| (format!("t{index}"), format!("{HEAD}{text}")))
            .collect();
        join(&inputs, None).map_err(|error| error.to_string())
    }

    fn checked(texts: &[&str]) -> Module {
        let joined = link(texts).unwrap();
        let module = ptx::parse(&joined).unwrap_or_else(|error| panic!("{error}\n{joined}"));
        ptx::validate(&module, &joined).unwrap_or_else(|error| panic!("{error}\n{joined}"));
        module
    }

    fn names(module: &Module) -> Vec<&str> {
        module.items.iter().filter_map(definition).map(|(name, _)| name).collect()
    }

    #[test]
    fn an_extern_function_meets_its_definition() {
        let module = checked(&[
            ".extern .func (.param .b32 r) twice(.param .b32 x);\n\
             .visible .entry k() { .reg .b32 %r<2>; { .param .b32 a; .param .b32 b; st.param.b32 [a], 1; \
             call (b), twice, (a); ld.param.b32 %r1, [b]; } ret; }",
            ".visible .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<2>; ld.param.b32 %r1, [x]; \
             add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }",
        ]);
        assert_eq!(names(&module), ["k", "twice"]);
    }

    #[test]
    fn private_names_of_two_texts_stay_apart() {
        let text = ".global .u32 x = 1;\n.visible .entry KERNEL() { .reg .b32 %r<2>; ld.global.u32 %r1, [x]; ret; }";
        let module = checked(&[&text.replace("KERNEL", "a"), &text.replace("KERNEL", "b")]);
        assert_eq!(names(&module), ["x", "x$link1", "a", "b"]);
    }

    #[test]
    fn one_weak_definition_is_kept() {
        let text = ".weak .func f() { ret; }\n.common .global .u32 c;\n.extern .func vprintf();\n";
        let module = checked(&[text, text, ".visible .func f() { ret; }"]);
        assert_eq!(names(&module), ["c", "f"]);
    }

    #[test]
    fn a_result_that_the_definition_lacks_is_not_asked_for() {
        let call = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 1; call (b), NAME, (a); ld.param.b32 %r1, [b]; }";
        let text = format!(
            ".extern .func (.param .b32 r) nothing(.param .b32 x);\n.extern .func (.param .b32 r) one(.param .b32 x);\n\
             .visible .entry k() {{ .reg .b32 %r<2>; {} {} ret; }}",
            call.replace("NAME", "nothing"),
            call.replace("NAME", "one")
        );
        let module = checked(&[
            &text,
            ".visible .func nothing(.param .b32 x) { ret; }\n\
             .visible .func (.param .b32 r) one(.param .b32 x) { st.param.b32 [r], 1; ret; }",
        ]);
        let printed = ptx::print(&module);
        assert!(printed.contains("call nothing, (a);"), "{printed}");
        assert!(printed.contains("call (b), one, (a);"), "{printed}");
    }

    #[test]
    fn the_lower_limit_of_registers_counts() {
        let text = ".visible .entry free() { ret; }\n.visible .entry tight() .maxnreg 24 { ret; }\n\
                    .visible .entry loose() .maxnreg 200 { ret; }";
        let inputs = [("t0".to_owned(), format!("{HEAD}{text}"))];
        let joined = join(&inputs, Some(38)).unwrap();
        let module = ptx::parse(&joined).unwrap();
        let limits: Vec<(&str, u64)> = module
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Function(function) => {
                    Some((function.name.as_str(), function.directives[0].values[0]))
                }
                _ => None,
            })
            .collect();
        assert_eq!(limits, [("free", 38), ("tight", 24), ("loose", 38)]);
        // Without a limit a text alone is not touched.
        assert_eq!(join(&inputs, None).unwrap(), inputs[0].1);
    }

    #[test]
    fn two_definitions_are_refused() {
        let text = ".visible .func f() { ret; }";
        assert_eq!(
            link(&[text, text]).unwrap_err(),
            "cannot join the PTX texts: `f` is defined in both `t0` and `t1`"
        );
        assert!(link(&[]).unwrap_err().contains("no input was added"));
    }

    #[test]
    fn renaming_leaves_comments_strings_and_longer_names_alone() {
        let names = BTreeSet::from(["x"]);
        assert_eq!(
            rename("x xx x.y // x\n\"x\" [x+4] /* x */ x", &names, "1"),
            "x1 xx x.y // x\n\"x\" [x1+4] /* x */ x1"
        );
    }
}
