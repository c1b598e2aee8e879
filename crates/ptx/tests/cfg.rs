//! Control-flow graphs with known answers, and random ones against the definitions.

use proptest::prelude::*;
use ptx::ast::{Function, Item, Module};
use ptx::cfg::{BlockEnd, BlockId, Cfg};

fn parse(body: &str) -> Module {
    let source = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n\
         .extern .func dies() .noreturn;\n.extern .func returns();\n\
         .visible .entry k() {{\n.reg .pred %p;\n.reg .b32 %r<9>;\n{body}\n}}\n"
    );
    let module = ptx::parse(&source).unwrap_or_else(|error| panic!("{error}"));
    ptx::validate(&module, &source).unwrap_or_else(|error| panic!("{error}"));
    module
}

fn kernel(module: &Module) -> &Function {
    let function = module.items.iter().find_map(|item| match item {
        Item::Function(function) if function.is_entry => Some(function),
        _ => None,
    });
    function.expect("a kernel")
}

#[track_caller]
fn cfg(body: &str) -> Cfg {
    let module = parse(body);
    Cfg::of_function(&module, kernel(&module)).unwrap_or_else(|error| panic!("{error}"))
}

/// Successors, immediate post-dominators and reconvergence points; `x` is the virtual exit, `-` none.
#[track_caller]
fn check(body: &str, successors: &[&[BlockId]], post_dominators: &str, reconvergence: &str) {
    let cfg = cfg(body);
    let found: Vec<&[BlockId]> =
        (0..cfg.blocks().len()).map(|block| cfg.successors(block)).collect();
    assert_eq!(found, successors, "successors");
    let show = |of: &dyn Fn(BlockId) -> Option<BlockId>| {
        let all = (0..cfg.blocks().len()).map(|block| match of(block) {
            None => "-".to_owned(),
            Some(block) if block == cfg.exit() => "x".to_owned(),
            Some(block) => block.to_string(),
        });
        all.collect::<Vec<String>>().join(" ")
    };
    assert_eq!(
        show(&|block| cfg.immediate_post_dominator(block)),
        post_dominators,
        "post-dominators"
    );
    assert_eq!(show(&|block| cfg.reconvergence(block)), reconvergence, "reconvergence");
    assert_eq!(cfg.immediate_post_dominator(cfg.exit()), None);
}

#[test]
fn straight_line() {
    check("add.s32 %r1, %r1, 1; ret;", &[&[1]], "x", "x");
}

#[test]
fn if_else() {
    check(
        "@%p bra E; mov.b32 %r1, 1; bra.uni J; E: mov.b32 %r1, 2; J: mov.b32 %r2, %r1; ret;",
        &[&[2, 1], &[3], &[3], &[4]],
        "3 3 3 x",
        "3 3 3 x",
    );
}

#[test]
fn if_without_else() {
    check("@!%p bra J; mov.b32 %r1, 1; J: ret;", &[&[2, 1], &[2], &[3]], "2 2 x", "2 2 x");
}

#[test]
fn loop_with_one_exit() {
    check(
        "mov.b32 %r1, 0; L: add.s32 %r1, %r1, 1; @%p bra L; ret;",
        &[&[1], &[1, 2], &[3]],
        "1 2 x",
        "1 2 x",
    );
}

#[test]
fn nested_loops_with_a_branch_inside() {
    check(
        "O: mov.b32 %r1, 0;\n I: @%p bra S; mov.b32 %r2, 1;\n S: @%p bra I;\n @%p bra O;\n ret;",
        // 0 = O, 1 = I, 2 = then, 3 = S, 4 = outer test, 5 = ret
        &[&[1], &[3, 2], &[3], &[1, 4], &[0, 5], &[6]],
        "1 3 3 4 5 x",
        "1 3 3 4 5 x",
    );
}

#[test]
fn loop_with_a_break() {
    check(
        "L: @%p bra DONE; mov.b32 %r1, 1; @%p bra L; DONE: ret;",
        &[&[2, 1], &[0, 2], &[3]],
        "2 2 x",
        "2 2 x",
    );
}

#[test]
fn switch_over_a_table() {
    let body = "@%p bra D;\n T: .branchtargets A, B, A;\n brx.idx %r1, T;\n\
                A: mov.b32 %r2, 1; bra.uni J;\n B: mov.b32 %r2, 2; bra.uni J;\n D: mov.b32 %r2, 3;\n J: ret;";
    check(body, &[&[4, 1], &[2, 3], &[5], &[5], &[5], &[6]], "5 5 5 5 5 x", "5 5 5 5 5 x");
    let cfg = cfg(body);
    // Index 2 leads where index 0 leads: the table keeps it, the edges do not.
    assert_eq!(cfg.branch_targets(1), [2, 4, 2]);
    assert_eq!(cfg.branch_targets(0), [6]);
    assert_eq!(cfg.branch_targets(2), []);
}

#[test]
fn a_loop_that_nothing_leaves() {
    check("L: bra L;", &[&[0]], "x", "x");
    // The branch inside still has a join.
    check(
        "L: @%p bra E; mov.b32 %r1, 1; bra J; E: mov.b32 %r1, 2; J: bra L;",
        &[&[2, 1], &[3], &[3], &[0]],
        "3 3 3 x",
        "3 3 3 x",
    );
    // One way out of a branch loops for ever, the other returns: nobody waits.
    check("@%p bra L; ret; L: bra L;", &[&[2, 1], &[3], &[2]], "x x x", "x x x");
}

#[test]
fn an_unreachable_tail() {
    check("ret; L: mov.b32 %r1, 1; @%p bra L; exit;", &[&[3], &[1, 2], &[3]], "x - -", "x - -");
    let graph = cfg("ret; L: mov.b32 %r1, 1; bra L;");
    assert!(graph.is_reachable(0) && !graph.is_reachable(1));
    assert_eq!(graph.immediate_dominator(1), None);
    // An unreachable block that jumps into live code does not move the dominators there.
    let graph = cfg("@%p bra J; mov.b32 %r1, 1; J: ret; mov.b32 %r1, 2; bra J;");
    assert_eq!(graph.immediate_dominator(2), Some(0));
    assert_eq!(graph.predecessors(2), [0, 1, 3]);
}

#[test]
fn several_exits() {
    check(
        "@%p bra A; ret; A: @%p bra B; exit; B: trap;",
        &[&[2, 1], &[5], &[4, 3], &[5], &[5]],
        "x x x x x",
        "1 x x x x",
    );
}

#[test]
fn guarded_ends_fall_through() {
    check(
        "@%p ret; mov.b32 %r1, 1; @%p exit; @!%p trap; ret;",
        &[&[4, 1], &[4, 2], &[4, 3], &[4]],
        "x x x x",
        "x 2 3 x",
    );
    assert_eq!(cfg("@%p exit; ret;").blocks()[0].end, BlockEnd::Terminate { guarded: true });
}

#[test]
fn a_panic_does_not_keep_the_others_apart() {
    // if p { if p { call dies } } else { … } join
    let body = |end: &str| {
        format!("@%p bra E; @%p bra P; mov.b32 %r1, 1; bra J; E: mov.b32 %r1, 2; J: ret; P: {end}")
    };
    let successors: &[&[BlockId]] = &[&[3, 1], &[5, 2], &[4], &[4], &[6], &[6]];
    for end in ["call dies, ();", "trap; exit;", "exit;"] {
        let graph = cfg(&body(end));
        for (block, expected) in successors.iter().enumerate() {
            assert_eq!(graph.successors(block)[..], expected.map_exit(&graph), "{end}: {block}");
        }
        assert_eq!(graph.immediate_post_dominator(0), Some(graph.exit()), "{end}");
        assert_eq!(graph.reconvergence(0), Some(4), "{end}");
        assert_eq!(graph.reconvergence(1), Some(2), "{end}");
        assert_eq!(graph.reconvergence(5), Some(graph.exit()), "{end}");
    }
    // The same with a call that returns: control runs off the end, which ends nothing.
    let graph = cfg(&body("call returns, ();"));
    assert_eq!(graph.reconvergence(0), Some(graph.exit()));
    assert_eq!(graph.blocks()[5].end, BlockEnd::FallOff);
}

/// Block 6 in the lists above stands for the exit, whatever its number.
trait MapExit {
    fn map_exit(&self, cfg: &Cfg) -> Vec<BlockId>;
}

impl MapExit for &[BlockId] {
    fn map_exit(&self, cfg: &Cfg) -> Vec<BlockId> {
        self.iter().map(|block| if *block == 6 { cfg.exit() } else { *block }).collect()
    }
}

#[test]
fn calls_end_a_block_only_if_they_never_return() {
    let body = "call dies, (); mov.b32 %r1, 1; ret;";
    assert_eq!(cfg(body).blocks().len(), 2);
    assert_eq!(cfg("call returns, (); mov.b32 %r1, 1; ret;").blocks().len(), 1);
    // Without the module nothing is known of `dies`.
    let module = parse(body);
    let plain = Cfg::build(kernel(&module).body.as_deref().expect("a body")).expect("no labels");
    assert_eq!(plain.blocks().len(), 1);
    let prototype = |tail: &str| {
        format!(
            ".reg .b64 %rd; PROTO: .callprototype _ (){tail}; call %rd, (), PROTO; mov.b32 %r1, 1; ret;"
        )
    };
    assert_eq!(cfg(&prototype(" .noreturn")).blocks().len(), 2);
    assert_eq!(cfg(&prototype("")).blocks().len(), 1);
}

#[test]
fn labels_belong_to_their_scope() {
    // Twice the same inline assembly, as LLVM repeats it.
    let asm = "{ .reg .pred q; @q bra SKIP; mov.b32 %r1, 1; SKIP: mov.b32 %r2, 2; }";
    let graph = cfg(&format!("{asm} {asm} ret;"));
    assert_eq!(graph.branch_targets(0), [2]);
    assert_eq!(graph.branch_targets(3), [5]);
    // From inside to a label of the scope around it, with an inner one of another name.
    let graph = cfg("{ { bra OUT; } IN: trap; } OUT: ret;");
    assert_eq!(graph.branch_targets(0), [2]);
}

#[test]
fn a_label_at_the_end_is_the_exit() {
    let graph = cfg("@%p bra END; mov.b32 %r1, 1; END:");
    assert_eq!(graph.branch_targets(0), [2]);
    assert_eq!(graph.successors(0), [graph.exit(), 1]);
    assert_eq!(graph.blocks()[1].end, BlockEnd::FallOff);
}

#[test]
fn an_empty_body_has_no_blocks() {
    let graph = cfg("");
    assert_eq!(graph.blocks(), []);
    assert_eq!(graph.exit(), 0);
    assert_eq!(graph.immediate_post_dominator(0), None);
    assert_eq!(graph.successors(5), [], "out of range is empty, not a panic");
    assert_eq!(graph.block_of(0), None);
}

#[test]
fn missing_targets_are_errors() {
    for (body, message) in [
        ("bra NOWHERE;", "`NOWHERE` is not declared: expected a label"),
        ("bra 4;", "`bra`: expected the label to go to"),
        ("brx.idx %r1;", "`brx.idx`: expected an index and the label of `.branchtargets`"),
        ("brx.idx %r1, T;", "`T` is not declared: expected the label of `.branchtargets`"),
        ("T: .branchtargets GONE; brx.idx %r1, T;", "`GONE` is not declared: expected a label"),
        ("{ IN: ret; } bra IN;", "`IN` is not declared: expected a label"),
    ] {
        let source = format!(".version 8.8\n.target sm_90\n.entry k() {{ .reg .b32 %r1; {body} }}");
        let module = ptx::parse(&source).expect("parses");
        let error = Cfg::of_function(&module, kernel(&module)).expect_err(body);
        assert_eq!(error.to_string(), message);
        assert!(error.locate(&source).to_string().starts_with("3:"));
    }
}

#[test]
fn one_enormous_table_used_often_is_refused() {
    let labels = vec!["L"; 5000].join(", ");
    let branches = "@%p brx.idx %r1, T;\n".repeat(1000);
    let module = parse(&format!("T: .branchtargets {labels};\nL: {branches} ret;"));
    let error = Cfg::of_function(&module, kernel(&module)).expect_err("5,000,000 edges");
    assert_eq!(
        error.to_string(),
        "the function has more than 4194304 branches, which is the limit"
    );
}

/// How a random block ends.
#[derive(Clone, Debug)]
enum End {
    Fall,
    Jump(usize),
    Maybe(usize),
    Table(Vec<usize>, bool),
    Return(bool),
    Exit(bool),
}

fn end(blocks: usize) -> impl Strategy<Value = End> {
    prop_oneof![
        2 => Just(End::Fall),
        2 => (0..blocks).prop_map(End::Jump),
        4 => (0..blocks).prop_map(End::Maybe),
        1 => (proptest::collection::vec(0..blocks, 1..4), any::<bool>()).prop_map(|(t, g)| End::Table(t, g)),
        1 => any::<bool>().prop_map(End::Return),
        1 => any::<bool>().prop_map(End::Exit),
    ]
}

fn program(ends: &[End]) -> String {
    let mut text = String::new();
    for (index, end) in ends.iter().enumerate() {
        let guard = |guarded: &bool| if *guarded { "@%p " } else { "" };
        let last = match end {
            End::Fall => "bra F; F: ".replace('F', &format!("F{index}")),
            End::Jump(to) => format!("bra L{to};"),
            End::Maybe(to) => format!("@%p bra L{to};"),
            End::Table(to, guarded) => {
                let labels: Vec<String> = to.iter().map(|to| format!("L{to}")).collect();
                format!(
                    "T{index}: .branchtargets {}; {}brx.idx %r1, T{index};",
                    labels.join(", "),
                    guard(guarded)
                )
            }
            End::Return(guarded) => format!("{}ret;", guard(guarded)),
            End::Exit(guarded) => format!("{}exit;", guard(guarded)),
        };
        text.push_str(&format!("L{index}: {last}\n"));
    }
    text
}

/// Successors by the meaning of each end; the last number is the exit. The second list says where
/// only threads that end go.
fn successors(ends: &[End]) -> (Vec<Vec<usize>>, Vec<bool>) {
    let exit = ends.len();
    let all = ends.iter().enumerate().map(|(index, end)| {
        let next = index + 1;
        let mut to = match end {
            End::Fall => vec![next],
            End::Jump(to) => vec![*to],
            End::Maybe(to) => vec![*to, next],
            End::Table(to, guarded) => {
                let mut to = to.clone();
                to.extend(guarded.then_some(next));
                to
            }
            End::Return(guarded) | End::Exit(guarded) => {
                let mut to = vec![exit];
                to.extend(guarded.then_some(next));
                to
            }
        };
        to.sort_unstable();
        to.dedup();
        to
    });
    (all.collect(), ends.iter().map(|end| matches!(end, End::Exit(_))).collect())
}

/// Whether `to` can be reached from `from` along edges that `allowed` admits.
fn reaches(
    successors: &[Vec<usize>],
    from: usize,
    to: usize,
    allowed: &dyn Fn(usize, usize) -> bool,
) -> bool {
    let mut seen = vec![false; successors.len() + 1];
    let mut stack = vec![from];
    while let Some(node) = stack.pop() {
        if node == to {
            return true;
        }
        if node < successors.len() && !std::mem::replace(&mut seen[node], true) {
            stack.extend(successors[node].iter().copied().filter(|next| allowed(node, *next)));
        }
    }
    false
}

/// Post-dominator sets by the textbook data-flow equations, solved by iteration, and from them the
/// immediate ones. Only blocks that `in_graph` counts.
fn post_dominators(successors: &[Vec<usize>], in_graph: &[bool]) -> Vec<Option<usize>> {
    let exit = successors.len();
    let mut sets: Vec<Vec<bool>> = vec![vec![true; exit + 1]; exit];
    let mut only_exit = vec![false; exit + 1];
    only_exit[exit] = true;
    sets.push(only_exit);
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..exit).filter(|block| in_graph[*block]) {
            let mut set = vec![true; exit + 1];
            for next in successors[block].iter().filter(|next| **next == exit || in_graph[**next]) {
                for (bit, other) in set.iter_mut().zip(&sets[*next]) {
                    *bit &= other;
                }
            }
            set[block] = true;
            if set != sets[block] {
                sets[block] = set;
                changed = true;
            }
        }
    }
    let size = |block: usize| sets[block].iter().filter(|bit| **bit).count();
    (0..exit)
        .map(|block| {
            let strict = (0..=exit).filter(|other| *other != block && sets[block][*other]);
            // The nearest is post-dominated by all the others.
            strict.max_by_key(|other| size(*other)).filter(|_| in_graph[block])
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_agree_with_the_definitions(
        ends in (1_usize..12).prop_flat_map(|blocks| proptest::collection::vec(end(blocks), blocks)),
    ) {
        let mut ends = ends;
        ends.push(End::Return(false));
        // Every block is the target of an unreachable branch, so that it is a block of its own.
        let keep: String = (0..ends.len()).map(|index| format!("bra L{index};")).collect();
        let graph = cfg(&format!("bra L0; {} {keep}", program(&ends)));
        let (next, dies) = successors(&ends);
        let exit = ends.len();
        let to_ours = |block: usize| -> usize { graph_block(&graph, &ends, block) };
        let any = |_: usize, _: usize| true;

        let reachable: Vec<bool> = (0..exit).map(|block| reaches(&next, 0, block, &any)).collect();
        let ends_somewhere: Vec<bool> = (0..exit).map(|block| reaches(&next, block, exit, &any)).collect();
        for (block, reachable) in reachable.iter().copied().enumerate() {
            prop_assert_eq!(graph.is_reachable(to_ours(block)), reachable);
            // Nothing is missing: every reachable block has a post-dominator, endless loop or not.
            prop_assert_eq!(graph.immediate_post_dominator(to_ours(block)).is_some(), reachable);
            prop_assert_eq!(graph.reconvergence(to_ours(block)).is_some(), reachable);
        }
        if (0..exit).any(|block| reachable[block] && !ends_somewhere[block]) {
            // An endless loop: what counts as its end is a choice, tested by example.
            return Ok(());
        }
        let expected = post_dominators(&next, &reachable);
        for block in (0..exit).filter(|block| reachable[*block]) {
            let found = graph.immediate_post_dominator(to_ours(block));
            prop_assert_eq!(found, expected[block].map(to_ours), "block {} of {:?}", block, ends);
        }
        // Reconvergence: the same equations without the edges on which threads end, for blocks from
        // which some lane can survive; else as above.
        let survives_edge = |from: usize, to: usize| !(to == exit && dies[from]);
        let survives: Vec<bool> =
            (0..exit).map(|block| reachable[block] && reaches(&next, block, exit, &survives_edge)).collect();
        let kept: Vec<Vec<usize>> = (0..exit)
            .map(|from| next[from].iter().copied().filter(|to| survives_edge(from, *to)).collect())
            .collect();
        let surviving = post_dominators(&kept, &survives);
        for block in (0..exit).filter(|block| reachable[*block]) {
            let wanted = if survives[block] { surviving[block] } else { expected[block] };
            let found = graph.reconvergence(to_ours(block));
            prop_assert_eq!(found, wanted.map(to_ours), "block {} of {:?}", block, ends);
        }
    }
}

/// The block of the graph that stands for block `index` of the program: what its label leads to.
fn graph_block(cfg: &Cfg, ends: &[End], index: usize) -> BlockId {
    if index == ends.len() {
        return cfg.exit();
    }
    // Each block is one instruction, after the one that enters block 0.
    cfg.block_of(1 + index).expect("an instruction per block")
}
