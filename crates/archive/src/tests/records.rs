use super::*;
use crate::schema;
use roundtrip_model::record::RunOverview;
use rusqlite::Connection;

#[test]
fn every_record_comes_back_as_it_was() {
    let (_dir, archive) = archive();
    let mut record = run("20261120-114502-k3f9");
    archive.begin(&record).unwrap();
    let trials: Vec<TrialRecord> = (0..5).map(trial).collect();
    for trial in &trials {
        archive.add_trial(&record.id, trial).unwrap();
    }
    assert_eq!(archive.find("last").unwrap(), record);
    assert_eq!(archive.trials(&record.id).unwrap(), trials);

    record.state = RunState::Finished;
    record.end_reason = Some(EndReason::Decided);
    record.ended_unix_ms = Some(record.started_unix_ms + 61_500);
    record.looks = vec![5];
    archive.update(&record).unwrap();
    let reopened = Archive::open_existing(archive.path()).unwrap();
    assert_eq!(reopened.find("2026").unwrap(), record);
    assert_eq!(
        reopened.runs(10).unwrap(),
        [RunOverview {
            id: record.id.clone(),
            experiment: "mine".to_owned(),
            state: RunState::Finished,
            started_unix_ms: record.started_unix_ms,
            trials: 5,
            took_ms: Some(61_500),
        }]
    );
}

#[test]
fn every_state_is_listed_as_itself() {
    let (_dir, archive) = archive();
    let states = [
        RunState::Running,
        RunState::Finished,
        RunState::Interrupted,
        RunState::Failed,
    ];
    for (i, state) in states.into_iter().enumerate() {
        let record = RunRecord {
            state,
            ..run(&format!("r{i}"))
        };
        archive.begin(&record).unwrap();
        assert_eq!(archive.runs(1).unwrap()[0].state, state);
    }
    assert_eq!(archive.runs(2).unwrap().len(), 2);
}

#[test]
fn a_run_is_found_by_id_by_a_unique_prefix_and_as_the_last() {
    let (_dir, archive) = archive();
    for (id, later) in [("20260101-000000-aaaa", 0), ("20260101-000000-aaab", 1)] {
        let mut record = run(id);
        record.started_unix_ms += later;
        archive.begin(&record).unwrap();
    }
    let found = |text: &str| archive.find(text).map(|r| r.id);
    assert_eq!(
        found("20260101-000000-aaaa").unwrap(),
        "20260101-000000-aaaa"
    );
    assert_eq!(
        found("20260101-000000-aaab").unwrap(),
        "20260101-000000-aaab"
    );
    assert_eq!(found("last").unwrap(), "20260101-000000-aaab");

    let ambiguous = found("2026").unwrap_err();
    assert_eq!(ambiguous.what, "several runs begin with `2026`");
    assert_eq!(
        ambiguous.next_step.unwrap(),
        "type more of it: 20260101-000000-aaab, 20260101-000000-aaaa"
    );
    let slip = found("20260101-000000-aaac").unwrap_err();
    assert!(
        slip.next_step
            .unwrap()
            .starts_with("did you mean `20260101-000000-aaab`?")
    );
    // Neither is a wildcard.
    assert!(found("%").is_err() && found("2026____").is_err());
}

#[test]
fn an_id_that_another_begins_with_is_itself() {
    let (_dir, archive) = archive();
    archive.begin(&run("aa")).unwrap();
    archive.begin(&run("aab")).unwrap();
    assert_eq!(archive.find("aa").unwrap().id, "aa");
}

#[test]
fn an_empty_home_says_how_to_make_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive.sqlite");
    let missing = Archive::open_existing(&path).unwrap_err();
    assert_eq!(missing.what, "there are no runs yet");
    assert!(
        missing
            .next_step
            .unwrap()
            .contains("roundtrip run quickstart")
    );
    assert!(!path.exists(), "looking must not make a file");
    let empty = Archive::open(&path).unwrap();
    for text in ["last", "2026"] {
        assert_eq!(empty.find(text).unwrap_err().what, "there are no runs yet");
    }
}

#[test]
fn a_run_that_is_not_there_takes_no_trial_and_no_update() {
    let (_dir, archive) = archive();
    archive.begin(&run("here")).unwrap();
    for problem in [
        archive.add_trial("heer", &trial(0)).unwrap_err(),
        archive.update(&run("heer")).unwrap_err(),
        archive
            .export("heer", &archive.path().with_extension("x"))
            .unwrap_err(),
    ] {
        assert!(
            problem.next_step.unwrap().contains("did you mean `here`?"),
            "{}",
            problem.what
        );
    }
    assert_eq!(archive.runs(1).unwrap()[0].trials, 0);
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let (_dir, archive) = archive();
    let mut record = run("nan");
    record
        .environment
        .loop_ns_per_op
        .insert("php".to_owned(), f64::NAN);
    assert_eq!(archive.begin(&record).unwrap_err().kind, Kind::Internal);
    assert!(archive.begin(&run("../up")).is_err());
    archive.begin(&run("a")).unwrap();
    let mut long = trial(0);
    long.phases[0].wall_ns = u64::MAX;
    assert!(archive.add_trial("a", &long).is_err());
    assert_eq!(archive.trials("a").unwrap(), []);
}

#[test]
fn an_archive_of_each_older_version_is_brought_up_to_date() {
    for version in 0..=schema::current() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive.sqlite");
        schema::migrate(&Connection::open(&path).unwrap(), version).unwrap();
        let archive = Archive::open(&path).unwrap();
        assert_eq!(schema::version(&archive.conn).unwrap(), schema::current());
        archive.begin(&run("a")).unwrap();
        archive.add_trial("a", &trial(0)).unwrap();
        assert_eq!(archive.trials("a").unwrap(), [trial(0)]);
    }
}

#[test]
fn the_log_is_written_ahead() {
    let (_dir, archive) = archive();
    let mode: String = archive
        .conn
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
}
