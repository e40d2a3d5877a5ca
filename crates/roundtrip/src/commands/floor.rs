//! `roundtrip floor` and the hidden `roundtrip worker`: the ends of the native path.

use crate::args::FloorArgs;
use roundtrip_lab::load;
use roundtrip_model::Result;

pub fn run(_args: &FloorArgs) -> Result<()> {
    todo!()
}

pub fn worker() -> Result<()> {
    load::serve_worker(std::io::stdin().lock(), std::io::stdout().lock())
}
