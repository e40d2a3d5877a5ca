//! Bodies, piece by piece as they come, however long they are.

use super::headers::Headers;
use crate::crlf::{bad, line, line_end};
use crate::{Because, Halt, Limits, Parsed};

/// What follows a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    None,
    /// So many bytes.
    Length(u64),
    /// Chunks, each with its length, and a last one of length 0.
    Chunked,
    /// All that comes until the connection is closed.
    UntilClose,
}

/// A piece of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Bytes of it.
    Data(&'a [u8]),
    /// Its end. After chunks, with what headers followed them.
    End(Option<Headers<'a>>),
}

/// A body that is being read.
#[derive(Clone, Copy, Debug)]
pub struct BodyReader {
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many bytes are to come.
    Data(u64),
    /// The length of a chunk is to come.
    ChunkHead,
    /// So many bytes of a chunk are to come.
    Chunk(u64),
    /// The line end of a chunk is to come.
    ChunkEnd,
    /// What follows the last chunk is to come.
    Trailers,
    UntilClose,
}

impl BodyReader {
    /// Begins behind the head.
    pub fn new(body: Body) -> BodyReader {
        BodyReader {
            state: match body {
                Body::None => State::Data(0),
                Body::Length(length) => State::Data(length),
                Body::Chunked => State::ChunkHead,
                Body::UntilClose => State::UntilClose,
            },
        }
    }

    /// The next piece of the bytes behind what was taken so far: as much as is there. The end
    /// takes no bytes unless chunks were read; a body without a known end has none.
    ///
    /// The limit on a line is that on the length of a chunk with what may stand beside it, the
    /// others are those on the headers behind the last chunk.
    pub fn next<'a>(&mut self, bytes: &'a [u8], limits: &Limits) -> Parsed<Piece<'a>> {
        self.step(bytes, limits).into()
    }

    fn step<'a>(&mut self, bytes: &'a [u8], limits: &Limits) -> Result<(Piece<'a>, usize), Halt> {
        let mut at = 0;
        // The state is changed only together with what is taken, so that after too few bytes the
        // same bytes and more can be given again.
        let mut state = self.state;
        loop {
            match state {
                State::Data(0) => return Ok((Piece::End(None), at)),
                State::Data(left) => {
                    let (piece, left) = take(bytes, left)?;
                    self.state = State::Data(left);
                    return Ok((Piece::Data(piece), piece.len()));
                }
                State::UntilClose => {
                    let (piece, _) = take(bytes, u64::MAX)?;
                    return Ok((Piece::Data(piece), piece.len()));
                }
                State::ChunkHead => {
                    let (text, next) = line(bytes, at, limits)?;
                    at = next;
                    state = match length(text).ok_or(bad(Because::Number))? {
                        0 => State::Trailers,
                        length => State::Chunk(length),
                    };
                }
                State::Chunk(left) => {
                    let (piece, left) = take(&bytes[at..], left)?;
                    self.state = match left {
                        0 => State::ChunkEnd,
                        left => State::Chunk(left),
                    };
                    return Ok((Piece::Data(piece), at + piece.len()));
                }
                State::ChunkEnd => {
                    at = line_end(bytes, at, Because::ValueEnd)?;
                    state = State::ChunkHead;
                }
                State::Trailers => {
                    let (trailers, end) = Headers::parse(&bytes[at..], 0, limits)?;
                    self.state = State::Data(0);
                    return Ok((Piece::End(Some(trailers)), at + end));
                }
            }
        }
    }
}

/// As many bytes as are there, at most `left`; and how many are left then.
fn take(bytes: &[u8], left: u64) -> Result<(&[u8], u64), Halt> {
    if bytes.is_empty() {
        return Err(Halt::NeedMore);
    }
    let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
    Ok((&bytes[..here], left - here as u64))
}

/// The length of a chunk: 1 to 16 hexadecimal digits; what an extension says is passed over.
fn length(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit());
    let (digits, rest) = line.split_at(end.unwrap_or(line.len()));
    // Blanks are let stand before a `;` only: elsewhere somebody could read another number.
    let extension = rest.trim_ascii_start();
    let fine = rest.is_empty() || extension.starts_with(b";");
    if digits.is_empty() || digits.len() > 16 || !fine || !super::headers::is_value(rest) {
        return None;
    }
    digits.iter().try_fold(0u64, |length, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(length << 4 | u64::from(digit))
    })
}
