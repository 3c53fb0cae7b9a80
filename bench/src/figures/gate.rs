//! What the gate costs: a judgement beside starting what is judged, a call beside a request that passes no gate, and
//! both after a long history.

mod calls;
mod history;
mod judgement;

use super::Report;
use crate::effort::Effort;

pub(super) fn measure(effort: Effort, report: Report<'_>) {
    judgement::measure(effort, report);
    calls::measure(effort, report);
    history::measure(effort, report);
}
