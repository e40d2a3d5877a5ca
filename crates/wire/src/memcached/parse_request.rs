//! The reading of a [`Request`].

use super::keys::{self, Keys};
use super::line::{Line, Words, value};
use super::meta::{MetaFlags, MetaVerb};
use super::request::{Request, StoreVerb};
use crate::{Because, Halt, Limits, decimal};

#[inline]
pub(super) fn parse<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(Request<'a>, usize), Halt> {
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
        b"mg" | b"ms" | b"md" | b"ma" | b"me" => {
            return parse_meta(bytes, &line, verb, words, limits);
        }
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
        b"gat" | b"gats" => Request::GetAndTouch {
            expires: number(&mut words, decimal::read_signed).map_err(bad)?,
            keys: Keys::listed(words.0, limits).map_err(bad)?,
            cas: verb == b"gats",
        },
        b"flush_all" | b"verbosity" | b"cache_memlimit" => Request::Administer {
            command: verb,
            arguments: words.rest(),
            noreply: words.last() == Some(b"noreply"),
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
        b"me" => MetaVerb::Debug,
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
