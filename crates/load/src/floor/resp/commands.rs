//! The commands: how each is called, and what answers it.

use super::call::{Call, Outcome};
use super::{about, connection, info, keys, numbers, scan, strings, transaction};

/// One command.
pub(in crate::floor) struct Command {
    pub(in crate::floor) name: &'static str,
    /// How many arguments it takes, its name among them.
    least: usize,
    most: usize,
    /// Whether it asks for data, so that faults concern it.
    pub(super) is_of_data: bool,
    /// Whether it is done at once even in a transaction.
    pub(super) is_at_once: bool,
    pub(super) run: fn(&mut Call<'_, '_>) -> Outcome,
}

impl Command {
    pub(super) fn takes(&self, arguments: usize) -> bool {
        (self.least..=self.most).contains(&arguments)
    }
}

const MANY: usize = usize::MAX;

type Run = fn(&mut Call<'_, '_>) -> Outcome;

const fn data(name: &'static str, least: usize, most: usize, run: Run) -> Command {
    Command {
        name,
        least,
        most,
        is_of_data: true,
        is_at_once: false,
        run,
    }
}

/// One that asks about the server or the connection.
const fn about(name: &'static str, least: usize, most: usize, run: Run) -> Command {
    Command {
        is_of_data: false,
        ..data(name, least, most, run)
    }
}

const fn at_once(command: Command) -> Command {
    Command {
        is_at_once: true,
        ..command
    }
}

/// Where `GET` stands, which is also answered without looking it up.
pub(in crate::floor) const GET: usize = 0;

/// Those that are asked for most come first.
pub(in crate::floor) const COMMANDS: [Command; 57] = [
    data("GET", 2, 2, strings::get),
    data("SET", 3, MANY, strings::set),
    data("INCR", 2, 2, numbers::incr),
    data("MGET", 2, MANY, strings::mget),
    data("MSET", 3, MANY, strings::mset),
    data("DEL", 2, MANY, keys::del),
    data("INCRBY", 3, 3, numbers::incrby),
    data("DECR", 2, 2, numbers::decr),
    data("DECRBY", 3, 3, numbers::decrby),
    data("SETEX", 4, 4, strings::setex),
    data("PSETEX", 4, 4, strings::psetex),
    data("SETNX", 3, 3, strings::setnx),
    data("MSETNX", 3, MANY, strings::msetnx),
    data("GETSET", 3, 3, strings::getset),
    data("GETDEL", 2, 2, strings::getdel),
    data("GETEX", 2, 4, strings::getex),
    data("APPEND", 3, 3, strings::append),
    data("STRLEN", 2, 2, strings::strlen),
    data("UNLINK", 2, MANY, keys::del),
    data("EXISTS", 2, MANY, keys::exists),
    data("TOUCH", 2, MANY, keys::exists),
    data("EXPIRE", 3, 4, keys::expire),
    data("PEXPIRE", 3, 4, keys::pexpire),
    data("EXPIREAT", 3, 4, keys::expireat),
    data("PEXPIREAT", 3, 4, keys::pexpireat),
    data("PERSIST", 2, 2, keys::persist),
    data("TTL", 2, 2, keys::ttl),
    data("PTTL", 2, 2, keys::pttl),
    data("TYPE", 2, 2, keys::kind),
    at_once(data("MULTI", 1, 1, transaction::multi)),
    at_once(data("EXEC", 1, 1, transaction::exec)),
    at_once(data("DISCARD", 1, 1, transaction::discard)),
    at_once(data("WATCH", 2, MANY, transaction::watch)),
    data("UNWATCH", 1, 1, transaction::unwatch),
    about("PING", 1, 2, connection::ping),
    about("ECHO", 2, 2, connection::echo),
    about("HELLO", 1, MANY, connection::hello),
    about("AUTH", 2, 3, connection::auth),
    about("SELECT", 2, 2, connection::select),
    about("CLIENT", 2, MANY, connection::client),
    at_once(about("QUIT", 1, MANY, connection::quit)),
    at_once(about("RESET", 1, 1, connection::reset)),
    about("READONLY", 1, 1, connection::no_cluster),
    about("READWRITE", 1, 1, connection::no_cluster),
    about("CLUSTER", 2, MANY, connection::no_cluster),
    about("COMMAND", 1, MANY, about::command),
    about("CONFIG", 2, MANY, about::config),
    about("INFO", 1, MANY, info::info),
    about("DBSIZE", 1, 1, about::dbsize),
    about("TIME", 1, 1, about::time),
    about("LASTSAVE", 1, 1, about::never_saves),
    about("SCAN", 2, MANY, scan::scan),
    about("FLUSHALL", 1, MANY, about::flush),
    about("FLUSHDB", 1, MANY, about::flush),
    about("SHUTDOWN", 1, MANY, about::shutdown),
    about("SAVE", 1, 1, about::never_saves),
    about("BGSAVE", 1, MANY, about::never_saves),
];

/// The command of a name, in capital letters or not, and where it stands.
pub(super) fn find(name: &[u8]) -> Option<(usize, &'static Command)> {
    static TABLE: [Command; COMMANDS.len()] = COMMANDS;
    TABLE
        .iter()
        .enumerate()
        .find(|(_, command)| command.name.as_bytes().eq_ignore_ascii_case(name))
}
