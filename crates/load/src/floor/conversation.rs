//! What is said with one client of the floor: bytes in, bytes out, and the request whose time has
//! not come. How the bytes travel is not known here.

use super::answer::{Service, refusal};
use super::faults::Fate;
use super::resp::{self, Session};
use crate::clock;
use roundtrip_wire::memcached::Request;
use roundtrip_wire::{Limits, Parsed, resp as wire};

/// With so much unsent nothing more is answered: a client that does not take its replies may not
/// fill our memory.
pub(super) const UNSENT_LIMIT: usize = 1 << 20;
/// The longest reply to one request; whoever asks for more is hung up on.
pub(super) const REPLY_LIMIT: usize = 64 << 20;
/// So much is taken in while a request waits for its moment, so that the arrival of the one after
/// it can be told.
const WAITING_LIMIT: usize = 256 << 10;
/// A buffer that grew beyond this is given back once it is empty.
const KEPT_BYTES: usize = 256 << 10;

#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// What came and was not answered: `input[start..]`.
    input: Vec<u8>,
    start: usize,
    output: Vec<u8>,
    sent: usize,
    /// The fate of the request at the front, once its turn has come.
    pending: Option<Fate>,
    arrived_ns: u64,
    free_at_ns: u64,
    closing: bool,
    language: Language,
    /// Whether answering stopped because too much is unsent.
    full: bool,
}

/// What a client speaks.
#[derive(Debug, Default)]
enum Language {
    /// It has not said anything.
    #[default]
    Unheard,
    Memcached,
    Resp(Box<Session>),
}

/// What became of the request at the front.
enum Step {
    /// It took so many bytes.
    Took(usize),
    /// It is not all there, or its moment has not come, or no more is to be said.
    Waits,
}

impl Conversation {
    /// When the request at the front is due, if it waits for that.
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.pending.map(|fate| fate.due_ns)
    }

    /// Whether more is to be read now.
    pub(super) fn wants_input(&self) -> bool {
        match self.pending {
            Some(_) => self.input.len() - self.start < WAITING_LIMIT,
            None => self.unsent().len() < UNSENT_LIMIT,
        }
    }

    /// What is to be sent.
    pub(super) fn unsent(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// Notes that so much of it was sent.
    #[inline]
    pub(super) fn was_sent(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.output.len() {
            self.sent = 0;
            give_back(&mut self.output);
        }
    }

    /// Moves what is to be sent, all of it, to whoever sends it.
    #[inline]
    pub(super) fn take_unsent(&mut self, into: &mut Vec<u8>) {
        give_back(into);
        std::mem::swap(&mut self.output, into);
    }

    /// Whether nothing is to be done when what was said is sent.
    #[inline]
    pub(super) fn is_at_rest(&self) -> bool {
        !self.full && !self.closing
    }

    /// Whether nothing more is to be said once all is sent.
    pub(super) fn is_over(&self) -> bool {
        self.closing && self.unsent().is_empty()
    }

    /// Whether more can be answered once some of what is unsent is sent.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Takes what came, and answers what is due.
    #[inline]
    pub(super) fn receive(&mut self, bytes: &[u8], service: &mut Service) {
        service.counters.bytes_read += bytes.len() as u64;
        // What comes while a request waits has its turn after that one, whenever it came.
        if service.faults.concern_requests() && self.pending.is_none() {
            self.arrived_ns = clock::now_ns();
        }
        if self.input.is_empty() {
            let used = self.answer(bytes, service);
            if used < bytes.len() {
                self.input.extend_from_slice(&bytes[used..]);
            }
        } else {
            self.input.extend_from_slice(bytes);
            self.go_on(service);
        }
    }

    /// Answers what is due of what came before.
    pub(super) fn go_on(&mut self, service: &mut Service) {
        let input = std::mem::take(&mut self.input);
        let used = self.answer(&input[self.start..], service);
        self.input = input;
        self.start += used;
        if self.start == self.input.len() {
            self.start = 0;
            give_back(&mut self.input);
        } else if self.start > self.input.len() / 2 {
            self.input.drain(..self.start);
            self.start = 0;
        }
    }

    /// Answers requests in order; says how many bytes they took.
    fn answer(&mut self, bytes: &[u8], service: &mut Service) -> usize {
        let mut used = 0;
        self.full = false;
        if let (Language::Unheard, Some(first)) = (&self.language, bytes.first()) {
            self.language = match service.protocols.is_resp(*first) {
                true => {
                    service.last_id += 1;
                    Language::Resp(Box::new(Session::new(service.last_id)))
                }
                false => Language::Memcached,
            };
        }
        while used < bytes.len() && !self.closing {
            if self.unsent().len() >= UNSENT_LIMIT {
                self.full = true;
                break;
            }
            let rest = &bytes[used..];
            let quickly = self.answer_quickly(rest, service);
            if quickly > 0 {
                used += quickly;
                continue;
            }
            match self.step(rest, service) {
                Step::Took(bytes) => used += bytes,
                Step::Waits => break,
            }
        }
        used
    }

    /// Answers the requests at the front that are of the most common, if nothing is done wrong;
    /// says how many bytes they took.
    #[inline]
    fn answer_quickly(&mut self, bytes: &[u8], service: &mut Service) -> usize {
        if !service.is_plain {
            return 0;
        }
        match &self.language {
            Language::Resp(session) if session.is_queueing() => 0,
            Language::Resp(session) => {
                service.command_quickly(bytes, session.null(), &mut self.output)
            }
            _ => service.get_quickly(bytes, &mut self.output),
        }
    }

    fn step(&mut self, bytes: &[u8], service: &mut Service) -> Step {
        match std::mem::take(&mut self.language) {
            Language::Resp(mut session) => {
                let step = self.step_of_resp(bytes, &mut session, service);
                self.closing |= session.quits();
                self.language = Language::Resp(session);
                step
            }
            _ => {
                self.language = Language::Memcached;
                self.step_of_memcached(bytes, service)
            }
        }
    }

    fn step_of_memcached(&mut self, bytes: &[u8], service: &mut Service) -> Step {
        match Request::parse(bytes, &Limits::default()) {
            Parsed::Complete(Request::Quit, took) => {
                self.closing = true;
                Step::Took(took)
            }
            Parsed::Complete(request, took) => {
                let answer = |service: &mut Service, out: &mut _| service.answer(&request, out);
                self.in_its_time(is_of_data(&request), took, service, answer)
            }
            Parsed::NeedMore => Step::Waits,
            Parsed::Bad(bad) => {
                refusal(bad).write(&mut self.output);
                self.closing = bad.skip.is_none();
                Step::Took(bad.skip.unwrap_or(0))
            }
        }
    }

    fn step_of_resp(&mut self, bytes: &[u8], session: &mut Session, service: &mut Service) -> Step {
        match wire::Request::parse(bytes, &resp::LIMITS) {
            // An empty line is nothing that was asked.
            Parsed::Complete(request, took) if request.is_empty() => Step::Took(took),
            Parsed::Complete(request, took) => {
                let answer = |service: &mut Service, out: &mut _| {
                    service.answer_command(request, session, out);
                };
                self.in_its_time(resp::is_of_data(&request), took, service, answer)
            }
            Parsed::NeedMore => Step::Waits,
            Parsed::Bad(bad) => {
                resp::refusal(bad, &mut self.output);
                self.closing = true;
                Step::Waits
            }
        }
    }

    /// Has the request at the front, which takes so many bytes, answered as its fate will have it.
    fn in_its_time(
        &mut self,
        is_of_data: bool,
        bytes: usize,
        service: &mut Service,
        answer: impl FnOnce(&mut Service, &mut Vec<u8>),
    ) -> Step {
        let mut double = false;
        if service.faults.concern_requests() && is_of_data {
            let turn_ns = self.arrived_ns.max(self.free_at_ns);
            let fate = *self
                .pending
                .get_or_insert_with(|| service.faults.next_request(turn_ns));
            if fate.due_ns > clock::now_ns() {
                return Step::Waits;
            }
            self.pending = None;
            self.free_at_ns = fate.due_ns;
            if fate.drop {
                service.faults.done.dropped += 1;
                self.closing = true;
                return Step::Waits;
            }
            service.faults.answered(fate.due_ns);
            double = fate.double;
        }
        service.counters.requests += 1;
        let before = self.output.len();
        answer(service, &mut self.output);
        if double && self.output.len() > before {
            self.output.extend_from_within(before..);
            service.faults.done.doubled += 1;
        }
        if self.output.len() - before > REPLY_LIMIT {
            self.output.truncate(before);
            self.closing = true;
        }
        Step::Took(bytes)
    }
}

/// Empties a buffer, and gives its memory back if it is more than a usual exchange needs.
#[inline]
fn give_back(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT_BYTES {
        *buffer = Vec::new();
    }
}

/// Whether a request is one that faults concern: those that ask about the server are not, so that
/// a witness can always read its counters.
fn is_of_data(request: &Request<'_>) -> bool {
    !matches!(
        request,
        Request::Stats(_)
            | Request::Version
            | Request::Metadump
            | Request::MetaNoop
            | Request::Administer { .. }
            | Request::Quit
    )
}

#[cfg(test)]
mod tests;
