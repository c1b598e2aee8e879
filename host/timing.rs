//! Repeated measurements and what is reported of them: the median, and the spread from fastest to slowest.

/// How often and for how long to measure one thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// At most this many samples, after the warm-up.
    pub samples: usize,
    /// Stop taking samples once they have used about this many milliseconds.
    pub budget_ms: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { samples: 20, budget_ms: 500.0 }
    }
}

/// Times in milliseconds, at least one, sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    sorted: Vec<f64>,
}

impl Samples {
    /// Samples from times in milliseconds; `None` when there are none.
    #[must_use]
    pub fn new(mut ms: Vec<f64>) -> Option<Self> {
        if ms.is_empty() {
            return None;
        }
        ms.sort_by(f64::total_cmp);
        Some(Self { sorted: ms })
    }

    /// Calls `once`, which does the work and returns the milliseconds it took, until `effort` is used up.
    ///
    /// The first call warms up caches, clocks and the driver, and its time is dropped; only when the work is so
    /// slow that fewer than three samples fit into the budget does that first time count too, because
    /// warming up is then a small part of it.
    ///
    /// # Errors
    ///
    /// The first error of `once`.
    pub fn measure<E>(effort: Effort, mut once: impl FnMut() -> Result<f64, E>) -> Result<Self, E> {
        let first = once()?;
        let fitting = (effort.budget_ms / first.max(1e-6)).min(effort.samples as f64) as usize;
        let mut sorted = if fitting < 3 { vec![first] } else { Vec::with_capacity(fitting) };
        let mut spent = 0.0;
        while sorted.len() < fitting && spent < effort.budget_ms {
            let ms = once()?;
            spent += ms;
            sorted.push(ms);
        }
        sorted.sort_by(f64::total_cmp);
        Ok(Self { sorted })
    }

    /// The median in milliseconds.
    #[must_use]
    pub fn median(&self) -> f64 {
        let middle = self.sorted.len() / 2;
        if self.sorted.len().is_multiple_of(2) {
            f64::midpoint(self.sorted[middle - 1], self.sorted[middle])
        } else {
            self.sorted[middle]
        }
    }

    /// The fastest, in milliseconds.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    /// The slowest, in milliseconds.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }

    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sorted.len()
    }
}

/// Runs `work` and returns its value with the milliseconds it took on this machine's clock.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = std::time::Instant::now();
    let value = work();
    (value, start.elapsed().as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn measured(times: &[f64], effort: Effort) -> (Samples, usize) {
        let mut calls = 0;
        let samples = Samples::measure(effort, || {
            let ms = times[calls.min(times.len() - 1)];
            calls += 1;
            Ok::<_, Infallible>(ms)
        });
        let Ok(samples) = samples;
        (samples, calls)
    }

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(Samples::new(vec![3.0, 1.0, 2.0]).unwrap().median(), 2.0);
        assert_eq!(Samples::new(vec![4.0, 1.0, 2.0, 3.0]).unwrap().median(), 2.5);
        assert!(Samples::new(Vec::new()).is_none());
    }

    #[test]
    fn the_warm_up_is_dropped_when_samples_are_cheap() {
        let (samples, calls) = measured(&[5.0, 1.0], Effort { samples: 4, budget_ms: 100.0 });
        assert_eq!((samples.count(), calls), (4, 5));
        assert_eq!(samples.max(), 1.0);
    }

    #[test]
    fn slow_work_runs_once_and_counts() {
        let (samples, calls) = measured(&[900.0], Effort { samples: 4, budget_ms: 100.0 });
        assert_eq!((samples.count(), calls), (1, 1));
        assert_eq!(samples.median(), 900.0);
    }

    #[test]
    fn the_budget_ends_measuring_when_later_samples_are_slow() {
        let (samples, _) = measured(&[1.0, 60.0], Effort { samples: 50, budget_ms: 100.0 });
        assert_eq!(samples.count(), 2);
    }

    #[test]
    fn errors_pass_through() {
        let result = Samples::measure(Effort::default(), || Err("no"));
        assert_eq!(result, Err("no"));
    }
}
