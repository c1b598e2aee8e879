use cuda_std::kernel;

#[kernel]
pub unsafe fn mutable_slice(x: &mut [f32]) {}

#[kernel]
pub unsafe fn mutable_reference(x: &mut f32) {}

#[kernel]
pub unsafe fn slice_pointers(a: *mut [f32], b: *const [[u8; 4]]) {}

#[kernel]
pub unsafe fn texts(a: &str, b: *const str) {}

#[kernel]
pub unsafe fn traits(a: impl Copy, b: &dyn Fn(), c: *const dyn Fn()) {}

#[kernel]
pub unsafe fn functions(f: fn(f32) -> f32) {}

#[kernel]
pub unsafe fn never(x: !) {}

#[kernel]
pub unsafe fn unsized_slice(x: [f32]) {}

#[kernel]
pub unsafe fn generic<T: Copy>(x: T) {}

#[kernel]
pub unsafe fn const_generic<const N: usize>(x: [f32; N]) {}

#[kernel]
pub unsafe fn with_where(x: f32)
where
    f32: Copy,
{
}

#[kernel]
pub unsafe fn returns(x: f32) -> f32 {
    x
}

#[kernel]
pub async unsafe fn is_async(x: f32) {}

#[kernel]
pub const unsafe fn is_const(x: f32) {}

#[kernel]
pub unsafe extern "system" fn other_abi(x: f32) {}

#[kernel]
pub unsafe fn tuple_pattern((x, y): (f32, f32)) {}

#[kernel]
pub unsafe fn reference_pattern(&x: &f32) {}

#[kernel]
pub fn safe_with_pointer(n: usize, x: *mut f32) {}

#[kernel]
pub unsafe fn conditional(#[cfg(target_os = "cuda")] x: f32) {}

#[kernel]
#[unsafe(export_name = "other")]
pub unsafe fn renamed(x: f32) {}

#[kernel]
pub unsafe fn two_mistakes(x: &mut [u8], y: &str) -> u8 {
    0
}

struct Adder;

impl Adder {
    #[kernel]
    pub unsafe fn method(&self, x: f32) {}
}

fn main() {}
