//! What could mislead a reader of a result, and what to do about it. METHOD.md, "Honesty".

use serde::{Deserialize, Serialize};

/// The sort of warning. Each names its remedy in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Roundtrip itself was built without optimisation.
    DebugBuild,
    /// Xdebug is loaded in the PHP that was measured.
    XdebugOn,
    /// The opcode cache is off on the command line, as PHP ships it.
    OpcacheOff,
    /// Something else was using the machine.
    OtherLoad,
    /// The hypervisor took time away.
    StealTime,
    /// The clock frequency may change during the run.
    FrequencyScaling,
    /// Reading the clock costs much, or it goes in coarse steps.
    SlowClock,
    /// The clock frequency did change during a phase.
    FrequencyChanged,
    /// The control group was held back for using up its quota of processor time.
    Throttled,
    /// The machine was swapping.
    Swap,
    /// Programs waited for memory.
    MemoryPressure,
    /// The client was busy all the time: the figure is the client's, not the server's.
    ClientSaturated,
    /// More than half of the time was spent waiting, so wake-ups decide the figure.
    WaitingDominates,
    /// The parts of a round trip do not sum to the wall time, or are too short to be told apart.
    PartsDoNotSum,
    /// A client could not be measured against the floor.
    NoFloorBar,
    /// The rate still trended when the phase ended.
    NoSteadyState,
    /// The store threw items away.
    Evictions,
    /// The share of hits is not what was asked for.
    HitRatioOff,
    /// The placement asked for is not possible on this machine.
    PlacementUnavailable,
    /// A store named by the user holds keys that are not ours.
    OtherKeys,
    /// Keys differ from the published ones, because a prefix was put before them.
    KeyPrefix,
    /// A client waits before it sends small packets.
    TcpDelay,
    /// Variants did not do the same work, or not with the same durability.
    UnequalTerms,
    /// The server could not keep up with the rate that was asked for.
    RateNotHeld,
    /// What went on beside a phase ended before it.
    BesideEnded,
    /// A connection was lost during a phase, and came back.
    ConnectionLost,
    /// Trials were voided.
    VoidTrials,
    /// The run ended before every comparison had an outcome.
    EndedEarly,
    /// The ways of computing an interval disagree.
    MethodsDisagree,
}

impl WarningKind {
    /// What the reader can do.
    pub fn remedy(self) -> &'static str {
        match self {
            WarningKind::DebugBuild => "Build with `cargo build --release` and run again.",
            WarningKind::XdebugOn => "Disable Xdebug (`phpdismod -s cli xdebug`) and run again.",
            WarningKind::OpcacheOff => {
                "It matters little for one long loop; set opcache.enable_cli=1 to measure with it."
            }
            WarningKind::OtherLoad => {
                "Stop other programs, or trust ratios rather than absolute times."
            }
            WarningKind::StealTime => {
                "Use a machine with its own cores, or trust ratios rather than absolute times."
            }
            WarningKind::FrequencyScaling => {
                "Set the governor to `performance` (cpupower frequency-set -g performance)."
            }
            WarningKind::SlowClock => {
                "Boot with the clock source `tsc` (see /sys/devices/system/clocksource), or read latencies as too long by a call of the clock."
            }
            WarningKind::FrequencyChanged => {
                "Set the governor to `performance` and turn frequency boosts off, or trust ratios rather than absolute times."
            }
            WarningKind::Throttled => {
                "Raise the processor quota of the container (cpu.max), or run outside of it."
            }
            WarningKind::MemoryPressure => {
                "Stop other programs, or measure with fewer keys or a smaller store."
            }
            WarningKind::Swap => "Free memory, or measure with fewer keys.",
            WarningKind::ClientSaturated => {
                "Read the ratio as one of clients; the server could have done more."
            }
            WarningKind::WaitingDominates => {
                "Run in `--placement shared` too: it shows the CPU cost of the path."
            }
            WarningKind::PartsDoNotSum => {
                "Measure more operations (a second or more a phase) on a quiet machine to trust the parts."
            }
            WarningKind::NoFloorBar => {
                "See what the client says with `roundtrip compare CLIENT@floor native@floor`."
            }
            WarningKind::NoSteadyState => "Measure more operations, or a longer warm-up.",
            WarningKind::Evictions => "Give the store more memory, or measure with fewer keys.",
            WarningKind::HitRatioOff => "Look at evictions and the time to live of the keys.",
            WarningKind::PlacementUnavailable => "Use a machine with two cores or more.",
            WarningKind::OtherKeys => {
                "Nothing of them was touched; measure on an idle server for figures that last."
            }
            WarningKind::KeyPrefix => {
                "Let Roundtrip start the store itself to measure with the published keys."
            }
            WarningKind::TcpDelay => "Set the client's no-delay option, or measure both.",
            WarningKind::UnequalTerms => "Do not read the ratio as one of equal work.",
            WarningKind::RateNotHeld => {
                "Read the response times as those of an overloaded server, or ask for a lower rate."
            }
            WarningKind::BesideEnded => {
                "Raise the count of what goes on beside, so that all of the phase has it."
            }
            WarningKind::ConnectionLost => "Look at the server's log; the gap is in the figures.",
            WarningKind::VoidTrials => "See the reasons with `roundtrip show`; run again.",
            WarningKind::EndedEarly => "Run again with a larger --budget.",
            WarningKind::MethodsDisagree => {
                "Measure more blocks before you rely on this comparison."
            }
        }
    }
}

/// One warning: its sort, what it is about, and the figures of the case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    /// The sort, which carries the remedy.
    pub kind: WarningKind,
    /// What it is about: a variant, a phase, a store; empty for the whole run.
    pub subject: String,
    /// The case in a sentence, with its figures.
    pub detail: String,
}

impl Warning {
    /// A warning about something.
    pub fn new(kind: WarningKind, subject: impl Into<String>, detail: impl Into<String>) -> Self {
        Warning {
            kind,
            subject: subject.into(),
            detail: detail.into(),
        }
    }
}
