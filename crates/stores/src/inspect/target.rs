//! Which server is meant by an address, and who asks it.

use crate::attach::reach;
use crate::manifest::Attach;
use roundtrip_model::contract::Endpoint;
use roundtrip_model::path::MAX_TEXT;
use roundtrip_model::{Kind, Problem, Result};

/// A server that can be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// A memcached.
    Memcached,
    /// A Redis, or what speaks as it, alone or in a cluster.
    Redis,
    /// A MySQL or MariaDB.
    Mysql,
}

/// What stands before `://`, and the port of an address without one.
const SCHEMES: [(Server, &str, u16); 3] = [
    (Server::Memcached, "memcached", 11211),
    (Server::Redis, "redis", 6379),
    (Server::Mysql, "mysql", 3306),
];

/// Where a look goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Which server is there.
    pub server: Server,
    /// Where.
    pub endpoint: Endpoint,
    /// Who asks, where the address says it.
    pub user: Option<String>,
}

/// Where an address leads, without connecting. One that is not loopback must be allowed.
pub fn locate(url: &str, allow_remote: bool) -> Result<Target> {
    // A text that may hold a password is not repeated.
    let bad = |what: &str| Problem::new(Kind::Usage, what).next(forms());
    if url.len() > MAX_TEXT || url.chars().any(char::is_control) {
        return Err(bad("the address of the server is too long or not text"));
    }
    let (scheme, rest) = url
        .split_once("://")
        .ok_or_else(|| bad("that is not the address of a server"))?;
    let (server, scheme, default_port) =
        SCHEMES
            .into_iter()
            .find(|(_, name, _)| *name == scheme)
            .ok_or_else(|| bad("`inspect` does not look into a server of that kind"))?;
    let (user, rest) = match rest.rsplit_once('@') {
        // A path may hold the character too.
        Some((user, rest)) if !user.starts_with('/') => (Some(user_of(user, server)?), rest),
        _ => (None, rest),
    };
    let attach = Attach {
        scheme: scheme.to_owned(),
        default_port,
    };
    Ok(Target {
        server,
        endpoint: reach(&attach, rest, allow_remote)?,
        user,
    })
}

fn user_of(user: &str, server: Server) -> Result<String> {
    let refuse = |what: &str, step: &str| Err(Problem::new(Kind::Usage, what).next(step));
    match server {
        _ if user.contains(':') => refuse(
            "a password does not belong into an address, where everybody sees it",
            "put it into the environment variable ROUNDTRIP_REDIS_PASSWORD or \
             ROUNDTRIP_MYSQL_PASSWORD",
        ),
        Server::Mysql if !user.is_empty() => Ok(user.to_owned()),
        _ => refuse(
            "only the address of a MySQL names a user",
            "leave the user out",
        ),
    }
}

fn forms() -> String {
    let form = |(server, scheme, _)| {
        let user = if server == Server::Mysql {
            "[USER@]"
        } else {
            ""
        };
        format!("{scheme}://{user}HOST:PORT or {scheme}://{user}/PATH/OF.SOCKET")
    };
    format!("write {}", SCHEMES.map(form).join(", or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_server_place_and_user() {
        let at = |url| locate(url, false).unwrap();
        let tcp = |port| Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port,
        };
        for (url, server, port, user) in [
            ("memcached://127.0.0.1", Server::Memcached, 11211, None),
            ("redis://127.0.0.1:7", Server::Redis, 7, None),
            ("mysql://127.0.0.1", Server::Mysql, 3306, None),
            ("mysql://me@127.0.0.1:8", Server::Mysql, 8, Some("me")),
        ] {
            let target = at(url);
            assert_eq!((target.server, target.endpoint), (server, tcp(port)));
            assert_eq!(target.user.as_deref(), user, "{url}");
        }
        let path = "/run/mysqld.sock".to_owned();
        assert_eq!(
            at("mysql://me@/run/mysqld.sock").endpoint,
            Endpoint::Unix { path }
        );
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        for url in [
            "mysql://me:hunter2@127.0.0.1:1",
            "redis://:hunter2@127.0.0.1:1",
            "hunter2",
            "other://me:hunter2@127.0.0.1",
            "mysql://me:hunter2/@127.0.0.1",
        ] {
            let problem = locate(url, false).unwrap_err();
            assert_eq!(problem.kind, Kind::Usage, "{url}");
            assert!(!problem.to_string().contains("hunter2"), "{problem}");
        }
    }

    #[test]
    fn another_machine_must_be_allowed() {
        for url in ["redis://192.0.2.1:1", "mysql://me@192.0.2.1:1"] {
            assert_eq!(locate(url, false).unwrap_err().kind, Kind::Refused);
            assert!(locate(url, true).is_ok());
        }
    }
}
