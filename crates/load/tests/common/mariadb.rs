//! A MariaDB of a test's own, with the tables that clients of SQL know. The tests of the workers
//! have it too.

#![allow(clippy::unwrap_used, clippy::panic, dead_code)]

use roundtrip_model::contract::{Endpoint, Login, Open};
use roundtrip_model::secret::Secret;
use roundtrip_process::{NOBODY, Owned, Settings, free_port, is_root};
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The user of the tests.
pub const USER: &str = "roundtrip";
pub const PASSWORD: &str = "correct horse";

const LONG: Duration = Duration::from_secs(120);
const MADE_SMALL: [&str; 3] = [
    "--innodb-log-file-size=4M",
    "--innodb-undo-tablespaces=0",
    // Several servers at once would ask the kernel for more of it than it gives.
    "--innodb-use-native-aio=0",
];
const TABLES: &str = "\
    CREATE DATABASE test; USE test;\
    CREATE TABLE demo_test (c1 varchar(250) PRIMARY KEY, c2 varchar(8192), c3 int, \
      c4 bigint unsigned, c5 int) ENGINE=InnoDB;\
    CREATE TABLE numbers (id bigint PRIMARY KEY, value varchar(1024), flags int, \
      cas bigint unsigned, expiry int) ENGINE=InnoDB;\
    CREATE TABLE `columns` (id bigint PRIMARY KEY, a varchar(1024), b varchar(1024), \
      c varchar(1024), flags int, cas bigint unsigned, expiry int) ENGINE=InnoDB;\
    CREATE TABLE other (c1 varchar(250) PRIMARY KEY, label varchar(64)) ENGINE=InnoDB;\
    CREATE USER roundtrip@'%' IDENTIFIED BY 'correct horse';\
    GRANT ALL ON test.* TO roundtrip@'%';";

/// A real MariaDB, which dies with this value.
pub struct MariaDb {
    child: Owned,
    directory: TempDir,
    options: Vec<String>,
    pub port: u16,
}

impl MariaDb {
    pub fn start() -> MariaDb {
        MariaDb::start_with(&[])
    }

    /// With options of the server.
    pub fn start_with(options: &[&str]) -> MariaDb {
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o777)).unwrap();
        install(directory.path());
        let options: Vec<String> = options.iter().map(|text| (*text).to_owned()).collect();
        for _ in 0..5 {
            let port = free_port().unwrap();
            let mut child = daemon(directory.path(), port, &options);
            if answers(&mut child, || {
                TcpStream::connect(("127.0.0.1", port)).is_ok()
            }) {
                let server = MariaDb {
                    child,
                    directory,
                    options,
                    port,
                };
                server.as_root(TABLES);
                return server;
            }
        }
        panic!("mariadbd does not start");
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("sock")
    }

    /// Runs SQL as its root; gives what came back, in lines.
    pub fn as_root(&self, sql: &str) -> String {
        let mut client = Command::new("mariadb")
            .args(["--no-defaults", "-uroot", "-N", "-B", "-S"])
            .arg(self.socket())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        client
            .stdin
            .take()
            .unwrap()
            .write_all(sql.as_bytes())
            .unwrap();
        let output = client.wait_with_output().unwrap();
        assert!(output.status.success(), "{sql}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: self.port,
        }
    }

    /// Where it speaks TLS to who trusts an authority.
    pub fn endpoint_tls(&self, ca: String) -> Endpoint {
        Endpoint::Tls {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            ca,
        }
    }

    /// A client of it, over TCP.
    pub fn open(&self, client: &str) -> Open {
        self.open_at(client, self.endpoint())
    }

    /// A client of it by another way.
    pub fn open_at(&self, client: &str, endpoint: Endpoint) -> Open {
        Open {
            login: Some(Login {
                user: USER.to_owned(),
                password: Secret::new(PASSWORD),
                database: "test".to_owned(),
            }),
            ..Open::to(client, "mariadb", endpoint)
        }
    }

    pub fn kill(&mut self) {
        self.child.kill();
        self.child.wait(Duration::from_secs(20)).unwrap();
    }

    /// Starts it again where it was.
    pub fn start_again(&mut self) {
        self.child = daemon(self.directory.path(), self.port, &self.options);
        let port = self.port;
        assert!(answers(&mut self.child, || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        }));
    }
}

fn install(directory: &Path) {
    let data = directory.join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o777)).unwrap();
    let mut command = Command::new("mariadb-install-db");
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--tmpdir={}", directory.display()))
        .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
        .args(MADE_SMALL)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut installing =
        Owned::spawn(&mut command, &settings()).expect("apt-get install mariadb-server");
    let exit = installing.wait(LONG).unwrap();
    assert!(exit.is_some_and(|exit| exit.is_success()));
}

fn daemon(directory: &Path, port: u16, options: &[String]) -> Owned {
    let mut arguments = vec![
        "--no-defaults".to_owned(),
        format!("--datadir={}", directory.join("data").display()),
        format!("--socket={}", directory.join("sock").display()),
        format!("--port={port}"),
        format!("--tmpdir={}", directory.display()),
        "--bind-address=127.0.0.1".to_owned(),
        "--skip-name-resolve".to_owned(),
        "--innodb-flush-log-at-trx-commit=2".to_owned(),
    ];
    arguments.extend(MADE_SMALL.map(str::to_owned));
    arguments.extend(options.iter().cloned());
    let mut command = Command::new("mariadbd");
    command
        .args(&arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Owned::spawn(&mut command, &settings()).expect("apt-get install mariadb-server")
}

fn answers(child: &mut Owned, connects: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < LONG {
        if connects() {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

fn settings() -> Settings {
    Settings {
        cpus: None,
        run_as: is_root().then_some(NOBODY),
    }
}
