//! What is measured, in groups that can be chosen by name.

mod capture;
mod gate;
mod history;
mod idle;
mod peers;
mod run;
mod throughput;

use clap::builder::PossibleValuesParser;

use crate::{effort::Effort, figure::Figure};

/// Takes figures as they become known.
pub(crate) type Report<'a> = &'a mut dyn FnMut(Figure);

/// Figures that are measured together.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) measure: fn(Effort, Report<'_>),
}

/// All of them, in the order of the table.
pub(crate) const GROUPS: [Group; 7] = [
    Group {
        name: "run",
        measure: run::measure,
    },
    Group {
        name: "peers",
        measure: peers::measure,
    },
    Group {
        name: "throughput",
        measure: throughput::measure,
    },
    Group {
        name: "capture",
        measure: capture::measure,
    },
    Group {
        name: "idle",
        measure: idle::measure,
    },
    Group {
        name: "history",
        measure: history::measure,
    },
    Group {
        name: "gate",
        measure: gate::measure,
    },
];

pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(GROUPS.map(|group| group.name))
}
