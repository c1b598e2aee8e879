//! Linking: PTX texts joined into one, which is what `cuLinkComplete` gives back.
//!
//! The rules are a linker's: what is `.visible` in one text defines what is `.extern` in another; of
//! `.weak` and `.common` definitions one is kept; names private to a text are renamed where two texts
//! have them. Debug sections are dropped, source lines (`.loc`) are kept.
//!
//! Of the libraries of machine code one is known: the device runtime, in whose place stands PTX.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_uint, c_void};

use ptx::ast::{Function, FunctionDirective, Item, Linkage, Loc, Module, Statement};

use super::device_runtime;
use super::image::{check_magic, sm_number};
use super::options::JitOptions;
use super::with;
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CUjitInputType`: PTX text.
const INPUT_PTX: c_uint = 1;
/// `CUjitInputType`: a static library.
const INPUT_LIBRARY: c_uint = 4;
/// The other input types by number.
const INPUT_NAMES: [&str; 6] =
    ["a cubin (machine code)", "PTX", "a fat binary", "an object file", "a library", "LLVM code"];

/// A linker invocation.
pub(crate) struct Link {
    pub context: CUcontext,
    options: JitOptions,
    /// Names and texts.
    inputs: Vec<(String, String)>,
    /// The joined text with its NUL, once complete; lives until the invocation is destroyed.
    output: Option<Vec<u8>>,
}

pub(crate) fn create(
    option_count: c_uint,
    options: Out<c_uint>,
    option_values: Out<*mut c_void>,
    state: Out<CUlinkState>,
) -> Outcome {
    let options = JitOptions::read(option_count, options, option_values)?;
    with(|emulator| {
        let context = emulator.ready()?;
        state.check("state")?;
        let handle =
            emulator.links.insert(Link { context, options, inputs: Vec::new(), output: None });
        state.set("state", handle)
    })
}

/// Takes a text, which must parse, so that the error names the input it is in.
fn add(state: CUlinkState, kind: c_uint, name: String, data: &[u8]) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        let link = emulator.links.get_mut(state)?;
        let outcome = (|| {
            if kind == INPUT_LIBRARY && device_runtime::is_device_runtime(data) {
                if link.inputs.iter().all(|(_, text)| text != device_runtime::PTX) {
                    link.inputs.push((name, device_runtime::PTX.to_owned()));
                }
                return Ok(());
            }
            if kind != INPUT_PTX {
                let what = INPUT_NAMES.get(kind as usize).copied();
                return Err(match what {
                    Some(what) => ApiError::BinaryImage { what },
                    None => ApiError::argument("type", kind, "0 to 5"),
                });
            }
            check_magic(data)?;
            // A text ends at its NUL.
            let text = data.split(|byte| *byte == 0).next().unwrap_or_default();
            let text = str::from_utf8(text).map_err(|error| ApiError::NotPtx {
                why: format!("byte {} is not UTF-8", error.valid_up_to()),
            })?;
            let parsed = ptx::parse(text).and_then(|module| ptx::validate(&module, text));
            parsed.map_err(|error| ApiError::Link(format!("input `{name}`: {error}")))?;
            link.inputs.push((name, text.to_owned()));
            Ok(())
        })();
        link.options.report(outcome.as_ref().err())?;
        outcome
    })
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn add_data(
    state: CUlinkState,
    kind: c_uint,
    data: HostPtr,
    size: usize,
    name: Text,
    _option_count: c_uint,
    _options: Out<c_uint>,
    _option_values: Out<*mut c_void>,
) -> Outcome {
    with(|emulator| emulator.links.get(state).map(drop))?;
    let data = data.read("data", size)?;
    let name = if name.is_null() { "unnamed".to_owned() } else { name.string("name")? };
    add(state, kind, name, data)
}

pub(crate) fn add_file(
    state: CUlinkState,
    kind: c_uint,
    path: Text,
    _option_count: c_uint,
    _options: Out<c_uint>,
    _option_values: Out<*mut c_void>,
) -> Outcome {
    with(|emulator| emulator.links.get(state).map(drop))?;
    let name = path.string("path")?;
    let data =
        std::fs::read(&name).map_err(|error| ApiError::File { path: name.clone(), error })?;
    add(state, kind, name, &data)
}

pub(crate) fn complete(state: CUlinkState, image: Out<*mut c_void>, size: Out<usize>) -> Outcome {
    with(|emulator| {
        emulator.ready()?;
        image.check("cubin_out")?;
        let link = emulator.links.get_mut(state)?;
        let joined = join(&link.inputs, link.options.max_registers);
        link.options.report(joined.as_ref().err())?;
        let mut bytes = joined?.into_bytes();
        bytes.push(0);
        let output = link.output.insert(bytes);
        size.set_if_wanted("size_out", output.len())?;
        image.set("cubin_out", output.as_mut_ptr().cast())
    })
}

pub(crate) fn destroy(state: CUlinkState) -> Outcome {
    with(|emulator| emulator.links.remove(state).map(drop))
}

/// Joins texts; one alone stays as it is unless the kernels get a limit of registers.
fn join(inputs: &[(String, String)], max_registers: Option<u32>) -> Result<String, ApiError> {
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
    let mut declared: BTreeSet<String> = BTreeSet::new();
    for (index, module) in modules.into_iter().enumerate() {
        let mut last_file = 0;
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
