//! How a store is to be started.

use crate::artifact;
use roundtrip_model::names::unknown;
use roundtrip_model::{Problem, Result};
use roundtrip_process::{CpuSet, PrivateDir};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// How clients reach a started store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// A loopback port.
    #[default]
    Tcp,
    /// A unix socket in the private directory.
    Unix,
    /// A loopback port that speaks TLS, with a certificate made for this start.
    Tls,
}

impl FromStr for Transport {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Transport> {
        match text {
            "tcp" => Ok(Transport::Tcp),
            "unix" => Ok(Transport::Unix),
            "tls" => Ok(Transport::Tls),
            _ => Err(unknown("transport", text, ["tcp", "unix", "tls"])),
        }
    }
}

/// How a store is to be started.
#[derive(Clone, Debug)]
pub struct StartOptions<'a> {
    /// Roundtrip's own executable, for stores that are part of it.
    pub self_exe: PathBuf,
    /// The run's private directory; the store gets one of its own within it.
    pub dir: &'a PrivateDir,
    /// How clients reach it; an embedded store has no choice.
    pub transport: Transport,
    /// The processors that it is kept on; anywhere when `None`.
    pub cpus: Option<CpuSet>,
    /// Memory for items.
    pub memory_mb: u32,
    /// More arguments, after those of the manifest.
    pub extra_args: Vec<String>,
    /// Where what is costly to make is kept.
    pub cache: PathBuf,
    /// The program to start in the place of the manifest's.
    pub program: Option<PathBuf>,
    /// How long it may take until it answers; as long as the manifest says when `None`.
    pub ready_within: Option<Duration>,
}

impl<'a> StartOptions<'a> {
    /// On a loopback port, anywhere, with a gigabyte of memory.
    pub fn new(self_exe: impl Into<PathBuf>, dir: &'a PrivateDir) -> StartOptions<'a> {
        StartOptions {
            self_exe: self_exe.into(),
            dir,
            transport: Transport::Tcp,
            cpus: None,
            memory_mb: 1024,
            extra_args: Vec::new(),
            cache: artifact::cache(),
            program: None,
            ready_within: None,
        }
    }
}
