//! The text protocol of memcached with its meta commands, both sides: a client writes a
//! [`Request`] and parses each [`Reply`], a server the other way round.
//!
//! There is no request that empties or shuts down a server, so none can be sent by mistake to a
//! store that is somebody's.

mod keys;
mod line;
mod meta;
mod metadump;
mod parse_request;
mod reply;
mod request;

pub use keys::{Keys, key_is_valid};
pub use meta::{MetaFlags, MetaVerb};
pub use metadump::{DumpedItem, push_escaped};
pub use reply::Reply;
pub use request::{Request, StoreVerb};

/// The longest key that the protocol allows.
pub const MAX_KEY_BYTES: usize = 250;

/// A time to live of more seconds than this is read as a moment in Unix time.
pub const MAX_RELATIVE_TTL_S: u32 = 60 * 60 * 24 * 30;
