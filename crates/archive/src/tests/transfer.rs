use super::*;
use crate::Imported;
use rusqlite::{Connection, params};
use std::fs;
use std::path::{Path, PathBuf};

/// An exported run of four trials.
fn exported() -> (TempDir, PathBuf) {
    let (dir, archive) = archive();
    for id in ["a", "other"] {
        archive.begin(&run(id)).unwrap();
        (0..4).for_each(|i| archive.add_trial(id, &trial(i)).unwrap());
    }
    let path = dir.path().join("a.roundtrip");
    archive.export("a", &path).unwrap();
    (dir, path)
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn a_run_goes_out_as_one_file_and_comes_in_the_same() {
    let (dir, path) = exported();
    for ending in ["-wal", "-shm", "-journal"] {
        let beside = format!("{}{ending}", path.display());
        assert!(!Path::new(&beside).exists(), "{ending}");
    }
    let before = fs::read(&path).unwrap();
    let (home, there) = archive();
    assert_eq!(there.import(&path).unwrap().added, ids(&["a"]));
    assert_eq!(there.find("a").unwrap(), run("a"));
    assert_eq!(
        there.trials("a").unwrap(),
        (0..4).map(trial).collect::<Vec<_>>()
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    // Nothing is left beside the archive.
    let left = fs::read_dir(home.path().join("home")).unwrap();
    assert!(left.flatten().all(|e| {
        e.file_name()
            .to_string_lossy()
            .starts_with("archive.sqlite")
    }));
    drop(dir);
}

#[test]
fn a_run_that_is_there_already_is_kept() {
    let (_dir, path) = exported();
    let (_home, there) = archive();
    there.import(&path).unwrap();
    let again = Imported {
        present: ids(&["a"]),
        ..Imported::default()
    };
    assert_eq!(there.import(&path).unwrap(), again);
    there.add_trial("a", &trial(9)).unwrap();
    assert_eq!(there.import(&path).unwrap().differing, ids(&["a"]));
    assert_eq!(there.trials("a").unwrap().len(), 5);
}

#[test]
fn a_whole_archive_comes_in_with_all_its_runs() {
    let (dir, _) = exported();
    let (_home, there) = archive();
    let imported = there
        .import(&dir.path().join("home/archive.sqlite"))
        .unwrap();
    assert_eq!(imported.added, ids(&["other", "a"]));
}

#[test]
fn an_export_does_not_write_over_a_file() {
    let (dir, archive) = archive();
    archive.begin(&run("a")).unwrap();
    let path = dir.path().join("precious");
    fs::write(&path, "precious").unwrap();
    assert!(
        archive
            .export("a", &path)
            .unwrap_err()
            .what
            .contains("there already")
    );
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    assert!(archive.export("a", &dir.path().join("no/where")).is_err());
}

/// Imports an export that was tampered with; it must be refused, and nothing be kept.
fn refused(tamper: &str) -> Problem {
    let (_dir, path) = exported();
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.execute_batch(tamper).unwrap();
    drop(conn);
    refuses(&path, tamper)
}

fn refuses(path: &Path, case: &str) -> Problem {
    let (_home, there) = archive();
    let problem = there.import(path).expect_err(case);
    assert_eq!(
        problem.place.as_deref(),
        Some(path.to_str().unwrap()),
        "{case}"
    );
    assert_eq!(there.runs(9).unwrap(), [], "{case}");
    problem
}

#[test]
fn hostile_files_are_refused() {
    for tamper in [
        // What would run when a table is touched.
        "DROP TABLE histogram; CREATE VIEW histogram AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS trial, i AS phase, i AS hdr, i AS crc32 FROM n",
        "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
        "DROP INDEX trial_by_run",
        "ALTER TABLE run ADD COLUMN more TEXT",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = -1",
        "PRAGMA user_version = 99",
        "PRAGMA application_id = 1",
        // Records that are not what they were.
        "DELETE FROM trial; DELETE FROM histogram; DELETE FROM run",
        "UPDATE run SET id = '../../etc'",
        "UPDATE run SET state = 'x'",
        "UPDATE run SET record = 'null'",
        "UPDATE trial SET record = '{}'",
        "UPDATE trial SET record = CAST(zeroblob(9000000) AS TEXT)",
        "UPDATE histogram SET phase = 64 WHERE phase = 1",
        "UPDATE histogram SET hdr = zeroblob(9000000)",
        "UPDATE histogram SET hdr = x'1c849313'",
        "DROP TABLE response_histogram",
        "UPDATE response_histogram SET phase = 64 WHERE phase = 0",
        "UPDATE response_histogram SET hdr = zeroblob(9000000)",
        "UPDATE response_histogram SET hdr = x'1c849313'",
    ] {
        refused(tamper);
    }
}

/// The checksum is no secret, so a hostile file has the right one.
fn with_checksum(table: &str, column: &str, value: &dyn rusqlite::ToSql, bytes: &[u8]) -> Problem {
    let (_dir, path) = exported();
    let conn = Connection::open(&path).unwrap();
    let update = format!("UPDATE {table} SET {column} = ?1, crc32 = ?2");
    conn.execute(&update, params![value, crc32fast::hash(bytes)])
        .unwrap();
    drop(conn);
    refuses(&path, &update)
}

fn hostile_text(table: &str, text: &str) -> Problem {
    with_checksum(table, "record", &text, text.as_bytes())
}

#[test]
fn hostile_records_with_a_right_checksum_are_refused() {
    let json = |t: &TrialRecord| serde_json::to_string(t).unwrap();
    hostile_text("trial", &"[".repeat(1_000_000));
    hostile_text("trial", "{\"block\":-1}");
    let mut many = trial(0);
    many.phases = vec![many.phases[0].clone(); 65];
    hostile_text("trial", &json(&many));
    let mut long = trial(0);
    long.phases[1].user_ns = Some(u64::MAX);
    hostile_text("trial", &json(&long));
    let mut late = trial(0);
    late.phases[0].gaps[0].lasted_ns = u64::MAX;
    hostile_text("trial", &json(&late));
    let mut broken = trial(0);
    broken.phases[0].gaps = vec![broken.phases[0].gaps[0]; 100_001];
    hostile_text("trial", &json(&broken));
    let mut named = trial(0);
    named.variant = "v".repeat(2000);
    hostile_text("trial", &json(&named));
    let mut other = run("a");
    other.experiment_text = "name = 7".to_owned();
    hostile_text("run", &serde_json::to_string(&other).unwrap());
    other = run("b");
    hostile_text("run", &serde_json::to_string(&other).unwrap());
}

#[test]
fn hostile_histograms_with_a_right_checksum_are_refused() {
    let good = Histogram::new().to_bytes();
    let header = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        for table in ["histogram", "response_histogram"] {
            with_checksum(table, "hdr", &bad, &bad);
        }
    };
    header(4, &u32::MAX.to_be_bytes());
    header(12, &5u32.to_be_bytes());
    header(0, &0x1c84_9314u32.to_be_bytes());
    header(24, &0u64.to_be_bytes());
}

#[test]
fn what_is_no_file_or_empty_or_garbage_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    refuses(&path, "missing");
    refuses(dir.path(), "a directory");
    fs::write(&path, "").unwrap();
    refuses(&path, "empty");
    fs::write(&path, "garbage".repeat(9999)).unwrap();
    refuses(&path, "garbage");
    let whole = fs::read(exported().1.as_path()).unwrap_or_default();
    fs::write(&path, &whole[..whole.len() / 3]).unwrap();
    refuses(&path, "truncated");
}

#[test]
fn a_run_of_the_version_without_response_times_comes_in_with_its_service_times() {
    let (_dir, path) = exported();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("DROP TABLE response_histogram; PRAGMA user_version = 1")
        .unwrap();
    drop(conn);
    let (_home, there) = archive();
    assert_eq!(there.import(&path).unwrap().added, ids(&["a"]));
    for (i, found) in there.trials("a").unwrap().into_iter().enumerate() {
        let mut expected = trial(i as u32);
        for phase in &mut expected.phases {
            phase.response = None;
        }
        assert_eq!(found, expected);
    }
}
