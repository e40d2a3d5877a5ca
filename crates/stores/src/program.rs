//! Finding a store's program on this machine, and what to do when it is not there.

use crate::artifact;
use crate::manifest::{Life, Manifest, Program};
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{Owned, Settings};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Where servers are installed that are not in everybody's `PATH`.
const ALSO: [&str; 3] = ["/usr/sbin", "/usr/bin", "/usr/local/bin"];
const VERSION_WITHIN: Duration = Duration::from_secs(5);
const MAX_VERSION_OUTPUT_BYTES: u64 = 64 * 1024;

/// What is there of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The program that would be started; `None` when it is missing, and for an embedded store.
    pub program: Option<PathBuf>,
    /// Its version, read by asking it.
    pub version: Option<String>,
    /// The one command that installs what is missing; `None` when nothing is.
    pub install: Option<String>,
}

impl Installed {
    /// Whether the store can be used.
    pub fn is_available(&self) -> bool {
        self.install.is_none()
    }
}

/// Looks what is there of a store.
pub fn doctor(manifest: &Manifest, self_exe: &Path) -> Installed {
    let program = match &manifest.life {
        Life::Embedded(_) => {
            return Installed {
                program: None,
                version: crate::store::embedded_version(manifest),
                install: None,
            };
        }
        Life::Process(process) => &process.program,
    };
    let found = look_for(manifest, program, self_exe);
    let version = match program.version() {
        None => Some(env!("CARGO_PKG_VERSION").to_owned()),
        Some(_) => found
            .as_deref()
            .and_then(|path| told_version(program, path)),
    };
    Installed {
        install: match (&found, &version, artifact::of(manifest)) {
            (None, ..) => manifest.install().map(str::to_owned),
            // It is unpacked and does not start: the system misses what it needs.
            (Some(_), None, Some(wanted)) => Some(wanted.install_packages()),
            _ => None,
        },
        version,
        program: found,
    }
}

/// The version of a program that the manifest would start, or of one in its place.
pub fn version_of(manifest: &Manifest, path: &Path) -> Option<String> {
    let Life::Process(process) = &manifest.life else {
        return None;
    };
    told_version(&process.program, path)
}

/// The version that a program tells; what stands in for the usual one is named.
fn told_version(program: &Program, path: &Path) -> Option<String> {
    let (args, said) = program.version()?;
    let version = version(path, args, said)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Some(match program {
        Program::Installed(wanted) if wanted.search.first().is_some_and(|usual| *usual != name) => {
            format!("{name} {version}")
        }
        _ => version,
    })
}

/// A program of this machine.
pub fn find(name: &str) -> Option<PathBuf> {
    search(&[name.to_owned()], std::env::var_os("PATH"))
}

/// The program that the manifest finds.
fn look_for(manifest: &Manifest, program: &Program, self_exe: &Path) -> Option<PathBuf> {
    match program {
        Program::Own => Some(self_exe.to_owned()),
        Program::Installed(wanted) => search(&wanted.search, std::env::var_os("PATH")),
        Program::Artifact(wanted) => {
            let folder = artifact::folder(manifest);
            let program = folder.join(&wanted.program);
            (artifact::is_complete(&folder) && is_executable(&program)).then_some(program)
        }
    }
}

/// The program to start: the one that is named, or the one that the manifest finds.
pub fn locate(
    manifest: &Manifest,
    program: &Program,
    named: Option<&Path>,
    self_exe: &Path,
) -> Result<PathBuf> {
    let store = &manifest.name;
    match named {
        Some(path) if is_executable(path) => Ok(path.to_owned()),
        Some(path) => Err(Problem::new(
            Kind::Missing,
            format!("{store} cannot be started: there is no such program"),
        )
        .at(path.display().to_string())
        .next("name a file that exists and can be executed")),
        None => look_for(manifest, program, self_exe).ok_or_else(|| {
            let problem = Problem::new(Kind::Missing, format!("{store} is not installed"));
            problem.next(match manifest.install() {
                Some(install) => format!("install it with `{install}`"),
                None => "look whether Roundtrip's own program can be executed".to_owned(),
            })
        }),
    }
}

/// The program where the user that it is to run as can reach it. What was brought lies in the cache
/// of the user who brought it, and root's home is closed to others: then its folder is linked into
/// the private directory, and copied where that is another file system.
pub fn within_reach(
    manifest: &Manifest,
    program: PathBuf,
    run_as: Option<u32>,
    dir: &Path,
) -> Result<PathBuf> {
    let folder = artifact::folder(manifest);
    let (Some(_), Ok(inside)) = (run_as, program.strip_prefix(&folder)) else {
        return Ok(program);
    };
    let is_open = |dir: &Path| fs::metadata(dir).is_ok_and(|m| m.permissions().mode() & 0o001 != 0);
    if folder.ancestors().all(is_open) {
        return Ok(program);
    }
    let linked = dir.join("program");
    link(&folder, &linked).map_err(|e| {
        let what = format!(
            "{} cannot be laid open to the user that it runs as: {e}",
            manifest.name
        );
        Problem::new(Kind::Failed, what)
            .at(linked.display().to_string())
            .next("free some space, or point TMPDIR at another directory")
    })?;
    Ok(linked.join(inside))
}

fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            link(&entry.path(), &target)?;
        } else if fs::hard_link(entry.path(), &target).is_err() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

fn search(names: &[String], path: Option<OsString>) -> Option<PathBuf> {
    let path = path.unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path)
        .chain(ALSO.map(PathBuf::from))
        .collect();
    names
        .iter()
        .flat_map(|name| dirs.iter().map(move |dir| dir.join(name)))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

fn version(program: &Path, args: &[String], said_then: &str) -> Option<String> {
    extract(&output(program, args)?, said_then)
}

/// What a program says when it is called so, on either of its outputs; `None` where it cannot be
/// started or does not end.
pub fn output(program: &Path, args: &[String]) -> Option<String> {
    // A file and not a pipe: what it leaves running cannot keep us waiting.
    let mut output: File = tempfile::tempfile().ok()?;
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(output.try_clone().ok()?)
        .stderr(output.try_clone().ok()?);
    let mut child = Owned::spawn(&mut command, &Settings::default()).ok()?;
    child.wait(VERSION_WITHIN).ok()??;
    output.rewind().ok()?;
    let mut said = Vec::new();
    let limited = output.take(MAX_VERSION_OUTPUT_BYTES);
    { limited }.read_to_end(&mut said).ok()?;
    Some(String::from_utf8_lossy(&said).into_owned())
}

/// What stands in `text` where the pattern has `{version}`: up to a blank, or to what follows in
/// the pattern.
pub fn extract(text: &str, pattern: &str) -> Option<String> {
    let (before, after) = pattern.split_once("{version}")?;
    let rest = &text[text.find(before)? + before.len()..];
    let word = rest.split_whitespace().next()?;
    let version = match after.trim() {
        "" => word,
        after => word.split(after).next()?,
    };
    (!version.is_empty()).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::InstalledProgram;
    use proptest::prelude::*;

    #[test]
    fn versions_of_known_servers_are_extracted() {
        for (text, pattern, version) in [
            ("memcached 1.6.18\n", "memcached {version}", "1.6.18"),
            ("Redis server v=7.0.15 sha=0:0", "v={version} sha", "7.0.15"),
            (
                "Server v=7.2.11 sha=97b6663c:0 malloc=jemalloc-5.3.0",
                "v={version} sha",
                "7.2.11",
            ),
            ("nginx version: nginx/1.22.1\n", "nginx/{version}", "1.22.1"),
            ("x (v2)", "(v{version})", "2"),
        ] {
            assert_eq!(extract(text, pattern).as_deref(), Some(version), "{text}");
        }
        assert_eq!(extract("something else", "memcached {version}"), None);
        assert_eq!(extract("memcached ", "memcached {version}"), None);
    }

    #[test]
    fn a_program_is_searched_in_path_before_the_usual_places() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sh");
        fs::write(&file, "").unwrap();
        let names = ["no-such-program".to_owned(), "sh".to_owned()];
        let path = Some(dir.path().as_os_str().to_owned());
        assert_eq!(search(&names, path.clone()), Some("/usr/bin/sh".into()));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(search(&names, path), Some(file));
        assert_eq!(search(&names[..1], None), None);
    }

    #[test]
    fn what_stands_in_for_the_usual_program_is_named_with_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let mut wanted = match &crate::find("redis").unwrap().life {
            Life::Process(process) => match &process.program {
                Program::Installed(wanted) => wanted.clone(),
                Program::Own | Program::Artifact(_) => panic!("it is installed"),
            },
            Life::Embedded(_) => panic!("it is a process"),
        };
        for (name, told) in [
            ("redis-server", "7.2.11"),
            ("valkey-server", "valkey-server 7.2.11"),
        ] {
            let file = dir.path().join(name);
            fs::write(
                &file,
                "#!/bin/sh\necho Server v=7.2.11 sha=97b6663c:0 bits=64\n",
            )
            .unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            let program = Program::Installed(wanted.clone());
            assert_eq!(told_version(&program, &file).as_deref(), Some(told));
        }
        // The usual one first, wherever in `PATH` it is.
        let path = Some(dir.path().as_os_str().to_owned());
        let found = |wanted: &InstalledProgram| search(&wanted.search, path.clone()).unwrap();
        assert!(found(&wanted).ends_with("redis-server"));
        wanted.search.remove(0);
        assert!(found(&wanted).ends_with("valkey-server"));
    }

    #[test]
    fn a_missing_program_comes_with_the_command_that_installs_it() {
        let wanted = InstalledProgram {
            search: vec!["no-such-program".to_owned()],
            version_args: vec![],
            version: "{version}".to_owned(),
            install: "get it".to_owned(),
        };
        let mut manifest = crate::find("memcached").unwrap().clone();
        let Life::Process(process) = &mut manifest.life else {
            panic!("memcached is a process");
        };
        process.program = Program::Installed(wanted);
        let program = process.program.clone();
        let missing = locate(&manifest, &program, None, Path::new("/self")).unwrap_err();
        assert_eq!(missing.kind, Kind::Missing);
        assert_eq!(missing.next_step.unwrap(), "install it with `get it`");
        let named = Some(Path::new("/no/such/file"));
        let missing = locate(&manifest, &program, named, Path::new("/self")).unwrap_err();
        assert_eq!(missing.place.unwrap(), "/no/such/file");

        let found = doctor(&manifest, Path::new("/self"));
        assert_eq!((found.program, found.version), (None, None));
        assert_eq!(found.install.unwrap(), "get it");
    }

    proptest! {
        #[test]
        fn no_text_makes_extraction_panic(text: String, pattern: String) {
            let _ = extract(&text, &pattern);
            let _ = extract(&text, &format!("{pattern}{{version}}{pattern}"));
        }
    }
}
