//! PTX ISA, Control Flow Instructions, Miscellaneous Instructions, and Parallel Synchronization: barriers and fences.

use super::super::row::Family::{
    Barrier, Branch, Breakpoint, Call, Exit, Fence, GridDependency, ProfilerEvent, RegisterCount,
    Return, Sleep, Trap,
};
use super::super::row::{Row, row};

const IN_ORDER: &str = "accesses happen one at a time and in order, so that it has nothing to do";

pub(super) const ROWS: &[Row] = &[
    row("bra{.uni}", "=L", Branch).test("control_flow::nested_divergence_with_early_exits"),
    row("brx.idx{.uni}", "b32, =T", Branch).since(60, 30).test("control_flow::branch_tables"),
    row("call{.uni}", "=f", Call).test("calls::structures_and_several_parameters"),
    row("ret{.uni}", "", Return).test("calls::structures_and_several_parameters"),
    row("exit", "", Exit).golden("warp"),
    row("trap", "", Trap).test("panics::a_bare_trap_is_no_panic"),
    row("brkpt", "", Breakpoint)
        .test("conformance::breakpoints")
        .but("there is no debugger: it ends the launch as a trap does"),
    row("nanosleep.u32", "t", Sleep)
        .since(63, 70)
        .test("divergence::nanosleep_lets_others_run")
        .but("gives way to other warps for one turn, whatever the time"),
    row("pmevent{.mask}", "#1", ProfilerEvent)
        .since(14, 0)
        .test("conformance::hints_to_the_scheduler")
        .but("there is no profiler to tell"),
    row("griddepcontrol.launch_dependents,wait", "", GridDependency)
        .since(78, 90)
        .test("conformance::hints_to_the_scheduler")
        .but("grids run one after the other"),
    row("setmaxnreg.inc,dec.sync.aligned.u32", "#64", RegisterCount)
        .since(80, 90)
        .test("conformance::hints_to_the_scheduler")
        .but("registers are not shared out among warps"),
    row("bar{.cta}.sync", "#0", Barrier).test("conformance::barriers_by_their_other_names"),
    row("bar{.cta}.arrive", "#1, #64", Barrier)
        .since(20, 20)
        .test("conformance::barriers_by_their_other_names"),
    row("bar{.cta}.red.popc.u32", "b32, #0, p", Barrier).since(20, 20).golden("warp"),
    row("bar{.cta}.red.and,or.pred", "p, #0, p", Barrier).since(20, 20).golden("warp"),
    row("barrier{.cta}.sync{.aligned}", "#0", Barrier)
        .since(60, 30)
        .test("conformance::barriers_by_their_other_names"),
    row("barrier{.cta}.arrive{.aligned}", "#1, #64", Barrier)
        .since(60, 30)
        .test("conformance::barriers_by_their_other_names"),
    row("barrier{.cta}.red.popc{.aligned}.u32", "b32, #0, p", Barrier).since(60, 30).golden("warp"),
    row("barrier{.cta}.red.and,or{.aligned}.pred", "p, #0, p", Barrier)
        .since(60, 30)
        .golden("warp"),
    row("barrier.cluster.arrive{.release,relaxed}{.aligned}", "", Barrier)
        .since(78, 90)
        .test("clusters::phases_follow_each_other"),
    row("barrier.cluster.wait{.acquire}{.aligned}", "", Barrier)
        .since(78, 90)
        .test("clusters::phases_follow_each_other"),
    row("bar.warp.sync", "b32", Barrier)
        .since(60, 30)
        .test("conformance::lanes_wait_for_each_other"),
    row("membar.cta,gl,sys", "", Fence).since(14, 0).golden("atom").but(IN_ORDER),
    row("membar.proxy.alias,async", "", Fence)
        .since(75, 70)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence{.sc,acq_rel,acquire,release}.@scope", "", Fence)
        .since(60, 70)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.mbarrier_init.release.cluster", "", Fence)
        .since(80, 90)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.acquire.sync_restrict::shared::cluster.cluster", "", Fence)
        .since(86, 90)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.release.sync_restrict::shared::cta.cluster", "", Fence)
        .since(86, 90)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.proxy.alias,async", "", Fence)
        .since(75, 70)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.proxy.async.global,shared::cta,shared::cluster", "", Fence)
        .since(80, 90)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "", Fence)
        .since(86, 90)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", "", Fence)
        .since(86, 90)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.proxy.tensormap::generic.release.@scope", "", Fence)
        .since(83, 90)
        .test("conformance::fences")
        .but(IN_ORDER),
    row("fence.proxy.tensormap::generic.acquire.@scope", "[b64], #128", Fence)
        .since(83, 90)
        .test("conformance::fences")
        .but(IN_ORDER),
];
