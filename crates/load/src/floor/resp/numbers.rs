//! Strings that are numbers: added to, taken from.

use super::call::{Call, NO_NUMBER, Outcome, integer};

const OVERFLOW: &str = "ERR increment or decrement would overflow";

fn add(call: &mut Call<'_, '_>, delta: i64) -> Outcome {
    let key = call.argument(1);
    let Some(item) = call.service.memory.find(key) else {
        call.put(key, delta.to_string().as_bytes(), 0)?;
        return call.integer(delta);
    };
    let number = integer(item.value()).ok_or(NO_NUMBER)?;
    let number = number.checked_add(delta).ok_or(OVERFLOW)?;
    call.service
        .memory
        .change(key, number.to_string().as_bytes());
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
