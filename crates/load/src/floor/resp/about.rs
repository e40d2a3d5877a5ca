//! What is asked about the server; what would end or empty it.

use super::call::{Call, Outcome};
use super::commands::COMMANDS;
use super::scan::matches;
use crate::clock;
use roundtrip_wire::resp::NullForm;

/// What clients look commands up for, they know without.
pub(super) fn command(call: &mut Call<'_, '_>) -> Outcome {
    let asked = call.argument(1).to_ascii_uppercase();
    match asked.as_slice() {
        b"" => call.array(0),
        b"COUNT" => return call.integer(COMMANDS.len() as i64),
        b"DOCS" => call.map(0),
        b"LIST" => {
            call.array(COMMANDS.len());
            for command in &COMMANDS {
                call.bulk(command.name.to_ascii_lowercase().as_bytes())?;
            }
        }
        b"INFO" => {
            let asked = call.request.len() - 2;
            call.array(asked);
            for _ in 0..asked {
                call.nothing(NullForm::Array)?;
            }
        }
        _ => return call.unknown_subcommand(),
    }
    Ok(())
}

/// What the settings of a Redis would be that does what the floor does.
pub(super) fn config(call: &mut Call<'_, '_>) -> Outcome {
    if !call.argument(1).eq_ignore_ascii_case(b"GET") || call.request.len() < 3 {
        return call.unknown_subcommand();
    }
    let limit = call.service.memory.limit_bytes().to_string();
    let settings = [
        ("save", ""),
        ("appendonly", "no"),
        ("maxmemory", limit.as_str()),
        ("maxmemory-policy", "noeviction"),
        ("databases", "1"),
        ("io-threads", "1"),
    ];
    let asked: Vec<_> = settings
        .iter()
        .filter(|(name, _)| call.arguments(2).any(|glob| matches(glob, name.as_bytes())))
        .collect();
    call.map(asked.len());
    for (name, value) in asked {
        call.bulk(name.as_bytes())?;
        call.bulk(value.as_bytes())?;
    }
    Ok(())
}

pub(super) fn dbsize(call: &mut Call<'_, '_>) -> Outcome {
    call.integer(call.service.memory.len() as i64)
}

pub(super) fn time(call: &mut Call<'_, '_>) -> Outcome {
    let now_ms = clock::unix_ms();
    call.array(2);
    call.bulk((now_ms / 1000).to_string().as_bytes())?;
    call.bulk((now_ms % 1000 * 1000).to_string().as_bytes())
}

pub(super) fn never_saves(_: &mut Call<'_, '_>) -> Outcome {
    Err("ERR the floor keeps nothing: it never saves")
}

pub(super) fn flush(_: &mut Call<'_, '_>) -> Outcome {
    Err("ERR the floor empties nothing: delete keys, or start another floor")
}

pub(super) fn shutdown(_: &mut Call<'_, '_>) -> Outcome {
    Err("ERR the floor ends when its process is ended, not when a client says so")
}
