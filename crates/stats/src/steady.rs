//! Whether the rate of a phase was steady. METHOD.md, point 5.
//!
//! The medians of the first and of the last third of the slices are compared. Two things must
//! hold for a trend: it is **significant**, over four standard errors of the difference of two
//! medians, and it is **relevant**, over 2%. The noise of a slice is taken from the differences of
//! consecutive slices (von Neumann, Annals of Mathematical Statistics 12, 1941), which a slow
//! trend hardly touches, and by their median, which a few stalled slices hardly touch.

/// Fewer slices say nothing of a trend.
const MIN_SLICES: usize = 9;
/// Standard errors.
const SIGNIFICANT: f64 = 4.0;
/// A smaller trend does not matter to anyone.
const RELEVANT: f64 = 0.02;
/// The median of |x| of a normal with deviation 1.
const MEDIAN_OF_ABS: f64 = 0.674_489_75;
/// Standard error of a median of n normals: this, over sqrt(n).
const SE_OF_MEDIAN: f64 = 1.253_314_14;

/// Whether consecutive equal parts of the ops took times without a trend; `None` with fewer than
/// nine parts, or times of 0, which are those of a clock too coarse to tell.
pub fn steady_state(slices_ns: &[u64]) -> Option<bool> {
    if slices_ns.len() < MIN_SLICES {
        return None;
    }
    let slices: Vec<f64> = slices_ns.iter().map(|ns| *ns as f64).collect();
    let third = slices.len() / 3;
    let first = median(&mut slices[..third].to_vec());
    let last = median(&mut slices[slices.len() - third..].to_vec());
    if first <= 0.0 || last <= 0.0 {
        return None;
    }
    let mut steps: Vec<f64> = slices.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let noise = median(&mut steps) / (MEDIAN_OF_ABS * 2_f64.sqrt());
    let se = SE_OF_MEDIAN * noise * (2.0 / third as f64).sqrt();
    let trend = (last - first).abs();
    Some(trend <= SIGNIFICANT * se || trend <= RELEVANT * first.min(last))
}

/// The middle value, or the mean of the two middle ones; NaN of nothing. Sorts its argument.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        0.5 * (values[middle - 1] + values[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// 30 slices of 1 ms: a trend over the whole, noise of each, by a normal or a heavy tail.
    fn slices(seed: u64, trend: f64, noise: f64, heavy: bool) -> Vec<u64> {
        let mut random = Random::new(seed);
        (0..30)
            .map(|i| {
                let draw = if heavy {
                    random.student3()
                } else {
                    random.normal()
                };
                (1e6 * (1.0 + trend * f64::from(i) / 29.0) * (noise * draw).exp()) as u64
            })
            .collect()
    }

    fn flagged(trend: f64, noise: f64, heavy: bool) -> usize {
        (0..1000)
            .filter(|seed| steady_state(&slices(*seed, trend, noise, heavy)) == Some(false))
            .count()
    }

    #[test]
    fn too_few_slices_say_nothing() {
        assert_eq!(steady_state(&[]), None);
        assert_eq!(steady_state(&[5; 8]), None);
        assert_eq!(steady_state(&[0; 30]), None);
        assert_eq!(steady_state(&[5; 9]), Some(true));
    }

    #[test]
    fn known_answers() {
        let step: Vec<u64> = (0..30).map(|i| if i < 20 { 1000 } else { 1100 }).collect();
        assert_eq!(
            steady_state(&step),
            Some(false),
            "10% slower in the last third"
        );
        let warm: Vec<u64> = (0..30).map(|i| if i < 3 { 3000 } else { 1000 }).collect();
        assert_eq!(
            steady_state(&warm),
            Some(true),
            "three slow slices are no trend of a third"
        );
        let slow: Vec<u64> = (0..30).map(|i| 1_000_000 + 35 * i).collect();
        assert_eq!(
            steady_state(&slow),
            Some(true),
            "0.1% does not matter, however sure"
        );
        let grows: Vec<u64> = (0..30).map(|i| 1_000_000 + 3_500 * i).collect();
        assert_eq!(steady_state(&grows), Some(false), "10% over the phase");
    }

    #[test]
    fn noise_alone_is_rarely_flagged_and_a_trend_mostly() {
        let noise_only = (flagged(0.0, 0.05, false), flagged(0.0, 0.05, true));
        assert!(
            noise_only.0 <= 10 && noise_only.1 <= 10,
            "of 1000: {noise_only:?}"
        );
        let trend = (flagged(0.10, 0.01, false), flagged(0.10, 0.01, true));
        assert!(trend.0 >= 990 && trend.1 >= 990, "of 1000: {trend:?}");
    }
}
