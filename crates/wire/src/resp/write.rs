//! The writing of commands, and of what replies are made of.

use super::Aggregate;
use crate::decimal;

/// Appends a command with its arguments, its name first.
#[inline]
pub fn write_command(out: &mut Vec<u8>, arguments: &[&[u8]]) {
    push_head(out, b'*', arguments.len());
    for argument in arguments {
        push_blob(out, b'$', argument);
    }
}

/// Appends `GET key`.
#[inline]
pub fn write_get(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b"*2\r\n$3\r\nGET\r\n");
    push_blob(out, b'$', key);
}

/// Appends `SET key value`.
#[inline]
pub fn write_set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    out.extend_from_slice(b"*3\r\n$3\r\nSET\r\n");
    push_blob(out, b'$', key);
    push_blob(out, b'$', value);
}

/// Appends the head of a reply with parts, which the caller appends next: as many as `count`, or
/// two for each where they are names and what they stand for.
#[inline]
pub fn write_aggregate(out: &mut Vec<u8>, kind: Aggregate, count: usize) {
    push_head(out, kind.marker(), count);
}

#[inline]
fn push_head(out: &mut Vec<u8>, marker: u8, count: usize) {
    out.push(marker);
    decimal::push(out, count as u64);
    out.extend_from_slice(b"\r\n");
}

#[inline]
pub(super) fn push_blob(out: &mut Vec<u8>, marker: u8, blob: &[u8]) {
    push_head(out, marker, blob.len());
    out.extend_from_slice(blob);
    out.extend_from_slice(b"\r\n");
}

#[inline]
pub(super) fn push_line(out: &mut Vec<u8>, marker: u8, text: &[u8]) {
    out.push(marker);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}
