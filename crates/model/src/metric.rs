//! The figures of a phase: name, unit, direction, and how each is taken from a trial.

use crate::problem::{Problem, Result};
use crate::record::PhaseRecord;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// A larger figure is faster.
    Higher,
    /// A smaller figure is faster.
    Lower,
}

/// One number of one phase of one trial. METHOD.md, point 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Operations a second of the timed loop.
    OpsPerS,
    /// Wall time of the loop, a phase.
    LoopRealS,
    /// User CPU of the client over the loop.
    LoopUserS,
    /// System CPU of the client over the loop.
    LoopSysS,
    /// Wall time of the whole client process, less its warm-up.
    ProcessRealS,
    /// User CPU of the whole client process, less its warm-up.
    ProcessUserS,
    /// System CPU of the whole client process, less its warm-up.
    ProcessSysS,
    /// Mean time an op.
    MeanNs,
    /// Median latency.
    P50Ns,
    /// 95th percentile of latency.
    P95Ns,
    /// 99th percentile of latency.
    P99Ns,
    /// 99.9th percentile of latency.
    P999Ns,
    /// Median response time: from the moment at which an op was to start. Paced phases only.
    ResponseP50Ns,
    /// 99th percentile of the response time.
    ResponseP99Ns,
    /// 99.9th percentile of the response time.
    ResponseP999Ns,
    /// CPU of the client an op, user and system.
    ClientCpuNsPerOp,
    /// User CPU of the client an op.
    ClientUserNsPerOp,
    /// System CPU of the client an op.
    ClientSysNsPerOp,
    /// CPU of the server an op.
    ServerCpuNsPerOp,
    /// Operations for each second of CPU that the server spent.
    OpsPerServerCpuS,
    /// What is left of the wall time: wake-ups, scheduling, network. Sequential phases only.
    WaitingNsPerOp,
    /// The most memory that the client held: its largest resident set.
    ClientMaxRssBytes,
}

impl Metric {
    /// Every metric, in the order of a report.
    pub const ALL: [Metric; 22] = [
        Metric::OpsPerS,
        Metric::LoopRealS,
        Metric::LoopUserS,
        Metric::LoopSysS,
        Metric::ProcessRealS,
        Metric::ProcessUserS,
        Metric::ProcessSysS,
        Metric::MeanNs,
        Metric::P50Ns,
        Metric::P95Ns,
        Metric::P99Ns,
        Metric::P999Ns,
        Metric::ResponseP50Ns,
        Metric::ResponseP99Ns,
        Metric::ResponseP999Ns,
        Metric::ClientCpuNsPerOp,
        Metric::ClientUserNsPerOp,
        Metric::ClientSysNsPerOp,
        Metric::ServerCpuNsPerOp,
        Metric::OpsPerServerCpuS,
        Metric::WaitingNsPerOp,
        Metric::ClientMaxRssBytes,
    ];

    /// The name in files and reports, with its unit.
    pub fn name(self) -> &'static str {
        match self {
            Metric::OpsPerS => "ops_per_s",
            Metric::LoopRealS => "loop_real_s",
            Metric::LoopUserS => "loop_user_s",
            Metric::LoopSysS => "loop_sys_s",
            Metric::ProcessRealS => "process_real_s",
            Metric::ProcessUserS => "process_user_s",
            Metric::ProcessSysS => "process_sys_s",
            Metric::MeanNs => "mean_ns",
            Metric::P50Ns => "p50_ns",
            Metric::P95Ns => "p95_ns",
            Metric::P99Ns => "p99_ns",
            Metric::P999Ns => "p999_ns",
            Metric::ResponseP50Ns => "response_p50_ns",
            Metric::ResponseP99Ns => "response_p99_ns",
            Metric::ResponseP999Ns => "response_p999_ns",
            Metric::ClientCpuNsPerOp => "client_cpu_ns_per_op",
            Metric::ClientUserNsPerOp => "client_user_ns_per_op",
            Metric::ClientSysNsPerOp => "client_sys_ns_per_op",
            Metric::ServerCpuNsPerOp => "server_cpu_ns_per_op",
            Metric::OpsPerServerCpuS => "ops_per_server_cpu_s",
            Metric::WaitingNsPerOp => "waiting_ns_per_op",
            Metric::ClientMaxRssBytes => "client_max_rss_bytes",
        }
    }

    /// The unit alone: `1/s`, `s`, `ns`, `B`.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::OpsPerS | Metric::OpsPerServerCpuS => "1/s",
            Metric::LoopRealS
            | Metric::LoopUserS
            | Metric::LoopSysS
            | Metric::ProcessRealS
            | Metric::ProcessUserS
            | Metric::ProcessSysS => "s",
            Metric::ClientMaxRssBytes => "B",
            _ => "ns",
        }
    }

    /// Which way is faster.
    pub fn better(self) -> Better {
        if matches!(self, Metric::OpsPerS | Metric::OpsPerServerCpuS) {
            Better::Higher
        } else {
            Better::Lower
        }
    }

    /// What it is, in a few words, for a table.
    pub fn in_words(self) -> &'static str {
        match self {
            Metric::OpsPerS => "operations a second",
            Metric::LoopRealS => "loop, real",
            Metric::LoopUserS => "loop, user",
            Metric::LoopSysS => "loop, sys",
            Metric::ProcessRealS => "whole process, real",
            Metric::ProcessUserS => "whole process, user",
            Metric::ProcessSysS => "whole process, sys",
            Metric::MeanNs => "mean time an op",
            Metric::P50Ns => "p50",
            Metric::P95Ns => "p95",
            Metric::P99Ns => "p99",
            Metric::P999Ns => "p99.9",
            Metric::ResponseP50Ns => "response p50",
            Metric::ResponseP99Ns => "response p99",
            Metric::ResponseP999Ns => "response p99.9",
            Metric::ClientCpuNsPerOp => "client CPU an op",
            Metric::ClientUserNsPerOp => "client user CPU an op",
            Metric::ClientSysNsPerOp => "client system CPU an op",
            Metric::ServerCpuNsPerOp => "server CPU an op",
            Metric::OpsPerServerCpuS => "operations a second of server CPU",
            Metric::WaitingNsPerOp => "waiting an op",
            Metric::ClientMaxRssBytes => "memory of the client, at most",
        }
    }

    /// The figure of a phase, or `None` where it is not known. Never 0 for unknown.
    pub fn of(self, phase: &PhaseRecord) -> Option<f64> {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let ops = (phase.ops > 0).then_some(phase.ops as f64)?;
        let per_op = |ns: u64| ns as f64 / ops;
        match self {
            Metric::OpsPerS => (phase.wall_ns > 0).then(|| ops / seconds(phase.wall_ns)),
            Metric::LoopRealS => Some(seconds(phase.wall_ns)),
            Metric::LoopUserS => phase.user_ns.map(seconds),
            Metric::LoopSysS => phase.sys_ns.map(seconds),
            Metric::ProcessRealS => phase.process.map(|p| seconds(p.real_ns)),
            Metric::ProcessUserS => phase.process.map(|p| seconds(p.user_ns)),
            Metric::ProcessSysS => phase.process.map(|p| seconds(p.sys_ns)),
            // With a rate it would be the distance between ops, whatever the store does.
            Metric::MeanNs => phase.pace.is_closed().then(|| per_op(phase.wall_ns)),
            Metric::P50Ns => phase.quantile(0.50),
            Metric::P95Ns => phase.quantile(0.95),
            Metric::P99Ns => phase.quantile(0.99),
            Metric::P999Ns => phase.quantile(0.999),
            Metric::ResponseP50Ns => phase.response_quantile(0.50),
            Metric::ResponseP99Ns => phase.response_quantile(0.99),
            Metric::ResponseP999Ns => phase.response_quantile(0.999),
            Metric::ClientCpuNsPerOp => {
                let cpu_ns = phase.user_ns.zip(phase.sys_ns);
                cpu_ns.map(|(user_ns, sys_ns)| (user_ns + sys_ns) as f64 / ops)
            }
            Metric::ClientUserNsPerOp => phase.user_ns.map(per_op),
            Metric::ClientSysNsPerOp => phase.sys_ns.map(per_op),
            Metric::ServerCpuNsPerOp => phase.server_cpu_ns.map(per_op),
            // A store without a server spends none, and has no such figure.
            Metric::OpsPerServerCpuS => {
                let cpu_ns = phase.server_cpu_ns.filter(|ns| *ns > 0);
                cpu_ns.map(|ns| ops / seconds(ns))
            }
            Metric::WaitingNsPerOp => phase.waiting_ns().map(|ns| ns as f64 / ops),
            Metric::ClientMaxRssBytes => phase.client_max_rss_bytes.map(|bytes| bytes as f64),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Metric> {
        let names = Metric::ALL.iter().map(|m| m.name());
        Metric::ALL
            .into_iter()
            .find(|m| m.name() == text)
            .ok_or_else(|| crate::names::unknown("metric", text, names))
    }
}
