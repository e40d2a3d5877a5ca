//! What the floor is asked to be, and the texts a person writes it in.

use roundtrip_model::{Kind, Problem, Result};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Everything that can be asked of a floor.
#[derive(Clone, Debug)]
pub struct FloorOptions {
    /// Where it listens.
    pub listen: Listen,
    /// What it speaks.
    pub protocols: Protocols,
    /// How its bytes travel.
    pub io: IoChoice,
    /// How long each request takes; nothing when `None`.
    pub delay: Option<Delay>,
    /// When nobody is answered.
    pub stall: Option<Stall>,
    /// Every so-many-th value goes out with one byte changed.
    pub garble: Option<u64>,
    /// Every so-many-th request is left unanswered and its connection closed.
    pub drop: Option<u64>,
    /// Every so-many-th answer goes out twice.
    pub double: Option<u64>,
    /// How many bytes a second are read from each connection; all that come when `None`.
    pub slow_read: Option<u64>,
    /// The most that items may take; above it writes are refused.
    pub limit_bytes: u64,
    /// The most connections at once; more are closed at once.
    pub connections: usize,
}

impl FloorOptions {
    /// A plain floor.
    pub fn new(listen: Listen) -> FloorOptions {
        FloorOptions {
            listen,
            protocols: Protocols::BOTH,
            io: IoChoice::Auto,
            delay: None,
            stall: None,
            garble: None,
            drop: None,
            double: None,
            slow_read: None,
            limit_bytes: 1 << 30,
            connections: 4096,
        }
    }

    /// Whether something is to be done late, wrong or slowly.
    pub(crate) fn asks_for_faults(&self) -> bool {
        let late = self.delay.is_some() || self.stall.is_some() || self.slow_read.is_some();
        late || self.garble.is_some() || self.drop.is_some() || self.double.is_some()
    }
}

/// How a floor's bytes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoChoice {
    /// What costs least and can do what is asked.
    Auto,
    /// `epoll`, which can do all.
    Epoll,
    /// `io_uring`, which does nothing wrong: no faults.
    Uring,
}

impl FromStr for IoChoice {
    type Err = Problem;

    fn from_str(text: &str) -> Result<IoChoice> {
        match text {
            "auto" => Ok(IoChoice::Auto),
            "epoll" => Ok(IoChoice::Epoll),
            "io_uring" => Ok(IoChoice::Uring),
            _ => Err(bad(
                "way for bytes to travel",
                text,
                "auto, epoll or io_uring",
            )),
        }
    }
}

/// Which protocols a floor speaks. When it speaks both, the first byte of a connection tells which
/// one it is: commands of memcached are written in small letters, those of Redis begin with `*`, or
/// with a capital letter when somebody types them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocols {
    memcached: bool,
    resp: bool,
}

impl Protocols {
    /// Both.
    pub const BOTH: Protocols = Protocols {
        memcached: true,
        resp: true,
    };

    /// Whether a connection that begins with this byte speaks RESP.
    pub(crate) fn is_resp(self, first: u8) -> bool {
        self.resp && (!self.memcached || first == b'*' || first.is_ascii_uppercase())
    }
}

/// Where a floor listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A loopback address; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A unix socket, which must not be there yet.
    Unix(PathBuf),
}

/// How long a request takes. A connection's requests take their times one after another, as in a
/// server with a thread a connection; connections do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// Always the same.
    Constant(Duration),
    /// Mostly one, sometimes the other.
    Two {
        /// The usual time.
        usual: Duration,
        /// The other.
        other: Duration,
        /// The share of the other, spread evenly and held exactly.
        share: f64,
    },
}

impl Delay {
    /// The time of request `n` of the server.
    pub(crate) fn of(self, n: u64) -> Duration {
        match self {
            Delay::Constant(always) => always,
            Delay::Two {
                usual,
                other,
                share,
            } => {
                let others = |n| roundtrip_model::workload::hits_before(n, share);
                if others(n + 1) > others(n) {
                    other
                } else {
                    usual
                }
            }
        }
    }
}

/// At the end of each period nobody is answered for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// How long nobody is answered.
    pub length: Duration,
    /// The period, counted from the start of the server.
    pub every: Duration,
}

impl Stall {
    /// The moment at which what is due at `due_ns` is answered, both counted from the start.
    pub(crate) fn postponed(self, due_ns: u64) -> u64 {
        let every = self.every.as_nanos() as u64;
        let within = due_ns % every;
        if within >= every - self.length.as_nanos() as u64 {
            due_ns - within + every
        } else {
            due_ns
        }
    }
}

/// The longest time that is read.
const LONGEST: Duration = Duration::from_secs(3600);

fn bad(noun: &str, text: &str, form: &str) -> Problem {
    let shown: String = text.chars().take(60).collect();
    Problem::new(Kind::Usage, format!("`{shown}` is not a {noun}")).next(format!("write {form}"))
}

/// Reads a time with its unit: `200us`, `1.5ms`, `2s`.
pub fn parse_duration(text: &str) -> Result<Duration> {
    let problem = || bad("time", text, "a number with ns, us, ms or s, as in 200us");
    let unit_at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(problem)?;
    let (number, unit) = text.split_at(unit_at);
    let unit_s = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(problem()),
    };
    let number: f64 = number.parse().map_err(|_| problem())?;
    Duration::try_from_secs_f64(number * unit_s)
        .ok()
        .filter(|time| *time <= LONGEST)
        .ok_or_else(problem)
}

impl FromStr for Delay {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Delay> {
        let problem = || {
            bad(
                "delay",
                text,
                "constant:200us, or two:100us,5ms,1% for 5 ms in one of a hundred",
            )
        };
        let (shape, rest) = text.split_once(':').unwrap_or(("constant", text));
        match shape {
            "constant" => Ok(Delay::Constant(parse_duration(rest)?)),
            "two" => {
                let [usual, other, share] = rest.split(',').collect::<Vec<_>>()[..] else {
                    return Err(problem());
                };
                let percent: f64 = share
                    .strip_suffix('%')
                    .and_then(|number| number.parse().ok())
                    .filter(|percent| (0.0..=100.0).contains(percent))
                    .ok_or_else(problem)?;
                Ok(Delay::Two {
                    usual: parse_duration(usual)?,
                    other: parse_duration(other)?,
                    share: percent / 100.0,
                })
            }
            _ => Err(problem()),
        }
    }
}

impl FromStr for Protocols {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Protocols> {
        let none = Protocols {
            memcached: false,
            resp: false,
        };
        text.split(',').try_fold(none, |so_far, name| match name {
            "memcached" => Ok(Protocols {
                memcached: true,
                ..so_far
            }),
            "resp" => Ok(Protocols {
                resp: true,
                ..so_far
            }),
            _ => Err(bad("protocol", name, "memcached, resp, or memcached,resp")),
        })
    }
}

impl FromStr for Stall {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Stall> {
        let problem = || bad("stall", text, "100ms/1s for 100 ms in each second");
        let (length, every) = text.split_once('/').ok_or_else(problem)?;
        let stall = Stall {
            length: parse_duration(length)?,
            every: parse_duration(every)?,
        };
        if stall.length.is_zero() || stall.length >= stall.every {
            return Err(problem());
        }
        Ok(stall)
    }
}

impl FromStr for Listen {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Listen> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Listen::Unix(path.into()));
        }
        if text.starts_with('/') {
            return Ok(Listen::Unix(text.into()));
        }
        let form = "127.0.0.1:PORT (0 for a free one) or unix:/PATH";
        text.parse()
            .map(Listen::Tcp)
            .map_err(|_| bad("place to listen on", text, form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn times_delays_stalls_and_places_are_read() {
        assert_eq!(parse_duration("200us").unwrap(), us(200));
        assert_eq!(parse_duration("1.5ms").unwrap(), us(1500));
        assert_eq!("200us".parse(), Ok(Delay::Constant(us(200))));
        assert_eq!("constant:1s".parse(), Ok(Delay::Constant(us(1_000_000))));
        let two = Delay::Two {
            usual: us(100),
            other: us(5000),
            share: 0.01,
        };
        assert_eq!("two:100us,5ms,1%".parse(), Ok(two));
        let stall = Stall {
            length: us(100_000),
            every: us(1_000_000),
        };
        assert_eq!("100ms/1s".parse(), Ok(stall));
        assert_eq!("memcached,resp".parse(), Ok(Protocols::BOTH));
        assert!("resp".parse::<Protocols>().unwrap().is_resp(b'g'));
        assert!(!"memcached".parse::<Protocols>().unwrap().is_resp(b'*'));
        assert_eq!("unix:/a/b".parse(), Ok(Listen::Unix("/a/b".into())));
        let address = "127.0.0.1:0".parse().unwrap();
        assert_eq!("127.0.0.1:0".parse(), Ok(Listen::Tcp(address)));
    }

    #[test]
    fn what_is_not_one_is_refused_with_the_form() {
        for text in ["", "5", "us", "-1us", "NaNs", "1h", "2 parsecs", "4000s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in [
            "two:1us,2us",
            "two:1us,2us,101%",
            "two:1us,2us,1",
            "slow:1us",
        ] {
            assert!(text.parse::<Delay>().is_err(), "{text}");
        }
        for text in ["1s", "1s/1s", "0s/1s", "2s/1s"] {
            assert!(text.parse::<Stall>().is_err(), "{text}");
        }
        for text in ["", "redis", "resp,", "resp memcached"] {
            assert!(text.parse::<Protocols>().is_err(), "{text}");
        }
        let problem = "nowhere".parse::<Listen>().unwrap_err();
        assert!(problem.next_step.unwrap().contains("127.0.0.1:PORT"));
    }

    #[test]
    fn the_share_of_the_other_time_is_exact() {
        let delay: Delay = "two:100us,5ms,1%".parse().unwrap();
        let others = (0..1000).filter(|n| delay.of(*n) == us(5000)).count();
        assert_eq!(others, 10);
    }

    #[test]
    fn a_stall_holds_the_end_of_each_period() {
        let stall: Stall = "100ms/1s".parse().unwrap();
        let ms = 1_000_000;
        for (due, answered) in [(0, 0), (899, 899), (900, 1000), (999, 1000), (1950, 2000)] {
            assert_eq!(stall.postponed(due * ms), answered * ms, "{due}");
        }
    }
}
