//! Run ids: short enough to type, and sorted by age.

use jiff::Timestamp;

/// Digits that are not mistaken for one another.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// How many of them tell apart runs of the same second.
const RANDOM_DIGITS: u32 = 4;
const MAX_BYTES: usize = 64;

/// A new id: the start in UTC, and four digits of chance. `20261120-114502-k3f9`.
pub fn new_run_id(now_unix_ms: u64, random: u64) -> String {
    let ms = i64::try_from(now_unix_ms).unwrap_or(i64::MAX);
    // A clock past the year 9999 gives the epoch: an id must be had at any cost.
    let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let mut id = time.strftime("%Y%m%d-%H%M%S-").to_string();
    for digit in 0..RANDOM_DIGITS {
        id.push(char::from(DIGITS[(random >> (5 * digit)) as usize % 32]));
    }
    id
}

/// Whether a text from outside may be an id. Ids become parts of file names.
pub fn is_run_id(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && text.len() <= MAX_BYTES && text != "last" && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_is_the_time_and_some_chance() {
        assert_eq!(new_run_id(1_795_175_102_999, 0), "20261120-114502-0000");
        assert_eq!(new_run_id(0, 0b00001_11111_00010), "19700101-000000-2z10");
        assert!(is_run_id(&new_run_id(u64::MAX, u64::MAX)));
    }

    #[test]
    fn what_could_leave_its_directory_is_no_id() {
        for text in ["", "last", "../x", "a/b", "A", "a b", &"a".repeat(65)] {
            assert!(!is_run_id(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn ids_sort_by_age(a in 0u64..4_000_000_000, later in 1u64..100_000_000, r in any::<(u64, u64)>()) {
            prop_assert!(new_run_id(a * 1000, r.0) < new_run_id((a + later) * 1000, r.1));
        }
    }
}
