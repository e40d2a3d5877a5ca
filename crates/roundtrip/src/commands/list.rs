//! `roundtrip list`: stores, clients or experiments.

use super::{common, doctor};
use crate::args::{ListArgs, Listed, TextOrJson};
use crate::output;
use roundtrip_lab::{catalog, doctor as lab};
use roundtrip_model::Result;

pub fn run(args: &ListArgs) -> Result<()> {
    match args.what {
        Listed::Stores => doctor::details(&lab::stores(&common::self_exe()?), args.format),
        Listed::Clients => doctor::details(&lab::clients(common::self_exe()?)?, args.format),
        Listed::Experiments => experiments(args.format),
    }
}

fn experiments(format: TextOrJson) -> Result<()> {
    let mut items = Vec::new();
    let mut rows = Vec::new();
    for name in catalog::names() {
        let Some(experiment) = catalog::built_in(&name).transpose()? else {
            continue;
        };
        items.push((
            name.clone(),
            vec![experiment.title.clone(), experiment.question.clone()],
        ));
        rows.push(serde_json::json!({
            "name": name, "title": experiment.title, "question": experiment.question,
        }));
    }
    match format {
        TextOrJson::Json => output::json(&rows),
        TextOrJson::Terminal => output::write(&roundtrip_report::named(&items, &output::look())),
    }
}
