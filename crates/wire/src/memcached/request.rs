//! What a client says.

use super::keys::Keys;
use super::meta::{MetaFlags, MetaVerb};
use super::parse_request;
use crate::{Limits, Parsed, decimal};

/// The ways of writing an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreVerb {
    /// Whatever is there.
    Set,
    /// Only where nothing is.
    Add,
    /// Only where something is.
    Replace,
    /// After what is there.
    Append,
    /// Before what is there.
    Prepend,
    /// Only where the version is the one given.
    Cas(u64),
}

/// One request. Whoever makes one to write it sees to it that its keys are
/// [valid](super::key_is_valid).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// `get` or `gets`: read keys, with their versions or without.
    Get {
        /// The keys.
        keys: Keys<'a>,
        /// Whether versions are wanted.
        cas: bool,
    },
    /// Write an item.
    Store {
        /// Under which condition.
        verb: StoreVerb,
        /// Its key.
        key: &'a [u8],
        /// A number that the server keeps for the client.
        flags: u32,
        /// Time to live as on the wire: 0 for ever, below 0 expired, above 30 days a moment.
        expires: i64,
        /// Its value.
        value: &'a [u8],
        /// Whether no reply is wanted.
        noreply: bool,
    },
    /// Remove an item.
    Delete {
        /// Its key.
        key: &'a [u8],
        /// Whether no reply is wanted.
        noreply: bool,
    },
    /// Add to a number, or take from it down to 0.
    Arithmetic {
        /// Whether to take.
        decrement: bool,
        /// Its key.
        key: &'a [u8],
        /// How much.
        delta: u64,
        /// Whether no reply is wanted.
        noreply: bool,
    },
    /// Give an item another time to live.
    Touch {
        /// Its key.
        key: &'a [u8],
        /// As for a write.
        expires: i64,
        /// Whether no reply is wanted.
        noreply: bool,
    },
    /// `gat` or `gats`: give items another time to live and read them.
    GetAndTouch {
        /// As for a write.
        expires: i64,
        /// The keys.
        keys: Keys<'a>,
        /// Whether versions are wanted.
        cas: bool,
    },
    /// A meta command.
    Meta {
        /// Which.
        verb: MetaVerb,
        /// The key.
        key: &'a [u8],
        /// Its flags.
        flags: MetaFlags<'a>,
        /// The value, of `ms` only.
        value: Option<&'a [u8]>,
    },
    /// `mn`: marks the end of a batch.
    MetaNoop,
    /// Counters; with an argument, others.
    Stats(Option<&'a [u8]>),
    /// The server's version.
    Version,
    /// `lru_crawler metadump all`: what is known of every item.
    Metadump,
    /// Good bye.
    Quit,
    /// `flush_all`, `verbosity`, `cache_memlimit`: changes a server as a whole. It is never
    /// written.
    Administer {
        /// Which.
        command: &'a [u8],
        /// What stands after it.
        arguments: &'a [u8],
        /// Whether no reply is wanted.
        noreply: bool,
    },
}

impl<'a> Request<'a> {
    /// The request at the front of the bytes.
    #[inline]
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Parsed<Request<'a>> {
        parse_request::parse(bytes, limits).into()
    }

    /// Appends the request.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Request::Get { keys, cas } => {
                out.extend_from_slice(if cas { b"gets ".as_slice() } else { b"get " });
                keys.write(out);
            }
            Request::Store { .. } => return self.write_store(out),
            Request::Delete { key, noreply } => {
                out.extend_from_slice(b"delete ");
                out.extend_from_slice(key);
                push_noreply(out, noreply);
            }
            Request::Arithmetic {
                decrement,
                key,
                delta,
                noreply,
            } => {
                out.extend_from_slice(if decrement { b"decr " } else { b"incr " });
                out.extend_from_slice(key);
                out.push(b' ');
                decimal::push(out, delta);
                push_noreply(out, noreply);
            }
            Request::Touch {
                key,
                expires,
                noreply,
            } => {
                out.extend_from_slice(b"touch ");
                out.extend_from_slice(key);
                out.push(b' ');
                decimal::push_signed(out, expires);
                push_noreply(out, noreply);
            }
            Request::GetAndTouch { expires, keys, cas } => {
                out.extend_from_slice(if cas { b"gats ".as_slice() } else { b"gat " });
                decimal::push_signed(out, expires);
                out.push(b' ');
                keys.write(out);
            }
            Request::Meta { .. } => return self.write_meta(out),
            Request::Administer { .. } => return,
            Request::MetaNoop => out.extend_from_slice(b"mn"),
            Request::Stats(argument) => {
                out.extend_from_slice(b"stats");
                if let Some(argument) = argument {
                    out.push(b' ');
                    out.extend_from_slice(argument);
                }
            }
            Request::Version => out.extend_from_slice(b"version"),
            Request::Metadump => out.extend_from_slice(b"lru_crawler metadump all"),
            Request::Quit => out.extend_from_slice(b"quit"),
        }
        out.extend_from_slice(b"\r\n");
    }

    #[inline]
    fn write_store(&self, out: &mut Vec<u8>) {
        let Request::Store {
            verb,
            key,
            flags,
            expires,
            value,
            noreply,
        } = *self
        else {
            return;
        };
        out.extend_from_slice(verb.word());
        out.push(b' ');
        out.extend_from_slice(key);
        out.push(b' ');
        decimal::push(out, flags.into());
        out.push(b' ');
        decimal::push_signed(out, expires);
        out.push(b' ');
        decimal::push(out, value.len() as u64);
        if let StoreVerb::Cas(version) = verb {
            out.push(b' ');
            decimal::push(out, version);
        }
        push_noreply(out, noreply);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }

    fn write_meta(&self, out: &mut Vec<u8>) {
        let Request::Meta {
            verb,
            key,
            flags,
            value,
        } = *self
        else {
            return;
        };
        out.extend_from_slice(verb.word());
        out.push(b' ');
        out.extend_from_slice(key);
        if let Some(value) = value {
            out.push(b' ');
            decimal::push(out, value.len() as u64);
        }
        flags.write(out);
        out.extend_from_slice(b"\r\n");
        if let Some(value) = value {
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
    }
}

impl StoreVerb {
    fn word(self) -> &'static [u8] {
        match self {
            StoreVerb::Set => b"set",
            StoreVerb::Add => b"add",
            StoreVerb::Replace => b"replace",
            StoreVerb::Append => b"append",
            StoreVerb::Prepend => b"prepend",
            StoreVerb::Cas(_) => b"cas",
        }
    }
}

#[inline]
fn push_noreply(out: &mut Vec<u8>, noreply: bool) {
    if noreply {
        out.extend_from_slice(b" noreply");
    }
}
