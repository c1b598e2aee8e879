//! Copies, fills, and the kinds of memory, called as a C program calls the driver.

mod common;

use std::ffi::c_void;
use std::ptr::null_mut;

use common::*;

#[test]
fn rows_are_copied_between_pitches() {
    let _context = Context::new();
    let (mut device, mut pitch) = (0, 0);
    // SAFETY: the pointers are to live variables.
    ok(unsafe { cuMemAllocPitch_v2(&mut device, &mut pitch, 12, 3, 4) });
    assert_eq!(pitch, 512);
    let source: Vec<u32> = (0..12).collect(); // 3 rows of 4, of which 3 columns are taken
    let mut back = vec![99_u32; 9];
    let none = Side2D { x: 0, y: 0, kind: 0, host: null_mut(), device: 0, array: 0, pitch: 0 };
    let up = Copy2D {
        source: Side2D {
            kind: 1,
            host: source.as_ptr().cast_mut().cast(),
            x: 4,
            pitch: 16,
            ..none
        },
        destination: Side2D { kind: 2, device, pitch, ..none },
        width: 12,
        height: 3,
    };
    let down = Copy2D {
        source: Side2D { kind: 2, device, pitch, ..none },
        destination: Side2D { kind: 1, host: back.as_mut_ptr().cast(), pitch: 12, ..none },
        width: 12,
        height: 3,
    };
    // SAFETY: both descriptions stay within their buffers.
    unsafe {
        ok(cuMemcpy2D_v2(&up));
        ok(cuMemcpy2D_v2(&down));
    }
    assert_eq!(back, [1, 2, 3, 5, 6, 7, 9, 10, 11]);
    let past = Copy2D { height: 4, ..up };
    // SAFETY: it is refused because of the device's range, before the host's is touched.
    expect(result::INVALID_VALUE, unsafe { cuMemcpy2D_v2(&past) });
    let array = Copy2D { destination: Side2D { kind: 3, ..none }, ..down };
    // SAFETY: it is refused.
    expect(result::NOT_SUPPORTED, unsafe { cuMemcpy2D_v2(&array) });
}

#[test]
fn slices_are_copied_in_three_dimensions() {
    let _context = Context::new();
    let device = alloc(2 * 3 * 8);
    let source: Vec<u32> = (0..12).collect(); // 2 slices of 3 rows of 2
    let mut back = vec![0_u32; 4];
    let none = Side3D {
        x: 0,
        y: 0,
        z: 0,
        lod: 0,
        kind: 0,
        host: null_mut(),
        device: 0,
        array: 0,
        reserved: 0,
        pitch: 0,
        height: 0,
    };
    upload(device, &source);
    let copy = Copy3D {
        source: Side3D { kind: 2, device, x: 4, y: 1, pitch: 8, height: 3, ..none },
        destination: Side3D {
            kind: 1,
            host: back.as_mut_ptr().cast(),
            pitch: 4,
            height: 2,
            ..none
        },
        width: 4,
        height: 2,
        depth: 2,
    };
    // SAFETY: the description stays within its buffers.
    ok(unsafe { cuMemcpy3D_v2(&copy) });
    assert_eq!(back, [3, 5, 9, 11]);
}

#[test]
fn fills_touch_what_they_name() {
    let _context = Context::new();
    let data = alloc(32);
    // SAFETY: no pointer is passed.
    unsafe {
        ok(cuMemsetD8_v2(data, 0x11, 32));
        ok(cuMemsetD16_v2(data + 2, 0x2233, 1));
        ok(cuMemsetD32_v2(data + 8, 0x4455_6677, 2));
        ok(cuMemsetD2D32_v2(data + 16, 8, 9, 1, 2));
        expect(result::INVALID_VALUE, cuMemsetD2D32_v2(data, 8, 9, 1, 5));
        expect(result::INVALID_VALUE, cuMemsetD2D32_v2(data, 4, 9, 2, 2));
    }
    assert_eq!(
        download(data, 8),
        [0x2233_1111, 0x1111_1111, 0x4455_6677, 0x4455_6677, 9, 0x1111_1111, 9, 0x1111_1111]
    );
}

#[test]
fn managed_memory_is_the_same_for_host_and_kernels() {
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let mut address = 0;
    // SAFETY: the pointer is to a live variable.
    ok(unsafe { cuMemAllocManaged(&mut address, 10_000 * 4, 1) });
    let host: *mut u32 = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: the driver gave 10,000 numbers at this address for the host's use, too.
    unsafe {
        for index in 0..10_000 {
            host.add(index).write(index as u32);
        }
        ok(launch(kernel, [79, 1, 1], [128, 1, 1], 0, &[address, 10_000]));
        ok(cuCtxSynchronize());
        for index in 0..10_000 {
            assert_eq!(host.add(index).read(), index as u32 + 1);
        }
        // Copies and fills on the device's side are seen, too.
        ok(cuMemsetD32_v2(address + 4, 77, 1));
        assert_eq!(host.add(1).read(), 77);
        host.add(2).write(88);
        assert_eq!(download(address, 3), [1, 77, 88]);
        let mut managed = 2_u8;
        ok(cuPointerGetAttribute((&raw mut managed).cast(), 8, address));
        assert_eq!(managed, 1);
        ok(cuMemFree_v2(address));
        expect(result::INVALID_VALUE, cuMemFree_v2(address));
    }
}

#[test]
fn kernels_reach_pinned_and_registered_memory_by_their_device_pointer() {
    let _context = Context::new();
    let kernel = function(load(ADD_ONE), "add_one");
    let mut pinned: *mut c_void = null_mut();
    let mut registered = [10_u32, 20];
    let pointer: *mut c_void = registered.as_mut_ptr().cast();
    let (mut first, mut second) = (0, 0);
    // SAFETY: pointers are to live memory of the sizes said.
    unsafe {
        ok(cuMemHostAlloc(&mut pinned, 8, 2));
        ok(cuMemHostRegister_v2(pointer, 8, 0));
        expect(712, cuMemHostRegister_v2(pointer, 4, 0));
        ok(cuMemHostGetDevicePointer_v2(&mut first, pinned, 0));
        ok(cuMemHostGetDevicePointer_v2(&mut second, pointer, 0));
        pinned.cast::<u32>().write(1);
        pinned.cast::<u32>().add(1).write(2);
        ok(launch_one(kernel, &[first, 2]));
        ok(launch_one(kernel, &[second, 2]));
        ok(cuCtxSynchronize());
        // One thread: the first of the two.
        assert_eq!((pinned.cast::<u32>().read(), pinned.cast::<u32>().add(1).read()), (2, 2));
        assert_eq!(pointer.cast::<u32>().read(), 11);
        let mut kind = 0_u32;
        ok(cuPointerGetAttribute((&raw mut kind).cast(), 2, pinned.addr() as u64));
        assert_eq!(kind, 1);
        ok(cuMemHostUnregister(pointer));
        expect(713, cuMemHostUnregister(pointer));
        ok(cuMemFreeHost(pinned));
        expect(result::INVALID_VALUE, cuMemFreeHost(pinned));
    }
    assert_eq!(registered, [11, 20]);
}

#[test]
fn the_kind_of_an_address_is_found_out() {
    let _context = Context::new();
    let data = alloc(64);
    let mut host = [3_u32, 4];
    let mut back = [0_u32; 2];
    // SAFETY: addresses are those of live memory of the sizes said.
    unsafe {
        let address = host.as_mut_ptr().expose_provenance() as u64;
        ok(cuMemcpy(data, address, 8));
        ok(cuMemcpy(data + 8, data, 8));
        ok(cuMemcpy(back.as_mut_ptr().expose_provenance() as u64, data + 8, 8));
        assert_eq!(back, [3, 4]);
        let (mut base, mut size) = (0, 0);
        ok(cuMemGetAddressRange_v2(&mut base, &mut size, data + 63));
        assert_eq!((base, size), (data, 64));
        expect(result::NOT_FOUND, cuMemGetAddressRange_v2(&mut base, &mut size, data + 64));
        let mut kind = 0_u32;
        ok(cuPointerGetAttribute((&raw mut kind).cast(), 2, data));
        assert_eq!(kind, 2);
        expect(result::INVALID_VALUE, cuPointerGetAttribute((&raw mut kind).cast(), 2, address));
        ok(cuMemFree_v2(data));
        // A freed address is not taken for the host's.
        expect(result::INVALID_VALUE, cuMemcpy(data, address, 8));
    }
}

#[test]
fn stream_ordered_allocations_come_and_go() {
    let _context = Context::new();
    let mut address = 0;
    // SAFETY: the pointer is to a live variable.
    unsafe {
        ok(cuMemAllocAsync(&mut address, 256, 0));
        ok(cuMemsetD8_v2(address, 1, 256));
        ok(cuMemFreeAsync(address, 0));
        expect(result::INVALID_VALUE, cuMemFreeAsync(address, 0));
    }
}

/// Memory that a thread holds until it ends, and what became of giving it back.
struct Held(std::cell::Cell<u64>);

static GIVEN_BACK: std::sync::Mutex<Vec<u32>> = std::sync::Mutex::new(Vec::new());

impl Drop for Held {
    fn drop(&mut self) {
        let (mut count, data) = (0, self.0.get());
        // SAFETY: the pointer is to a live variable; nobody else uses the memory.
        let results =
            unsafe { [cuCtxGetDevice(&mut count), cuMemFree_v2(data), cuMemFree_v2(data)] };
        GIVEN_BACK.lock().unwrap().extend(results);
    }
}

thread_local! {
    static HELD: Held = const { Held(std::cell::Cell::new(0)) };
}

#[test]
fn a_thread_that_ends_gives_back_what_its_variables_hold() {
    let context = Context::new();
    let handle = context.0;
    let thread = std::thread::spawn(move || {
        // It is made before the driver's own variables of this thread, and so outlives them.
        HELD.with(|_| ());
        // SAFETY: the context is alive.
        ok(unsafe { cuCtxSetCurrent(handle) });
        HELD.with(|held| held.0.set(alloc(64)));
    });
    thread.join().unwrap();
    // The second time there is nothing to give back, which the driver still can say.
    assert_eq!(*GIVEN_BACK.lock().unwrap(), [0, 0, result::INVALID_VALUE]);
}
