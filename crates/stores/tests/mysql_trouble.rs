//! What goes wrong with a MySQL: each time a sentence and a next step, and nothing is left.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::set_up;
use roundtrip_model::{Kind, Problem};
use roundtrip_process::PrivateDir;
use roundtrip_stores::manifest::{Life, Process, Program};
use roundtrip_stores::{Manifest, StartOptions, artifact, doctor, find, start};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

fn refused(manifest: &Manifest, change: impl FnOnce(&mut StartOptions)) -> Problem {
    let dir = PrivateDir::new().unwrap();
    let mut options = StartOptions::new("/no/self", &dir);
    options.memory_mb = 64;
    change(&mut options);
    let problem = start(manifest, &options).err().unwrap();
    let left = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 0, "something is left");
    problem
}

fn process(manifest: &mut Manifest) -> &mut Process {
    match &mut manifest.life {
        Life::Process(process) => process,
        Life::Embedded(_) => panic!("it is a process"),
    }
}

/// The unpacked folder without one of its files, where anybody can reach it.
fn without(file: &str) -> tempfile::TempDir {
    fn link(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let (from, to) = (
                entry.as_ref().unwrap().path(),
                to.join(entry.unwrap().file_name()),
            );
            match from.is_dir() {
                true => link(&from, &to),
                false => {
                    if fs::hard_link(&from, &to).is_err() {
                        fs::copy(&from, &to).unwrap();
                    }
                }
            }
        }
    }
    let copy = tempfile::tempdir().unwrap();
    link(&artifact::folder(find("mysql").unwrap()), copy.path());
    fs::remove_file(copy.path().join(file)).unwrap();
    copy
}

#[test]
fn a_mysql_that_is_not_set_up_says_how_to_get_it() {
    let mut manifest = find("mysql").unwrap().clone();
    let Program::Artifact(artifact) = &mut process(&mut manifest).program else {
        panic!("it is brought");
    };
    artifact.coordinate = "com.example:nowhere:0.0.0:zip:none".to_owned();
    let found = doctor(&manifest, Path::new("/no/self"));
    assert!(!found.is_available());
    assert_eq!(found.install.as_deref(), Some("roundtrip setup mysql"));
    assert_eq!((found.program, found.version), (None, None));
    let problem = refused(&manifest, |_| {});
    assert_eq!(problem.kind, Kind::Missing);
    assert_eq!(
        problem.next_step.unwrap(),
        "install it with `roundtrip setup mysql`"
    );
}

#[test]
fn a_plugin_that_is_not_loaded_is_told_with_the_servers_own_words() {
    set_up("mysql");
    let manifest = find("mysql").unwrap();
    for (file, what, word) in [
        // Its engine: the server goes on without the door.
        (
            "lib/plugin/innodb_engine.so",
            "mysql opened no door for memcached",
            "innodb_engine.so",
        ),
        // Itself: the server does not know its options.
        (
            "lib/plugin/libmemcached.so",
            "mysql ended with exit code 1",
            "libmemcached.so",
        ),
    ] {
        let folder = without(file);
        let program = folder.path().join("bin/mysqld");
        let problem = refused(manifest, |options| options.program = Some(program));
        assert_eq!(problem.kind, Kind::Failed);
        assert!(problem.what.starts_with(what), "{problem}");
        assert!(problem.next_step.unwrap().contains("last words"));
        let log = problem.log.unwrap();
        assert!(log.contains(word), "{log}");
    }
}

#[test]
fn a_server_that_dies_at_start_shows_its_last_words() {
    for name in ["mysql", "mariadb"] {
        set_up(name);
        let problem = refused(find(name).unwrap(), |options| {
            options.extra_args.push("--no-such-option".to_owned());
        });
        assert_eq!(problem.kind, Kind::Failed);
        let what = format!("{name} ended with exit code");
        assert!(problem.what.starts_with(&what), "{problem}");
        let log = problem.log.unwrap();
        assert!(log.contains("no-such-option"), "{log}");
    }
}

#[test]
fn a_data_directory_that_cannot_be_made_is_told_and_not_kept() {
    set_up("mysql");
    let mut manifest = find("mysql").unwrap().clone();
    let initialise = process(&mut manifest).initialise.as_mut().unwrap();
    initialise.sql.push("CREATE NONSENSE".to_owned());
    let cache = tempfile::tempdir().unwrap();
    let problem = refused(&manifest, |options| options.cache = cache.path().to_owned());
    assert!(
        problem
            .what
            .contains("making its data directory ended with"),
        "{problem}"
    );
    let log = problem.log.unwrap();
    assert!(log.contains("SQL syntax"), "{log}");
    assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);

    let mut manifest = find("mariadb").unwrap().clone();
    let initialise = process(&mut manifest).initialise.as_mut().unwrap();
    initialise.program = Some("no-such-program".to_owned());
    let problem = refused(&manifest, |options| options.cache = cache.path().to_owned());
    assert_eq!(problem.kind, Kind::Missing);
    assert!(
        problem
            .next_step
            .unwrap()
            .contains("sudo apt-get install -y mariadb-server")
    );
}

#[test]
fn a_cache_that_cannot_be_written_is_told() {
    set_up("mariadb");
    let file = tempfile::NamedTempFile::new().unwrap();
    let problem = refused(find("mariadb").unwrap(), |options| {
        options.cache = file.path().join("cache");
    });
    assert!(
        problem
            .what
            .contains("the cache cannot keep the data directory"),
        "{problem}"
    );
    assert!(problem.next_step.unwrap().contains("ROUNDTRIP_CACHE"));
}

#[test]
fn two_at_once_make_one_data_directory() {
    set_up("mariadb");
    let cache = tempfile::tempdir().unwrap();
    // Each with a thread of its own, because a server dies with the thread that started it.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let dir = PrivateDir::new().unwrap();
                let mut options = StartOptions::new("/no/self", &dir);
                options.memory_mb = 64;
                options.cache = cache.path().to_owned();
                let mut store = start(find("mariadb").unwrap(), &options).unwrap();
                assert_eq!(store.counters().unwrap()["table_rows"], 0);
                store.stop().unwrap();
            });
        }
    });
    let kept: Vec<_> = fs::read_dir(cache.path()).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(
        kept[0]
            .file_name()
            .to_string_lossy()
            .starts_with("mariadb-"),
        "{kept:?}"
    );
}
