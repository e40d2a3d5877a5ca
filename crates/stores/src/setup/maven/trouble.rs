//! Why Maven failed, from its own words, and what to do.

use roundtrip_model::{Kind, Problem};

/// The most lines of its words that are shown.
const MAX_LINES: usize = 8;
const MAX_LINE_CHARS: usize = 300;

/// Words of Maven, of Java and of the system, in small letters; what they mean; what to do.
const TROUBLES: [(Kind, &[&str], &str, &str); 4] = [
    (
        Kind::Missing,
        &[
            "java_home",
            "java: not found",
            "java: command not found",
            "no java runtime",
        ],
        "Maven finds no Java",
        "install one with `sudo apt-get install -y default-jre-headless`, and let JAVA_HOME name it \
         or be unset",
    ),
    (
        Kind::Failed,
        &["no space left on device", "disk quota exceeded"],
        "the disk is full where Maven keeps what it brings",
        "free some space there; Maven's setting `localRepository` moves its cache to another disk",
    ),
    (
        Kind::Failed,
        &[
            "unknown host",
            "unknownhostexception",
            "name resolution",
            "name or service not known",
            "network is unreachable",
            "no route to host",
            "connection refused",
            "connection reset",
            "connect timed out",
            "read timed out",
            "connection timed out",
            "offline mode",
            "premature end",
            "could not transfer",
        ],
        "the archive could not be brought over the network",
        "look at the connection, and at Maven's mirror and proxy settings",
    ),
    (
        Kind::Failed,
        &["could not find artifact", "was not found in"],
        "the archive is not where Maven looks for it",
        "look whether Maven's settings name a mirror that does not have it",
    ),
];

/// A problem out of what Maven said.
pub fn explain(name: &str, said: &str, ended: &str) -> Problem {
    let low = said.to_lowercase();
    let known = TROUBLES
        .into_iter()
        .find(|(_, words, ..)| words.iter().any(|word| low.contains(word)));
    let (kind, what, step) = match known {
        Some((kind, _, what, step)) => (kind, what.to_owned(), step),
        None => {
            let what = format!("Maven, which brings the archive, {ended}");
            (Kind::Failed, what, "look at what it said")
        }
    };
    Problem::new(kind, what)
        .next(format!(
            "{step}; then call `roundtrip setup {name}` again: it goes on with what is there"
        ))
        .with_log(last_words(said))
}

/// What it said of errors; where it said nothing of them, its last lines.
pub fn last_words(said: &str) -> String {
    let lines = || {
        said.lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
    };
    let is_error = |line: &&str| line.starts_with("[ERROR]") && line.len() > "[ERROR]".len();
    let mut told: Vec<&str> = lines().filter(is_error).take(MAX_LINES).collect();
    if told.is_empty() {
        let is_word = |line: &&str| !line.starts_with("[DEBUG]");
        told = lines().filter(is_word).collect();
        told.drain(..told.len().saturating_sub(MAX_LINES));
    }
    let cut = |line: &str| line.chars().take(MAX_LINE_CHARS).collect::<String>();
    told.into_iter().map(cut).collect::<Vec<_>>().join("\n")
}
