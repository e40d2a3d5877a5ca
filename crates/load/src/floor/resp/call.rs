//! One command that is being answered: what it asks, and the ways of answering.

use super::commands::Command;
use super::session::Session;
use crate::floor::answer::Service;
use crate::floor::item::Item;
use roundtrip_wire::resp::{Aggregate, NullForm, Reply, Request, write_aggregate};
use std::fmt::Write;

/// How much of an unknown command is said back.
const SHOWN_BYTES: usize = 128;

pub(in crate::floor) struct Call<'c, 'a> {
    pub(super) service: &'c mut Service,
    pub(super) session: &'c mut Session,
    pub(super) request: Request<'a>,
    pub(super) out: &'c mut Vec<u8>,
}

/// A command that fails says why, in the words of Redis.
pub(super) type Outcome = Result<(), &'static str>;

pub(super) const SYNTAX: &str = "ERR syntax error";
pub(super) const NO_NUMBER: &str = "ERR value is not an integer or out of range";
pub(super) const NO_ROOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";
pub(super) const TOO_LONG: &str = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

impl<'a> Call<'_, 'a> {
    /// Does the command, and counts it.
    pub(super) fn run(&mut self, number: usize, command: &Command) {
        let before = self.out.len();
        if let Err(because) = (command.run)(self) {
            self.out.truncate(before);
            self.error(because);
        }
        self.service.calls[number].calls += 1;
        if self.out.get(before) == Some(&b'-') {
            self.service.calls[number].failed += 1;
        }
    }

    /// An argument; the command's name is the one at 0. The table of commands holds how many there
    /// are at least.
    pub(super) fn argument(&self, at: usize) -> &'a [u8] {
        self.request.argument(at).unwrap_or_default()
    }

    /// An argument as a number.
    pub(super) fn number(&self, at: usize) -> Result<i64, &'static str> {
        integer(self.argument(at)).ok_or(NO_NUMBER)
    }

    /// The arguments from one on.
    pub(super) fn arguments(&self, from: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.request.iter().skip(from)
    }

    pub(super) fn say(&mut self, reply: Reply<'_>) {
        reply.write(self.out);
    }

    pub(super) fn ok(&mut self) -> Outcome {
        self.simple("OK")
    }

    pub(super) fn simple(&mut self, text: &str) -> Outcome {
        self.say(Reply::Simple(text.as_bytes()));
        Ok(())
    }

    pub(super) fn integer(&mut self, number: i64) -> Outcome {
        self.say(Reply::Integer(number));
        Ok(())
    }

    pub(super) fn bulk(&mut self, bytes: &[u8]) -> Outcome {
        self.say(Reply::Bulk(bytes));
        Ok(())
    }

    /// Nothing, in the place of a string.
    pub(super) fn null(&mut self) -> Outcome {
        self.nothing(NullForm::Bulk)
    }

    /// Nothing, in the place of what this form stands for.
    pub(super) fn nothing(&mut self, form: NullForm) -> Outcome {
        let form = if self.session.three {
            NullForm::Any
        } else {
            form
        };
        self.say(Reply::Null(form));
        Ok(())
    }

    pub(super) fn error(&mut self, text: &str) {
        self.say(Reply::Error(text.as_bytes()));
    }

    pub(super) fn array(&mut self, count: usize) {
        write_aggregate(self.out, Aggregate::Array, count);
    }

    /// The head of a map, which is an array of twice as many in RESP2.
    pub(super) fn map(&mut self, count: usize) {
        match self.session.three {
            true => write_aggregate(self.out, Aggregate::Map, count),
            false => self.array(count * 2),
        }
    }

    /// A text of several lines.
    pub(super) fn text(&mut self, text: &str) -> Outcome {
        let text = text.as_bytes();
        self.say(match self.session.three {
            true => Reply::Verbatim {
                format: b"txt",
                text,
            },
            false => Reply::Bulk(text),
        });
        Ok(())
    }

    /// The item of a key that is read, which is counted.
    pub(super) fn look_up(&mut self, key: &[u8]) -> Option<&mut Item> {
        let now_ms = self.service.memory.now_ms;
        let item = self.service.memory.find(key);
        match item {
            Some(item) => {
                self.service.counters.keyspace_hits += 1;
                item.read_at(now_ms);
                Some(item)
            }
            None => {
                self.service.counters.keyspace_misses += 1;
                None
            }
        }
    }

    /// Says the value of a key, or that there is none; says whether there is one.
    pub(super) fn value(&mut self, key: &[u8]) -> bool {
        let there = self.service.say_value(key, self.out);
        if !there {
            let _ = self.null();
        }
        there
    }

    /// Writes an item, and counts that; gone at this Unix millisecond, 0 for never.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8], expires_ms: u64) -> Outcome {
        self.service.counters.cmd_set += 1;
        self.create(key, value, expires_ms)?;
        self.service.counters.total_items += 1;
        Ok(())
    }

    /// Writes an item that is not counted as a write.
    pub(super) fn create(&mut self, key: &[u8], value: &[u8], expires_ms: u64) -> Outcome {
        if key.len() > super::LIMITS.key_bytes {
            return Err("ERR the floor takes keys of at most 64 KiB");
        }
        if !self.service.memory.has_room(key, value.len()) {
            return Err(NO_ROOM);
        }
        self.service.memory.put(key, value, 0, expires_ms);
        Ok(())
    }

    pub(super) fn wrong_number(&mut self, command: &Command) {
        let name = command.name.to_ascii_lowercase();
        self.error(&format!(
            "ERR wrong number of arguments for '{name}' command"
        ));
    }

    pub(super) fn unknown(&mut self) {
        let name = shown(self.request.name());
        let mut text = format!("ERR unknown command '{name}', with args beginning with: ");
        for argument in self.arguments(1) {
            if text.len() >= SHOWN_BYTES {
                break;
            }
            let _ = write!(text, "'{}' ", shown(argument));
        }
        self.error(&text);
    }

    pub(super) fn unknown_subcommand(&mut self) -> Outcome {
        let command = String::from_utf8_lossy(self.request.name()).to_ascii_uppercase();
        let asked = shown(self.argument(1));
        self.error(&format!(
            "ERR unknown subcommand '{asked}'. Try {command} HELP."
        ));
        Ok(())
    }
}

impl Service {
    /// Says the value of a key as a string, if there is one, and counts the reading.
    #[inline]
    pub(in crate::floor) fn say_value(&mut self, key: &[u8], out: &mut Vec<u8>) -> bool {
        let now_ms = self.memory.now_ms;
        let Some(item) = self.memory.find(key) else {
            self.counters.get_misses += 1;
            self.counters.keyspace_misses += 1;
            return false;
        };
        self.counters.get_hits += 1;
        self.counters.keyspace_hits += 1;
        item.read_at(now_ms);
        item.push_bulk(out);
        self.faults.garble(out, item.value().len());
        true
    }
}

/// A number as Redis reads one: no sign but a minus, no zeros before it.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain =
        digits.first().is_some_and(u8::is_ascii_digit) && (digits[0] != b'0' || text == b"0");
    plain.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

/// The beginning of what somebody sent, on one line.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)]);
    text.replace(['\r', '\n', '\0'], " ")
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn a_number_is_read_as_redis_reads_it() {
        for (text, number) in [("0", 0), ("-1", -1), ("9223372036854775807", i64::MAX)] {
            assert_eq!(integer(text.as_bytes()), Some(number));
        }
        for text in [
            "",
            "-",
            "+1",
            "01",
            "-0",
            " 1",
            "1 ",
            "9223372036854775808",
            "1.5",
        ] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
    }
}
