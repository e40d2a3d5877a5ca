//! Several Roundtrips on one archive, and one that dies.

use super::*;
use std::collections::HashSet;

#[test]
fn two_at_once_open_a_new_archive_and_add_trials() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive.sqlite");
    std::thread::scope(|scope| {
        for id in ["aa", "bb", "cc"] {
            let path = &path;
            scope.spawn(move || {
                let archive = Archive::open(path).unwrap();
                archive.begin(&run(id)).unwrap();
                for block in 0..20 {
                    archive.add_trial(id, &trial(block)).unwrap();
                    archive.update(&run(id)).unwrap();
                }
            });
        }
    });
    let archive = Archive::open(&path).unwrap();
    let expected: Vec<TrialRecord> = (0..20).map(trial).collect();
    for id in ["aa", "bb", "cc"] {
        assert_eq!(archive.trials(id).unwrap(), expected, "{id}");
    }
}

/// The child of the next test: adds trials until it is killed.
#[test]
fn child_adds_trials_for_ever() {
    let Some(path) = std::env::var_os("ROUNDTRIP_TEST_ARCHIVE") else {
        return;
    };
    let archive = Archive::open(path.as_ref()).unwrap();
    archive.begin(&run("child")).unwrap();
    (0..100_000).for_each(|block| archive.add_trial("child", &trial(block)).unwrap());
}

#[test]
fn a_killed_process_loses_no_trial_that_was_added() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive.sqlite");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::concurrency::child_adds_trials_for_ever"])
        .env("ROUNDTRIP_TEST_ARCHIVE", &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let seen = loop {
        let added = Archive::open_existing(&path)
            .and_then(|a| a.runs(1))
            .unwrap_or_default();
        match added.first() {
            Some(run) if run.trials >= 5 => break run.trials,
            _ => assert!(
                child.try_wait().unwrap().is_none(),
                "the child ended by itself"
            ),
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let archive = Archive::open(&path).unwrap();
    let trials = archive.trials("child").unwrap();
    assert!(trials.len() >= seen as usize);
    assert_eq!(
        trials,
        (0..trials.len() as u32).map(trial).collect::<Vec<_>>()
    );
    // The next Roundtrip goes on with it.
    archive
        .add_trial("child", &trial(trials.len() as u32))
        .unwrap();
}

#[test]
fn ids_of_the_same_second_are_told_apart() {
    let ids: HashSet<String> = (0..1000).map(|i| crate::new_run_id(1, i * 1049)).collect();
    assert_eq!(ids.len(), 1000);
}
