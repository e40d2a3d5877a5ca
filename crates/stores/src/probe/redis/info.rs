//! What `INFO` says, as names and values.

use roundtrip_model::record::Counters;
use std::collections::BTreeMap;

/// Commands whose number of calls is 0 until the first one: `INFO` has no line for a command that
/// nobody called, which would read as not known.
const COUNTED_FROM_0: [&str; 15] = [
    "get", "set", "setex", "psetex", "setnx", "mget", "mset", "del", "unlink", "incr", "incrby",
    "decr", "decrby", "multi", "exec",
];
/// Commands that write one key whole.
const WRITES: [&str; 4] = ["set", "setex", "psetex", "setnx"];
/// Commands that add to a number, or take from it.
const ARITHMETIC: [&str; 4] = ["incr", "incrby", "decr", "decrby"];
/// Commands that remove keys: how many, they do not tell.
const REMOVALS: [&str; 2] = ["del", "unlink"];

/// An answer to `INFO`.
pub struct Info(BTreeMap<String, String>);

impl Info {
    /// Takes the lines `name:value`; headings and what else there may be are passed over.
    pub fn parse(text: &str) -> Info {
        let fields = text.lines().filter(|line| !line.starts_with('#'));
        Info(
            fields
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
    }

    /// Every name and value.
    pub fn into_fields(self) -> BTreeMap<String, String> {
        self.0
    }

    /// A value as it stands.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Every value that is a whole number; the calls of each command as `calls_get` and the like;
    /// the keys of all databases as `keys`; and sums of what a witness asks for:
    /// `keyspace_reads`, `writes`, `arithmetic`, `removals`.
    pub fn counters(&self) -> Counters {
        let calls_of = |command: &str| format!("calls_{command}");
        let mut counters: Counters = COUNTED_FROM_0
            .iter()
            .map(|command| (calls_of(command), 0))
            .collect();
        let mut keys = 0;
        for (name, value) in &self.0 {
            if let Some(command) = name.strip_prefix("cmdstat_") {
                if let Some(calls) = part(value, "calls") {
                    // A subcommand is named with a `|`.
                    counters.insert(calls_of(&command.replace('|', "_")), calls);
                }
            } else if is_database(name) {
                keys += part(value, "keys").unwrap_or(0);
            } else if let Ok(number) = value.parse() {
                counters.insert(name.clone(), number);
            }
        }
        let of = |name: &str| counters.get(name).copied();
        let sum = |commands: &[&str]| commands.iter().filter_map(|c| of(&calls_of(c))).sum();
        let reads = of("keyspace_hits").zip(of("keyspace_misses"));
        let sums = [
            ("keys", Some(keys)),
            ("keyspace_reads", reads.map(|(hits, misses)| hits + misses)),
            ("writes", Some(sum(&WRITES))),
            ("arithmetic", Some(sum(&ARITHMETIC))),
            ("removals", Some(sum(&REMOVALS))),
        ];
        let known = |(name, sum): (&str, Option<u64>)| Some((name.to_owned(), sum?));
        counters.extend(sums.into_iter().filter_map(known));
        counters
    }
}

/// `db0`, `db1` and so on.
pub fn is_database(name: &str) -> bool {
    name.strip_prefix("db")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// A number of a value that is a list: `calls=5,usec=9`.
pub fn part(value: &str, name: &str) -> Option<u64> {
    value
        .split(',')
        .filter_map(|part| part.split_once('='))
        .find_map(|(found, number)| (found == name).then(|| number.parse().ok())?)
}
