//! What a server says. The answer to one request may be several of these: a `get` of many keys is
//! answered with a [`Reply::Value`] for each that is there and a [`Reply::End`].

use super::line::{Line, Words, value};
use super::meta::MetaFlags;
use super::metadump::DumpedItem;
use crate::{Because, Halt, Limits, Parsed, decimal};

/// One reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// An item that was read.
    Value {
        /// Its key.
        key: &'a [u8],
        /// The number kept with it.
        flags: u32,
        /// Its version, for `gets`.
        cas: Option<u64>,
        /// Its value.
        value: &'a [u8],
    },
    /// The end of values, counters or a dump.
    End,
    /// Written.
    Stored,
    /// The condition of the write does not hold.
    NotStored,
    /// Another version is there.
    Exists,
    /// Nothing is there.
    NotFound,
    /// Removed.
    Deleted,
    /// Its time to live was changed.
    Touched,
    /// Done.
    Ok,
    /// Counters were set back.
    Reset,
    /// A number after it was changed.
    Number(u64),
    /// A counter.
    Stat {
        /// Its name.
        name: &'a [u8],
        /// What it stands at; may be empty and may have spaces.
        value: &'a [u8],
    },
    /// The server's version.
    Version(&'a [u8]),
    /// Another dump is under way.
    Busy(&'a [u8]),
    /// There is no such list of keys to dump.
    BadClass(&'a [u8]),
    /// The request is not known; some say more.
    Error(&'a [u8]),
    /// The request is wrong.
    ClientError(&'a [u8]),
    /// The server cannot.
    ServerError(&'a [u8]),
    /// `HD`: done.
    MetaDone(MetaFlags<'a>),
    /// `VA`: done, and the value.
    MetaValue {
        /// What was asked for.
        flags: MetaFlags<'a>,
        /// The value.
        value: &'a [u8],
    },
    /// `EN`: nothing is there to be read. Some versions repeat the key and the client's mark.
    MetaMiss(MetaFlags<'a>),
    /// `NF`: nothing is there to be changed.
    MetaNotFound(MetaFlags<'a>),
    /// `NS`: the condition of the write does not hold.
    MetaNotStored(MetaFlags<'a>),
    /// `EX`: another version is there.
    MetaExists(MetaFlags<'a>),
    /// `MN`: the end of a batch.
    MetaNoop,
    /// `ME`: what is known of an item.
    MetaDebug {
        /// Its key.
        key: &'a [u8],
        /// `exp=-1 la=5` and so on.
        facts: &'a [u8],
    },
    /// A line of `lru_crawler metadump`.
    Dumped(DumpedItem<'a>),
}

impl<'a> Reply<'a> {
    /// The reply at the front of the bytes.
    #[inline]
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Parsed<Reply<'a>> {
        parse(bytes, limits).into()
    }

    /// Appends the reply.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Reply::Value {
                key,
                flags,
                cas,
                value,
            } => {
                out.extend_from_slice(b"VALUE ");
                out.extend_from_slice(key);
                out.push(b' ');
                decimal::push(out, flags.into());
                out.push(b' ');
                decimal::push(out, value.len() as u64);
                if let Some(cas) = cas {
                    out.push(b' ');
                    decimal::push(out, cas);
                }
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(value);
            }
            Reply::MetaValue { flags, value } => {
                out.extend_from_slice(b"VA ");
                decimal::push(out, value.len() as u64);
                flags.write(out);
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(value);
            }
            Reply::Number(number) => decimal::push(out, number),
            Reply::Dumped(item) => return item.write(out),
            _ => self.write_words(out),
        }
        out.extend_from_slice(b"\r\n");
    }

    #[inline]
    fn write_words(&self, out: &mut Vec<u8>) {
        let (word, text): (&[u8], &[u8]) = match *self {
            Reply::End => (b"END", b""),
            Reply::Stored => (b"STORED", b""),
            Reply::NotStored => (b"NOT_STORED", b""),
            Reply::Exists => (b"EXISTS", b""),
            Reply::NotFound => (b"NOT_FOUND", b""),
            Reply::Deleted => (b"DELETED", b""),
            Reply::Touched => (b"TOUCHED", b""),
            Reply::Ok => (b"OK", b""),
            Reply::Reset => (b"RESET", b""),
            Reply::Version(text) => (b"VERSION", text),
            Reply::Busy(text) => (b"BUSY", text),
            Reply::BadClass(text) => (b"BADCLASS", text),
            Reply::Error(text) => (b"ERROR", text),
            Reply::ClientError(text) => (b"CLIENT_ERROR", text),
            Reply::ServerError(text) => (b"SERVER_ERROR", text),
            Reply::MetaNoop => (b"MN", b""),
            Reply::MetaDebug { key, facts } => {
                out.extend_from_slice(b"ME ");
                out.extend_from_slice(key);
                out.push(b' ');
                return out.extend_from_slice(facts);
            }
            Reply::Stat { name, value } => {
                out.extend_from_slice(b"STAT ");
                out.extend_from_slice(name);
                out.push(b' ');
                return out.extend_from_slice(value);
            }
            _ => return self.write_flagged(out),
        };
        out.extend_from_slice(word);
        if !text.is_empty() {
            out.push(b' ');
            out.extend_from_slice(text);
        }
    }

    fn write_flagged(&self, out: &mut Vec<u8>) {
        let (word, flags): (&[u8], _) = match self {
            Reply::MetaDone(flags) => (b"HD", flags),
            Reply::MetaMiss(flags) => (b"EN", flags),
            Reply::MetaNotFound(flags) => (b"NF", flags),
            Reply::MetaNotStored(flags) => (b"NS", flags),
            Reply::MetaExists(flags) => (b"EX", flags),
            _ => return,
        };
        out.extend_from_slice(word);
        flags.write(out);
    }
}

#[inline]
fn parse<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(Reply<'a>, usize), Halt> {
    let line = Line::first(bytes, limits)?;
    let mut words = Words(line.text);
    let bad = |because| line.bad(because);
    let word = words.next().ok_or(bad(Because::UnknownWord))?;
    let flags = || MetaFlags::listed(words.0).ok_or(bad(Because::Form));
    let alone = |reply| match words.rest() {
        b"" => Ok(reply),
        _ => Err(bad(Because::Form)),
    };
    let reply = match word {
        b"VALUE" => return parse_value(bytes, &line, words, limits),
        b"END" => alone(Reply::End)?,
        b"STORED" => alone(Reply::Stored)?,
        b"VA" => return parse_meta_value(bytes, &line, words, limits),
        b"HD" => Reply::MetaDone(flags()?),
        b"EN" => Reply::MetaMiss(flags()?),
        b"NF" => Reply::MetaNotFound(flags()?),
        b"NS" => Reply::MetaNotStored(flags()?),
        b"EX" => Reply::MetaExists(flags()?),
        b"MN" => alone(Reply::MetaNoop)?,
        b"DELETED" => alone(Reply::Deleted)?,
        b"NOT_FOUND" => alone(Reply::NotFound)?,
        b"NOT_STORED" => alone(Reply::NotStored)?,
        b"EXISTS" => alone(Reply::Exists)?,
        b"TOUCHED" => alone(Reply::Touched)?,
        b"OK" => alone(Reply::Ok)?,
        b"RESET" => alone(Reply::Reset)?,
        b"STAT" => Reply::Stat {
            name: words.next().ok_or(bad(Because::Form))?,
            value: words.rest(),
        },
        b"VERSION" => Reply::Version(words.rest()),
        b"BUSY" => Reply::Busy(words.rest()),
        b"BADCLASS" => Reply::BadClass(words.rest()),
        b"ME" => Reply::MetaDebug {
            key: words.next().ok_or(bad(Because::Form))?,
            facts: words.rest(),
        },
        b"ERROR" => Reply::Error(words.rest()),
        b"CLIENT_ERROR" => Reply::ClientError(words.rest()),
        b"SERVER_ERROR" => Reply::ServerError(words.rest()),
        _ if word.starts_with(b"key=") => {
            Reply::Dumped(DumpedItem::parse(line.text, limits).map_err(bad)?)
        }
        _ if word[0].is_ascii_digit() => alone(Reply::Number(
            decimal::read(word).ok_or(bad(Because::Number))?,
        ))?,
        _ => return Err(bad(Because::UnknownWord)),
    };
    Ok((reply, line.bytes))
}

/// After a bad line of a value nobody knows where it ends, so there is nothing to leave out.
#[inline]
fn parse_value<'a>(
    bytes: &'a [u8],
    line: &Line<'a>,
    mut words: Words<'a>,
    limits: &Limits,
) -> Result<(Reply<'a>, usize), Halt> {
    let lost = |because| Halt::bad(because, None);
    let mut word = || words.next().ok_or(lost(Because::Form));
    let key = word()?;
    if key.len() > limits.key_bytes {
        return Err(lost(Because::KeyTooLong));
    }
    let flags = decimal::read_u32(word()?).ok_or(lost(Because::Number))?;
    let length = decimal::read(word()?).ok_or(lost(Because::Number))?;
    let cas = match words.next() {
        Some(word) => Some(decimal::read(word).ok_or(lost(Because::Number))?),
        None => None,
    };
    if words.next().is_some() {
        return Err(lost(Because::Form));
    }
    let (value, end) = value(bytes, line.bytes, length, limits)?;
    let reply = Reply::Value {
        key,
        flags,
        cas,
        value,
    };
    Ok((reply, end))
}

fn parse_meta_value<'a>(
    bytes: &'a [u8],
    line: &Line<'a>,
    mut words: Words<'a>,
    limits: &Limits,
) -> Result<(Reply<'a>, usize), Halt> {
    let lost = |because| Halt::bad(because, None);
    let length = words.next().ok_or(lost(Because::Form))?;
    let length = decimal::read(length).ok_or(lost(Because::Number))?;
    let flags = MetaFlags::listed(words.0).ok_or(lost(Because::Form))?;
    let (value, end) = value(bytes, line.bytes, length, limits)?;
    Ok((Reply::MetaValue { flags, value }, end))
}
