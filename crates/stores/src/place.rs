//! Where a started store listens, and the placeholders of a manifest that stand for it.

use crate::certificate;
use roundtrip_model::contract::Endpoint;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What may stand in the arguments of a server.
pub const NAMES: [&str; 10] = [
    "port",
    "peer_port",
    "socket",
    "dir",
    "memory_mb",
    "cert",
    "key",
    "ca",
    "data",
    "login_sql",
];
/// What may stand in the arguments that open a door.
pub const DOOR_NAMES: [&str; 2] = ["door_port", "door_socket"];
/// What may stand in the arguments that make a data directory.
pub const INITIALISE_NAMES: [&str; 3] = ["dir", "data", "sql"];

/// The longest path that a unix socket can be bound to, on every platform.
pub const MAX_SOCKET_PATH_BYTES: usize = 103;

/// Where one start of a store happens.
pub struct Place {
    /// Its private directory.
    pub dir: PathBuf,
    /// Its loopback port; `None` for a unix socket.
    pub port: Option<u16>,
    /// Whether that port speaks TLS.
    pub tls: bool,
    /// Whether the probe asks on the socket even so.
    pub probe_on_socket: bool,
    /// The loopback ports of its doors; `None` for a unix socket.
    pub doors: BTreeMap<String, Option<u16>>,
    /// The port on which other nodes of the same store reach it; `None` where there are none.
    pub peer_port: Option<u16>,
    /// Memory for items.
    pub memory_mb: u32,
}

impl Place {
    /// The path of the unix socket.
    pub fn socket(&self) -> PathBuf {
        self.dir.join("store.sock")
    }

    /// The file that takes what the server says.
    pub fn log(&self) -> PathBuf {
        self.dir.join("store.log")
    }

    /// Where it keeps its data, where that is made before it starts.
    pub fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// The file of its accounts while it starts.
    pub fn login_sql(&self) -> PathBuf {
        self.dir.join("login.sql")
    }

    /// Where a door of it is.
    pub fn door(&self, name: &str) -> Option<Endpoint> {
        let host = "127.0.0.1".to_owned();
        Some(match self.doors.get(name)? {
            Some(port) => Endpoint::Tcp { host, port: *port },
            None => Endpoint::Unix {
                path: text(&self.door_socket(name)),
            },
        })
    }

    fn door_socket(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.sock"))
    }

    /// Every port that it needs.
    pub fn ports(&self) -> impl Iterator<Item = u16> {
        let doors = self.doors.values().copied().flatten();
        self.port.into_iter().chain(self.peer_port).chain(doors)
    }

    /// Every socket that it may be bound to.
    pub fn sockets(&self) -> Vec<PathBuf> {
        let doors = self.doors.keys().map(|name| self.door_socket(name));
        doors.chain([self.socket()]).collect()
    }

    /// Where clients connect to.
    pub fn endpoint(&self) -> Endpoint {
        let host = "127.0.0.1".to_owned();
        match self.port {
            Some(port) if self.tls => Endpoint::Tls {
                host,
                port,
                ca: text(&self.dir.join(certificate::CA)),
            },
            Some(port) => Endpoint::Tcp { host, port },
            None => self.on_socket(),
        }
    }

    /// Where the probe connects to: without TLS.
    pub fn probe_endpoint(&self) -> Endpoint {
        if self.tls || self.probe_on_socket {
            self.on_socket()
        } else {
            self.endpoint()
        }
    }

    fn on_socket(&self) -> Endpoint {
        Endpoint::Unix {
            path: text(&self.socket()),
        }
    }

    /// An argument with its placeholders filled.
    pub fn fill(&self, arg: &str) -> String {
        arg.replace("{port}", &self.port.unwrap_or(0).to_string())
            .replace("{peer_port}", &self.peer_port.unwrap_or(0).to_string())
            .replace("{memory_mb}", &self.memory_mb.to_string())
            .replace("{socket}", &text(&self.socket()))
            .replace("{cert}", &text(&self.dir.join(certificate::CERTIFICATE)))
            .replace("{key}", &text(&self.dir.join(certificate::KEY)))
            .replace("{ca}", &text(&self.dir.join(certificate::CA)))
            .replace("{data}", &text(&self.data()))
            .replace("{login_sql}", &text(&self.login_sql()))
            .replace("{dir}", &text(&self.dir))
    }

    /// An argument that opens a door, with its placeholders filled.
    pub fn fill_door(&self, name: &str, arg: &str) -> String {
        let port = self.doors.get(name).copied().flatten().unwrap_or(0);
        arg.replace("{door_port}", &port.to_string())
            .replace("{door_socket}", &text(&self.door_socket(name)))
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Says which placeholder of an argument is not known.
pub fn check_placeholders(arg: &str, known: &[&str]) -> Result<(), String> {
    for part in arg.split('{').skip(1) {
        let name = part.split_once('}').map(|(name, _)| name);
        if !name.is_some_and(|name| known.contains(&name)) {
            let name = name.unwrap_or(part);
            return Err(format!("there is no placeholder `{{{name}}}` in `{arg}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_known_and_filled() {
        let place = Place {
            dir: "/d".into(),
            port: Some(11),
            peer_port: None,
            tls: false,
            probe_on_socket: false,
            doors: BTreeMap::new(),
            memory_mb: 64,
        };
        for name in NAMES {
            check_placeholders(&format!("-x{{{name}}}:{{port}}"), &NAMES).unwrap();
            assert!(!place.fill(&format!("{{{name}}}")).contains('{'), "{name}");
        }
        assert_eq!(
            place.fill("{dir}|{socket}|{port}|{memory_mb}"),
            "/d|/d/store.sock|11|64"
        );
        assert!(check_placeholders("{dri}", &NAMES).is_err());
        assert!(check_placeholders("{port", &NAMES).is_err());
    }
}
