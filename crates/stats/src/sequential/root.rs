//! The root of a growing function between two ends.

/// One end of a bracket: where, and the value there.
pub(super) type End = (f64, f64);

/// The Illinois form of false position (Dowell and Jarratt 1971): quick on what is nearly a
/// straight line, and it never leaves the bracket. Ends when the value is within `tolerance` of 0.
pub(super) fn root(low: End, high: End, tolerance: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let ((mut low, mut f_low), (mut high, mut f_high)) = (low, high);
    let mut last_was_high = None;
    for _ in 0..100 {
        if high - low <= 1e-15 * (low.abs() + high.abs()) {
            break;
        }
        let x = (low * f_high - high * f_low) / (f_high - f_low);
        let x = if x > low && x < high {
            x
        } else {
            0.5 * (low + high)
        };
        let here = f(x);
        if here.abs() <= tolerance {
            return x;
        }
        // An end that stays twice in a row holds the next guess back: halve its weight.
        if here > 0.0 {
            (high, f_high) = (x, here);
            if last_was_high == Some(true) {
                f_low /= 2.0;
            }
        } else {
            (low, f_low) = (x, here);
            if last_was_high == Some(false) {
                f_high /= 2.0;
            }
        }
        last_was_high = Some(here > 0.0);
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::root;

    #[test]
    fn roots_by_hand() {
        let cube = |x: f64| x * x * x - 2.0;
        let found = root((0.0, -2.0), (10.0, 998.0), 1e-12, cube);
        assert!((found - 2_f64.cbrt()).abs() < 1e-12);
        let step = |x: f64| if x < 3.0 { -1.0 } else { 1.0 };
        let found = root((0.0, -1.0), (100.0, 1.0), 1e-12, step);
        assert!((found - 3.0).abs() < 1e-9);
    }
}
