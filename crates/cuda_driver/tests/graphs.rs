//! Graphs captured from streams.

mod common;

use std::ffi::{c_uint, c_void};

use common::*;

/// `CUresult`s of captures.
const ILLEGAL_STATE: u32 = 401;
const CAPTURE_UNSUPPORTED: u32 = 900;
const CAPTURE_MERGE: u32 = 902;
const CAPTURE_UNMATCHED: u32 = 903;
const CAPTURE_UNJOINED: u32 = 904;

fn stream() -> Handle {
    let mut stream = 0;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuStreamCreate(&mut stream, 0) });
    stream
}

/// Adds 1 to each of `count` numbers, on a stream.
fn add_one(kernel: Handle, data: u64, count: u32, stream: Handle) {
    let (mut address, mut n) = (data, count);
    let mut parameters = [(&raw mut address).cast(), (&raw mut n).cast()];
    // SAFETY: two parameters, as the kernel declares. They are gone when the graph is launched.
    ok(unsafe {
        cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            count,
            1,
            1,
            0,
            stream,
            parameters.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    });
}

/// Ends a capture and makes its graph ready.
fn finish(stream: Handle) -> Handle {
    let (mut graph, mut executable) = (0, 0);
    // SAFETY: pointers are to live variables.
    unsafe {
        ok(cuStreamEndCapture(stream, &mut graph));
        ok(cuGraphInstantiateWithFlags(&mut executable, graph, 0));
        // What can be launched does not need the graph any more.
        ok(cuGraphDestroy(graph));
    }
    executable
}

#[test]
fn captured_work_is_done_at_each_launch_and_not_before() {
    unsafe extern "C" fn count(data: *mut c_void) {
        // SAFETY: the test passes a pointer to a number that lives as long as the graph.
        unsafe { *data.cast::<u32>() += 1 };
    }
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let (data, stream) = (alloc(16), stream());
    let (mut result, mut called, mut status) = ([0_u32; 4], 0_u32, 9);
    // SAFETY: pointers are to live variables.
    unsafe {
        upload(data, &[7; 4]);
        ok(cuStreamIsCapturing(stream, &mut status));
        assert_eq!(status, 0);
        ok(cuStreamBeginCapture_v2(stream, 2));
        ok(cuStreamIsCapturing(stream, &mut status));
        assert_eq!(status, 1);
        ok(cuMemsetD32Async(data, 40, 3, stream));
        add_one(kernel, data, 4, stream);
        add_one(kernel, data, 4, stream);
        ok(cuMemcpyDtoHAsync_v2(result.as_mut_ptr().cast(), data, 16, stream));
        ok(cuLaunchHostFunc(stream, Some(count), (&raw mut called).cast()));
        let executable = finish(stream);
        // Not before.
        ok(cuCtxSynchronize());
        assert_eq!((download(data, 4), result, called), (vec![7; 4], [0; 4], 0));
        for launch in 1..=3 {
            ok(cuGraphLaunch(executable, stream));
            ok(cuStreamSynchronize(stream));
            assert_eq!((result, called), ([42, 42, 42, 7 + 2 * launch], launch));
        }
        // The stream does its work at once again.
        add_one(kernel, data, 4, stream);
        assert_eq!(download(data, 4), [43, 43, 43, 14]);
        ok(cuGraphExecDestroy(executable));
        expect(result::INVALID_HANDLE, cuGraphLaunch(executable, stream));
    }
}

#[test]
fn streams_join_a_capture_by_an_event() {
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let (data, first, second) = (alloc(4), stream(), stream());
    let (mut event, mut graph) = (0, 0);
    upload(data, &[0]);
    // SAFETY: pointers are to live variables.
    unsafe {
        ok(cuEventCreate(&mut event, 0));
        ok(cuStreamBeginCapture_v2(first, 0));
        ok(cuEventRecord(event, first));
        // Without the wait the second stream is not part of it.
        add_one(kernel, data, 1, second);
        assert_eq!(download(data, 1), [1]);
        ok(cuStreamWaitEvent(second, event, 0));
        add_one(kernel, data, 1, second);
        ok(cuEventRecord(event, second));
        ok(cuStreamWaitEvent(first, event, 0));
        assert_eq!(download(data, 1), [1]);
        expect(CAPTURE_UNMATCHED, cuStreamEndCapture(second, &mut graph));
        let executable = finish(first);
        // Both are free again.
        add_one(kernel, data, 1, second);
        assert_eq!(download(data, 1), [2]);
        // A launch while another capture goes on is part of that.
        ok(cuStreamBeginCapture_v2(first, 0));
        ok(cuGraphLaunch(executable, first));
        ok(cuGraphLaunch(executable, first));
        let twice = finish(first);
        assert_eq!(download(data, 1), [2]);
        ok(cuGraphLaunch(twice, first));
        assert_eq!(download(data, 1), [4]);
    }
}

/// A capture on `first` that `second` joins; what `then` does with both and an event, and how the capture ends.
fn forked(then: impl FnOnce(Handle, Handle, Handle, &dyn Fn(Handle))) -> (u32, Handle) {
    let (first, second) = (stream(), stream());
    let (data, mut event, mut graph, mut status) = (alloc(64), 0, 77, 9);
    // SAFETY: pointers are to live variables.
    unsafe {
        ok(cuEventCreate(&mut event, 2));
        ok(cuStreamBeginCapture_v2(first, 2));
        let work = |stream| ok(cuMemsetD32Async(data, 1, 4, stream));
        work(first);
        ok(cuEventRecord(event, first));
        ok(cuStreamWaitEvent(second, event, 0));
        then(first, second, event, &work);
        let ended = cuStreamEndCapture(first, &mut graph);
        for stream in [first, second] {
            ok(cuStreamIsCapturing(stream, &mut status));
            assert_eq!(status, 0, "the capture is over either way");
            work(stream);
        }
        (ended, graph)
    }
}

/// As recorded on an H200, driver 580.
#[test]
fn work_of_other_streams_must_be_joined() {
    let _context = Context::new();
    let join = |first: Handle, second: Handle, event: Handle| {
        // SAFETY: handles only.
        unsafe {
            ok(cuEventRecord(event, second));
            ok(cuStreamWaitEvent(first, event, 0));
        }
    };
    let (ended, graph) = forked(|_, second, _, work| work(second));
    expect(CAPTURE_UNJOINED, ended);
    assert!(diagnostic().contains("does not wait for its last work"));
    assert_eq!(graph, 0);
    let (ended, _) = forked(|first, second, event, work| {
        work(second);
        // SAFETY: handles only.
        unsafe { ok(cuEventRecord(event, second)) };
        work(second);
        // SAFETY: as above.
        unsafe { ok(cuStreamWaitEvent(first, event, 0)) };
    });
    expect(CAPTURE_UNJOINED, ended);

    let (ended, graph) = forked(|first, second, event, work| {
        work(second);
        join(first, second, event);
    });
    assert_eq!((ended, graph == 0), (0, false));
    // Who did no work needs no join.
    assert_eq!(forked(|_, _, _, _| {}).0, 0);
    assert_eq!(forked(|first, _, _, work| work(first)).0, 0);
    // By way of a third stream.
    let (ended, _) = forked(|first, second, event, work| {
        let third = stream();
        work(second);
        join(third, second, event);
        work(third);
        join(first, third, event);
    });
    assert_eq!(ended, 0);
}

#[test]
fn two_captures_do_not_become_one() {
    let _context = Context::new();
    let (first, second) = (stream(), stream());
    let (mut event, mut graph) = (0, 0);
    // SAFETY: pointers are to live variables.
    unsafe {
        ok(cuEventCreate(&mut event, 2));
        ok(cuStreamBeginCapture_v2(first, 2));
        ok(cuStreamBeginCapture_v2(second, 2));
        ok(cuEventRecord(event, first));
        expect(CAPTURE_MERGE, cuStreamWaitEvent(second, event, 0));
        ok(cuStreamWaitEvent(first, event, 0));
        ok(cuStreamEndCapture(second, &mut graph));
        ok(cuStreamEndCapture(first, &mut graph));
    }
}

#[test]
fn what_cannot_be_captured_is_refused() {
    let _context = Context::new();
    let stream = stream();
    let (mut graph, mut executable, mut address, mut status) = (0, 0, 0, 9 as c_uint);
    // SAFETY: pointers are to live variables.
    unsafe {
        expect(ILLEGAL_STATE, cuStreamEndCapture(stream, &mut graph));
        expect(CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(0, 0));
        expect(result::INVALID_VALUE, cuStreamBeginCapture_v2(stream, 3));
        ok(cuStreamBeginCapture_v2(stream, 0));
        expect(CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(stream, 0));
        expect(CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
        assert!(diagnostic().contains("which is capturing a graph"));
        expect(CAPTURE_UNSUPPORTED, cuMemAllocAsync(&mut address, 16, stream));
        ok(cuStreamEndCapture(stream, &mut graph));
        ok(cuStreamIsCapturing(stream, &mut status));
        assert_eq!(status, 0);
        expect(result::INVALID_VALUE, cuGraphInstantiateWithFlags(&mut executable, graph, 0x100));
        ok(cuGraphDestroy(graph));
        expect(result::INVALID_HANDLE, cuGraphInstantiateWithFlags(&mut executable, graph, 0));
    }
}

#[test]
fn an_object_lives_as_long_as_what_needs_it() {
    unsafe extern "C" fn gone(data: *mut c_void) {
        // SAFETY: the test passes a pointer to a number that outlives the object.
        unsafe { *data.cast::<u32>() += 1 };
    }
    let _context = Context::new();
    let stream = stream();
    let (mut object, mut graph, mut executable, mut deaths) = (0, 0, 0, 0_u32);
    let data = (&raw mut deaths).cast::<c_void>();
    // SAFETY: pointers are to live variables.
    unsafe {
        ok(cuStreamBeginCapture_v2(stream, 0));
        ok(cuStreamEndCapture(stream, &mut graph));
        ok(cuUserObjectCreate(&mut object, data, Some(gone), 1, 1));
        ok(cuGraphRetainUserObject(graph, object, 1, 1));
        ok(cuGraphInstantiateWithFlags(&mut executable, graph, 0));
        ok(cuGraphDestroy(graph));
        assert_eq!(data.cast::<u32>().read(), 0);
        ok(cuGraphExecDestroy(executable));
        assert_eq!(data.cast::<u32>().read(), 1);
        expect(result::INVALID_HANDLE, cuUserObjectRelease(object, 1));
        // Two references are given back one by one, never more than there are.
        ok(cuUserObjectCreate(&mut object, data, Some(gone), 2, 1));
        ok(cuUserObjectRelease(object, 1));
        expect(result::INVALID_VALUE, cuUserObjectRelease(object, 2));
        assert_eq!(data.cast::<u32>().read(), 1);
        ok(cuUserObjectRelease(object, 1));
        assert_eq!(data.cast::<u32>().read(), 2);
    }
}
