//! Graphs: work captured from streams, to be launched as often as one likes.
//!
//! A captured call is checked and its arguments are copied when it is made, and it is done when the graph is
//! launched. Work is done in the order of the calls, so a graph is a list: the order in which streams that took
//! part put their work in is one that their events allow.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::user_object::{Last, References};
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CUstreamCaptureStatus`.
const NOT_CAPTURING: c_uint = 0;
const CAPTURING: c_uint = 1;
/// `CUgraphInstantiate_flags` that exist (CUDA 13.0).
const INSTANTIATE_FLAGS: u64 = 0xF;

/// A piece of captured work.
#[derive(Clone)]
pub(crate) enum Node {
    /// Something to do on the device.
    Device(Arc<dyn Fn(&mut Emulator) -> Outcome>),
    /// A function of the program to call.
    Host(CUhostFn, HostPtr),
}

// SAFETY: a node holds numbers, handles and pointers that the program passed. As CUDA asks, it vouches that what
// they point to may be used from whichever thread launches the graph; nodes themselves share nothing else.
unsafe impl Send for Node {}

/// A graph.
pub(crate) struct Graph {
    pub context: CUcontext,
    nodes: Vec<Node>,
    /// What it keeps alive.
    pub objects: References,
    /// The stream that is to end the capture, until it does.
    origin: Option<CUstream>,
    /// How many nodes each stream has put in.
    put_in: BTreeMap<CUstream, usize>,
    number: u64,
}

/// A capture as one of its streams sees it, or as an event keeps it.
#[derive(Clone)]
pub(crate) struct Capture {
    graph: CUgraph,
    /// How many of each stream's nodes come before what follows now.
    before: BTreeMap<CUstream, usize>,
}

/// A graph ready to be launched.
pub(crate) struct Executable {
    pub context: CUcontext,
    nodes: Vec<Node>,
    objects: References,
}

impl Emulator {
    /// The graph that a stream's work goes to instead of being done.
    pub(crate) fn capture_of(&self, stream: CUstream) -> Option<CUgraph> {
        Some(self.streams.get(stream).ok()?.capture.as_ref()?.graph)
    }

    /// A stream waits for captured work: it takes part in the capture.
    pub(crate) fn join_capture(&mut self, stream: CUstream, event: Capture) -> Outcome {
        match &mut self.streams.get_mut(stream)?.capture {
            Some(own) if own.graph != event.graph => {
                return Err(ApiError::MergedCapture { stream: stream.0 });
            }
            Some(own) => {
                for (stream, count) in event.before {
                    let known = own.before.entry(stream).or_default();
                    *known = count.max(*known);
                }
            }
            none => *none = Some(event),
        }
        Ok(())
    }

    /// Refuses what cannot be part of a graph.
    pub(crate) fn refuse_capture(&self, stream: CUstream, action: &'static str) -> Outcome {
        match self.capture_of(stream) {
            Some(_) => Err(ApiError::Capturing { stream: stream.0, action }),
            None => Ok(()),
        }
    }

    /// Adds work of a stream to the graph that it captures.
    pub(crate) fn capture(&mut self, stream: CUstream, node: Node) -> Outcome {
        let Some(capture) = &mut self.streams.get_mut(stream)?.capture else {
            return Err(ApiError::NotCapturing { stream: stream.0 });
        };
        let graph = self.graphs.get_mut(capture.graph)?;
        graph.nodes.push(node);
        let count = graph.put_in.entry(stream).or_default();
        *count += 1;
        capture.before.insert(stream, *count);
        Ok(())
    }

    /// A stream of a graph's capture whose last work `origin` does not wait for.
    fn unjoined(&self, graph: CUgraph, origin: CUstream) -> Result<Option<CUstream>, ApiError> {
        let Some(capture) = &self.streams.get(origin)?.capture else {
            return Ok(None);
        };
        let joined = |stream: &CUstream| capture.before.get(stream).copied().unwrap_or(0);
        let put_in = &self.graphs.get(graph)?.put_in;
        Ok(put_in
            .iter()
            .find(|(stream, count)| joined(stream) < **count)
            .map(|(stream, _)| *stream))
    }
}

pub(crate) fn begin(stream: CUstream, mode: c_uint) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.may_queue(context)?;
        if mode > 2 {
            return Err(ApiError::argument("mode", mode, "0 (global), 1 (thread) or 2 (relaxed)"));
        }
        emulator.refuse_capture(stream, "beginning another capture")?;
        if emulator.streams.get(stream).is_err() {
            return Err(ApiError::DefaultStreamCapture);
        }
        let number = emulator.graphs.iter().map(|(_, graph)| graph.number).max().unwrap_or(0) + 1;
        let graph = Graph {
            context,
            nodes: Vec::new(),
            objects: Vec::new(),
            origin: Some(stream),
            put_in: BTreeMap::new(),
            number,
        };
        let graph = emulator.graphs.insert(graph);
        emulator.streams.get_mut(stream)?.capture =
            Some(Capture { graph, before: BTreeMap::new() });
        Ok(())
    })
}

pub(crate) fn end(stream: CUstream, graph: Out<CUgraph>) -> Outcome {
    let (unjoined, last) = with(|emulator| {
        emulator.stream_context(stream)?;
        graph.check("graph")?;
        let Some(found) = emulator.capture_of(stream) else {
            return Err(ApiError::NotCapturing { stream: stream.0 });
        };
        if emulator.graphs.get(found)?.origin != Some(stream) {
            return Err(ApiError::ForeignCapture { stream: stream.0 });
        }
        let unjoined = emulator.unjoined(found, stream)?;
        emulator.graphs.get_mut(found)?.origin = None;
        for stream in emulator.streams.values_mut() {
            stream.capture.take_if(|capture| capture.graph == found);
        }
        for event in emulator.events.values_mut() {
            event.capture.take_if(|capture| capture.graph == found);
        }
        let Some(unjoined) = unjoined else {
            graph.set("graph", found)?;
            return Ok((None, Vec::new()));
        };
        // The capture is over all the same, and there is no graph (recorded).
        graph.set("graph", CUgraph::default())?;
        let objects = emulator.graphs.remove(found)?.objects;
        Ok((Some(unjoined), emulator.release_objects(&objects)?))
    })?;
    last.into_iter().for_each(Last::call);
    match unjoined {
        Some(other) => Err(ApiError::UnjoinedCapture { stream: other.0, origin: stream.0 }),
        None => Ok(()),
    }
}

/// What the three forms of `cuStreamGetCaptureInfo` tell: dependencies are of no use, since all work is in order.
#[derive(Clone, Copy)]
struct Info {
    status: c_uint,
    id: u64,
    graph: CUgraph,
}

fn look(stream: CUstream) -> Result<Info, ApiError> {
    with(|emulator| {
        emulator.stream_context(stream)?;
        Ok(match emulator.capture_of(stream) {
            Some(graph) => {
                Info { status: CAPTURING, id: emulator.graphs.get(graph)?.number, graph }
            }
            None => Info { status: NOT_CAPTURING, id: 0, graph: CUgraph::default() },
        })
    })
}

pub(crate) fn is_capturing(stream: CUstream, status: Out<c_uint>) -> Outcome {
    status.set("capture_status", look(stream)?.status)
}

pub(crate) fn info(stream: CUstream, status: Out<c_uint>, id: Out<u64>) -> Outcome {
    let info = look(stream)?;
    status.set("capture_status", info.status)?;
    id.set_if_wanted("id", info.id)
}

pub(crate) fn info_v2(
    stream: CUstream,
    status: Out<c_uint>,
    id: Out<u64>,
    graph: Out<CUgraph>,
    dependencies: Out<*mut c_void>,
    dependency_count: Out<usize>,
) -> Outcome {
    info(stream, status, id)?;
    graph.set_if_wanted("graph", look(stream)?.graph)?;
    dependencies.set_if_wanted("dependencies", std::ptr::null_mut())?;
    dependency_count.set_if_wanted("num_dependencies", 0)
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn info_v3(
    stream: CUstream,
    status: Out<c_uint>,
    id: Out<u64>,
    graph: Out<CUgraph>,
    dependencies: Out<*mut c_void>,
    edges: Out<*mut c_void>,
    dependency_count: Out<usize>,
) -> Outcome {
    info_v2(stream, status, id, graph, dependencies, dependency_count)?;
    edges.set_if_wanted("edge_data", std::ptr::null_mut())
}

pub(crate) fn exchange_mode(mode: Out<c_uint>) -> Outcome {
    thread_local! {
        static MODE: std::cell::Cell<c_uint> = const { std::cell::Cell::new(0) };
    }
    let new = mode.get("mode", 0)?;
    if new > 2 {
        return Err(ApiError::argument("mode", new, "0 (global), 1 (thread) or 2 (relaxed)"));
    }
    mode.set("mode", MODE.replace(new))
}

pub(crate) fn destroy(graph: CUgraph) -> Outcome {
    let last = with(|emulator| {
        if emulator.graphs.get(graph)?.origin.is_some() {
            return Err(being_captured());
        }
        let objects = emulator.graphs.remove(graph)?.objects;
        emulator.release_objects(&objects)
    })?;
    last.into_iter().for_each(Last::call);
    Ok(())
}

fn being_captured() -> ApiError {
    ApiError::argument("graph", "being captured", "a graph whose capture has ended")
}

pub(crate) fn instantiate_with_flags(
    executable: Out<CUgraphExec>,
    graph: CUgraph,
    flags: u64,
) -> Outcome {
    with(|emulator| {
        executable.check("graph_exec")?;
        let found = emulator.graphs.get(graph)?;
        if flags & !INSTANTIATE_FLAGS != 0 {
            return Err(ApiError::argument("flags", format_args!("{flags:#x}"), "flags up to 0x8"));
        }
        if found.origin.is_some() {
            return Err(being_captured());
        }
        let (context, nodes, objects) = (found.context, found.nodes.clone(), found.objects.clone());
        emulator.retain_objects(&objects)?;
        let handle = emulator.executables.insert(Executable { context, nodes, objects });
        executable.set("graph_exec", handle)
    })
}

pub(crate) fn instantiate(
    executable: Out<CUgraphExec>,
    graph: CUgraph,
    error_node: Out<CUgraphNode>,
    _log: HostPtr,
    _log_bytes: usize,
) -> Outcome {
    error_node.set_if_wanted("error_node", CUgraphNode::default())?;
    instantiate_with_flags(executable, graph, 0)
}

pub(crate) fn instantiate_with_params(
    executable: Out<CUgraphExec>,
    graph: CUgraph,
    params: Out<CUgraphInstantiateParams>,
) -> Outcome {
    let mut told = params.get("instantiate_params", 0)?;
    let outcome = instantiate_with_flags(executable, graph, told.flags);
    told.error_node = CUgraphNode::default();
    // CUDA_GRAPH_INSTANTIATE_SUCCESS or _ERROR
    told.result = c_int::from(outcome.is_err());
    params.set("instantiate_params", told)?;
    outcome
}

pub(crate) fn upload(executable: CUgraphExec, stream: CUstream) -> Outcome {
    with(|emulator| {
        emulator.executables.get(executable)?;
        let context = emulator.stream_context(stream)?;
        emulator.may_queue(context).map(drop)
    })
}

pub(crate) fn launch(executable: CUgraphExec, stream: CUstream) -> Outcome {
    let (nodes, may_queue) = with(|emulator| {
        let context = emulator.stream_context(stream)?;
        let found = emulator.executables.get(executable)?;
        let (nodes, objects) = (found.nodes.clone(), found.objects.clone());
        if let Some(graph) = emulator.capture_of(stream) {
            emulator.retain_objects(&objects)?;
            emulator.graphs.get_mut(graph)?.objects.extend(objects);
            for node in nodes {
                emulator.capture(stream, node)?;
            }
            return Ok((Vec::new(), false));
        }
        Ok((nodes, emulator.may_queue(context)?))
    })?;
    if !may_queue {
        return Ok(());
    }
    for node in nodes {
        match node {
            Node::Device(work) => with(|emulator| work(emulator))?,
            Node::Host(Some(function), data) => {
                // SAFETY: the program vouches for the function and its data; the lock is not held, so it may call
                // back.
                unsafe { function(data.raw()) };
            }
            Node::Host(None, _) => {}
        }
    }
    Ok(())
}

pub(crate) fn destroy_executable(executable: CUgraphExec) -> Outcome {
    let last = with(|emulator| {
        let objects = emulator.executables.remove(executable)?.objects;
        emulator.release_objects(&objects)
    })?;
    last.into_iter().for_each(Last::call);
    Ok(())
}
