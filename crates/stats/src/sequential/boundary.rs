//! The boundary of each look, and the p-value over looks.
//!
//! The boundary of look `k` is the deviate `c` for which the chance to pass no boundary before and
//! to be beyond `c` at `k`, between equal paths, is what the spending function gives to look `k`.
//! It depends only on the looks that were taken, not on those to come (Lan and DeMets 1983).

use super::root::root;
use super::spending::Schedule;
use super::walk::{Points, Walk};
use crate::normal::{self, Z_MAX};
use std::collections::HashMap;
use std::rc::Rc;

/// What was computed before, for as long as one analysis (or one simulation) lasts.
#[derive(Default)]
pub(crate) struct Tables {
    pub(super) points: Points,
    boundaries: HashMap<(Schedule, u64), Rc<[f64]>>,
    p_values: HashMap<(Schedule, u64), f64>,
}

impl Tables {
    /// The boundary of every look of a schedule, as a normal deviate, for a whole error of `alpha`.
    pub fn boundaries(&mut self, schedule: &Schedule, alpha: f64) -> Rc<[f64]> {
        let key = (schedule.clone(), alpha.to_bits());
        if let Some(known) = self.boundaries.get(&key) {
            return Rc::clone(known);
        }
        let made: Rc<[f64]> = boundaries(&mut self.points, schedule, alpha).into();
        self.boundaries.insert(key, Rc::clone(&made));
        made
    }

    /// The smallest alpha at which a deviate of size `z` at the last look of the schedule is beyond
    /// the boundary: the repeated p-value of Jennison and Turnbull. Its minimum over looks is the
    /// sequential p-value of Liu and Anderson (JASA 103, 2008). At most 1.
    pub fn p(&mut self, schedule: &Schedule, z: f64) -> f64 {
        let z = z.abs();
        if schedule.blocks.len() == 1 && schedule.is_final {
            return 2.0 * normal::above(z);
        }
        let key = (schedule.clone(), z.to_bits());
        if let Some(known) = self.p_values.get(&key) {
            return *known;
        }
        let p = p(&mut self.points, schedule, z);
        self.p_values.insert(key, p);
        p
    }
}

fn boundaries(points: &mut Points, schedule: &Schedule, alpha: f64) -> Vec<f64> {
    let mut walk = Walk::start();
    let mut found: Vec<f64> = Vec::with_capacity(schedule.blocks.len());
    let mut spent = 0.0;
    for (k, blocks) in schedule.blocks.iter().enumerate() {
        let n = f64::from(*blocks);
        let now = schedule.spent(k, alpha);
        let c = beyond(&walk, n, (now - spent) / 2.0);
        spent = now;
        found.push(c);
        if let Some(next) = schedule.blocks.get(k + 1) {
            let bound = c * n.sqrt();
            walk.keep(points, n, -bound, bound, f64::from(*next));
        }
    }
    found
}

/// The deviate above which the walk is after `n` blocks with a chance of `tail`.
///
/// Newton's method on the logarithm of the chance. A normal cut between bounds keeps a concave
/// logarithm under further normal steps, so from the right of the root the steps come down to it
/// without passing it, and from the left the first step goes to the right.
fn beyond(walk: &Walk, n: f64, tail: f64) -> f64 {
    if tail < 1e-300 {
        return Z_MAX;
    }
    let root = n.sqrt();
    let mut c = normal::upper(tail);
    for _ in 0..60 {
        let here = walk.above(n, c * root);
        let slope = walk.density(n, c * root) * root;
        if here <= 0.0 || slope <= 0.0 {
            return Z_MAX;
        }
        let step = (here / tail).ln() * here / slope;
        c += step;
        if step.abs() < 1e-11 * (1.0 + c.abs()) {
            break;
        }
    }
    c.clamp(0.0, Z_MAX)
}

/// Finds the alpha whose boundary at the last look is `z`, over the deviate of alpha: the boundary
/// is nearly a straight line in it.
fn p(points: &mut Points, schedule: &Schedule, z: f64) -> f64 {
    if z >= Z_MAX {
        return 0.0;
    }
    let last = schedule.blocks.len() - 1;
    let alpha_of = |u: f64| 2.0 * normal::above(u);
    let mut off = |u: f64| boundaries(points, schedule, alpha_of(u))[last] - z;
    // The deviate of alpha = 1 is 0: what is within the boundary even there has p = 1.
    let low = (LEAST, off(LEAST));
    if low.1 >= 0.0 {
        return 1.0;
    }
    // The boundary of a look is never nearer than that of a single look of the same alpha.
    let high = (z, off(z).max(0.0));
    alpha_of(root(low, high, 1e-9, off))
}

/// The deviate of the largest alpha that is tried: 0.9992.
const LEAST: f64 = 0.001;

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(blocks: &[u32], max_blocks: u32, is_final: bool) -> Schedule {
        Schedule {
            blocks: blocks.to_vec(),
            max_blocks,
            is_final,
        }
    }

    fn found(schedule: &Schedule) -> Vec<f64> {
        Tables::default().boundaries(schedule, 0.05).to_vec()
    }

    fn near(found: &[f64], table: &[f64], within: f64) {
        assert_eq!(found.len(), table.len());
        for (f, t) in found.iter().zip(table) {
            assert!((f - t).abs() < within, "found {found:?}, table {table:?}");
        }
    }

    #[test]
    fn boundaries_are_the_published_ones() {
        // O'Brien-Fleming type spending, two-sided 0.05, equal steps: K = 5 and K = 4, from the
        // tables of Lan-DeMets programs (Reboussin, DeMets, Kim and Lan 2000).
        near(
            &found(&planned(&[1, 2, 3, 4, 5], 5, false)),
            &[4.877, 3.357, 2.680, 2.290, 2.031],
            6e-4,
        );
        near(
            &found(&planned(&[10, 20, 30, 40], 40, false)),
            &[4.333, 2.963, 2.359, 2.014],
            6e-4,
        );
    }

    #[test]
    fn one_final_look_is_the_ordinary_test_however_early() {
        for n in [2, 6, 40] {
            near(&found(&planned(&[n], 40, true)), &[1.959_963_985], 1e-8);
        }
        let mut tables = Tables::default();
        assert_eq!(
            tables.p(&planned(&[6], 40, true), -1.96),
            2.0 * normal::above(1.96)
        );
    }

    #[test]
    fn all_looks_together_err_with_alpha_exactly() {
        for schedule in [
            planned(&[5, 10, 20, 40], 40, false),
            planned(&[5, 6], 40, true),
            planned(&[5, 10, 11], 40, true),
            planned(&[5, 10, 20, 40, 41], 41, false),
        ] {
            let c = found(&schedule);
            let (mut points, mut walk, mut crossed) = (Points::default(), Walk::start(), 0.0);
            for (k, blocks) in schedule.blocks.iter().enumerate() {
                let n = f64::from(*blocks);
                let bound = c[k] * n.sqrt();
                crossed += walk.above(n, bound) + walk.below(n, -bound);
                let next = schedule
                    .blocks
                    .get(k + 1)
                    .map_or(n + 1.0, |b| f64::from(*b));
                walk.keep(&mut points, n, -bound, bound, next);
            }
            assert!((crossed - 0.05).abs() < 1e-8, "{schedule:?}: {crossed}");
        }
    }

    #[test]
    fn a_p_value_is_the_alpha_whose_boundary_is_just_reached() {
        let mut tables = Tables::default();
        for schedule in [
            planned(&[5], 40, false),
            planned(&[5, 10, 20], 40, false),
            planned(&[5, 10, 20, 40], 40, false),
            planned(&[5, 6], 40, true),
        ] {
            for alpha in [1e-9, 0.001, 0.05, 0.4] {
                let c = *tables.boundaries(&schedule, alpha).last().unwrap();
                let p = tables.p(&schedule, c);
                assert!((p / alpha - 1.0).abs() < 1e-5, "{schedule:?} {alpha}: {p}");
            }
            assert_eq!(tables.p(&schedule, 0.0), 1.0);
            assert_eq!(tables.p(&schedule, Z_MAX), 0.0);
        }
    }
}
