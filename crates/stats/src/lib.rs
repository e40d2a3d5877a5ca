//! Pure statistics.
mod normal;
mod sequential;
mod student;
