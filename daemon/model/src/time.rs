//! Points in time and spans of it.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wall-clock time in microseconds since 1970, written in JSON as RFC 3339 in UTC with milliseconds.
///
/// It is for people and for order in the record; spans are measured on the monotonic clock.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since 1970; negative ones are taken as 1970.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(micros.max(0))
    }

    /// Microseconds since 1970.
    #[must_use]
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to this, or zero when the clock was set back between them.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }

    /// This time and `span` more.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        )
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// The last second RFC 3339 can write.
const LAST_MICROS: i64 = 253_402_300_799_000_000;

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = u64::try_from(self.0.min(LAST_MICROS)).unwrap_or(0);
        humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_micros(micros)).fmt(formatter)
    }
}

impl FromStr for Timestamp {
    type Err = humantime::TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        humantime::parse_rfc3339(text).map(Self::from)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = humantime::TimestampError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

/// A span in systemd's syntax (systemd.time(7)): `5` (seconds), `"1min 30s"`, `"500ms"`, `"infinity"`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "SpanText", into = "SpanText")]
#[schemars(with = "SpanText")]
pub struct TimeSpan(Option<Duration>);

/// The text is not a time span.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a time span: expected seconds or units as in \"1min 30s\", \"500ms\", \"2h\" or \"infinity\""
)]
pub struct ParseTimeSpanError(pub String);

impl TimeSpan {
    /// No end.
    pub const INFINITY: Self = Self(None);
    /// No time at all.
    pub const ZERO: Self = Self(Some(Duration::ZERO));

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Some(Duration::from_secs(seconds)))
    }

    /// A span of milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(Some(Duration::from_millis(millis)))
    }

    /// The span, or `None` when it has no end.
    #[must_use]
    pub const fn finite(self) -> Option<Duration> {
        self.0
    }
}

impl From<Duration> for TimeSpan {
    fn from(span: Duration) -> Self {
        Self(Some(span))
    }
}

/// In microseconds; the names are those of systemd.time(7).
fn unit_micros(name: &str) -> Option<u64> {
    Some(match name {
        "usec" | "us" | "µs" | "μs" => 1,
        "msec" | "ms" => 1_000,
        "" | "seconds" | "second" | "sec" | "s" => 1_000_000,
        "minutes" | "minute" | "min" | "m" => 60_000_000,
        "hours" | "hour" | "hr" | "h" => 3_600_000_000,
        "days" | "day" | "d" => 86_400_000_000,
        "weeks" | "week" | "w" => 604_800_000_000,
        "months" | "month" | "M" => 2_629_800_000_000,
        "years" | "year" | "y" => 31_557_600_000_000,
        _ => return None,
    })
}

impl FromStr for TimeSpan {
    type Err = ParseTimeSpanError;

    fn from_str(text: &str) -> Result<Self, ParseTimeSpanError> {
        let error = || ParseTimeSpanError(text.chars().take(80).collect());
        let mut rest = text.trim();
        if rest == "infinity" {
            return Ok(Self::INFINITY);
        }
        if rest.is_empty() {
            return Err(error());
        }
        let mut total: u128 = 0;
        while !rest.is_empty() {
            let digits = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(rest.len());
            let (number, after) = rest.split_at(digits);
            let after = after.trim_start();
            let letters = after
                .find(|c: char| !c.is_alphabetic())
                .unwrap_or(after.len());
            let (name, next) = after.split_at(letters);
            let unit = u128::from(unit_micros(name).ok_or_else(error)?);
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            if whole.is_empty() && fraction.is_empty()
                || fraction.len() > 12
                || fraction.contains('.')
            {
                return Err(error());
            }
            let parse = |part: &str| {
                if part.is_empty() {
                    Ok(0)
                } else {
                    part.parse::<u64>()
                }
            };
            let whole = u128::from(parse(whole).map_err(|_| error())?);
            let scale = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
            let fraction = u128::from(parse(fraction).map_err(|_| error())?);
            total = total.saturating_add(whole * unit + fraction * unit / scale);
            rest = next.trim_start();
        }
        let micros = u64::try_from(total).map_err(|_| error())?;
        Ok(Self(Some(Duration::from_micros(micros))))
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(span) = self.0 else {
            return formatter.write_str("infinity");
        };
        let mut rest = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        if rest == 0 {
            return formatter.write_str("0");
        }
        let mut first = true;
        for name in ["d", "h", "min", "s", "ms", "us"] {
            let unit = unit_micros(name).unwrap_or(1);
            if rest / unit > 0 {
                write!(
                    formatter,
                    "{}{}{name}",
                    if first { "" } else { " " },
                    rest / unit
                )?;
                rest %= unit;
                first = false;
            }
        }
        Ok(())
    }
}

/// How a span stands in TOML and JSON.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a time span: seconds, or units as in \"1min 30s\""
)]
enum SpanText {
    /// Whole seconds.
    Seconds(u64),
    /// Seconds with a fraction.
    Fraction(f64),
    /// systemd's syntax.
    Text(String),
}

impl TryFrom<SpanText> for TimeSpan {
    type Error = ParseTimeSpanError;

    fn try_from(text: SpanText) -> Result<Self, ParseTimeSpanError> {
        match text {
            SpanText::Seconds(seconds) => Ok(Self::from_secs(seconds)),
            SpanText::Fraction(seconds) => Duration::try_from_secs_f64(seconds)
                .map(Self::from)
                .map_err(|_| ParseTimeSpanError(seconds.to_string())),
            SpanText::Text(text) => text.parse(),
        }
    }
}

impl From<TimeSpan> for SpanText {
    fn from(span: TimeSpan) -> Self {
        match span.0 {
            Some(duration) if duration.subsec_nanos() == 0 => Self::Seconds(duration.as_secs()),
            Some(_) | None => Self::Text(span.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Option<u128> {
        text.parse::<TimeSpan>()
            .unwrap()
            .finite()
            .map(|span| span.as_millis())
    }

    #[test]
    fn a_span_reads_as_systemd_reads_it() {
        for (text, expected) in [
            ("5", 5_000),
            ("1min 30s", 90_000),
            ("1min30s", 90_000),
            ("2h", 7_200_000),
            ("500ms", 500),
            ("0.5", 500),
            (".5s", 500),
            ("1.5min", 90_000),
            ("1 w", 604_800_000),
            ("1 month", 2_629_800_000),
            (" 7 ", 7_000),
        ] {
            assert_eq!(millis(text), Some(expected), "{text:?}");
        }
        assert_eq!(millis("infinity"), None);
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in [
            "",
            " ",
            "-1",
            "1x",
            "s",
            ".",
            "1.2.3",
            "1 2 3x",
            "99999999999999999999y",
            "1,5",
        ] {
            assert!(text.parse::<TimeSpan>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_span_is_written_so_that_it_reads_back() {
        for text in ["1d 2h 3min 4s 5ms 6us", "infinity", "0", "90s"] {
            let span: TimeSpan = text.parse().unwrap();
            assert_eq!(span.to_string().parse(), Ok(span));
        }
    }

    #[test]
    fn a_timestamp_is_rfc_3339_and_reads_back_to_the_millisecond() {
        let time = Timestamp::from_micros(1_700_000_000_123_000);
        assert_eq!(time.to_string(), "2023-11-14T22:13:20.123Z");
        assert_eq!(
            "2023-11-14T22:13:20.123Z".parse::<Timestamp>().unwrap(),
            time
        );
        assert!(
            Timestamp::from_micros(i64::MAX)
                .to_string()
                .starts_with("9999")
        );
    }

    #[test]
    fn a_clock_set_back_gives_no_negative_span() {
        assert_eq!(
            Timestamp::from_micros(5).since(Timestamp::from_micros(9)),
            Duration::ZERO
        );
    }
}
