//! Strings: read, written, lengthened.

use super::call::{Call, Outcome, SYNTAX, TOO_LONG};
use super::keys::{Unit, expiry};
use crate::floor::conversation::REPLY_LIMIT;

pub(super) fn get(call: &mut Call<'_, '_>) -> Outcome {
    call.value(call.argument(1));
    Ok(())
}

pub(super) fn mget(call: &mut Call<'_, '_>) -> Outcome {
    call.array(call.request.len() - 1);
    for key in call.arguments(1) {
        call.value(key);
        if call.out.len() > REPLY_LIMIT {
            // It is hung up on for this.
            break;
        }
    }
    Ok(())
}

/// What may be asked of a write.
#[derive(Default)]
struct Ways {
    only_new: bool,
    only_there: bool,
    get: bool,
    keep: bool,
    expires_ms: Option<u64>,
}

impl Ways {
    fn of(call: &Call<'_, '_>, from: usize) -> Result<Ways, &'static str> {
        let mut ways = Ways::default();
        let mut words = call.arguments(from);
        while let Some(word) = words.next() {
            match word.to_ascii_uppercase().as_slice() {
                b"NX" if !ways.only_there => ways.only_new = true,
                b"XX" if !ways.only_new => ways.only_there = true,
                b"GET" => ways.get = true,
                b"KEEPTTL" if ways.expires_ms.is_none() => ways.keep = true,
                word if ways.expires_ms.is_none() && !ways.keep => {
                    let unit = Unit::named(word).ok_or(SYNTAX)?;
                    let time = words.next().ok_or(SYNTAX)?;
                    let now_ms = call.service.memory.now_ms;
                    ways.expires_ms = Some(expiry(time, unit, now_ms, call.request.name())?);
                }
                _ => return Err(SYNTAX),
            }
        }
        Ok(ways)
    }
}

pub(super) fn set(call: &mut Call<'_, '_>) -> Outcome {
    let (key, value) = (call.argument(1), call.argument(2));
    if call.request.len() == 3 {
        call.put(key, value, 0)?;
        return call.ok();
    }
    let ways = Ways::of(call, 3)?;
    let there = match ways.get {
        true => call.value(key),
        false => call.service.memory.find(key).is_some(),
    };
    if ways.only_new && there || ways.only_there && !there {
        return if ways.get { Ok(()) } else { call.null() };
    }
    let kept_ms = match ways.keep {
        true => call.service.memory.find(key).map(|item| item.expires_ms()),
        false => None,
    };
    let expires_ms = ways.expires_ms.or(kept_ms).unwrap_or(0);
    call.put(key, value, expires_ms)?;
    if ways.get { Ok(()) } else { call.ok() }
}

fn set_until(call: &mut Call<'_, '_>, unit: Unit) -> Outcome {
    let now_ms = call.service.memory.now_ms;
    let expires_ms = expiry(call.argument(2), unit, now_ms, call.request.name())?;
    call.put(call.argument(1), call.argument(3), expires_ms)?;
    call.ok()
}

pub(super) fn setex(call: &mut Call<'_, '_>) -> Outcome {
    set_until(call, Unit::Seconds)
}

pub(super) fn psetex(call: &mut Call<'_, '_>) -> Outcome {
    set_until(call, Unit::Milliseconds)
}

pub(super) fn setnx(call: &mut Call<'_, '_>) -> Outcome {
    let key = call.argument(1);
    let is_new = call.service.memory.find(key).is_none();
    if is_new {
        call.put(key, call.argument(2), 0)?;
    }
    call.integer(is_new.into())
}

fn put_all(call: &mut Call<'_, '_>) -> Outcome {
    let mut words = call.arguments(1);
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        call.put(key, value, 0)?;
    }
    Ok(())
}

/// Names and values come in pairs.
fn in_pairs(call: &Call<'_, '_>, otherwise: &'static str) -> Outcome {
    match call.request.len() % 2 {
        1 => Ok(()),
        _ => Err(otherwise),
    }
}

pub(super) fn mset(call: &mut Call<'_, '_>) -> Outcome {
    in_pairs(call, "ERR wrong number of arguments for 'mset' command")?;
    put_all(call)?;
    call.ok()
}

pub(super) fn msetnx(call: &mut Call<'_, '_>) -> Outcome {
    in_pairs(call, "ERR wrong number of arguments for 'msetnx' command")?;
    let memory = &mut call.service.memory;
    let all_new = call
        .request
        .iter()
        .skip(1)
        .step_by(2)
        .all(|key| memory.find(key).is_none());
    if all_new {
        put_all(call)?;
    }
    call.integer(all_new.into())
}

pub(super) fn getset(call: &mut Call<'_, '_>) -> Outcome {
    call.value(call.argument(1));
    call.put(call.argument(1), call.argument(2), 0)
}

pub(super) fn getdel(call: &mut Call<'_, '_>) -> Outcome {
    let key = call.argument(1);
    if call.value(key) {
        call.service.delete(key);
    }
    Ok(())
}

pub(super) fn getex(call: &mut Call<'_, '_>) -> Outcome {
    let (key, way) = (call.argument(1), call.argument(2).to_ascii_uppercase());
    let expires_ms = match (call.request.len(), way.as_slice()) {
        (2, _) => None,
        (3, b"PERSIST") => Some(0),
        (4, word) => {
            let unit = Unit::named(word).ok_or(SYNTAX)?;
            let now_ms = call.service.memory.now_ms;
            Some(expiry(call.argument(3), unit, now_ms, b"getex")?)
        }
        _ => return Err(SYNTAX),
    };
    call.value(key);
    if let (Some(expires_ms), Some(item)) = (expires_ms, call.service.memory.find(key)) {
        item.expire_at(expires_ms);
    }
    Ok(())
}

pub(super) fn append(call: &mut Call<'_, '_>) -> Outcome {
    let (key, more) = (call.argument(1), call.argument(2));
    let Some(item) = call.service.memory.find(key) else {
        call.put(key, more, 0)?;
        return call.integer(more.len() as i64);
    };
    let longer = [item.value(), more].concat();
    if longer.len() > super::LIMITS.value_bytes {
        return Err(TOO_LONG);
    }
    if !call.service.memory.has_room(key, more.len()) {
        return Err(super::call::NO_ROOM);
    }
    call.service.memory.change(key, &longer);
    call.service.counters.cmd_set += 1;
    call.service.counters.total_items += 1;
    call.integer(longer.len() as i64)
}

pub(super) fn strlen(call: &mut Call<'_, '_>) -> Outcome {
    let length = call
        .look_up(call.argument(1))
        .map_or(0, |item| item.value().len());
    call.integer(length as i64)
}
