//! The most that is read of anything: an archive may come from anybody.

/// The longest record or histogram.
pub const ROW_BYTES: usize = 8 << 20;
/// The longest text of all trials of a run.
pub const RUN_BYTES: usize = 256 << 20;
/// The most memory that the histograms of a run may take once they are decoded.
pub const HISTOGRAM_MEMORY_BYTES: usize = 1 << 30;
/// The most trials of a run.
pub const TRIALS: usize = 100_000;
/// The most phases of a trial.
pub const PHASES: usize = 64;
/// The most times without a connection that a phase tells of.
pub const GAPS: usize = 100_000;
/// The longest name of a variant, phase or experiment.
pub const NAME_BYTES: usize = 1024;
/// The longest time: 36 years, so that a sum of a few cannot overflow.
pub const TIME_NS: u64 = 1 << 60;
/// The largest file that is imported.
pub const IMPORT_BYTES: u64 = 4 << 30;
/// The most runs of an imported file.
pub const IMPORT_RUNS: usize = 10_000;
