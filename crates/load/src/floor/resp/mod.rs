//! Answers to commands of Redis: those that a client of a cache sends, as Redis 7 answers them.
//! What would empty the memory is refused, and what is not known is answered as Redis answers what
//! it does not know.

mod about;
mod call;
mod commands;
mod connection;
mod info;
mod keys;
mod numbers;
mod scan;
mod session;
mod strings;
mod transaction;

pub(super) use commands::{COMMANDS, GET};
pub(super) use session::Session;

use super::answer::Service;
use call::Call;
use commands::find;
use roundtrip_wire::resp::{Reply, Request};
use roundtrip_wire::{BadWire, Limits};

/// What is read: values as long as memcached's longest several times over, because a client of
/// Redis may send such.
pub(super) const LIMITS: Limits = Limits {
    key_bytes: 64 << 10,
    value_bytes: 16 << 20,
    line_bytes: 64 << 10,
    message_bytes: 64 << 20,
    parts: 1 << 20,
    depth: 1,
};

/// Whether faults concern a request: those that ask about the server or the connection are not
/// concerned, so that a witness can always read its counters.
pub(super) fn is_of_data(request: &Request<'_>) -> bool {
    find(request.name()).is_some_and(|(_, command)| command.is_of_data)
}

impl Service {
    /// Appends the answer to a command.
    pub(super) fn answer_command(
        &mut self,
        request: Request<'_>,
        session: &mut Session,
        out: &mut Vec<u8>,
    ) {
        let mut call = Call {
            service: self,
            session,
            request,
            out,
        };
        match find(request.name()) {
            None => {
                call.session.spoil();
                call.unknown();
            }
            Some((_, command)) if !command.takes(request.len()) => {
                call.session.spoil();
                call.wrong_number(command);
            }
            Some((_, command)) if call.session.is_queueing() && !command.is_at_once => {
                call.enqueue();
            }
            Some((number, command)) => call.run(number, command),
        }
    }
}

/// What Redis says to a message that is none, before it hangs up.
pub(super) fn refusal(bad: BadWire, out: &mut Vec<u8>) {
    Reply::Error(format!("ERR Protocol error: {}", bad.because).as_bytes()).write(out);
}
