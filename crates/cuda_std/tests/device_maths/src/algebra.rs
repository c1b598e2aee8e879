//! Small matrices, rotations and quaternions of nalgebra and glam, one problem a thread.

use cuda_std::glam;
use cuda_std::prelude::*;
use nalgebra::{Matrix3, Matrix4, Rotation3, SymmetricEigen, Unit, UnitQuaternion, Vector3, Vector4};

/// A kernel that turns `N` numbers of each thread into `M`.
macro_rules! problems {
    ($($(#[$doc:meta])+ $kernel:ident: [f64; $n:literal] -> [f64; $m:literal] = $solve:expr;)+) => {$(
        $(#[$doc])+
        #[kernel]
        pub unsafe fn $kernel(problems: &[[f64; $n]], solutions: *mut [f64; $m]) {
            let i = thread::index_1d() as usize;
            if i < problems.len() {
                let solve: fn(&[f64; $n]) -> [f64; $m] = $solve;
                unsafe { *solutions.add(i) = solve(&problems[i]) };
            }
        }
    )+};
}

/// The numbers of matrices and vectors, one behind the other, by columns; NaN where none are left.
fn join<const M: usize>(parts: &[&[f64]]) -> [f64; M] {
    let mut numbers = parts.iter().copied().flatten();
    core::array::from_fn(|_| numbers.next().copied().unwrap_or(f64::NAN))
}

problems! {
    /// Inverse and determinant.
    inverse_3: [f64; 9] -> [f64; 10] = |a| {
        let a = Matrix3::from_column_slice(a);
        let inverse = a.try_inverse().unwrap_or(Matrix3::zeros());
        join(&[inverse.as_slice(), &[a.determinant()]])
    };
    /// Inverse and determinant.
    inverse_4: [f64; 16] -> [f64; 17] = |a| {
        let a = Matrix4::from_column_slice(a);
        let inverse = a.try_inverse().unwrap_or(Matrix4::zeros());
        join(&[inverse.as_slice(), &[a.determinant()]])
    };
    /// The solution of a linear system by LU decomposition: matrix, right side.
    lu_4: [f64; 20] -> [f64; 4] = |problem| {
        let (a, b) = problem.split_at(16);
        let (a, b) = (Matrix4::from_column_slice(a), Vector4::from_column_slice(b));
        join(&[a.lu().solve(&b).unwrap_or(Vector4::zeros()).as_slice()])
    };
    /// Q and R.
    qr_4: [f64; 16] -> [f64; 32] = |a| {
        let (q, r) = Matrix4::from_column_slice(a).qr().unpack();
        join(&[q.as_slice(), r.as_slice()])
    };
    /// U, the singular values, V transposed.
    svd_3: [f64; 9] -> [f64; 21] = |a| {
        let svd = Matrix3::from_column_slice(a).svd(true, true);
        let (u, v) = (svd.u.unwrap_or(Matrix3::zeros()), svd.v_t.unwrap_or(Matrix3::zeros()));
        join(&[u.as_slice(), svd.singular_values.as_slice(), v.as_slice()])
    };
    /// Eigenvectors and eigenvalues of a symmetric matrix.
    eigen_3: [f64; 9] -> [f64; 12] = |a| {
        let eigen = SymmetricEigen::new(Matrix3::from_column_slice(a));
        join(&[eigen.eigenvectors.as_slice(), eigen.eigenvalues.as_slice()])
    };
    /// The square root of a positive definite matrix: Cholesky's L.
    cholesky_4: [f64; 16] -> [f64; 16] = |a| {
        let factor = Matrix4::from_column_slice(a).cholesky();
        join(&[factor.map_or(Matrix4::zeros(), |factor| factor.l()).as_slice()])
    };
    /// A vector turned about an axis by an angle: as a matrix, as a quaternion, by its Euler angles. Axis, angle, vector.
    rotation: [f64; 7] -> [f64; 9] = |problem| {
        let [x, y, z, angle, a, b, c] = *problem;
        let axis = Unit::new_normalize(Vector3::new(x, y, z));
        let vector = Vector3::new(a, b, c);
        let matrix = Rotation3::from_axis_angle(&axis, angle);
        let quaternion = UnitQuaternion::from_axis_angle(&axis, angle);
        let (roll, pitch, yaw) = quaternion.euler_angles();
        let euler = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
        let turned = [matrix * vector, quaternion * vector, euler * vector];
        join(&[turned[0].as_slice(), turned[1].as_slice(), turned[2].as_slice()])
    };
    /// Half of a rotation, by spherical interpolation, applied twice. Axis, angle, vector.
    slerp: [f64; 7] -> [f64; 3] = |problem| {
        let [x, y, z, angle, a, b, c] = *problem;
        let axis = Unit::new_normalize(Vector3::new(x, y, z));
        let whole = UnitQuaternion::from_axis_angle(&axis, angle);
        let half = UnitQuaternion::identity().slerp(&whole, 0.5);
        join(&[(half * (half * Vector3::new(a, b, c))).as_slice()])
    };
    /// glam, in f32: a vector turned by a quaternion and by a matrix, moved by a matrix and back by its inverse, and its
    /// normalised cross product with the axis. Axis, angle, vector.
    glam_rotation: [f64; 7] -> [f64; 12] = |problem| {
        let [x, y, z, angle, a, b, c] = problem.map(|number| number as f32);
        let axis = glam::Vec3::new(x, y, z).normalize();
        let vector = glam::Vec3::new(a, b, c);
        let quaternion = glam::Quat::from_axis_angle(axis, angle);
        let matrix = glam::Mat3::from_axis_angle(axis, angle);
        let place = glam::Mat4::from_scale_rotation_translation(
            glam::Vec3::new(2.0, 3.0, 0.5),
            quaternion,
            glam::Vec3::new(1.0, -2.0, 3.0),
        );
        let back = place.inverse().transform_point3(place.transform_point3(vector));
        let cross = axis.cross(vector).normalize();
        let wide = |vector: glam::Vec3| vector.to_array().map(f64::from);
        join(&[&wide(quaternion * vector), &wide(matrix * vector), &wide(back), &wide(cross)])
    };
}
