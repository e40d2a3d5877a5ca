//! A report of what a crash loses: what was seen, the rule that explains it, and loudly where the
//! one is not what the other says.

use super::build::{chapter, surroundings};
use super::facts::{byline, facts_of};
use super::{Block, Case, Cell, Chapter, Column, Notice, Table, Tone, View, notices};
use crate::Document;
use crate::number::{count, percent, things};
use crate::text::{Sentence, clean};
use roundtrip_model::analysis::{Contradiction, FaultRow, Spread};
use roundtrip_model::fault::{FaultKind, FaultRecord, Keeps, Travel};
use roundtrip_model::record::TrialRecord;

pub fn view(document: &Document) -> View {
    let experiment = &document.experiment;
    let title = match experiment.title.trim() {
        "" => &experiment.name,
        title => title,
    };
    let mut chapters = Vec::new();
    let mut grave: Vec<Notice> = notices::unfinished(document).into_iter().collect();
    grave.extend(contradicted(&document.analysis.faults));
    if !grave.is_empty() {
        chapters.push(chapter("Before you read on", vec![Block::Notices(grave)]));
    }
    chapters.push(chapter("What was lost", lost(document)));
    chapters.extend(
        FaultKind::ALL
            .into_iter()
            .filter_map(|kind| of_kind(document, kind)),
    );
    if let Some(void) = notices::void_trials(document) {
        let text = "Void trials are in no figure above.";
        let blocks = vec![
            Block::Prose(vec![Sentence::plain(text)]),
            Block::Notices(vec![void]),
        ];
        chapters.push(chapter("Void trials", blocks));
    }
    let facts = facts_of(document);
    chapters.push(chapter("How it was found out", how(&facts.work)));
    chapters.extend(surroundings(document, facts));
    View {
        title: clean(&format!("What a crash loses: {title}")),
        question: "Of the writes that a client was told were done, which are there after a crash?"
            .to_owned(),
        byline: byline(document),
        chapters,
    }
}

fn how(work: &[super::Fact]) -> Vec<Block> {
    let text = "Each trial has a fresh store and a fresh client, which does numbered writes and \
                keeps a journal of how many it handed to its library and how many came back \
                acknowledged; the journal outlives it. The fault strikes when a number of writes \
                drawn from the seed has been sent, and a drawn share of the time of a batch \
                later. Then the native client asks the store for every key and compares its \
                value. A loss of power, which takes what the kernel had not yet written to the \
                disk, was not tried.";
    vec![
        Block::Prose(vec![Sentence::plain(text)]),
        Block::Facts(work.to_vec()),
    ]
}

/// The answer in sentences: the most important number is how many acknowledged writes are gone.
fn lost(document: &Document) -> Vec<Block> {
    let rows = &document.analysis.faults;
    if rows.is_empty() {
        return vec![Block::Prose(vec![Sentence::plain(
            "There is no valid trial.",
        )])];
    }
    let sentences = FaultKind::ALL.into_iter().filter_map(|kind| {
        let mine: Vec<&FaultRow> = rows.iter().filter(|row| row.kind == kind).collect();
        let sum = |of: fn(&FaultRow) -> u64| mine.iter().map(|row| of(row)).sum::<u64>();
        let trials: u64 = mine.iter().map(|row| u64::from(row.trials)).sum();
        (trials > 0).then(|| {
            Sentence::plain(format!("{} in {}: ", struck(kind), things(trials, "trial")))
                .strong(format!(
                    "{} of {}",
                    count(sum(|row| row.all_lost)),
                    count(sum(|row| row.all_acknowledged))
                ))
                .text(format!(
                    " acknowledged writes were lost, and {} were applied that nobody was told of.",
                    count(sum(|row| row.all_applied_unacknowledged))
                ))
        })
    });
    vec![Block::Prose(sentences.collect())]
}

fn struck(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Client => "Client killed",
        FaultKind::Server => "Server killed and started again",
        FaultKind::Connection => "Connection cut",
    }
}

fn of_kind(document: &Document, kind: FaultKind) -> Option<Chapter> {
    let rows = document.analysis.faults.iter();
    let rows: Vec<&FaultRow> = rows.filter(|row| row.kind == kind).collect();
    if rows.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Table(counts(&rows)), Block::Table(losses(&rows))];
    blocks.push(Block::Prose(rules(&rows)));
    Some(chapter(struck(kind), blocks))
}

fn column(head: &str, right: bool) -> Column {
    Column {
        head: head.to_owned(),
        right,
    }
}

fn cell(text: impl AsRef<str>, tone: Tone) -> Cell {
    Cell {
        text: clean(text.as_ref()),
        tone,
    }
}

fn plain(text: impl AsRef<str>) -> Cell {
    cell(text, Tone::Plain)
}

/// `median (smallest-largest)`.
fn spread(spread: &Spread) -> String {
    // That of an even number of counts is whole, or half way between two.
    let whole = count(spread.median.floor() as u64);
    let median = match spread.median.fract() == 0.0 {
        true => whole,
        false => format!("{whole}.5"),
    };
    match spread.min == spread.max {
        true => median,
        false => format!("{median} ({}-{})", count(spread.min), count(spread.max)),
    }
}

fn counts(rows: &[&FaultRow]) -> Table {
    let row = |row: &&FaultRow| {
        vec![
            plain(&row.variant),
            plain(count(row.trials.into())),
            plain(spread(&row.sent)),
            plain(spread(&row.acknowledged)),
            plain(spread(&row.applied)),
        ]
    };
    Table {
        caption: "Writes of a trial: median (smallest-largest)".to_owned(),
        columns: vec![
            column("variant", false),
            column("trials", true),
            column("sent", true),
            column("acknowledged", true),
            column("applied", true),
        ],
        rows: rows.iter().map(row).collect(),
    }
}

fn losses(rows: &[&FaultRow]) -> Table {
    let row = |row: &&FaultRow| {
        let tone = match row.all_lost {
            0 => Tone::Good,
            _ => Tone::Bad,
        };
        vec![
            plain(&row.variant),
            plain(spread(&row.applied_unacknowledged)),
            cell(spread(&row.acknowledged_lost), tone),
            cell(count(row.all_lost), tone),
            plain(format!(
                "{} of {}: {} [{}, {}]",
                row.trials_with_loss,
                row.trials,
                percent(row.loss_share),
                percent(row.loss_low),
                percent(row.loss_high)
            )),
        ]
    };
    Table {
        caption: "Where the two differ".to_owned(),
        columns: vec![
            column("variant", false),
            column("applied, not acknowledged", true),
            column("acknowledged, lost", true),
            column("lost in all", true),
            column("trials with a loss [95%]", true),
        ],
        rows: rows.iter().map(row).collect(),
    }
}

/// Each rule once, with what was seen of the variants that it explains, and whether the two agree.
fn rules(rows: &[&FaultRow]) -> Vec<Sentence> {
    let mut rules: Vec<(String, Sentence)> = Vec::new();
    for row in rows {
        let rule = format!("{} {} Seen: ", keeping(row), travelling(row));
        match rules.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, sentence)) => *sentence = seen(std::mem::take(sentence).text("; "), row),
            None => {
                let sentence = seen(Sentence::plain(&rule), row);
                rules.push((rule, sentence));
            }
        }
    }
    rules.into_iter().map(|(_, rule)| rule.text(".")).collect()
}

fn seen(sentence: Sentence, row: &FaultRow) -> Sentence {
    let lost = format!(
        " {} of {} lost, {} untold",
        count(row.all_lost),
        count(row.all_acknowledged),
        count(row.all_applied_unacknowledged)
    );
    let sentence = sentence.name(&row.variant).text(lost);
    let sentence = match row.travel {
        Travel::Transaction => sentence.text(format!(", {} in part", count(row.all_torn))),
        _ => sentence,
    };
    match row.contradictions.is_empty() {
        true => sentence,
        false => sentence.strong(" (NOT what the rule says)"),
    }
}

/// What becomes of what was acknowledged.
fn keeping(row: &FaultRow) -> String {
    if row.kind != FaultKind::Server {
        return "The server lives on, so what it has acknowledged stays.".to_owned();
    }
    match row.keeps {
        None => "What the store keeps when it dies is not known to Roundtrip.",
        Some(Keeps::Nothing) => {
            "With these settings the store keeps nothing outside its memory: everything that it \
             acknowledged is lost when the server dies."
        }
        Some(Keeps::Soon) => {
            "The server acknowledges a write that is only in its memory and writes it down within \
             about a second: up to that second of acknowledged writes is lost when it dies."
        }
        Some(Keeps::KernelUnlessBusy) => {
            "A write is usually handed to the kernel before it is acknowledged, and then the death \
             of the server's process does not lose it; while a flush to the disk is under way, up \
             to 2 seconds of acknowledged writes are in the server's memory alone and are lost \
             with it. A loss of power, which was not tried, may cost what the disk did not have \
             yet."
        }
        Some(Keeps::Kernel) => {
            "A write is handed to the kernel before it is acknowledged, so the death of the \
             server's process loses none; a loss of power, which was not tried, may cost what the \
             disk did not have yet."
        }
        Some(Keeps::Disk) => {
            "A write is on the disk before it is acknowledged, so the death of the server loses \
             none."
        }
    }
    .to_owned()
}

/// What becomes of what was under way.
fn travelling(row: &FaultRow) -> String {
    let depth = count(row.depth.into());
    let loses_all = (row.kind, row.keeps) == (FaultKind::Server, Some(Keeps::Nothing));
    match row.travel {
        _ if loses_all => "How the writes travelled makes no difference to that.".to_owned(),
        Travel::Sequential => "Each write awaits its reply, so at most the one under way can be \
                               applied without anybody being told."
            .to_owned(),
        Travel::Pipeline => format!(
            "A pipeline's replies come at its end, so of each batch of {depth} up to {depth} \
             writes may be applied that nobody was told of; those that had not left the client \
             are gone."
        ),
        Travel::Transaction => format!(
            "A transaction is all or nothing: of the batch of {depth} under way either all is \
             applied, without anybody being told, or none of it; each batch was looked into for \
             that."
        ),
    }
}

fn batches(n: u64) -> String {
    match n {
        1 => "1 batch was".to_owned(),
        n => format!("{} batches were", count(n)),
    }
}

/// What was seen and cannot be: this stands above everything else.
fn contradicted(rows: &[FaultRow]) -> Option<Notice> {
    let of_row = |row: &FaultRow| -> Vec<Case> {
        let case = |what: &Contradiction| Case {
            subject: clean(&row.variant),
            detail: format!("{}: {}", struck(row.kind), cannot_be(*what, row)),
            more: 0,
        };
        row.contradictions.iter().map(case).collect()
    };
    let cases: Vec<Case> = rows.iter().flat_map(of_row).collect();
    (!cases.is_empty()).then(|| Notice {
        kind: "contradiction".to_owned(),
        cases,
        remedy: "What was seen is not what the settings promise: trust what was seen, and look \
                 for the reason."
            .to_owned(),
        grave: true,
    })
}

fn cannot_be(what: Contradiction, row: &FaultRow) -> String {
    match what {
        Contradiction::Lost => format!(
            "{} acknowledged writes were LOST in {} that should have outlived the fault",
            count(row.all_lost),
            things(row.trials_with_loss.into(), "trial")
        ),
        Contradiction::Survived => format!(
            "{} writes were there after the death of a server that keeps nothing",
            count(row.all_applied)
        ),
        Contradiction::Torn => format!("of transactions {} there in part", batches(row.all_torn)),
        Contradiction::Wrong => format!(
            "{} held another value than the one written",
            things(row.all_wrong, "key")
        ),
        Contradiction::Beyond => format!(
            "{} were there that had never been sent",
            things(row.all_beyond, "write")
        ),
    }
}

/// Every trial, in the order in which they ran.
pub fn trials(document: &Document) -> Table {
    let mut trials: Vec<&TrialRecord> = document.trials.iter().collect();
    trials.sort_by_key(|trial| (trial.block, trial.position));
    let row = |(trial, fault): (&TrialRecord, &FaultRecord)| {
        let lost = match fault.lost() {
            0 => plain("0"),
            n => cell(count(n), Tone::Bad),
        };
        vec![
            plain((trial.block + 1).to_string()),
            plain(&trial.variant),
            plain(fault.kind.name()),
            plain(count(fault.sent)),
            plain(count(fault.acknowledged)),
            plain(count(fault.applied())),
            plain(count(fault.found.unacknowledged)),
            lost,
            match trial.is_valid() {
                true => cell("valid", Tone::Dim),
                false => cell("void", Tone::Bad),
            },
        ]
    };
    let faults = trials
        .into_iter()
        .filter_map(|t| Some((t, t.fault.as_ref()?)));
    Table {
        caption: "Every trial".to_owned(),
        columns: vec![
            column("block", true),
            column("variant", false),
            column("fault", false),
            column("sent", true),
            column("acknowledged", true),
            column("applied", true),
            column("not told", true),
            column("lost", true),
            column("trial", false),
        ],
        rows: faults.map(row).collect(),
    }
}
