//! What waking costs: a message to another thread and back, within a processor and across, over
//! an eventfd and over loopback TCP.

use super::timer::{ends, now_ns};
use roundtrip_model::calibration::Wake;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{CpuSet, cpus};
use rustix::event::{EventfdFlags, eventfd};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// A message, and the one that ends it; an eventfd takes 8 bytes, and adds them up.
const PING: [u8; 8] = 1_u64.to_ne_bytes();
const END: [u8; 8] = 2_u64.to_ne_bytes();

/// One side of a conversation.
struct Side {
    hear: Box<dyn Read + Send>,
    say: Box<dyn Write + Send>,
}

/// A way of making both sides.
type Way = (&'static str, fn() -> io::Result<(Side, Side)>);
const WAYS: [Way; 2] = [("eventfd", over_eventfd), ("tcp", over_tcp)];

/// Every way within a processor, and across two where there are two.
pub fn wakes(cpus: &[usize], within: Duration) -> Result<Vec<Wake>> {
    let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
    let mut pairs = vec![(last, last)];
    if first != last {
        pairs.push((first, last));
    }
    let each = within / (WAYS.len() * pairs.len()) as u32;
    let mut wakes = Vec::new();
    for (way, make) in WAYS {
        for pair in &pairs {
            let times = make().and_then(|sides| ping_pong(sides, *pair, each));
            let mut times = times.map_err(|e| {
                let what = format!("two threads cannot talk over {way}: {e}");
                Problem::new(Kind::Failed, what).next("close programs that hold many files open")
            })?;
            let (p50_ns, p99_ns) = ends(&mut times);
            wakes.push(Wake {
                way: way.to_owned(),
                cpus: (pair.0 as u32, pair.1 as u32),
                p50_ns,
                p99_ns,
            });
        }
    }
    Ok(wakes)
}

/// Times of messages there and back.
fn ping_pong(
    (mut here, mut there): (Side, Side),
    (a, b): (usize, usize),
    within: Duration,
) -> io::Result<Vec<u64>> {
    thread::scope(|scope| {
        let answering = scope.spawn(move || -> io::Result<()> {
            cpus::pin_this_thread(&CpuSet(vec![a]))?;
            let mut message = PING;
            loop {
                there.hear.read_exact(&mut message)?;
                if message != PING {
                    return Ok(());
                }
                there.say.write_all(&PING)?;
            }
        });
        let asking = scope.spawn(move || -> io::Result<Vec<u64>> {
            cpus::pin_this_thread(&CpuSet(vec![b]))?;
            let until = Instant::now() + within;
            let (mut times, mut message) = (Vec::new(), PING);
            while times.is_empty() || Instant::now() < until {
                let start = now_ns();
                here.say.write_all(&PING)?;
                here.hear.read_exact(&mut message)?;
                times.push(now_ns().saturating_sub(start));
            }
            here.say.write_all(&END)?;
            Ok(times)
        });
        let broken = |_| io::Error::other("a thread broke down");
        let times = asking.join().map_err(broken)?;
        answering.join().map_err(broken)??;
        times
    })
}

fn over_eventfd() -> io::Result<(Side, Side)> {
    let (there, back) = (
        File::from(eventfd(0, EventfdFlags::CLOEXEC)?),
        File::from(eventfd(0, EventfdFlags::CLOEXEC)?),
    );
    let side = |hear: &File, say: &File| -> io::Result<Side> {
        Ok(Side {
            hear: Box::new(hear.try_clone()?),
            say: Box::new(say.try_clone()?),
        })
    };
    Ok((side(&back, &there)?, side(&there, &back)?))
}

fn over_tcp() -> io::Result<(Side, Side)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let here = TcpStream::connect(listener.local_addr()?)?;
    let (there, _) = listener.accept()?;
    let side = |stream: TcpStream| -> io::Result<Side> {
        stream.set_nodelay(true)?;
        Ok(Side {
            hear: Box::new(stream.try_clone()?),
            say: Box::new(stream),
        })
    };
    Ok((side(here)?, side(there)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_in_every_way_on_every_pair() {
        let all = roundtrip_process::cpus::available().0;
        let wakes = wakes(&all, Duration::from_millis(20)).unwrap();
        assert_eq!(wakes.len(), if all.len() > 1 { 4 } else { 2 });
        assert!(
            wakes
                .iter()
                .all(|wake| wake.p50_ns > 0 && wake.p50_ns <= wake.p99_ns)
        );
    }
}
