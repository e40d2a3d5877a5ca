//! What a number usually is: then it is left out of a text, and taken for that where it is absent.

pub(crate) fn one() -> u32 {
    1
}

pub(crate) fn is_one(n: &u32) -> bool {
    *n == 1
}

pub(crate) fn is_no_sum(n: &i64) -> bool {
    *n == 0
}
