//! Words as the shell sees them after it has split the text.

/// A range of bytes in the scanned text. For what was found within a text that exists only after
/// quote removal (`eval '…'`), it is the range of the word that holds that text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What is known about its value.
    pub kind: WordKind,
    /// Where it is.
    pub span: Span,
}

/// What can be known about a word without running anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordKind {
    /// Exactly this one word, after quote removal.
    Literal(String),
    /// Literal text with unquoted characters of pathname, brace or tilde expansion: what becomes of
    /// it, and how many words, depends on the file system.
    Glob {
        /// The text after quote removal.
        text: String,
    },
    /// Holds an expansion whose result is not known.
    Dynamic {
        /// The literal text before the first expansion.
        prefix: String,
        /// Always becomes exactly one word, as `"a$b"` does and `$b` or `"$@"` do not.
        one_word: bool,
    },
}

impl Word {
    /// The value, if it is known.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match &self.kind {
            WordKind::Literal(text) => Some(text),
            WordKind::Glob { .. } | WordKind::Dynamic { .. } => None,
        }
    }

    /// Whether this becomes exactly one word.
    #[must_use]
    pub fn is_one_word(&self) -> bool {
        match &self.kind {
            WordKind::Literal(_) => true,
            WordKind::Glob { .. } => false,
            WordKind::Dynamic { one_word, .. } => *one_word,
        }
    }

    /// The literal text that the word's value begins with.
    pub(crate) fn prefix(&self) -> &str {
        match &self.kind {
            WordKind::Literal(text) => text,
            WordKind::Glob { text } => {
                let end = text
                    .find(['*', '?', '[', '{', '~', '('])
                    .unwrap_or(text.len());
                text.get(..end).unwrap_or("")
            }
            WordKind::Dynamic { prefix, .. } => prefix,
        }
    }

    /// Whether the value may begin with a `-` and so be taken for an option.
    pub(crate) fn may_be_option(&self) -> bool {
        match &self.kind {
            WordKind::Literal(text) => text.starts_with('-'),
            WordKind::Glob { .. } | WordKind::Dynamic { .. } => {
                let prefix = self.prefix();
                prefix.is_empty() || prefix.starts_with('-')
            }
        }
    }
}
