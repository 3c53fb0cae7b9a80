//! Tests that can be found missing something, and then say so instead of passing.

use libtest_mimic::{Failed, Trial};

/// A test by name; the name is a sentence with `_` for spaces.
pub fn test(name: &'static str, body: fn()) -> Trial {
    Trial::test(name, move || {
        body();
        Ok::<(), Failed>(())
    })
}

/// The same, for tests that need something of the machine: `missing` says what is not there.
///
/// A test that cannot run here is reported as ignored, with the reason on standard error.
#[expect(
    clippy::print_stderr,
    reason = "the reason belongs beside the runner's own report"
)]
pub fn test_if(missing: Option<&str>, name: &'static str, body: fn()) -> Trial {
    if let Some(missing) = missing {
        eprintln!("skipped: {name}: {missing}");
    }
    test(name, body).with_ignored_flag(missing.is_some())
}

/// A list of tests from the names of functions.
#[macro_export]
macro_rules! trials {
    ($($name:ident),+ $(,)?) => {
        vec![$($crate::trial::test(concat!(module_path!(), "::", stringify!($name)), $name),)+]
    };
    (if $missing:expr; $($name:ident),+ $(,)?) => {{
        let missing: Option<String> = $missing;
        vec![$($crate::trial::test_if(missing.as_deref(), concat!(module_path!(), "::", stringify!($name)), $name),)+]
    }};
}
