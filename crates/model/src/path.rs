//! A path: store + client + options, and its short written form
//! `CLIENT[@STORE[+CACHE]][?OPTION=VALUE&...]`.

use crate::problem::{Kind, Problem, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Options of a client, by name. Sorted, so that a path has one written form.
pub type Options = BTreeMap<String, String>;

/// The most connections of a path.
pub const MAX_CONNECTIONS: u32 = 10_000;
/// The longest written path, name or option that is read.
pub const MAX_TEXT: usize = 512;

/// A way of reaching data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Path {
    /// Language and library (`php/memcached`), or `native`.
    pub client: String,
    /// The store that holds the data.
    pub store: String,
    /// A cache in front of the store, for `read_aside`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<String>,
    /// How the client reaches it: serializer, pipeline `depth`, `transport`, ...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: Options,
}

impl Path {
    /// The language of the client: `php` of `php/memcached`; `native` is its own language.
    pub fn language(&self) -> &str {
        self.client.split('/').next().unwrap_or(&self.client)
    }

    /// The library of the client: `memcached` of `php/memcached`; `native` of `native`.
    pub fn library(&self) -> &str {
        self.client
            .split_once('/')
            .map_or(self.client.as_str(), |(_, library)| library)
    }

    /// How many ops are sent before the first reply is awaited; 1 unless the option `depth` says.
    pub fn depth(&self) -> Result<u32> {
        let Some(text) = self.options.get("depth") else {
            return Ok(1);
        };
        text.parse()
            .ok()
            .filter(|depth| (1..=1_000_000).contains(depth))
            .ok_or_else(|| {
                Problem::new(
                    Kind::Usage,
                    format!("depth `{text}` is not a number from 1 to 1000000"),
                )
                .at(self.to_string())
                .next(
                    "write how many ops are sent before the first reply is awaited, as in depth=16",
                )
            })
    }

    /// How many connections carry its requests, where it says so itself.
    pub fn connections(&self) -> Result<Option<u32>> {
        let Some(text) = self.options.get("connections") else {
            return Ok(None);
        };
        match text.parse::<u32>() {
            Ok(n) if (1..=MAX_CONNECTIONS).contains(&n) => Ok(Some(n)),
            _ => Err(Problem::new(
                Kind::Usage,
                format!("connections `{text}` is not a number from 1 to {MAX_CONNECTIONS}"),
            )
            .at(self.to_string())
            .next("write connections=50, or leave it out for those of the experiment")),
        }
    }

    /// The transport asked for: `tcp` unless the option says `unix`.
    pub fn transport(&self) -> &str {
        self.options.get("transport").map_or("tcp", String::as_str)
    }

    /// Parses the short form; a path without `@STORE` gets `default_store`.
    pub fn parse(text: &str, default_store: Option<&str>) -> Result<Path> {
        let bad = |what: &str| {
            Problem::new(Kind::Usage, format!("`{text}` is not a path: {what}"))
                .next("write CLIENT[@STORE][?OPTION=VALUE&...], as in `php/memcached?serializer=igbinary`")
        };
        if text.len() > MAX_TEXT {
            return Err(bad("it is too long"));
        }
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let (client, stores) = match place.split_once('@') {
            Some((client, stores)) => (client, Some(stores)),
            None => (place, default_store),
        };
        let stores = stores.ok_or_else(|| bad("it names no store"))?;
        let (store, cache) = match stores.split_once('+') {
            Some((store, cache)) => (store, Some(cache)),
            None => (stores, None),
        };
        for name in [client, store].into_iter().chain(cache) {
            if name.is_empty()
                || !name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "/-_.".contains(c))
            {
                return Err(bad("names are letters, digits, `-`, `_`, `.` and `/`"));
            }
        }
        let mut options = Options::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| bad("an option is NAME=VALUE"))?;
            if options.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(bad("an option stands twice"));
            }
        }
        Ok(Path {
            client: client.to_owned(),
            store: store.to_owned(),
            cache: cache.map(str::to_owned),
            options,
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.client, self.store)?;
        if let Some(cache) = &self.cache {
            write!(f, "+{cache}")?;
        }
        for (i, (name, value)) in self.options.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl FromStr for Path {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Path> {
        Path::parse(text, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_round_trips() {
        for text in [
            "native@floor",
            "native@sqlite+floor?depth=16",
            "php/memcached@memcached?serializer=igbinary&tcp_nodelay=true",
        ] {
            assert_eq!(text.parse::<Path>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_path_without_a_store_takes_the_default() {
        let path = Path::parse("php/memcache", Some("memcached")).unwrap();
        assert_eq!(
            (path.language(), path.library(), path.store.as_str()),
            ("php", "memcache", "memcached")
        );
        assert!(Path::parse("php/memcache", None).is_err());
    }

    #[test]
    fn bad_paths_are_refused_with_the_form() {
        for text in [
            "",
            "@x",
            "a@",
            "a@b?c",
            "a@b?c=1&c=2",
            "a b@c",
            "native@floor?depth=0",
        ] {
            let refused = text.parse::<Path>().and_then(|p| p.depth().map(|_| p));
            assert!(refused.is_err(), "{text}");
        }
    }
}
