//! Where a started store listens, and the placeholders of a manifest that stand for it.

use crate::certificate;
use roundtrip_model::contract::Endpoint;
use std::path::{Path, PathBuf};

const NAMES: [&str; 8] = [
    "port",
    "peer_port",
    "socket",
    "dir",
    "memory_mb",
    "cert",
    "key",
    "ca",
];

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
        if self.tls {
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
            .replace("{dir}", &text(&self.dir))
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Says which placeholder of an argument is not known.
pub fn check_placeholders(arg: &str) -> Result<(), String> {
    for part in arg.split('{').skip(1) {
        let name = part.split_once('}').map(|(name, _)| name);
        if !name.is_some_and(|name| NAMES.contains(&name)) {
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
            memory_mb: 64,
        };
        for name in NAMES {
            check_placeholders(&format!("-x{{{name}}}:{{port}}")).unwrap();
            assert!(!place.fill(&format!("{{{name}}}")).contains('{'), "{name}");
        }
        assert_eq!(
            place.fill("{dir}|{socket}|{port}|{memory_mb}"),
            "/d|/d/store.sock|11|64"
        );
        assert!(check_placeholders("{dri}").is_err());
        assert!(check_placeholders("{port").is_err());
    }
}
