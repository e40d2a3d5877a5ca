//! Names that a person types: ops, placements, and the nearest known name to a mistyped one.

use crate::problem::{Kind, Problem, Result};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

/// One logical operation of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Read the value of one key.
    Get,
    /// Write the value of one key.
    Set,
    /// Remove one key.
    Delete,
    /// Add one to a number held under a key.
    Incr,
    /// Read through a cache: look there, on a miss read the store and fill the cache. On a path
    /// without a cache it is a plain read of the store, so that the two can be compared.
    ReadAside,
    /// Write a key that is not there, and fail where it is.
    Insert,
    /// Read the value of one key, and write it back.
    ReadModifyWrite,
    /// Read the keys that follow one key in the store's own order.
    Scan,
    /// Several ops with weights: each operation is one of them.
    Mix,
    /// Read several keys with one call.
    GetMany,
    /// Read the row of one key together with its row in another table.
    Join,
    /// Write a key by one of the store's protocols, and read it by `join` until it is seen there.
    SetSeen,
}

impl Op {
    /// Every op.
    pub const ALL: [Op; 12] = [
        Op::Get,
        Op::Set,
        Op::Delete,
        Op::Incr,
        Op::ReadAside,
        Op::Insert,
        Op::ReadModifyWrite,
        Op::Scan,
        Op::Mix,
        Op::GetMany,
        Op::Join,
        Op::SetSeen,
    ];

    /// The name in files, reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Op::Get => "get",
            Op::Set => "set",
            Op::Delete => "delete",
            Op::Incr => "incr",
            Op::ReadAside => "read_aside",
            Op::Insert => "insert",
            Op::ReadModifyWrite => "read_modify_write",
            Op::Scan => "scan",
            Op::Mix => "mix",
            Op::GetMany => "get_many",
            Op::Join => "join",
            Op::SetSeen => "set_seen",
        }
    }

    /// Whether the op needs its keys to be there already.
    pub fn needs_data(self) -> bool {
        !matches!(self, Op::Set | Op::Insert)
    }

    /// Whether an operation of it may have several keys.
    pub fn takes_keys(self) -> bool {
        matches!(self, Op::GetMany | Op::ReadModifyWrite)
    }

    /// Whether it can be one of the ops of a mix: it leaves every key with the value that a read
    /// must give.
    pub fn can_mix(self) -> bool {
        matches!(
            self,
            Op::Get | Op::Set | Op::Insert | Op::ReadModifyWrite | Op::Scan
        )
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Op {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Op> {
        Op::ALL
            .into_iter()
            .find(|op| op.name() == text)
            .ok_or_else(|| unknown("op", text, Op::ALL.iter().map(|op| op.name())))
    }
}

/// Where server and client run. METHOD.md, point 7: placement changes the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The server on its cores, the clients on others.
    Split,
    /// Server and client on one core: shows the CPU cost of the path.
    Shared,
    /// Wherever the kernel puts them.
    Free,
}

impl Placement {
    /// Every placement.
    pub const ALL: [Placement; 3] = [Placement::Split, Placement::Shared, Placement::Free];

    /// The name in files, reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Split => "split",
            Placement::Shared => "shared",
            Placement::Free => "free",
        }
    }

    /// The placement in words, for a heading.
    pub fn in_words(self) -> &'static str {
        match self {
            Placement::Split => "server and client on different cores",
            Placement::Shared => "server and client on one core",
            Placement::Free => "placed by the kernel",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Placement {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Placement> {
        Placement::ALL
            .into_iter()
            .find(|p| p.name() == text)
            .ok_or_else(|| unknown("placement", text, Placement::ALL.iter().map(|p| p.name())))
    }
}

/// The known name nearest to a mistyped one, if any is near enough to be meant: at most one slip
/// (a letter more, less, changed, or two swapped), and one more for every four letters. Of two
/// equally near it is the longer: a letter is sooner forgotten than mistaken.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let slips_allowed = 1 + typed.chars().count() / 4;
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(typed, name), name))
        .filter(|(slips, _)| *slips <= slips_allowed)
        .min_by_key(|(slips, name)| (*slips, Reverse(name.len())))
        .map(|(_, name)| name)
}

/// The problem of a name that is not known, with the nearest one that is.
pub fn unknown<'a>(
    noun: &str,
    typed: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Problem {
    let list = known.clone().into_iter().collect::<Vec<_>>().join(", ");
    let step = match nearest(typed, known) {
        Some(name) => format!("did you mean `{name}`? Known: {list}"),
        None => format!("known: {list}"),
    };
    Problem::new(Kind::Usage, format!("there is no {noun} `{typed}`")).next(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_is_answered_with_the_nearest() {
        let problem = "gte".parse::<Op>().unwrap_err();
        assert_eq!(problem.what, "there is no op `gte`");
        assert!(
            problem
                .next_step
                .unwrap()
                .starts_with("did you mean `get`?")
        );
    }

    #[test]
    fn of_two_equally_near_names_the_longer_is_meant() {
        let known = ["php/memcache", "php/memcached"];
        assert_eq!(nearest("php/memcachd", known), Some("php/memcached"));
        assert_eq!(nearest("php/memcach", known), Some("php/memcache"));
    }

    #[test]
    fn a_name_like_nothing_gets_the_list_only() {
        let problem = "zzzz".parse::<Placement>().unwrap_err();
        assert_eq!(problem.next_step.unwrap(), "known: split, shared, free");
    }

    #[test]
    fn every_op_and_placement_parses_from_its_own_name() {
        for op in Op::ALL {
            assert_eq!(op.name().parse::<Op>().unwrap(), op);
        }
        for placement in Placement::ALL {
            assert_eq!(placement.name().parse::<Placement>().unwrap(), placement);
        }
    }
}
