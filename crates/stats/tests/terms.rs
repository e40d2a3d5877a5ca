//! Terms of ops beside the ratios, and warnings where they are not equal.

mod common;

use common::{experiment, near, phase, trial};
use roundtrip_model::analysis::Analysis;
use roundtrip_model::{Op, Term, WarningKind};
use roundtrip_stats::analyse;

/// Two ways to one table, and the unequal default.
const WAYS: &str = r#"
name = "ways"
[[phase]]
op = "set"
count = 1000
[[variant]]
name = "sql"
client = "php/mysqli"
store = "mysql"
[[variant]]
name = "memcached"
client = "php/memcached"
store = "mysql"
[[variant]]
name = "sql, log on"
client = "php/mysqli"
store = "mysql"
[[variant]]
name = "memcached, log on"
against = "sql, log on"
client = "php/memcached"
store = "mysql"
"#;

/// Three blocks; the terms of 1,000 ops by variant.
fn analysis(terms: &[(&str, &[(Term, u64)])]) -> Analysis {
    let mut trials = Vec::new();
    for block in 0..3u64 {
        for (variant, terms) in terms {
            let mut record = phase(Op::Set, 1_000_000 + block);
            // The middle one of three.
            let wobble = |(term, n): &(Term, u64)| (*term, (n + block).saturating_sub(1));
            record.terms = terms.iter().map(wobble).collect();
            trials.push(trial(block as u32, variant, vec![record]));
        }
    }
    analyse(&experiment(WAYS), &trials, &[3], true)
}

fn warned(analysis: &Analysis) -> Vec<(&str, &str)> {
    let unequal = analysis.warnings.iter();
    unequal
        .filter(|w| w.kind == WarningKind::UnequalTerms && w.detail.contains(" an op of `"))
        .map(|w| (w.subject.as_str(), w.detail.as_str()))
        .collect()
}

#[test]
fn terms_are_medians_an_op() {
    let found = analysis(&[
        ("sql", &[(Term::Fsyncs, 2000), (Term::LogBytes, 512_000)]),
        ("memcached", &[(Term::Fsyncs, 2000)]),
    ]);
    let rows: Vec<_> = found
        .terms
        .iter()
        .map(|row| (row.variant.as_str(), row.trials, row.per_op.len()))
        .collect();
    assert_eq!(rows, [("sql", 3, 2), ("memcached", 3, 1)]);
    near(found.terms[0].per_op[&Term::Fsyncs], 2.0);
    near(found.terms[0].per_op[&Term::LogBytes], 512.0);
    assert_eq!(
        warned(&found),
        [],
        "what one of them does not count is not unequal"
    );
}

#[test]
fn unequal_terms_are_told_with_their_figures_each_against_its_own_baseline() {
    let found = analysis(&[
        ("sql", &[(Term::Fsyncs, 1000), (Term::RowsInserted, 1000)]),
        (
            "memcached",
            &[(Term::Fsyncs, 1000), (Term::RowsInserted, 1000)],
        ),
        (
            "sql, log on",
            &[(Term::Fsyncs, 2000), (Term::LogBytes, 900_000)],
        ),
        (
            "memcached, log on",
            &[(Term::Fsyncs, 1000), (Term::LogBytes, 400_000)],
        ),
    ]);
    assert_eq!(
        warned(&found),
        [
            (
                "sql, log on, set (split)",
                "2 fsyncs against 1 an op of `sql`"
            ),
            (
                "memcached, log on, set (split)",
                "1 fsyncs against 2, 400 log bytes against 900 an op of `sql, log on`"
            )
        ]
    );
}

#[test]
fn a_small_share_or_a_small_number_is_no_other_term() {
    for (of_sql, of_memcached, is_told) in [
        (1000, 1099, false),
        (1000, 1101, true),
        (1000, 899, true),
        (100, 149, false),
        (100, 151, true),
        (0, 49, false),
        (0, 51, true),
    ] {
        // A block of each takes one less, one more.
        let found = analysis(&[
            ("sql", &[(Term::Fsyncs, of_sql + 1)]),
            ("memcached", &[(Term::Fsyncs, of_memcached + 1)]),
        ]);
        assert_eq!(
            !warned(&found).is_empty(),
            is_told,
            "{of_sql} {of_memcached}"
        );
    }
    for (log_bytes, is_told) in [(31_000, false), (33_000, true)] {
        let found = analysis(&[
            ("sql", &[(Term::LogBytes, 1)]),
            ("memcached", &[(Term::LogBytes, log_bytes)]),
        ]);
        assert_eq!(!warned(&found).is_empty(), is_told, "{log_bytes}");
    }
}

#[test]
fn figures_have_the_digits_that_tell_them_apart() {
    for (of_sql, of_memcached, words) in [
        (1060, 0, "no fsyncs against 1.1"),
        (1060, 4, "hardly any fsyncs against 1.1"),
        (1060, 62, "0.062 fsyncs against 1.1"),
        (12_400, 9_960, "10 fsyncs against 12"),
    ] {
        let found = analysis(&[
            ("sql", &[(Term::Fsyncs, of_sql)]),
            ("memcached", &[(Term::Fsyncs, of_memcached)]),
        ]);
        let told = warned(&found);
        assert_eq!(told.len(), 1, "{words}");
        assert_eq!(told[0].1, format!("{words} an op of `sql`"));
    }
}

#[test]
fn rows_that_a_write_reads_are_no_reason_by_themselves() {
    for (term, is_told) in [(Term::RowsRead, false), (Term::RowsInserted, true)] {
        let found = analysis(&[("sql", &[(term, 1000)]), ("memcached", &[(term, 10)])]);
        assert_eq!(!warned(&found).is_empty(), is_told, "{term:?}");
        assert_eq!(found.terms.len(), 2, "the table has them all the same");
    }
}

#[test]
fn a_store_that_counts_none_has_no_terms() {
    let found = analysis(&[("sql", &[]), ("memcached", &[])]);
    assert_eq!(found.terms, []);
    assert_eq!(warned(&found), []);
}
