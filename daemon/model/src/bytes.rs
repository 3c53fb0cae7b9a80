//! Sizes and limits in systemd's syntax.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A size in bytes: a number, or one with a suffix K, M, G or T to the base 1024 (systemd.resource-control(5)).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "SizeText", into = "u64")]
#[schemars(with = "SizeText")]
pub struct ByteSize(pub u64);

/// The text is not a size or a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct ParseBytesError {
    /// The text as given, cut to 80 characters.
    pub text: String,
    /// The accepted form.
    pub expected: &'static str,
}

impl ParseBytesError {
    fn new(text: &str, expected: &'static str) -> Self {
        Self {
            text: text.chars().take(80).collect(),
            expected,
        }
    }
}

const SIZE: &str = "a size: expected bytes, or a number with K, M, G or T as in \"512M\"";

impl FromStr for ByteSize {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        let error = || ParseBytesError::new(text, SIZE);
        let trimmed = text.trim();
        let (number, power) = match trimmed.strip_suffix('B').unwrap_or(trimmed) {
            number if number.ends_with('K') => (&number[..number.len() - 1], 1),
            number if number.ends_with('M') => (&number[..number.len() - 1], 2),
            number if number.ends_with('G') => (&number[..number.len() - 1], 3),
            number if number.ends_with('T') => (&number[..number.len() - 1], 4),
            number => (number, 0),
        };
        let unit = 1024_u64.pow(power);
        let number = number.trim_end();
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(unit).map(Self).ok_or_else(error);
        }
        let (whole, fraction) = number.split_once('.').ok_or_else(error)?;
        let whole: u64 = whole.parse().map_err(|_| error())?;
        if fraction.is_empty()
            || fraction.len() > 6
            || !fraction.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Err(error());
        }
        let scale = 10_u64.pow(u32::try_from(fraction.len()).unwrap_or(0));
        let fraction: u64 = fraction.parse().map_err(|_| error())?;
        let bytes = whole
            .checked_mul(unit)
            .and_then(|bytes| bytes.checked_add(unit.checked_mul(fraction)? / scale));
        bytes.map(Self).ok_or_else(error)
    }
}

impl fmt::Display for ByteSize {
    /// The largest unit that leaves no remainder, so that the text reads back as the same size.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1 << 40, "T"),
            (1 << 30, "G"),
            (1 << 20, "M"),
            (1 << 10, "K"),
        ];
        match units
            .iter()
            .find(|(unit, _)| self.0 >= *unit && self.0.is_multiple_of(*unit))
        {
            Some((unit, suffix)) => write!(formatter, "{}{suffix}", self.0 / unit),
            None => write!(formatter, "{}", self.0),
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number from 0, or one with K, M, G or T as in \"512M\""
)]
enum SizeText {
    /// Bytes.
    Number(u64),
    /// With a suffix.
    Text(String),
}

impl TryFrom<SizeText> for ByteSize {
    type Error = ParseBytesError;

    fn try_from(text: SizeText) -> Result<Self, ParseBytesError> {
        match text {
            SizeText::Number(bytes) => Ok(Self(bytes)),
            SizeText::Text(text) => text.parse(),
        }
    }
}

impl From<ByteSize> for u64 {
    fn from(size: ByteSize) -> Self {
        size.0
    }
}

/// A number or `"infinity"`: `memory_max` (in bytes, suffixes allowed) and `tasks_max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "SizeText", into = "SizeText")]
#[schemars(with = "SizeText")]
pub enum Limit {
    /// No limit.
    Infinity,
    /// At most this many.
    Max(u64),
}

impl Limit {
    /// The number, or `None` where there is no limit.
    #[must_use]
    pub fn finite(self) -> Option<u64> {
        match self {
            Self::Infinity => None,
            Self::Max(max) => Some(max),
        }
    }
}

impl TryFrom<SizeText> for Limit {
    type Error = ParseBytesError;

    fn try_from(text: SizeText) -> Result<Self, ParseBytesError> {
        match text {
            SizeText::Text(text) if text == "infinity" => Ok(Self::Infinity),
            size @ (SizeText::Number(_) | SizeText::Text(_)) => {
                ByteSize::try_from(size).map(|size| Self::Max(size.0))
            }
        }
    }
}

impl From<Limit> for SizeText {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Infinity => Self::Text("infinity".to_owned()),
            Limit::Max(max) => Self::Number(max),
        }
    }
}

/// CPU time in hundredths of one processor: `"150%"` is one and a half (systemd.resource-control(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct CpuQuota(pub u32);

impl FromStr for CpuQuota {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        text.trim()
            .strip_suffix('%')
            .and_then(|number| number.trim_end().parse().ok())
            .filter(|percent| *percent > 0)
            .map(Self)
            .ok_or_else(|| {
                ParseBytesError::new(
                    text,
                    "a CPU quota: expected a percentage above 0 as in \"50%\" or \"150%\"",
                )
            })
    }
}

impl TryFrom<String> for CpuQuota {
    type Error = ParseBytesError;

    fn try_from(text: String) -> Result<Self, ParseBytesError> {
        text.parse()
    }
}

impl From<CpuQuota> for String {
    fn from(quota: CpuQuota) -> Self {
        format!("{}%", quota.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_to_the_base_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("1K", 1024),
            ("512M", 536_870_912),
            ("1.5G", 1_610_612_736),
            ("2T", 2 << 40),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "",
            "M",
            "-1",
            "1X",
            "1.M",
            "1.2.3K",
            "99999999999T",
            "0x10",
            "infinity",
        ] {
            assert!(text.parse::<ByteSize>().is_err(), "{text:?}");
        }
        for text in ["", "50", "0%", "-5%", "x%"] {
            assert!(text.parse::<CpuQuota>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_size_is_written_so_that_it_reads_back() {
        for bytes in [0, 1, 1023, 1024, 1025, 3 << 20, u64::MAX] {
            assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
        }
    }
}
