//! A counter that is made of others.

use roundtrip_model::record::Counters;
use serde::Deserialize;

/// Counters with `+` and `-` between them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Sum(Vec<(i128, String)>);

impl TryFrom<String> for Sum {
    type Error = String;

    fn try_from(text: String) -> Result<Sum, String> {
        let mut words = text.split_whitespace();
        let mut parts = Vec::new();
        let mut sign = Some("+");
        while let Some(mark) = sign {
            let sign_of = match mark {
                "+" => 1,
                "-" => -1,
                _ => return Err(format!("`{mark}` is neither + nor - in `{text}`")),
            };
            let name = words.next().filter(|word| *word != "+" && *word != "-");
            let name = name.ok_or_else(|| format!("a counter is missing in `{text}`"))?;
            parts.push((sign_of, name.to_owned()));
            sign = words.next();
        }
        Ok(Sum(parts))
    }
}

impl Sum {
    /// Its value, where every part of it is known; 0 where it would be less.
    pub fn of(&self, counters: &Counters) -> Option<u64> {
        let parts = self.0.iter().map(|(sign, name)| {
            let count = counters.get(name)?;
            Some(sign * i128::from(*count))
        });
        let sum: i128 = parts.sum::<Option<i128>>()?;
        Some(u64::try_from(sum.max(0)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_adds_and_takes_away() {
        let counters = Counters::from([("a".to_owned(), 5), ("b.c".to_owned(), 3)]);
        let of = |text: &str| Sum::try_from(text.to_owned()).unwrap().of(&counters);
        assert_eq!(of("a"), Some(5));
        assert_eq!(of("a + b.c - a"), Some(3));
        assert_eq!(of("b.c - a"), Some(0));
        assert_eq!(of("a + missing"), None);
        for wrong in ["", "a b", "a +", "+ a", "a + - b", "a * b"] {
            assert!(Sum::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
