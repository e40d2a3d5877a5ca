//! The workers are embedded: a file that is added to their folder must be seen.
#![allow(clippy::disallowed_macros)] // Cargo is spoken to on the standard output.

fn main() {
    println!("cargo::rerun-if-changed=../../workers");
}
