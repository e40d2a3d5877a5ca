//! Messages that came in part: what was not consumed waits for what comes next.

/// The unconsumed end of what came on one connection.
///
/// Almost always a read brings whole messages and nothing is left; then the bytes are parsed where
/// the kernel put them, and nothing is copied.
#[derive(Debug, Default)]
pub(crate) struct Carry(Vec<u8>);

impl Carry {
    /// Hands over what was left and what came, in one piece, and keeps what is not consumed.
    #[inline]
    pub(crate) fn feed<E>(
        &mut self,
        came: &[u8],
        consume: impl FnOnce(&[u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        if self.0.is_empty() {
            let consumed = consume(came)?;
            self.0.extend_from_slice(&came[consumed..]);
        } else {
            self.0.extend_from_slice(came);
            let consumed = consume(&self.0)?;
            self.0.drain(..consumed);
        }
        Ok(())
    }

    /// Forgets what was left.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_comes_again_before_what_is_new() {
        let mut carry = Carry::default();
        let mut seen = Vec::new();
        for came in ["ab", "c", "def"] {
            let fed: Result<(), ()> = carry.feed(came.as_bytes(), |bytes| {
                seen.push(String::from_utf8(bytes.to_vec()).unwrap());
                Ok(bytes.len() / 2)
            });
            assert_eq!(fed, Ok(()));
        }
        assert_eq!(seen, ["ab", "bc", "cdef"]);
        carry.clear();
        assert_eq!(
            carry.feed(b"x", |bytes| Err::<usize, _>(bytes.len())),
            Err(1)
        );
    }
}
