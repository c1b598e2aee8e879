//! `cust` 0.3.2, unchanged, on top: it links against the symbols and drives the emulator, or the GPU with
//! `CUDA_DRIVER_BACKEND=gpu`.

use cuda_driver::Backend;
use cust::error::CudaError;
use cust::event::{Event, EventFlags};
use cust::function::FunctionAttribute;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy, LockedBuffer, UnifiedBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust::{CudaApiVersion, launch};

const PTX: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .const .align 4 .f32 factor = 0f40000000;
.visible .entry scale(.param .u64 x, .param .u64 n, .param .f32 shift) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [n];
    ld.param.f32 %f1, [shift];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd3, %r4;
    setp.ge.u64 %p1, %rd3, %rd2;
    @%p1 bra DONE;
    shl.b64 %rd4, %rd3, 2;
    add.s64 %rd5, %rd1, %rd4;
    ld.global.f32 %f2, [%rd5];
    ld.const.f32 %f3, [factor];
    fma.rn.f32 %f4, %f2, %f3, %f1;
    st.global.f32 [%rd5], %f4;
DONE:
    ret;
}
.visible .entry fail() { trap; }
";

/// Chooses the emulator, unless the environment asks for the GPU.
fn choose() {
    if std::env::var("CUDA_DRIVER_BACKEND").as_deref() != Ok("gpu") {
        assert!(cuda_driver::use_emulator());
    }
    cuda_driver::ensure_linked();
}

fn on_emulator() -> bool {
    cuda_driver::backend() == Backend::Emulator
}

fn context() -> cust::context::Context {
    choose();
    cust::quick_init().unwrap()
}

#[test]
fn a_kernel_is_launched_with_buffers_and_events() {
    let _context = context();
    assert!(CudaApiVersion::get().unwrap().major() >= 12);
    let device = cust::device::Device::get_device(0).unwrap();
    assert_eq!(device.name().unwrap() == "Ferrowarp emulator", on_emulator());
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let kernel = module.get_function("scale").unwrap();
    assert_eq!(kernel.get_attribute(FunctionAttribute::MaxThreadsPerBlock).unwrap(), 1024);
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    let values: Vec<f32> = (0..1000).map(|n| n as f32).collect();
    let x = DeviceBuffer::from_slice(&values).unwrap();
    let (start, end) =
        (Event::new(EventFlags::DEFAULT).unwrap(), Event::new(EventFlags::DEFAULT).unwrap());
    start.record(&stream).unwrap();
    // SAFETY: the arguments are those of the kernel, and it stays within the buffer.
    unsafe { launch!(kernel<<<8, 128, 0, stream>>>(x.as_device_ptr(), x.len(), 0.5_f32)) }.unwrap();
    end.record(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(end.elapsed_time_f32(&start).unwrap() >= 0.0);
    let expected: Vec<f32> = values.iter().map(|n| n * 2.0 + 0.5).collect();
    assert_eq!(x.as_host_vec().unwrap(), expected);
    let mut factor = module.get_global::<f32>(c"factor").unwrap();
    let mut read = 0.0_f32;
    factor.copy_to(&mut read).unwrap();
    assert_eq!(read, 2.0);
    factor.copy_from(&3.0).unwrap();
    // SAFETY: as above.
    unsafe {
        launch!(kernel<<<(8, 1, 1), (128, 1, 1), 0, stream>>>(x.as_device_ptr(), x.len(), 0.0_f32))
    }
    .unwrap();
    assert_eq!(x.as_host_vec().unwrap()[10], 61.5);
    let (grid, block) = kernel.suggested_launch_configuration(0, 0.into()).unwrap();
    assert!(block >= 32 && grid >= 1, "{grid} blocks of {block}");
}

#[test]
fn structures_pinned_and_unified_memory_work() {
    #[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
    #[repr(C)]
    struct Point {
        x: f32,
        y: u64,
    }
    let _context = context();
    let points = [Point { x: 1.0, y: 2 }, Point { x: 3.0, y: 4 }];
    let buffer = DeviceBuffer::from_slice(&points).unwrap();
    assert_eq!(buffer.as_host_vec().unwrap(), points);
    let mut locked = LockedBuffer::new(&0_u32, 64).unwrap();
    locked[3] = 9;
    assert_eq!(DeviceBuffer::from_slice(&locked).unwrap().as_host_vec().unwrap()[3], 9);
    let mut unified = UnifiedBuffer::new(&5_u32, 10).unwrap();
    unified[1] = 6;
    assert_eq!(unified[..3], [5, 6, 5]);
}

#[test]
fn errors_come_back_as_custs() {
    let _context = context();
    assert_eq!(Module::from_ptx("no PTX", &[]).unwrap_err(), CudaError::InvalidImage);
    assert_eq!(CudaError::InvalidImage.to_string(), "\"device kernel image is invalid\"");
    let module = Module::from_ptx(PTX, &[]).unwrap();
    assert_eq!(module.get_function("nosuch").unwrap_err(), CudaError::NotFound);
    let kernel = module.get_function("scale").unwrap();
    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    let x = DeviceBuffer::from_slice(&[1.0_f32]).unwrap();
    // SAFETY: the launch is refused.
    let found =
        unsafe { launch!(kernel<<<1, 4096, 0, stream>>>(x.as_device_ptr(), x.len(), 0.0_f32)) };
    assert_eq!(found.unwrap_err(), CudaError::InvalidValue);
    let text = cuda_driver::take_diagnostic().map(|found| found.text);
    assert_eq!(text.is_some_and(|text| text.contains("4096 threads in a block")), on_emulator());
}

#[test]
fn a_fault_comes_back_from_the_stream() {
    choose();
    if !on_emulator() {
        return; // On a GPU it would take the other tests' contexts along.
    }
    cust::init(cust::CudaFlags::empty()).unwrap();
    // A context of its own: the fault would stay in the primary one, which the other tests share.
    let device = cust::device::Device::get_device(0).unwrap();
    let flags = cust::context::legacy::ContextFlags::SCHED_AUTO;
    let _context = cust::context::legacy::Context::create_and_push(flags, device).unwrap();
    let module = Module::from_ptx(PTX, &[]).unwrap();
    let kernel = module.get_function("fail").unwrap();
    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    // SAFETY: the kernel has no parameters.
    unsafe { launch!(kernel<<<2, 64, 0, stream>>>()) }.unwrap();
    assert_eq!(stream.synchronize().unwrap_err(), CudaError::LaunchFailed);
    let found = cuda_driver::take_diagnostic().unwrap();
    assert!(found.text.contains("fail"), "{}", found.text);
}
