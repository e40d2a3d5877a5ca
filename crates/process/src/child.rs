//! One owned child process.

// Three calls have no safe form: `pre_exec` (the death signal must be set between fork and exec,
// or a Roundtrip killed in between would leave the child behind), `wait4` (the only way to the
// CPU times of one child), and the CPU clock of another process (exact to the nanosecond, where
// /proc counts in ticks of 10 ms).
#![allow(unsafe_code)]

use crate::cpus::CpuSet;
use roundtrip_model::{Kind, Problem, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How a child is to run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The processors that it is kept on; anywhere when `None`.
    pub cpus: Option<CpuSet>,
    /// Run as this uid and gid.
    pub run_as: Option<u32>,
}

/// How a child ended, and what it used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code, where it exited.
    pub code: Option<i32>,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
    /// User CPU over its life.
    pub user_ns: u64,
    /// System CPU over its life.
    pub sys_ns: u64,
    /// Its largest resident set.
    pub max_rss_bytes: u64,
}

impl Exit {
    /// Whether it ended well.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// How it ended, in words.
    pub fn in_words(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        }
    }
}

/// A child that dies with this value, with the thread that started it, and with the process.
///
/// The kernel sends the death signal when the *thread* that started the child ends: start
/// children from a thread that lives as long as they should.
#[derive(Debug)]
pub struct Owned {
    child: Child,
    exit: Option<Exit>,
}

impl Owned {
    /// Starts a command in a process group of its own.
    pub fn spawn(command: &mut Command, settings: &Settings) -> io::Result<Owned> {
        let cpus = settings.cpus.as_ref().map(CpuSet::kernel_set);
        command.process_group(0);
        if let Some(uid) = settings.run_as {
            command.uid(uid).gid(uid);
        }
        let parent = rustix::process::getpid();
        let before_exec = move || {
            // Changing the user clears the death signal; the standard library changes it before
            // it runs this.
            #[cfg(target_os = "linux")]
            {
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                if rustix::process::getppid() != Some(parent) {
                    return Err(io::Error::other("Roundtrip is gone"));
                }
            }
            #[cfg(not(target_os = "linux"))]
            let _ = parent;
            if let Some(set) = &cpus {
                rustix::thread::sched_setaffinity(None, set)?;
            }
            Ok(())
        };
        // SAFETY: the closure makes three system calls and allocates nothing, which is what is
        // allowed between fork and exec.
        unsafe { command.pre_exec(before_exec) };
        Ok(Owned {
            child: command.spawn()?,
            exit: None,
        })
    }

    /// Its process id, which is its group's id too.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input, once, where it was piped.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its standard output, once, where it was piped.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// How it ended, if it has.
    pub fn try_wait(&mut self) -> io::Result<Option<Exit>> {
        if self.exit.is_none() {
            self.exit = wait4(self.pid(), libc::WNOHANG)?;
        }
        Ok(self.exit)
    }

    /// Waits for its end for at most `deadline`; `None` when it still runs.
    pub fn wait(&mut self, deadline: Duration) -> io::Result<Option<Exit>> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(50);
        loop {
            if let Some(exit) = self.try_wait()? {
                return Ok(Some(exit));
            }
            if start.elapsed() >= deadline {
                return Ok(None);
            }
            sleep(pause.min(deadline.saturating_sub(start.elapsed())));
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }

    /// Asks it to end with SIGTERM, and kills it and its group when it has not within `grace`.
    pub fn stop(&mut self, grace: Duration) -> Result<Exit> {
        let failed = |e: io::Error| {
            Problem::new(
                Kind::Internal,
                format!("a child process cannot be awaited: {e}"),
            )
        };
        self.signal(Signal::TERM);
        if let Some(exit) = self.wait(grace).map_err(failed)? {
            return Ok(exit);
        }
        self.kill();
        self.wait(Duration::from_secs(10))
            .map_err(failed)?
            .ok_or_else(|| {
                Problem::new(
                    Kind::Internal,
                    format!("process {} does not die of SIGKILL", self.pid()),
                )
            })
    }

    /// Sends a signal to its whole group, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        // After its end the group's number may be somebody else's.
        if self.exit.is_none()
            && let Some(group) = Pid::from_raw(self.pid() as i32)
        {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills its whole group.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.kill();
            let _ = self.wait(Duration::from_secs(10));
        }
    }
}

fn wait4(pid: u32, options: i32) -> io::Result<Option<Exit>> {
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live values of the right types.
        match unsafe { libc::wait4(pid as i32, &mut status, options, &mut usage) } {
            0 => return Ok(None),
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            _ => break,
        }
    }
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    let max_rss_unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Ok(Some(Exit {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        user_ns: ns(usage.ru_utime),
        sys_ns: ns(usage.ru_stime),
        max_rss_bytes: usage.ru_maxrss as u64 * max_rss_unit,
    }))
}

/// CPU time of a running process and all its threads, past ones too. `None` where the platform
/// or the process does not give it.
#[cfg(target_os = "linux")]
pub fn cpu_time_ns(pid: u32) -> Option<u64> {
    let mut clock = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both pointers are to live values of the right types.
    let failed = unsafe {
        libc::clock_getcpuclockid(pid as i32, &mut clock) != 0
            || libc::clock_gettime(clock, &mut time) != 0
    };
    (!failed).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// CPU time of a running process and all its threads. Not known on this platform.
#[cfg(not(target_os = "linux"))]
pub fn cpu_time_ns(_pid: u32) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn shell(script: &str) -> Owned {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        Owned::spawn(&mut command, &Settings::default()).unwrap()
    }

    fn runs(pid: u32) -> bool {
        // A zombie has a directory too, but no command line.
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
    }

    fn soon(holds: impl Fn() -> bool) -> bool {
        (0..2000).any(|_| {
            sleep(Duration::from_millis(5));
            holds()
        })
    }

    #[test]
    fn an_exit_code_and_a_signal_are_told_apart() {
        let long = Duration::from_secs(60);
        assert_eq!(shell("exit 3").wait(long).unwrap().unwrap().code, Some(3));
        let killed = shell("kill -9 $$").wait(long).unwrap().unwrap();
        assert_eq!((killed.code, killed.signal), (None, Some(9)));
    }

    #[test]
    fn a_child_that_ignores_sigterm_is_killed_with_its_group() {
        let mut child = shell("trap '' TERM; sleep 600 & echo $!; wait");
        let mut line = String::new();
        let stdout = child.take_stdout().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(stdout), &mut line).unwrap();
        let grandchild: u32 = line.trim().parse().unwrap();
        // While it execs it has no command line.
        assert!(soon(|| runs(grandchild)));
        assert_eq!(
            child.stop(Duration::from_millis(50)).unwrap().signal,
            Some(9)
        );
        assert!(soon(|| !runs(grandchild)));
    }

    #[test]
    fn a_dropped_child_is_gone() {
        let child = shell("sleep 600");
        let pid = child.pid();
        drop(child);
        assert!(!runs(pid));
    }

    #[test]
    fn a_child_is_pinned_before_it_runs() {
        let cpu = crate::cpus::available().0[0];
        let mut command = Command::new("sh");
        command
            .args(["-c", "grep Cpus_allowed_list /proc/self/status"])
            .stdout(Stdio::piped());
        let settings = Settings {
            cpus: Some(CpuSet(vec![cpu])),
            run_as: None,
        };
        let mut child = Owned::spawn(&mut command, &settings).unwrap();
        let said = io::read_to_string(child.take_stdout().unwrap()).unwrap();
        assert_eq!(said.split_whitespace().last().unwrap(), cpu.to_string());
    }

    #[test]
    fn cpu_time_grows_with_work_and_is_unknown_for_nobody() {
        let mut child =
            shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo x; sleep 600");
        let mut byte = [0; 1];
        io::Read::read_exact(&mut child.take_stdout().unwrap(), &mut byte).unwrap();
        assert!(cpu_time_ns(child.pid()).unwrap() > 1_000_000);
        assert_eq!(cpu_time_ns(99_999_999), None);
    }
}
