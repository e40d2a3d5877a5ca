//! The first line and the headers of a message.

use super::body::Body;
use super::headers::{Headers, is_token, is_value};
use crate::crlf::{bad, line};
use crate::{Because, Halt, Limits, Parsed, decimal};

/// Which HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 1.0: a connection is closed after each message, unless it says otherwise.
    Http10,
    /// 1.1
    Http11,
}

/// The head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// `GET` and the like, as it stands.
    pub method: &'a [u8],
    /// The path and the query, or what else stands there.
    pub target: &'a [u8],
    /// Which HTTP.
    pub version: Version,
    /// The headers.
    pub headers: Headers<'a>,
    /// What follows the head.
    pub body: Body,
    /// Whether the connection is there for another request after this one.
    pub keep_alive: bool,
}

/// The head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// Which HTTP.
    pub version: Version,
    /// 100 to 999.
    pub status: u16,
    /// The status in words; may be empty.
    pub reason: &'a [u8],
    /// The headers.
    pub headers: Headers<'a>,
    /// What follows the head.
    pub body: Body,
    /// Whether the connection is there for another request after this one.
    pub keep_alive: bool,
}

impl<'a> Request<'a> {
    /// The head of the request at the front of the bytes.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Parsed<Request<'a>> {
        parse_request(bytes, limits).into()
    }
}

impl<'a> Response<'a> {
    /// The head of the response at the front of the bytes. Whoever asked with `HEAD` says so: such
    /// a response has no body, whatever its headers say.
    pub fn parse(bytes: &'a [u8], to_head: bool, limits: &Limits) -> Parsed<Response<'a>> {
        parse_response(bytes, to_head, limits).into()
    }
}

fn parse_request<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(Request<'a>, usize), Halt> {
    let (text, next) = line(bytes, 0, limits)?;
    let (method, rest) = word(text).ok_or(bad(Because::Form))?;
    let (target, rest) = word(rest).ok_or(bad(Because::Form))?;
    let version = version(rest).ok_or(bad(Because::UnknownWord))?;
    if !is_token(method) || target.is_empty() || !target.iter().all(u8::is_ascii_graphic) {
        return Err(bad(Because::Form));
    }
    let (headers, end) = Headers::parse(bytes, next, limits)?;
    let hosts = headers.all(b"host").count();
    if hosts > 1 || (hosts == 0 && version == Version::Http11) {
        return Err(bad(Because::Form));
    }
    let body = headers.body(version).map_err(bad)?.unwrap_or(Body::None);
    let request = Request {
        method,
        target,
        version,
        headers,
        body,
        keep_alive: headers.keep_alive(version),
    };
    Ok((request, end))
}

fn parse_response<'a>(
    bytes: &'a [u8],
    to_head: bool,
    limits: &Limits,
) -> Result<(Response<'a>, usize), Halt> {
    let (text, next) = line(bytes, 0, limits)?;
    let (first, rest) = word(text).ok_or(bad(Because::Form))?;
    let version = version(first).ok_or(bad(Because::UnknownWord))?;
    // The blank after the status is often left out where no reason follows.
    let (status, reason) = word(rest).unwrap_or((rest, b""));
    let status = (status.len() == 3)
        .then(|| decimal::read(status))
        .flatten()
        .and_then(|status| u16::try_from(status).ok())
        .filter(|status| *status >= 100)
        .ok_or(bad(Because::Number))?;
    if !is_value(reason) {
        return Err(bad(Because::Form));
    }
    let (headers, end) = Headers::parse(bytes, next, limits)?;
    let told = headers.body(version).map_err(bad)?;
    let has_none = to_head || matches!(status, 100..=199 | 204 | 304);
    let body = match told {
        _ if has_none => Body::None,
        Some(body) => body,
        None => Body::UntilClose,
    };
    let response = Response {
        version,
        status,
        reason,
        headers,
        body,
        keep_alive: body != Body::UntilClose && headers.keep_alive(version),
    };
    Ok((response, end))
}

fn version(text: &[u8]) -> Option<Version> {
    match text {
        b"HTTP/1.1" => Some(Version::Http11),
        b"HTTP/1.0" => Some(Version::Http10),
        _ => None,
    }
}

/// What stands before the first blank, and what stands behind it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == b' ')?;
    Some((&text[..at], &text[at + 1..]))
}
