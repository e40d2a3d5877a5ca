//! What stands behind an option: parsers whose errors teach.

use clap::builder::ValueParser;
use roundtrip_model::Op;
use roundtrip_model::experiment::expand::parse_delta;
use roundtrip_model::experiment::shapes::EXPONENT;
use roundtrip_model::workload::Distribution;
use std::time::Duration;

/// A parser whose error is the problem's sentence and next step in one line.
pub(super) fn value<T: Clone + Send + Sync + 'static>(
    parse: fn(&str) -> roundtrip_model::Result<T>,
) -> ValueParser {
    ValueParser::new(move |text: &str| {
        parse(text).map_err(|problem| match problem.next_step {
            Some(step) => format!("{}; {step}", problem.what),
            None => problem.what,
        })
    })
}

fn usage(what: String) -> roundtrip_model::Problem {
    roundtrip_model::Problem::new(roundtrip_model::Kind::Usage, what)
}

pub(super) fn delta(text: &str) -> roundtrip_model::Result<f64> {
    parse_delta(text).ok_or_else(|| usage("write a share between 0% and 100%, as in 5%".to_owned()))
}

/// Parses `90s`, `5m`, `1.5h` or plain seconds.
pub(super) fn duration(text: &str) -> roundtrip_model::Result<Duration> {
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => {
            return Err(usage(format!(
                "`{unit}` is no unit of time: use ms, s, m or h"
            )));
        }
    };
    number
        .parse::<f64>()
        .ok()
        .map(|n| n * seconds)
        .filter(|s| *s > 0.0 && *s <= 7.0 * 86_400.0)
        .map(Duration::from_secs_f64)
        .ok_or_else(|| usage("write a time above 0 and up to a week, as in 90s or 5m".to_owned()))
}

/// Parses a number above 0: `1570000`, `1,570,000`, `2e6`, `0.05`.
pub(super) fn amount(text: &str) -> roundtrip_model::Result<f64> {
    let number = text.replace([',', '_'], "").parse::<f64>().ok();
    number
        .filter(|x| x.is_finite() && *x > 0.0)
        .ok_or_else(|| usage("write a number above 0, as in 1570000 or 2e6".to_owned()))
}

/// Parses `get=0.95`.
pub(super) fn weight(text: &str) -> roundtrip_model::Result<(Op, f64)> {
    let bad = || usage("write an operation and its weight, as in get=0.95".to_owned());
    let (op, weight) = text.split_once('=').ok_or_else(bad)?;
    Ok((op.parse()?, weight.parse().map_err(|_| bad())?))
}

/// Parses `zipf:0.99` and the like. What the figures may be is checked with the experiment.
pub(super) fn distribution(text: &str) -> roundtrip_model::Result<Distribution> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let figures: Result<Vec<f64>, _> = parts.map(str::parse).collect();
    let settle = None;
    match (name, figures.as_deref()) {
        ("sequential", Ok([])) => Ok(Distribution::Sequential),
        ("uniform", Ok([])) => Ok(Distribution::Uniform),
        ("zipf", Ok([])) => Ok(Distribution::Zipf { exponent: EXPONENT }),
        ("zipf", Ok([exponent])) => Ok(Distribution::Zipf {
            exponent: *exponent,
        }),
        ("latest", Ok([])) => Ok(Distribution::Latest {
            exponent: EXPONENT,
            settle,
        }),
        ("latest", Ok([exponent])) => Ok(Distribution::Latest {
            exponent: *exponent,
            settle,
        }),
        ("hotspot", Ok([keys, ops])) => Ok(Distribution::Hotspot {
            keys: *keys,
            ops: *ops,
        }),
        _ => Err(usage(
            "write sequential, uniform, zipf, zipf:0.99, latest or hotspot:0.2:0.8".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_weights_are_read_or_taught() {
        let zipf = |exponent| Distribution::Zipf { exponent };
        assert_eq!(distribution("zipf").unwrap(), zipf(0.99));
        assert_eq!(distribution("zipf:1.2").unwrap(), zipf(1.2));
        let hotspot = Distribution::Hotspot {
            keys: 0.2,
            ops: 0.8,
        };
        assert_eq!(distribution("hotspot:0.2:0.8").unwrap(), hotspot);
        for bad in ["zip", "zipf:x", "uniform:1", "hotspot:0.2", ""] {
            assert!(distribution(bad).is_err(), "{bad}");
        }
        assert_eq!(weight("set=0.05").unwrap(), (Op::Set, 0.05));
        assert!(weight("set").is_err() && weight("zet=1").is_err());
    }

    #[test]
    fn amounts_are_above_nothing() {
        let all = ["1570000", "1,570,000", "1_570_000", "1.57e6"];
        assert!(all.iter().all(|text| amount(text).unwrap() == 1_570_000.0));
        for bad in ["", "0", "-1", "nan", "inf", "many"] {
            assert!(amount(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_read_with_their_units() {
        for (text, ms) in [
            ("90s", 90_000),
            ("5m", 300_000),
            ("1.5h", 5_400_000),
            ("250ms", 250),
            ("2", 2000),
        ] {
            assert_eq!(duration(text).unwrap(), Duration::from_millis(ms), "{text}");
        }
        for text in ["", "s", "-1s", "0s", "5x", "1e99h", "nan"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
