//! Live output on its way to those who watch.

use harness_execute::shell::{LiveOutput, LivePiece};
use harness_model::EventBody;
use harness_publish::Bus;

/// The bus as the tool group `shell` sees it.
pub(crate) struct BusOutput(pub(crate) Bus);

impl LiveOutput for BusOutput {
    fn is_wanted(&self) -> bool {
        self.0.wants_output()
    }

    fn publish(&self, piece: LivePiece) {
        self.0.publish(EventBody::ShellOutput {
            call: piece.call,
            unit: piece.unit,
            stream: piece.stream,
            offset: piece.offset,
            delta: piece.text,
        });
    }
}
