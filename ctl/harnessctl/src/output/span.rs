//! Spans for people: two units at most.

use std::time::{Duration, SystemTime};

use harness_model::Timestamp;

/// Such as `3d 4h`, `2min 5s`, `1.50s`, `12ms`.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{}ms", span.as_millis()),
        1..10 => format!("{:.2}s", span.as_secs_f64()),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}min {}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {}min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// How long ago something was.
pub(crate) fn age(time: Timestamp) -> String {
    span(Timestamp::from(SystemTime::now()).since(time))
}

/// How long it is until then.
pub(crate) fn left(time: Timestamp) -> String {
    span(time.since(SystemTime::now().into()))
}

/// A number of seconds as the API gives it.
pub(crate) fn seconds(seconds: f64) -> String {
    span(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// A size, to the base 1024.
pub(crate) fn size(bytes: u64) -> String {
    let (unit, shift) = match bytes {
        0..1024 => return format!("{bytes} B"),
        1024..1_048_576 => ("K", 10),
        1_048_576..1_073_741_824 => ("M", 20),
        _ => ("G", 30),
    };
    let tenths = bytes.saturating_mul(10) >> shift;
    format!("{}.{}{unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_two_units_at_most() {
        for (seconds_given, shown) in [
            (0.0125, "12ms"),
            (1.5, "1.50s"),
            (59.9, "59s"),
            (61.0, "1min 1s"),
            (7260.0, "2h 1min"),
            (200_000.0, "2d 7h"),
            (-1.0, "0ms"),
        ] {
            assert_eq!(seconds(seconds_given), shown);
        }
    }

    #[test]
    fn a_size_has_one_decimal() {
        assert_eq!(
            (size(1023), size(1536), size(5 << 30)),
            ("1023 B".into(), "1.5K".into(), "5.0G".into())
        );
    }
}
