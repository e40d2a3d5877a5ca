//! `inspect` of a Redis and of a MySQL, on real servers.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_lab::stores::{StartOptions, find, start};
use roundtrip_model::contract::Endpoint;
use roundtrip_process::{Owned, PrivateDir, Settings, free_port};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The user that servers run as: they refuse to be root, and must not need to be.
const NOBODY: u32 = 65534;

/// A server of the test's own, and where it is.
struct Server {
    _process: Owned,
    port: u16,
    dir: PathBuf,
    _private: PrivateDir,
}

impl Server {
    /// Starts one on a free port; on another, where somebody took that one before.
    fn start(command: impl Fn(u16, &Path) -> Command) -> Server {
        for _ in 0..10 {
            let (private, port) = (PrivateDir::new().unwrap(), free_port().unwrap());
            let is_root = rustix::process::geteuid().is_root();
            let run_as = is_root.then_some(NOBODY);
            let dir = private.make("server", run_as).unwrap();
            let log = fs::File::create(private.path().join("log")).unwrap();
            let mut command = command(port, &dir);
            command
                .stdin(Stdio::null())
                .stdout(log.try_clone().unwrap())
                .stderr(log);
            let settings = Settings { cpus: None, run_as };
            let mut process = Owned::spawn(&mut command, &settings).unwrap();
            let serves = soon("the server", || {
                let ended = process.try_wait().unwrap().is_some();
                let serves = listens(port);
                (ended || serves).then_some(!ended)
            });
            if serves {
                return Server {
                    _process: process,
                    port,
                    dir,
                    _private: private,
                };
            }
        }
        panic!("no server could be started");
    }

    fn redis(args: &[&str]) -> Server {
        Server::start(|port, dir| {
            let mut command = Command::new("redis-server");
            command.args([
                "--port",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
            ]);
            command.arg("--dir").arg(dir).args(args);
            command
        })
    }

    /// A MariaDB with a user `look`, whose password is `opensesame`.
    fn mariadb() -> Server {
        Server::start(|port, dir| {
            let dir = dir.display();
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!(
                "mariadb-install-db --no-defaults --datadir={dir}/data --skip-test-db \
                 --auth-root-authentication-method=normal && \
                 echo \"CREATE USER look@'127.0.0.1' IDENTIFIED BY 'opensesame';\" > {dir}/init && \
                 exec $(command -v mariadbd || echo /usr/sbin/mariadbd) --no-defaults \
                 --datadir={dir}/data --socket={dir}/socket --port={port} --bind-address=127.0.0.1 \
                 --innodb-buffer-pool-size=16M --max-connections=20 --init-file={dir}/init"
            ));
            command
        })
    }

    fn redis_cli(&self, words: &[&str]) -> String {
        let mut command = Command::new("redis-cli");
        command.args(["-p", &self.port.to_string()]).args(words);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    fn redis_address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    fn mysql_address(&self) -> String {
        format!("mysql://look@127.0.0.1:{}", self.port)
    }
}

/// Whether somebody listens on a port; without connecting, which the server would count.
fn listens(port: u16) -> bool {
    const LISTENS: &str = "0A";
    let sockets = fs::read_to_string("/proc/net/tcp").unwrap();
    let address = format!(":{port:04X}");
    sockets.lines().any(|line| {
        let mut words = line.split_whitespace().skip(1);
        let here = words.next().is_some_and(|local| local.ends_with(&address));
        here && words.nth(1) == Some(LISTENS)
    })
}

/// Inspects with a secret in the environment.
fn with(home: &Home, variable: &str, secret: Option<&str>, args: &[&str]) -> Ran {
    let mut command = home.command(args);
    for name in [
        "ROUNDTRIP_REDIS_PASSWORD",
        "ROUNDTRIP_MYSQL_USER",
        "ROUNDTRIP_MYSQL_PASSWORD",
    ] {
        command.env_remove(name);
    }
    if let Some(secret) = secret {
        command.env(variable, secret);
    }
    Ran::of(command.output().unwrap())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn findings(look: &Value) -> String {
    let all = look["findings"].as_array().unwrap().iter();
    all.map(|finding| finding.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_redis_tells_the_numbers_that_matter_and_keeps_its_data_to_itself() {
    let home = Home::new();
    let server = Server::redis(&["--slowlog-log-slower-than", "0"]);
    server.redis_cli(&["SET", "secretkey", "secretvalue", "EX", "1000"]);
    for key in ["secretkey", "secretkey", "secretkey", "missing"] {
        server.redis_cli(&["GET", key]);
    }
    let keys = server.redis_cli(&["DBSIZE"]);
    let address = server.redis_address();
    let text = home.good(&["inspect", &address, "stats", "--format", "json"]);
    let look = json(&text);
    let meaning = &look["meaning"];
    assert_eq!(meaning["role"], "master");
    assert_eq!(meaning["reads"]["count"], 4);
    assert_eq!(meaning["reads"]["hit_ratio"], 0.75);
    let databases = json(r#"[{"name": "db0", "keys": 1, "expiring": 1}]"#);
    assert_eq!(meaning["databases"], databases);
    assert_eq!(meaning["memory"]["policy"], "noeviction");
    assert_eq!(meaning["memory"]["limit_bytes"], Value::Null);
    assert_eq!(meaning["cluster"], Value::Null);
    assert!(
        meaning["slow"]["entries"].as_u64().unwrap() >= 5,
        "{meaning}"
    );
    assert_eq!(look["statistics"]["keyspace_hits"], 3);
    assert!(findings(&look).contains("slow commands (over 0 us)"));
    let display = home.good(&["inspect", &address, "display"]);
    assert!(display.contains("75.0% of 4 reads"), "{display}");
    assert!(display.contains("averages over the"), "{display}");
    assert!(!display.contains("All statistics"), "{display}");
    let stats = home.good(&["inspect", &address, "stats", "--interval", "10ms"]);
    assert!(
        stats.contains("All statistics") && !stats.contains("averages"),
        "{stats}"
    );
    for told in [text, display, stats] {
        assert!(!told.contains("secret"), "{told}");
    }
    home.run(&["inspect", &address, "dump"])
        .refused(2, &["redis-cli --rdb"]);
    assert_eq!(server.redis_cli(&["DBSIZE"]), keys);
}

#[test]
fn what_is_wrong_with_a_redis_is_said_with_the_next_step() {
    let home = Home::new();
    let small = [
        "--maxmemory",
        "3mb",
        "--maxclients",
        "10",
        "--slowlog-log-slower-than",
        "-1",
    ];
    let server = Server::redis(&small);
    let address = server.redis_address();
    let look = |view: &[&str]| {
        let args = [&["inspect", &address, "display", "--format", "json"], view].concat();
        json(&home.good(&args))
    };
    assert_eq!(findings(&look(&[])), "");
    let fill = |count: &str| {
        server.redis_cli(&[
            "EVAL",
            &format!(
                "for i = 1, {count} do redis.call('SET', 'k' .. i, string.rep('x', 1000)) end"
            ),
            "0",
        ])
    };
    fill("5000");
    let full = findings(&look(&[]));
    assert!(full.contains("new writes will be refused"), "{full}");
    // A single command is refused at its door; a script in its middle.
    server.redis_cli(&["SET", "one", "more"]);
    let refused = findings(&look(&[]));
    assert!(
        refused.contains("for want of memory (OOM): raise maxmemory"),
        "{refused}"
    );
    server.redis_cli(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    fill("5000");
    let evicting = look(&[]);
    assert!(
        evicting["meaning"]["evictions"].as_u64().unwrap() > 0,
        "{evicting}"
    );
    assert!(findings(&evicting).contains("keys away before their time"));
    // While it is watched it throws none away.
    let calm = look(&["--interval", "10ms"]);
    assert_eq!(calm["meaning"]["evictions"], 0);
    assert!(!findings(&calm).contains("before their time"));
    // As many clients as it may have, and one more.
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let many: Vec<TcpStream> = (0..9).map(|_| connect()).collect();
    let near = soon("nine clients", || {
        let near = findings(&look(&[]));
        near.contains("of 10 clients").then_some(near)
    });
    assert!(near.contains("10 of 10 clients"), "{near}");
    let more = [connect(), connect()];
    let ran = soon("too many clients", || {
        let ran = home.run(&["inspect", &address]);
        (ran.code != Some(0)).then_some(ran)
    });
    ran.refused(4, &["takes no more clients", "raise maxclients"]);
    drop((many, more));
    let after = soon("room", || {
        let ran = home.run(&["inspect", &address, "--format", "json"]);
        (ran.code == Some(0)).then(|| json(&ran.out))
    });
    assert!(findings(&after).contains("clients away"), "{after}");
}

#[test]
fn a_cluster_that_is_not_whole_is_told_node_by_node() {
    let home = Home::new();
    let bus = free_port().unwrap().to_string();
    let server = Server::redis(&["--cluster-enabled", "yes", "--cluster-port", &bus]);
    let address = server.redis_address();
    let look = || json(&home.good(&["inspect", &address, "display", "--format", "json"]));
    server.redis_cli(&["CLUSTER", "ADDSLOTSRANGE", "0", "8191"]);
    let half = look();
    assert_eq!(half["meaning"]["cluster"]["state"], "fail");
    let found = findings(&half);
    assert!(found.contains("8192 slots have no node"), "{found}");
    server.redis_cli(&["CLUSTER", "ADDSLOTSRANGE", "8192", "16383"]);
    let whole = soon("the cluster", || {
        let whole = look();
        (whole["meaning"]["cluster"]["state"] == "ok").then_some(whole)
    });
    let nodes = whole["meaning"]["cluster"]["nodes"].as_array().unwrap();
    assert_eq!((nodes.len(), &nodes[0]["slots"]), (1, &Value::from(16384)));
    assert_eq!(findings(&whole), "");
}

#[test]
fn a_password_of_a_redis_comes_from_the_environment_and_is_never_shown() {
    let home = Home::new();
    let server = Server::redis(&["--requirepass", "opensesame"]);
    let address = server.redis_address();
    let variable = "ROUNDTRIP_REDIS_PASSWORD";
    let with = |password| with(&home, variable, password, &["inspect", &address]);
    assert_eq!(with(Some("opensesame")).code, Some(0));
    with(None).refused(7, &["wants a password", variable]);
    let wrong = with(Some("guess"));
    wrong.refused(7, &["does not take the password", variable]);
    assert!(!wrong.err.contains("guess"));
    let in_address = address.replace("//", "//:opensesame@");
    let refused = home.run(&["inspect", &in_address]);
    refused.refused(2, &["does not belong into an address", variable]);
    assert!(!refused.err.contains("opensesame"));
}

#[test]
fn a_mysql_tells_the_numbers_that_matter() {
    let home = Home::new();
    let server = Server::mariadb();
    let address = server.mysql_address();
    let good = |args: &[&str]| {
        let args = [&["inspect", &address], args].concat();
        let ran = with(&home, "ROUNDTRIP_MYSQL_PASSWORD", Some("opensesame"), &args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out
    };
    let look = json(&good(&["stats", "--format", "json"]));
    let meaning = &look["meaning"];
    assert!(
        meaning["version"].as_str().unwrap().contains("MariaDB"),
        "{meaning}"
    );
    assert_eq!(meaning["buffer_pool"]["bytes"], 16 << 20);
    assert_eq!(meaning["connections"]["limit"], 20);
    assert_eq!(meaning["connections"]["open"], 1);
    assert_eq!(meaning["settings"]["flush"], 1);
    assert_eq!(meaning["settings"]["binlog"], false);
    assert_eq!(meaning["plugin"], Value::Null);
    for known in [
        "/buffer_pool/hit_ratio",
        "/rows/read",
        "/rows/inserted",
        "/fsyncs",
        "/uptime_s",
    ] {
        assert!(
            meaning.pointer(known).unwrap().is_number(),
            "{known}: {meaning}"
        );
    }
    assert_eq!(look["statistics"]["Threads_connected"], 1);
    assert_eq!(findings(&look), "");
    let display = good(&["display", "--interval", "10ms"]);
    assert!(
        display.contains("flush at commit") && display.contains("1 of 20"),
        "{display}"
    );
    assert!(!display.contains("All statistics"), "{display}");
    let socket = format!("mysql://root@{}/socket", server.dir.display());
    home.good(&["inspect", &socket, "display"]);
    home.run(&["inspect", &address, "dump"])
        .refused(2, &["mysqldump"]);
}

/// The real MySQL, brought by `setup`, with its plugin.
#[test]
fn a_mysql_with_the_memcached_plugin_tells_what_both_ways_do() {
    let home = Home::new();
    home.good(&["setup", "mysql", "--quiet"]);
    let dir = PrivateDir::new().unwrap();
    let mut options = StartOptions::new("/no/self", &dir);
    options.memory_mb = 64;
    let store = start(find("mysql").unwrap(), &options).unwrap();
    let (login, doors) = (store.login().unwrap(), store.doors());
    let Endpoint::Tcp { host, port } = store.endpoint() else {
        panic!("it listens on a port");
    };
    let Endpoint::Tcp { port: door, .. } = &doors["memcached"] else {
        panic!("the plugin listens on a port");
    };
    let mut plugin = TcpStream::connect(("127.0.0.1", *door)).unwrap();
    let mut answer = [0; 8];
    plugin.write_all(b"set key 0 0 5\r\nvalue\r\n").unwrap();
    plugin.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"STORED\r\n");
    let address = format!("mysql://{}@{host}:{port}", login.user);
    let args = ["inspect", &address, "stats", "--format", "json"];
    let password = Some(login.password.reveal());
    let ran = with(&home, "ROUNDTRIP_MYSQL_PASSWORD", password, &args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.out.contains(login.password.reveal()));
    let look = json(&ran.out);
    let meaning = &look["meaning"];
    assert!(
        meaning["version"].as_str().unwrap().starts_with("8.0.33"),
        "{meaning}"
    );
    let plugin = &meaning["plugin"];
    assert_eq!(
        (&plugin["status"], &plugin["port"]),
        (&"ACTIVE".into(), &Value::from(*door))
    );
    assert_eq!(
        (&plugin["answers"], &plugin["sets"]),
        (&true.into(), &Value::from(1))
    );
    assert_eq!(plugin["write_batch"], 1);
    assert_eq!(look["statistics"]["memcached_cmd_set"], 1);
    for known in ["/buffer_pool/hit_ratio", "/rows/read", "/rows/inserted"] {
        assert!(
            meaning.pointer(known).unwrap().is_number(),
            "{known}: {meaning}"
        );
    }
    assert!(meaning["fsyncs"].as_u64().unwrap() > 0, "{meaning}");
    // A server that is not a second old has no rate yet.
    let is_young = meaning["uptime_s"] == 0;
    assert_eq!(meaning["fsyncs_per_s"].is_null(), is_young, "{meaning}");
}

#[test]
fn a_wrong_or_missing_password_of_a_mysql_is_told_and_found() {
    let home = Home::new();
    let server = Server::mariadb();
    let address = server.mysql_address();
    let variable = "ROUNDTRIP_MYSQL_PASSWORD";
    let look = |password| {
        with(
            &home,
            variable,
            password,
            &["inspect", &address, "display", "--format", "json"],
        )
    };
    look(None).refused(7, &["wants a password of `look`", variable]);
    let wrong = look(Some("guess"));
    wrong.refused(7, &["does not take the password of `look`", variable]);
    assert!(!wrong.err.contains("guess"));
    let found = findings(&json(&look(Some("opensesame")).out));
    assert!(
        found.contains("2 of ") && found.contains("attempts to connect failed"),
        "{found}"
    );
    let nobody = address.replace("look@", "");
    let told = with(&home, variable, None, &["inspect", &nobody]);
    told.refused(2, &["who asks", "ROUNDTRIP_MYSQL_USER"]);
    let by_name = with(
        &home,
        "ROUNDTRIP_MYSQL_USER",
        Some("look"),
        &["inspect", &nobody],
    );
    by_name.refused(7, &["wants a password of `look`"]);
}

#[test]
fn what_is_not_there_or_not_what_it_should_be_is_told() {
    let home = Home::new();
    let redis = Server::redis(&[]);
    let mysql = format!("mysql://me@127.0.0.1:{}", redis.port);
    home.run(&["inspect", &mysql])
        .refused(3, &["no connection to MySQL", "is a MySQL"]);
    let nobody = free_port().unwrap();
    for scheme in ["redis", "mysql"] {
        let address =
            format!("{scheme}://me@127.0.0.1:{nobody}").replace("redis://me@", "redis://");
        home.run(&["inspect", &address])
            .refused(3, &["no connection to", "look whether it runs"]);
        let remote = format!("{scheme}://192.0.2.1:1");
        home.run(&["inspect", &remote])
            .refused(7, &["--allow-remote"]);
    }
    home.run(&["inspect", "redis://me@127.0.0.1:1"])
        .refused(2, &["leave the user out"]);
    home.run(&["inspect", "sqlite://127.0.0.1"])
        .refused(2, &["mysql://[USER@]HOST:PORT"]);
}
