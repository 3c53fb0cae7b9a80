//! Which version of the protocol two peers speak.

/// The oldest version this library speaks.
pub const PROTOCOL_MIN: u32 = 1;

/// The newest version this library speaks.
pub const PROTOCOL_MAX: u32 = 1;

/// What this version can do beside the plain requests; a peer uses only what the other names.
pub const FEATURES: &[&str] = &[
    "pipes",
    "kept-pipes",
    FEATURE_SANDBOX,
    FEATURE_EXECUTE,
    FEATURE_LOCATE,
    FEATURE_OOM_EVENT,
];

/// The keeper enforces the rules of a spawn's sandbox.
pub const FEATURE_SANDBOX: &str = "sandbox";

/// The keeper enforces `executable` of those rules.
pub const FEATURE_EXECUTE: &str = "execute";

/// The keeper tells, and the daemon understands, [`Event::OomKilled`](super::Event::OomKilled).
pub const FEATURE_OOM_EVENT: &str = "oom-event";

/// The keeper answers [`Request::Locate`](super::Request::Locate).
pub const FEATURE_LOCATE: &str = "locate";

/// The newest version that lies in both ranges, if there is one.
///
/// Each range is the oldest and the newest version a peer speaks.
#[must_use]
pub fn negotiate(ours: (u32, u32), theirs: (u32, u32)) -> Option<u32> {
    let newest = ours.1.min(theirs.1);
    (newest >= ours.0.max(theirs.0)).then_some(newest)
}

#[cfg(test)]
mod tests {
    use super::negotiate;

    #[test]
    fn two_peers_agree_on_the_newest_version_both_speak() {
        assert_eq!(negotiate((1, 1), (1, 1)), Some(1));
        assert_eq!(negotiate((1, 3), (2, 7)), Some(3));
        assert_eq!(negotiate((2, 7), (1, 3)), Some(3));
    }

    #[test]
    fn peers_without_a_common_version_do_not_agree() {
        assert_eq!(negotiate((1, 2), (3, 4)), None);
        assert_eq!(negotiate((3, 4), (1, 2)), None);
        assert_eq!(negotiate((2, 1), (1, 2)), None);
    }
}
