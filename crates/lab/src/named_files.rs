//! Files that an experiment names stand beside its own. Lengths of values are read into its text, so
//! that the text kept with the run needs no file; a schedule gets its whole path.

use roundtrip_model::{Kind, Problem, Result};
use std::path::Path;
use toml::{Table, Value};

/// The longest file of lengths.
const MAX_BYTES: u64 = 1 << 20;

/// The text of an experiment with its files resolved; as it is where it names none, or is none.
pub fn resolved(text: String, file: &Path) -> Result<String> {
    if !text.contains("histogram_file") && !text.contains("schedule") {
        return Ok(text);
    }
    // What is no TOML is told of with its place by who reads it next.
    let Ok(mut table) = text.parse::<Table>() else {
        return Ok(text);
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    let changed = lengths(&mut table, folder)? | schedules(&mut table, folder)?;
    if !changed {
        return Ok(text);
    }
    toml::to_string(&table).map_err(|e| {
        let what = format!("an experiment cannot be written: {e}");
        Problem::new(Kind::Internal, what).at(file.display().to_string())
    })
}

fn lengths(table: &mut Table, folder: &Path) -> Result<bool> {
    let values = table.get_mut("values").and_then(Value::as_table_mut);
    let size = values.and_then(|values| values.get_mut("size")?.as_table_mut());
    let Some(size) = size else { return Ok(false) };
    let Some(Value::String(name)) = size.get("histogram_file") else {
        return Ok(false);
    };
    let path = folder.join(name);
    let read = histogram(&path)?;
    size.remove("histogram_file");
    size.insert("histogram".to_owned(), Value::Array(read));
    Ok(true)
}

/// A length and a weight on each line; empty lines and those that begin with `#` are left out.
fn histogram(path: &Path) -> Result<Vec<Value>> {
    let bad = |what: String| {
        Problem::new(Kind::Usage, what)
            .at(path.display().to_string())
            .next("write a length in bytes and a weight on each line, as in `100 0.9`")
    };
    let bytes = std::fs::metadata(path).map(|m| m.len());
    if bytes.as_ref().is_ok_and(|bytes| *bytes > MAX_BYTES) {
        return Err(bad("the file of lengths is over 1 MiB".to_owned()));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|e| bad(format!("the file of lengths cannot be read: {e}")))?;
    let mut read = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let pair = line.split_once(|c: char| c.is_whitespace() || c == ',');
        let pair = pair.and_then(|(bytes, weight)| {
            let bytes = bytes.trim().parse::<u32>().ok()?;
            let weight = weight.trim().parse::<f64>().ok()?;
            Some(vec![Value::Integer(bytes.into()), Value::Float(weight)])
        });
        let line = || bad(format!("line {} is no length and weight", number + 1));
        read.push(Value::Array(pair.ok_or_else(line)?));
    }
    Ok(read)
}

fn schedules(table: &mut Table, folder: &Path) -> Result<bool> {
    let phases = table.get_mut("phase").and_then(Value::as_array_mut);
    let phases = phases.into_iter().flatten().filter_map(Value::as_table_mut);
    let mut changed = false;
    for phase in phases {
        if let Some(Value::String(name)) = phase.get_mut("schedule") {
            let path = folder.join(&*name);
            let whole = std::path::absolute(&path).map_err(|e| {
                let what = format!("the schedule has no whole path: {e}");
                Problem::new(Kind::Usage, what).at(path.display().to_string())
            })?;
            *name = whole.display().to_string();
            changed = true;
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtrip_model::Experiment;
    use roundtrip_model::workload::{Pace, Sizes};

    fn loaded(lengths: &str) -> Result<Experiment> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mine.toml");
        std::fs::write(dir.path().join("lengths.txt"), lengths).unwrap();
        let text = "name = \"mine\"\n[values]\nsize = { histogram_file = \"lengths.txt\" }\n\
                    [[phase]]\nop = \"get\"\ncount = 2\nschedule = \"moments\"\n\
                    [[variant]]\nclient = \"native\"\nstore = \"floor\"\n";
        std::fs::write(&file, text).unwrap();
        crate::catalog::load(file.to_str().unwrap())
    }

    #[test]
    fn files_are_found_beside_the_experiment_and_the_kept_text_needs_none() {
        let e = loaded("# lengths\n100 0.9\n\n1000, 0.1\n").unwrap();
        let expected = Sizes::Histogram(vec![(100, 0.9), (1000, 0.1)]);
        assert_eq!(e.workload.values.size, expected);
        let Pace::Schedule { file } = &e.workload.phases[0].pace else {
            panic!("no schedule")
        };
        assert!(Path::new(file).is_absolute() && file.ends_with("/moments"));
        let again = Experiment::parse(&e.text, "again").unwrap();
        assert_eq!(again.workload, e.workload);
    }

    #[test]
    fn a_file_of_lengths_that_is_none_is_told_with_its_line() {
        let problem = loaded("100 0.9\n1000\n").unwrap_err();
        assert_eq!(problem.what, "line 2 is no length and weight");
        assert!(problem.place.unwrap().ends_with("lengths.txt"));
        assert!(loaded("-5 1\n").is_err() && loaded("").is_err());
    }
}
