//! What became of values of every type: the fidelity table of a set of paths.

use crate::contract::CheckRow;
use serde::{Deserialize, Serialize};

/// One path's column of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FidelityColumn {
    /// The path, in its short form.
    pub path: String,
    /// The library's version.
    pub version: Option<String>,
    /// What came back in a second process: one row a vector.
    pub rows: Vec<CheckRow>,
    /// What came back in a process that does not declare the class of the objects; only the rows
    /// that differ.
    pub without_classes: Vec<CheckRow>,
}

/// Every type by every path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FidelityTable {
    /// What was written: one row a vector, in the first path's words.
    pub written: Vec<CheckRow>,
    /// The columns.
    pub columns: Vec<FidelityColumn>,
}
