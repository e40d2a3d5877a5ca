//! What a crash loses: the table, the rule, and what contradicts it.

use crate::fixture::bare;
use roundtrip_model::Experiment;
use roundtrip_model::fault::{FaultKind, FaultRecord, Found, Keeps, Travel};
use roundtrip_model::record::{RunState, TrialRecord, Validity};
use roundtrip_report::{Document, RenderOptions, SCHEMA, format, formats, show};
use serde_json::Value;

const EXPERIMENT: &str = "name = \"lost\"\ntitle = \"Three ways\"\n\
    [faults]\nop = \"set\"\ncount = 5000\nkinds = [\"server\"]\n\
    [[faults.variant]]\nname = \"kept\"\nclient = \"php/predis\"\nstore = \"redis\"\n\
    [[faults.variant]]\nname = \"gone\"\nclient = \"php/predis\"\nstore = \"redis\"\n\
    [[faults.variant]]\nname = \"multi\"\nclient = \"php/predis\"\nstore = \"redis\"\n\
    options = { depth = 100, transaction = true }\n";

fn trial(variant: &str, block: u32, keeps: Keeps, lost: u64, torn: u64) -> TrialRecord {
    let acknowledged = 1000 * u64::from(block + 1);
    let (travel, depth) = match variant {
        "multi" => (Travel::Transaction, 100),
        _ => (Travel::Sequential, 1),
    };
    let fault = FaultRecord {
        kind: FaultKind::Server,
        travel,
        depth,
        keeps: Some(keeps),
        count: 5000,
        after_ops: acknowledged,
        delay_ns: 10,
        sent: acknowledged + u64::from(depth),
        acknowledged,
        found: Found {
            acknowledged: acknowledged - lost,
            unacknowledged: u64::from(lost == 0),
            torn,
            ..Found::default()
        },
    };
    TrialRecord {
        variant: variant.to_owned(),
        block,
        phases: Vec::new(),
        warnings: Vec::new(),
        validity: Validity::Valid,
        fault: Some(fault),
        ..bare().trials[0].clone()
    }
}

fn document(lost_of_kept: u64, torn: u64) -> Document {
    let experiment = Experiment::parse(EXPERIMENT, "lost.toml").unwrap();
    let mut trials = Vec::new();
    for block in 0..3 {
        let all = 1000 * u64::from(block + 1);
        trials.push(trial("kept", block, Keeps::Disk, lost_of_kept, 0));
        trials.push(trial("gone", block, Keeps::Nothing, all, 0));
        trials.push(trial("multi", block, Keeps::Kernel, 0, torn));
    }
    let mut void = trial("kept", 3, Keeps::Disk, 0, 0);
    void.validity = Validity::Void("every write was acknowledged before the fault".to_owned());
    trials.push(void);
    let mut run = bare().run;
    run.experiment_text = EXPERIMENT.to_owned();
    run.state = RunState::Finished;
    Document {
        analysis: roundtrip_stats::analyse(&experiment, &trials, &[], false),
        run,
        experiment,
        trials,
    }
}

fn text(document: &Document, name: &str) -> String {
    let options = RenderOptions {
        width: 120,
        color: false,
    };
    String::from_utf8(format(name).unwrap().render(document, &options)).unwrap()
}

fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn numbers_and_rules_stand_in_every_format_for_people() {
    for name in ["terminal", "markdown", "html"] {
        let text = text(&document(0, 0), name);
        let line = in_a_line(
            &text
                .replace("**", "")
                .replace("<strong>", "")
                .replace("</strong>", ""),
        );
        for words in [
            "What a crash loses: Three ways",
            "6,000 of 18,000 acknowledged writes were lost",
            "2,000 (1,000-3,000)",
            "3 of 3: 100%",
            "everything that it acknowledged is lost when the server dies",
            "all or nothing",
            "a loss of power, which was not tried",
            "every write was acknowledged before the fault",
        ] {
            assert!(line.contains(words), "{name}: {words}\n{text}");
        }
        assert!(!line.contains("NOT what"), "{text}");
        assert!(!line.contains("Before you read on"), "{text}");
    }
}

#[test]
fn what_contradicts_the_rule_is_said_above_everything() {
    let lost = in_a_line(&text(&document(5, 0), "terminal"));
    for words in [
        "Before you read on",
        "15 acknowledged writes were LOST in 3 trials that should have outlived the fault",
        "NOT what the rule says",
    ] {
        assert!(lost.contains(words), "{words}: {lost}");
    }
    let torn = in_a_line(&text(&document(0, 1), "terminal"));
    assert!(
        torn.contains("of transactions 3 batches were there in part"),
        "{torn}"
    );
}

#[test]
fn a_loss_of_a_redis_that_flushes_every_second_is_what_its_rule_says() {
    let of = |keeps, lost| {
        let mut document = document(0, 0);
        let trials = &mut document.trials;
        trials.clear();
        trials.extend((0..3).map(|block| trial("kept", block, keeps, lost, 0)));
        document.analysis =
            roundtrip_stats::analyse(&document.experiment, &document.trials, &[], false);
        document
    };
    for lost in [0, 5] {
        let busy = of(Keeps::KernelUnlessBusy, lost);
        let said = in_a_line(&text(&busy, "terminal"));
        let counted = format!("{} of 6,000 acknowledged writes were lost", 3 * lost);
        for words in [
            "up to 2 seconds of acknowledged writes",
            &format!("{} of 6,000 lost", 3 * lost),
            if lost > 0 { &counted } else { "kept" },
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(!said.contains("NOT what"), "{said}");
        assert!(!said.contains("Before you read on"), "{said}");
        let json: Value = serde_json::from_str(&text(&busy, "json")).unwrap();
        assert_eq!(json["faults"][0]["keeps"], "kernel_unless_busy");
    }
    // Of a log that is written at every commit, as a MySQL with flush=2 has it, it is one.
    let plain = in_a_line(&text(&of(Keeps::Kernel, 5), "terminal"));
    assert!(plain.contains("NOT what the rule says"), "{plain}");
    assert!(!plain.contains("2 seconds"), "{plain}");
}

#[test]
fn json_follows_its_schema_and_csv_has_a_row_a_trial() {
    let document = document(5, 1);
    let value: Value = serde_json::from_str(&text(&document, "json")).unwrap();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .map(|e| e.to_string())
        .collect();
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(value["faults"][0]["all_lost"], 15);
    assert_eq!(value["faults"][0]["void"], 1);
    assert_eq!(value["faults"][0]["contradictions"][0], "lost");
    assert_eq!(value["trials"][0]["fault"]["acknowledged_lost"], 5);
    let csv = text(&document, "csv");
    assert_eq!(csv.lines().count(), 11);
    let head = csv.lines().next().unwrap();
    let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    let of = |name: &str| row[head.split(',').position(|h| h == name).unwrap()];
    assert_eq!((of("acknowledged"), of("applied")), ("1000", "995"));
    assert_eq!(of("acknowledged_lost"), "5");
}

#[test]
fn every_format_takes_a_run_without_trials_and_a_narrow_terminal() {
    let mut hollow = document(0, 0);
    hollow.trials.clear();
    hollow.analysis = roundtrip_stats::analyse(&hollow.experiment, &[], &[], false);
    let narrow = RenderOptions {
        width: 40,
        color: false,
    };
    for document in [&hollow, &document(5, 1)] {
        for format in formats() {
            assert!(!format.render(document, &narrow).is_empty());
        }
        let terminal = format("terminal").unwrap().render(document, &narrow);
        let terminal = String::from_utf8(terminal).unwrap();
        let widest = terminal.lines().map(|l| l.chars().count()).max().unwrap();
        assert!(widest <= 40, "{terminal}");
        let shown = String::from_utf8(show(document, &narrow)).unwrap();
        assert!(shown.contains("Every trial"));
    }
}
