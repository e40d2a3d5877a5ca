//! The floor over `epoll`, by the same tests that it passes over what it takes by itself.

// Each file of tests brings its own servers.
#![allow(clippy::duplicate_mod)]

mod common;

#[path = "floor.rs"]
mod floor;
#[path = "floor_clients.rs"]
mod floor_clients;
