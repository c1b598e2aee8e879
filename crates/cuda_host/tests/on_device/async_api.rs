//! What rust-cuda's example of asynchronous calls does, through `cust` as there: a stream copies page-locked memory to the device,
//! launches, and copies back, while the host counts until the last event has happened.

use cuda_host::cust::event::{Event, EventFlags, EventStatus};
use cuda_host::cust::function::{BlockSize, GridSize};
use cuda_host::cust::launch;
use cuda_host::cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use cuda_host::cust::module::Module;
use cuda_host::cust::stream::{Stream, StreamFlags};

use crate::kernels::{PTX, numbers, open};

#[test]
fn the_host_goes_on_while_the_stream_works() {
    // Its context is the one that `cust` uses.
    let _gpu = open().expect("there is a device");
    let module = Module::from_ptx(PTX.as_str(), &[]).expect("the kernels load");
    let increment = module.get_function("increment").expect("the kernel is there");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("there is a stream");
    const THREADS: usize = 512;
    for (seed, blocks) in (1..).zip([1, 3, 512]) {
        let n = blocks * THREADS;
        let by = numbers(seed + 100).next().expect("endless") as u32;
        let values: Vec<u32> = numbers(seed).take(n).map(|n| n as u32).collect();
        let mut host = LockedBuffer::new(&0_u32, n).expect("memory can be locked");
        host.as_mut_slice().copy_from_slice(&values);
        let mut device = DeviceBuffer::from_slice(&vec![u32::MAX; n]).expect("there is memory");
        let start = Event::new(EventFlags::DEFAULT).expect("there are events");
        let stop = Event::new(EventFlags::DEFAULT).expect("there are events");

        start.record(&stream).expect("the stream is there");
        let (grid, block) = (GridSize::x(blocks as u32), BlockSize::x(THREADS as u32));
        // SAFETY: until `stop` has happened nothing else uses either memory, and both live on. The kernel has a thread for each element.
        unsafe {
            device.async_copy_from(&host, &stream).expect("as many elements");
            launch!(increment<<<grid, block, 0, stream>>>(device.as_device_ptr(), by))
                .expect("the launch is right");
            device.async_copy_to(&mut host, &stream).expect("as many elements");
        }
        stop.record(&stream).expect("the stream is there");

        let mut counter = 0_u64;
        while stop.query().expect("no kernel failed") != EventStatus::Ready {
            counter += 1;
            std::hint::spin_loop();
        }
        let seconds = stop.elapsed_time_f32(&start).expect("both have happened") / 1000.0;
        assert!(seconds >= 0.0, "{seconds} s while the host counted to {counter}");
        let expected: Vec<u32> = values.iter().map(|value| value.wrapping_add(by)).collect();
        assert_eq!(host.as_slice(), expected);
        assert_eq!(device.as_host_vec().expect("as many elements"), expected);
    }
    stream.synchronize().expect("no kernel failed");
}
