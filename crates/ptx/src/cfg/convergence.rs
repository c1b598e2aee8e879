//! Where control has been and where it meets again.

use super::dominators::{Graph, immediate_dominators};
use super::{BasicBlock, BlockEnd, BlockId, narrow};

/// Dominance in both directions. Node `blocks.len()` is the virtual exit.
pub(super) struct Convergence {
    pub(super) reachable: Vec<bool>,
    pub(super) dominator: Vec<Option<u32>>,
    pub(super) post_dominator: Vec<Option<u32>>,
    pub(super) reconvergence: Vec<Option<u32>>,
}

impl Convergence {
    pub(super) fn new(blocks: &[BasicBlock], successors: &[Vec<BlockId>]) -> Self {
        let nodes = successors.len();
        let exit = narrow(blocks.len());
        let edges: Vec<(u32, u32)> = successors
            .iter()
            .enumerate()
            .flat_map(|(from, targets)| targets.iter().map(move |to| (narrow(from), narrow(*to))))
            .collect();
        let forward = Graph::new(nodes, &edges);
        // Node 0 is the entry, or the virtual exit of an empty body.
        let reachable = forward.reachable(&[0]);
        let dominator = immediate_dominators(&forward, 0);

        // Blocks that no path reaches have no say in where lanes meet.
        let mut edges: Vec<(u32, u32)> =
            edges.into_iter().filter(|(from, _)| reachable[*from as usize]).collect();
        let backward = Graph::new(nodes, &edges).reversed();
        let mut ends = backward.reachable(&[exit]);
        let mut endless = Vec::new();
        // In reverse post-order the last block of those that never end lies in a loop that nothing
        // leaves, and closes it.
        for node in forward.depth_first(0).left {
            if !ends[node as usize] {
                backward.mark_reachable(&[node], &mut ends);
                endless.push((node, exit));
            }
        }
        edges.extend(endless);
        let post_dominator = immediate_dominators(&Graph::new(nodes, &edges).reversed(), exit);

        // Without the edges on which a thread ends, only surviving lanes count.
        let terminates = |from: u32| {
            matches!(
                blocks.get(from as usize),
                Some(BasicBlock { end: BlockEnd::Terminate { .. }, .. })
            )
        };
        let surviving: Vec<(u32, u32)> = edges
            .iter()
            .copied()
            .filter(|(from, to)| !(*to == exit && terminates(*from)))
            .collect();
        let surviving = Graph::new(nodes, &surviving).reversed();
        let reconvergence = immediate_dominators(&surviving, exit)
            .into_iter()
            .zip(&post_dominator)
            .map(|(survivors, all)| survivors.or(*all))
            .collect();
        Self { reachable, dominator, post_dominator, reconvergence }
    }
}
