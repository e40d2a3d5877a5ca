//! A word that must not be seen: it is written only where it is handed over on purpose.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A password. Shown, it is a row of stars; serialized, it is itself, because a worker has to be
/// told.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// A secret.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The word itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new("pa55");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "*** Some(***)");
        assert_eq!(secret.reveal(), "pa55");
    }
}
