use cuda_std::kernel;

#[kernel(launch_bounds(256), launch_bounds(128))]
pub unsafe fn twice() {}

#[kernel(launch_bounds)]
pub unsafe fn without_a_number() {}

#[kernel(launch_bounds())]
pub unsafe fn without_numbers() {}

#[kernel(launch_bounds(256, 2, 4))]
pub unsafe fn with_a_cluster() {}

#[kernel(launch_bounds(1025))]
pub unsafe fn too_large() {}

#[kernel(launch_bounds(0, 33))]
pub unsafe fn no_threads_and_too_many_blocks() {}

const THREADS: u32 = 256;

#[kernel(launch_bounds(THREADS))]
pub unsafe fn with_a_constant() {}

#[kernel(launch_bounds(4 * 32))]
pub unsafe fn with_a_product() {}

#[kernel(launch_bounds("256"))]
pub unsafe fn with_a_text() {}

#[kernel(max_registers = 64)]
pub unsafe fn with_an_equals_sign() {}

#[kernel(max_registers(256))]
pub unsafe fn too_many_registers() {}

#[kernel(max_registers(8), max_registers)]
pub unsafe fn too_few_registers() {}

#[kernel(launch_bounds(256, 2), max_registers(64))]
pub unsafe fn registers_twice() {}

#[kernel(launch_bounds(256 2))]
pub unsafe fn without_a_comma() {}

#[kernel(cluster)]
pub unsafe fn cluster_without_a_number() {}

#[kernel(cluster())]
pub unsafe fn cluster_without_numbers() {}

#[kernel(cluster(1, 1, 1, 2))]
pub unsafe fn cluster_in_four_dimensions() {}

#[kernel(cluster(9))]
pub unsafe fn cluster_of_nine() {}

#[kernel(cluster(2, 0))]
pub unsafe fn cluster_of_none() {}

#[kernel(cluster(4, 2, 2))]
pub unsafe fn cluster_of_sixteen() {}

#[kernel(cluster(2), cluster(2))]
pub unsafe fn cluster_twice() {}

fn main() {}
