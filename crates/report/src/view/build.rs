//! The order of a report: verdict first, then what could mislead, then the figures, then how.

use super::facts::{Facts, byline, facts_of, generated};
use super::figures::{Figures, Scene};
use super::{Block, Chapter, View, factor, headlines, notices, pace, pictures, published, tables};
use crate::Document;
use crate::number::things;
use crate::text::{Sentence, clean};

pub fn view(document: &Document) -> View {
    let figures = Figures::new(document);
    let experiment = &document.experiment;
    let title = match experiment.title.trim() {
        "" => experiment.name.clone(),
        title => title.to_owned(),
    };
    let mut chapters = opening(&figures);
    for scene in figures.scenes() {
        chapters.push(scene_chapter(&figures, scene));
    }
    chapters.extend(factor::chapters(&figures));
    chapters.extend(published(&figures));
    chapters.push(outcomes(&figures));
    chapters.extend(how(document));
    View {
        title: clean(&title),
        question: clean(experiment.question.trim()),
        byline: byline(document),
        chapters,
    }
}

pub(super) fn chapter(title: impl AsRef<str>, blocks: Vec<Block>) -> Chapter {
    Chapter {
        title: clean(title.as_ref()),
        blocks,
    }
}

/// What must be known before the verdict, the verdict, and what could mislead.
fn opening(figures: &Figures<'_>) -> Vec<Chapter> {
    let mut grave: Vec<_> = notices::unfinished(figures.document).into_iter().collect();
    let (worse, others): (Vec<_>, Vec<_>) = notices::collected(figures.document)
        .into_iter()
        .map(notices::shortened)
        .partition(|notice| notice.grave);
    grave.extend(worse);
    let mut chapters = Vec::new();
    if !grave.is_empty() {
        chapters.push(chapter("Before you read on", vec![Block::Notices(grave)]));
    }
    let mut verdict = headlines::blocks(figures);
    verdict.extend(pictures::forests(figures).into_iter().map(Block::Forest));
    verdict.push(Block::Prose(headlines::noise_floor(figures)));
    chapters.push(chapter("Verdict", verdict));
    if !others.is_empty() {
        chapters.push(chapter("What could mislead", vec![Block::Notices(others)]));
    }
    chapters
}

fn scene_chapter(figures: &Figures<'_>, scene: Scene<'_>) -> Chapter {
    let mut blocks = vec![Block::Prose(vec![extent(figures, scene)])];
    let speeds = tables::against_baselines(figures, scene);
    blocks.extend(speeds.into_iter().map(Block::Table));
    blocks.extend(tables::terms(figures, scene).map(Block::Table));
    let others = tables::other_figures(figures, scene);
    blocks.extend(others.into_iter().map(Block::Table));
    blocks.push(Block::Table(tables::an_operation(figures, scene)));
    let of_pace = [pace::far_times, pace::lateness, pace::carried, pace::gaps];
    blocks.extend(
        of_pace
            .iter()
            .filter_map(|table| table(figures, scene))
            .map(Block::Table),
    );
    if let Some(stack) = pictures::stack(figures, scene) {
        blocks.extend(floor_note(figures, scene));
        blocks.push(Block::Stack(stack));
    }
    blocks.push(Block::Table(tables::times(figures, scene)));
    blocks.extend(pictures::dots(figures, scene).map(Block::Dots));
    blocks.extend(pictures::curves(figures, scene).map(Block::Curves));
    chapter(scene.title(), blocks)
}

/// How to read bars on the floor, where there are any.
fn floor_note(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Block> {
    let mut bars = figures.document.run.floor_bars.iter();
    bars.find(|bar| bar.phase == scene.phase && bar.placement == scene.placement)?;
    let text = "On the floor the same client asks a server that does nothing: the difference is \
                what the server costs. The native client on the floor is the least that a round \
                trip costs on this machine.";
    Some(Block::Prose(vec![Sentence::plain(text)]))
}

/// On how much the figures of a scene rest.
fn extent(figures: &Figures<'_>, scene: Scene<'_>) -> Sentence {
    let metric = figures.leading();
    let counts = figures.in_scene(scene).into_iter().map(|(_, name)| {
        figures
            .summary(scene, &name, metric)
            .map_or(0, |summary| summary.trials)
    });
    let counts: Vec<u32> = counts.collect();
    let least = counts.iter().copied().min().unwrap_or(0);
    let most = counts.iter().copied().max().unwrap_or(0);
    let trials = if least == most {
        things(u64::from(most), "valid trial")
    } else {
        format!("{least} to {most} valid trials")
    };
    Sentence::plain(format!("Each figure is the median of {trials}."))
}

fn published(figures: &Figures<'_>) -> Option<Chapter> {
    let blocks = published::blocks(figures);
    (!blocks.is_empty()).then(|| chapter("Published beside measured", blocks))
}

fn outcomes(figures: &Figures<'_>) -> Chapter {
    let mut blocks = Vec::new();
    if let Some(void) = notices::void_trials(figures.document) {
        let text = "Void trials are in no figure above; their operations are counted below.";
        blocks.push(Block::Prose(vec![Sentence::plain(text)]));
        blocks.push(Block::Notices(vec![void]));
    }
    blocks.extend(tables::outcomes(figures).into_iter().map(Block::Table));
    if blocks.is_empty() {
        blocks.push(Block::Prose(vec![Sentence::plain("There are no trials.")]));
    }
    chapter("What became of every operation", blocks)
}

fn how(document: &Document) -> Vec<Chapter> {
    let facts = facts_of(document);
    let measured = vec![
        Block::Prose(vec![generated(document)]),
        Block::Facts(facts.work.clone()),
    ];
    let mut chapters = vec![chapter("How it was measured", measured)];
    chapters.extend(surroundings(document, facts));
    chapters
}

/// Machine, versions, settings and the command: what every report ends with.
pub(super) fn surroundings(document: &Document, facts: Facts) -> Vec<Chapter> {
    let Facts {
        machine,
        versions,
        settings,
        loops,
        run,
        ..
    } = facts;
    let mut chapters = vec![chapter("Machine", vec![Block::Facts(machine)])];
    for (title, facts) in [
        ("Versions", versions),
        ("Settings", settings),
        ("What a worker's loop costs by itself", loops),
    ] {
        if !facts.is_empty() {
            chapters.push(chapter(title, vec![Block::Facts(facts)]));
        }
    }
    let command = Block::Command(clean(&document.run.command));
    chapters.push(chapter(
        "How to make it again",
        vec![command, Block::Facts(run)],
    ));
    chapters
}
