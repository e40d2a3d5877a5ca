//! The experiments that come with the binary, and those in files.

use crate::named_files;
use roundtrip_model::names::nearest;
use roundtrip_model::{Experiment, Kind, Problem, Result};
use rust_embed::RustEmbed;
use std::path::Path;

#[derive(RustEmbed)]
#[folder = "../../experiments"]
struct Embedded;

/// The names of the built-in experiments, the quickstart first.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = Embedded::iter()
        .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
        .collect();
    names.sort_by_key(|name| (name != "quickstart", name.clone()));
    names
}

/// The built-in experiment of a name.
pub fn built_in(name: &str) -> Option<Result<Experiment>> {
    let file = format!("{name}.toml");
    let text = Embedded::get(&file)?;
    Some(Experiment::parse(
        &String::from_utf8_lossy(&text.data),
        &file,
    ))
}

/// An experiment by the name of a built-in one, or by the path of a file.
pub fn load(name_or_file: &str) -> Result<Experiment> {
    if let Some(experiment) = built_in(name_or_file) {
        return experiment;
    }
    let path = Path::new(name_or_file);
    let looks_like_a_file = name_or_file.ends_with(".toml") || name_or_file.contains('/');
    if !looks_like_a_file && !path.exists() {
        let names = names();
        let known = names.iter().map(String::as_str);
        let hint = match nearest(name_or_file, known.clone()) {
            Some(name) => format!("did you mean `{name}`? "),
            None => String::new(),
        };
        return Err(Problem::new(
            Kind::Usage,
            format!("there is no experiment `{name_or_file}`"),
        )
        .next(format!(
            "{hint}Built in: {}; or give a TOML file",
            names.join(", ")
        )));
    }
    let text = std::fs::read_to_string(path).map_err(|e| {
        Problem::new(Kind::Usage, format!("the experiment cannot be read: {e}"))
            .at(name_or_file)
            .next("give the path of a TOML file, or a name from `roundtrip list experiments`")
    })?;
    Experiment::parse(&named_files::resolved(text, path)?, name_or_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_experiment_parses_and_is_called_like_its_file() {
        assert!(names().len() >= 2);
        for name in names() {
            let experiment = built_in(&name).unwrap().unwrap();
            assert_eq!(experiment.name, name);
            assert!(
                !experiment.question.is_empty() && !experiment.title.is_empty(),
                "{name}"
            );
        }
    }

    #[test]
    fn an_unknown_experiment_is_answered_with_the_nearest() {
        let problem = load("quikstart").unwrap_err();
        assert!(
            problem
                .next_step
                .unwrap()
                .starts_with("did you mean `quickstart`?")
        );
    }
}
