//! Holm's correction over the comparisons of an experiment (Scandinavian Journal of Statistics 6,
//! 1979), so that naming any winner between equal paths keeps the error rate, however many
//! variants, phases and placements there are.
//!
//! With looks it is the group-sequential Holm of Maurer and Bretz (Statistics in Biopharmaceutical
//! Research 5, 2013): at each look the ordered comparisons are tested at the boundaries that the
//! spending function gives for alpha / m, alpha / (m - 1), ... Since all share one spending
//! function and its boundaries fall as alpha grows, that is the same as Holm's correction of the
//! sequential p-values, which is what is done.

/// Corrects p-values: each becomes the smallest error rate of the whole family at which its
/// hypothesis is rejected. `None` counts in the family and is never rejected.
pub(crate) fn adjusted(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].unwrap_or(1.0).total_cmp(&p[*b].unwrap_or(1.0)));
    let mut corrected = vec![None; p.len()];
    let mut least: f64 = 0.0;
    for (rank, i) in order.into_iter().enumerate() {
        let Some(raw) = p[i] else { continue };
        least = least.max(raw * (p.len() - rank) as f64).min(1.0);
        corrected[i] = Some(least);
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::adjusted;
    use proptest::prelude::*;

    #[test]
    fn the_textbook_example() {
        // 0.01, 0.04, 0.03, 0.005: ordered 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 (kept at 0.06).
        let found = adjusted(&[Some(0.01), Some(0.04), Some(0.03), Some(0.005)]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (f, e) in found.iter().zip(expected) {
            assert!((f.unwrap() - e).abs() < 1e-15, "{found:?}");
        }
    }

    #[test]
    fn an_unknown_p_counts_in_the_family() {
        assert_eq!(adjusted(&[Some(0.02), None]), [Some(0.04), None]);
        assert_eq!(adjusted(&[Some(0.02)]), [Some(0.02)]);
        assert_eq!(adjusted(&[]), []);
    }

    proptest! {
        #[test]
        fn between_the_raw_value_and_bonferroni(p in prop::collection::vec(0.0f64..1.0, 1..20)) {
            let raw: Vec<_> = p.iter().copied().map(Some).collect();
            for (raw, adjusted) in p.iter().zip(adjusted(&raw)) {
                let adjusted = adjusted.unwrap();
                prop_assert!(adjusted >= *raw && adjusted <= (raw * p.len() as f64).min(1.0));
            }
        }
    }
}
