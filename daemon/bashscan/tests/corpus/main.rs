//! Real scripts: none is misread without being called opaque, and few are called so.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and prints what it has counted"
)]

mod bash_reading;
mod scripts;
mod shares;

use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use scripts::Script;

/// Fewer scripts say little.
const WANTED: usize = 1000;

fn main() {
    let arguments = Arguments::from_args();
    let (scripts, missing) = if arguments.list {
        (Vec::new(), None)
    } else {
        match scripts::all() {
            Ok(scripts) if scripts.len() < WANTED => {
                let missing = format!("{} scripts of {WANTED}", scripts.len());
                (scripts, Some(missing))
            }
            Ok(scripts) => (scripts, None),
            Err(why) => (Vec::new(), Some(why)),
        }
    };
    if let Some(why) = &missing {
        eprintln!("skipped: real scripts: {why}");
    }
    let scripts: Arc<[Script]> = scripts.into();
    let trial = |name: &str, body: fn(&[Script])| {
        let scripts = Arc::clone(&scripts);
        Trial::test(name, move || {
            body(&scripts);
            Ok::<(), Failed>(())
        })
        .with_ignored_flag(missing.is_some())
    };
    let trials = vec![
        trial(
            "real_scripts_are_understood",
            shares::real_scripts_are_understood,
        ),
        trial(
            "the_commands_of_real_scripts_are_those_that_bash_reads",
            bash_reading::commands_are_those_that_bash_reads,
        ),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}
