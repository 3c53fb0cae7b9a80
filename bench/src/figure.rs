//! One line of the table.

/// What a ratio has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Shown, and nothing is asked of it.
    Shown,
}

impl Limit {
    pub(crate) fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
            Self::Shown => true,
        }
    }
}

/// What was measured, or why not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Measured {
        /// With its unit.
        ours: String,
        /// With its unit; what a limit without a peer is measured in, for one that has none.
        peer: String,
        ratio: f64,
        limit: Limit,
    },
    Missing {
        why: String,
    },
}

/// A name and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl Figure {
    /// A ratio of two times, rates or sizes that `show` puts into words.
    pub(crate) fn ratio(
        name: impl Into<String>,
        ours: f64,
        peer: f64,
        show: fn(f64) -> String,
        limit: Limit,
    ) -> Self {
        let value = Value::Measured {
            ours: show(ours),
            peer: show(peer),
            ratio: ours / peer,
            limit,
        };
        Self {
            name: name.into(),
            value,
        }
    }

    /// How many times faster ours is, both in seconds.
    pub(crate) fn speed(name: impl Into<String>, ours: f64, peer: f64, least: f64) -> Self {
        let limit = Limit::AtLeast(least);
        let value = Value::Measured {
            ours: seconds(ours),
            peer: seconds(peer),
            ratio: peer / ours,
            limit,
        };
        Self {
            name: name.into(),
            value,
        }
    }

    /// A share of what may be used at most.
    pub(crate) fn share(
        name: impl Into<String>,
        ours: f64,
        most: f64,
        show: fn(f64) -> String,
    ) -> Self {
        Self::ratio(name, ours, most, show, Limit::AtMost(1.0))
    }

    pub(crate) fn missing(name: impl Into<String>, why: &impl ToString) -> Self {
        Self {
            name: name.into(),
            value: Value::Missing {
                why: why.to_string(),
            },
        }
    }

    pub(crate) fn is_missed(&self) -> bool {
        matches!(&self.value, Value::Measured { ratio, limit, .. } if !limit.holds(*ratio))
    }
}

pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 0.001 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.2} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}

pub(crate) fn per_second(rate: f64) -> String {
    format!("{rate:.0}/s")
}

pub(crate) fn mib_per_second(rate: f64) -> String {
    format!("{:.0} MiB/s", rate / f64::from(1 << 20))
}

pub(crate) fn kib(bytes: f64) -> String {
    format!("{:.1} KiB", bytes / 1024.0)
}

pub(crate) fn count(count: f64) -> String {
    format!("{count:.0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_missed_on_its_own_side_only() {
        let figure = |ours, limit| Figure::ratio("x", ours, 1.0, seconds, limit);
        assert!(figure(1.6, Limit::AtMost(1.5)).is_missed());
        assert!(!figure(1.5, Limit::AtMost(1.5)).is_missed());
        assert!(figure(0.69, Limit::AtLeast(0.7)).is_missed());
        assert!(!figure(7.0, Limit::AtLeast(0.7)).is_missed());
        assert!(Figure::speed("x", 1.0, 1.9, 2.0).is_missed());
        assert!(!Figure::speed("x", 1.0, 2.0, 2.0).is_missed());
    }

    #[test]
    fn what_cannot_be_measured_misses_nothing() {
        assert!(!Figure::missing("x", &"not installed").is_missed());
        assert!(Figure::ratio("x", f64::NAN, 1.0, seconds, Limit::AtMost(1.0)).is_missed());
    }
}
