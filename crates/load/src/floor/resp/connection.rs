//! What concerns the connection itself: its protocol, its name, its end.

use super::call::{Call, NO_NUMBER, Outcome, SYNTAX, integer};
use super::session::Session;
use roundtrip_wire::resp::Reply;

/// The release whose commands the floor answers as it does.
pub(super) const LIKE_REDIS: &str = "7.0.15";

const WRONG_PASSWORD: &str = "WRONGPASS invalid username-password pair or user is disabled.";

pub(super) fn ping(call: &mut Call<'_, '_>) -> Outcome {
    match call.request.argument(1) {
        Some(text) => call.bulk(text),
        None => call.simple("PONG"),
    }
}

pub(super) fn echo(call: &mut Call<'_, '_>) -> Outcome {
    call.bulk(call.argument(1))
}

pub(super) fn hello(call: &mut Call<'_, '_>) -> Outcome {
    let mut words = call.arguments(1);
    let version = match words.next() {
        None => None,
        Some(word) => match integer(word) {
            Some(version @ (2 | 3)) => Some(version),
            Some(_) => return Err("NOPROTO unsupported protocol version"),
            None => return Err("ERR Protocol version is not an integer or out of range"),
        },
    };
    let mut name = None;
    while let Some(word) = words.next() {
        match word.to_ascii_uppercase().as_slice() {
            b"SETNAME" => name = Some(words.next().ok_or(SYNTAX)?),
            b"AUTH" => {
                let (user, _) = words.next().zip(words.next()).ok_or(SYNTAX)?;
                is_known(user)?;
            }
            _ => {
                let option = String::from_utf8_lossy(word).into_owned();
                call.error(&format!("ERR Syntax error in HELLO option '{option}'"));
                return Ok(());
            }
        }
    }
    if let Some(name) = name {
        rename(call.session, name)?;
    }
    if let Some(version) = version {
        call.session.three = version == 3;
    }
    introduce(call)
}

fn introduce(call: &mut Call<'_, '_>) -> Outcome {
    let (id, version) = (call.session.id, if call.session.three { 3 } else { 2 });
    call.map(7);
    for (name, text) in [("server", "redis"), ("version", LIKE_REDIS)] {
        call.bulk(name.as_bytes())?;
        call.bulk(text.as_bytes())?;
    }
    for (name, number) in [("proto", version), ("id", id as i64)] {
        call.bulk(name.as_bytes())?;
        call.integer(number)?;
    }
    for (name, text) in [("mode", "standalone"), ("role", "master")] {
        call.bulk(name.as_bytes())?;
        call.bulk(text.as_bytes())?;
    }
    call.bulk(b"modules")?;
    call.array(0);
    Ok(())
}

/// There is nobody but the user that everybody is, who has no password.
fn is_known(user: &[u8]) -> Outcome {
    match user {
        b"default" => Ok(()),
        _ => Err(WRONG_PASSWORD),
    }
}

pub(super) fn auth(call: &mut Call<'_, '_>) -> Outcome {
    if call.request.len() == 2 {
        return Err(
            "ERR AUTH <password> called without any password configured for the default user. \
             Are you sure your configuration is correct?",
        );
    }
    is_known(call.argument(1))?;
    call.ok()
}

pub(super) fn select(call: &mut Call<'_, '_>) -> Outcome {
    match integer(call.argument(1)) {
        Some(0) => call.ok(),
        Some(_) => Err("ERR DB index is out of range"),
        None => Err(NO_NUMBER),
    }
}

fn rename(session: &mut Session, name: &[u8]) -> Outcome {
    if name.len() > 1024 || !name.iter().all(u8::is_ascii_graphic) {
        return Err("ERR Client names cannot contain spaces, newlines or special characters.");
    }
    session.name = name.to_vec();
    Ok(())
}

pub(super) fn client(call: &mut Call<'_, '_>) -> Outcome {
    let asked = call.argument(1).to_ascii_uppercase();
    match (asked.as_slice(), call.request.len()) {
        (b"SETNAME", 3) => {
            rename(call.session, call.argument(2))?;
            call.ok()
        }
        (b"GETNAME", 2) if call.session.name.is_empty() => call.null(),
        (b"GETNAME", 2) => {
            Reply::Bulk(&call.session.name).write(call.out);
            Ok(())
        }
        (b"ID", 2) => call.integer(call.session.id as i64),
        (b"SETINFO", 4) | (b"NO-EVICT" | b"NO-TOUCH", 3) => call.ok(),
        (b"INFO", 2) | (b"LIST", _) => {
            let line = format!(
                "id={} name={} db=0 resp={}\n",
                call.session.id,
                String::from_utf8_lossy(&call.session.name),
                if call.session.three { 3 } else { 2 },
            );
            call.text(&line)
        }
        _ => call.unknown_subcommand(),
    }
}

pub(super) fn quit(call: &mut Call<'_, '_>) -> Outcome {
    call.session.quits = true;
    call.ok()
}

pub(super) fn reset(call: &mut Call<'_, '_>) -> Outcome {
    *call.session = Session::new(call.session.id);
    call.simple("RESET")
}

pub(super) fn no_cluster(_: &mut Call<'_, '_>) -> Outcome {
    Err("ERR This instance has cluster support disabled")
}
