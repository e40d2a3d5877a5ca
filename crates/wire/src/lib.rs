//! Sans-IO codecs of the wire protocols, one module a protocol. A codec looks at the bytes that
//! are there and says one of three things: a whole message of so many bytes, not enough yet, or
//! bad and why. It borrows from those bytes and writes into a buffer of the caller, so it
//! allocates nothing.
//!
//! It opens no socket, holds no state between messages, and knows nothing of stores or loads.

mod crlf;
mod decimal;
mod find;
pub mod http;
pub mod memcached;
pub mod resp;

use std::fmt;

/// What the bytes at hand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<T> {
    /// A whole message, and how many bytes it took.
    Complete(T, usize),
    /// The beginning of a message; more bytes may complete it.
    NeedMore,
    /// Not a message, whatever comes after.
    Bad(BadWire),
}

impl<T> Parsed<T> {
    /// The same about another message.
    #[inline]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Parsed<U> {
        match self {
            Parsed::Complete(message, bytes) => Parsed::Complete(f(message), bytes),
            Parsed::NeedMore => Parsed::NeedMore,
            Parsed::Bad(bad) => Parsed::Bad(bad),
        }
    }
}

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadWire {
    /// What is wrong with them.
    pub because: Because,
    /// How many bytes to leave out to find the next message, where that is known. `None` means
    /// that the stream can no longer be followed.
    pub skip: Option<usize>,
}

/// What can be wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// It begins with a word that the protocol does not have.
    UnknownWord,
    /// It has too few, too many or wrong parts.
    Form,
    /// A number is not one, or too large.
    Number,
    /// A key is longer than allowed.
    KeyTooLong,
    /// A key has a byte that a key may not have.
    KeyByte,
    /// A value is longer than allowed.
    ValueTooLong,
    /// A value does not end where its length says.
    ValueEnd,
    /// A line is longer than allowed.
    LineTooLong,
    /// A line has a byte that a line may not have, or an end that is none.
    LineEnd,
    /// It has more parts than allowed.
    TooManyParts,
    /// Its parts have parts to a greater depth than allowed.
    TooDeep,
    /// It is longer than allowed, all its parts together.
    TooLong,
    /// It is sent in pieces without saying how many, which is not read here.
    Streamed,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Because::UnknownWord => "it begins with an unknown word",
            Because::Form => "it has too few, too many or wrong parts",
            Because::Number => "a number is not one or is too large",
            Because::KeyTooLong => "a key is too long",
            Because::KeyByte => "a key has a byte that is not allowed",
            Because::ValueTooLong => "a value is too long",
            Because::ValueEnd => "a value does not end where its length says",
            Because::LineTooLong => "a line is too long",
            Because::LineEnd => "a line does not end as a line does",
            Because::TooManyParts => "it has too many parts",
            Because::TooDeep => "its parts have parts to too great a depth",
            Because::TooLong => "it is too long",
            Because::Streamed => "it is sent in pieces without saying how many",
        })
    }
}

/// The longest parts that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of a key.
    pub key_bytes: usize,
    /// Of a value.
    pub value_bytes: usize,
    /// Of a line, without its end: what bounds a request for many keys.
    pub line_bytes: usize,
    /// Of a message that has parts, all of them together.
    pub message_bytes: usize,
    /// How many parts a message, or a part of one, may have.
    pub parts: usize,
    /// How deep parts may stand in parts; never above [`resp::MAX_DEPTH`].
    pub depth: usize,
}

impl Default for Limits {
    /// What memcached allows by default, lines of 1 MiB, and messages of 64 MiB with a million
    /// parts.
    fn default() -> Limits {
        Limits {
            key_bytes: memcached::MAX_KEY_BYTES,
            value_bytes: 1 << 20,
            line_bytes: 1 << 20,
            message_bytes: 64 << 20,
            parts: 1 << 20,
            depth: 16,
        }
    }
}

/// Why a parser inside this crate stops, so that `?` reads well; [`Parsed`] is the public face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    NeedMore,
    Bad(BadWire),
}

impl Halt {
    fn bad(because: Because, skip: Option<usize>) -> Halt {
        Halt::Bad(BadWire { because, skip })
    }
}

impl<T> From<Result<(T, usize), Halt>> for Parsed<T> {
    #[inline]
    fn from(result: Result<(T, usize), Halt>) -> Parsed<T> {
        match result {
            Ok((message, bytes)) => Parsed::Complete(message, bytes),
            Err(Halt::NeedMore) => Parsed::NeedMore,
            Err(Halt::Bad(bad)) => Parsed::Bad(bad),
        }
    }
}
