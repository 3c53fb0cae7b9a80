//! `kill -9` at any moment, full disks, and two of everything.

mod daemon;
mod descriptors;
mod disk;
mod keeper;
mod second;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        daemon::trials(),
        keeper::trials(),
        disk::trials(),
        descriptors::trials(),
        second::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
