//! From sums for each operation to the counters of a launch.

use std::collections::BTreeMap;

use ptx::SourceMap;

use super::activity::Activity;
use super::class::OpClass;
use super::per_op::{MemorySums, PerOp};
use crate::op::OpKind;
use crate::program::{Place, Program, SourceLine, SourcePosition};

/// The counters of one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// The kernel's name as in PTX.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Everything together.
    pub total: Activity,
    /// Instructions by class, classes without instructions left out.
    pub classes: Vec<ClassCounters>,
    /// Every PTX instruction that the kernel can reach, also those that were not executed, in the order of the text.
    pub instructions: Vec<InstructionCounters>,
    /// The lines of the program's own source that instructions come from, by file and line. Empty when the PTX has no `.loc`.
    pub lines: Vec<LineCounters>,
}

/// Instructions of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCounters {
    /// The class.
    pub class: OpClass,
    /// As [`Activity::warp_instructions`].
    pub warp_instructions: u64,
    /// As [`Activity::thread_instructions`].
    pub thread_instructions: u64,
}

/// One PTX instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionCounters {
    /// The function's name as in PTX.
    pub function: String,
    /// Line in the PTX text, 1-based.
    pub line: u32,
    /// Column in characters, 1-based.
    pub column: u32,
    /// The instruction's text, on one line.
    pub text: String,
    /// Its class.
    pub class: OpClass,
    /// Where it comes from, with the chain of inlined calls.
    pub source: Option<SourceLine>,
    /// Its sums.
    pub activity: Activity,
}

/// One line of the program's own source. An instruction is booked on the innermost position of its chain of inlined calls that is
/// not in the standard library or a registry crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCounters {
    /// File and line; the column is 0.
    pub position: SourcePosition,
    /// Its sums.
    pub activity: Activity,
}

impl Counters {
    /// The counters of a launch of `kernel` that added up `sums` for `program`. Without such a kernel there are no counters.
    #[must_use]
    pub fn summarise(
        program: &Program,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        sums: &PerOp,
    ) -> Counters {
        let mut counters =
            Counters { kernel: kernel.to_owned(), grid, block, ..Counters::default() };
        let Some(info) = program.kernel(kernel) else {
            return counters;
        };
        let map = SourceMap::new(&program.source);
        let mut functions = info.reachable.clone();
        functions.sort_unstable();
        for index in functions {
            let Some(function) = program.functions.get(index as usize) else {
                continue;
            };
            let end = program
                .functions
                .get(index as usize + 1)
                .map_or(program.ops.len(), |next| next.start as usize);
            let mut start = function.start as usize;
            while let Some(place) = program.places.get(start).filter(|_| start < end) {
                // An instruction can take several operations; they begin at one place. (Spans compare equal always.)
                let same = program.places[start..end]
                    .iter()
                    .take_while(|other| other.span.start == place.span.start)
                    .count();
                let operations = start..start + same;
                start += same;
                if let Some((class, activity)) = instruction(program, operations, sums) {
                    let at = map.position(place.span.start);
                    counters.instructions.push(InstructionCounters {
                        function: function.name.clone(),
                        line: at.line,
                        column: at.column,
                        text: one_line(map.text(place.span)),
                        class,
                        source: source_line(program, place).cloned(),
                        activity,
                    });
                }
            }
        }
        counters.add_up();
        counters
    }

    /// Adds the counters of another launch of the same kernel of the same program, with the same grid and block. False, with nothing
    /// added, if it is another's.
    #[must_use]
    pub fn add(&mut self, other: &Counters) -> bool {
        let same = |own: &InstructionCounters, other: &InstructionCounters| {
            (own.line, own.column) == (other.line, other.column) && own.text == other.text
        };
        let fits = (&self.kernel, self.grid, self.block)
            == (&other.kernel, other.grid, other.block)
            && self.instructions.len() == other.instructions.len()
            && self
                .instructions
                .iter()
                .zip(&other.instructions)
                .all(|(own, other)| same(own, other));
        if fits {
            for (own, other) in self.instructions.iter_mut().zip(&other.instructions) {
                own.activity.add(&other.activity);
            }
            self.total = Activity::default();
            self.add_up();
        }
        fits
    }

    /// Totals, classes and source lines from the instructions.
    fn add_up(&mut self) {
        let mut classes: BTreeMap<OpClass, (u64, u64)> = BTreeMap::new();
        let mut lines: BTreeMap<(&str, u32), Activity> = BTreeMap::new();
        for instruction in &self.instructions {
            let activity = &instruction.activity;
            self.total.add(activity);
            let class = classes.entry(instruction.class).or_default();
            class.0 += activity.warp_instructions;
            class.1 += activity.thread_instructions;
            let source = instruction.source.as_ref();
            if let Some(position) = source.and_then(crate::diagnostic::own_position)
                && position.line != 0
            {
                lines.entry((&position.file, position.line)).or_default().add(activity);
            }
        }
        self.classes = classes
            .into_iter()
            .filter(|(_, counts)| counts.0 != 0)
            .map(|(class, (warp_instructions, thread_instructions))| ClassCounters {
                class,
                warp_instructions,
                thread_instructions,
            })
            .collect();
        self.lines = lines
            .into_iter()
            .map(|((file, line), activity)| LineCounters {
                position: SourcePosition { file: file.to_owned(), line, column: 0 },
                activity,
            })
            .collect();
    }
}

fn source_line<'a>(program: &'a Program, place: &Place) -> Option<&'a SourceLine> {
    program.lines.get(place.line as usize)
}

/// Class and sums of an instruction from its operations; `None` if they are no instruction.
fn instruction(
    program: &Program,
    operations: std::ops::Range<usize>,
    sums: &PerOp,
) -> Option<(OpClass, Activity)> {
    let of = |counts: &[u64], at: usize| counts.get(at).copied().unwrap_or(0);
    let mut found = None;
    let mut activity = Activity::default();
    let mut memory = MemorySums::default();
    for at in operations {
        memory.merge(sums.memory.get(at).unwrap_or(&MemorySums::default()));
        let class = program.classes.get(at).copied().unwrap_or(OpClass::Part);
        if class == OpClass::Part {
            continue;
        }
        found = Some(class);
        activity.warp_instructions += of(&sums.warp_executions, at);
        activity.thread_instructions += of(&sums.thread_executions, at);
        match program.ops.get(at).map(|op| &op.kind) {
            Some(OpKind::Branch { .. } | OpKind::BranchTable { .. }) => {
                activity.branches += of(&sums.warp_executions, at);
                activity.divergent_branches += of(&sums.divergent, at);
            }
            Some(OpKind::Barrier(_)) => {
                activity.barriers += of(&sums.warp_executions, at);
                activity.barrier_waits += of(&sums.waits, at);
            }
            _ => {}
        }
    }
    let class = found?;
    book_memory(&mut activity, class, &memory);
    Some((class, activity))
}

/// Books memory accesses by what the instruction does.
fn book_memory(activity: &mut Activity, class: OpClass, memory: &MemorySums) {
    use super::activity::{GlobalTraffic, SharedTraffic};
    let global = GlobalTraffic {
        requests: memory.requests,
        bytes: memory.bytes,
        sectors: memory.sectors,
        ideal_sectors: memory.ideal_sectors,
        lines: memory.lines,
    };
    let shared = SharedTraffic {
        requests: memory.shared_requests,
        bytes: memory.shared_bytes,
        wavefronts: memory.wavefronts,
        ideal_wavefronts: memory.ideal_wavefronts,
        max_degree: memory.max_degree,
    };
    match class {
        OpClass::Load(_) => {
            activity.global_loads = global;
            activity.shared_loads = shared;
            activity.local_load_bytes = memory.local_bytes;
        }
        OpClass::Store(_) => {
            activity.global_stores = global;
            activity.shared_stores = shared;
            activity.local_store_bytes = memory.local_bytes;
        }
        OpClass::Atomic(_) => {
            activity.global_atomics = global;
            activity.shared_atomics = shared;
            activity.max_lanes_on_one_address = memory.max_same_address;
        }
        // From global to shared memory.
        OpClass::Copy => {
            activity.global_loads = global;
            activity.shared_stores = shared;
        }
        _ => {}
    }
}

/// The text without line breaks and repeated blanks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::{GlobalCost, MemorySpace, SharedCost};
    use super::*;

    const SOURCE: &str = ".version 8.6
.target sm_90
.address_size 64
.file 1 \"kernel.rs\"
.func (.reg .u32 %result) twice(.reg .u32 %value)
{
    add.u32 %result, %value, %value;
    ret;
}
.func unused() { trap; }
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .reg .pred %p<3>;
    .shared .align 4 .b8 tile[128];
    .loc 1 10 5
    ld.param.b64 %d1, [p];
    mov.u32 %r1, %tid.x;
    mov.u64 %d4, %clock64;
    .loc 1 11 5
    mov.b64 {%r3, %r4}, %d4;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.b32 %r2, [%d3];
    setp.lt.u32 %p1, %r2, 7;
    @%p1 bra $skip;
    .loc 1 12 9
    call (%r5), twice, (%r2);
    st.shared.b32 [tile], %r5;
    bar.sync 0;
$skip:
    .loc 1 11 5
    red.global.add.u32 [%d3], %r2;
    cp.async.bulk.commit_group;
    ret;
}
";

    fn program() -> Program {
        Program::compile(SOURCE).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Sums in which every operation was executed once by a full warp.
    fn once(program: &Program) -> PerOp {
        let mut sums = PerOp::new(program.ops.len());
        for pc in 0..program.ops.len() as u32 {
            sums.executed(pc, 32);
        }
        sums
    }

    fn summary(program: &Program, sums: &PerOp) -> Counters {
        Counters::summarise(program, "k", [2, 1, 1], [32, 1, 1], sums)
    }

    /// The position of the operation that counts for the instruction with this text.
    fn position(program: &Program, text: &str) -> u32 {
        let map = SourceMap::new(&program.source);
        let at = program.places.iter().zip(&program.classes).position(|(place, class)| {
            *class != OpClass::Part && map.text(place.span).starts_with(text)
        });
        at.unwrap_or_else(|| panic!("no `{text}`")) as u32
    }

    #[test]
    fn every_instruction_counts_once() {
        let program = program();
        let counters = summary(&program, &once(&program));
        // `call` and `mov` of a pair take several operations; `twice` is reached, `unused` is not.
        let texts: Vec<&str> = counters.instructions.iter().map(|i| i.text.as_str()).collect();
        assert_eq!(texts.len(), 17, "{texts:#?}");
        assert!(!texts.iter().any(|text| text.starts_with("trap")));
        for instruction in &counters.instructions {
            let activity = instruction.activity;
            let counts = (activity.warp_instructions, activity.thread_instructions);
            assert_eq!(counts, (1, 32), "{}", instruction.text);
        }
        assert_eq!(counters.total.warp_instructions, 17);
        assert_eq!(counters.total.average_active_lanes(), Some(32.0));
        let classes: u64 = counters.classes.iter().map(|class| class.warp_instructions).sum();
        assert_eq!(classes, 17);
    }

    #[test]
    fn classes_come_from_the_instruction_not_from_its_operations() {
        let program = program();
        let counters = summary(&program, &once(&program));
        let count = |class| {
            counters.classes.iter().find(|c| c.class == class).map_or(0, |c| c.warp_instructions)
        };
        assert_eq!(count(OpClass::Control), 4); // bra, call, two ret
        assert_eq!(count(OpClass::Move), 3);
        assert_eq!(count(OpClass::Integer), 4);
        assert_eq!(count(OpClass::Barrier), 1);
        assert_eq!(count(OpClass::Atomic(MemorySpace::Global)), 1);
        assert_eq!(count(OpClass::Load(MemorySpace::Param)), 1);
        // The call's argument and result go through memory in the machine, not in the program.
        assert_eq!(count(OpClass::Load(MemorySpace::Global)), 1);
        assert_eq!(count(OpClass::Store(MemorySpace::Shared)), 1);
    }

    #[test]
    fn accesses_are_booked_by_what_the_instruction_does() {
        let program = program();
        let mut sums = once(&program);
        let cost = |sectors| GlobalCost { sectors, lines: 2, ideal_sectors: 4 };
        sums.global(position(&program, "ld.global"), cost(8), 128, 1);
        sums.global(position(&program, "red.global"), cost(16), 128, 1);
        sums.atomic(position(&program, "red.global"), 5);
        let shared = SharedCost { wavefronts: 4, ideal_wavefronts: 1, degree: 4 };
        sums.shared(position(&program, "st.shared"), shared, 64, 1);
        sums.diverged(position(&program, "@%p1 bra"));
        sums.waited(position(&program, "bar.sync"));
        let counters = summary(&program, &sums);
        let total = &counters.total;
        assert_eq!(total.global_loads.efficiency(), Some(0.5));
        assert_eq!(total.global_loads.sectors_per_request(), Some(8.0));
        assert_eq!(total.global_stores.efficiency(), None);
        assert_eq!((total.global_atomics.sectors, total.max_lanes_on_one_address), (16, 5));
        assert_eq!((total.global().requests, total.global().lines), (2, 4));
        assert_eq!(total.shared_stores.conflict_degree(), Some(4.0));
        assert_eq!((total.shared().bank_conflicts(), total.atomic_requests()), (3, 1));
        assert_eq!((total.branches, total.divergent_branches), (1, 1));
        assert_eq!((total.barriers, total.barrier_waits), (1, 1));
    }

    #[test]
    fn source_lines_gather_their_instructions() {
        let program = program();
        let mut sums = once(&program);
        let cost = GlobalCost { sectors: 8, lines: 2, ideal_sectors: 4 };
        sums.global(position(&program, "ld.global"), cost, 128, 1);
        let counters = summary(&program, &sums);
        let lines: Vec<(u32, u64, u64)> = counters
            .lines
            .iter()
            .map(|line| {
                let activity = &line.activity;
                (line.position.line, activity.warp_instructions, activity.global().sectors)
            })
            .collect();
        // `twice` has no `.loc`.
        assert_eq!(lines, [(10, 3, 0), (11, 9, 8), (12, 3, 0)]);
        assert_eq!(counters.lines[0].position.file, "kernel.rs");
    }

    #[test]
    fn launches_add_up() {
        let program = program();
        let mut sums = once(&program);
        sums.atomic(position(&program, "red.global"), 5);
        let one = summary(&program, &sums);
        let mut two = one.clone();
        assert!(two.add(&one));
        let again = {
            let mut twice = sums.clone();
            twice.merge(&sums);
            summary(&program, &twice)
        };
        assert_eq!(two, again);
        assert_eq!((two.total.warp_instructions, two.total.max_lanes_on_one_address), (34, 5));
        // Another shape is another row.
        let other = Counters::summarise(&program, "k", [9, 1, 1], [32, 1, 1], &sums);
        assert!(!two.add(&other));
        assert_eq!(two, again);
    }

    #[test]
    fn unknown_kernels_and_short_sums_give_zeros() {
        let program = program();
        let none = Counters::summarise(&program, "nothing", [1; 3], [1; 3], &PerOp::new(0));
        assert!(none.instructions.is_empty());
        let zeros = summary(&program, &PerOp::new(3));
        assert_eq!((zeros.total.warp_instructions, zeros.instructions.len()), (0, 17));
        assert!(zeros.classes.is_empty());
        assert_eq!(zeros.total.average_active_lanes(), None);
    }
}
