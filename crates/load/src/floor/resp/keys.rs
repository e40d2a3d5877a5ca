//! Keys of any kind: whether they are there, and for how long.

use super::call::{Call, NO_NUMBER, Outcome, integer};

/// What a time is counted in, and from where.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
    UnixSeconds,
    UnixMilliseconds,
}

impl Unit {
    /// The unit that an option of a write names, in capital letters.
    pub(super) fn named(word: &[u8]) -> Option<Unit> {
        Some(match word {
            b"EX" => Unit::Seconds,
            b"PX" => Unit::Milliseconds,
            b"EXAT" => Unit::UnixSeconds,
            b"PXAT" => Unit::UnixMilliseconds,
            _ => return None,
        })
    }

    /// The Unix millisecond that a time means.
    fn moment_ms(self, time: i64, now_ms: u64) -> Option<i64> {
        let (factor, from) = match self {
            Unit::Seconds => (1000, now_ms as i64),
            Unit::Milliseconds => (1, now_ms as i64),
            Unit::UnixSeconds => (1000, 0),
            Unit::UnixMilliseconds => (1, 0),
        };
        time.checked_mul(factor)?.checked_add(from)
    }
}

/// The Unix millisecond that a time of a write means. One that is not in the future is refused as
/// Redis refuses it, with the name of the command.
pub(super) fn expiry(
    time: &[u8],
    unit: Unit,
    now_ms: u64,
    command: &[u8],
) -> Result<u64, &'static str> {
    let time = integer(time).ok_or(NO_NUMBER)?;
    let moment = unit.moment_ms(time, now_ms).filter(|_| time > 0);
    moment
        .and_then(|moment| u64::try_from(moment).ok())
        .ok_or(invalid(command))
}

fn invalid(command: &[u8]) -> &'static str {
    match command.to_ascii_lowercase().as_slice() {
        b"set" => "ERR invalid expire time in 'set' command",
        b"setex" => "ERR invalid expire time in 'setex' command",
        b"psetex" => "ERR invalid expire time in 'psetex' command",
        b"expire" => "ERR invalid expire time in 'expire' command",
        b"pexpire" => "ERR invalid expire time in 'pexpire' command",
        b"getex" => "ERR invalid expire time in 'getex' command",
        _ => "ERR invalid expire time",
    }
}

pub(super) fn del(call: &mut Call<'_, '_>) -> Outcome {
    let keys = call.request.iter().skip(1);
    let removed = keys.filter(|key| call.service.delete(key)).count();
    call.integer(removed as i64)
}

pub(super) fn exists(call: &mut Call<'_, '_>) -> Outcome {
    let keys = call.arguments(1);
    let there = keys.filter(|key| call.look_up(key).is_some()).count();
    call.integer(there as i64)
}

pub(super) fn kind(call: &mut Call<'_, '_>) -> Outcome {
    match call.look_up(call.argument(1)).is_some() {
        true => call.simple("string"),
        false => call.simple("none"),
    }
}

fn expire_in(call: &mut Call<'_, '_>, unit: Unit) -> Outcome {
    let key = call.argument(1);
    let moment = unit.moment_ms(call.number(2)?, call.service.memory.now_ms);
    let moment = moment.ok_or(invalid(call.request.name()))?;
    let now_ms = call.service.memory.now_ms;
    let condition = call.argument(3).to_ascii_uppercase();
    if !matches!(condition.as_slice(), b"" | b"NX" | b"XX" | b"GT" | b"LT") {
        let option = String::from_utf8_lossy(call.argument(3)).into_owned();
        call.error(&format!("ERR Unsupported option {option}"));
        return Ok(());
    }
    let Some(item) = call.service.memory.find(key) else {
        return call.integer(0);
    };
    // Without an end it is as if it ended after all others.
    let before = if item.expires_ms() == 0 {
        u64::MAX
    } else {
        item.expires_ms()
    };
    let after = u64::try_from(moment).unwrap_or(0);
    let wanted = match condition.as_slice() {
        b"NX" => item.expires_ms() == 0,
        b"XX" => item.expires_ms() != 0,
        b"GT" => after > before,
        b"LT" => after < before,
        _ => true,
    };
    if wanted {
        item.expire_at(after.max(1));
        if after <= now_ms {
            call.service.memory.remove(key);
        }
    }
    call.integer(wanted.into())
}

pub(super) fn expire(call: &mut Call<'_, '_>) -> Outcome {
    expire_in(call, Unit::Seconds)
}

pub(super) fn pexpire(call: &mut Call<'_, '_>) -> Outcome {
    expire_in(call, Unit::Milliseconds)
}

pub(super) fn expireat(call: &mut Call<'_, '_>) -> Outcome {
    expire_in(call, Unit::UnixSeconds)
}

pub(super) fn pexpireat(call: &mut Call<'_, '_>) -> Outcome {
    expire_in(call, Unit::UnixMilliseconds)
}

pub(super) fn persist(call: &mut Call<'_, '_>) -> Outcome {
    let item = call.service.memory.find(call.argument(1));
    let persists = item.is_some_and(|item| {
        let had_end = item.expires_ms() != 0;
        item.expire_at(0);
        had_end
    });
    call.integer(persists.into())
}

/// The milliseconds that are left; -1 for all time, -2 where nothing is.
fn left_ms(call: &mut Call<'_, '_>) -> i64 {
    let now_ms = call.service.memory.now_ms;
    match call.look_up(call.argument(1)) {
        None => -2,
        Some(item) if item.expires_ms() == 0 => -1,
        Some(item) => (item.expires_ms() - now_ms) as i64,
    }
}

pub(super) fn ttl(call: &mut Call<'_, '_>) -> Outcome {
    let left_ms = left_ms(call);
    call.integer(if left_ms < 0 {
        left_ms
    } else {
        (left_ms + 500) / 1000
    })
}

pub(super) fn pttl(call: &mut Call<'_, '_>) -> Outcome {
    let left_ms = left_ms(call);
    call.integer(left_ms)
}
