//! Planned looks: how strict each look must be so that all looks together name a winner between
//! equal paths with a chance of at most alpha.
//!
//! - `spending`: how much of alpha may be used up by a look (Lan and DeMets 1983, with the
//!   function that gives O'Brien and Fleming's boundaries).
//! - `walk`: the distribution of a sum of increments that survived all looks so far, by recursive
//!   numerical integration (Armitage, McPherson and Rowe 1969).
//! - `boundary`: the nominal level of each look, and the p-value over looks.
//! - `interval`: intervals adjusted for the looks.
//!
//! Everything here is in deviates of a normal; a t enters by its significance level (`student`).

mod boundary;
mod interval;
mod root;
mod spending;
mod walk;

pub(crate) use boundary::Tables;
pub(crate) use interval::{Evidence, evidence};
pub(crate) use spending::{ALPHA, Schedule};
