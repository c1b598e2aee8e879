//! PTX ISA, Asynchronous Copy Instructions, mbarrier, clusters and tensor maps.

use super::super::row::Family::{AsyncCopy, BlockRank, MapAddress, Mbarrier};
use super::super::row::{Row, missing, row};

const BULK: &str = "bulk copies are not implemented";
const REMOTE: &str = "asynchronous stores to other blocks of the cluster are not implemented";
const CONTROL: &str = "clusters are launched by the host alone";
const TENSOR: &str = "tensor maps are not implemented";
const LATE: &str = "a copy takes effect at the wait, not before, so that a missing wait is seen";

pub(super) const ROWS: &[Row] = &[
    row("cp.async.ca,cg.shared,shared::cta.global{.L2::cache_hint}{.@fetch}", "[b64], [b64], #16, b64?L2::cache_hint", AsyncCopy).since(70, 80).golden("async").but(LATE),
    row("cp.async.commit_group", "", AsyncCopy).since(70, 80).test("async_copies::groups_complete_in_order"),
    row("cp.async.wait_group", "#0", AsyncCopy).since(70, 80).test("async_copies::groups_complete_in_order"),
    row("cp.async.wait_all", "", AsyncCopy).since(70, 80).test("async_copies::a_copy_takes_effect_at_the_wait"),
    row("cp.async.mbarrier.arrive{.noinc}{.shared,shared::cta}.b64", "[b64]", AsyncCopy).since(70, 80).test("conformance::phases_waited_for_by_their_state"),
    missing("cp.async.bulk.*", "", 80, 90, BULK),
    missing("cp.reduce.async.bulk.*", "", 80, 90, BULK),
    row("mbarrier.init{.shared,shared::cta}.b64", "[b64], b32", Mbarrier).since(70, 80).golden("async"),
    row("mbarrier.inval{.shared,shared::cta}.b64", "[b64]", Mbarrier).since(70, 80).golden("async"),
    row("mbarrier.expect_tx,complete_tx{.relaxed.cta,cluster}{.@shared}.b64", "[b64], b32", Mbarrier).since(80, 90).golden("async"),
    row("mbarrier.arrive,arrive_drop{.release,relaxed.cta,cluster}{.shared,shared::cta}.b64", "b64, [b64]", Mbarrier).since(70, 80).golden("async"),
    row("mbarrier.arrive,arrive_drop{.release,relaxed.cta,cluster}.shared::cluster.b64", "=_, [b64]", Mbarrier).since(80, 90).test("conformance::arrivals_at_an_object_of_the_cluster"),
    row("mbarrier.arrive,arrive_drop.expect_tx{.release,relaxed.cta,cluster}{.shared,shared::cta}.b64", "b64, [b64], b32", Mbarrier).since(80, 90).golden("async"),
    row("mbarrier.arrive,arrive_drop.expect_tx{.release,relaxed.cta,cluster}.shared::cluster.b64", "=_, [b64], b32", Mbarrier).since(80, 90).test("conformance::arrivals_at_an_object_of_the_cluster"),
    row("mbarrier.arrive,arrive_drop.noComplete{.release.cta}{.shared,shared::cta}.b64", "b64, [b64], b32", Mbarrier).since(70, 80).golden("async"),
    row("mbarrier.test_wait,try_wait{.acquire,relaxed.cta,cluster}{.shared,shared::cta}.b64", "p, [b64], b64", Mbarrier).since(70, 80).test("conformance::phases_waited_for_by_their_state"),
    row("mbarrier.test_wait,try_wait.parity{.acquire,relaxed.cta,cluster}{.shared,shared::cta}.b64", "p, [b64], b32", Mbarrier).since(71, 80).golden("async"),
    row("mbarrier.pending_count.b64", "b32, b64", Mbarrier).since(70, 80).test("conformance::phases_waited_for_by_their_state"),
    missing("st.async.*", "", 81, 90, REMOTE),
    missing("st.bulk{.weak}{.shared::cta}", "[b64], b64, #0", 86, 100, BULK),
    missing("red.async.*", "", 81, 90, REMOTE),
    row("mapa{.shared::cluster}.u32,u64", "t, t, b32", MapAddress).since(78, 90).test("clusters::own_addresses_have_the_rank"),
    row("getctarank{.shared::cluster}.u32,u64", "b32, t", BlockRank).since(78, 90).test("clusters::own_addresses_have_the_rank"),
    missing("clusterlaunchcontrol.*", "", 86, 100, CONTROL),
    missing("multimem.*", "", 81, 90, "there is one device, so that nothing is multicast"),
    missing("tensormap.*", "", 83, 90, TENSOR),
];
