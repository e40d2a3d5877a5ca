//! What looks into all servers share: statistics, over which time they are, and how they grew.

use roundtrip_model::Result;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Statistics by name, as the server tells them.
pub type Statistics = BTreeMap<String, String>;

/// Below this share of hits a cache is worth a look.
pub const LOW_HIT_RATIO: f64 = 0.8;
/// With fewer reads a share of hits says nothing: a cache begins empty.
pub const ENOUGH_READS: u64 = 1000;
/// Above this share of what it may have, a server will soon have no more.
pub const NEARLY_FULL: f64 = 0.9;

/// Over which time the rates are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "over")]
pub enum Window {
    /// Since the server started.
    Uptime {
        /// How long ago that was.
        seconds: f64,
    },
    /// Between two looks.
    Interval {
        /// How far they were apart.
        seconds: f64,
    },
}

impl Window {
    /// In words, after "N items ...".
    pub fn in_words(self) -> &'static str {
        match self {
            Window::Uptime { .. } => "since it started",
            Window::Interval { .. } => "while it was watched",
        }
    }

    /// What to know of counters and rates over it.
    pub fn note(self) -> Option<String> {
        match self {
            Window::Uptime { seconds } => Some(format!(
                "Counts, ratios and rates are averages over the {seconds:.0} s since it started (or \
                 since its counters were reset): --interval 10s tells what happens now."
            )),
            Window::Interval { .. } => None,
        }
    }

    /// Its length.
    pub fn seconds(self) -> f64 {
        match self {
            Window::Uptime { seconds } | Window::Interval { seconds } => seconds,
        }
    }
}

/// A look into a server, its figures and what they mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Look<M> {
    /// What the numbers mean.
    pub meaning: M,
    /// A sentence for everything that is wrong; empty when all is well.
    pub findings: Vec<String>,
    /// What to know when reading the numbers.
    pub notes: Vec<String>,
    /// All statistics, by name. Numbers are numbers in JSON.
    #[serde(serialize_with = "as_numbers")]
    #[serde(skip_serializing_if = "Statistics::is_empty")]
    pub statistics: Statistics,
}

impl<M> Look<M> {
    /// The few numbers that matter, without the many.
    pub fn in_short(self) -> Look<M> {
        Look {
            statistics: Statistics::new(),
            ..self
        }
    }
}

/// Writes numbers as numbers.
pub fn as_numbers<S: Serializer>(
    statistics: &Statistics,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(statistics.iter().map(|(name, text)| {
        let number = text
            .parse::<serde_json::Number>()
            .map(serde_json::Value::Number);
        (name, number.unwrap_or_else(|_| text.as_str().into()))
    }))
}

/// One look, or two some time apart.
pub struct Looks {
    /// The statistics now.
    pub now: Statistics,
    /// The statistics before, where there were two looks.
    pub before: Option<Statistics>,
    /// Over which time rates are.
    pub window: Window,
}

impl Looks {
    /// Looks once, with rates over the time that `uptime` tells in seconds; or twice, `interval`
    /// apart, with rates between the two.
    pub fn take(
        interval: Option<Duration>,
        uptime: &str,
        mut look: impl FnMut() -> Result<Statistics>,
    ) -> Result<Looks> {
        let before = match interval {
            Some(interval) => {
                let first = (look()?, Instant::now());
                sleep(interval);
                Some(first)
            }
            None => None,
        };
        let now = look()?;
        let window = match &before {
            Some((_, at)) => Window::Interval {
                seconds: at.elapsed().as_secs_f64(),
            },
            None => Window::Uptime {
                seconds: number(&now, uptime).unwrap_or(0) as f64,
            },
        };
        Ok(Looks {
            now,
            before: before.map(|(first, _)| first),
            window,
        })
    }

    /// A number of now.
    pub fn number(&self, name: &str) -> Option<u64> {
        number(&self.now, name)
    }

    /// A text of now.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.now.get(name).map(String::as_str)
    }

    /// How much a counter grew in the window.
    pub fn grew(&self, name: &str) -> Option<u64> {
        grew(&self.now, self.before.as_ref(), name)
    }

    /// The same a second.
    pub fn per_s(&self, name: &str) -> Option<f64> {
        let rate = self.grew(name)? as f64 / self.window.seconds();
        rate.is_finite().then_some(rate)
    }
}

/// A statistic that is a whole number.
pub fn number(statistics: &Statistics, name: &str) -> Option<u64> {
    statistics.get(name)?.parse().ok()
}

/// How much a counter grew. One that fell was reset in between: how much it grew is not known.
pub fn grew(now: &Statistics, before: Option<&Statistics>, name: &str) -> Option<u64> {
    match before {
        None => number(now, name),
        Some(before) => number(now, name)?.checked_sub(number(before, name)?),
    }
}

/// A share; of nothing there is none.
pub fn ratio(part: Option<u64>, whole: Option<u64>) -> Option<f64> {
    match (part?, whole?) {
        (_, 0) => None,
        (part, whole) => Some(part as f64 / whole as f64),
    }
}
