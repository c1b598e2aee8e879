//! Points moved by a kernel whose parameters and arithmetic are `nalgebra` types, and by the same function on the host.

use cuda_host::{Device, launch};
use kernels::transform::transform_point;
use nalgebra::{Matrix4, Perspective3, Rotation3, Translation3, Vector3, Vector4};

use crate::error::Error;

/// Threads in a block of the kernel.
const BLOCK: usize = 256;

/// How the points are looked at: turned, moved in front of the camera, projected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Turns about the y axis and moves the points to z = -3.
    pub model: Matrix4<f32>,
    /// Perspective with an opening of 45 degrees, from z = -0.1 to z = -100.
    pub projection: Matrix4<f32>,
}

/// How far the device's points are from the host's.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Difference {
    /// The largest difference of a coordinate.
    pub max_abs_err: f64,
}

impl View {
    /// A view with the points turned by `degrees`.
    #[must_use]
    pub fn new(degrees: f32) -> Self {
        let rotation = Rotation3::from_axis_angle(&Vector3::y_axis(), degrees.to_radians());
        let model = Translation3::new(0.0, 0.0, -3.0).to_homogeneous() * rotation.to_homogeneous();
        let projection = Perspective3::new(1.0, 45.0_f32.to_radians(), 0.1, 100.0).to_homogeneous();
        Self { model, projection }
    }

    /// The points as the device sees them.
    ///
    /// # Errors
    ///
    /// Whatever the device reports.
    pub fn on_device(
        &self,
        gpu: &Device,
        points: &[Vector4<f32>],
    ) -> Result<Vec<Vector4<f32>>, Error> {
        if points.is_empty() {
            return Ok(Vec::new());
        }
        let input = gpu.to_device(points)?;
        // Poisoned, so that a point the kernel leaves out is seen.
        let mut output = gpu.to_device(&vec![Vector4::repeat(f32::NAN); points.len()])?;
        let grid = points.len().div_ceil(BLOCK);
        launch!(kernels::transform_points[grid, BLOCK](&input, &mut output, self.model, self.projection))?;
        Ok(output.to_host()?)
    }

    /// The points as the host sees them, by the very function that the kernel calls.
    #[must_use]
    pub fn on_host(&self, points: &[Vector4<f32>]) -> Vec<Vector4<f32>> {
        points.iter().map(|&point| transform_point(&self.model, &self.projection, point)).collect()
    }

    /// Compares the device's points with the host's.
    ///
    /// The two may differ in rounding, because the device fuses multiplications and additions. The bound on that follows
    /// the computation: two products with a 4 x 4 matrix, each a sum of four terms, and a division.
    ///
    /// # Errors
    ///
    /// [`Error::WrongResult`] for the first coordinate that rounding can't explain.
    pub fn compare(
        &self,
        points: &[Vector4<f32>],
        device: &[Vector4<f32>],
        host: &[Vector4<f32>],
    ) -> Result<Difference, Error> {
        // Each side is within gamma_4 of exact for each of the two products, and within u for the division:
        // 2 * (4 + 4 + 1) roundings of u = 2^-24 together, doubled for the quotient's two operands.
        let rounding = 36.0 * f64::from(f32::EPSILON) / 2.0;
        let magnitudes = self.projection.abs().cast::<f64>() * self.model.abs().cast::<f64>();
        let mut difference = Difference::default();
        for (index, ((point, device), host)) in points.iter().zip(device).zip(host).enumerate() {
            let clip =
                self.projection.cast::<f64>() * (self.model.cast::<f64>() * point.cast::<f64>());
            let terms = magnitudes * point.abs().cast::<f64>();
            for axis in 0..4 {
                let (found, expected) = (device[axis], f64::from(host[axis]));
                // d(x / w) = dx / w + x dw / w^2
                let w = clip.w.abs();
                let tolerance = rounding * (terms[axis] / w + clip[axis].abs() * terms.w / (w * w));
                let same = found.to_bits() == host[axis].to_bits()
                    || (found.is_nan() && expected.is_nan());
                // Where the bound is infinite or NaN, the point has no image or lies outside f32's range.
                if same || !tolerance.is_finite() || tolerance > f64::from(f32::MAX) {
                    continue;
                }
                let error = (f64::from(found) - expected).abs();
                let explained = error <= tolerance;
                if !explained {
                    return Err(Error::WrongResult {
                        function: "transform_points",
                        place: format!("coordinate {axis} of point {index}"),
                        found,
                        expected,
                        tolerance,
                    });
                }
                difference.max_abs_err = difference.max_abs_err.max(error);
            }
        }
        Ok(difference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_straight_ahead_stays_in_the_middle() {
        let image = View::new(0.0).on_host(&[Vector4::new(0.0, 0.0, 0.0, 1.0)]);
        assert_eq!((image[0].x, image[0].y, image[0].w), (0.0, 0.0, 1.0));
    }

    #[test]
    fn a_quarter_turn_about_y_takes_x_to_minus_z() {
        let turned = View::new(90.0).model * Vector4::new(1.0, 0.0, 0.0, 1.0);
        assert!((turned - Vector4::new(0.0, 0.0, -4.0, 1.0)).norm() < 1e-6, "{turned}");
    }

    #[test]
    fn rounding_passes_and_more_does_not() {
        let view = View::new(30.0);
        let points = [Vector4::new(0.3, -0.2, 0.7, 1.0)];
        let host = view.on_host(&points);
        let mut device = host.clone();
        assert_eq!(view.compare(&points, &device, &host).unwrap(), Difference::default());
        device[0].x = device[0].x.next_up();
        assert!(view.compare(&points, &device, &host).unwrap().max_abs_err > 0.0);
        for wrong in [f32::NAN, device[0].x + 1e-4] {
            device[0].x = wrong;
            let error = view.compare(&points, &device, &host).unwrap_err();
            assert!(error.to_string().contains("coordinate 0 of point 0"), "{error}");
        }
    }

    #[test]
    fn a_point_in_the_cameras_plane_is_not_judged() {
        let view = View::new(0.0);
        let points = [Vector4::new(1.0, 0.0, 3.0, 1.0)];
        let host = view.on_host(&points);
        assert!(!host[0].x.is_finite());
        assert!(view.compare(&points, &[Vector4::repeat(0.0)], &host).is_ok());
    }
}
