//! Who may log in to a MySQL and a MariaDB, and how one that is there is attached to.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::set_up;
use common::sql::{BOTH, connect, server, sql, walk};
use mysql::prelude::Queryable;
use roundtrip_model::Secret;
use roundtrip_model::contract::{Endpoint, Login};
use roundtrip_process::PrivateDir;
use roundtrip_stores::{StartOptions, attach, find, start};
use std::fs;
use std::io::Write;
use std::process::Command;

#[test]
fn nobody_logs_in_without_the_password_of_this_start() {
    for name in BOTH {
        let mut server = server(name, |_| {});
        let login = server.store.login().unwrap();
        assert_eq!(
            (login.user.as_str(), login.database.as_str()),
            ("roundtrip", "test")
        );
        let endpoint = server.store.endpoint();
        let socket = fs::canonicalize(server.dir.path()).unwrap();
        let socket = walk(&socket)
            .into_iter()
            .find(|p| p.ends_with("store.sock"))
            .unwrap();
        let socket = Endpoint::Unix {
            path: socket.display().to_string(),
        };
        let refused = |endpoint: &Endpoint, user: &str, password: &str| {
            let login = Login {
                user: user.to_owned(),
                password: Secret::new(password),
                database: String::new(),
            };
            connect(endpoint, &login).is_err()
        };
        let password = login.password.reveal();
        for endpoint in [&endpoint, &socket] {
            assert!(refused(endpoint, "root", ""), "{name}");
            assert!(refused(endpoint, "root", password), "{name}");
            assert!(refused(endpoint, "roundtrip", ""), "{name}");
            assert!(refused(endpoint, "", ""), "{name}");
            assert!(!refused(endpoint, "roundtrip", password), "{name}");
        }
        // He sees his database and no other.
        let mut sql = sql(&server);
        assert!(
            sql.query_drop("SELECT * FROM mysql.user").is_err(),
            "{name}"
        );
        assert!(sql.query_drop("CREATE DATABASE d").is_err(), "{name}");

        // No file, no argument and no log says it; every start has another.
        let pid = server.store.pids()[0];
        let says = |bytes: &[u8]| {
            bytes
                .windows(password.len())
                .any(|w| w == password.as_bytes())
        };
        assert!(!says(&fs::read(format!("/proc/{pid}/cmdline")).unwrap()));
        assert!(!says(server.store.log_tail().as_bytes()));
        for file in walk(server.dir.path()) {
            assert!(!file.ends_with("login.sql"), "{}", file.display());
            let is_text = fs::metadata(&file).is_ok_and(|m| m.is_file() && m.len() < 1 << 20);
            assert!(
                !is_text || !says(&fs::read(&file).unwrap()),
                "{}",
                file.display()
            );
        }
        let other = common::store_with(name, |options| options.memory_mb = 64);
        assert_ne!(other.store.login(), server.store.login());
        // Started again, it knows the same user.
        server.store.start_again().unwrap();
        assert!(!refused(&endpoint, "roundtrip", password), "{name}");
        assert!(refused(&endpoint, "root", ""), "{name}");
        assert!(
            !walk(server.dir.path())
                .iter()
                .any(|file| file.ends_with("login.sql"))
        );
    }
}

/// Attaches to the server that the environment names, in a process whose environment is its own.
#[test]
#[ignore = "run by the tests of what is attached to"]
fn attach_as_a_child() {
    let url = std::env::var("ATTACH_TO").unwrap();
    let said = match attach(&url, false) {
        Ok(mut store) => {
            let rows = store.counters().unwrap()["table_rows"];
            let keys = ["a", "b'; DROP TABLE demo_test; --", "missing"];
            let keys = keys.into_iter().map(|key| key.as_bytes().to_vec());
            let deleted = store.delete_keys(keys).unwrap();
            let user = store.login().unwrap().user;
            let killed = store.kill().is_ok();
            format!("attached: {rows} rows, {deleted} deleted, user {user}, killed {killed}")
        }
        Err(problem) => format!("refused: {:?} {problem}", problem.kind),
    };
    writeln!(std::io::stdout(), "{said}").unwrap();
}

fn attach_with(url: &str, password: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "attach_as_a_child", "--ignored", "--nocapture"]);
    command
        .env("ATTACH_TO", url)
        .env("ROUNDTRIP_MYSQL_PASSWORD", password)
        .env_remove("ROUNDTRIP_MYSQL_USER")
        .env_remove("ROUNDTRIP_MYSQL_DATABASE");
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn somebody_elses_server_is_read_and_only_keys_of_ones_own_are_deleted() {
    for name in BOTH {
        let server = server(name, |_| {});
        let mut sql = sql(&server);
        for key in ["a", "b'; DROP TABLE demo_test; --", "foreign"] {
            let insert = "INSERT INTO demo_test VALUES (?, 'v', 0, 0, 0)";
            sql.exec_drop(insert, (key,)).unwrap();
        }
        // A table that is not ours is not looked at.
        sql.query_drop("INSERT INTO other VALUES ('a', 'v')")
            .unwrap();
        let Endpoint::Tcp { host, port } = server.store.endpoint() else {
            panic!("it listens on a port");
        };
        let login = server.store.login().unwrap();
        let url = format!("{name}://{}@{host}:{port}/{}", login.user, login.database);
        let said = attach_with(&url, login.password.reveal());
        let wanted = "attached: 3 rows, 2 deleted, user roundtrip, killed false";
        assert!(said.contains(wanted), "{said}");
        let left: Vec<String> = sql.query("SELECT c1 FROM demo_test").unwrap();
        assert_eq!(left, ["foreign"]);
        let left: Option<u32> = sql.query_first("SELECT COUNT(*) FROM other").unwrap();
        assert_eq!(left, Some(1));

        let said = attach_with(&url, "guess");
        assert!(
            said.contains("refused: Refused mysql does not take the user"),
            "{said}"
        );
        assert!(
            said.contains("ROUNDTRIP_MYSQL_PASSWORD") && !said.contains("guess"),
            "{said}"
        );
    }
}

#[test]
fn a_database_without_the_table_is_told_how_to_make_it() {
    set_up("mariadb");
    // A database of its own: that of another manifest's accounts, without the table.
    let mut manifest = find("mariadb").unwrap().clone();
    let roundtrip_stores::manifest::Life::Process(process) = &mut manifest.life else {
        panic!("it is a process");
    };
    let accounts = process.accounts.as_mut().unwrap();
    accounts
        .sql
        .push("CREATE DATABASE IF NOT EXISTS empty".to_owned());
    accounts
        .sql
        .push("GRANT ALL ON empty.* TO '{user}'@'%'".to_owned());
    let dir = PrivateDir::new().unwrap();
    let mut options = StartOptions::new("/no/self", &dir);
    options.memory_mb = 64;
    let store = start(&manifest, &options).unwrap();
    let Endpoint::Tcp { host, port } = store.endpoint() else {
        panic!("it listens on a port");
    };
    let login = store.login().unwrap();
    let url = |database| format!("mariadb://roundtrip@{host}:{port}/{database}");
    let said = attach_with(&url("empty"), login.password.reveal());
    assert!(
        said.contains("refused: Missing mysql has no table demo_test"),
        "{said}"
    );
    assert!(
        said.contains("CREATE TABLE demo_test (c1 VARCHAR(250) PRIMARY KEY"),
        "{said}"
    );
    let said = attach_with(&url("nowhere"), login.password.reveal());
    assert!(
        said.contains("refused:") && !said.contains("attached"),
        "{said}"
    );
}
