//! One thing, as lines of `key: value`.

use crate::output::escape;

/// How wide the keys' column is.
const KEYS: usize = 10;

/// Lines, in the order they were added.
#[derive(Debug)]
pub(crate) struct Fields(String);

impl Fields {
    /// Begins with a line that is already fit to be shown.
    pub(crate) fn new(headline: impl Into<String>) -> Self {
        let mut fields = Self(String::new());
        fields.line(&headline.into());
        fields
    }

    /// A line that is already fit to be shown.
    pub(crate) fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// A key and its value, which is escaped here.
    pub(crate) fn field(&mut self, key: &str, value: impl AsRef<str>) {
        let value = escape::text(value.as_ref());
        self.line(&format!("{key:>KEYS$}: {value}"));
    }

    /// Text of others, escaped and moved in.
    pub(crate) fn quote(&mut self, text: &str) {
        for line in escape::lines(text).lines() {
            self.line(&format!("{:>KEYS$}  {line}", ""));
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}
