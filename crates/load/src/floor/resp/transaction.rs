//! Commands that are done together, unless what was watched has changed.

use super::call::{Call, Outcome};
use super::commands::find;
use super::session::Queue;
use crate::floor::conversation::REPLY_LIMIT;
use roundtrip_wire::Parsed;
use roundtrip_wire::resp::{NullForm, Request, write_command};

impl Call<'_, '_> {
    /// Puts the command into the transaction that is being said.
    pub(super) fn enqueue(&mut self) {
        let Some(queue) = &mut self.session.queue else {
            return;
        };
        if !queue.has_room() {
            queue.spoilt = true;
            return self.error("ERR the floor takes transactions of at most 16 MiB");
        }
        let arguments: Vec<&[u8]> = self.request.iter().collect();
        write_command(&mut queue.bytes, &arguments);
        queue.commands += 1;
        let _ = self.simple("QUEUED");
    }
}

pub(super) fn multi(call: &mut Call<'_, '_>) -> Outcome {
    if call.session.is_queueing() {
        return Err("ERR MULTI calls can not be nested");
    }
    call.session.queue = Some(Queue::default());
    call.ok()
}

pub(super) fn exec(call: &mut Call<'_, '_>) -> Outcome {
    let queue = call.session.queue.take();
    let queue = queue.ok_or("ERR EXEC without MULTI")?;
    let watched = std::mem::take(&mut call.session.watched);
    if queue.spoilt {
        return Err("EXECABORT Transaction discarded because of previous errors.");
    }
    let unchanged = watched
        .iter()
        .all(|(key, version)| version_of(call, key) == *version);
    if !unchanged {
        return call.nothing(NullForm::Array);
    }
    call.array(queue.commands);
    let mut bytes = queue.bytes.as_slice();
    // They were parsed and found before they were put there.
    while let Parsed::Complete(request, took) = Request::parse(bytes, &super::LIMITS) {
        bytes = &bytes[took..];
        let mut one = Call {
            service: &mut *call.service,
            session: &mut *call.session,
            request,
            out: &mut *call.out,
        };
        if let Some((number, command)) = find(request.name()) {
            one.run(number, command);
        }
        if call.out.len() > REPLY_LIMIT {
            // It is hung up on for this.
            break;
        }
    }
    Ok(())
}

pub(super) fn discard(call: &mut Call<'_, '_>) -> Outcome {
    let queue = call.session.queue.take();
    queue.ok_or("ERR DISCARD without MULTI")?;
    call.session.watched.clear();
    call.ok()
}

pub(super) fn watch(call: &mut Call<'_, '_>) -> Outcome {
    if call.session.is_queueing() {
        return Err("ERR WATCH inside MULTI is not allowed");
    }
    for key in call.arguments(1) {
        if !call.session.can_watch() {
            return Err("ERR the floor watches at most 1024 keys for a connection");
        }
        let version = version_of(call, key);
        call.session.watched.push((key.into(), version));
    }
    call.ok()
}

pub(super) fn unwatch(call: &mut Call<'_, '_>) -> Outcome {
    call.session.watched.clear();
    call.ok()
}

/// The version of a key; 0 where nothing is.
fn version_of(call: &mut Call<'_, '_>, key: &[u8]) -> u64 {
    call.service.memory.find(key).map_or(0, |item| item.cas())
}
