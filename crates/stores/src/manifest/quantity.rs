//! What bears witness.

use serde::Deserialize;

/// What a witness wants to know of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Reads asked for.
    Get,
    /// Reads that found their key.
    Hits,
    /// Reads that found nothing.
    Misses,
    /// Writes.
    Set,
    /// Removals asked for, where those that found their key are not counted apart: how many keys
    /// are gone then says how many did.
    Deletes,
    /// Removals of a key that was there.
    DeleteHits,
    /// Removals of a key that was not there.
    DeleteMisses,
    /// Increments of a key that was there.
    IncrHits,
    /// Increments of a key that was not there.
    IncrMisses,
    /// Batches of commands that were done as one.
    Transactions,
    /// Reads of several keys at once, by the call: of a store that may count a key of such a read
    /// less or more than once.
    ManyReads,
    /// Keys held now.
    Items,
    /// Bytes held now.
    Bytes,
    /// Items thrown away for want of memory.
    Evictions,
    /// Connections open now.
    Connections,
    /// Times that the log was written through to the disk. A term and no claim of a client's, as
    /// all that follow: what two ways of writing the same row make durable.
    Fsyncs,
    /// Bytes written to logs.
    LogBytes,
    /// Rows inserted.
    RowsInserted,
    /// Rows read.
    RowsRead,
    /// Rows deleted.
    RowsDeleted,
}
