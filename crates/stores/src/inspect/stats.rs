//! A server's statistics, and what they mean.

use super::figures::{Looks, Statistics, Window, as_numbers, grew, number, ratio};
use super::slabs::{self, SlabTable};
use super::{connect, findings};
use roundtrip_model::Result;
use roundtrip_model::contract::Endpoint;
use serde::Serialize;
use std::time::Duration;

/// All statistics of a server, and what they mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerStats {
    /// What the numbers mean.
    pub meaning: Meaning,
    /// A sentence for everything that is wrong; empty when all is well.
    pub findings: Vec<String>,
    /// What to know when reading the numbers.
    pub notes: Vec<String>,
    /// All statistics, by name. Numbers are numbers in JSON.
    #[serde(serialize_with = "as_numbers")]
    pub statistics: Statistics,
}

/// What the statistics mean. `None` where the server does not tell, and for a ratio of nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Meaning {
    /// The server's version.
    pub version: Option<String>,
    /// Over which time hits and evictions are counted.
    pub window: Window,
    /// Reads in the window.
    pub gets: Option<u64>,
    /// The share of them that found their key.
    pub hit_ratio: Option<f64>,
    /// Items held.
    pub items: Option<u64>,
    /// Bytes of items held, those that expired and were not yet reclaimed included.
    pub memory_used_bytes: Option<u64>,
    /// Bytes that items may take.
    pub memory_limit_bytes: Option<u64>,
    /// Used over limit.
    pub memory_used_ratio: Option<f64>,
    /// Items thrown away for want of memory, in the window.
    pub evictions: Option<u64>,
    /// The same a second.
    pub evictions_per_s: Option<f64>,
    /// Connections open.
    pub connections: Option<u64>,
    /// Connections that it may have.
    pub max_connections: Option<u64>,
}

/// Reads the statistics: once, with rates over the server's life; or twice, `interval` apart, with
/// rates between the two.
pub fn stats(address: &Endpoint, interval: Option<Duration>) -> Result<ServerStats> {
    let mut connection = connect(address)?;
    let looks = Looks::take(interval, "uptime", || connection.stats(""))?;
    let slabs = slabs::read(&mut connection)?;
    Ok(explain(
        looks.now,
        looks.before.as_ref(),
        looks.window,
        &slabs,
    ))
}

fn explain(
    statistics: Statistics,
    before: Option<&Statistics>,
    window: Window,
    slabs: &SlabTable,
) -> ServerStats {
    let meaning = meaning(&statistics, before, window);
    ServerStats {
        findings: findings::findings(&meaning, &statistics, slabs),
        notes: findings::notes(&meaning),
        meaning,
        statistics,
    }
}

fn meaning(now: &Statistics, before: Option<&Statistics>, window: Window) -> Meaning {
    let number = |name| number(now, name);
    let grew = |name| grew(now, before, name);
    let gets = grew("get_hits").zip(grew("get_misses"));
    let gets = gets.map(|(hits, misses)| hits.saturating_add(misses));
    let evictions = grew("evictions");
    let per_s = |count: u64| count as f64 / window.seconds();
    Meaning {
        version: now.get("version").cloned(),
        window,
        gets,
        hit_ratio: ratio(grew("get_hits"), gets),
        items: number("curr_items"),
        memory_used_bytes: number("bytes"),
        memory_limit_bytes: number("limit_maxbytes"),
        memory_used_ratio: ratio(number("bytes"), number("limit_maxbytes")),
        evictions,
        evictions_per_s: evictions.map(per_s).filter(|rate| rate.is_finite()),
        connections: number("curr_connections"),
        max_connections: number("max_connections"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn statistics(pairs: &[(&str, u64)]) -> Statistics {
        let text = |(name, n): &(&str, u64)| ((*name).to_owned(), n.to_string());
        pairs.iter().map(text).collect()
    }

    /// What would be said of these statistics over ten seconds of life.
    pub fn explained(pairs: &[(&str, u64)]) -> ServerStats {
        let window = Window::Uptime { seconds: 10.0 };
        let slabs = SlabTable { classes: vec![] };
        explain(statistics(pairs), None, window, &slabs)
    }

    #[test]
    fn rates_are_over_the_life_or_over_the_interval() {
        let before = statistics(&[("get_hits", 10), ("get_misses", 90), ("evictions", 5)]);
        let now = statistics(&[("get_hits", 40), ("get_misses", 100), ("evictions", 25)]);
        let life = meaning(&now, None, Window::Uptime { seconds: 10.0 });
        assert_eq!((life.gets, life.hit_ratio), (Some(140), Some(40.0 / 140.0)));
        assert_eq!(life.evictions_per_s, Some(2.5));
        let lately = meaning(&now, Some(&before), Window::Interval { seconds: 2.0 });
        assert_eq!((lately.gets, lately.hit_ratio), (Some(40), Some(0.75)));
        assert_eq!(
            (lately.evictions, lately.evictions_per_s),
            (Some(20), Some(10.0))
        );
        let reset = meaning(&before, Some(&now), Window::Interval { seconds: 2.0 });
        assert_eq!((reset.gets, reset.evictions_per_s), (None, None));
    }

    #[test]
    fn what_is_not_known_is_not_zero() {
        let nothing = explained(&[("get_hits", 0), ("get_misses", 0), ("limit_maxbytes", 0)]);
        let meaning = nothing.meaning;
        assert_eq!((meaning.gets, meaning.hit_ratio), (Some(0), None));
        assert_eq!((meaning.items, meaning.memory_used_ratio), (None, None));
        let window = Window::Uptime { seconds: 0.0 };
        let young = super::meaning(&statistics(&[("evictions", 1)]), None, window);
        assert_eq!(young.evictions_per_s, None);
    }
}
