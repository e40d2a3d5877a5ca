//! Archives that are not what they should be, and disks that do not take them.

use super::*;
use crate::schema;
use std::fs;
use std::path::Path;

/// A closed archive with a few trials, as one file.
fn closed() -> (TempDir, std::path::PathBuf) {
    let (dir, archive) = archive();
    archive.begin(&run("a")).unwrap();
    (0..4).for_each(|i| archive.add_trial("a", &trial(i)).unwrap());
    let path = archive.path().to_owned();
    drop(archive);
    assert!(!path.with_extension("sqlite-wal").exists());
    (dir, path)
}

fn refused(path: &Path) -> Problem {
    let problem = Archive::open_existing(path).unwrap_err();
    assert_eq!(problem.kind, Kind::Archive, "{problem}");
    assert!(
        problem.place.is_some() && problem.next_step.is_some(),
        "{problem}"
    );
    problem
}

#[test]
fn garbage_is_not_an_archive() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive.sqlite");
    fs::write(&path, "garbage ".repeat(1000)).unwrap();
    assert_eq!(
        refused(&path).what,
        "this file is not an archive of Roundtrip"
    );
    assert!(fs::read(&path).unwrap().starts_with(b"garbage"));
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cookies.sqlite");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE cookies (a); PRAGMA user_version = 99")
        .unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    assert!(refused(&path).what.contains("not an archive of Roundtrip"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_archive_asks_for_a_newer_roundtrip() {
    let (_dir, path) = closed();
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", schema::current() + 1)
        .unwrap();
    drop(conn);
    let problem = refused(&path);
    assert!(
        problem.what.contains("made by a newer Roundtrip"),
        "{problem}"
    );
    assert!(problem.next_step.unwrap().contains("update Roundtrip"));
}

#[test]
fn a_truncated_archive_is_damaged() {
    let (_dir, path) = closed();
    let whole = fs::read(&path).unwrap();
    for keep in [whole.len() / 2, 8192, 4096, 100] {
        fs::write(&path, &whole[..keep]).unwrap();
        let problem = refused(&path);
        assert!(
            problem.what.contains("damaged") || problem.what.contains("not an archive"),
            "{keep}: {problem}"
        );
    }
}

#[test]
fn no_overwritten_page_goes_unnoticed() {
    let (_dir, path) = closed();
    let whole = fs::read(&path).unwrap();
    let sound = Archive::open(&path).unwrap().trials("a").unwrap();
    for page in 0..whole.len() / 4096 {
        let mut bad = whole.clone();
        for (i, byte) in bad[page * 4096..][..4096].iter_mut().enumerate() {
            *byte ^= (i * 7 + 13) as u8;
        }
        fs::write(&path, &bad).unwrap();
        let read =
            Archive::open_existing(&path).and_then(|a| a.find("a").and_then(|_| a.trials("a")));
        match read {
            Err(problem) => assert_eq!(problem.kind, Kind::Archive, "page {page}: {problem}"),
            // A page that no record stands on.
            Ok(trials) => assert_eq!(trials, sound, "page {page}"),
        }
    }
}

#[test]
fn a_changed_digit_is_noticed() {
    let (_dir, path) = closed();
    let mut bytes = fs::read(&path).unwrap();
    let needle = b"\"wall_ns\":16300000";
    // Everywhere: a copy may be left over where a page was split.
    let places: Vec<usize> = (0..bytes.len() - needle.len())
        .filter(|at| bytes[*at..].starts_with(needle))
        .collect();
    for at in places {
        bytes[at + needle.len() - 8] = b'9';
    }
    fs::write(&path, bytes).unwrap();
    let problem = Archive::open(&path).unwrap().trials("a").unwrap_err();
    assert!(problem.what.contains("checksum"), "{problem}");
}

#[test]
fn a_directory_that_cannot_be_made_is_told() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let problem = Archive::open(&dir.path().join("file/deeper/archive.sqlite")).unwrap_err();
    assert!(
        problem.what.contains("directory cannot be made"),
        "{problem}"
    );
    assert!(problem.next_step.unwrap().contains("ROUNDTRIP_HOME"));
    let problem = Archive::open(dir.path()).unwrap_err();
    assert!(problem.what.contains("cannot be opened"), "{problem}");
}

#[test]
fn a_full_disk_keeps_the_trials_before_it() {
    let (_dir, archive) = archive();
    archive.begin(&run("a")).unwrap();
    archive.add_trial("a", &trial(0)).unwrap();
    let pages: i64 = archive
        .conn
        .pragma_query_value(None, "page_count", |r| r.get(0))
        .unwrap();
    let limit = format!("PRAGMA max_page_count({})", pages + 1);
    archive
        .conn
        .query_row(&limit, [], |r| r.get::<_, i64>(0))
        .unwrap();
    let problem = (1..50)
        .find_map(|i| archive.add_trial("a", &trial(i)).err())
        .unwrap();
    assert!(problem.what.contains("full"), "{problem}");
    assert!(problem.next_step.unwrap().contains("ROUNDTRIP_HOME"));
    let kept = archive.trials("a").unwrap();
    assert_eq!(kept, (0..kept.len() as u32).map(trial).collect::<Vec<_>>());
    assert_eq!(archive.find("last").unwrap(), run("a"));
}

#[test]
fn an_archive_that_stays_locked_is_told() {
    let (_dir, archive) = archive();
    let other = rusqlite::Connection::open(archive.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    archive
        .conn
        .busy_timeout(std::time::Duration::ZERO)
        .unwrap();
    let problem = archive.begin(&run("a")).unwrap_err();
    assert!(problem.what.contains("locked for too long"), "{problem}");
    other.execute_batch("ROLLBACK").unwrap();
    archive.begin(&run("a")).unwrap();
}
