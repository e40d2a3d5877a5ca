use super::super::{Options, Step};
use super::*;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

struct Zip {
    dir: tempfile::TempDir,
    writer: ZipWriter<File>,
}

impl Zip {
    fn new() -> Zip {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("a.zip")).unwrap();
        Zip {
            dir,
            writer: ZipWriter::new(file),
        }
    }

    fn file(mut self, name: &str, mode: u32, text: &[u8]) -> Zip {
        let options = SimpleFileOptions::default().unix_permissions(mode);
        self.writer.start_file(name, options).unwrap();
        self.writer.write_all(text).unwrap();
        self
    }

    fn link(mut self, name: &str, target: &str) -> Zip {
        let options = SimpleFileOptions::default();
        self.writer.add_symlink(name, target, options).unwrap();
        self
    }

    fn unpack(self, patterns: &[&str]) -> (tempfile::TempDir, PathBuf, Result<()>) {
        let Zip { dir, writer } = self;
        writer.finish().unwrap();
        let folder = dir.path().join("out");
        let outcome = unpack_in(&dir.path().join("a.zip"), patterns, &folder, false);
        (dir, folder, outcome)
    }
}

fn unpack_in(archive: &Path, patterns: &[&str], folder: &Path, stopped: bool) -> Result<()> {
    let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
    let options = Options {
        again: false,
        stop: &AtomicBool::new(stopped),
        progress: &|step: Step| assert!(step.done_bytes <= step.total_bytes),
    };
    unpack(archive, &patterns, folder, &options)
}

#[test]
fn only_what_is_wanted_is_unpacked_with_its_mode() {
    let (_dir, folder, outcome) = Zip::new()
        .file("bin/server", 0o6777, b"program")
        .file("bin/other", 0o755, b"other")
        .file("share/a/b.txt", 0o600, &[b'x'; 300_000])
        .link("lib/link.so", "../share/a/b.txt")
        .unpack(&["bin/server", "share/*", "lib/*.so"]);
    outcome.unwrap();
    let mode = |name: &str| {
        let metadata = fs::metadata(folder.join(name)).unwrap();
        metadata.permissions().mode() & 0o7777
    };
    assert_eq!(mode("bin/server") & !0o755, 0, "no more than it may");
    assert_eq!(mode("bin/server") & 0o700, 0o700);
    assert_eq!(mode("share/a/b.txt"), 0o600);
    assert!(!folder.join("bin/other").exists());
    assert_eq!(fs::read(folder.join("lib/link.so")).unwrap().len(), 300_000);
}

#[test]
fn nothing_leaves_the_folder() {
    for name in ["../evil", "a/../../evil", "/evil", "a/..\\evil"] {
        let (dir, _, outcome) = Zip::new().file(name, 0o644, b"x").unpack(&["*"]);
        // The writer itself makes some of them harmless.
        if let Err(problem) = outcome {
            assert!(problem.what.contains("leave"), "{name}: {problem}");
        }
        assert!(!dir.path().join("evil").exists(), "{name}");
    }
    for target in ["/etc", "../..", "a/../../../x", ""] {
        let (_dir, folder, outcome) = Zip::new().link("l/link", target).unpack(&["*"]);
        assert!(outcome.is_err(), "{target:?}");
        assert!(folder.join("l/link").symlink_metadata().is_err());
    }
    // Each link stays inside by its own words, and together they would not.
    let (dir, _, outcome) = Zip::new()
        .link("a/b", "..")
        .link("c", "a/b/../x")
        .file("c/evil", 0o644, b"x")
        .unpack(&["*"]);
    assert!(outcome.is_err());
    assert!(!dir.path().join("x/evil").exists() && !dir.path().join("evil").exists());
}

#[test]
fn a_file_is_not_written_through_a_link_of_the_same_name() {
    let (_dir, folder, outcome) = Zip::new()
        .file("real", 0o644, b"first")
        .link("two", "real")
        .file("two/", 0o644, b"")
        .unpack(&["*"]);
    assert!(outcome.is_err(), "a folder is not a link");
    assert_eq!(fs::read(folder.join("real")).unwrap(), b"first");
}

#[test]
fn paths_and_links_are_judged_by_their_words() {
    for (path, inside) in [
        ("a/b", true),
        ("a", true),
        ("", false),
        ("/a", false),
        ("..", false),
        ("a/../b", false),
        ("a\\b", false),
        ("a\0", false),
    ] {
        assert_eq!(is_inside(path), inside, "{path:?}");
    }
    assert!(!is_inside(&"a/".repeat(1000)));
    for (entry, target, inside) in [
        ("lib/a", "b", true),
        ("lib/a", "../b", true),
        ("lib/a", "../../b", false),
        ("a", "../b", false),
        ("a", "/b", false),
        ("a", "", false),
    ] {
        assert_eq!(leads_inside(entry, target), inside, "{entry} -> {target}");
    }
}

#[test]
fn a_star_stands_for_any_text() {
    for (pattern, path, fits) in [
        ("bin/x", "bin/x", true),
        ("bin/x", "bin/xy", false),
        ("lib/*", "lib/a/b", true),
        ("lib/*", "lib", false),
        ("*.so", "a/b.so", true),
        ("a*b*c", "abc", true),
        ("a*b*c", "acb", false),
        ("a*a", "a", false),
        ("*", "", true),
    ] {
        assert_eq!(matches(pattern, path), fits, "{pattern} {path}");
    }
}

#[test]
fn a_damaged_archive_and_a_stop_are_told_apart() {
    let (dir, _, outcome) = Zip::new().file("a", 0o644, &[7; 1000]).unpack(&["b"]);
    assert!(
        outcome
            .unwrap_err()
            .what
            .contains("nothing of what is needed")
    );
    let archive = dir.path().join("a.zip");
    let stopped = unpack_in(&archive, &["a"], &dir.path().join("s"), true).unwrap_err();
    assert_eq!(stopped.kind, Kind::Interrupted);
    let mut bytes = fs::read(&archive).unwrap();
    // In the middle of the data of its only entry.
    bytes[33] ^= 0x55;
    fs::write(&archive, &bytes).unwrap();
    let damaged = unpack_in(&archive, &["a"], &dir.path().join("d"), false).unwrap_err();
    assert_eq!(damaged.kind, Kind::Failed, "{damaged}");
    fs::write(&archive, b"no zip").unwrap();
    let none = unpack_in(&archive, &["a"], &dir.path().join("n"), false).unwrap_err();
    assert!(none.what.contains("cannot be unpacked"), "{none}");
}

#[test]
fn a_full_disk_is_told_before_it_is_full() {
    let dir = tempfile::tempdir().unwrap();
    room(dir.path(), 1).unwrap();
    let full = room(dir.path(), u64::MAX).unwrap_err();
    assert!(full.what.contains("MB are free"), "{full}");
    assert!(full.next_step.unwrap().contains("free some space"));
}
