//! Counting what is there after a fault, by asking for ranges of the writes: how many of them are
//! there with the right value, and how many with a wrong one.

use roundtrip_model::Result;
use roundtrip_model::fault::Found;
use std::ops::Range;

/// What a range of the writes holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Keys with the value written.
    pub right: u64,
    /// Keys with another value.
    pub wrong: u64,
}

/// Counts. `sent` and `acknowledged` are the journal's numbers, `count` is how many writes there
/// were to be, and `batch` how many are done all at once or not at all, where that is promised.
pub fn count(
    count: u64,
    sent: u64,
    acknowledged: u64,
    batch: Option<u64>,
    ask: &mut dyn FnMut(Range<u64>) -> Result<Held>,
) -> Result<Found> {
    let sent = sent.min(count);
    let acknowledged = acknowledged.min(sent);
    let told = ask(0..acknowledged)?;
    let untold = ask(acknowledged..sent)?;
    let never = ask(sent..count)?;
    let right = told.right + untold.right + never.right;
    Ok(Found {
        acknowledged: told.right,
        unacknowledged: untold.right,
        beyond: never.right,
        wrong: told.wrong + untold.wrong + never.wrong,
        torn: match batch {
            Some(batch) => torn(count, batch, 0..count.div_ceil(batch), right, ask)?,
            None => 0,
        },
    })
}

/// How many batches of a range of them are there in part. `right` is how many writes of the range
/// are there: where that is all or none, there is nothing to look into.
fn torn(
    count: u64,
    batch: u64,
    batches: Range<u64>,
    right: u64,
    ask: &mut dyn FnMut(Range<u64>) -> Result<Held>,
) -> Result<u64> {
    let writes = |batches: &Range<u64>| batches.start * batch..(batches.end * batch).min(count);
    let all = writes(&batches);
    if right == 0 || right >= all.end - all.start {
        return Ok(0);
    }
    if batches.end - batches.start == 1 {
        return Ok(1);
    }
    let middle = batches.start + (batches.end - batches.start) / 2;
    let (low, high) = (batches.start..middle, middle..batches.end);
    let in_low = ask(writes(&low))?.right;
    let in_high = right.saturating_sub(in_low);
    Ok(torn(count, batch, low, in_low, ask)? + torn(count, batch, high, in_high, ask)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts over a store that holds the writes for which `holds` says so.
    fn counted(sent: u64, acknowledged: u64, batch: u64, holds: fn(u64) -> Held) -> Found {
        let mut ask = |range: Range<u64>| {
            let each = range.map(holds);
            Ok(each.fold(Held::default(), |sum, one| Held {
                right: sum.right + one.right,
                wrong: sum.wrong + one.wrong,
            }))
        };
        count(95, sent, acknowledged, Some(batch), &mut ask).unwrap()
    }

    fn when(is_right: bool) -> Held {
        Held {
            right: is_right.into(),
            wrong: 0,
        }
    }

    #[test]
    fn each_write_is_counted_where_it_belongs() {
        let found = counted(60, 50, 10, |i| when(i < 55));
        let expected = Found {
            acknowledged: 50,
            unacknowledged: 5,
            torn: 1,
            ..Found::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn whole_batches_are_not_torn_wherever_they_lie() {
        assert_eq!(counted(60, 50, 10, |i| when(i < 60)).torn, 0);
        assert_eq!(counted(95, 0, 10, |_| when(true)).torn, 0);
        assert_eq!(counted(95, 0, 10, |_| when(false)).torn, 0);
        assert_eq!(counted(95, 90, 10, |i| when(i >= 90)).torn, 0);
        assert_eq!(counted(95, 90, 10, |i| when(i / 10 % 2 == 0)).torn, 0);
    }

    #[test]
    fn every_torn_batch_is_found() {
        assert_eq!(counted(95, 95, 10, |i| when(i != 37)).torn, 1);
        assert_eq!(counted(95, 95, 10, |i| when(i % 2 == 0)).torn, 10);
        assert_eq!(counted(95, 95, 10, |i| when(i == 94 || i == 3)).torn, 2);
    }

    #[test]
    fn losses_wrong_values_and_what_was_never_sent_are_seen() {
        let found = counted(60, 50, 1, |i| match i {
            10..20 => when(false),
            20 => Held { right: 0, wrong: 1 },
            70 => when(true),
            _ => when(i < 50),
        });
        let expected = Found {
            acknowledged: 39,
            unacknowledged: 0,
            beyond: 1,
            wrong: 1,
            torn: 0,
        };
        assert_eq!(found, expected);
    }
}
