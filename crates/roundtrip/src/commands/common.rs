//! What several commands share: finding the archive, running a session, making the document.

use crate::args::HowArgs;
use crate::progress::Progress;
use crate::{output, signals};
use roundtrip_archive::Archive;
use roundtrip_lab::bench::Addresses;
use roundtrip_lab::session::{self, Outcome, Surroundings, Wishes};
use roundtrip_lab::{engine, faults, stats};
use roundtrip_model::record::RunRecord;
use roundtrip_model::{Experiment, Kind, Problem, Result};
use roundtrip_report::Document;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Roundtrip's own executable.
pub fn self_exe() -> Result<PathBuf> {
    std::env::current_exe().map_err(|e| {
        Problem::new(
            Kind::Internal,
            format!("Roundtrip cannot find its own executable: {e}"),
        )
    })
}

/// The archive, made when it is not there.
pub fn archive() -> Result<Archive> {
    Archive::open(&roundtrip_archive::default_path()?)
}

/// The archive, which must be there.
pub fn existing_archive() -> Result<Archive> {
    Archive::open_existing(&roundtrip_archive::default_path()?)
}

/// `--store NAME=ADDRESS` as a store's address; `--store NAME` names a store alone.
pub fn addresses(stores: &[String]) -> (Addresses, Vec<String>) {
    let mut addresses = Addresses::new();
    let mut names = Vec::new();
    for store in stores {
        match store.split_once('=') {
            Some((name, address)) => {
                addresses.insert(name.to_owned(), address.to_owned());
                names.push(name.to_owned());
            }
            None => names.push(store.clone()),
        }
    }
    (addresses, names)
}

/// How the run is to go, and the command that makes it again.
pub fn wishes(how: &HowArgs) -> Result<Wishes> {
    // The format is checked before hours are spent.
    roundtrip_report::format(&how.format)?;
    Ok(Wishes {
        self_exe: self_exe()?,
        seed: how.seed,
        addresses: addresses(&how.stores).0,
        allow_remote: how.allow_remote,
        deadline: how.deadline,
        command: this_command(),
    })
}

/// The command line without its seed, quoted for a shell.
pub fn this_command() -> String {
    let mut words = vec!["roundtrip".to_owned()];
    let mut arguments = std::env::args().skip(1);
    while let Some(word) = arguments.next() {
        if word == "--seed" {
            arguments.next();
        } else if !word.starts_with("--seed=") {
            words.push(quoted(word));
        }
    }
    words.join(" ")
}

fn quoted(word: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// What a session starts from.
pub enum From<'a> {
    /// The beginning of an experiment.
    Start(&'a Experiment),
    /// Where a run was left.
    Left(Box<Outcome>),
}

/// Runs a session with progress and Ctrl-C, and shows its report.
pub fn session(from: From<'_>, wishes: &Wishes, format: &str, quiet: bool) -> Result<()> {
    let mut archive = archive()?;
    let stop = signals::stop_flag()?;
    let mut progress = Progress::new(quiet);
    progress.say("looking at what is installed");
    let mut began = |run: &RunRecord| {
        if !quiet {
            output::note(&format!("run {} of {}", run.id, run.experiment));
        }
    };
    let experiment = match &from {
        From::Start(experiment) => (*experiment).clone(),
        From::Left(outcome) => experiment_of(&outcome.run)?,
    };
    let outcome = if experiment.is_of_faults() {
        let mut say = |what: &str, left: Option<Duration>| match left {
            Some(left) => progress.say_with(what, left),
            None => progress.say(what),
        };
        let around = faults::Surroundings {
            archive: &mut archive,
            say: &mut say,
            stop: &stop,
            began: &mut began,
        };
        match from {
            From::Start(experiment) => faults::start(experiment, wishes, around),
            From::Left(outcome) => faults::resume(&experiment, *outcome, wishes, around),
        }
    } else {
        let around = Surroundings {
            archive: &mut archive,
            observer: &mut progress,
            stop: &stop,
            began: &mut began,
        };
        match from {
            From::Start(experiment) => session::start(experiment, wishes, around),
            From::Left(outcome) => session::resume(*outcome, wishes, around),
        }
    };
    progress.finish();
    let document = document(outcome?)?;
    output::write(&rendered(&document, format)?)?;
    let page = write_page(&document)?;
    output::note(&format!("report: {}", page.display()));
    Ok(())
}

/// A run of the archive as a document.
pub fn find(archive: &Archive, run: &str) -> Result<Document> {
    let run = archive.find(run)?;
    let trials = archive.trials(&run.id)?;
    document(Outcome { run, trials })
}

/// The experiment that a run was made of.
fn experiment_of(run: &RunRecord) -> Result<Experiment> {
    let place = format!("the experiment of run {}", run.id);
    Experiment::parse(&run.experiment_text, &place)
}

/// What is concluded from a run, ready to be shown.
pub fn document(outcome: Outcome) -> Result<Document> {
    let Outcome { run, trials } = outcome;
    let experiment = experiment_of(&run)?;
    let is_final = engine::last_look_is_final(&run);
    let analysis = stats::analyse(&experiment, &trials, &run.looks, is_final);
    Ok(Document {
        run,
        experiment,
        trials,
        analysis,
    })
}

/// A document in a format, for standard output.
pub fn rendered(document: &Document, format: &str) -> Result<Vec<u8>> {
    Ok(roundtrip_report::format(format)?.render(document, &output::look()))
}

/// Writes the HTML report beside the archive.
fn write_page(document: &Document) -> Result<PathBuf> {
    let archive = roundtrip_archive::default_path()?;
    let page = archive
        .with_file_name("reports")
        .join(format!("{}.html", document.run.id));
    write_file(&page, &rendered(document, "html")?)?;
    Ok(page)
}

/// Writes a file, making its directory.
pub fn write_file(file: &Path, bytes: &[u8]) -> Result<()> {
    let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(file, bytes))
        .map_err(|e| {
            Problem::new(Kind::Failed, format!("a file cannot be written: {e}"))
                .at(file.display().to_string())
                .next("free some space, or name another file with --output")
        })
}
