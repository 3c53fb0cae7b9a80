//! The unit files under a real systemd, and systemd itself as the measure of what a unit does.

mod activation;
mod cells;
mod credentials;
mod keeper;
mod life;
mod limits;
mod reload;
mod restart_steps;
mod restart_table;
mod stop_table;
mod unit_files;
mod user_units;
mod users;
mod watchdog;

use harness_tests::systemd::SystemdBox;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let missing = SystemdBox::missing();
    [
        activation::trials(missing.clone()),
        credentials::trials(missing.clone()),
        keeper::trials(missing.clone()),
        life::trials(missing.clone()),
        limits::trials(missing.clone()),
        reload::trials(missing.clone()),
        restart_steps::trials(missing.clone()),
        restart_table::trials(missing.clone()),
        stop_table::trials(missing.clone()),
        unit_files::trials(missing.clone()),
        user_units::trials(missing.clone()),
        users::trials(missing.clone()),
        watchdog::trials(missing),
    ]
    .into_iter()
    .flatten()
    .collect()
}
