//! The program of a store: Roundtrip's own, one of this machine, or one that is brought.

use serde::Deserialize;

/// Which program serves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// Roundtrip's own executable.
    #[serde(rename = "self")]
    Own,
    /// A program on this machine.
    Installed(InstalledProgram),
    /// A program that `roundtrip setup` brings.
    Artifact(Artifact),
}

/// `[life.process.program.installed]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstalledProgram {
    /// Names to look for, the best first.
    pub search: Vec<String>,
    /// Arguments that make it tell its version.
    pub version_args: Vec<String>,
    /// What it says then, with `{version}` where the version stands.
    pub version: String,
    /// The one command that installs it.
    pub install: String,
}

/// `[life.process.program.artifact]`: an archive of a public repository, of which `roundtrip setup`
/// unpacks what is needed into a folder of its own ([`crate::artifact::folder`]).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// What it is called there: `GROUP:ARTIFACT:VERSION:TYPE:CLASSIFIER`.
    pub coordinate: String,
    /// How much is brought, said before it is.
    pub size_mb: u32,
    /// The SHA-256 of the archive, in small hexadecimal digits.
    pub sha256: String,
    /// What of it is unpacked: paths in the archive, in which `*` stands for any text, slashes too.
    pub unpack: Vec<String>,
    /// The program, in the unpacked folder.
    pub program: String,
    /// Arguments that make it tell its version.
    pub version_args: Vec<String>,
    /// What it says then, with `{version}` where the version stands.
    pub version: String,
    /// What it needs of Debian's packages.
    #[serde(default)]
    pub packages: Vec<String>,
    /// The one command that brings it.
    pub install: String,
}

impl Artifact {
    /// The version in its coordinate.
    pub fn release(&self) -> &str {
        self.coordinate.split(':').nth(2).unwrap_or_default()
    }

    /// The command that installs the packages it needs.
    pub fn install_packages(&self) -> String {
        format!("sudo apt-get install -y {}", self.packages.join(" "))
    }

    fn check(&self) -> Result<(), String> {
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let inside = |path: &str| !path.starts_with('/') && !path.split('/').any(|p| p == "..");
        if self
            .coordinate
            .split(':')
            .filter(|part| !part.is_empty())
            .count()
            != 5
        {
            return Err("`coordinate` has not five parts".to_owned());
        }
        if self.sha256.len() != 64 || !self.sha256.chars().all(is_hex) {
            return Err("`sha256` is not 64 small hexadecimal digits".to_owned());
        }
        if self.unpack.is_empty() || !self.unpack.iter().chain([&self.program]).all(|p| inside(p)) {
            return Err("`unpack` is empty, or a path leads out of the folder".to_owned());
        }
        Ok(())
    }
}

impl Program {
    /// Arguments that make it tell its version, and what it says then; `None` of Roundtrip itself.
    pub fn version(&self) -> Option<(&[String], &str)> {
        match self {
            Program::Own => None,
            Program::Installed(wanted) => Some((&wanted.version_args, &wanted.version)),
            Program::Artifact(wanted) => Some((&wanted.version_args, &wanted.version)),
        }
    }

    /// Says what is wrong with it.
    pub(super) fn check(&self) -> Result<(), String> {
        if self
            .version()
            .is_some_and(|(_, said)| !said.contains("{version}"))
        {
            return Err("`version` does not say {version}".to_owned());
        }
        match self {
            Program::Own => Ok(()),
            Program::Installed(wanted) if wanted.search.is_empty() => {
                Err("`search` is empty".to_owned())
            }
            Program::Installed(_) => Ok(()),
            Program::Artifact(wanted) => wanted.check(),
        }
    }
}
