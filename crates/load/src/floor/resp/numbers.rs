//! Strings that are numbers: added to, taken from.

use super::call::{Call, NO_NUMBER, Outcome, integer};

const OVERFLOW: &str = "ERR increment or decrement would overflow";

/// Counted as memcached counts it: what was not there was missed, though Redis then makes it.
fn add(call: &mut Call<'_, '_>, delta: i64) -> Outcome {
    let is_less = delta < 0;
    let key = call.argument(1);
    let Some(item) = call.service.memory.find(key) else {
        call.create(key, delta.to_string().as_bytes(), 0)?;
        call.service.counters.number_missed(is_less);
        return call.integer(delta);
    };
    let number = integer(item.value()).ok_or(NO_NUMBER)?;
    let number = number.checked_add(delta).ok_or(OVERFLOW)?;
    call.service
        .memory
        .change(key, number.to_string().as_bytes());
    call.service.counters.number_changed(is_less);
    call.integer(number)
}

pub(super) fn incr(call: &mut Call<'_, '_>) -> Outcome {
    add(call, 1)
}

pub(super) fn decr(call: &mut Call<'_, '_>) -> Outcome {
    add(call, -1)
}

pub(super) fn incrby(call: &mut Call<'_, '_>) -> Outcome {
    add(call, call.number(2)?)
}

pub(super) fn decrby(call: &mut Call<'_, '_>) -> Outcome {
    let delta = call.number(2)?.checked_neg();
    add(call, delta.ok_or("ERR decrement would overflow")?)
}
