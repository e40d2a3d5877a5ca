//! `roundtrip setup`: brings what a store needs and no package has.

use crate::args::{SetupArgs, TextOrJson};
use crate::output;
use crate::progress::Progress;
use crate::signals;
use roundtrip_lab::stores::setup::{self, Doing, Options, Plan, Step};
use roundtrip_model::Result;
use std::cell::Cell;
use std::time::{Duration, Instant};

pub fn run(args: &SetupArgs) -> Result<()> {
    let Some(name) = &args.name else {
        return list(args.format);
    };
    let plan = setup::plan(name)?;
    if args.dry_run {
        return output::line(&announcement(&plan));
    }
    if args.again || !plan.is_set_up() {
        output::note(&announcement(&plan));
    }
    let progress = Progress::new(args.quiet);
    let clock = Clock::default();
    let done = plan.run(&Options {
        again: args.again,
        stop: &*signals::stop_flag()?,
        progress: &|step| tell(&progress, &clock, step),
    });
    progress.finish();
    let done = done?;
    let state = match done.already {
        true => "was already set up",
        false => "is set up",
    };
    let (version, folder) = (done.version, plan.folder.display());
    output::line(&format!("{name} {version} {state}, in {folder}"))
}

/// What would be brought, how large, and where to.
fn announcement(plan: &Plan<'_>) -> String {
    let artifact = plan.artifact;
    let state = match plan.is_set_up() {
        true => "It is set up already.",
        false => "It is not set up yet.",
    };
    format!(
        "{name}: {title}\n\
         Maven brings {coordinate} ({size} MB) into its own cache, where it is not there yet;\n\
         what is needed of it goes to {folder}.\n\
         It needs Debian's packages {packages}. {state}",
        name = plan.manifest.name,
        title = plan.manifest.title,
        coordinate = artifact.coordinate,
        size = artifact.size_mb,
        folder = plan.folder.display(),
        packages = artifact.packages.join(", "),
    )
}

fn list(format: TextOrJson) -> Result<()> {
    let plans = setup::all();
    if format == TextOrJson::Json {
        let rows: Vec<_> = plans.iter().map(row).collect();
        return output::json(&rows);
    }
    let item = |plan: &Plan<'_>| {
        let state = match plan.is_set_up() {
            true => format!("set up, in {}", plan.folder.display()),
            false => format!("not set up: `{}` brings it", plan.artifact.install),
        };
        let size = format!("{} MB to bring", plan.artifact.size_mb);
        let details = vec![plan.manifest.title.clone(), size];
        (format!("{}  {state}", plan.manifest.name), details)
    };
    let items: Vec<_> = plans.iter().map(item).collect();
    output::write(&roundtrip_report::named(&items, &output::look()))
}

fn row(plan: &Plan<'_>) -> serde_json::Value {
    serde_json::json!({
        "name": plan.manifest.name,
        "title": plan.manifest.title,
        "size_mb": plan.artifact.size_mb,
        "coordinate": plan.artifact.coordinate,
        "folder": plan.folder,
        "set_up": plan.is_set_up(),
        "command": plan.artifact.install,
    })
}

/// When the step under way began, and with how much already there.
#[derive(Default)]
struct Clock(Cell<Option<(Doing, Instant, u64)>>);

impl Clock {
    /// How long the rest of the step takes, at the pace since it began.
    fn left(&self, step: Step) -> Option<Duration> {
        let (began, before) = match self.0.get() {
            Some((what, began, before)) if what == step.what => (began, before),
            _ => {
                let now = Instant::now();
                self.0.set(Some((step.what, now, step.done_bytes)));
                (now, step.done_bytes)
            }
        };
        left(began.elapsed(), step.done_bytes.checked_sub(before)?, step)
    }
}

fn left(took: Duration, grown_bytes: u64, step: Step) -> Option<Duration> {
    if grown_bytes == 0 {
        return None;
    }
    let rest = step.total_bytes.saturating_sub(step.done_bytes);
    let seconds = took.as_secs_f64() * rest as f64 / grown_bytes as f64;
    Duration::try_from_secs_f64(seconds).ok()
}

fn tell(progress: &Progress, clock: &Clock, step: Step) {
    let megabytes = |bytes: u64| bytes / 1_000_000;
    let (done, total) = (megabytes(step.done_bytes), megabytes(step.total_bytes));
    let what = match step.what {
        Doing::Bringing => format!("bringing the archive, {done} of {total} MB"),
        Doing::Checking => format!("checking the archive, {done} of {total} MB"),
        Doing::Unpacking => format!("unpacking, {done} of {total} MB"),
        Doing::Trying => "trying whether it starts".to_owned(),
    };
    match clock.left(step) {
        Some(left) => progress.say_with(&what, left),
        None => progress.say(&what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_the_rest_at_the_pace_so_far() {
        let step = Step {
            what: Doing::Bringing,
            done_bytes: 400,
            total_bytes: 1000,
        };
        let took = Duration::from_secs(10);
        // 100 of the 400 were there before.
        assert_eq!(left(took, 300, step), Some(Duration::from_secs(20)));
        assert_eq!(left(took, 0, step), None);
    }
}
