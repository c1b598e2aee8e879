use cuda_std::shared::dynamic_shared_mem;

#[repr(align(32))]
struct FarAligned([f32; 8]);

fn main() {
    let _ = dynamic_shared_mem::<FarAligned>;
    let _: *mut FarAligned = dynamic_shared_mem();
}
