//! What is wrong with a server, in sentences: what was counted, and what to do.

use super::figures::{ENOUGH_READS, LOW_HIT_RATIO, NEARLY_FULL, Statistics, number};
use super::slabs::SlabTable;
use super::stats::Meaning;

/// A sentence for everything that is wrong.
pub fn findings(meaning: &Meaning, statistics: &Statistics, slabs: &SlabTable) -> Vec<String> {
    let counted = |name| number(statistics, name).filter(|n| *n > 0);
    let mut all: Vec<String> = [evictions(meaning), hit_ratio(meaning), nearly_full(meaning)]
        .into_iter()
        .flatten()
        .collect();
    for (class, oom) in slabs.classes.iter().map(|c| (c, c.oom.unwrap_or(0))) {
        if oom > 0 {
            all.push(format!(
                "Slab class {} (items of up to {} bytes) had no memory for {oom} writes: give the \
                 server more memory, or let it throw items away (no -M).",
                class.class, class.item_size_bytes
            ));
        }
    }
    if let Some(n) = counted("listen_disabled_num") {
        all.push(format!(
            "It stopped accepting connections {n} times because it had as many as it may have: \
             raise -c, or keep fewer connections open."
        ));
    }
    if let Some(n) = counted("rejected_connections") {
        all.push(format!(
            "It turned {n} connections away because it had as many as it may have: raise -c, or \
             keep fewer connections open."
        ));
    }
    all
}

fn evictions(meaning: &Meaning) -> Option<String> {
    let evicted = meaning.evictions.filter(|n| *n > 0)?;
    let rate = meaning
        .evictions_per_s
        .map_or(String::new(), |rate| format!(" ({rate:.1} a second)"));
    let when = meaning.window.in_words();
    Some(format!(
        "It threw {evicted} items away before their time {when}{rate}: it has too little memory \
         (raise -m), or holds what is never read."
    ))
}

fn hit_ratio(meaning: &Meaning) -> Option<String> {
    let gets = meaning.gets.filter(|gets| *gets >= ENOUGH_READS)?;
    let ratio = meaning.hit_ratio.filter(|ratio| *ratio < LOW_HIT_RATIO)?;
    Some(format!(
        "Only {:.1}% of {gets} reads found their key: look at the time to live of the keys, at \
         evictions, and at whether what is written is what is read.",
        ratio * 100.0
    ))
}

fn nearly_full(meaning: &Meaning) -> Option<String> {
    let ratio = meaning
        .memory_used_ratio
        .filter(|ratio| *ratio >= NEARLY_FULL)?;
    Some(format!(
        "Its memory is {:.1}% full: new items will push old ones out.",
        ratio * 100.0
    ))
}

/// What to know when reading the numbers.
pub fn notes(meaning: &Meaning) -> Vec<String> {
    let mut all = Vec::new();
    if meaning.memory_used_bytes.is_some_and(|bytes| bytes > 0) {
        all.push(
            "`bytes` and `curr_items` include items that expired and were not yet reclaimed."
                .to_owned(),
        );
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::slabs::{SlabClass, SlabTable};
    use super::super::stats::tests::{explained, statistics};
    use super::findings;

    #[test]
    fn a_healthy_server_has_no_findings() {
        let healthy = [
            ("get_hits", 800),
            ("get_misses", 200),
            ("evictions", 0),
            ("bytes", 89),
            ("limit_maxbytes", 100),
            ("listen_disabled_num", 0),
            ("rejected_connections", 0),
        ];
        assert_eq!(explained(&healthy).findings, Vec::<String>::new());
        assert_eq!(explained(&healthy).notes.len(), 1);
        assert_eq!(explained(&[]).findings, Vec::<String>::new());
        assert_eq!(explained(&[]).notes, Vec::<String>::new());
    }

    #[test]
    fn each_trouble_has_one_sentence_with_its_figures() {
        for (figures, said) in [
            (
                vec![("evictions", 25)],
                "threw 25 items away before their time since it started (2.5 a second)",
            ),
            (
                vec![("get_hits", 799), ("get_misses", 201)],
                "Only 79.9% of 1000 reads",
            ),
            (vec![("bytes", 90), ("limit_maxbytes", 100)], "90.0% full"),
            (
                vec![("listen_disabled_num", 2)],
                "stopped accepting connections 2 times",
            ),
            (
                vec![("rejected_connections", 3)],
                "turned 3 connections away",
            ),
        ] {
            let findings = explained(&figures).findings;
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(findings[0].contains(said), "{findings:?}");
        }
        // A cache that was only just asked is not judged.
        assert!(
            explained(&[("get_hits", 0), ("get_misses", 999)])
                .findings
                .is_empty()
        );
    }

    #[test]
    fn a_slab_class_without_memory_is_named() {
        let class = SlabClass {
            class: 3,
            item_size_bytes: 152,
            max_age_s: None,
            pages: 1,
            count: 0,
            full: true,
            evicted: None,
            evict_time_s: None,
            oom: Some(4),
        };
        let slabs = SlabTable {
            classes: vec![class],
        };
        let all = findings(&explained(&[]).meaning, &statistics(&[]), &slabs);
        assert_eq!(all.len(), 1);
        assert!(all[0].starts_with("Slab class 3 (items of up to 152 bytes) had no memory for 4"));
    }
}
