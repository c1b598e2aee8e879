//! What of this crate may be passed for which parameter of a kernel (see `cuda_std::launch`).

use cuda_std::launch::{
    ArgumentFault, Arguments, HostData, MatrixMutArg, PointerArg, PointerMutArg, ReferenceArg,
    SliceArg, SliceMutArg,
};

use super::{
    DeviceArray, DeviceCopy, DeviceMatrix, DeviceSlice, DeviceSliceMut, In, InOut, Layout, Out,
};

/// Memory on a device, or on its way there.
enum Memory<'a, T> {
    Device(DeviceSlice<'a, T>),
    Host(HostData<'a>, usize),
}

impl<'a, T: DeviceCopy> Memory<'a, T> {
    fn read(host: &'a [T]) -> Self {
        Memory::Host(HostData::In(bytemuck::cast_slice(host)), host.len())
    }

    fn written(host: &'a mut [T], direction: fn(&'a mut [u8]) -> HostData<'a>) -> Self {
        let len = host.len();
        Memory::Host(direction(bytemuck::cast_slice_mut(host)), len)
    }

    fn len(&self) -> usize {
        match self {
            Memory::Device(slice) => slice.len(),
            Memory::Host(_, len) => *len,
        }
    }

    fn write_slice(self, arguments: &mut Arguments<'a>) {
        let len = self.len();
        match self {
            Memory::Device(slice) => {
                // A Rust slice is never null, not even an empty one: the kernel gets what a dangling one has.
                let address = match slice.address() {
                    0 => align_of::<T>(),
                    address => address as usize,
                };
                arguments.push_address(address, Some(slice.state().tag()));
            }
            Memory::Host(data, _) => arguments.push_host(data, align_of::<T>()),
        }
        arguments.push_length(len);
    }

    fn write_reference(self, arguments: &mut Arguments<'a>) {
        if self.len() == 0 {
            arguments.fail(ArgumentFault::EmptyReference { declared: arguments.current() });
        }
        self.write_pointer(arguments);
    }

    fn write_pointer(self, arguments: &mut Arguments<'a>) {
        match self {
            Memory::Device(slice) => {
                arguments.push_address(slice.address() as usize, Some(slice.state().tag()));
            }
            Memory::Host(data, _) => arguments.push_host(data, align_of::<T>()),
        }
    }
}

/// For `&[T]`, `&T` and `*const T`. One invocation a type: the compiler shows it when an argument does not fit.
macro_rules! readable {
    ($ty:ty, $argument:ident => $memory:expr) => {
        impl<'a, T: DeviceCopy> SliceArg<'a, T> for $ty {
            fn write(self, arguments: &mut Arguments<'a>) {
                let $argument = self;
                Memory::<T>::write_slice($memory, arguments);
            }
        }

        impl<'a, T: DeviceCopy> ReferenceArg<'a, T> for $ty {
            fn write(self, arguments: &mut Arguments<'a>) {
                let $argument = self;
                Memory::<T>::write_reference($memory, arguments);
            }
        }

        impl<'a, T: DeviceCopy> PointerArg<'a, T> for $ty {
            fn write(self, arguments: &mut Arguments<'a>) {
                let $argument = self;
                Memory::<T>::write_pointer($memory, arguments);
            }
        }
    };
}

/// For `*mut T` and `DisjointSlice<T>`.
macro_rules! writable {
    ($ty:ty, $argument:ident => $memory:expr) => {
        impl<'a, T: DeviceCopy> SliceMutArg<'a, T> for $ty {
            fn write(self, arguments: &mut Arguments<'a>) {
                let $argument = self;
                Memory::<T>::write_slice($memory, arguments);
            }
        }

        impl<'a, T: DeviceCopy> PointerMutArg<'a, T> for $ty {
            fn write(self, arguments: &mut Arguments<'a>) {
                let $argument = self;
                Memory::<T>::write_pointer($memory, arguments);
            }
        }
    };
}

readable!(&'a DeviceArray<T>, array => Memory::Device(array.as_slice()));
readable!(&'a mut DeviceArray<T>, array => Memory::Device(array.as_slice()));
readable!(&'a DeviceMatrix<T>, matrix => Memory::Device(matrix.as_array().as_slice()));
readable!(&'a mut DeviceMatrix<T>, matrix => Memory::Device(matrix.as_array().as_slice()));
readable!(DeviceSlice<'a, T>, slice => Memory::Device(slice));
readable!(&'a DeviceSlice<'a, T>, slice => Memory::Device(*slice));
readable!(&'a DeviceSliceMut<'a, T>, slice => Memory::Device(slice.as_slice()));
readable!(In<'a, T>, host => Memory::read(host.0));

writable!(&'a mut DeviceArray<T>, array => Memory::Device(array.as_slice()));
writable!(&'a mut DeviceMatrix<T>, matrix => Memory::Device(matrix.as_array().as_slice()));
writable!(DeviceSliceMut<'a, T>, slice => Memory::Device(slice.into_slice()));
writable!(Out<'a, T>, host => Memory::written(host.0, HostData::Out));
writable!(InOut<'a, T>, host => Memory::written(host.0, HostData::InOut));

impl<'a, 'b: 'a, T: DeviceCopy> PointerMutArg<'a, T> for &'a mut DeviceSliceMut<'b, T> {
    fn write(self, arguments: &mut Arguments<'a>) {
        Memory::<T>::Device(self.as_slice()).write_pointer(arguments);
    }
}

impl<'a, 'b: 'a, T: DeviceCopy> SliceMutArg<'a, T> for &'a mut DeviceSliceMut<'b, T> {
    fn write(self, arguments: &mut Arguments<'a>) {
        Memory::<T>::Device(self.as_slice()).write_slice(arguments);
    }
}

impl<'a, T: DeviceCopy> MatrixMutArg<'a, T> for &'a mut DeviceMatrix<T> {
    fn write(self, arguments: &mut Arguments<'a>) {
        if self.layout() != Layout::RowMajor {
            arguments.fail(ArgumentFault::ColumnMajor { declared: arguments.current() });
        }
        let slice = self.as_array().as_slice();
        // Not null, as in `write_slice`.
        let address = match slice.address() {
            0 => align_of::<T>(),
            address => address as usize,
        };
        arguments.push_address(address, Some(slice.state().tag()));
        arguments.push_length(self.rows());
        arguments.push_length(self.columns());
    }
}
