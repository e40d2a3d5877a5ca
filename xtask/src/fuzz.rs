//! The fuzzers of `fuzz/`, each for some seconds. What one finds fails this, and so the CI.
//! `docs/decisions/0012-fuzzing-on-stable.md` says why they run as they do.

use crate::Outcome;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The version that is installed where none is.
const CARGO_FUZZ: &str = "0.13.1";
/// How long each target runs where nobody says.
pub const SECONDS: u64 = 10;
/// Every input is tried at each of its splits, so long ones cost their square.
const MAX_INPUT_BYTES: usize = 512;
/// Messages of real servers, to begin with.
const SEEDS: &str = "crates/wire/tests/vectors";

/// `--seconds N`
pub fn run(root: &Path, arguments: &[String]) -> Outcome {
    let seconds = match arguments {
        [] => SECONDS,
        [name, number] if name == "--seconds" => number
            .parse()
            .ok()
            .filter(|seconds| *seconds > 0)
            .ok_or(vec![format!("`{number}` is not a number of seconds")])?,
        _ => return Err(vec!["usage: cargo xtask fuzz [--seconds N]".to_owned()]),
    };
    for_seconds(root, seconds)
}

/// Runs every target for so long.
pub fn for_seconds(root: &Path, seconds: u64) -> Outcome {
    install()?;
    let mut found = Vec::new();
    for target in targets(root)? {
        println!("+ cargo fuzz run {target}, {seconds} s");
        if let Err(complaints) = run_one(root, &target, seconds) {
            found.extend(complaints);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Installs what runs the targets where it is not there.
fn install() -> Outcome {
    let is_there = Command::new("cargo")
        .args(["fuzz", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if is_there {
        return Ok(());
    }
    println!("+ cargo install cargo-fuzz");
    succeed(Command::new("cargo").args([
        "install",
        "--locked",
        "--version",
        CARGO_FUZZ,
        "cargo-fuzz",
    ]))
}

/// The names of the targets: those of their files.
fn targets(root: &Path) -> Result<Vec<String>, Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let complain = |e: std::io::Error| vec![format!("{}: {e}", folder.display())];
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(complain)? {
        let name = entry.map_err(complain)?.file_name();
        if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".rs")) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    if names.is_empty() {
        return Err(vec![format!("{}: there is no target", folder.display())]);
    }
    Ok(names)
}

fn run_one(root: &Path, target: &str, seconds: u64) -> Outcome {
    let corpus = root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus).map_err(|e| vec![format!("{}: {e}", corpus.display())])?;
    let mut command = Command::new("cargo");
    command
        .args([
            "fuzz",
            "run",
            "--fuzz-dir",
            "fuzz",
            "--sanitizer",
            "none",
            target,
        ])
        .arg(corpus)
        .arg(root.join(SEEDS))
        .args(["--", "-verbosity=0", "-print_final_stats=1"])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={MAX_INPUT_BYTES}"))
        .current_dir(root);
    succeed(&mut command).map_err(|_| {
        vec![format!(
            "fuzz target {target} failed: see fuzz/artifacts/{target}"
        )]
    })
}

fn succeed(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(vec![format!("{command:?}: {status}")]),
        Err(e) => Err(vec![format!("{command:?}: {e}")]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_built_and_has_its_own_name() {
        let root = crate::root();
        let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let targets = targets(&root).unwrap();
        assert!(targets.len() >= 4, "{targets:?}");
        for target in &targets {
            assert!(
                manifest.contains(&format!("name = \"{target}\"\n")),
                "{target}"
            );
        }
        assert_eq!(manifest.matches("[[bin]]").count(), targets.len());
    }

    #[test]
    fn what_is_not_a_number_of_seconds_is_refused() {
        for wrong in [
            vec!["--seconds"],
            vec!["--seconds", "0"],
            vec!["--seconds", "x"],
            vec!["5"],
        ] {
            let wrong: Vec<String> = wrong.into_iter().map(str::to_owned).collect();
            assert!(
                run(Path::new("/no/such/place"), &wrong).is_err(),
                "{wrong:?}"
            );
        }
    }
}
