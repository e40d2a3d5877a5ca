//! What is said first on a connection, before anything else, to a server that asks who is there.

use crate::clock::now_ns;
use roundtrip_model::Secret;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The longest answer that is read.
const LONGEST_ANSWER_BYTES: usize = 512;

/// A request, and the one line that must answer it.
#[derive(Clone)]
pub(crate) struct Hello {
    pub(crate) request: Vec<u8>,
    pub(crate) answer: &'static [u8],
    /// What must not be repeated, should the server repeat it.
    pub(crate) secret: Secret,
    /// What to do when the server says something else.
    pub(crate) next_step: String,
}

impl fmt::Debug for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The request holds a password.
        f.write_str("Hello")
    }
}

impl Hello {
    /// Says it over a socket.
    pub(super) fn over(&self, socket: &OwnedFd, timeout: Duration) -> io::Result<()> {
        self.say(&mut Patient::new(socket, timeout))
    }

    /// Says it, and awaits the answer and not a byte more.
    pub(super) fn say(&self, stream: &mut (impl Read + Write)) -> io::Result<()> {
        stream.write_all(&self.request)?;
        stream.flush()?;
        let (mut line, mut byte) = (Vec::new(), [0]);
        while line.last() != Some(&b'\n') && line.len() < LONGEST_ANSWER_BYTES {
            stream.read_exact(&mut byte)?;
            line.push(byte[0]);
        }
        match line == self.answer {
            true => Ok(()),
            false => Err(io::Error::other(self.refusal(&line))),
        }
    }

    fn refusal(&self, line: &[u8]) -> String {
        let said = String::from_utf8_lossy(line);
        let said = said.trim_start_matches('-').trim_end();
        let secret = self.secret.reveal();
        let said = match !secret.is_empty() && said.contains(secret) {
            true => "what it says is not repeated, because the password is in it".to_owned(),
            false => said.chars().filter(|c| !c.is_control()).collect(),
        };
        let said = said.trim_end_matches('.');
        format!("the server refuses the login: {said}; {}", self.next_step)
    }
}

/// A socket that is waited for, whether or not it blocks, but not for ever.
pub(super) struct Patient<'a> {
    socket: &'a OwnedFd,
    until_ns: u64,
}

impl<'a> Patient<'a> {
    pub(super) fn new(socket: &'a OwnedFd, timeout: Duration) -> Patient<'a> {
        Patient {
            socket,
            until_ns: now_ns() + timeout.as_nanos() as u64,
        }
    }

    fn once_it_is<T>(
        &self,
        ready: PollFlags,
        mut tries: impl FnMut(&OwnedFd) -> Result<T, Errno>,
    ) -> io::Result<T> {
        loop {
            match tries(self.socket) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                tried => return Ok(tried?),
            }
            let left_ns = self.until_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let timeout = Timespec {
                tv_sec: (left_ns / 1_000_000_000) as i64,
                tv_nsec: (left_ns % 1_000_000_000) as i64,
            };
            match poll(&mut [PollFd::new(self.socket, ready)], Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.once_it_is(PollFlags::IN, |socket| {
            recv(socket, &mut *buffer, RecvFlags::DONTWAIT).map(|(_, bytes)| bytes)
        })
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        self.once_it_is(PollFlags::OUT, |socket| send(socket, bytes, flags))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &[u8]) -> String {
        let hello = Hello {
            request: Vec::new(),
            answer: b"+OK\r\n",
            secret: Secret::new("pa55"),
            next_step: "look".to_owned(),
        };
        let mut stream = io::Cursor::new(line.to_vec());
        hello
            .say(&mut stream)
            .map_or_else(|e| e.to_string(), |()| "none".to_owned())
    }

    #[test]
    fn only_the_answer_that_is_due_is_one() {
        assert_eq!(refusal(b"+OK\r\n"), "none");
        assert_eq!(
            refusal(b"-WRONGPASS no.\r\n"),
            "the server refuses the login: WRONGPASS no; look"
        );
        assert!(!refusal(b"-ERR unknown word pa55\r\n").contains("pa55"));
        // No end, and no line that ends.
        assert!(refusal(b"+OK").contains("fill whole buffer"));
        assert!(refusal(&[b'x'; 2 * LONGEST_ANSWER_BYTES]).len() < 2 * LONGEST_ANSWER_BYTES);
    }
}
