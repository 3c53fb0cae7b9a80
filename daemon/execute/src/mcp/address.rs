//! A server at an address: attempts to reach it, and the waits between them.

use std::{sync::Arc, time::Duration};

use harness_model::UnitPolicy;
use harness_supervise::restart::restart_delay;

use super::{
    attend::Left,
    connection::ConnectFault,
    greet::Greeted,
    state::Phase,
    supervisor::{Command, Next, Supervisor, answer, code_of},
};

/// The longest wait between two attempts to reach an address, whatever the configuration says.
const DELAY_MAX: Duration = Duration::from_mins(5);

impl Supervisor {
    pub(super) async fn live_at_address(&mut self, policy: Option<UnitPolicy>) -> Next {
        let mut attempts = 0_u32;
        loop {
            let shared = Arc::clone(&self.shared);
            let greeting = shared.greet(shared.connector.to_address());
            tokio::pin!(greeting);
            let greeted = loop {
                tokio::select! {
                    biased;
                    command = self.commands.recv() => match command {
                        Some(Command::Wanted) => {}
                        Some(Command::Start(reply)) => answer(reply),
                        command => return self.obey(command, None).await,
                    },
                    greeted = &mut greeting => break greeted,
                }
            };
            match greeted {
                Ok(mut greeted) => {
                    attempts = 0;
                    if let Some(next) = self.serve_address(&mut greeted).await {
                        return next;
                    }
                    continue;
                }
                Err(failure)
                    if matches!(
                        failure.kind,
                        ConnectFault::Permanent | ConnectFault::Unauthorized
                    ) =>
                {
                    self.park(code_of(&failure), &failure.why);
                    return Next::Rest;
                }
                Err(failure) => self.down(&failure.why),
            }
            let delay = policy
                .as_ref()
                .and_then(|policy| restart_delay(policy, attempts));
            attempts += 1;
            if let Some(command) = self.pause(delay.unwrap_or(DELAY_MAX)).await {
                return self.obey(command, None).await;
            }
        }
    }

    /// Looks after one connection. `None`: the next one is wanted at once.
    async fn serve_address(&mut self, greeted: &mut Greeted) -> Option<Next> {
        self.shared.welcome(greeted);
        match self.attend(greeted, std::future::pending(), || {}).await {
            Left::Asked(command) => Some(self.obey(command, None).await),
            Left::Idle => {
                self.stopped(false, Some("nobody called it for a while".to_owned()));
                Some(Next::Rest)
            }
            // Most likely it only ended the session, so that calls can wait for the next one.
            Left::Ended(why) | Left::Unresponsive(why) => {
                let why = self.shared.clean(why);
                self.shared.set(|state| {
                    state.phase = Phase::Starting { first: true };
                    state.why = Some(why);
                    state.restarts += 1;
                });
                None
            }
        }
    }

    /// Waits before the next attempt, unless somebody wants something else.
    async fn pause(&mut self, delay: Duration) -> Option<Option<Command>> {
        let due = tokio::time::sleep(delay.min(DELAY_MAX));
        tokio::pin!(due);
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(Command::Wanted) => {}
                    command => return Some(command),
                },
                () = &mut due => return None,
            }
        }
    }
}
