//! nalgebra and glam in kernels: decompositions hold what defines them, rotations are those of Rodrigues' formula.

use crate::device::{Source, numbers, run_words};

/// A square matrix by columns, as nalgebra stores it.
#[derive(Clone, Debug)]
struct Square {
    size: usize,
    columns: Vec<f64>,
}

impl Square {
    fn new(size: usize, columns: &[f64]) -> Self {
        assert_eq!(columns.len(), size * size);
        Self { size, columns: columns.to_vec() }
    }

    fn from_fn(size: usize, at: impl Fn(usize, usize) -> f64) -> Self {
        let columns = (0..size * size).map(|i| at(i % size, i / size)).collect();
        Self { size, columns }
    }

    fn diagonal(values: &[f64]) -> Self {
        Self::from_fn(values.len(), |row, column| if row == column { values[row] } else { 0.0 })
    }

    fn identity(size: usize) -> Self {
        Self::diagonal(&vec![1.0; size])
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.columns[column * self.size + row]
    }

    fn transposed(&self) -> Self {
        Self::from_fn(self.size, |row, column| self.at(column, row))
    }

    fn times(&self, other: &Self) -> Self {
        Self::from_fn(self.size, |row, column| {
            (0..self.size).map(|k| self.at(row, k) * other.at(k, column)).sum()
        })
    }

    /// The largest difference of two elements.
    fn distance(&self, other: &Self) -> f64 {
        distance(&self.columns, &other.columns)
    }

    #[track_caller]
    fn assert_near(&self, other: &Self, what: &str) {
        assert!(self.distance(other) < 1e-10, "{what}: {self:?}, {other:?}");
    }

    #[track_caller]
    fn assert_orthonormal(&self, what: &str) {
        self.transposed().times(self).assert_near(&Self::identity(self.size), what);
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    // Not a NaN may pass.
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, |far, d| if d <= far { far } else { d })
}

/// Well-conditioned square matrices: random, with a heavy diagonal.
fn matrices<const N: usize>(seed: u64, size: usize, count: usize) -> Vec<[f64; N]> {
    let mut random = reals(seed);
    let mut matrix = || {
        std::array::from_fn(|i| {
            let diagonal = if i % (size + 1) == 0 && i < size * size { 3.0 } else { 0.0 };
            random.next().expect("endless") + diagonal
        })
    };
    (0..count).map(|_| matrix()).collect()
}

/// Between -1 and 1.
fn reals(seed: u64) -> impl Iterator<Item = f64> {
    numbers(seed).map(|number| number as f64 / 2_f64.powi(63) - 1.0)
}

fn solve<const N: usize, const M: usize>(
    source: Source,
    kernel: &str,
    problems: &[[f64; N]],
) -> Vec<[f64; M]> {
    let words: Vec<[u64; N]> = problems.iter().map(|problem| problem.map(f64::to_bits)).collect();
    run_words::<N, M>(source, kernel, &words)
        .into_iter()
        .map(|solution| solution.map(f64::from_bits))
        .collect()
}

#[test]
fn inverses_undo() {
    let (threes, fours) = (matrices::<9>(51, 3, 131), matrices::<16>(52, 4, 131));
    for source in Source::all() {
        for (a, found) in threes.iter().zip(solve::<9, 10>(source, "inverse_3", &threes)) {
            let (a, inverse) = (Square::new(3, a), Square::new(3, &found[..9]));
            a.times(&inverse).assert_near(&Square::identity(3), "inverse");
            let minor = |i: usize, j: usize| a.at(1, i) * a.at(2, j) - a.at(1, j) * a.at(2, i);
            let determinant =
                a.at(0, 0) * minor(1, 2) - a.at(0, 1) * minor(0, 2) + a.at(0, 2) * minor(0, 1);
            assert!((found[9] - determinant).abs() < 1e-10);
        }
        for (a, found) in fours.iter().zip(solve::<16, 17>(source, "inverse_4", &fours)) {
            let (a, inverse) = (Square::new(4, a), Square::new(4, &found[..16]));
            a.times(&inverse).assert_near(&Square::identity(4), "inverse");
            assert!(found[16].abs() > 1.0);
        }
    }
}

#[test]
fn decompositions_multiply_to_the_matrix() {
    let systems = matrices::<20>(53, 4, 99);
    let fours = matrices::<16>(54, 4, 99);
    let threes = matrices::<9>(55, 3, 99);
    for source in Source::all() {
        for (problem, x) in systems.iter().zip(solve::<20, 4>(source, "lu_4", &systems)) {
            let a = Square::new(4, &problem[..16]);
            let product: Vec<f64> =
                (0..4).map(|row| (0..4).map(|k| a.at(row, k) * x[k]).sum()).collect();
            assert!(distance(&product, &problem[16..]) < 1e-12, "{problem:?}: {x:?}");
        }
        for (a, found) in fours.iter().zip(solve::<16, 32>(source, "qr_4", &fours)) {
            let (q, r) = (Square::new(4, &found[..16]), Square::new(4, &found[16..]));
            q.assert_orthonormal("Q");
            q.times(&r).assert_near(&Square::new(4, a), "Q R");
            assert!((0..4).all(|i| (i + 1..4).all(|row| r.at(row, i) == 0.0)), "{r:?}");
        }
        for (a, found) in threes.iter().zip(solve::<9, 21>(source, "svd_3", &threes)) {
            let (u, v) = (Square::new(3, &found[..9]), Square::new(3, &found[12..]));
            let values = &found[9..12];
            u.assert_orthonormal("U");
            v.assert_orthonormal("V");
            assert!(values.is_sorted_by(|a, b| a >= b) && values[2] >= 0.0, "{values:?}");
            u.times(&Square::diagonal(values)).times(&v).assert_near(&Square::new(3, a), "U S V");
        }
    }
}

#[test]
fn symmetric_matrices_have_eigenvectors_and_roots() {
    let (threes, fours) = (matrices::<9>(56, 3, 99), matrices::<16>(57, 4, 99));
    let squared = |size: usize, a: &[f64]| {
        let a = Square::new(size, a);
        a.times(&a.transposed())
    };
    let threes: Vec<[f64; 9]> =
        threes.iter().map(|a| squared(3, a).columns.try_into().expect("9 numbers")).collect();
    let fours: Vec<[f64; 16]> =
        fours.iter().map(|a| squared(4, a).columns.try_into().expect("16 numbers")).collect();
    for source in Source::all() {
        for (a, found) in threes.iter().zip(solve::<9, 12>(source, "eigen_3", &threes)) {
            let vectors = Square::new(3, &found[..9]);
            vectors.assert_orthonormal("eigenvectors");
            let scaled = vectors.times(&Square::diagonal(&found[9..]));
            Square::new(3, a).times(&vectors).assert_near(&scaled, "A v");
        }
        for (a, found) in fours.iter().zip(solve::<16, 16>(source, "cholesky_4", &fours)) {
            let l = Square::new(4, &found);
            l.times(&l.transposed()).assert_near(&Square::new(4, a), "L Lᵀ");
        }
    }
}

/// Rodrigues' formula.
fn turned(axis: [f64; 3], angle: f64, v: [f64; 3]) -> [f64; 3] {
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let axis = axis.map(|x| x / length);
    let cross = cross(axis, v);
    let dot: f64 = axis.iter().zip(&v).map(|(a, b)| a * b).sum();
    let (sin, cos) = angle.sin_cos();
    std::array::from_fn(|i| v[i] * cos + cross[i] * sin + axis[i] * dot * (1.0 - cos))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[test]
fn rotations_turn_vectors() {
    let mut random = reals(58);
    let problems: Vec<[f64; 7]> = (0..301)
        .map(|_| {
            let mut problem: [f64; 7] = std::array::from_fn(|_| random.next().expect("endless"));
            problem[3] *= 3.0;
            problem
        })
        .collect();
    for source in Source::all() {
        let found = solve::<7, 9>(source, "rotation", &problems);
        let halves = solve::<7, 3>(source, "slerp", &problems);
        let glam = solve::<7, 12>(source, "glam_rotation", &problems);
        for (i, &[x, y, z, angle, a, b, c]) in problems.iter().enumerate() {
            let (axis, vector) = ([x, y, z], [a, b, c]);
            let expected = turned(axis, angle, vector);
            for turned in found[i].chunks_exact(3).chain([&halves[i][..]]) {
                assert!(distance(turned, &expected) < 1e-12, "{:?}: {turned:?}", problems[i]);
            }
            for turned in glam[i][..6].chunks_exact(3) {
                assert!(distance(turned, &expected) < 2e-6, "{:?}: {turned:?}", problems[i]);
            }
            assert!(distance(&glam[i][6..9], &vector) < 2e-5, "{:?}: {:?}", problems[i], glam[i]);
            let side = cross(axis, vector);
            let length = side.iter().map(|x| x * x).sum::<f64>().sqrt();
            // Nearly parallel vectors have no certain side in f32.
            if length > 0.05 {
                let side = side.map(|x| x / length);
                assert!(distance(&glam[i][9..], &side) < 1e-4, "{:?}: {:?}", problems[i], glam[i]);
            }
        }
    }
}
