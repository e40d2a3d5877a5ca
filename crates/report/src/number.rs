//! Numbers as people read them: three significant digits and a unit.
//!
//! A figure that is not known is never a number: see [`UNKNOWN`].

use jiff::Timestamp;
use roundtrip_model::Metric;
use roundtrip_model::analysis::RatioInterval;
use roundtrip_model::metric::Better;

/// Stands where a figure is not known.
pub const UNKNOWN: &str = "—";

const TIME: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const RATE: [(&str, f64); 4] = [("/s", 1.0), ("k/s", 1e3), ("M/s", 1e6), ("G/s", 1e9)];
const BYTES: [(&str, f64); 5] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("TiB", 1099511627776.0),
];

/// Rounded to three significant digits, as a number.
fn rounded(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let scale = 10f64.powi(2 - x.abs().log10().floor() as i32);
    if scale.is_finite() && scale > 0.0 {
        (x * scale).round() / scale
    } else {
        x
    }
}

/// Three significant digits: `16.3`, `0.0421`, `1250`.
pub fn three(x: f64) -> String {
    if !x.is_finite() {
        return UNKNOWN.to_owned();
    }
    let x = rounded(x);
    if x == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2 - x.abs().log10().floor() as i32).clamp(0, 12);
    format!("{x:.*}", decimals as usize)
}

/// In the largest unit that leaves something before the point. The unit is chosen after
/// rounding, so that 999.7 us is 1.00 ms.
fn with_unit(x: f64, units: &[(&str, f64)]) -> String {
    if !x.is_finite() {
        return UNKNOWN.to_owned();
    }
    let (unit, size) = units
        .iter()
        .rev()
        .find(|(_, size)| rounded(x / size).abs() >= 1.0)
        .unwrap_or(&units[0]);
    format!("{} {unit}", three(x / size))
}

/// A time in nanoseconds: `16.3 us`.
pub fn nanos(ns: f64) -> String {
    with_unit(ns, &TIME)
}

/// A size: `7.76 GiB`.
pub fn bytes(bytes: u64) -> String {
    with_unit(bytes as f64, &BYTES)
}

/// A figure of a metric, in a unit that fits it.
pub fn figure(metric: Metric, value: f64) -> String {
    match metric.unit() {
        "1/s" => with_unit(value, &RATE),
        "s" => nanos(value * 1e9),
        "B" => with_unit(value, &BYTES),
        _ => nanos(value),
    }
}

/// A figure that may not be known.
pub fn known(metric: Metric, value: Option<f64>) -> String {
    value.map_or(UNKNOWN.to_owned(), |value| figure(metric, value))
}

/// A ratio without its sign of times: two decimals up to 10, three digits beyond.
pub fn bare_ratio(x: f64) -> String {
    if !x.is_finite() {
        UNKNOWN.to_owned()
    } else if (0.1..9.995).contains(&x.abs()) {
        format!("{x:.2}")
    } else {
        three(x)
    }
}

/// A ratio: `1.12x`.
pub fn ratio(x: f64) -> String {
    match bare_ratio(x) {
        unknown if unknown == UNKNOWN => unknown,
        number => format!("{number}x"),
    }
}

/// Whether both ends of an interval are known.
pub fn has_interval(interval: &RatioInterval) -> bool {
    interval.ci_low > 0.0 && interval.ci_low.is_finite() && interval.ci_high.is_finite()
}

/// An interval: `1.09 to 1.15`, or a dash where there is none.
pub fn interval(interval: &RatioInterval) -> String {
    if has_interval(interval) {
        let (low, high) = (interval.ci_low, interval.ci_high);
        format!("{} to {}", bare_ratio(low), bare_ratio(high))
    } else {
        UNKNOWN.to_owned()
    }
}

/// How many times as fast, whichever way the metric points.
pub fn speed(metric: Metric, interval: &RatioInterval) -> RatioInterval {
    match metric.better() {
        Better::Higher => *interval,
        Better::Lower => inverse(interval),
    }
}

/// The same interval seen from the other side.
pub fn inverse(interval: &RatioInterval) -> RatioInterval {
    RatioInterval {
        ratio: 1.0 / interval.ratio,
        ci_low: 1.0 / interval.ci_high,
        ci_high: 1.0 / interval.ci_low,
    }
}

/// A share: `5%`, `0.8%`; one so large that its digits say nothing is only said to be large.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        UNKNOWN.to_owned()
    } else if percent > 1000.0 {
        "over 1000%".to_owned()
    } else if percent >= 9.95 || (percent - percent.round()).abs() < 0.05 {
        format!("{percent:.0}%")
    } else {
        format!("{percent:.1}%")
    }
}

/// A p-value.
pub fn p_value(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) if p < 0.0995 => format!("{p:.3}"),
        Some(p) if p.is_finite() => format!("{p:.2}"),
        _ => UNKNOWN.to_owned(),
    }
}

/// A count with its thousands apart: `100,000`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count of things: `1 trial`, `5 trials`.
pub fn things(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(n), if n == 1 { "" } else { "s" })
}

/// How long something took: `4 min 5 s`.
pub fn duration(ms: u64) -> String {
    let s = (ms + 500) / 1000;
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, _) if ms < 10_000 => format!("{:.1} s", ms as f64 / 1000.0),
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{} h {m} min", count(h)),
    }
}

/// A moment, in UTC.
pub fn moment(unix_ms: u64) -> String {
    i64::try_from(unix_ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
        .map_or(UNKNOWN.to_owned(), |time| {
            time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit_that_fits() {
        for (value, text) in [
            (0.0, "0 ns"),
            (0.4567, "0.457 ns"),
            (850.0, "850 ns"),
            (999.7, "1.00 us"),
            (16_312.0, "16.3 us"),
            (1_250_000.0, "1.25 ms"),
            (4.667e9, "4.67 s"),
            (5.4e12, "5400 s"),
            (f64::NAN, UNKNOWN),
        ] {
            assert_eq!(nanos(value), text);
        }
        assert_eq!(figure(Metric::OpsPerS, 61_234.0), "61.2 k/s");
        assert_eq!(figure(Metric::OpsPerS, 999_950.0), "1.00 M/s");
        assert_eq!(figure(Metric::LoopRealS, 1.634), "1.63 s");
        assert_eq!(known(Metric::P99Ns, None), UNKNOWN);
        assert_eq!(bytes(8_330_000_000), "7.76 GiB");
        assert_eq!(figure(Metric::ClientMaxRssBytes, 31_457_280.0), "30.0 MiB");
    }

    #[test]
    fn ratios_keep_two_decimals_near_one() {
        for (value, text) in [
            (1.0, "1.00x"),
            (1.124, "1.12x"),
            (0.9, "0.90x"),
            (0.0123, "0.0123x"),
            (9.996, "10.0x"),
            (123.4, "123x"),
            (f64::INFINITY, UNKNOWN),
        ] {
            assert_eq!(ratio(value), text);
        }
    }

    #[test]
    fn one_block_has_no_interval() {
        let one = RatioInterval {
            ratio: 1.1,
            ci_low: 0.0,
            ci_high: f64::INFINITY,
        };
        assert_eq!(interval(&one), UNKNOWN);
        assert_eq!(interval(&inverse(&one)), UNKNOWN);
    }

    #[test]
    fn counts_shares_times_and_p_values() {
        assert_eq!(
            [0, 999, 100_000, 1_234_567].map(count),
            ["0", "999", "100,000", "1,234,567"]
        );
        assert_eq!(
            [0.05, 0.083, 0.12, 0.005, 4916.47].map(percent),
            ["5%", "8.3%", "12%", "0.5%", "over 1000%"]
        );
        assert_eq!(
            [Some(0.0004), Some(0.0213), Some(0.5), Some(1.0), None].map(p_value),
            ["<0.001", "0.021", "0.50", "1.00", UNKNOWN]
        );
        assert_eq!(
            [900, 61_500, 3_720_000].map(duration),
            ["0.9 s", "1 min 2 s", "1 h 2 min"]
        );
        assert_eq!(moment(1_795_175_102_999), "2026-11-20 11:45:02 UTC");
        assert_eq!(moment(u64::MAX), UNKNOWN);
    }
}
