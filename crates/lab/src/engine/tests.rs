use super::*;
use roundtrip_model::Op;
use roundtrip_model::analysis::Verdict;
use roundtrip_model::record::{Environment, PhaseRecord};
use std::cell::Cell;
use std::collections::BTreeMap;

fn experiment(extra: &str) -> Experiment {
    let text = format!(
        "name = \"m\"\n{extra}\n[[phase]]\nop = \"get\"\ncount = 1000\n\
         [matrix]\nclient = [\"a\", \"b\"]\nstore = [\"s\"]\n"
    );
    Experiment::parse(&text, "m.toml").unwrap()
}

fn fresh_run() -> RunRecord {
    RunRecord {
        id: "r".into(),
        experiment: "m".into(),
        experiment_text: String::new(),
        command: String::new(),
        seed: 7,
        started_unix_ms: 0,
        ended_unix_ms: None,
        state: RunState::Running,
        end_reason: None,
        looks: Vec::new(),
        environment: Environment::default(),
        warnings: Vec::new(),
        floor_bars: Vec::new(),
    }
}

/// Gives trials of exact lengths: `wall_ns` by contestant, plus a noise that differs by block.
struct Fake<'a> {
    wall_ns: fn(&str) -> u64,
    clock: &'a Cell<Duration>,
    stop_after: Option<(u32, &'a AtomicBool)>,
    fails_at: Option<u32>,
    void: Option<&'static str>,
    ran: u32,
}

impl<'a> Fake<'a> {
    fn new(clock: &'a Cell<Duration>, wall_ns: fn(&str) -> u64) -> Self {
        Fake {
            wall_ns,
            clock,
            stop_after: None,
            fails_at: None,
            void: None,
            ran: 0,
        }
    }
}

impl TrialRunner for Fake<'_> {
    fn run(&mut self, plan: &TrialPlan) -> Result<TrialRecord> {
        if self.fails_at == Some(self.ran) {
            return Err(Problem::new(Kind::Failed, "the server died"));
        }
        self.ran += 1;
        self.clock.set(self.clock.get() + Duration::from_secs(1));
        if let Some((n, stop)) = self.stop_after
            && self.ran == n
        {
            stop.store(true, Ordering::Relaxed);
        }
        let noise = u64::from((plan.block * 7 + plan.position * 3) % 5) * 1000;
        let is_void = self.void.is_some_and(|name| plan.contestant == name);
        Ok(TrialRecord {
            block: plan.block,
            position: plan.position,
            variant: plan.contestant.clone(),
            placement: plan.placement,
            started_unix_ms: 0,
            took_ns: 1,
            validity: if is_void {
                Validity::Void("it lied".into())
            } else {
                Validity::Valid
            },
            phases: vec![phase((self.wall_ns)(&plan.contestant) + noise)],
            warnings: Vec::new(),
            fault: None,
        })
    }
}

fn phase(wall_ns: u64) -> PhaseRecord {
    PhaseRecord {
        name: "get".into(),
        op: Op::Get,
        ops: 1000,
        keys_per_op: 1,
        beside: None,
        depth: 1,
        concurrency: 1,
        carried: None,
        pace: roundtrip_model::workload::Pace::Closed,
        lateness: None,
        gaps: Vec::new(),
        gap_totals: None,
        redirects: Default::default(),
        wall_ns,
        user_ns: None,
        sys_ns: None,
        server_cpu_ns: None,
        process: None,
        client_max_rss_bytes: None,
        complaint: None,
        outcomes: BTreeMap::from([("hit".into(), 1000)]),
        cache_outcomes: BTreeMap::new(),
        latency: None,
        response: None,
        machine: None,
        slices_ns: Vec::new(),
        steady: None,
        terms: Default::default(),
        witness: BTreeMap::new(),
        samples: Vec::new(),
    }
}

#[derive(Default)]
struct Kept {
    trials: Vec<TrialRecord>,
    states: Vec<RunState>,
}

impl Keeper for Kept {
    fn keep(&mut self, _: &RunRecord, trial: &TrialRecord) -> Result<()> {
        self.trials.push(trial.clone());
        Ok(())
    }

    fn update(&mut self, run: &RunRecord) -> Result<()> {
        self.states.push(run.state);
        Ok(())
    }
}

struct Went {
    run: RunRecord,
    trials: Vec<TrialRecord>,
    kept: Kept,
    result: Result<()>,
}

fn go(experiment: &Experiment, runner: &mut Fake<'_>, trials: Vec<TrialRecord>) -> Went {
    let stop = AtomicBool::new(false);
    go_until(experiment, runner, trials, &stop)
}

fn go_until(
    experiment: &Experiment,
    runner: &mut Fake<'_>,
    mut trials: Vec<TrialRecord>,
    stop: &AtomicBool,
) -> Went {
    let mut run = fresh_run();
    let mut kept = Kept::default();
    let clock = runner.clock;
    let result = Engine {
        experiment,
        runner,
        keeper: &mut kept,
        observer: &mut Silent,
        stop,
        elapsed: &|| clock.get(),
    }
    .run(&mut run, &mut trials);
    Went {
        run,
        trials,
        kept,
        result,
    }
}

fn twice_as_slow(contestant: &str) -> u64 {
    if contestant.starts_with('b') {
        2_000_000
    } else {
        1_000_000
    }
}

#[test]
fn a_clear_difference_ends_the_run_at_a_planned_look() {
    let clock = Cell::default();
    let went = go(
        &experiment(""),
        &mut Fake::new(&clock, twice_as_slow),
        Vec::new(),
    );
    went.result.unwrap();
    assert_eq!(went.run.end_reason, Some(EndReason::Decided));
    let blocks = *went.run.looks.last().unwrap();
    assert!([5, 10].contains(&blocks), "{:?}", went.run.looks);
    assert_eq!(went.trials.len() as u32, blocks * 3);
    assert_eq!(went.kept.trials, went.trials);
    assert_eq!(*went.kept.states.last().unwrap(), RunState::Finished);
    let analysis = roundtrip_stats::analyse(&experiment(""), &went.trials, &went.run.looks, false);
    assert_eq!(analysis.comparisons[0].verdict, Verdict::Slower);
}

#[test]
fn the_budget_ends_a_run_before_a_block_that_would_not_fit() {
    let clock = Cell::default();
    // A trial takes a second and a block three: 6 blocks fit into 20 seconds, a seventh does not.
    let e = experiment("budget_s = 20.0\ndelta = \"0.001%\"");
    let went = go(&e, &mut Fake::new(&clock, |_| 1_000_000), Vec::new());
    went.result.unwrap();
    assert_eq!(went.run.end_reason, Some(EndReason::Budget));
    assert_eq!(
        (went.trials.len(), went.run.looks.as_slice()),
        (18, [5, 6].as_slice())
    );
    assert!(last_look_is_final(&went.run));
}

#[test]
fn ctrl_c_keeps_finished_trials_and_a_resumed_run_has_the_same_plan() {
    let clock = Cell::default();
    let e = experiment("max_blocks = 5");
    let stop = AtomicBool::new(false);
    let mut fake = Fake {
        stop_after: Some((4, &stop)),
        ..Fake::new(&clock, twice_as_slow)
    };
    let stopped = go_until(&e, &mut fake, Vec::new(), &stop);
    assert_eq!(stopped.result.unwrap_err().kind, Kind::Interrupted);
    assert_eq!(
        (stopped.run.state, stopped.kept.trials.len()),
        (RunState::Interrupted, 4)
    );

    let mut rest = Fake::new(&clock, twice_as_slow);
    let resumed = go(&e, &mut rest, stopped.trials);
    resumed.result.clone().unwrap();
    assert_eq!((rest.ran, resumed.trials.len()), (11, 15));
    let whole = go(&e, &mut Fake::new(&clock, twice_as_slow), Vec::new());
    let order = |went: &Went| -> Vec<(u32, u32, String)> {
        went.trials
            .iter()
            .map(|t| (t.block, t.position, t.variant.clone()))
            .collect()
    };
    assert_eq!(order(&resumed), order(&whole));
}

#[test]
fn a_server_that_dies_ends_the_run_and_loses_nothing() {
    let clock = Cell::default();
    let mut fake = Fake {
        fails_at: Some(7),
        ..Fake::new(&clock, twice_as_slow)
    };
    let went = go(&experiment(""), &mut fake, Vec::new());
    assert_eq!(went.result.unwrap_err().what, "the server died");
    assert_eq!(
        (went.run.state, went.kept.trials.len()),
        (RunState::Failed, 7)
    );
}

#[test]
fn a_client_that_always_lies_ends_the_run_as_void() {
    let clock = Cell::default();
    let mut fake = Fake {
        void: Some("b@s"),
        ..Fake::new(&clock, twice_as_slow)
    };
    let went = go(&experiment(""), &mut fake, Vec::new());
    let problem = went.result.unwrap_err();
    assert_eq!(problem.kind, Kind::Void);
    assert_eq!(problem.what, "every trial of `b@s` is void: it lied");
    assert_eq!(went.trials.len(), 6);

    // Once the cause is mended the run can be resumed, as the message says.
    let e = experiment("max_blocks = 5");
    let honest = go(&e, &mut Fake::new(&clock, twice_as_slow), went.trials);
    honest.result.clone().unwrap();
    assert_eq!(
        (honest.trials.len(), honest.run.state),
        (15, RunState::Finished)
    );
}
