//! The CUDA driver's first device, through `cust`.

use std::ffi::CString;
use std::ptr;

use cust::CudaFlags;
use cust::context::{Context, CurrentContext, ResourceLimit};
use cust::memory::{CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice};
use cust::stream::{Stream, StreamFlags};
use cust::sys::{self, CUfunction, CUfunction_attribute_enum, CUmodule, cudaError_enum};

use super::stdout::captured;
use super::{Failure, Kernels, Params, Runs, STACK_BYTES, Shape};

pub(super) struct Driver {
    // Dropped in this order: what lies in the context first.
    uploads: Vec<DeviceBuffer<u8>>,
    stream: Stream,
    module: Module,
    _context: Context,
}

impl Driver {
    pub(super) fn new(kernels: &Kernels) -> Self {
        cuda_driver::ensure_linked();
        cust::init(CudaFlags::empty()).expect("there is a CUDA driver");
        let device = cust::device::Device::get_device(0).expect("there is a device");
        let context = Context::new(device).expect("the device has a primary context");
        CurrentContext::set_current(&context).expect("the context is new");
        CurrentContext::set_resource_limit(ResourceLimit::StackSize, STACK_BYTES as usize)
            .expect("the context is current");
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("the context is current");
        Self { uploads: Vec::new(), stream, module: Module::load(kernels), _context: context }
    }
}

/// Memory of the device that holds `len` bytes from `address` on.
fn memory(address: u64, len: usize) -> DeviceSlice<u8> {
    // SAFETY: a slice of the device's memory is only an address and a length until it is copied, and the driver
    // refuses copies outside its allocations.
    unsafe { DeviceSlice::from_raw_parts(DevicePointer::from_raw(address), len) }
}

impl Runs for Driver {
    fn upload(&mut self, bytes: &[u8]) -> u64 {
        let buffer = DeviceBuffer::from_slice(bytes).expect("there is memory");
        let address = buffer.as_device_ptr().as_raw();
        self.uploads.push(buffer);
        address
    }

    fn read(&self, address: u64, bytes: &mut [u8]) {
        memory(address, bytes.len()).copy_to(bytes).expect("an allocation");
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        memory(address, bytes.len()).copy_from(bytes).expect("an allocation");
    }

    fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.module.global(name)
    }

    fn static_shared_bytes(&self, kernel: &str) -> u32 {
        let mut bytes = 0;
        // SAFETY: the function is one of this module's, the result goes to a variable of this function.
        let code = unsafe {
            sys::cuFuncGetAttribute(
                &mut bytes,
                CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                self.module.function(kernel),
            )
        };
        assert_eq!(code, cudaError_enum::CUDA_SUCCESS);
        u32::try_from(bytes).expect("a size")
    }

    fn run(
        &mut self,
        kernel: &str,
        shape: Shape,
        params: &Params,
        cooperative: bool,
    ) -> Result<String, Failure> {
        let function = self.module.function(kernel);
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (shape.grid, shape.block);
        let (result, printed) = captured(|| {
            // SAFETY: the tests give the kernels' parameters and memory that lives as long as `self`.
            let code = unsafe {
                if cooperative {
                    sys::cuLaunchCooperativeKernel(
                        function,
                        grid_x,
                        grid_y,
                        grid_z,
                        block_x,
                        block_y,
                        block_z,
                        shape.dynamic_shared_bytes,
                        self.stream.as_inner(),
                        params.pointers().as_mut_ptr(),
                    )
                } else {
                    sys::cuLaunchKernel(
                        function,
                        grid_x,
                        grid_y,
                        grid_z,
                        block_x,
                        block_y,
                        block_z,
                        shape.dynamic_shared_bytes,
                        self.stream.as_inner(),
                        params.pointers().as_mut_ptr(),
                        ptr::null_mut(),
                    )
                }
            };
            assert_eq!(code, cudaError_enum::CUDA_SUCCESS, "launching {kernel}");
            self.stream.synchronize()
        });
        result.map_err(Failure::Driver)?;
        Ok(printed)
    }
}

/// What the driver loads: PTX with a NUL at its end, or the machine code that was made of it. The driver would compile so many kernels on
/// one processor, for minutes.
fn image(kernels: &Kernels) -> Vec<u8> {
    let text = || CString::new(kernels.ptx()).expect("PTX is text").into_bytes_with_nul();
    kernels.cubin().unwrap_or_else(text)
}

/// A loaded module. Not `cust`'s, which does not tell addresses of variables.
struct Module(CUmodule);

impl Module {
    fn load(kernels: &Kernels) -> Self {
        let image = image(kernels);
        let mut module = ptr::null_mut();
        // SAFETY: PTX ends with a NUL, machine code tells its length; the result goes to a variable of this function.
        let code = unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) };
        assert_eq!(code, cudaError_enum::CUDA_SUCCESS, "loading the kernels");
        Self(module)
    }

    fn function(&self, name: &str) -> CUfunction {
        let text = CString::new(name).expect("a name is text");
        let mut function = ptr::null_mut();
        // SAFETY: as in `load`, and the module is loaded.
        let code = unsafe { sys::cuModuleGetFunction(&mut function, self.0, text.as_ptr()) };
        assert_eq!(code, cudaError_enum::CUDA_SUCCESS, "finding the kernel {name}");
        function
    }

    fn global(&self, name: &str) -> Option<(u64, u64)> {
        let text = CString::new(name).expect("a name is text");
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: as in `function`.
        let code =
            unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.0, text.as_ptr()) };
        (code == cudaError_enum::CUDA_SUCCESS).then_some((address, bytes as u64))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module is loaded, and nobody uses it any more. What it answers after a fault doesn't matter.
        let _ = unsafe { sys::cuModuleUnload(self.0) };
    }
}
