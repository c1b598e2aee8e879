//! Whether it can be known before a launch how much stack a kernel takes.
//!
//! ptxas adds up the frames along the calls, and takes a call by address for a call of every function with these parameters whose
//! address is taken. Where calls come back to a function that is active already there is no sum. So it was seen in what ptxas 13.5 writes
//! of kernels (`EIATTR_MIN_STACK_SIZE`). Such a kernel has what the context's limit says (CUDA Driver API, `CU_LIMIT_STACK_SIZE`).

use std::collections::HashMap;

use crate::program::{Function, Signature};

/// For each function, whether calls from it can come back to a function that is active already.
pub(super) fn meet_circles(functions: &[Function], taken: &[u32]) -> Vec<bool> {
    // A call by address goes to the node of its signature, which comes behind those of the functions, and from there to the functions.
    let mut nodes: HashMap<&Signature, usize> = HashMap::new();
    let called = functions.iter().flat_map(|function| &function.calls_by_address);
    for signature in called {
        let next = functions.len() + nodes.len();
        nodes.entry(signature).or_insert(next);
    }
    let count = functions.len() + nodes.len();
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut calls = vec![0usize; count];
    let mut call = |from: usize, to: usize| {
        if let Some(callers) = callers.get_mut(to) {
            callers.push(from);
            calls[from] += 1;
        }
    };
    for (index, function) in functions.iter().enumerate() {
        function.callees.iter().for_each(|callee| call(index, *callee as usize));
        for signature in &function.calls_by_address {
            call(index, nodes[signature]);
        }
    }
    for index in taken {
        let function = functions.get(*index as usize);
        if let Some(node) = function.and_then(|function| nodes.get(&function.signature)) {
            call(*node, *index as usize);
        }
    }
    // Functions that call nothing go, then those that called nothing but these. What stays meets a circle.
    let mut ended: Vec<usize> = (0..count).filter(|node| calls[*node] == 0).collect();
    while let Some(node) = ended.pop() {
        for caller in std::mem::take(&mut callers[node]) {
            calls[caller] -= 1;
            if calls[caller] == 0 {
                ended.push(caller);
            }
        }
    }
    calls.truncate(functions.len());
    calls.into_iter().map(|left| left > 0).collect()
}
