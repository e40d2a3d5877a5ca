//! What a client says.

use super::keys::{self, Keys};
use super::line::{Line, Words, value};
use super::meta::{MetaFlags, MetaVerb};
use crate::{Because, Halt, Limits, Parsed, decimal};

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
}

impl<'a> Request<'a> {
    /// The request at the front of the bytes.
    #[inline]
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Parsed<Request<'a>> {
        parse(bytes, limits).into()
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
            Request::Meta { .. } => return self.write_meta(out),
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

#[inline]
fn parse<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(Request<'a>, usize), Halt> {
    let line = Line::first(bytes, limits)?;
    let mut words = Words(line.text);
    let bad = |because| line.bad(because);
    let verb = words.next().ok_or(bad(Because::UnknownWord))?;
    let request = match verb {
        b"get" | b"gets" => Request::Get {
            keys: Keys::listed(words.0, limits).map_err(bad)?,
            cas: verb == b"gets",
        },
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => {
            return parse_store(bytes, &line, verb, words, limits);
        }
        b"mg" | b"ms" | b"md" | b"ma" => return parse_meta(bytes, &line, verb, words, limits),
        b"delete" => parse_delete(words, limits).map_err(bad)?,
        b"incr" | b"decr" => Request::Arithmetic {
            decrement: verb == b"decr",
            key: key(&mut words, limits).map_err(bad)?,
            delta: number(&mut words, decimal::read).map_err(bad)?,
            noreply: last(words).map_err(bad)?,
        },
        b"touch" => Request::Touch {
            key: key(&mut words, limits).map_err(bad)?,
            expires: number(&mut words, decimal::read_signed).map_err(bad)?,
            noreply: last(words).map_err(bad)?,
        },
        b"stats" => Request::Stats(Some(words.rest()).filter(|rest| !rest.is_empty())),
        b"lru_crawler" => match words.rest() {
            b"metadump all" => Request::Metadump,
            _ => return Err(bad(Because::Form)),
        },
        b"mn" => Request::MetaNoop,
        b"version" => Request::Version,
        b"quit" => Request::Quit,
        _ => return Err(bad(Because::UnknownWord)),
    };
    Ok((request, line.bytes))
}

/// After a bad line of a write nobody knows where its value ends, so there is nothing to leave out.
#[inline]
fn parse_store<'a>(
    bytes: &'a [u8],
    line: &Line<'a>,
    verb: &[u8],
    mut words: Words<'a>,
    limits: &Limits,
) -> Result<(Request<'a>, usize), Halt> {
    let lost = |because| Halt::bad(because, None);
    let key = key(&mut words, limits).map_err(lost)?;
    let flags = number(&mut words, decimal::read_u32).map_err(lost)?;
    let expires = number(&mut words, decimal::read_signed).map_err(lost)?;
    let length = number(&mut words, decimal::read).map_err(lost)?;
    let verb = match verb {
        b"set" => StoreVerb::Set,
        b"add" => StoreVerb::Add,
        b"replace" => StoreVerb::Replace,
        b"append" => StoreVerb::Append,
        b"prepend" => StoreVerb::Prepend,
        _ => StoreVerb::Cas(number(&mut words, decimal::read).map_err(lost)?),
    };
    let noreply = last(words).map_err(lost)?;
    let (value, end) = value(bytes, line.bytes, length, limits)?;
    let request = Request::Store {
        verb,
        key,
        flags,
        expires,
        value,
        noreply,
    };
    Ok((request, end))
}

fn parse_meta<'a>(
    bytes: &'a [u8],
    line: &Line<'a>,
    verb: &[u8],
    mut words: Words<'a>,
    limits: &Limits,
) -> Result<(Request<'a>, usize), Halt> {
    let verb = match verb {
        b"mg" => MetaVerb::Get,
        b"ms" => MetaVerb::Set,
        b"md" => MetaVerb::Delete,
        _ => MetaVerb::Arithmetic,
    };
    let skip = (verb != MetaVerb::Set).then_some(line.bytes);
    let bad = |because| Halt::bad(because, skip);
    let key = key(&mut words, limits).map_err(bad)?;
    let length = match verb {
        MetaVerb::Set => Some(number(&mut words, decimal::read).map_err(bad)?),
        _ => None,
    };
    let flags = MetaFlags::listed(words.0).ok_or(bad(Because::Form))?;
    let (value, end) = match length {
        Some(length) => {
            let (value, end) = value(bytes, line.bytes, length, limits)?;
            (Some(value), end)
        }
        None => (None, line.bytes),
    };
    let request = Request::Meta {
        verb,
        key,
        flags,
        value,
    };
    Ok((request, end))
}

fn parse_delete<'a>(mut words: Words<'a>, limits: &Limits) -> Result<Request<'a>, Because> {
    let key = key(&mut words, limits)?;
    // Old clients send a time, of which memcached still accepts the 0.
    let mut after = words;
    if after.next() == Some(b"0") {
        words = after;
    }
    Ok(Request::Delete {
        key,
        noreply: last(words)?,
    })
}

#[inline]
fn key<'a>(words: &mut Words<'a>, limits: &Limits) -> Result<&'a [u8], Because> {
    let key = words.next().ok_or(Because::Form)?;
    keys::check(key, limits.key_bytes)?;
    Ok(key)
}

#[inline]
fn number<'a, T>(
    words: &mut Words<'a>,
    read: impl Fn(&'a [u8]) -> Option<T>,
) -> Result<T, Because> {
    read(words.next().ok_or(Because::Form)?).ok_or(Because::Number)
}

/// What may stand at the end of a line: `noreply`, or nothing.
#[inline]
fn last(mut words: Words<'_>) -> Result<bool, Because> {
    match (words.next(), words.next()) {
        (None, _) => Ok(false),
        (Some(b"noreply"), None) => Ok(true),
        _ => Err(Because::Form),
    }
}
