//! A real MySQL or MariaDB for a test, and connections to it.
#![allow(dead_code)]

use super::{Server, set_up, store_with};
use mysql::{Conn, OptsBuilder, SslOpts};
use roundtrip_model::contract::{Endpoint, Login};
use roundtrip_stores::{StartOptions, find};
use std::fs;
use std::path::Path;
use std::time::Duration;

pub const BOTH: [&str; 2] = ["mysql", "mariadb"];

pub fn server(name: &str, change: impl FnOnce(&mut StartOptions)) -> Server {
    set_up(name);
    store_with(name, |options| {
        options.memory_mb = 64;
        change(options);
    })
}

/// Arguments that set options of the server.
pub fn with(options: &mut StartOptions, name: &str, asked: &[(&str, &str)]) {
    let manifest = find(name).unwrap();
    for (option, value) in asked {
        let args = manifest.option(option, value).unwrap();
        assert!(!args.is_empty(), "{option}={value}");
        options.extra_args.extend(args);
    }
}

pub fn connect(endpoint: &Endpoint, login: &Login) -> mysql::Result<Conn> {
    let options = OptsBuilder::new()
        .prefer_socket(false)
        .user(Some(&login.user))
        .pass(Some(login.password.reveal()))
        .db_name(Some(&login.database))
        .read_timeout(Some(Duration::from_secs(60)));
    Conn::new(match endpoint {
        Endpoint::Tcp { host, port } => options.ip_or_hostname(Some(host)).tcp_port(*port),
        Endpoint::Unix { path } => options.socket(Some(path)),
        Endpoint::Tls { host, port, ca } => {
            let ca = Path::new(ca).to_owned();
            let tls = SslOpts::default().with_root_cert_path(Some(ca));
            let options = options.ip_or_hostname(Some(host)).tcp_port(*port);
            options.ssl_opts(tls)
        }
        Endpoint::File { .. } => panic!("it is a server"),
    })
}

pub fn sql(server: &Server) -> Conn {
    connect(&server.store.endpoint(), &server.store.login().unwrap()).unwrap()
}

/// Every file and socket below a directory.
pub fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(walk(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}
