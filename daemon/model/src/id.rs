//! Identifiers. Each is a newtype, so that a call's id cannot be passed for a unit's.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lower-case Crockford base 32: no letter that reads like a digit.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The text is not an identifier of this kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid {kind} id: expected {expected}")]
pub struct IdError {
    /// What the id would have named.
    pub kind: &'static str,
    /// The text as it was given, cut to 80 characters.
    pub text: String,
    /// The accepted form.
    pub expected: &'static str,
}

fn short(length: usize) -> String {
    let random = uuid::Uuid::now_v7().as_u128();
    (0..length)
        .map(|place| char::from(ALPHABET[(random >> (5 * place) & 31) as usize]))
        .collect()
}

fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $expected:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String")]
        pub struct $name(Box<str>);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(IdError { kind: $kind, text: excerpt(text), expected: $expected })
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }
    };
}

text_id!(
    /// Names a unit for its whole life, restarts included: 1 to 64 of `a-z 0-9 -`, no leading `-`.
    ///
    /// It is a file name (`bash-tasks/ID.out`) and a D-Bus path element, so nothing else is allowed.
    UnitId, "unit", "1 to 64 characters of a-z, 0-9 and -, not starting with -",
    |text| {
        (1..=64).contains(&text.len())
            && !text.starts_with('-')
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    }
);

text_id!(
    /// One run of a unit's main process: 32 hexadecimal digits, like systemd's `INVOCATION_ID`.
    InvocationId, "invocation", "32 hexadecimal digits in lower case",
    |text| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
);

text_id!(
    /// One call of a tool: 12 characters.
    CallId, "call", "12 characters of a-z and 0-9",
    |text| text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
);

text_id!(
    /// One connection of a client: 12 characters.
    SessionId, "session", "12 characters of a-z and 0-9",
    |text| text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
);

impl UnitId {
    /// A new random id of 8 characters (40 random bits; the record refuses a second use).
    #[must_use]
    pub fn generate() -> Self {
        Self(short(8).into())
    }
}

impl InvocationId {
    /// A new id, ordered by the time of its making.
    #[must_use]
    pub fn generate() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string().into())
    }
}

impl CallId {
    /// A new random id (60 random bits).
    #[must_use]
    pub fn generate() -> Self {
        Self(short(12).into())
    }
}

impl SessionId {
    /// A new random id (60 random bits).
    #[must_use]
    pub fn generate() -> Self {
        Self(short(12).into())
    }
}

/// A wake's place in the record, counted from 1 and never used again.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct WakeId(pub i64);

impl fmt::Display for WakeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_id_parses_as_itself() {
        for _ in 0..1000 {
            let unit = UnitId::generate();
            assert_eq!(unit.as_str().parse(), Ok(unit));
            let call = CallId::generate();
            assert_eq!(call.as_str().parse(), Ok(call));
            let invocation = InvocationId::generate();
            assert_eq!(invocation.as_str().parse(), Ok(invocation));
        }
    }

    #[test]
    fn ten_thousand_ids_differ() {
        let ids: std::collections::HashSet<_> = (0..10_000).map(|_| UnitId::generate()).collect();
        assert_eq!(ids.len(), 10_000);
    }

    #[test]
    fn an_id_that_could_leave_its_directory_is_refused() {
        for text in ["", "..", "a/b", "-a", "A", "ä", "a\0", &"a".repeat(65)] {
            assert!(text.parse::<UnitId>().is_err(), "{text:?}");
        }
    }
}
