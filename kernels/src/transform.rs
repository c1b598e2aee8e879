//! Lesson 3: the same types on both sides. Points are moved, rotated and projected with `nalgebra`
//! matrices in the kernel, and with the very same function on the CPU.

use cuda_std::prelude::*;
use nalgebra::{Matrix4, Vector4};

/// Takes a point in homogeneous coordinates through `model`, then `projection`, then the
/// perspective division, so that the last coordinate of the result is 1.
///
/// A point in the camera's plane (last coordinate 0 after the projection) has no image: its
/// coordinates come out infinite or NaN, as IEEE division has it.
///
/// ```
/// use nalgebra::{Matrix4, Vector4};
/// let shift = Matrix4::new_translation(&nalgebra::Vector3::new(1.0, 2.0, 3.0));
/// let moved = kernels::transform::transform_point(&shift, &Matrix4::identity(), Vector4::new(0.0, 0.0, 0.0, 1.0));
/// assert_eq!(moved, Vector4::new(1.0, 2.0, 3.0, 1.0));
/// ```
pub fn transform_point(
    model: &Matrix4<f32>,
    projection: &Matrix4<f32>,
    point: Vector4<f32>,
) -> Vector4<f32> {
    let clip = projection * (model * point);
    clip / clip.w
}

/// `out[i] = transform_point(model, projection, points[i])`, one thread a point.
///
/// The two matrices are passed by value: they travel in the launch's parameters, not in global
/// memory.
///
/// # Safety
/// `out` must point to as many elements as `points` has, none of which overlap `points`.
#[kernel]
pub unsafe fn transform_points(
    points: &[Vector4<f32>],
    out: *mut Vector4<f32>,
    model: Matrix4<f32>,
    projection: Matrix4<f32>,
) {
    let i = thread::index_1d() as usize;
    if i < points.len() {
        // SAFETY: i < points.len(), which is how many elements `out` has, and no other thread has this i.
        unsafe { out.add(i).write(transform_point(&model, &projection, points[i])) };
    }
}
