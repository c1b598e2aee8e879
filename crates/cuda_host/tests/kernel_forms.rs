//! What `#[kernel]` makes of unusual kernels on the host: everything here is packed, nothing launched.

// A crate that is strict about its own code must be able to declare kernels.
#![deny(missing_docs, unused, unsafe_op_in_unsafe_fn, clippy::all)]

use cuda_std::kernel;
use cuda_std::launch::Arguments;

/// Sizes of the packed parameters, bytes.
fn sizes(arguments: &Arguments<'_>) -> Vec<usize> {
    arguments.packed().iter().map(|param| param.bytes).collect()
}

/// A device function: in use on the host only through the kernel's body.
fn helper(n: usize) -> usize {
    n + 1
}

/// A parameter with the kernel's own name, and with names that the macro uses itself.
#[kernel]
fn sum(sum: f32, arguments: u8, mut n: usize, _: u16) {
    n += helper(n);
    let _ = (sum, arguments, n);
}

/// Keywords as names.
#[kernel]
fn r#loop(r#type: u32) {
    let _ = r#type;
}

/// More parameters than clippy likes, with types of every kind.
///
/// # Safety
/// Never launched.
#[kernel]
#[allow(clippy::needless_lifetimes)]
unsafe fn many<'a>(
    a: &'a [f64],
    b: &[[u8; 3]],
    c: &'a i8,
    d: *const *mut f32,
    e: *mut [u32; 4],
    f: Option<core::num::NonZeroU32>,
    g: [u16; 5],
    h: (),
    i: core::marker::PhantomData<f32>,
    j: char,
) {
    let _ = (a, b, c, d, e, f, g, h, i, j);
}

/// Kernels in a module, reached by path.
mod inner {
    pub mod deeper {
        /// Named like its module, and like a local variable of its caller.
        #[cuda_std::kernel]
        pub fn deeper() {}
    }
    pub use deeper::deeper;
}

#[test]
fn names_do_not_collide() {
    let packed = sum(1.0, 2, 3, 4);
    assert_eq!(sizes(&packed), [4, 1, 8, 2]);
    let names = packed.kernel().params.iter().map(|param| param.name);
    assert!(names.eq(["sum", "arguments", "n", "_3"]));
    let sum = 5;
    assert_eq!(sum, 5);
    let deeper = inner::deeper();
    assert_eq!((deeper.kernel().name, deeper.kernel().is_unsafe), ("deeper", false));
    assert!(deeper.kernel().module.ends_with("inner::deeper"));
}

#[test]
fn raw_names() {
    let packed = r#loop(1);
    assert_eq!(packed.kernel().to_string(), "fn loop(type: u32)");
}

#[test]
fn many_parameters() {
    // SAFETY: not launched.
    let packed = unsafe {
        many(
            cuda_host::In(&[1.0]),
            cuda_host::In(&[[0, 1, 2]; 7]),
            cuda_host::In(&[1]),
            std::ptr::null::<*mut f32>(),
            std::ptr::null_mut::<[u32; 4]>(),
            None,
            [9; 5],
            (),
            core::marker::PhantomData,
            'x',
        )
    };
    assert_eq!(sizes(&packed), [8, 8, 8, 8, 8, 8, 8, 4, 10, 4]);
    assert!(packed.kernel().is_unsafe);
    assert_eq!(packed.kernel().params[1].ty, "&[[u8; 3]]");
    let attribute = include_str!("kernel_forms.rs")
        .lines()
        .position(|line| line.contains("needless_lifetimes"));
    assert_eq!(packed.kernel().line as usize, attribute.unwrap());
}
