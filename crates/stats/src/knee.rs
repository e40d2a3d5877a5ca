//! The knee of a curve of time against a factor: the smallest factor whose time is near the least.
//!
//! **Near** is within 10% of the least median, or within two standard errors of the difference of
//! two points where noise is larger than that; so a least that was only lucky does not move the
//! knee. The noise is that within the run: what is left of the logarithms of the times when the
//! points' and the blocks' own means are taken out.
//!
//! Where no point but the last is near the least, time still fell when the measurement ended:
//! there is **no knee within what was measured**. Where all points are near it, the curve is
//! **flat**. Otherwise the gain beyond the knee is stated: what the best point beyond it still
//! saves. How sure the knee is, is shown by asking each block for its own: their range.

use crate::steady::median;
use roundtrip_model::curve::{Knee, Shape};

/// What counts as near the least without noise.
const SLACK: f64 = 0.10;
/// Standard errors.
const SURE: f64 = 2.0;
/// Fewer points make no curve.
pub(crate) const MIN_POINTS: usize = 3;

/// The knee of points by growing factor, each with its time in every block: all of one length, all
/// above 0.
pub(crate) fn knee(factors: &[f64], times: &[Vec<f64>]) -> Option<Knee> {
    let blocks = times.first()?.len();
    let is_whole =
        |of_point: &Vec<f64>| of_point.len() == blocks && of_point.iter().all(|t| *t > 0.0);
    if factors.len() < MIN_POINTS
        || factors.len() != times.len()
        || blocks == 0
        || !times.iter().all(is_whole)
    {
        return None;
    }
    let slack = SLACK.max(SURE * noise(times));
    let medians: Vec<f64> = times.iter().map(|t| median(&mut t.clone())).collect();
    let (shape, place) = shape(&medians, slack);
    let best_beyond = medians[place..]
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min);
    let of_blocks: Vec<Option<f64>> = (0..blocks)
        .map(|block| {
            let of_block: Vec<f64> = times.iter().map(|t| t[block]).collect();
            let (shape, place) = self::shape(&of_block, slack);
            (shape != Shape::Falling).then_some(factors[place])
        })
        .collect();
    let found = || of_blocks.iter().flatten().copied();
    Some(Knee {
        shape,
        at: (shape != Shape::Falling).then_some(factors[place]),
        slack,
        gain_beyond: (shape != Shape::Falling).then_some(1.0 - best_beyond / medians[place]),
        block_low: found().reduce(f64::min),
        block_high: found().reduce(f64::max),
        blocks: blocks as u32,
        blocks_without: (blocks - found().count()) as u32,
    })
}

/// What a row of times does, and the place of the first that is near the least.
fn shape(times: &[f64], slack: f64) -> (Shape, usize) {
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let is_near = |time: &f64| *time <= least * (1.0 + slack);
    let place = times.iter().position(is_near).unwrap_or(0);
    let shape = match place {
        _ if times.iter().all(is_near) => Shape::Flat,
        place if place + 1 == times.len() => Shape::Falling,
        _ => Shape::Knee,
    };
    (shape, place)
}

/// The standard error of the difference of two points' mean logarithms; 0 where one block says
/// nothing of it.
fn noise(times: &[Vec<f64>]) -> f64 {
    let (points, blocks) = (times.len() as f64, times[0].len() as f64);
    let freedom = (points - 1.0) * (blocks - 1.0);
    if freedom <= 0.0 {
        return 0.0;
    }
    let logs: Vec<Vec<f64>> = times
        .iter()
        .map(|of_point| of_point.iter().map(|t| t.ln()).collect())
        .collect();
    let of_point: Vec<f64> = logs
        .iter()
        .map(|l| l.iter().sum::<f64>() / blocks)
        .collect();
    let of_block: Vec<f64> = (0..times[0].len())
        .map(|b| logs.iter().map(|l| l[b]).sum::<f64>() / points)
        .collect();
    let all = of_point.iter().sum::<f64>() / points;
    let left = logs.iter().zip(&of_point).flat_map(|(l, point)| {
        let of_block = &of_block;
        l.iter()
            .zip(of_block)
            .map(move |(log, block)| log - point - block + all)
    });
    let variance = left.map(|x| x * x).sum::<f64>() / freedom;
    (variance * 2.0 / blocks).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// 1, 2, 4, ..., as studies have it.
    fn factors(n: usize) -> Vec<f64> {
        (0..n).map(|i| f64::from(1 << i)).collect()
    }

    /// Times of a made-up curve in a number of blocks, with noise, and a drift of the blocks.
    fn made_up(of: impl Fn(f64) -> f64, n: usize, blocks: u64, noise: f64) -> Option<Knee> {
        let factors = factors(n);
        let mut random = Random::new(7);
        let times: Vec<Vec<f64>> = factors
            .iter()
            .map(|x| {
                let drift = |b: u64| 1.0 + 0.3 * b as f64 / blocks as f64;
                (0..blocks)
                    .map(|b| of(*x) * drift(b) * (noise * random.normal()).exp())
                    .collect()
            })
            .collect();
        knee(&factors, &times)
    }

    /// A round trip shared by so many, and what each costs alone.
    fn hyperbola(x: f64) -> f64 {
        50_000.0 / x + 2_000.0
    }

    #[test]
    fn a_hyperbola_with_a_floor_has_its_knee_where_a_tenth_is_left() {
        // Least at 4096: 2012.2; within 10% of it, up to 2213.4, from 50000 / x <= 213 on: 256
        // (2195.3), not 128 (2390.6).
        let knee = made_up(hyperbola, 13, 5, 0.0).unwrap();
        assert_eq!((knee.shape, knee.at), (Shape::Knee, Some(256.0)));
        assert!((knee.slack - 0.10).abs() < 1e-12);
        let (at_knee, least) = (hyperbola(256.0), hyperbola(4096.0));
        assert!((knee.gain_beyond.unwrap() - (1.0 - least / at_knee)).abs() < 1e-12);
        assert_eq!(
            (knee.block_low, knee.block_high),
            (Some(256.0), Some(256.0))
        );
        assert_eq!((knee.blocks, knee.blocks_without), (5, 0));
    }

    #[test]
    fn noise_widens_what_is_near_and_the_blocks_show_it() {
        let knee = made_up(hyperbola, 13, 10, 0.05).unwrap();
        assert_eq!(knee.shape, Shape::Knee);
        assert!((64.0..=512.0).contains(&knee.at.unwrap()), "{knee:?}");
        let (low, high) = (knee.block_low.unwrap(), knee.block_high.unwrap());
        assert!(
            low < high && low <= knee.at.unwrap() && knee.at.unwrap() <= high,
            "{knee:?}"
        );
        // Loud: two standard errors of a difference are 2 x 0.3 x sqrt(2 / 5) = 0.38.
        let loud = made_up(|_| 1.0, 13, 5, 0.3).unwrap();
        assert!((0.25..0.5).contains(&loud.slack), "{loud:?}");
    }

    #[test]
    fn a_drift_that_blocks_share_is_no_noise() {
        assert!(
            noise(&[
                vec![1.0, 2.0, 4.0],
                vec![3.0, 6.0, 12.0],
                vec![5.0, 10.0, 20.0]
            ]) < 1e-12
        );
        // By hand: logarithms 0, 0.2 and 0.2, 0: each is 0.1 off, 1 degree of freedom.
        let e = 0.2_f64.exp();
        assert!((noise(&[vec![1.0, e], vec![e, 1.0]]) - 0.2).abs() < 1e-12);
        assert_eq!(noise(&[vec![1.0], vec![2.0]]), 0.0);
    }

    #[test]
    fn a_flat_curve_gains_nothing() {
        let knee = made_up(|_| 1_000.0, 8, 5, 0.01).unwrap();
        assert_eq!((knee.shape, knee.at), (Shape::Flat, Some(1.0)));
        assert!(knee.gain_beyond.unwrap() < 0.05);
    }

    #[test]
    fn a_curve_that_ever_falls_has_no_knee_within_what_was_measured() {
        let knee = made_up(|x| 1e6 / x, 8, 5, 0.01).unwrap();
        assert_eq!(
            (knee.shape, knee.at, knee.gain_beyond),
            (Shape::Falling, None, None)
        );
        assert_eq!((knee.block_low, knee.blocks_without), (None, 5));
    }

    #[test]
    fn a_curve_that_rises_again_has_its_knee_before_it_does() {
        // 1600 / x + x: least at 32 and 64 of the powers, 82 and 89; 16 is at 116.
        let knee = made_up(|x| 1600.0 / x + x, 10, 5, 0.0).unwrap();
        assert_eq!((knee.shape, knee.at), (Shape::Knee, Some(32.0)));
        let rising = made_up(|x| 100.0 + x, 10, 5, 0.0).unwrap();
        assert_eq!(
            (rising.shape, rising.at, rising.gain_beyond),
            (Shape::Knee, Some(1.0), Some(0.0))
        );
    }

    #[test]
    fn too_few_points_or_figures_make_no_knee() {
        assert_eq!(knee(&[1.0, 2.0], &[vec![1.0], vec![2.0]]), None);
        assert_eq!(
            knee(&[1.0, 2.0, 4.0], &[vec![1.0], vec![2.0], vec![]]),
            None
        );
        assert_eq!(knee(&[1.0, 2.0, 4.0], &[vec![], vec![], vec![]]), None);
        assert_eq!(
            knee(&[1.0, 2.0, 4.0], &[vec![1.0], vec![0.0], vec![1.0]]),
            None
        );
        assert!(knee(&[1.0, 2.0, 4.0], &[vec![3.0], vec![2.0], vec![1.0]]).is_some());
    }
}
