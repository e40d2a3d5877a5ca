//! A store that somebody else runs. It is never started, stopped, flushed or emptied; an address
//! that is not loopback must be allowed explicitly.

use crate::manifest::{Attach, Manifest, registry};
use crate::store::Store;
use roundtrip_model::contract::Endpoint;
use roundtrip_model::path::MAX_TEXT;
use roundtrip_model::{Kind, Problem, Result};
use std::net::{SocketAddr, ToSocketAddrs};

mod login;

/// Connects to a store that is already there: `memcached://HOST:PORT`, or
/// `memcached:///PATH/OF.SOCKET`; `mysql://USER@HOST:PORT/DATABASE`, with the password in the
/// environment.
pub fn attach(url: &str, allow_remote: bool) -> Result<Store> {
    let (address, login) = login::split(url)?;
    let (manifest, endpoint) = resolve(&address, allow_remote)?;
    Store::attached(manifest, endpoint, login)
}

fn resolve(url: &str, allow_remote: bool) -> Result<(&'static Manifest, Endpoint)> {
    let (manifest, attach, rest) = split(url)?;
    reach(attach, rest, allow_remote).map(|endpoint| (manifest, endpoint))
}

/// Where that which stands behind `://` leads.
pub(crate) fn reach(attach: &Attach, rest: &str, allow_remote: bool) -> Result<Endpoint> {
    if rest.starts_with('/') {
        let path = rest.to_owned();
        return Ok(Endpoint::Unix { path });
    }
    let (host, port) = host_and_port(rest, attach)?;
    let url = format!("{}://{rest}", attach.scheme);
    let addresses: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|e| {
            Problem::new(Kind::Missing, format!("`{host}` leads nowhere: {e}"))
                .at(&url)
                .next("look at the spelling of the host")
        })?
        .collect();
    let is_loopback = |address: &SocketAddr| address.ip().to_canonical().is_loopback();
    if !allow_remote && !addresses.iter().all(is_loopback) {
        return Err(
            Problem::new(Kind::Refused, format!("{url} is not on this machine"))
                .next("add --allow-remote if that server may be loaded with a measurement"),
        );
    }
    let Some(address) = addresses.first() else {
        return Err(Problem::new(Kind::Missing, format!("`{host}` leads nowhere")).at(url));
    };
    // The address and not the name: every client must reach the server whose counters are read.
    Ok(Endpoint::Tcp {
        host: address.ip().to_string(),
        port,
    })
}

fn split(url: &str) -> Result<(&'static Manifest, &'static Attach, &str)> {
    let schemes = || {
        registry()
            .iter()
            .filter_map(|m| m.attach.as_ref().map(|a| (m, a)))
    };
    let known = || {
        let forms: Vec<_> = schemes()
            .map(|(_, a)| format!("{0}://HOST:PORT or {0}:///PATH/OF.SOCKET", a.scheme))
            .collect();
        format!("write {}", forms.join(", or "))
    };
    // A text that may hold a password is not repeated.
    let bad = |what: &str| Problem::new(Kind::Usage, what).next(known());
    if url.len() > MAX_TEXT || url.chars().any(char::is_control) {
        return Err(bad("the address of the store is too long or not text"));
    }
    if url.contains('@') {
        return Err(bad(
            "the address of the store names a user, which is not supported",
        ));
    }
    let (scheme, rest) = url
        .split_once("://")
        .ok_or_else(|| bad(&format!("`{url}` is not the address of a store")))?;
    schemes()
        .find(|(_, attach)| attach.scheme == scheme)
        .map(|(manifest, attach)| (manifest, attach, rest))
        .ok_or_else(|| bad(&format!("no store is reached by `{scheme}://`")))
}

fn host_and_port<'u>(text: &'u str, attach: &Attach) -> Result<(&'u str, u16)> {
    let bad = || {
        Problem::new(Kind::Usage, format!("`{text}` is not HOST:PORT")).next(format!(
            "write {0}://HOST:PORT, as in {0}://127.0.0.1:{1}",
            attach.scheme, attach.default_port
        ))
    };
    let (host, port) = match text.strip_prefix('[') {
        Some(text) => text.split_once(']').ok_or_else(bad)?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = match port.strip_prefix(':') {
        Some(port) => port.parse().ok().filter(|p| *p > 0).ok_or_else(bad)?,
        None if port.is_empty() => attach.default_port,
        None => return Err(bad()),
    };
    if host.is_empty() || host.contains(['/', '?', '#']) {
        return Err(bad());
    }
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tcp(host: &str, port: u16) -> Endpoint {
        Endpoint::Tcp {
            host: host.to_owned(),
            port,
        }
    }

    fn locate(url: &str, allow_remote: bool) -> Result<Endpoint> {
        resolve(url, allow_remote).map(|(_, endpoint)| endpoint)
    }

    #[test]
    fn addresses_lead_where_they_say() {
        let at = |url| locate(url, false).unwrap();
        assert_eq!(at("memcached://127.0.0.1:1234"), tcp("127.0.0.1", 1234));
        assert_eq!(at("memcached://127.0.0.1"), tcp("127.0.0.1", 11211));
        assert_eq!(at("memcached://[::1]:1234"), tcp("::1", 1234));
        assert_eq!(at("redis://127.0.0.1"), tcp("127.0.0.1", 6379));
        let path = "/run/m.sock".to_owned();
        assert_eq!(at("memcached:///run/m.sock"), Endpoint::Unix { path });
    }

    #[test]
    fn an_address_that_is_not_loopback_must_be_allowed() {
        // Documentation addresses, and the one that stands for every interface.
        for host in [
            "192.0.2.1",
            "[2001:db8::1]",
            "0.0.0.0",
            "[::ffff:192.0.2.1]",
        ] {
            let url = format!("memcached://{host}:11211");
            let refused = locate(&url, false).unwrap_err();
            assert_eq!(refused.kind, Kind::Refused, "{url}");
            assert!(refused.next_step.unwrap().contains("--allow-remote"));
            assert!(locate(&url, true).is_ok(), "{url}");
        }
        assert!(locate("memcached://[::ffff:127.0.0.1]:1", false).is_ok());
    }

    #[test]
    fn a_password_is_not_repeated() {
        let problem = locate("memcached://me:secret@127.0.0.1:1", false).unwrap_err();
        assert!(!problem.to_string().contains("secret"));
    }

    #[test]
    fn bad_addresses_are_refused_with_the_form() {
        for url in [
            "",
            "memcached",
            "memcached:",
            "memcached://",
            "memcached://:1",
            "ftp://127.0.0.1",
            "memcached://127.0.0.1:",
            "memcached://127.0.0.1:0",
            "memcached://127.0.0.1:99999",
            "memcached://[::1",
            "memcached://[::1]1",
            "memcached://127.0.0.1:1/x",
        ] {
            let problem = locate(url, true).unwrap_err();
            assert_eq!(problem.kind, Kind::Usage, "{url}: {problem}");
            assert!(problem.next_step.unwrap().contains("memcached://"), "{url}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(memcached://)?[a-z0-9.:/\\[\\]]{0,20}|.*") {
            // Without looking names up.
            if let Ok((_, attach, rest)) = split(&text)
                && let Ok((host, port)) = host_and_port(rest, attach)
            {
                prop_assert!(!host.is_empty() && port > 0);
            }
        }
    }
}
