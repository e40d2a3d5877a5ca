//! A small writer of SVG pictures that stand inside a page and take their colours from its style.

use std::fmt::Write;

/// Text in a page: nothing in it is a tag, an entity, or the end of an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML, and so a picture saved from the page, allows none of these.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// On which side of its point a text stands.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// To the right of it.
    Start,
    /// Around it.
    Middle,
    /// To the left of it.
    End,
}

/// A picture that is being drawn. Lengths are in CSS pixels.
#[derive(Debug)]
pub struct Svg {
    width: f64,
    name: String,
    about: String,
    body: String,
}

/// The class of a numbered line: thin where colours come round again.
pub fn curve(number: usize) -> String {
    let again = if number / 8 % 2 == 1 { " again" } else { "" };
    format!("c{} curve{again}", number % 8)
}

impl Svg {
    /// A picture of a width, with its name and what it shows, for those who cannot see it.
    pub fn new(width: f64, name: &str, about: &str) -> Self {
        Svg {
            width,
            name: escape(name),
            about: escape(about),
            body: String::new(),
        }
    }

    /// Its width.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(format!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// A rectangle, with words that show when it is pointed at.
    pub fn rect(&mut self, at: (f64, f64), size: (f64, f64), class: &str, words: &str) {
        let ((x, y), (w, h)) = (at, size);
        let (w, h) = (w.max(0.0), h.max(0.0));
        self.add(format!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\">{}</rect>",
            title(words)
        ));
    }

    /// A closed or open path through points, with words that show when it is pointed at.
    pub fn path(&mut self, points: &[(f64, f64)], closed: bool, class: &str, words: &str) {
        let mut d = String::new();
        for (i, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
        }
        let end = if closed { "Z" } else { "" };
        self.add(format!(
            "<path class=\"{class}\" d=\"{d}{end}\">{}</path>",
            title(words)
        ));
    }

    /// A mark around a point: its shape and colour follow from its number.
    pub fn mark(&mut self, number: usize, at: (f64, f64), r: f64, class: &str, words: &str) {
        let (x, y) = at;
        let class = format!("c{} {class}", number % 8);
        // Another shape where colours come round again.
        let corners: &[(f64, f64)] = match (number + number / 8) % 4 {
            0 => {
                self.add(format!(
                    "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\">{}</circle>",
                    title(words)
                ));
                return;
            }
            1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            _ => &[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)],
        };
        let points: Vec<_> = corners
            .iter()
            .map(|(dx, dy)| (x + dx * r, y + dy * r))
            .collect();
        self.path(&points, true, &class, words);
    }

    /// A text.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.add(format!(
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at.0,
            at.1,
            escape(text)
        ));
    }

    fn add(&mut self, element: String) {
        self.body.push_str(&element);
        self.body.push('\n');
    }

    /// The picture, at a height.
    pub fn finish(self, height: f64) -> String {
        format!(
            "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {w:.0} {height:.0}\" width=\"{w:.0}\" \
             height=\"{height:.0}\"><desc>{}</desc>\n{}</svg>\n",
            self.name,
            self.about,
            self.body,
            w = self.width
        )
    }
}

fn title(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escape(words))
    }
}
