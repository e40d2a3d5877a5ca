//! What a crash loses: kinds of faults, and what is kept of one.

use crate::names::unknown;
use crate::problem::{Problem, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What strikes in the middle of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The client's process is killed.
    Client,
    /// Every server of the store is killed, and then started again on its data.
    Server,
    /// The connection between the two is cut, and no new one can be made.
    Connection,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 3] = [FaultKind::Client, FaultKind::Server, FaultKind::Connection];

    /// The name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Client => "client",
            FaultKind::Server => "server",
            FaultKind::Connection => "connection",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FaultKind {
    type Err = Problem;

    fn from_str(text: &str) -> Result<FaultKind> {
        FaultKind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| unknown("fault", text, FaultKind::ALL.map(FaultKind::name)))
    }
}

/// Where a write is by the time that the store acknowledges it: what of it a death leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeps {
    /// In the memory of the server, and nowhere else ever.
    Nothing,
    /// In the memory of the server, which writes it down within about a second.
    Soon,
    /// With the kernel, except while a flush to the disk is under way: then for up to two seconds in
    /// the memory of the server, which acknowledges it all the same.
    KernelUnlessBusy,
    /// With the kernel: it outlives the server's process, and not a loss of power.
    Kernel,
    /// On the disk.
    Disk,
}

/// How ops travel together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Travel {
    /// Each op awaits the reply of the one before it.
    Sequential,
    /// So many are sent before the first reply is awaited.
    Pipeline,
    /// So many are sent, and are done all at once or not at all.
    Transaction,
}

/// What was found of the writes of a trial after its fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Writes that were acknowledged and are there, with the right value.
    pub acknowledged: u64,
    /// Writes that were sent and not acknowledged, and are there with the right value.
    pub unacknowledged: u64,
    /// Writes that were never sent, and are there all the same.
    pub beyond: u64,
    /// Keys that hold another value than the one written.
    pub wrong: u64,
    /// Batches of a transaction of which a part is there.
    pub torn: u64,
}

/// What a fault left of the writes of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRecord {
    /// What struck.
    pub kind: FaultKind,
    /// How ops travelled.
    pub travel: Travel,
    /// How many travelled together.
    pub depth: u32,
    /// Where a write is when it is acknowledged, as the store was set; `None` where nobody says.
    pub keeps: Option<Keeps>,
    /// How many writes there were to be.
    pub count: u64,
    /// It struck when more writes than this had been sent,
    pub after_ops: u64,
    /// and so long after that was seen.
    pub delay_ns: u64,
    /// Writes that were handed to the library.
    pub sent: u64,
    /// Writes that the library had said to be done: the first so many of them.
    pub acknowledged: u64,
    /// What was found.
    pub found: Found,
}

impl FaultRecord {
    /// Writes that are there, of those that were sent.
    pub fn applied(&self) -> u64 {
        self.found
            .acknowledged
            .saturating_add(self.found.unacknowledged)
    }

    /// Writes that were acknowledged and are not there.
    pub fn lost(&self) -> u64 {
        self.acknowledged.saturating_sub(self.found.acknowledged)
    }

    /// Whether the fault struck when nothing was under way any more.
    pub fn came_too_late(&self) -> bool {
        self.acknowledged == self.count
    }

    /// Why its numbers cannot be: what a client says is not taken on trust.
    pub fn objection(&self) -> Option<String> {
        let (sent, acknowledged) = (self.sent, self.acknowledged);
        let unacknowledged = sent.saturating_sub(acknowledged);
        let what = if sent > self.count {
            format!("{sent} writes of {} were sent", self.count)
        } else if acknowledged > sent {
            format!("{acknowledged} writes were acknowledged, and {sent} were sent")
        } else if self.found.acknowledged > acknowledged
            || self.found.unacknowledged > unacknowledged
        {
            "more writes were found than there were".to_owned()
        } else if self.came_too_late() {
            "every write was acknowledged before the fault".to_owned()
        } else {
            return None;
        };
        Some(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(sent: u64, acknowledged: u64, found: Found) -> FaultRecord {
        FaultRecord {
            kind: FaultKind::Server,
            travel: Travel::Pipeline,
            depth: 10,
            keeps: Some(Keeps::Kernel),
            count: 100,
            after_ops: 20,
            delay_ns: 0,
            sent,
            acknowledged,
            found,
        }
    }

    #[test]
    fn applied_and_lost_follow_from_what_was_found() {
        let found = Found {
            acknowledged: 28,
            unacknowledged: 4,
            ..Found::default()
        };
        let fault = record(40, 30, found);
        assert_eq!((fault.applied(), fault.lost()), (32, 2));
        assert_eq!(fault.objection(), None);
    }

    #[test]
    fn numbers_that_cannot_be_are_objected_to() {
        let found = |acknowledged, unacknowledged| Found {
            acknowledged,
            unacknowledged,
            ..Found::default()
        };
        for (fault, word) in [
            (record(101, 1, found(1, 0)), "101 writes of 100"),
            (record(30, 31, found(1, 0)), "31 writes were acknowledged"),
            (record(30, 20, found(21, 0)), "more writes were found"),
            (record(30, 20, found(20, 11)), "more writes were found"),
            (record(100, 100, found(100, 0)), "before the fault"),
        ] {
            let objection = fault.objection().unwrap();
            assert!(objection.contains(word), "{objection}");
        }
    }

    #[test]
    fn every_kind_parses_from_its_own_name() {
        for kind in FaultKind::ALL {
            assert_eq!(kind.name().parse::<FaultKind>().unwrap(), kind);
        }
        let problem = "sever".parse::<FaultKind>().unwrap_err();
        assert!(problem.next_step.unwrap().contains("`server`"));
    }
}
