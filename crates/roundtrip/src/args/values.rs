//! What stands behind an option: parsers whose errors teach.

use clap::builder::ValueParser;
use roundtrip_model::experiment::expand::parse_delta;
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

#[cfg(test)]
mod tests {
    use super::*;

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
