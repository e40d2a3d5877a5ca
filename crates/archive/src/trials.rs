//! Trials, each whole: its record, and for each phase the histograms of its latencies.

use crate::runs::to_text;
use crate::{Archive, blob, limits, trouble};
use roundtrip_model::fault::FaultRecord;
use roundtrip_model::record::{PhaseRecord, TrialRecord};
use roundtrip_model::{Histogram, Kind, Problem, Result};
use rusqlite::{Row, params};

/// A table of histograms, and where they stand in a phase.
struct Kept {
    insert: &'static str,
    select: &'static str,
    of: fn(&PhaseRecord) -> Option<&Histogram>,
    put: fn(&mut PhaseRecord, Histogram),
}

const KEPT: [Kept; 2] = [
    Kept {
        insert: "INSERT INTO histogram VALUES (?1, ?2, ?3, ?4)",
        select: "SELECT phase, hdr, crc32 FROM histogram WHERE trial = ?1",
        of: |phase| phase.latency.as_ref(),
        put: |phase, histogram| phase.latency = Some(histogram),
    },
    Kept {
        insert: "INSERT INTO response_histogram VALUES (?1, ?2, ?3, ?4)",
        select: "SELECT phase, hdr, crc32 FROM response_histogram WHERE trial = ?1",
        of: |phase| phase.response.as_ref(),
        put: |phase, histogram| phase.response = Some(histogram),
    },
];

/// What is left to be read of a run before it is too much.
#[derive(Debug)]
pub(crate) struct Allowance {
    text_bytes: usize,
    histogram_bytes: usize,
    trials: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Allowance {
            text_bytes: limits::RUN_BYTES,
            histogram_bytes: limits::HISTOGRAM_MEMORY_BYTES,
            trials: limits::TRIALS,
        }
    }
}

impl Allowance {
    fn take(left: &mut usize, amount: usize, of: &str) -> std::result::Result<(), String> {
        *left = left
            .checked_sub(amount)
            .ok_or_else(|| format!("more {of} than any run has"))?;
        Ok(())
    }
}

impl Archive {
    /// Keeps a trial that has ended, whole or not at all.
    pub fn add_trial(&self, run_id: &str, trial: &TrialRecord) -> Result<()> {
        let change = self.change()?;
        self.insert_whole_trial(run_id, trial)?;
        change.commit().map_err(|e| self.bad(e))
    }

    /// Keeps a trial inside a transaction that the caller has begun.
    pub(crate) fn insert_whole_trial(&self, run_id: &str, trial: &TrialRecord) -> Result<()> {
        check(trial).map_err(|what| {
            Problem::new(Kind::Internal, format!("a trial cannot be kept: {what}"))
                .next("this is a defect of Roundtrip: please report it")
        })?;
        let (text, crc) = to_text(trial)?;
        self.insert_trial(run_id, trial, &text, crc)?;
        let id = self.conn.last_insert_rowid();
        for (i, phase) in trial.phases.iter().enumerate() {
            for kept in KEPT {
                if let Some(histogram) = (kept.of)(phase) {
                    self.insert_histogram(&kept, id, i, &histogram.to_bytes())?;
                }
            }
        }
        Ok(())
    }

    fn insert_trial(&self, run_id: &str, trial: &TrialRecord, text: &str, crc: u32) -> Result<()> {
        let inserted = self.conn.prepare_cached(
            "INSERT INTO trial (run, block, variant, placement, record, crc32) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                run_id,
                trial.block,
                trial.variant,
                trial.placement.name(),
                text,
                crc
            ])
        });
        match inserted {
            // The reference to its run is the only thing that can be broken.
            Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
                Err(self.unknown_run(run_id)?)
            }
            result => result.map(|_| ()).map_err(|e| self.bad(e)),
        }
    }

    fn insert_histogram(&self, kept: &Kept, trial: i64, phase: usize, hdr: &[u8]) -> Result<()> {
        self.run(|conn| {
            conn.prepare_cached(kept.insert)?.execute(params![
                trial,
                phase as i64,
                hdr,
                crc32fast::hash(hdr)
            ])
        })?;
        Ok(())
    }

    /// The trials of a run, in the order in which they ended, with their histograms.
    pub fn trials(&self, run_id: &str) -> Result<Vec<TrialRecord>> {
        let mut trials = Vec::new();
        self.each_trial(run_id, |trial| {
            trials.push(trial);
            Ok(())
        })?;
        Ok(trials)
    }

    /// Reads the trials of a run one by one.
    pub(crate) fn each_trial(
        &self,
        run_id: &str,
        mut with: impl FnMut(TrialRecord) -> Result<()>,
    ) -> Result<()> {
        let mut allowance = Allowance::default();
        let mut select = self.run(|conn| {
            conn.prepare("SELECT id, record, crc32 FROM trial WHERE run = ?1 ORDER BY id")
        })?;
        let mut rows = select.query([run_id]).map_err(|e| self.bad(e))?;
        while let Some(row) = rows.next().map_err(|e| self.bad(e))? {
            with(self.trial(row, &mut allowance)?)?;
        }
        Ok(())
    }

    fn trial(&self, row: &Row<'_>, allowance: &mut Allowance) -> Result<TrialRecord> {
        let columns = || Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (id, text, crc): (i64, String, u32) = columns().map_err(|e| self.bad(e))?;
        let damaged = |what: String| trouble::corrupted(&self.path, format!("trial {id}: {what}"));
        Allowance::take(&mut allowance.trials, 1, "trials").map_err(damaged)?;
        Allowance::take(&mut allowance.text_bytes, text.len(), "text").map_err(damaged)?;
        let mut trial: TrialRecord = self.parse(&text, crc, &format!("trial {id}"))?;
        check(&trial).map_err(damaged)?;
        for kept in KEPT {
            self.attach_histograms(&kept, id, &mut trial, allowance)?;
        }
        Ok(trial)
    }

    fn attach_histograms(
        &self,
        kept: &Kept,
        id: i64,
        trial: &mut TrialRecord,
        allowance: &mut Allowance,
    ) -> Result<()> {
        let damaged = |what: String| trouble::corrupted(&self.path, format!("trial {id}: {what}"));
        let mut select = self.run(|conn| conn.prepare_cached(kept.select))?;
        let mut rows = select.query([id]).map_err(|e| self.bad(e))?;
        while let Some(row) = rows.next().map_err(|e| self.bad(e))? {
            let columns = || Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let (phase, hdr, crc): (u32, Vec<u8>, u32) = columns().map_err(|e| self.bad(e))?;
            if crc32fast::hash(&hdr) != crc {
                return Err(damaged(
                    "the checksum of a histogram does not match".to_owned(),
                ));
            }
            let memory = blob::memory_bytes(&hdr).map_err(damaged)?;
            let left = &mut allowance.histogram_bytes;
            Allowance::take(left, memory, "latencies").map_err(damaged)?;
            let phase = trial
                .phases
                .get_mut(phase as usize)
                .ok_or_else(|| damaged("a histogram of no phase".to_owned()))?;
            (kept.put)(phase, blob::decode(&hdr).map_err(damaged)?);
        }
        Ok(())
    }
}

/// Whether a trial is within the limits.
pub(crate) fn check(trial: &TrialRecord) -> std::result::Result<(), String> {
    if trial.phases.len() > limits::PHASES {
        return Err(format!("{} phases", trial.phases.len()));
    }
    let names = trial.phases.iter().map(|phase| phase.name.as_str());
    for name in names.chain([trial.variant.as_str()]) {
        if name.len() > limits::NAME_BYTES {
            return Err(format!("a name of {} bytes", name.len()));
        }
    }
    if trial.took_ns > limits::TIME_NS || trial.phases.iter().any(too_long) {
        return Err("a time of over 36 years".to_owned());
    }
    if let Some(phase) = trial.phases.iter().find(|p| p.gaps.len() > limits::GAPS) {
        return Err(format!("{} times without a connection", phase.gaps.len()));
    }
    if trial.fault.as_ref().is_some_and(is_too_much) {
        return Err("more writes than any trial has".to_owned());
    }
    Ok(())
}

/// Whether a number of a fault is so large that sums of them could overflow.
fn is_too_much(fault: &FaultRecord) -> bool {
    let found = fault.found;
    let counts = [fault.count, fault.after_ops, fault.delay_ns, fault.sent];
    let counts = counts.into_iter().chain([fault.acknowledged]);
    counts
        .chain([found.acknowledged, found.unacknowledged])
        .chain([found.beyond, found.wrong, found.torn])
        .any(|n| n > limits::TIME_NS)
}

/// Whether a time of a phase is so long that sums of them could overflow.
fn too_long(phase: &PhaseRecord) -> bool {
    let process = phase.process.map(|p| [p.real_ns, p.user_ns, p.sys_ns]);
    let known = [phase.user_ns, phase.sys_ns, phase.server_cpu_ns];
    let late = phase
        .lateness
        .map(|l| [l.max_ns, l.p99_ns, l.mean_ns, l.p50_ns.unwrap_or(0)]);
    let gaps = phase.gaps.iter().flat_map(|gap| [gap.at_ns, gap.lasted_ns]);
    [phase.wall_ns, phase.ops]
        .into_iter()
        .chain(known.into_iter().flatten())
        .chain(process.into_iter().flatten())
        .chain(late.into_iter().flatten())
        .chain(gaps)
        .chain(phase.slices_ns.iter().copied())
        .chain(phase.outcomes.values().copied())
        .chain(phase.cache_outcomes.values().copied())
        .any(|n| n > limits::TIME_NS)
}
