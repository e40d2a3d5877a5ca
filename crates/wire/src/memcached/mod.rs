//! The text protocol of memcached with its meta commands, both sides: a client writes a
//! [`Request`] and parses each [`Reply`], a server the other way round.
//!
//! A request that empties a server or changes how it runs is read, so that a server can refuse it
//! clearly, and never written, so that none can be sent by mistake to a store that is somebody's.

mod base64;
mod get_reply;
mod keys;
mod line;
mod meta;
mod metadump;
mod parse_request;
mod reply;
mod request;

pub use base64::{push_base64, read_base64};
pub use get_reply::GetReply;
pub use keys::{Keys, key_is_valid};
pub use meta::{MetaFlags, MetaVerb};
pub use metadump::{DumpedItem, push_escaped};
pub use reply::Reply;
pub use request::{Request, StoreVerb};

/// The longest key that the protocol allows.
pub const MAX_KEY_BYTES: usize = 250;

/// A time to live of more seconds than this is read as a moment in Unix time.
pub const MAX_RELATIVE_TTL_S: u32 = 60 * 60 * 24 * 30;
