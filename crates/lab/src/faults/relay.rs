//! A relay on the loopback between a client and a store: it forwards bytes until it is cut, and
//! then closes every connection on both sides and takes no new one. Only trials in which the
//! connection is cut have one.

use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem, Result};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

const BUFFER_BYTES: usize = 64 << 10;

/// What the relay's threads share.
#[derive(Debug, Default)]
struct Shared {
    is_cut: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    copying: Mutex<Vec<JoinHandle<()>>>,
}

/// The relay. Dropped, it is cut and its threads have ended.
#[derive(Debug)]
pub struct Relay {
    port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Relay {
    /// A relay to a TCP endpoint, and the endpoint at which it stands in that one's place.
    pub fn to(endpoint: &Endpoint) -> Result<(Relay, Endpoint)> {
        let (host, port) = match endpoint {
            Endpoint::Tcp { host, port } | Endpoint::Tls { host, port, .. } => {
                (host.clone(), *port)
            }
            Endpoint::Unix { .. } | Endpoint::File { .. } => {
                return Err(
                    Problem::new(Kind::Usage, "only a connection over TCP can be cut")
                        .next("leave `connection` out of the kinds of this variant"),
                );
            }
        };
        let relay = Relay::start(host, port).map_err(|e| {
            Problem::new(Kind::Failed, format!("no relay can be started: {e}"))
                .next("close programs that hold many ports or threads")
        })?;
        let mut own = endpoint.clone();
        if let Endpoint::Tcp { host, port } | Endpoint::Tls { host, port, .. } = &mut own {
            *host = Ipv4Addr::LOCALHOST.to_string();
            *port = relay.port;
        }
        Ok((relay, own))
    }

    fn start(host: String, port: u16) -> io::Result<Relay> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let own_port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let accepting = thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || accept(&listener, &host, port, &of_thread))?;
        Ok(Relay {
            port: own_port,
            shared,
            accepting: Some(accepting),
        })
    }

    /// Cuts: after this not a byte passes in either direction.
    pub fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::SeqCst);
        for stream in lock(&self.shared.streams).drain(..) {
            // One that its side has closed already is as good as cut.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.cut();
        // The accepting thread waits for a connection: it gets one.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        // One that was accepted while it was cut is in the list by now.
        self.cut();
        let copying: Vec<_> = lock(&self.shared.copying).drain(..).collect();
        for thread in copying {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, host: &str, port: u16, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.is_cut.load(Ordering::SeqCst) {
            return;
        }
        // A client that finds no store sees its connection closed, as it would without us.
        if let Ok(client) = client {
            let _ = join(client, host, port, shared);
        }
    }
}

/// Joins a client to the store, with a thread for each direction.
fn join(client: TcpStream, host: &str, port: u16, shared: &Arc<Shared>) -> io::Result<()> {
    let store = TcpStream::connect((host, port))?;
    for stream in [&client, &store] {
        // What comes in goes out at once, as without a relay.
        stream.set_nodelay(true)?;
        lock(&shared.streams).push(stream.try_clone()?);
    }
    if shared.is_cut.load(Ordering::SeqCst) {
        let _ = client.shutdown(Shutdown::Both);
        let _ = store.shutdown(Shutdown::Both);
    }
    let there = (client.try_clone()?, store.try_clone()?);
    for (from, to) in [there, (store, client)] {
        let copying = thread::Builder::new().spawn(move || copy(from, to))?;
        lock(&shared.copying).push(copying);
    }
    Ok(())
}

/// Forwards until one side ends, and then ends both.
fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) if to.write_all(&buffer[..n]).is_ok() => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that sends back what it gets, and gives all of it once its client is gone.
    fn echo() -> (Endpoint, JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let (mut got, mut buffer) = (Vec::new(), [0; 1024]);
            while let Ok(n @ 1..) = client.read(&mut buffer) {
                got.extend_from_slice(&buffer[..n]);
                let _ = client.write_all(&buffer[..n]);
            }
            got
        });
        let host = Ipv4Addr::LOCALHOST.to_string();
        (Endpoint::Tcp { host, port }, serving)
    }

    fn connect(endpoint: &Endpoint) -> io::Result<TcpStream> {
        match endpoint {
            Endpoint::Tcp { host, port } => TcpStream::connect((host.as_str(), *port)),
            _ => unreachable!(),
        }
    }

    #[test]
    fn bytes_pass_until_it_is_cut_and_then_none_does() {
        let (endpoint, serving) = echo();
        let (relay, own) = Relay::to(&endpoint).unwrap();
        let mut client = connect(&own).unwrap();
        let mut back = [0; 5];
        client.write_all(b"first").unwrap();
        client.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"first");
        relay.cut();
        // Whether the end is told or found out, nothing comes back any more.
        let _ = client.write_all(b"later");
        assert!(!matches!(client.read(&mut back), Ok(1..)));
        assert_eq!(serving.join().unwrap(), b"first");
    }

    #[test]
    fn nobody_gets_through_after_the_cut() {
        let (endpoint, serving) = echo();
        let (relay, own) = Relay::to(&endpoint).unwrap();
        let client = connect(&own).unwrap();
        relay.cut();
        let mut late = connect(&own).and_then(|mut late| late.read(&mut [0; 1]));
        assert!(!matches!(late, Ok(1..)), "{late:?}");
        drop(relay);
        late = connect(&own).map(|_| 1);
        assert!(late.is_err(), "its port is closed with it");
        drop(client);
        // The echo may have had its one client or not; either way it ends.
        let _ = connect(&endpoint);
        assert_eq!(serving.join().unwrap(), b"");
    }

    #[test]
    fn what_is_no_tcp_cannot_be_cut() {
        let path = "/nowhere".to_owned();
        let problem = Relay::to(&Endpoint::Unix { path }).unwrap_err();
        assert!(problem.what.contains("over TCP"));
    }
}
