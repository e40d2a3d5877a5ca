//! Which settings a person is shown: a PHP worker tells those of every extension that is loaded,
//! of which most belong to libraries that the run did not use. JSON has all of them.

use super::Fact;
use super::facts::fact;
use crate::Document;
use crate::number::things;

/// The words before the settings of an extension, and the clients whose library it is.
const OF_EXTENSIONS: [(&str, &[&str]); 8] = [
    // Hashing over servers by the extension itself, which no client here asks for.
    ("redis.arrays.", &[]),
    ("redis.", &["php/phpredis"]),
    ("memcache.", &["php/memcache"]),
    ("memcached.", &["php/memcached"]),
    ("mysqli.", &["php/mysqli"]),
    ("pdo_mysql.", &["php/pdo"]),
    ("igbinary.", &["igbinary"]),
    ("msgpack.", &["msgpack"]),
];

/// The settings that can have changed a figure of this run, and how many others there are.
pub fn settings(document: &Document) -> Vec<Fact> {
    let all = &document.run.environment.settings;
    let (shown, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|(name, _)| is_of_run(document, name));
    let mut facts: Vec<Fact> = shown.into_iter().map(|(k, v)| fact(k, v)).collect();
    if !others.is_empty() {
        let n = things(others.len() as u64, "setting");
        let text = format!("{n} of PHP extensions that the run did not use, in the JSON");
        facts.push(fact("php, others", text));
    }
    facts
}

/// Whether a setting is not one of an extension, or is of one that a variant used.
fn is_of_run(document: &Document, name: &str) -> bool {
    let Some(setting) = name.strip_prefix("php ") else {
        return true;
    };
    let mut extensions = OF_EXTENSIONS.iter();
    let Some((_, users)) = extensions.find(|(words, _)| setting.starts_with(words)) else {
        return true;
    };
    let experiment = &document.experiment;
    let of_faults = experiment.faults.iter().flat_map(|f| &f.variants);
    let compared = experiment.variants.iter().map(|v| &v.path);
    let mut paths = compared.chain(of_faults.map(|v| &v.path));
    paths.any(|path| {
        let serializer = path.options.get("serializer").map(String::as_str);
        users
            .iter()
            .any(|user| path.client == *user || serializer == Some(*user))
    })
}
