//! Asking the person in front of a caller's own client (MCP elicitation).

use std::pin::Pin;

use crate::{Answer, Approval};

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elicited {
    /// Their answer.
    Answer(Answer),
    /// They looked away, or cannot or must not be asked: the question stays open for somebody else.
    Unanswered,
    /// The call has to end here; the client makes it again and brings the answer along.
    Deferred,
}

/// A way to the person in front of the caller's own client. It is the client that answers, not its model.
pub trait Elicit: Send + Sync {
    /// The answer comes with another request, so there is no use in holding this one for it.
    fn is_deferred(&self) -> bool;

    /// The call was made before and is made again to bring the answer: it is no repetition.
    fn is_resumed(&self) -> bool;

    /// Shows the card and offers [`Approval::narrow_answers`]. Dropping the future takes the question back.
    fn ask<'a>(
        &'a self,
        approval: &'a Approval,
    ) -> Pin<Box<dyn Future<Output = Elicited> + Send + 'a>>;
}
