//! Every fixture parses, is valid, has control-flow graphs, and says the same after printing.

use std::path::{Path, PathBuf};

use ptx::ast::{
    Function, Immediate, Initializer, Instruction, Item, Module, Operand, Statement, Variable,
};
use ptx::cfg::Cfg;
use ptx::walk::{Step, instructions, walk};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn load(name: &str) -> (String, Module) {
    let path = folder().join(name);
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let module = ptx::parse(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
    (source, module)
}

fn functions(module: &Module) -> impl Iterator<Item = &Function> {
    module.items.iter().filter_map(|item| match item {
        Item::Function(function) => Some(function),
        _ => None,
    })
}

fn variable<'m>(module: &'m Module, name: &str) -> &'m Variable {
    let found = module.items.iter().find_map(|item| match item {
        Item::Variable(variable) if variable.name == name => Some(variable),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no variable {name}"))
}

fn find<'m>(module: &'m Module, mnemonic: &str) -> &'m Instruction {
    functions(module)
        .flat_map(|function| instructions(function.body.as_deref().unwrap_or_default()))
        .find(|instruction| instruction.mnemonic() == mnemonic)
        .unwrap_or_else(|| panic!("no {mnemonic}"))
}

fn name(name: &str) -> Operand {
    Operand::Name(name.to_owned())
}

const ALL: [&str; 5] = ["debug.ptx", "isa.ptx", "kernels.ptx", "lines.ptx", "nvcc.ptx"];

#[test]
fn every_fixture_is_in_the_list() {
    let mut found: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name != "README.md" && name != "rust")
        .collect();
    found.sort();
    assert_eq!(found, ALL);
}

#[test]
fn fixtures_are_valid_and_survive_printing() {
    for fixture in ALL {
        let (source, module) = load(fixture);
        ptx::validate(&module, &source).unwrap_or_else(|error| panic!("{fixture}: {error}"));
        let printed = ptx::print(&module);
        let again =
            ptx::parse(&printed).unwrap_or_else(|error| panic!("{fixture}, printed: {error}"));
        assert!(again == module, "{fixture} changed:\n{printed}");
        ptx::validate(&again, &printed)
            .unwrap_or_else(|error| panic!("{fixture}, printed: {error}"));
        assert_eq!(ptx::print(&again), printed, "{fixture}: printing is stable");
    }
}

#[test]
fn every_function_has_a_graph() {
    for fixture in ALL {
        let (_, module) = load(fixture);
        for function in functions(&module) {
            let cfg = Cfg::of_function(&module, function)
                .unwrap_or_else(|error| panic!("{fixture}: {}: {error}", function.name));
            let body = function.body.as_deref().unwrap_or_default();
            let count = instructions(body).count();
            assert_eq!(cfg.blocks().last().map_or(0, |block| block.instructions.end), count);
            for block in 0..cfg.blocks().len() {
                assert_eq!(
                    cfg.immediate_post_dominator(block).is_some(),
                    cfg.is_reachable(block),
                    "{fixture}: {} block {block}",
                    function.name
                );
            }
        }
    }
}

#[test]
fn spans_say_where_instructions_stand() {
    for fixture in ALL {
        let (source, module) = load(fixture);
        for function in functions(&module) {
            for instruction in instructions(function.body.as_deref().unwrap_or_default()) {
                let span = instruction.span;
                let text = &source[span.start as usize..span.end as usize];
                assert!(
                    text.contains(&instruction.opcode) && text.ends_with(';'),
                    "{fixture}: {text:?}"
                );
                assert_eq!(text.matches(';').count(), 1, "{fixture}: {text:?}");
            }
        }
    }
}

#[test]
fn inline_chains_are_kept() {
    let (_, module) = load("lines.ptx");
    let kernel =
        functions(&module).find(|function| function.name == "lengths").expect("the kernel");
    let chains: Vec<Vec<(String, u32, u32)>> = walk(kernel.body.as_deref().expect("a body"))
        .filter_map(|step| match step {
            Step::Statement(Statement::Loc(loc)) => {
                Some(loc.frames().iter().map(|f| (f.file.to_owned(), f.line, f.column)).collect())
            }
            _ => None,
        })
        .collect();
    let file = || "src/lib.rs".to_owned();
    assert!(
        chains.contains(&vec![(file(), 12, 5), (file(), 17, 17), (file(), 24, 39)]),
        "square in length in the kernel: {chains:?}"
    );
    assert!(chains.iter().all(|chain| !chain.is_empty()), "{chains:?}");
}

#[test]
fn what_rust_makes_is_what_the_tree_says() {
    let (_, module) = load("kernels.ptx");
    assert_eq!(module.version, (7, 8));
    assert_eq!(module.target, ["sm_90"]);
    let entries: Vec<&str> =
        functions(&module).filter(|f| f.is_entry).map(|function| function.name.as_str()).collect();
    assert_eq!(entries.len(), 5, "{entries:?}");
    let assert_fail = functions(&module).find(|f| f.name == "__assertfail").expect("declared");
    assert!(assert_fail.noreturn && assert_fail.body.is_none() && assert_fail.params.len() == 5);
    let parameters =
        functions(&module).find(|f| f.name == "parameters" && f.body.is_some()).expect("defined");
    let sizes: Vec<Option<u64>> = parameters.params.iter().map(Variable::bytes).collect();
    assert_eq!(sizes, [8, 32, 2, 1, 1, 16].map(Some));
    let trap = find(&module, "brx.idx");
    assert!(
        matches!(trap.operands.as_slice(), [Operand::Name(_), Operand::Name(table)] if table == "$L_brx_0")
    );
}

#[test]
fn literals_and_addresses_have_their_values() {
    let (_, module) = load("isa.ptx");
    assert_eq!(
        variable(&module, "expression").init,
        Some(Initializer::Immediate(Immediate::Integer(511)))
    );
    let address = |symbol: &str, offset, generic| Initializer::Address {
        symbol: symbol.to_owned(),
        offset,
        generic,
    };
    assert_eq!(
        variable(&module, "pointers").init,
        Some(Initializer::List(vec![
            address("pairs", 0, false),
            address("pairs", 8, false),
            address("pairs", 4, true),
            address("flat", 0, true),
            address("helper", 0, false),
        ]))
    );
    let Some(Initializer::List(bytes)) = &variable(&module, "bytes").init else { panic!("a list") };
    assert!(matches!(&bytes[1], Initializer::Masked { mask: 0xFF00, .. }));
    assert_eq!(bytes[2..], [15, 3].map(|value| Initializer::Immediate(Immediate::Integer(value))));
    assert_eq!(variable(&module, "pairs").bytes(), Some(32), "four rows, from the initialiser");
    assert_eq!(variable(&module, "colours").bytes(), Some(32));
    assert_eq!(variable(&module, "colours").alignment(), 16);
    assert_eq!(variable(&module, "other_barrier").align, Some(128), "both of one declaration");

    let load = find(&module, "ld.global.L1::no_allocate.L2::cache_hint.L2::128B.v4.f32");
    assert_eq!(load.modifiers[2], "L2::cache_hint");
    assert_eq!(load.operands.len(), 3);
    let shared = find(&module, "ld.relaxed.cluster.shared::cluster.b32");
    assert!(matches!(&shared.operands[1], Operand::Address { offset: -4, .. }));
    let texture = find(&module, "tex.3d.v4.f32.s32");
    assert!(
        matches!(&texture.operands[0], Operand::Pair(vector, _) if matches!(**vector, Operand::Vector(_)))
    );
    let tensor = find(
        &module,
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
    );
    let Operand::Address { rest, .. } = &tensor.operands[1] else { panic!("an address") };
    assert_eq!(*rest, [Operand::Vector(vec![name("%r1"), name("%r2")])]);
    let call = find(&module, "call");
    let lists = [vec![name("lone")], vec![name("%r1"), name("p1")]].map(Operand::List);
    assert_eq!(call.operands, [lists[0].clone(), name("by_register"), lists[1].clone()]);
    assert_eq!(find(&module, "mov.b64").operands[0], Operand::Vector(vec![name("%r1"), name("_")]));
    assert_eq!(find(&module, "mov.u64").operands[1], name("a"));
    let lane = find(&module, "mov.b128");
    assert_eq!(lane.operands[1], Operand::Vector(vec![name("%rd1"), name("%rd2")]));

    let file = module.items.iter().find_map(|item| match item {
        Item::File(file) => Some(file),
        _ => None,
    });
    let file = file.expect("a file");
    assert_eq!(
        (file.name.as_str(), file.timestamp_and_size),
        ("C:\\src\\café \"x\".cu", Some((1_700_000_000, 1234)))
    );
}
