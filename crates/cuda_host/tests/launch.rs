//! Launches from end to end, on whatever device there is (the emulator where there is no GPU).

mod kernels;

use cuda_host::{Device, DeviceMatrix, Error, ErrorKind, In, InOut, Layout, Out, Result, launch};
use nalgebra::{DMatrix, Matrix4, Vector4};

fn open() -> Result<Device> {
    let gpu = Device::open()?;
    gpu.load(kernels::PTX)?;
    Ok(gpu)
}

#[track_caller]
fn message(result: Result<()>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_slice_is_scaled() -> Result<()> {
    let gpu = open()?;
    for n in [1_usize, 255, 256, 257, 10_000] {
        let host = (0..n).map(|i| i as f32).collect::<Vec<_>>();
        let mut x = gpu.to_device(&host)?;
        // SAFETY: `x` has `n` elements.
        unsafe { launch!(kernels::scale[n.div_ceil(256), 256](&mut x, 2.5, n)) }?;
        assert_eq!(x.to_host()?, host.iter().map(|x| x * 2.5).collect::<Vec<_>>(), "{n}");
    }
    Ok(())
}

#[test]
fn slices_travel_with_their_length() -> Result<()> {
    let gpu = open()?;
    let a = gpu.to_device(&[1.0_f32, 2.0, 3.0, 4.0])?;
    let b = gpu.to_device(&[10.0_f32, 20.0, 30.0])?;
    let mut c = gpu.to_device(&[-1.0_f32; 4])?;
    // SAFETY: `c` has more elements than `b`.
    unsafe { launch!(kernels::add[1, 32](&a, &b, &mut c)) }?;
    assert_eq!(c.to_host()?, [11.0, 22.0, 33.0, -1.0]);

    let parts = (a.slice(1..3)?, b.slice(..2)?, c.slice_mut(2..)?);
    // SAFETY: both parts have two elements, like the target.
    unsafe { launch!(kernels::add[1, 32](parts.0, &parts.1, parts.2)) }?;
    assert_eq!(c.to_host()?, [11.0, 22.0, 12.0, 23.0]);
    Ok(())
}

#[test]
fn host_slices_are_copied_in_and_out() -> Result<()> {
    let _gpu = open()?;
    let a = vec![1.0, 2.0, 3.0];
    let mut c = [0.0_f32; 3];
    // SAFETY: `c` has as many elements as the others.
    unsafe { launch!(kernels::add[1, 32](In(&a), In(&[0.5, 0.25, 0.125]), Out(&mut c))) }?;
    assert_eq!(c, [1.5, 2.25, 3.125]);

    let mut x = vec![1.0, 2.0, 3.0, 4.0];
    // SAFETY: `n` is less than `x` has.
    unsafe { launch!(kernels::scale[1, 32](InOut(&mut x), 10.0, 2)) }?;
    assert_eq!(x, [10.0, 20.0, 3.0, 4.0]);
    Ok(())
}

#[test]
fn host_and_device_arguments_mix() -> Result<()> {
    let gpu = open()?;
    let a = gpu.to_device(&[1.0_f32, 2.0])?;
    let stream = gpu.stream()?;
    let mut c = [0.0; 2];
    // SAFETY: as many elements everywhere.
    unsafe { launch!(kernels::add[1, 2, 0, &stream](&a, In(&[3.0, 4.0]), Out(&mut c))) }?;
    assert_eq!(c, [4.0, 6.0]);
    Ok(())
}

#[test]
fn outputs_that_threads_share_out_need_no_unsafe() -> Result<()> {
    let gpu = open()?;
    let a = gpu.to_device(&[1.0_f32, 2.0, 3.0])?;
    let mut c = gpu.to_device(&[-1.0_f32; 4])?;
    launch!(kernels::add_safely[1, 32](&a, &a, &mut c))?;
    assert_eq!(c.to_host()?, [2.0, 4.0, 6.0, -1.0]);
    // The length travels along, also that of a part and of a host slice.
    launch!(kernels::add_safely[1, 32](&a, &a, c.slice_mut(2..)?))?;
    assert_eq!(c.to_host()?, [2.0, 4.0, 2.0, 4.0]);
    let mut part = c.slice_mut(..1)?;
    launch!(kernels::add_safely[1, 32](In(&[5.0; 9]), &a, &mut part))?;
    assert_eq!(c.to_host()?, [6.0, 4.0, 2.0, 4.0]);
    let (mut read, mut written) = ([7.0_f32; 2], [0.0_f32; 2]);
    launch!(kernels::add_safely[1, 32](&a, &a, Out(&mut written)))?;
    launch!(kernels::add_safely[1, 32](&a, &a, InOut(&mut read[1..])))?;
    assert_eq!((read, written), ([7.0, 2.0], [2.0, 4.0]));
    let mut none = gpu.zeros::<f32>(0)?;
    launch!(kernels::add_safely[1, 32](&a, &a, &mut none))?;
    Ok(())
}

#[test]
fn matrices_that_threads_share_out_are_row_major() -> Result<()> {
    let gpu = open()?;
    let mut c = gpu.zeros_matrix::<f32>(2, 3)?;
    launch!(kernels::rows_and_columns[1, (8, 8)](&mut c))?;
    assert_eq!(c.to_matrix()?, DMatrix::from_element(2, 3, 203.0));
    let mut other = DeviceMatrix::<f32>::zeros(&gpu, 2, 3, Layout::ColumnMajor)?;
    let refused =
        launch!(kernels::rows_and_columns[1, (8, 8)](&mut other)).expect_err("another layout");
    assert_eq!(refused.kind(), ErrorKind::HostMisuse);
    assert_eq!(
        refused.to_string(),
        "kernel `rows_and_columns`: `c` is a row-major matrix, and the one passed for it is column-major\n\
         help: make it with `Layout::RowMajor`"
    );
    Ok(())
}

#[test]
fn values_arrive_as_they_are() -> Result<()> {
    let gpu = open()?;
    let mut out = gpu.zeros::<u32>(5)?;
    let pair = kernels::Pair(0xAABB_CCDD, 0x0123_4567_89AB_CDEF);
    // SAFETY: five elements.
    unsafe { launch!(kernels::echo[1, 1](200, (), pair, 0xBEEF, &mut out)) }?;
    assert_eq!(out.to_host()?, [200, 0xAABB_CCDD, 0x89AB_CDEF, 0x0123_4567, 0xBEEF]);
    Ok(())
}

#[test]
fn a_nalgebra_matrix_by_value() -> Result<()> {
    let gpu = open()?;
    let mut out = gpu.zeros::<f32>(1)?;
    let matrix = Matrix4::from_fn(|i, j| if i == j { 1.5 * i as f32 } else { 100.0 });
    // SAFETY: one element.
    unsafe { launch!(kernels::trace[1, 1](matrix, &mut out)) }?;
    assert_eq!(out.to_host()?, [9.0]);
    Ok(())
}

#[test]
fn references_are_to_the_first_element() -> Result<()> {
    let gpu = open()?;
    let mut out = gpu.zeros::<u32>(1)?;
    let values = gpu.to_device(&[41_u32, 7])?;
    // SAFETY: one element.
    unsafe { launch!(kernels::increment[1, 1](&values, &mut out)) }?;
    assert_eq!(out.to_host()?, [42]);
    // SAFETY: one element.
    unsafe { launch!(kernels::increment[1, 1](In(std::slice::from_ref(&9)), &mut out)) }?;
    assert_eq!(out.to_host()?, [10]);

    let none = gpu.zeros::<u32>(0)?;
    // SAFETY: one element.
    let refused = unsafe { launch!(kernels::increment[1, 1](&none, &mut out)) };
    assert_eq!(
        message(refused),
        "kernel `increment`: `value` is a reference to one element, and the array passed for it has none\n\
         help: pass an array with at least one element"
    );
    Ok(())
}

#[test]
fn empty_arrays_are_valid_everywhere() -> Result<()> {
    let gpu = open()?;
    let mut none = gpu.to_device(&Vec::<f64>::new())?;
    assert_eq!((none.len(), none.bytes(), none.is_empty()), (0, 0, true));
    assert!(none.as_ptr().is_null());
    none.copy_from_host(&[])?;
    none.fill_zero()?;
    assert_eq!(none.to_host()?, [0.0; 0]);
    assert_eq!(none.try_clone()?.len(), 0);
    assert_eq!(none.slice(..)?.len(), 0);
    assert_eq!(gpu.uninit::<u8>(0)?.to_host()?, [0; 0]);

    let mut out = gpu.to_device(&[7_u64; 3])?;
    // SAFETY: three elements.
    unsafe { launch!(kernels::describe[1, 1](&none, &none, &mut out)) }?;
    // A slice's pointer is never null, not even an empty one's; a raw pointer may be.
    assert_eq!(out.to_host()?, [align_of::<f64>() as u64, 0, 0]);
    // SAFETY: three elements.
    unsafe { launch!(kernels::describe[1, 1](In(&[]), In(&[]), &mut out)) }?;
    assert_eq!(out.to_host()?[1], 0);

    let empty = DMatrix::<f32>::zeros(0, 5);
    let matrix = gpu.to_device(&empty)?;
    assert_eq!((matrix.rows(), matrix.columns(), matrix.to_matrix()?), (0, 5, empty));
    let nothing = gpu.zeros::<()>(3)?;
    assert_eq!((nothing.len(), nothing.to_host()?.len()), (3, 3));
    Ok(())
}

#[test]
fn raw_device_pointers() -> Result<()> {
    let gpu = open()?;
    let mut x = gpu.to_device(&[1.0_f32, 2.0, 3.0])?;
    let second = x.as_mut_ptr().wrapping_add(1);
    // SAFETY: two elements follow.
    unsafe { launch!(kernels::scale[1, 32](second, 2.0, 2)) }?;
    assert_eq!(x.to_host()?, [1.0, 4.0, 6.0]);
    let (address, len) = x.into_raw();
    // SAFETY: just given away.
    let x = unsafe { cuda_host::DeviceArray::<f32>::from_raw(&gpu, address, len) };
    assert_eq!(x.to_host()?, [1.0, 4.0, 6.0]);
    Ok(())
}

#[test]
fn sizes_in_every_form() -> Result<()> {
    let gpu = open()?;
    let mut out = gpu.zeros::<u32>(6)?;
    macro_rules! shape_of {
        ($grid:expr, $block:expr) => {{
            // SAFETY: six elements.
            unsafe { launch!(kernels::shape[$grid, $block,](&mut out,)) }?;
            out.to_host()?
        }};
    }
    let n = 40_usize;
    assert_eq!(shape_of!(2, 4), [2, 1, 1, 4, 1, 1]);
    assert_eq!(shape_of!(n / 8, 8_u32), [5, 1, 1, 8, 1, 1]);
    assert_eq!(shape_of!((n / 8, 3), (4, 2_i64)), [5, 3, 1, 4, 2, 1]);
    assert_eq!(shape_of!((1, 2, 3_u8), [1_u32, 2, 3]), [1, 2, 3, 1, 2, 3]);
    assert_eq!(shape_of!((7,), [2]), [7, 1, 1, 2, 1, 1]);
    Ok(())
}

#[test]
fn dynamic_shared_memory() -> Result<()> {
    let gpu = open()?;
    let host = (0..128).collect::<Vec<u32>>();
    let reversed = host.iter().rev().copied().collect::<Vec<_>>();
    // Exactly enough; and more than a block gets without asking the driver for it.
    for bytes in [512, 100 * 1024] {
        let mut x = gpu.to_device(&host)?;
        // SAFETY: 128 elements, 128 threads, at least 512 bytes.
        unsafe { launch!(kernels::reverse[1, 128, bytes](&mut x)) }?;
        assert_eq!(x.to_host()?, reversed);
    }
    Ok(())
}

#[test]
fn launches_that_cannot_be() -> Result<()> {
    let gpu = open()?;
    let limits = *gpu.attributes();
    let mut x = gpu.zeros::<f32>(1)?;
    // SAFETY: nothing is launched.
    let refused = unsafe { launch!(kernels::scale[1, (64, 64)](&mut x, 1.0, 0)) };
    let error = refused.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "kernel `scale`: a block of 64 x 64 x 1 = 4096 threads is more than the {} threads that a block may have on \
             this device\nhelp: make the block smaller and the grid larger",
            limits.max_threads_per_block
        )
    );
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::LaunchShape, 2));
    // SAFETY: nothing is launched.
    let refused = unsafe { launch!(kernels::scale[0, 32](&mut x, 1.0, 0)) };
    assert!(
        message(refused).starts_with("kernel `scale`: the grid is 0 x 1 x 1, and x may not be 0")
    );
    // SAFETY: nothing is launched.
    let refused = unsafe { launch!(kernels::scale[(1, 70_000), 32](&mut x, 1.0, 0)) };
    assert!(message(refused).contains("y is more than the 65535 blocks"));
    // SAFETY: nothing is launched.
    let refused = unsafe { launch!(kernels::scale[1, 32, 1 << 20](&mut x, 1.0, 0)) };
    assert!(message(refused).contains("1048576 bytes of dynamic shared memory are more than"));
    // The device is as good as before.
    gpu.synchronize()
}

#[test]
fn unknown_kernels_and_variables() -> Result<()> {
    let gpu = open()?;
    let error = launch!(kernels::missing[1, 1]()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("no module on this device has a kernel `missing`; it has `scale`, `add`"),
        "{text}"
    );
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Module, 4));
    let module = gpu.load(kernels::PTX)?;
    assert!(module.kernels().eq([
        "scale",
        "add",
        "add_safely",
        "rows_and_columns",
        "echo",
        "trace",
        "describe",
        "increment",
        "reverse",
        "shape",
        "constant_factor",
        "out_of_bounds",
        "traps",
        "recurse"
    ]));
    let error = module.variable("FACTOR").unwrap_err();
    assert!(error.to_string().starts_with("the module has no variable `FACTOR`"), "{error}");
    assert!(gpu.kernel_attributes("nul\0inside").is_err());
    Ok(())
}

#[test]
fn variables() -> Result<()> {
    let gpu = open()?;
    let module = gpu.load(kernels::PTX)?;
    let mut factors = [0.0_f32; 2];
    module.read_variable("FACTORS", &mut factors)?;
    assert_eq!(factors, [2.0, 3.0]);
    module.write_variable("COUNTER", &[5_u32])?;
    module.write_variable("FACTORS", &[2.0_f32, 7.0])?;
    let mut x = gpu.to_device(&[1.0_f32; 8])?;
    // SAFETY: eight elements, eight threads.
    unsafe { launch!(kernels::constant_factor[1, 8](&mut x)) }?;
    assert_eq!(x.to_host()?, [7.0; 8]);
    let mut counter = [0_u32];
    module.read_variable("COUNTER", &mut counter)?;
    assert_eq!(counter, [13]);
    let error = module.write_variable("FACTORS", &[1.0_f32]).unwrap_err();
    assert!(
        error.to_string().starts_with("variable `FACTORS` has 8 bytes, the host's data 4 bytes"),
        "{error}"
    );
    Ok(())
}

#[test]
fn ptx_of_another_build() -> Result<()> {
    mod stale {
        /// One parameter more than the PTX has.
        #[cuda_std::kernel]
        pub unsafe fn trace(_matrix: nalgebra::Matrix4<f32>, _out: *mut f32, _n: usize) {}

        /// A wider one.
        #[cuda_std::kernel]
        pub unsafe fn scale(_x: *mut f32, _by: f64, _n: usize) {}
    }
    let gpu = open()?;
    let mut x = gpu.zeros::<f32>(1)?;
    // SAFETY: nothing is launched.
    let refused = unsafe { launch!(stale::trace[1, 1](Matrix4::zeros(), &mut x, 1)) };
    let text = message(refused);
    assert!(
        text.contains("the PTX takes 2 parameters (a slice counts as two), the signature has 3"),
        "{text}"
    );
    // SAFETY: nothing is launched.
    let refused = unsafe { launch!(stale::scale[1, 1](&mut x, 1.0, 1)) };
    assert!(message(refused).contains("parameter 1 of the PTX has 4 bytes, of the signature 8"));
    Ok(())
}

#[test]
fn matrices_become_row_major() -> Result<()> {
    let gpu = open()?;
    let host = DMatrix::from_row_slice(2, 3, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let matrix = gpu.to_device(&host)?;
    assert_eq!((matrix.rows(), matrix.columns(), matrix.layout()), (2, 3, Layout::RowMajor));
    assert_eq!(matrix.as_array().to_host()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(matrix.to_matrix()?, host);
    let fortran = DeviceMatrix::from_matrix(&gpu, &host, Layout::ColumnMajor)?;
    assert_eq!(fortran.as_array().to_host()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(fortran.to_matrix()?, host);
    // Views and fixed sizes too.
    assert_eq!(
        gpu.to_device(&host.view((0, 1), (2, 2)))?.as_array().to_host()?,
        [2.0, 3.0, 5.0, 6.0]
    );
    assert_eq!(gpu.to_device(&Matrix4::<f64>::identity())?.to_matrix()?, DMatrix::identity(4, 4));

    let mut c = gpu.zeros_matrix::<f32>(2, 3)?;
    // SAFETY: six elements everywhere.
    unsafe { launch!(kernels::add[1, 32](&matrix, &matrix, &mut c)) }?;
    assert_eq!(c.to_matrix()?, host * 2.0);
    assert!(DeviceMatrix::from_array(gpu.zeros::<f32>(5)?, 2, 3, Layout::RowMajor).is_err());
    Ok(())
}

#[test]
fn vectors_as_elements() -> Result<()> {
    let gpu = open()?;
    let points = vec![Vector4::new(1.0_f32, 2.0, 3.0, 4.0); 3];
    let mut device = gpu.to_device(&points)?;
    let mut numbers = device.slice_mut(1..2)?.cast::<f32>()?;
    assert_eq!(numbers.len(), 4);
    // SAFETY: four elements.
    unsafe { launch!(kernels::scale[1, 4](&mut numbers, 2.0, 4)) }?;
    assert_eq!(device.to_host()?, [points[0], points[0] * 2.0, points[0]]);
    Ok(())
}

#[test]
fn copies_check_lengths() -> Result<()> {
    let gpu = open()?;
    let mut x = gpu.to_device(&[1_u16, 2, 3])?;
    assert_eq!(
        message(x.copy_from_host(&[1, 2])),
        "could not copy from the host: the device has 3 elements, the host 2 elements\n\
         help: the two must have the same length"
    );
    assert!(x.copy_to_host(&mut [0; 4]).is_err());
    assert!(x.slice(2..5).is_err());
    let other = gpu.to_device(&[9_u16, 8])?;
    assert!(x.copy_from_device(other.as_slice()).is_err());
    let (first, mut rest) = x.as_mut_slice().split_at_mut(1)?;
    rest.copy_from_device(other.as_slice())?;
    assert_eq!((first.as_slice().to_host()?, rest.as_slice().to_host()?), (vec![1], vec![9, 8]));
    let copy = x.try_clone()?;
    x.fill_zero()?;
    assert_eq!((copy.to_host()?, x.to_host()?), (vec![1, 9, 8], vec![0; 3]));
    Ok(())
}

#[test]
fn more_memory_than_there_is() -> Result<()> {
    let gpu = open()?;
    let total = gpu.total_memory()?;
    let error = gpu.zeros::<f64>(total / 8 + 1).unwrap_err();
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::OutOfMemory, 2));
    let text = error.to_string();
    assert!(text.starts_with("out of memory: "), "{text}");
    assert!(text.contains(&format!("for an array of {} x f64", total / 8 + 1)), "{text}");
    let error = gpu.zeros::<f64>(usize::MAX / 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostMisuse);
    let error = gpu.zeros_matrix::<f64>(usize::MAX, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HostMisuse);
    // Nothing is lost by it.
    gpu.zeros::<f64>(10)?.to_host().map(drop)
}

#[test]
fn streams_and_events() -> Result<()> {
    let gpu = open()?;
    let (first, second) = (gpu.stream()?, cuda_host::Stream::with_priority(&gpu, -1)?);
    let mut x = gpu.to_device(&[1.0_f32; 64])?;
    let start = first.record_event()?;
    // SAFETY: 64 elements.
    unsafe { launch!(kernels::scale[2, 32, 0, &first](&mut x, 2.0, 64)) }?;
    let end = first.record_event()?;
    second.wait(&end)?;
    // SAFETY: 64 elements.
    unsafe { launch!(kernels::scale[2, 32, 0, &second](&mut x, 3.0, 64)) }?;
    second.synchronize()?;
    assert!(second.is_done()? && end.is_done()?);
    let elapsed = start.elapsed_ms(&end)?;
    assert!((0.0..60_000.0).contains(&elapsed), "{elapsed}");
    assert_eq!(x.to_host()?, [6.0; 64]);
    assert_eq!(second.device(), gpu);
    let never = gpu.event()?;
    assert!(never.is_done()?);
    assert!(start.elapsed_ms(&never).is_err());
    Ok(())
}

#[test]
fn handles_may_be_dropped_in_any_order_and_sent_to_any_thread() -> Result<()> {
    let gpu = open()?;
    let again = Device::open()?;
    assert_eq!(gpu, again);
    let mut x = gpu.to_device(&[1.0_f32; 4])?;
    let stream = gpu.stream()?;
    let event = stream.record_event()?;
    drop((gpu, again));
    let x = std::thread::spawn(move || -> Result<_> {
        // SAFETY: four elements.
        unsafe { launch!(kernels::scale[1, 4, 0, &stream](&mut x, 5.0, 4)) }?;
        event.synchronize()?;
        Ok(x)
    });
    let x = x.join().unwrap()?;
    assert_eq!(x.to_host()?, [5.0; 4]);
    assert_eq!(x.device().to_device(&[1_u8])?.to_host()?, [1]);
    Ok(())
}

#[test]
fn what_the_device_is() -> Result<()> {
    let gpu = Device::open()?;
    assert_eq!(gpu.ordinal(), 0);
    assert!(!gpu.name()?.is_empty());
    assert!(gpu.to_string().starts_with("device 0: "), "{gpu}");
    let attributes = gpu.attributes();
    assert_eq!((attributes.warp_size, attributes.max_threads_per_block), (32, 1024));
    assert_eq!(attributes.compute_capability, gpu.compute_capability());
    let memory = gpu.memory_info()?;
    assert!(memory.free <= memory.total && memory.total == gpu.total_memory()?);
    assert!(Device::driver_version()? >= (11, 0));
    assert_eq!(Device::all()?.len(), Device::count()?);
    let error = Device::open_nth(99).unwrap_err();
    assert!(error.to_string().starts_with("there is no device 99: this machine has "), "{error}");
    assert_eq!(error.exit_code(), 2);
    gpu.load(kernels::PTX)?;
    let needs = gpu.kernel_attributes("reverse")?;
    assert!(needs.max_threads_per_block >= 128 && needs.shared_bytes == 0);
    Ok(())
}

#[test]
fn ptx_that_does_not_load() -> Result<()> {
    let gpu = Device::open()?;
    let broken = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  mov.u32 %r1, 5;\n  ret;\n}\n";
    for text in ["", "this is no PTX", broken] {
        let error = gpu.load(text).unwrap_err();
        assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Module, 4), "{error}");
        assert!(error.to_string().starts_with("the PTX does not load: "), "{error}");
    }
    let error = gpu.load(".version 7.0\0").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the PTX contains a NUL byte at offset 12, where the driver would end it\nhelp: pass PTX as text"
    );
    Ok(())
}

#[test]
fn the_kernel_describes_itself() {
    // SAFETY: nothing is launched.
    let arguments = unsafe { kernels::scale(std::ptr::null_mut::<f32>(), 1.0, 2) };
    let kernel = arguments.kernel();
    assert_eq!(kernel.to_string(), "unsafe fn scale(x: *mut f32, by: f32, n: usize)");
    assert!(kernel.file.ends_with("kernels/mod.rs") && kernel.module.ends_with("kernels"));
    let sizes = arguments.packed().iter().map(|param| (param.offset, param.bytes));
    assert_eq!(sizes.collect::<Vec<_>>(), [(0, 8), (8, 4), (16, 8)]);
}

#[test]
fn everything_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Device>();
    shared::<cuda_host::DeviceArray<f32>>();
    shared::<DeviceMatrix<f32>>();
    shared::<cuda_host::DeviceSlice<'_, f32>>();
    shared::<cuda_host::Stream>();
    shared::<cuda_host::Event>();
    shared::<cuda_host::Module>();
    shared::<Error>();
}
