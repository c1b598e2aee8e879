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
/// memory. Each thread can write its own element of `out` and no other, so the kernel is safe; points
/// beyond the end of `out` are left out.
#[kernel]
pub fn transform_points(
    points: &[Vector4<f32>],
    mut out: DisjointSlice<Vector4<f32>>,
    model: Matrix4<f32>,
    projection: Matrix4<f32>,
) {
    let i = thread::unique_index();
    if let (Some(point), Some(image)) = (points.get(i.get()), out.get_mut(i)) {
        *image = transform_point(&model, &projection, *point);
    }
}
