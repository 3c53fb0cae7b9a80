//! The Nix files: they are well formed, the modules offer what the daemon knows and refuse what it would, and what
//! they make is accepted by the daemon and by systemd.

mod evaluation;
mod examples;
mod files;
mod options;
mod switch;
mod wrong;

use harness_tests::systemd::SystemdBox;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let missing = evaluation::no_nix().or_else(|| evaluation::nixpkgs_lib().err());
    let mut evaluated = options::trials();
    evaluated.extend(wrong::trials());
    evaluated.extend(switch::trials());
    evaluated.extend(examples::trials());
    let mut trials = files::trials();
    if let Some(missing) = &missing {
        let count = evaluated.len();
        skip(&format!("{missing}: {count} tests of the Nix modules"));
    }
    trials.extend((evaluated.into_iter()).map(|trial| trial.with_ignored_flag(missing.is_some())));
    trials.extend(examples::trials_in_a_box(
        missing.or_else(SystemdBox::missing),
    ));
    trials
}

#[expect(
    clippy::print_stderr,
    reason = "the reason belongs beside the runner's own report"
)]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}
