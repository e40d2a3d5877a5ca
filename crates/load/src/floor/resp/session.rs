//! What a connection that speaks RESP has said of itself.

/// The commands of a transaction may take so much before they are done.
const QUEUE_LIMIT: usize = 16 << 20;
/// So many keys may be watched at once.
const WATCHED_LIMIT: usize = 1024;

/// The state of one connection.
#[derive(Debug, Default)]
pub(in crate::floor) struct Session {
    pub(super) id: u64,
    /// Whether it speaks RESP3.
    pub(super) three: bool,
    pub(super) name: Vec<u8>,
    pub(super) queue: Option<Queue>,
    /// Keys, each with the version that it had; 0 for none.
    pub(super) watched: Vec<(Box<[u8]>, u64)>,
    /// Whether it has said good bye.
    pub(super) quits: bool,
}

/// The commands of a transaction, as they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) bytes: Vec<u8>,
    pub(super) commands: usize,
    /// Whether one of them cannot be done, so that none will be.
    pub(super) spoilt: bool,
}

impl Session {
    pub(in crate::floor) fn new(id: u64) -> Session {
        Session {
            id,
            ..Session::default()
        }
    }

    pub(in crate::floor) fn quits(&self) -> bool {
        self.quits
    }

    pub(in crate::floor) fn is_queueing(&self) -> bool {
        self.queue.is_some()
    }

    /// How it is told that there is nothing, in the place of a string.
    #[inline]
    pub(in crate::floor) fn null(&self) -> &'static [u8] {
        if self.three { b"_\r\n" } else { b"$-1\r\n" }
    }

    /// Notes that a command of a transaction cannot be done.
    pub(super) fn spoil(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.spoilt = true;
        }
    }

    /// Whether another key can be watched.
    pub(super) fn can_watch(&self) -> bool {
        self.watched.len() < WATCHED_LIMIT
    }
}

impl Queue {
    pub(super) fn has_room(&self) -> bool {
        self.bytes.len() < QUEUE_LIMIT
    }
}
