//! What must hold before a change lands, and what it needs installed.

use crate::{Outcome, tidy};
use std::path::Path;
use std::process::Command;

/// What the tests drive: Debian's packages, by the binary or extension that shows they are there.
const PACKAGES: [&str; 6] = [
    "memcached",
    "php-cli",
    "php-memcache",
    "php-memcached",
    "php-igbinary",
    "php-msgpack",
];

/// Installs the packages that are missing. Needs root, or sudo without a question.
pub fn setup(root: &Path) -> Outcome {
    let missing: Vec<&str> = PACKAGES
        .into_iter()
        .filter(|package| !is_installed(package))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" "));
    let is_root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|o| o.stdout == b"0\n");
    let apt = |args: &[&str]| -> Outcome {
        let prefix: &[&str] = if is_root { &[] } else { &["sudo", "-n"] };
        let words = [prefix, &["apt-get", "-y"], args].concat();
        step(root, &words, &[("DEBIAN_FRONTEND", "noninteractive")])
    };
    apt(&["update"])?;
    apt(&[&["install", "--no-install-recommends"], missing.as_slice()].concat())
}

fn is_installed(package: &str) -> bool {
    Command::new("dpkg-query")
        .args(["-W", "-f", "${Status}", package])
        .output()
        .is_ok_and(|o| o.stdout.ends_with(b"ok installed"))
}

/// Everything: formatting, lints, tidiness, tests.
pub fn run(root: &Path) -> Outcome {
    setup(root)?;
    step(root, &["cargo", "fmt", "--all", "--check"], &[])?;
    step(
        root,
        &[
            "cargo",
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        &[],
    )?;
    tidy::run(root)?;
    step(
        root,
        &["cargo", "test", "--workspace", "--no-fail-fast"],
        &[],
    )
}

fn step(root: &Path, words: &[&str], env: &[(&str, &str)]) -> Outcome {
    println!("+ {}", words.join(" "));
    let status = Command::new(words[0])
        .args(&words[1..])
        .envs(env.iter().copied())
        .current_dir(root)
        .status()
        .map_err(|e| vec![format!("{}: {e}", words[0])])?;
    if status.success() {
        Ok(())
    } else {
        Err(vec![format!("failed: {}", words.join(" "))])
    }
}
