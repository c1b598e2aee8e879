//! The arguments of one launch, packed the way the device expects them.

extern crate alloc;

use alloc::vec::Vec;
use core::ffi::c_void;
use core::fmt;
use core::mem::{MaybeUninit, align_of, size_of};
use core::ptr;

use super::{
    KernelInfo, MatrixMutArg, PointerArg, PointerMutArg, ReferenceArg, SliceArg, SliceMutArg,
};

/// Storage unit of the packed bytes. PTX parameters are aligned to at most 16 bytes in what rustc emits, so a buffer
/// of these keeps every parameter aligned.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Unit([MaybeUninit<u8>; 16]);

/// The arguments of one launch: which kernel, and its parameters as the device ABI lays them out.
///
/// A kernel's own host function makes it; `cuda_host::launch!` consumes it.
pub struct Arguments<'a> {
    kernel: &'static KernelInfo,
    storage: Vec<Unit>,
    /// Bytes of `storage` in use.
    used: usize,
    packed: Vec<Packed>,
    host: Vec<HostArgument<'a>>,
    device: Option<(DeviceTag, usize)>,
    fault: Option<ArgumentFault>,
    /// Index of the kernel's parameter (as declared) that is being written.
    current: usize,
}

/// One parameter of the entry: where its bytes stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Index of the declared parameter that it belongs to; a slice has two of the same index.
    pub declared: usize,
    /// Offset in bytes from the start, a multiple of `align`: what PTX's rules for `.param` space give.
    pub offset: usize,
    /// Size in bytes, never 0.
    pub bytes: usize,
    /// Alignment in bytes.
    pub align: usize,
}

/// Identifies the device context that owns a device address; opaque here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceTag(pub usize);

/// Host memory that a launch copies to the device before it runs, back after, or both.
#[derive(Debug)]
pub enum HostData<'a> {
    /// Copied to the device before the launch.
    In(&'a [u8]),
    /// Copied from the device after the launch; its contents before are not read.
    Out(&'a mut [u8]),
    /// Both.
    InOut(&'a mut [u8]),
}

impl HostData<'_> {
    /// The size in bytes.
    pub fn len(&self) -> usize {
        match self {
            HostData::In(data) => data.len(),
            HostData::Out(data) | HostData::InOut(data) => data.len(),
        }
    }

    /// True if it holds no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A parameter whose device address is known only once the launch has allocated it.
#[derive(Debug)]
pub struct HostArgument<'a> {
    /// Index into [`Arguments::packed`] of the address.
    pub packed: usize,
    /// Index of the declared parameter.
    pub declared: usize,
    /// What is copied.
    pub data: HostData<'a>,
}

/// Why these arguments cannot be launched at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// `&T` needs an element to refer to, and the array has none.
    EmptyReference {
        /// Index of the declared parameter.
        declared: usize,
    },
    /// The kernel takes a row-major matrix, and this one is column-major.
    ColumnMajor {
        /// Index of the declared parameter.
        declared: usize,
    },
    /// Two parameters lie on different devices.
    DifferentDevices {
        /// Index of the first declared parameter that lies on a device.
        first: usize,
        /// Index of the one that lies on another.
        other: usize,
    },
}

impl<'a> Arguments<'a> {
    /// No arguments yet, for `kernel`.
    ///
    /// # Safety
    /// What is packed must be what the entry named `kernel.name` takes, and the launch must do only what the kernel's
    /// documentation allows: whoever holds `Arguments` may launch them without another `unsafe`. `#[kernel]` writes
    /// this call, and makes the kernel's host function `unsafe` if the kernel is.
    pub unsafe fn new(kernel: &'static KernelInfo) -> Self {
        let count = kernel.params.len();
        Self {
            kernel,
            storage: Vec::with_capacity(count + 1),
            used: 0,
            packed: Vec::with_capacity(2 * count),
            host: Vec::new(),
            device: None,
            fault: None,
            current: 0,
        }
    }

    /// The next parameter, a `&[T]`.
    pub fn slice<T>(&mut self, argument: impl SliceArg<'a, T>) {
        argument.write(self);
        self.current += 1;
    }

    /// The next parameter, a `DisjointSlice<T>`.
    pub fn slice_mut<T>(&mut self, argument: impl SliceMutArg<'a, T>) {
        argument.write(self);
        self.current += 1;
    }

    /// The next parameter, a `DisjointMatrix<T>`.
    pub fn matrix_mut<T>(&mut self, argument: impl MatrixMutArg<'a, T>) {
        argument.write(self);
        self.current += 1;
    }

    /// The next parameter, a `&T`.
    pub fn reference<T>(&mut self, argument: impl ReferenceArg<'a, T>) {
        argument.write(self);
        self.current += 1;
    }

    /// The next parameter, a `*const T`.
    pub fn pointer<T>(&mut self, argument: impl PointerArg<'a, T>) {
        argument.write(self);
        self.current += 1;
    }

    /// The next parameter, a `*mut T`.
    pub fn pointer_mut<T>(&mut self, argument: impl PointerMutArg<'a, T>) {
        argument.write(self);
        self.current += 1;
    }

    /// The next parameter, by value.
    pub fn value<T: Copy + 'static>(&mut self, argument: T) {
        self.push_value(argument);
        self.current += 1;
    }

    /// Appends the bytes of `value`; nothing for a type without size, which the device ABI leaves out.
    ///
    /// `'static`, since a borrow of host memory means nothing on the device.
    pub fn push_value<T: Copy + 'static>(&mut self, value: T) {
        let (bytes, align) = (size_of::<T>(), align_of::<T>());
        if bytes == 0 {
            return;
        }
        let offset = self.used.next_multiple_of(align);
        let end = offset + bytes;
        let unit = Unit([MaybeUninit::new(0); 16]);
        self.storage.resize(end.div_ceil(size_of::<Unit>()), unit);
        // SAFETY: `storage` holds at least `end` bytes, `value` holds `bytes`, and they do not overlap. The copy is
        // untyped, so padding stays what it is: the storage is `MaybeUninit`.
        unsafe {
            let target = self.storage.as_mut_ptr().cast::<MaybeUninit<u8>>().add(offset);
            let source = ptr::from_ref(&value).cast::<MaybeUninit<u8>>();
            ptr::copy_nonoverlapping(source, target, bytes);
        }
        self.used = end;
        self.packed.push(Packed { declared: self.current, offset, bytes, align });
    }

    /// Appends a device address, and notes the device it lies on if the caller knows it.
    pub fn push_address(&mut self, address: usize, device: Option<DeviceTag>) {
        if let Some(device) = device {
            match self.device {
                None => self.device = Some((device, self.current)),
                Some((known, first)) if known != device => {
                    self.fail(ArgumentFault::DifferentDevices { first, other: self.current });
                }
                Some(_) => {}
            }
        }
        self.push_value(address as u64);
    }

    /// Appends the length of a slice, or the rows or columns of a matrix, in elements.
    pub fn push_length(&mut self, elements: usize) {
        self.push_value(elements as u64);
    }

    /// Appends an address that [`Arguments::set_address`] fills in once the launch has allocated memory for `data`.
    /// Until then it is `align`, the address of an empty slice.
    pub fn push_host(&mut self, data: HostData<'a>, align: usize) {
        self.host.push(HostArgument { packed: self.packed.len(), declared: self.current, data });
        self.push_value(align as u64);
    }

    /// Notes that these arguments cannot be launched; the first reason stays.
    pub fn fail(&mut self, fault: ArgumentFault) {
        self.fault.get_or_insert(fault);
    }

    /// Index of the declared parameter that is being written.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The kernel.
    pub fn kernel(&self) -> &'static KernelInfo {
        self.kernel
    }

    /// The device that the arguments lie on, if any of them says.
    pub fn device(&self) -> Option<DeviceTag> {
        self.device.map(|(tag, _)| tag)
    }

    /// Why these arguments cannot be launched, if they cannot.
    pub fn fault(&self) -> Option<ArgumentFault> {
        self.fault
    }

    /// The entry's parameters in order.
    pub fn packed(&self) -> &[Packed] {
        &self.packed
    }

    /// Size of all parameters in bytes, with the gaps that alignment needs.
    pub fn bytes(&self) -> usize {
        self.used
    }

    /// The host memory to copy, which the caller takes over.
    pub fn take_host(&mut self) -> Vec<HostArgument<'a>> {
        core::mem::take(&mut self.host)
    }

    /// Replaces an address; no effect if `packed` is not the index of an 8-byte parameter.
    pub fn set_address(&mut self, packed: usize, address: u64) {
        let Some(&Packed { offset, bytes: 8, .. }) = self.packed.get(packed) else {
            return;
        };
        // SAFETY: `offset` and the 8 bytes after it lie in `storage`, as `push_value` made sure.
        unsafe {
            let target = self.storage.as_mut_ptr().cast::<u8>().add(offset).cast::<u64>();
            target.write_unaligned(address);
        }
    }

    /// A pointer to each parameter, in order: what the driver's `cuLaunchKernel` takes as `kernelParams`.
    ///
    /// They stay valid until `self` is changed or dropped.
    pub fn pointers(&mut self) -> Vec<*mut c_void> {
        let base = self.storage.as_mut_ptr().cast::<u8>();
        // SAFETY: every offset lies in `storage`, as `push_value` made sure.
        self.packed.iter().map(|param| unsafe { base.add(param.offset).cast() }).collect()
    }
}

impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arguments")
            .field("kernel", &self.kernel.name)
            .field("packed", &self.packed)
            .field("host", &self.host)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KERNEL: KernelInfo =
        KernelInfo { name: "k", params: &[], is_unsafe: true, module: "m", file: "f.rs", line: 1 };

    fn packing<'a>() -> Arguments<'a> {
        // SAFETY: nothing here is ever launched.
        unsafe { Arguments::new(&KERNEL) }
    }

    fn bytes_of(arguments: &mut Arguments<'_>, index: usize) -> Vec<u8> {
        let bytes = arguments.packed()[index].bytes;
        let pointer = arguments.pointers()[index].cast::<u8>();
        // SAFETY: the tests below pack only values without padding.
        unsafe { core::slice::from_raw_parts(pointer, bytes).to_vec() }
    }

    fn layout(arguments: &Arguments<'_>) -> Vec<(usize, usize, usize)> {
        arguments.packed().iter().map(|p| (p.offset, p.bytes, p.align)).collect()
    }

    #[test]
    fn scalars_are_aligned_like_param_space() {
        let mut arguments = packing();
        arguments.value(0x11_u8);
        arguments.value(0x2222_u16);
        arguments.value(0x33_u8);
        arguments.value(1.5_f32);
        arguments.value(-2.0_f64);
        arguments.value(true);
        arguments.value(7_usize);
        assert_eq!(
            layout(&arguments),
            [(0, 1, 1), (2, 2, 2), (4, 1, 1), (8, 4, 4), (16, 8, 8), (24, 1, 1), (32, 8, 8)]
        );
        assert_eq!(arguments.bytes(), 40);
        assert_eq!(bytes_of(&mut arguments, 1), 0x2222_u16.to_ne_bytes());
        assert_eq!(bytes_of(&mut arguments, 3), 1.5_f32.to_ne_bytes());
        assert_eq!(bytes_of(&mut arguments, 4), (-2.0_f64).to_ne_bytes());
        assert_eq!(bytes_of(&mut arguments, 5), [1]);
        assert_eq!(bytes_of(&mut arguments, 6), 7_u64.to_ne_bytes());
    }

    #[test]
    fn structs_keep_size_and_alignment() {
        #[derive(Clone, Copy)]
        #[repr(C, align(16))]
        struct Row([f32; 4]);
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Pair(u32, u32);

        let mut arguments = packing();
        arguments.value(1_u8);
        arguments.value(Row([1.0, 2.0, 3.0, 4.0]));
        arguments.value(Pair(5, 6));
        arguments.value([7_u16; 3]);
        assert_eq!(layout(&arguments), [(0, 1, 1), (16, 16, 16), (32, 8, 4), (40, 6, 2)]);
        let row: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
        assert_eq!(bytes_of(&mut arguments, 1), row);
        assert_eq!(bytes_of(&mut arguments, 2), [5, 0, 0, 0, 6, 0, 0, 0]);
        assert!(
            arguments
                .pointers()
                .iter()
                .zip(layout(&arguments))
                .all(|(p, (_, _, a))| p.addr() % a == 0)
        );
    }

    #[test]
    fn values_without_size_take_no_parameter() {
        let mut arguments = packing();
        arguments.value(());
        arguments.value(9_u32);
        arguments.value([0_u64; 0]);
        assert_eq!(layout(&arguments), [(0, 4, 4)]);
        assert_eq!(arguments.packed()[0].declared, 1);
        assert_eq!(arguments.current(), 3);
    }

    #[test]
    fn no_arguments() {
        let mut arguments = packing();
        assert_eq!(arguments.bytes(), 0);
        assert!(arguments.pointers().is_empty());
    }

    #[test]
    fn raw_pointers_are_addresses() {
        let mut arguments = packing();
        arguments.pointer::<f32>(ptr::without_provenance::<f32>(0x1000));
        arguments.pointer::<f32>(ptr::without_provenance_mut::<f32>(0x2000));
        arguments.pointer_mut::<f32>(ptr::null_mut::<f32>());
        assert_eq!(layout(&arguments), [(0, 8, 8), (8, 8, 8), (16, 8, 8)]);
        assert_eq!(bytes_of(&mut arguments, 0), 0x1000_u64.to_ne_bytes());
        assert_eq!(bytes_of(&mut arguments, 1), 0x2000_u64.to_ne_bytes());
        assert_eq!(bytes_of(&mut arguments, 2), [0; 8]);
        assert_eq!(arguments.device(), None);
    }

    struct Fake<'a> {
        address: usize,
        elements: usize,
        device: usize,
        copied: Option<&'a mut [u8]>,
    }

    impl<'a, T> SliceArg<'a, T> for Fake<'a> {
        fn write(self, arguments: &mut Arguments<'a>) {
            match self.copied {
                Some(data) => arguments.push_host(HostData::InOut(data), 4),
                None => arguments.push_address(self.address, Some(DeviceTag(self.device))),
            }
            arguments.push_length(self.elements);
        }
    }

    #[test]
    fn a_slice_is_address_then_length() {
        let mut arguments = packing();
        arguments.slice::<f32>(Fake { address: 0x700, elements: 3, device: 1, copied: None });
        assert_eq!(bytes_of(&mut arguments, 0), 0x700_u64.to_ne_bytes());
        assert_eq!(bytes_of(&mut arguments, 1), 3_u64.to_ne_bytes());
        assert_eq!(arguments.packed().iter().map(|p| p.declared).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(arguments.device(), Some(DeviceTag(1)));
    }

    #[test]
    fn host_memory_gets_its_address_later() {
        let mut data = [0_u8; 12];
        let mut arguments = packing();
        arguments.value(1_u32);
        arguments.slice::<f32>(Fake {
            address: 0,
            elements: 3,
            device: 1,
            copied: Some(&mut data),
        });
        let host = arguments.take_host();
        assert_eq!(
            (host.len(), host[0].packed, host[0].declared, host[0].data.len()),
            (1, 1, 1, 12)
        );
        assert_eq!(bytes_of(&mut arguments, 1), 4_u64.to_ne_bytes());
        arguments.set_address(host[0].packed, 0xabc0);
        assert_eq!(bytes_of(&mut arguments, 1), 0xabc0_u64.to_ne_bytes());
        arguments.set_address(0, 1);
        arguments.set_address(99, 1);
        assert_eq!(bytes_of(&mut arguments, 0), 1_u32.to_ne_bytes());
        assert_eq!(arguments.device(), None);
    }

    #[test]
    fn two_devices_are_a_fault() {
        let mut arguments = packing();
        let on = |device| Fake { address: 0, elements: 0, device, copied: None };
        arguments.value(0_u8);
        arguments.slice::<f32>(on(1));
        arguments.slice::<f32>(on(1));
        assert_eq!(arguments.fault(), None);
        arguments.slice::<f32>(on(2));
        let fault = ArgumentFault::DifferentDevices { first: 1, other: 3 };
        assert_eq!(arguments.fault(), Some(fault));
        arguments.fail(ArgumentFault::EmptyReference { declared: 3 });
        assert_eq!(arguments.fault(), Some(fault));
    }

    #[test]
    fn the_signature_is_readable() {
        extern crate alloc;
        use crate::launch::ParamInfo;
        let kernel = KernelInfo {
            params: &[
                ParamInfo { name: "x", ty: "*mut f32" },
                ParamInfo { name: "n", ty: "usize" },
            ],
            ..KERNEL
        };
        assert_eq!(alloc::format!("{kernel}"), "unsafe fn k(x: *mut f32, n: usize)");
    }
}
