//! The writing of messages. Whoever writes headers of others' making asks [`header_is_valid`]
//! first; one with a line end in it would be two.

use super::headers::{is_token, is_value};
use crate::decimal;

/// Whether a header may be written: it says nothing of the body, which the writer does itself.
pub fn header_is_valid(name: &[u8], value: &[u8]) -> bool {
    let is_framing = [b"content-length".as_slice(), b"transfer-encoding"]
        .iter()
        .any(|framing| name.eq_ignore_ascii_case(framing));
    is_token(name) && is_value(value) && !is_framing
}

/// Appends a request with its headers, `host` among them, and its body, of which the length is
/// said where there is one.
pub fn write_request(
    out: &mut Vec<u8>,
    method: &[u8],
    target: &[u8],
    headers: &[(&[u8], &[u8])],
    body: Option<&[u8]>,
) {
    out.extend_from_slice(method);
    out.push(b' ');
    out.extend_from_slice(target);
    out.extend_from_slice(b" HTTP/1.1\r\n");
    push_headers(out, headers);
    if let Some(body) = body {
        push_length(out, body.len());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body.unwrap_or_default());
}

/// Appends a response with its body.
pub fn write_response(
    out: &mut Vec<u8>,
    status: u16,
    reason: &[u8],
    headers: &[(&[u8], &[u8])],
    body: &[u8],
) {
    push_status(out, status, reason);
    push_headers(out, headers);
    push_length(out, body.len());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
}

/// Appends the head of a response whose body follows in chunks.
pub fn write_response_head(
    out: &mut Vec<u8>,
    status: u16,
    reason: &[u8],
    headers: &[(&[u8], &[u8])],
) {
    push_status(out, status, reason);
    push_headers(out, headers);
    out.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
}

/// Appends a chunk; nothing for no bytes, which would be the end.
pub fn write_chunk(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    push_hexadecimal(out, bytes.len());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends the end of chunks.
pub fn write_last_chunk(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0\r\n\r\n");
}

fn push_status(out: &mut Vec<u8>, status: u16, reason: &[u8]) {
    out.extend_from_slice(b"HTTP/1.1 ");
    decimal::push(out, status.into());
    out.push(b' ');
    out.extend_from_slice(reason);
    out.extend_from_slice(b"\r\n");
}

fn push_headers(out: &mut Vec<u8>, headers: &[(&[u8], &[u8])]) {
    for (name, value) in headers {
        debug_assert!(header_is_valid(name, value));
        out.extend_from_slice(name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
}

fn push_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(b"content-length: ");
    decimal::push(out, length as u64);
    out.extend_from_slice(b"\r\n");
}

fn push_hexadecimal(out: &mut Vec<u8>, number: usize) {
    let digits = number.checked_ilog(16).unwrap_or(0);
    for at in (0..=digits).rev() {
        let digit = (number >> (4 * at)) as u8 & 15;
        out.push(b"0123456789abcdef"[usize::from(digit)]);
    }
}
