//! Reports of documents made by hand, so that every figure is known.

mod diff;
mod fixture;
mod hostile;
mod page;
mod schema;
mod snapshots;
mod width;
