//! All keys, a part at a time.

use super::call::{Call, NO_NUMBER, Outcome, SYNTAX, integer};
use roundtrip_wire::resp::Reply;

/// The least that one answer looks through. Each begins again at the front of the table, so small
/// ones would make a whole pass quadratic.
const LEAST: usize = 1000;

pub(super) fn scan(call: &mut Call<'_, '_>) -> Outcome {
    let cursor = integer(call.argument(1)).and_then(|cursor| usize::try_from(cursor).ok());
    let cursor = cursor.ok_or("ERR invalid cursor")?;
    let mut glob: &[u8] = b"*";
    let mut count = LEAST;
    let mut words = call.arguments(2);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(SYNTAX)?;
        match word.to_ascii_uppercase().as_slice() {
            b"MATCH" => glob = value,
            b"COUNT" => {
                let asked = integer(value).ok_or(NO_NUMBER)?;
                let asked = usize::try_from(asked).ok().filter(|asked| *asked > 0);
                count = asked.ok_or(SYNTAX)?.max(LEAST);
            }
            // There are strings and nothing else.
            b"TYPE" if value.eq_ignore_ascii_case(b"string") => {}
            b"TYPE" => glob = b"",
            _ => return Err(SYNTAX),
        }
    }
    let mut seen = 0;
    let mut found = 0;
    let mut parts = Vec::new();
    for item in call.service.memory.iter().skip(cursor).take(count) {
        seen += 1;
        if matches(glob, item.key()) {
            Reply::Bulk(item.key()).write(&mut parts);
            found += 1;
        }
    }
    let next = if seen < count { 0 } else { cursor + seen };
    call.array(2);
    call.bulk(next.to_string().as_bytes())?;
    call.array(found);
    call.out.extend_from_slice(&parts);
    Ok(())
}

/// Whether a text is what a pattern stands for: `*` for anything, `?` for any byte, `\` before
/// what stands for itself. Other signs stand for themselves.
pub(super) fn matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut at, mut here) = (0, 0);
    // Where to go on when it does not fit: behind the last `*`, with one byte more in it.
    let mut again = None;
    while here < text.len() {
        let (sign, width) = match glob.get(at..) {
            Some([b'*', ..]) => {
                again = Some((at + 1, here));
                at += 1;
                continue;
            }
            Some([b'\\', sign, ..]) => (Some(*sign), 2),
            Some([b'?', ..]) => (Some(text[here]), 1),
            Some([sign, ..]) => (Some(*sign), 1),
            _ => (None, 0),
        };
        if sign == Some(text[here]) {
            at += width;
            here += 1;
            continue;
        }
        let Some((behind, from)) = again else {
            return false;
        };
        again = Some((behind, from + 1));
        (at, here) = (behind, from + 1);
    }
    glob[at..].iter().all(|sign| *sign == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_stands_for_what_it_says() {
        for (glob, text) in [
            ("*", ""),
            ("a*c", "abcbc"),
            ("?b", "ab"),
            ("a\\*", "a*"),
            ("**", "x"),
            ("rt:*:1", "rt:x:y:1"),
        ] {
            assert!(matches(glob.as_bytes(), text.as_bytes()), "{glob} {text}");
        }
        for (glob, text) in [
            ("", "a"),
            ("a*c", "ab"),
            ("a\\*", "ab"),
            ("?", ""),
            ("A", "a"),
        ] {
            assert!(!matches(glob.as_bytes(), text.as_bytes()), "{glob} {text}");
        }
    }
}
