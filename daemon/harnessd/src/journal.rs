//! What the unit engine writes goes to the record first, and then out as events and wakes.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use harness_model::{EventBody, NewUnit, Transition, UnitChange, UnitId, Wake};
use harness_publish::Bus;
use harness_record::Record;
use harness_supervise::{Journal, JournalError};

use crate::{redact::Redactor, wakes::WakeRoom};

/// The engine's journal over the record.
pub(crate) struct RecordJournal {
    pub(crate) record: Record,
    pub(crate) bus: Bus,
    pub(crate) wakes: Arc<WakeRoom>,
    pub(crate) redactor: Redactor,
}

impl RecordJournal {
    fn publish(&self, transition: &Transition) {
        let state = &transition.state;
        self.bus.publish(EventBody::UnitChanged(UnitChange {
            unit: transition.unit.clone(),
            kind: transition.kind,
            active_state: state.active_state,
            sub_state: state.sub_state,
            result: state.result,
            restarts: state.restarts,
            ended: state.is_final(),
        }));
    }

    fn announce(&self, wake: Option<Wake>) {
        if let Some(wake) = wake {
            self.wakes.announce(wake);
        }
    }
}

fn failed(error: &harness_record::Error) -> JournalError {
    JournalError(error.to_string())
}

impl Journal for RecordJournal {
    fn created(
        &self,
        mut unit: NewUnit,
        mut starting: Transition,
    ) -> BoxFuture<'_, Result<(), JournalError>> {
        self.redactor.unit(&mut unit);
        self.redactor.transition(&mut starting);
        Box::pin(async move {
            let change = starting.clone();
            self.record
                .unit_created(unit, starting)
                .await
                .map_err(|error| failed(&error))?;
            self.publish(&change);
            Ok(())
        })
    }

    fn starting(&self, mut transition: Transition) -> BoxFuture<'_, Result<(), JournalError>> {
        self.redactor.transition(&mut transition);
        Box::pin(async move {
            let change = transition.clone();
            self.record
                .unit_starting(transition)
                .await
                .map_err(|error| failed(&error))?;
            self.publish(&change);
            Ok(())
        })
    }

    fn changed(&self, mut transition: Transition) -> BoxFuture<'_, Result<(), JournalError>> {
        self.redactor.transition(&mut transition);
        Box::pin(async move {
            let change = transition.clone();
            let wake = self
                .record
                .unit_changed(transition)
                .await
                .map_err(|error| failed(&error))?;
            self.publish(&change);
            self.announce(wake);
            Ok(())
        })
    }

    fn noted(&self, mut transition: Transition) {
        self.redactor.transition(&mut transition);
        self.publish(&transition);
        self.record.unit_noted(transition);
    }

    fn waited(&self, unit: &UnitId, delivered: bool) {
        if delivered {
            return self.record.wake_delivered(unit);
        }
        let (record, wakes, unit) = (self.record.clone(), self.wakes.clone(), unit.clone());
        tokio::spawn(async move {
            match record.wake_settled(&unit, false).await {
                Ok(Some(wake)) => wakes.announce(wake),
                Ok(None) => {}
                // The wake is still held in the record and becomes due with the next start.
                Err(error) => {
                    tracing::error!(%unit, %error, "the record did not take what became of a wait");
                }
            }
        });
    }
}
