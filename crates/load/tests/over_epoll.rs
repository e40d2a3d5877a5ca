//! The floor over `epoll`, by the same tests that it passes over what it takes by itself.

// Each of the two files has the helpers as its own module, as a test of its own needs them.
#![allow(clippy::duplicate_mod)]

mod common;

#[path = "floor.rs"]
mod floor;
#[path = "floor_clients.rs"]
mod floor_clients;
