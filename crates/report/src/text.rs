//! Sentences as data, so that each format marks names and figures in its own way; and making
//! text from outside harmless.

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Plain words.
    Text(String),
    /// The name of a variant.
    Name(String),
    /// What the sentence is about.
    Strong(String),
}

/// A sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(pub Vec<Part>);

impl Sentence {
    /// A sentence of plain words.
    pub fn plain(text: impl AsRef<str>) -> Self {
        Sentence::default().text(text)
    }

    /// A sentence in which names and commands stand between backticks. Without a partner a
    /// backtick is a backtick.
    pub fn marked(text: &str) -> Self {
        let parts: Vec<&str> = text.split('`').collect();
        if parts.len().is_multiple_of(2) {
            return Sentence::plain(text);
        }
        let sentence = Sentence::default();
        let parts = parts.into_iter().enumerate();
        parts.fold(sentence, |sentence, (i, part)| match i % 2 {
            0 => sentence.text(part),
            _ => sentence.name(part),
        })
    }

    /// Goes on with plain words.
    pub fn text(mut self, text: impl AsRef<str>) -> Self {
        self.0.push(Part::Text(clean(text.as_ref())));
        self
    }

    /// Goes on with a name.
    pub fn name(mut self, text: impl AsRef<str>) -> Self {
        self.0.push(Part::Name(clean(text.as_ref())));
        self
    }

    /// Goes on with what matters.
    pub fn strong(mut self, text: impl AsRef<str>) -> Self {
        self.0.push(Part::Strong(clean(text.as_ref())));
        self
    }
}

/// Text that may come from anybody, made safe to show in a line: no control characters (a
/// terminal obeys them) and no marks that turn the direction of writing around.
pub fn clean(text: &str) -> String {
    let harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| match c {
            '\n' | '\t' | '\r' => ' ',
            c if harmful(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_mark_names_in_pairs() {
        let name = Part::Name("x".to_owned());
        assert_eq!(Sentence::marked("run `x` now").0[1], name);
        assert_eq!(Sentence::marked("a ` b"), Sentence::plain("a ` b"));
    }

    #[test]
    fn a_terminal_is_not_commanded() {
        assert_eq!(
            clean("a\x1b[31mb\nc\u{202e}d\u{9b}"),
            "a\u{fffd}[31mb c\u{fffd}d\u{fffd}"
        );
        assert_eq!(clean("größe 大きさ 🦀"), "größe 大きさ 🦀");
    }
}
