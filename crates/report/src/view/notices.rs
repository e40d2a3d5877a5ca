//! Warnings, each once, with its remedy.

use super::{Case, Notice};
use crate::Document;
use crate::number::{count, things};
use crate::text::clean;
use roundtrip_model::record::{RunState, Validity};
use roundtrip_model::{Warning, WarningKind};

/// How many void trials are listed by name.
const LISTED: usize = 12;

/// How many cases of one warning stand in a report that a person reads. JSON has all of them.
const SHOWN: usize = 8;

/// Warnings of the run, of its figures and of its trials, by kind. Trials often say the same thing
/// of the same subject: the first is shown, the others are counted.
pub fn collected(document: &Document) -> Vec<Notice> {
    let of_run = document.run.warnings.iter();
    let of_figures = document.analysis.warnings.iter();
    let of_trials = document.trials.iter().flat_map(|trial| &trial.warnings);
    notices_of(of_run.chain(of_figures).chain(of_trials))
}

/// Warnings by kind, the grave ones first.
pub fn notices_of<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Vec<Notice> {
    let mut notices: Vec<(WarningKind, Notice)> = Vec::new();
    for warning in warnings {
        let place = notices.iter().position(|(kind, _)| *kind == warning.kind);
        let place = place.unwrap_or_else(|| {
            notices.push((warning.kind, empty(warning.kind)));
            notices.len() - 1
        });
        add(&mut notices[place].1, warning);
    }
    let mut notices: Vec<Notice> = notices.into_iter().map(|(_, notice)| notice).collect();
    notices.sort_by_key(|notice| !notice.grave);
    notices
}

fn empty(kind: WarningKind) -> Notice {
    let name = serde_json::to_value(kind).ok();
    Notice {
        kind: name
            .and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default(),
        cases: Vec::new(),
        remedy: kind.remedy().to_owned(),
        grave: kind == WarningKind::UnequalTerms,
    }
}

/// A notice with only the first of its cases, and how many others there are and where.
pub fn shortened(mut notice: Notice) -> Notice {
    let more = notice.cases.len().saturating_sub(SHOWN);
    if more > 0 {
        notice.cases.truncate(SHOWN);
        let place = match notice.grave {
            true => "in the tables of terms below",
            false => "in the JSON",
        };
        notice.cases.push(Case {
            subject: String::new(),
            detail: format!("and {} more, {place}", count(more as u64)),
            more: 0,
        });
    }
    notice
}

fn add(notice: &mut Notice, warning: &Warning) {
    let subject = clean(&warning.subject);
    match notice.cases.iter_mut().find(|case| case.subject == subject) {
        Some(case) => case.more += 1,
        None => notice.cases.push(Case {
            subject,
            detail: clean(&warning.detail),
            more: 0,
        }),
    }
}

/// What to know of a run that did not come to its own end.
pub fn unfinished(document: &Document) -> Option<Notice> {
    let (detail, remedy) = match document.run.state {
        RunState::Finished => return None,
        RunState::Running => (
            "The run had not ended when this was written, or its process was killed",
            "Wait for it, or go on with",
        ),
        RunState::Interrupted => ("The run was stopped before its end", "Go on with"),
        RunState::Failed => (
            "A store or worker failed before the run's end",
            "Mend it, then go on with",
        ),
    };
    Some(Notice {
        kind: "unfinished".to_owned(),
        cases: vec![Case {
            subject: String::new(),
            detail: format!(
                "{detail}: {} kept",
                things(document.trials.len() as u64, "trial")
            ),
            more: 0,
        }],
        remedy: format!("{remedy} `roundtrip resume {}`.", clean(&document.run.id)),
        grave: true,
    })
}

/// Void trials with their reasons.
pub fn void_trials(document: &Document) -> Option<Notice> {
    let mut cases = Vec::new();
    let mut unlisted = 0;
    for trial in &document.trials {
        let Validity::Void(reason) = &trial.validity else {
            continue;
        };
        if cases.len() == LISTED {
            unlisted += 1;
            continue;
        }
        let (block, place) = (trial.block + 1, trial.placement.in_words());
        cases.push(Case {
            subject: clean(&trial.variant),
            detail: clean(&format!("block {block}, {place}: {reason}")),
            more: 0,
        });
    }
    let remedy = match unlisted {
        0 => String::new(),
        n => format!("{n} more are void: `--format json` has all of them."),
    };
    (!cases.is_empty()).then(|| Notice {
        kind: "void_trial".to_owned(),
        cases,
        remedy,
        grave: false,
    })
}
