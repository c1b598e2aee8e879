//! Immediate dominators of a directed graph.
//!
//! The algorithm is that of Lengauer and Tarjan ("A Fast Algorithm for Finding Dominators in a
//! Flowgraph", 1979) with path compression: O(edges * log nodes) on every graph. The simpler
//! iteration of Cooper, Harvey and Kennedy is as fast on the graphs that compilers make, but
//! quadratic on crafted ones, and PTX can come from anywhere.

/// Marks the absence of a node.
const NONE: u32 = u32::MAX;

/// A directed graph over nodes `0..nodes`, stored as adjacency lists in one array.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// Where each node's targets begin; one more entry than nodes.
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// The graph with these edges, in this order per node.
    pub(crate) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; nodes + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; edges.len()];
        for (from, to) in edges {
            let slot = &mut next[*from as usize];
            targets[*slot as usize] = *to;
            *slot += 1;
        }
        Self { starts, targets }
    }

    /// The graph with every edge turned round.
    pub(crate) fn reversed(&self) -> Self {
        let edges: Vec<(u32, u32)> = self.edges().map(|(from, to)| (to, from)).collect();
        Self::new(self.len(), &edges)
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn targets(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.len() as u32).flat_map(|from| self.targets(from).iter().map(move |to| (from, *to)))
    }

    /// Which nodes can be reached from `roots`.
    pub(crate) fn reachable(&self, roots: &[u32]) -> Vec<bool> {
        let mut seen = vec![false; self.len()];
        self.mark_reachable(roots, &mut seen);
        seen
    }

    /// Marks what can be reached from `roots` without passing through what is marked already.
    pub(crate) fn mark_reachable(&self, roots: &[u32], seen: &mut [bool]) {
        let mut stack = Vec::new();
        for root in roots {
            if !std::mem::replace(&mut seen[*root as usize], true) {
                stack.push(*root);
            }
        }
        while let Some(node) = stack.pop() {
            for target in self.targets(node) {
                if !std::mem::replace(&mut seen[*target as usize], true) {
                    stack.push(*target);
                }
            }
        }
    }

    /// Depth-first search from `root`: nodes in the order they are first seen, each one's parent,
    /// and nodes in the order they are left.
    pub(crate) fn depth_first(&self, root: u32) -> Search {
        let mut search = Search {
            number: vec![NONE; self.len()],
            order: vec![root],
            parent: vec![NONE],
            left: Vec::new(),
        };
        search.number[root as usize] = 0;
        // Each entry: a node and how many of its targets have been looked at.
        let mut stack = vec![(root, 0_usize)];
        while let Some((node, looked)) = stack.last_mut() {
            let node = *node;
            if let Some(&target) = self.targets(node).get(*looked) {
                *looked += 1;
                if search.number[target as usize] == NONE {
                    search.number[target as usize] = search.order.len() as u32;
                    search.order.push(target);
                    search.parent.push(search.number[node as usize]);
                    stack.push((target, 0));
                }
            } else {
                search.left.push(node);
                stack.pop();
            }
        }
        search
    }
}

/// What [`Graph::depth_first`] finds out.
pub(crate) struct Search {
    /// Position in `order`, by node; `NONE` if not reached.
    number: Vec<u32>,
    /// Nodes as they are first seen.
    order: Vec<u32>,
    /// Number of the parent in the search tree, by number.
    parent: Vec<u32>,
    /// Nodes as they are left: reversed, this is a topological order but for back edges.
    pub(crate) left: Vec<u32>,
}

/// The immediate dominator of each node in a search from `root`; `None` for the root and for nodes
/// that it does not reach.
pub(crate) fn immediate_dominators(graph: &Graph, root: u32) -> Vec<Option<u32>> {
    let Search { number, order, parent, .. } = graph.depth_first(root);
    let predecessors = graph.reversed();
    let count = order.len();
    // From here on nodes go by their number in the search.
    let mut forest = Forest {
        semi: (0..count as u32).collect(),
        label: (0..count as u32).collect(),
        ancestor: vec![NONE; count],
        path: Vec::new(),
    };
    let mut dominator = vec![0_u32; count];
    // Nodes whose semidominator is the index, as linked lists.
    let mut bucket = vec![NONE; count];
    let mut next_in_bucket = vec![NONE; count];

    for node in (1..count).rev() {
        for predecessor in predecessors.targets(order[node]) {
            let predecessor = number[*predecessor as usize];
            if predecessor != NONE {
                let best = forest.evaluate(predecessor);
                forest.semi[node] = forest.semi[node].min(forest.semi[best as usize]);
            }
        }
        let semi = forest.semi[node] as usize;
        next_in_bucket[node] = std::mem::replace(&mut bucket[semi], node as u32);
        forest.ancestor[node] = parent[node];
        let mut waiting = std::mem::replace(&mut bucket[parent[node] as usize], NONE);
        while waiting != NONE {
            let best = forest.evaluate(waiting);
            let closer = forest.semi[best as usize] < forest.semi[waiting as usize];
            dominator[waiting as usize] = if closer { best } else { parent[node] };
            waiting = next_in_bucket[waiting as usize];
        }
    }
    let mut result = vec![None; graph.len()];
    for node in 1..count {
        if dominator[node] != forest.semi[node] {
            dominator[node] = dominator[dominator[node] as usize];
        }
        result[order[node] as usize] = Some(order[dominator[node] as usize]);
    }
    result
}

/// The forest of nodes already processed, with path compression.
struct Forest {
    semi: Vec<u32>,
    label: Vec<u32>,
    ancestor: Vec<u32>,
    /// Kept between calls to spare allocations.
    path: Vec<u32>,
}

impl Forest {
    /// The node with the smallest semidominator on the way from `node` to below its root.
    fn evaluate(&mut self, node: u32) -> u32 {
        let mut at = node;
        while self.ancestor[at as usize] != NONE
            && self.ancestor[self.ancestor[at as usize] as usize] != NONE
        {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        while let Some(at) = self.path.pop() {
            let above = self.ancestor[at as usize];
            let (best, own) = (self.label[above as usize], self.label[at as usize]);
            if self.semi[best as usize] < self.semi[own as usize] {
                self.label[at as usize] = best;
            }
            self.ancestor[at as usize] = self.ancestor[above as usize];
        }
        self.label[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Dominator sets by definition: `d` dominates `n` if `n` cannot be reached once `d` is removed.
    fn by_definition(nodes: usize, edges: &[(u32, u32)], root: u32) -> Vec<Option<u32>> {
        let reach = |removed: Option<u32>| {
            let left: Vec<(u32, u32)> = edges
                .iter()
                .copied()
                .filter(|(from, to)| Some(*from) != removed && Some(*to) != removed)
                .collect();
            if removed == Some(root) {
                vec![false; nodes]
            } else {
                Graph::new(nodes, &left).reachable(&[root])
            }
        };
        let all = reach(None);
        let dominators: Vec<Vec<u32>> = (0..nodes)
            .map(|node| {
                (0..nodes as u32)
                    .filter(|d| {
                        *d != node as u32 && all[node] && all[*d as usize] && !reach(Some(*d))[node]
                    })
                    .collect()
            })
            .collect();
        (0..nodes)
            .map(|node| {
                // The immediate one is dominated by all the others.
                dominators[node].iter().copied().max_by_key(|d| dominators[*d as usize].len())
            })
            .collect()
    }

    #[test]
    fn the_graph_of_the_paper() {
        // Figure 1 of Lengauer and Tarjan: R A B C D E F G H I J K L = 0..12.
        let edges = [
            (0, 1),
            (0, 2),
            (0, 3),
            (1, 4),
            (2, 1),
            (2, 4),
            (2, 5),
            (3, 6),
            (3, 7),
            (4, 12),
            (5, 8),
            (6, 9),
            (7, 9),
            (7, 10),
            (8, 5),
            (8, 11),
            (9, 11),
            (10, 9),
            (11, 9),
            (11, 0),
            (12, 8),
        ];
        let expected = [
            None,
            Some(0),
            Some(0),
            Some(0),
            Some(0),
            Some(0),
            Some(3),
            Some(3),
            Some(0),
            Some(0),
            Some(7),
            Some(0),
            Some(4),
        ];
        assert_eq!(immediate_dominators(&Graph::new(13, &edges), 0), expected);
        assert_eq!(by_definition(13, &edges, 0), expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn agrees_with_the_definition(
            nodes in 1_u32..14,
            edges in proptest::collection::vec((0_u32..14, 0_u32..14), 0..40),
            root in 0_u32..14,
        ) {
            let edges: Vec<(u32, u32)> =
                edges.into_iter().map(|(from, to)| (from % nodes, to % nodes)).collect();
            let root = root % nodes;
            let graph = Graph::new(nodes as usize, &edges);
            prop_assert_eq!(
                immediate_dominators(&graph, root),
                by_definition(nodes as usize, &edges, root)
            );
        }
    }

    #[test]
    fn a_long_chain_with_shortcuts_is_not_quadratic() {
        // 0 -> 1 -> … -> n, and n more nodes each entered from both ends of the chain: an
        // algorithm that climbs the tree for each of them takes n * n steps.
        let chain = 200_000;
        let mut edges: Vec<(u32, u32)> = (0..chain).map(|node| (node, node + 1)).collect();
        for node in chain + 1..2 * chain {
            edges.extend([(0, node), (chain, node)]);
        }
        let graph = Graph::new(2 * chain as usize, &edges);
        let start = std::time::Instant::now();
        let dominators = immediate_dominators(&graph, 0);
        assert_eq!(dominators[chain as usize], Some(chain - 1));
        assert!(dominators[chain as usize + 1..].iter().all(|d| *d == Some(0)));
        assert!(start.elapsed().as_secs() < 10, "took {:?}", start.elapsed());
    }
}
