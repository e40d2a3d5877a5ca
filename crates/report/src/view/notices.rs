//! Warnings, each once, with its remedy.

use super::Notice;
use crate::Document;
use crate::number::things;
use crate::text::clean;
use roundtrip_model::record::{RunState, Validity};
use roundtrip_model::{Warning, WarningKind};

/// How many void trials are listed by name.
const LISTED: usize = 12;

/// Warnings of the run, of its figures and of its trials. Trials often say the same thing of the
/// same subject: the first is shown, the others are counted.
pub fn collected(document: &Document) -> Vec<Notice> {
    let of_run = document.run.warnings.iter();
    let of_figures = document.analysis.warnings.iter();
    let of_trials = document.trials.iter().flat_map(|trial| &trial.warnings);
    let mut seen: Vec<(&Warning, usize)> = Vec::new();
    for warning in of_run.chain(of_figures).chain(of_trials) {
        let alike = |(w, _): &&mut (&Warning, usize)| {
            w.kind == warning.kind && w.subject == warning.subject
        };
        match seen.iter_mut().find(alike) {
            Some((_, more)) => *more += 1,
            None => seen.push((warning, 0)),
        }
    }
    let mut notices: Vec<Notice> = seen.into_iter().map(|(w, more)| notice(w, more)).collect();
    notices.sort_by_key(|notice| !notice.grave);
    notices
}

fn notice(warning: &Warning, more: usize) -> Notice {
    let kind = serde_json::to_value(warning.kind);
    Notice {
        kind: kind
            .ok()
            .and_then(|k| k.as_str().map(str::to_owned))
            .unwrap_or_default(),
        subject: clean(&warning.subject),
        detail: clean(&warning.detail),
        remedy: warning.kind.remedy().to_owned(),
        more,
        grave: warning.kind == WarningKind::UnequalTerms,
    }
}

/// What to know of a run that did not come to its own end.
pub fn unfinished(document: &Document) -> Option<Notice> {
    let (detail, remedy) = match document.run.state {
        RunState::Finished => return None,
        RunState::Running => (
            "the run had not ended when this was written, or its process was killed",
            "wait for it, or go on with",
        ),
        RunState::Interrupted => ("the run was stopped before its end", "go on with"),
        RunState::Failed => (
            "a store or worker failed before the run's end",
            "mend it, then go on with",
        ),
    };
    Some(Notice {
        kind: "unfinished".to_owned(),
        subject: String::new(),
        detail: format!(
            "{detail}: {} kept",
            things(document.trials.len() as u64, "trial")
        ),
        remedy: format!("{remedy} `roundtrip resume {}`.", clean(&document.run.id)),
        more: 0,
        grave: true,
    })
}

/// Void trials with their reasons.
pub fn void_trials(document: &Document) -> Vec<Notice> {
    let void = document
        .trials
        .iter()
        .filter_map(|trial| match &trial.validity {
            Validity::Valid => None,
            Validity::Void(reason) => Some((trial, reason)),
        });
    let all: Vec<_> = void.collect();
    let mut notices: Vec<Notice> = all
        .iter()
        .take(LISTED)
        .map(|(trial, reason)| Notice {
            kind: "void_trial".to_owned(),
            subject: clean(&trial.variant),
            detail: format!(
                "block {}, {}: {}",
                trial.block,
                trial.placement.in_words(),
                clean(reason)
            ),
            remedy: String::new(),
            more: 0,
            grave: false,
        })
        .collect();
    if all.len() > LISTED {
        notices.push(Notice {
            kind: "void_trial".to_owned(),
            subject: String::new(),
            detail: format!("{} more void trials", all.len() - LISTED),
            remedy: "See all of them with `--format json`.".to_owned(),
            more: 0,
            grave: false,
        });
    }
    notices
}
