//! `parse(print(module)) == module` for modules that say anything the tree can say.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use ptx::Span;
use ptx::ast::{
    AddressBase, File, Function, FunctionDirective, Guard, Immediate, Initializer, Instruction,
    Item, Linkage, Loc, Module, Operand, PointerAttribute, RegisterDeclaration, StateSpace,
    Statement, Type, Variable,
};
use ptx::isa::{Example, Form, Row};

/// Names as PTX and LLVM write them. `WARP_SZ` is a number and `_` has places of its own.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z][a-zA-Z0-9_$]{0,6}",
        4 => "[%$_][a-zA-Z0-9_$]{1,6}",
        1 => "[a-z]{1,4}(\\.{1,2}[a-z0-9]{1,3}){1,2}",
        1 => "%[a-z]{1,4}\\.[xyzw]",
    ]
}

fn word() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,5}"
}

fn integer() -> impl Strategy<Value = i128> {
    let all = i128::from(u64::MAX);
    prop_oneof![-9_i128..9, -all..=all, Just(all), Just(-all)]
}

fn immediate() -> impl Strategy<Value = Immediate> {
    prop_oneof![
        integer().prop_map(Immediate::Integer),
        any::<u32>().prop_map(Immediate::F32),
        any::<u64>().prop_map(Immediate::F64),
    ]
}

fn ty() -> impl Strategy<Value = Type> {
    select(vec![
        Type::B8,
        Type::B16,
        Type::B32,
        Type::B64,
        Type::B128,
        Type::U8,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::S8,
        Type::S16,
        Type::S32,
        Type::S64,
        Type::F16,
        Type::F16x2,
        Type::Bf16,
        Type::Bf16x2,
        Type::F32,
        Type::F64,
        Type::Pred,
        Type::Texref,
        Type::Samplerref,
        Type::Surfref,
    ])
}

fn linkage() -> impl Strategy<Value = Linkage> {
    select(vec![
        Linkage::Internal,
        Linkage::Visible,
        Linkage::Extern,
        Linkage::Weak,
        Linkage::Common,
    ])
}

fn initializer() -> impl Strategy<Value = Initializer> {
    let address = (name(), any::<i64>(), any::<bool>())
        .prop_map(|(symbol, offset, generic)| Initializer::Address { symbol, offset, generic })
        .boxed();
    let leaf = prop_oneof![
        immediate().prop_map(Initializer::Immediate),
        address.clone(),
        (any::<u64>(), address)
            .prop_map(|(mask, inner)| Initializer::Masked { mask, inner: Box::new(inner) }),
    ];
    let list = leaf.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map(Initializer::List));
    prop_oneof![9 => list, 1 => vec((word(), word()), 1..3).prop_map(Initializer::Fields)]
}

fn attributes() -> impl Strategy<Value = Vec<String>> {
    let one = prop_oneof![Just(".managed".to_owned()), Just(".unified(1,0x2)".to_owned())];
    prop_oneof![4 => Just(Vec::new()), 1 => vec(one, 1..3)]
}

/// A variable without linkage, name or initialiser.
fn shape(space: impl Strategy<Value = StateSpace>) -> impl Strategy<Value = Variable> {
    let vector = select(vec![1_u32, 2, 4]);
    (
        space,
        option::of(0_u32..=1 << 20),
        ty(),
        vector,
        attributes(),
        vec(option::of(any::<u64>()), 0..3),
    )
        .prop_map(|(space, align, ty, vector, attributes, dims)| Variable {
            linkage: Linkage::Internal,
            space,
            align,
            ty,
            vector,
            pointer: None,
            attributes,
            name: String::new(),
            dims,
            init: None,
            span: Span::default(),
        })
}

fn variable(spaces: &[StateSpace]) -> impl Strategy<Value = Variable> + use<> {
    let space = select(spaces.to_vec());
    (shape(space), linkage(), name(), option::of(initializer()))
        .prop_map(|(shape, linkage, name, init)| Variable { linkage, name, init, ..shape })
}

fn parameter() -> impl Strategy<Value = Variable> {
    let space = prop_oneof![4 => Just(StateSpace::Param), 1 => Just(StateSpace::Reg)];
    let pointed = select(vec![StateSpace::Global, StateSpace::Const, StateSpace::Shared]);
    let pointer = (option::of(pointed), option::of(0_u32..64))
        .prop_map(|(space, align)| PointerAttribute { space, align });
    let name = prop_oneof![9 => name(), 1 => Just("_".to_owned())];
    (shape(space), name, option::of(pointer)).prop_map(|(shape, name, pointer)| Variable {
        name,
        pointer,
        ..shape
    })
}

fn simple_operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        6 => name().prop_map(Operand::Name),
        1 => Just(Operand::Name("_".to_owned())),
        1 => name().prop_map(Operand::Not),
        3 => immediate().prop_map(Operand::Immediate),
        1 => (name(), any::<i64>()).prop_map(|(name, offset)| Operand::NameOffset(name, offset)),
    ]
}

fn vector_operand() -> impl Strategy<Value = Operand> {
    vec(simple_operand(), 0..4).prop_map(Operand::Vector)
}

fn operand() -> impl Strategy<Value = Operand> {
    let base = prop_oneof![
        4 => name().prop_map(AddressBase::Name),
        1 => Just(AddressBase::Absolute),
    ];
    let offset = prop_oneof![Just(0), any::<i64>()];
    let rest = vec(prop_oneof![simple_operand(), vector_operand()], 0..3);
    let first = prop_oneof![name().prop_map(Operand::Name), vector_operand()];
    prop_oneof![
        6 => simple_operand(),
        1 => vector_operand(),
        2 => (base, offset, rest).prop_map(|(base, offset, rest)| Operand::Address { base, offset, rest }),
        1 => (first, name())
            .prop_map(|(first, second)| Operand::Pair(Box::new(first), Box::new(Operand::Name(second)))),
    ]
}

fn guard() -> impl Strategy<Value = Option<Guard>> {
    option::of((any::<bool>(), name()).prop_map(|(negated, register)| Guard { negated, register }))
}

/// How many mnemonics of each row of the table are looked at; some rows have a million.
const MNEMONICS: usize = 400;

/// The body of a function.
fn body(text: &str) -> Vec<Statement> {
    let source = format!(".version 9.0\n.target sm_90a\n.func f() {{\n{text}\n}}\n");
    let module = ptx::parse(&source).unwrap_or_else(|error| panic!("{error}"));
    match module.items.into_iter().next() {
        Some(Item::Function(Function { body: Some(body), .. })) => body,
        other => panic!("{other:?}"),
    }
}

/// The statements of an example: its declarations, and the instruction.
fn example(row: &Row, modifiers: &[&str]) -> Option<Vec<Statement>> {
    let Example { declarations, instruction } = row.example(modifiers)?;
    Some(body(&format!("{declarations}\n{instruction}")))
}

/// An instruction of the table: matrices, asynchronous copies, textures and all else, with the operands that it takes, some of
/// them exchanged.
fn known_instruction() -> impl Strategy<Value = Instruction> {
    let rows: Vec<Row> = ptx::isa::table().copied().collect();
    let exchanged = option::weighted(0.3, (any::<Index>(), operand()));
    (select(rows), any::<Index>(), guard(), exchanged).prop_filter_map(
        "an example",
        |(row, number, guard, exchanged)| {
            let mnemonics: Vec<_> = Form::new(row.form).some_mnemonics(MNEMONICS).collect();
            let statements = example(&row, &mnemonics[number.index(mnemonics.len())])?;
            let Some(Statement::Instruction(mut found)) = statements.into_iter().next_back() else {
                return None;
            };
            if let Some((place, operand)) = exchanged
                && !found.operands.is_empty()
            {
                let place = place.index(found.operands.len());
                found.operands[place] = operand;
            }
            Some(Instruction { guard, ..found })
        },
    )
}

fn instruction() -> impl Strategy<Value = Instruction> {
    prop_oneof![any_instruction(), known_instruction()]
}

/// What the grammar allows, known or not.
fn any_instruction() -> impl Strategy<Value = Instruction> {
    let guard = guard();
    let modifiers = vec("[a-z0-9][a-z0-9_]{0,4}(::[a-zA-Z0-9]{1,4})?", 0..4);
    let list = vec(simple_operand(), 0..3).prop_map(Operand::List);
    let call =
        vec(prop_oneof![operand(), list], 0..4).prop_map(|operands| ("call".to_owned(), operands));
    let other = (word(), vec(operand(), 0..4));
    (guard, modifiers, prop_oneof![1 => call, 5 => other]).prop_map(
        |(guard, modifiers, (opcode, operands))| Instruction {
            guard,
            opcode,
            modifiers,
            operands,
            span: Span::default(),
        },
    )
}

fn loc() -> impl Strategy<Value = Loc> {
    let attributes = select(vec![
        "",
        ", inlined_at 1 2 3",
        ", function_name $L1, inlined_at 1 2 3",
        ", function_name $L1+16 , inlined_at 1 2 3",
    ]);
    let comment = option::of(".*").prop_map(|text| text.map(|text| text.trim().to_owned()));
    (any::<u32>(), any::<u32>(), any::<u32>(), attributes, comment).prop_map(
        |(file, line, column, attributes, comment)| Loc {
            file,
            line,
            column,
            attributes: attributes.to_owned(),
            comment,
            span: Span::default(),
        },
    )
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,12}", "[\\\\\"nt0-7\t\n]{0,8}"]
}

fn registers() -> impl Strategy<Value = RegisterDeclaration> {
    let vector = select(vec![1_u32, 2, 4]);
    (ty(), vector, vec((name(), option::of(any::<u32>())), 1..4)).prop_map(|(ty, vector, names)| {
        RegisterDeclaration { ty, vector, names, span: Span::default() }
    })
}

fn statement() -> impl Strategy<Value = Statement> {
    let span = Span::default();
    let spaces = [
        StateSpace::Const,
        StateSpace::Global,
        StateSpace::Local,
        StateSpace::Param,
        StateSpace::Shared,
        StateSpace::Tex,
    ];
    let leaf = prop_oneof![
        1 => name().prop_map(move |name| Statement::Label { name, span }),
        1 => registers().prop_map(Statement::Register),
        1 => variable(&spaces).prop_map(Statement::Variable),
        5 => instruction().prop_map(Statement::Instruction),
        1 => loc().prop_map(Statement::Loc),
        1 => text().prop_map(move |text| Statement::Pragma { text, span }),
        1 => (name(), vec(parameter(), 0..3), vec(parameter(), 0..3), any::<bool>()).prop_map(
            move |(name, returns, params, noreturn)| {
                Statement::CallPrototype { name, returns, params, noreturn, span }
            }
        ),
        1 => (name(), vec(name(), 1..4))
            .prop_map(move |(name, labels)| Statement::BranchTargets { name, labels, span }),
        1 => (name(), vec(name(), 1..4))
            .prop_map(move |(name, functions)| Statement::CallTargets { name, functions, span }),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map(Statement::Block))
}

fn directive() -> impl Strategy<Value = FunctionDirective> {
    let names = "\\.(max|req)(ntid|nctapersm|nreg|nctapercluster|clusterrank)|\\.minnctapersm|\\.explicitcluster|\\.zz[a-z]{0,4}";
    let values = (names, vec(any::<u64>(), 0..4)).prop_map(|(name, values)| FunctionDirective {
        name,
        values,
        strings: Vec::new(),
    });
    let strings = vec(text(), 1..3).prop_map(|strings| FunctionDirective {
        name: ".pragma".to_owned(),
        values: Vec::new(),
        strings,
    });
    let attribute = Just(FunctionDirective {
        name: ".attribute".to_owned(),
        values: Vec::new(),
        strings: vec![".unified(1,2)".to_owned(), ".managed".to_owned()],
    });
    prop_oneof![3 => values, 1 => strings, 1 => attribute]
}

fn function() -> impl Strategy<Value = Function> {
    let head = (linkage(), any::<bool>(), name(), vec(parameter(), 0..3), vec(parameter(), 0..4));
    let tail = (any::<bool>(), vec(directive(), 0..3), option::of(vec(statement(), 0..8)));
    (head, tail).prop_map(
        |((linkage, is_entry, name, returns, params), (noreturn, directives, body))| Function {
            linkage,
            is_entry,
            name,
            returns,
            params,
            noreturn,
            directives,
            body,
            span: Span::default(),
        },
    )
}

/// Lines of debug data as LLVM writes them, with whatever else braces and quotation marks can be closed around.
fn section_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "\\.b(8|16|32|64) [0-9]{1,5}(,[0-9]{1,5}){0,4}",
        "\\.b(32|64) \\.?[a-z_]{1,8}(\\+[0-9]{1,3})?",
        "[$]L__[a-z_]{1,8}[0-9]{0,2}:",
        "\\.b8 [0-9]{1,3} +// [A-Za-z0-9_ .}{\"']{0,12}\n",
        "\"[a-z{} ]{0,6}(\\\\\")?\"",
        "\\{ [a-z0-9,]{0,6} \\}",
        "/\\* [a-z}\"]{0,6} \\*/",
        "[a-z0-9 ,.$é]{0,30}",
    ];
    vec(line, 0..6).prop_map(|lines| format!("\n\t{}\n", lines.join("\n\t")))
}

fn item() -> impl Strategy<Value = Item> {
    let span = Span::default();
    let spaces = [StateSpace::Const, StateSpace::Global, StateSpace::Shared, StateSpace::Tex];
    prop_oneof![
        3 => variable(&spaces).prop_map(Item::Variable),
        5 => function().prop_map(Item::Function),
        1 => (any::<u32>(), text(), option::of(any::<(u64, u64)>())).prop_map(
            move |(index, name, timestamp_and_size)| Item::File(File { index, name, timestamp_and_size, span })
        ),
        1 => ("\\.?[a-z][a-z_]{0,8}", section_text())
            .prop_map(move |(name, text)| Item::Section { name, text, span }),
        1 => text().prop_map(move |text| Item::Pragma { text, span }),
        1 => (name(), name()).prop_map(move |(name, target)| Item::Alias { name, target, span }),
        1 => loc().prop_map(Item::Loc),
    ]
}

fn module() -> impl Strategy<Value = Module> {
    (any::<(u32, u32)>(), vec(word(), 0..3), any::<u32>(), vec(item(), 0..5)).prop_map(
        |(version, target, address_size, items)| Module { version, target, address_size, items },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_loses_nothing(module in module()) {
        let text = ptx::print(&module);
        let again = match ptx::parse(&text) {
            Ok(again) => again,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
        };
        prop_assert!(again == module, "changed:\n{text}\n{again:#?}");
        prop_assert_eq!(&ptx::print(&again), &text);
        // Nonsense, but nothing to panic about.
        let _ = ptx::validate(&again, &text);
    }
}

#[test]
fn every_form_of_the_table_is_printed_as_it_was_written() {
    let (mut rows, mut instructions) = (0, 0);
    for row in ptx::isa::table() {
        let form = Form::new(row.form);
        let mut seen = false;
        for modifiers in form.some_mnemonics(MNEMONICS) {
            let Some(statements) = example(row, &modifiers) else { continue };
            seen = true;
            instructions += 1;
            let function = Function {
                linkage: Linkage::Internal,
                is_entry: false,
                name: "f".to_owned(),
                returns: Vec::new(),
                params: Vec::new(),
                noreturn: false,
                directives: Vec::new(),
                body: Some(statements),
                span: Span::default(),
            };
            let items = vec![Item::Function(function)];
            let target = vec!["sm_90a".to_owned()];
            let module = Module { version: (9, 0), target, address_size: 64, items };
            let text = ptx::print(&module);
            let mnemonic = [&[form.opcode()], &modifiers[..]].concat().join(".");
            assert!(text.contains(&format!("\t{mnemonic}")), "{mnemonic}: {text}");
            assert_eq!(ptx::parse(&text).as_ref(), Ok(&module), "{text}");
        }
        rows += usize::from(seen);
    }
    let all = ptx::isa::table().count();
    assert!(10 * rows > 9 * all, "examples of {rows} of {all} rows, {instructions} instructions");
}
