//! What must hold before a change lands, and what it needs installed.

use crate::{Outcome, fuzz, tidy};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests drive: Debian's packages, by the binary or extension that shows they are there.
const PACKAGES: [&str; 15] = [
    "memcached",
    "redis-server",
    "php-cli",
    "php-memcache",
    "php-memcached",
    "php-redis",
    "php-igbinary",
    "php-msgpack",
    "php-mysql",
    "php-nrk-predis",
    "mariadb-server",
    // What `roundtrip setup mysql` needs: to bring it, and to start it.
    "maven",
    "openjdk-17-jre-headless",
    "libaio1",
    "libnuma1",
];

/// Where a package's scripts ask whether they may start a service; 101 is no.
const POLICY: &str = "/usr/sbin/policy-rc.d";

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
    let install = [&["install", "--no-install-recommends"], missing.as_slice()].concat();
    without_services(root, is_root, || apt(&install))
}

/// Installs while no package may start its service: tests start their own servers, and a database
/// that nobody asked for must not be left running.
fn without_services(root: &Path, is_root: bool, install: impl Fn() -> Outcome) -> Outcome {
    if Path::new(POLICY).exists() {
        // Somebody decided already what may start.
        return install();
    }
    let prefix: &[&str] = if is_root { &[] } else { &["sudo", "-n"] };
    let shell = |script: String| {
        let words = [prefix, &["sh", "-c", &script]].concat();
        step(root, &words, &[])
    };
    // Should this one be killed in between, what it leaves behind forbids nothing any more.
    let while_alive = format!("[ -d /proc/{} ] && exit 101", std::process::id());
    let refuse = format!("#!/bin/sh\\n{while_alive}\\nexit 0\\n");
    shell(format!(
        "printf '{refuse}' > {POLICY} && chmod 755 {POLICY}"
    ))?;
    let installed = install();
    shell(format!("rm -f {POLICY}"))?;
    installed
}

/// Brings what is in no package: `roundtrip setup` knows what, and does nothing where it is there.
fn setup_stores(root: &Path) -> Outcome {
    let run = ["cargo", "run", "-q", "-p", "roundtrip", "--", "setup"];
    step(root, &[run.as_slice(), &["mysql"]].concat(), &[])
}

fn is_installed(package: &str) -> bool {
    Command::new("dpkg-query")
        .args(["-W", "-f", "${Status}", package])
        .output()
        .is_ok_and(|o| o.stdout.ends_with(b"ok installed"))
}

/// Everything: formatting, lints of Rust and PHP, tidiness, tests, fuzzers.
pub fn run(root: &Path) -> Outcome {
    setup(root)?;
    step(root, &["cargo", "fmt", "--all", "--check"], &[])?;
    let fuzzers = ["--manifest-path", "fuzz/Cargo.toml", "--check"];
    step(root, &[&["cargo", "fmt"], fuzzers.as_slice()].concat(), &[])?;
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
    lint_php(root)?;
    tidy::run(root)?;
    setup_stores(root)?;
    step(
        root,
        &["cargo", "test", "--workspace", "--no-fail-fast"],
        &[],
    )?;
    fuzz::for_seconds(root, fuzz::SECONDS)
}

/// Where PHP is kept, by hand: what a build or a tool leaves elsewhere is nobody's to lint.
const PHP_FOLDERS: [&str; 2] = ["workers/php", "runs"];

/// Has PHP parse every file of its language: PHP tells a slip only when it comes to the file.
fn lint_php(root: &Path) -> Outcome {
    let mut files = Vec::new();
    for folder in PHP_FOLDERS {
        let folder = root.join(folder);
        php_files(&folder, &mut files).map_err(|e| vec![format!("{}: {e}", folder.display())])?;
    }
    files.sort();
    let complaints: Vec<String> = files.iter().filter_map(|file| complaint(file)).collect();
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(complaints)
    }
}

fn php_files(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        // A link is not followed, so there is no way round in a circle.
        if entry.file_type()?.is_dir() {
            php_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "php") {
            files.push(path);
        }
    }
    Ok(())
}

/// What PHP has to say against a file.
fn complaint(file: &Path) -> Option<String> {
    let lint = ["-d", "display_errors=stderr", "-d", "log_errors=0", "-l"];
    match Command::new("php").args(lint).arg(file).output() {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!(
            "{}: {}",
            file.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
        Err(e) => Some(format!("php -l {}: {e}", file.display())),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_in_a_php_file_is_told_with_its_line() {
        let folder = std::env::temp_dir().join(format!("lint-php-{}", std::process::id()));
        for name in PHP_FOLDERS {
            std::fs::create_dir_all(folder.join(name).join("deep")).unwrap();
        }
        std::fs::write(folder.join("runs/deep/good.php"), "<?php\necho 1;\n").unwrap();
        assert_eq!(lint_php(&folder), Ok(()));
        std::fs::write(folder.join("runs/deep/bad.php"), "<?php\necho 1\nif;\n").unwrap();
        let complaints = lint_php(&folder).unwrap_err();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("bad.php") && complaints[0].contains("on line 3"));
    }
}
