//! Answers to meta commands: those flags that a cache client uses. Others are refused rather than
//! passed over.

use super::answer::Service;
use super::changes::{Counted, Wrote};
use super::item::Item;
use super::memory;
use roundtrip_wire::memcached::{MetaFlags, MetaVerb, Reply, StoreVerb};

const BAD_FLAG: Reply<'static> = Reply::ClientError(b"invalid flag");
const BAD_TOKEN: Reply<'static> = Reply::ClientError(b"bad token in command line format");
const BAD_KEY: Reply<'static> = Reply::ClientError(b"error decoding key");

/// What a meta command is about.
#[derive(Clone, Copy)]
struct Asked<'a> {
    key: &'a [u8],
    /// The key as it was written, which may be base64.
    written: &'a [u8],
    flags: MetaFlags<'a>,
}

impl Service {
    fn meta_debug(&mut self, asked: Asked<'_>, out: &mut Vec<u8>) -> Option<()> {
        let now_s = self.memory.now_s();
        let Some(item) = self.memory.find(asked.key) else {
            Reply::MetaMiss(MetaFlags::NONE).write(out);
            return Some(());
        };
        let left_s = match item.expires_ms() {
            0 => -1,
            expires_ms => (expires_ms / 1000) as i64 - now_s as i64,
        };
        out.extend_from_slice(b"ME ");
        out.extend_from_slice(asked.written);
        let fetched = if item.is_fetched() { "yes" } else { "no" };
        let about = format!(
            " exp={left_s} la={} cas={} fetch={fetched} cls=1 size={}\r\n",
            now_s.saturating_sub(item.accessed_s()),
            item.cas(),
            memory::size_of(item),
        );
        out.extend_from_slice(about.as_bytes());
        Some(())
    }

    pub(super) fn answer_meta(
        &mut self,
        verb: MetaVerb,
        key: &[u8],
        flags: MetaFlags<'_>,
        value: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) {
        let known: &[u8] = match verb {
            MetaVerb::Get => b"bcfkOqstvT",
            MetaVerb::Set => b"bcCFkMOqT",
            MetaVerb::Delete => b"bCkOq",
            MetaVerb::Arithmetic => b"bcDkMOqtv",
            MetaVerb::Debug => b"b",
        };
        if flags.iter().any(|(letter, _)| !known.contains(&letter)) {
            return BAD_FLAG.write(out);
        }
        // Taken out for the time of the answer, because the answer borrows it.
        let mut said = std::mem::take(&mut self.flags);
        said.clear();
        let mut decoded = Vec::new();
        let asked = Asked {
            key: match flags.is_base64() {
                false => key,
                true => match flags.read_key(key, &mut decoded) {
                    Some(()) if !decoded.is_empty() => &decoded,
                    _ => return BAD_KEY.write(out),
                },
            },
            written: key,
            flags,
        };
        let fine = match verb {
            MetaVerb::Get => self.meta_get(asked, &mut said, out),
            MetaVerb::Set => self.meta_set(asked, value.unwrap_or_default(), &mut said, out),
            MetaVerb::Delete => self.meta_delete(asked, &mut said, out),
            MetaVerb::Arithmetic => self.meta_count(asked, &mut said, out),
            MetaVerb::Debug => self.meta_debug(asked, out),
        };
        if fine.is_none() {
            BAD_TOKEN.write(out);
        }
        self.flags = said;
    }

    fn meta_get(&mut self, asked: Asked<'_>, said: &mut Vec<u8>, out: &mut Vec<u8>) -> Option<()> {
        let Asked { key, flags, .. } = asked;
        let expires = optional(flags, b'T')?;
        if let Some(expires) = expires {
            self.touch(key, expires);
        }
        let now_ms = self.memory.now_ms;
        let Some(item) = self.memory.find(key) else {
            self.counters.get_misses += 1;
            if !flags.has(b'q') {
                say(said, asked, None);
                Reply::MetaMiss(MetaFlags::listed(said)?).write(out);
            }
            return Some(());
        };
        item.read_at(now_ms);
        self.counters.get_hits += 1;
        say(said, asked, Some((item, now_ms)));
        let said = MetaFlags::listed(said)?;
        if !flags.has(b'v') {
            Reply::MetaDone(said).write(out);
            return Some(());
        }
        let value = item.value();
        Reply::MetaValue { flags: said, value }.write(out);
        self.faults.garble(out, value.len());
        Some(())
    }

    fn meta_set(
        &mut self,
        asked: Asked<'_>,
        value: &[u8],
        said: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let Asked { key, flags, .. } = asked;
        let verb = match (flags.argument(b'M'), optional::<u64>(flags, b'C')?) {
            (_, Some(cas)) => StoreVerb::Cas(cas),
            (None | Some(b"S" | b"s"), None) => StoreVerb::Set,
            (Some(b"E" | b"e"), None) => StoreVerb::Add,
            (Some(b"R" | b"r"), None) => StoreVerb::Replace,
            (Some(b"A" | b"a"), None) => StoreVerb::Append,
            (Some(b"P" | b"p"), None) => StoreVerb::Prepend,
            _ => return None,
        };
        let client_flags = optional(flags, b'F')?.unwrap_or(0);
        let expires = optional(flags, b'T')?.unwrap_or(0);
        let expires_ms = self.memory.expiry_ms(expires);
        let wrote = self.store(verb, key, value, client_flags, expires_ms);
        say(said, asked, None);
        if let (Wrote::Done(cas), true) = (&wrote, flags.has(b'c')) {
            push_flag(said, b'c', cas.to_string().as_bytes());
        }
        let said = MetaFlags::listed(said)?;
        match wrote {
            Wrote::Done(_) if flags.has(b'q') => {}
            Wrote::Done(_) => Reply::MetaDone(said).write(out),
            Wrote::NotStored => Reply::MetaNotStored(said).write(out),
            Wrote::Exists => Reply::MetaExists(said).write(out),
            Wrote::NotFound => Reply::MetaNotFound(said).write(out),
            Wrote::NoRoom => Reply::ServerError(b"out of memory storing object").write(out),
        }
        Some(())
    }

    fn meta_delete(
        &mut self,
        asked: Asked<'_>,
        said: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let Asked { key, flags, .. } = asked;
        let wanted = optional::<u64>(flags, b'C')?;
        say(said, asked, None);
        let said = MetaFlags::listed(said)?;
        let there = self.memory.find(key).map(|item| item.cas());
        let other = wanted.is_some() && there.is_some() && wanted != there;
        if other {
            Reply::MetaExists(said).write(out);
            return Some(());
        }
        let reply = match self.delete(key) {
            true => Reply::MetaDone(said),
            false => Reply::MetaNotFound(said),
        };
        if !flags.has(b'q') {
            reply.write(out);
        }
        Some(())
    }

    fn meta_count(
        &mut self,
        asked: Asked<'_>,
        said: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let Asked { key, flags, .. } = asked;
        let decrement = match flags.argument(b'M') {
            None | Some(b"I" | b"i" | b"+") => false,
            Some(b"D" | b"d" | b"-") => true,
            _ => return None,
        };
        let delta = optional(flags, b'D')?.unwrap_or(1);
        let counted = self.count(key, decrement, delta);
        let now_ms = self.memory.now_ms;
        let item = self.memory.find(key).map(|item| (&*item, now_ms));
        say(said, asked, item);
        let said = MetaFlags::listed(said)?;
        match counted {
            Counted::Done(number) if flags.has(b'v') => Reply::MetaValue {
                flags: said,
                value: number.to_string().as_bytes(),
            }
            .write(out),
            Counted::Done(_) if flags.has(b'q') => {}
            Counted::Done(_) => Reply::MetaDone(said).write(out),
            Counted::NotFound if flags.has(b'q') => {}
            Counted::NotFound => Reply::MetaNotFound(said).write(out),
            Counted::NoNumber => {
                Reply::ClientError(b"cannot increment or decrement non-numeric value").write(out);
            }
        }
        Some(())
    }
}

/// A flag's argument as a number: `None` when it is not one, `Some(None)` when it is not there.
fn optional<T: std::str::FromStr>(flags: MetaFlags<'_>, letter: u8) -> Option<Option<T>> {
    match flags.argument(letter) {
        None => Some(None),
        Some(text) => Some(Some(std::str::from_utf8(text).ok()?.parse().ok()?)),
    }
}

/// Appends what was asked for, in the order in which it was asked.
fn say(said: &mut Vec<u8>, asked: Asked<'_>, item: Option<(&Item, u64)>) {
    for (letter, argument) in asked.flags.iter() {
        match (letter, item) {
            (b'O', _) => push_flag(said, b'O', argument),
            (b'k', _) => {
                push_flag(said, b'k', asked.written);
                if asked.flags.is_base64() {
                    push_flag(said, b'b', b"");
                }
            }
            (b'f', Some((item, _))) => push_number(said, b'f', item.flags().into()),
            (b'c', Some((item, _))) => push_number(said, b'c', item.cas()),
            (b's', Some((item, _))) => push_number(said, b's', item.value().len() as u64),
            (b't', Some((item, _))) if item.expires_ms() == 0 => push_flag(said, b't', b"-1"),
            (b't', Some((item, now_ms))) => {
                push_number(said, b't', item.expires_ms() / 1000 - now_ms / 1000);
            }
            _ => {}
        }
    }
}

fn push_number(said: &mut Vec<u8>, letter: u8, number: u64) {
    push_flag(said, letter, number.to_string().as_bytes());
}

fn push_flag(said: &mut Vec<u8>, letter: u8, argument: &[u8]) {
    if !said.is_empty() {
        said.push(b' ');
    }
    said.push(letter);
    said.extend_from_slice(argument);
}
