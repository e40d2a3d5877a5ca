//! Reports of documents made by hand, so that every figure is known.
// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::panic)]

mod calibration;
mod diff;
mod faults;
mod fixture;
mod hostile;
mod page;
mod schema;
mod snapshots;
mod study;
mod width;
