//! Whether what threads saw could be: an order of their operations in which each finds what the one before left.

use std::collections::HashMap;

/// A memory place's bits, before and after an operation.
pub type Step = (u64, u64);

/// Whether `steps`, in some order, lead from `first` to `last`, each starting where the one before ended.
///
/// The values are the nodes of a graph, and the steps its edges: such an order is an Eulerian trail. There is one if all
/// edges hang together and each node has as many edges in as out, but for the ends.
pub fn could_be(first: u64, last: u64, steps: &[Step]) -> bool {
    let mut excess: HashMap<u64, i64> = HashMap::new();
    for (from, to) in steps.iter().copied().chain([(last, first)]) {
        *excess.entry(from).or_default() += 1;
        *excess.entry(to).or_default() -= 1;
    }
    // With an edge from the last value to the first, the trail is a circuit.
    excess.values().all(|excess| *excess == 0) && hang_together(first, steps)
}

/// Whether each step can be reached from `first`; directions don't matter where the numbers of edges agree.
fn hang_together(first: u64, steps: &[Step]) -> bool {
    let mut neighbours: HashMap<u64, Vec<u64>> = HashMap::new();
    for &(from, to) in steps {
        neighbours.entry(from).or_default().push(to);
        neighbours.entry(to).or_default().push(from);
    }
    let mut reached = std::collections::HashSet::from([first]);
    let mut to_visit = vec![first];
    while let Some(value) = to_visit.pop() {
        for &next in neighbours.get(&value).into_iter().flatten() {
            if reached.insert(next) {
                to_visit.push(next);
            }
        }
    }
    neighbours.keys().all(|value| reached.contains(value))
}

#[test]
fn histories_that_can_and_cannot_be() {
    assert!(could_be(5, 5, &[]));
    assert!(!could_be(5, 6, &[]));
    // 0 -> 2 -> 0 -> 1 -> 1 -> 3
    assert!(could_be(0, 3, &[(0, 1), (1, 3), (0, 2), (2, 0), (1, 1)]));
    // A lost update: two threads saw 0.
    assert!(!could_be(0, 1, &[(0, 1), (0, 1)]));
    // A value that was never there.
    assert!(!could_be(0, 1, &[(0, 1), (7, 7)]));
    assert!(!could_be(0, 1, &[(0, 1), (7, 8), (8, 7)]));
}
