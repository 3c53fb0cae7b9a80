//! One command, from its words to its exit status.

use std::{io, sync::Arc, time::Instant};

use harness_authorize::command::{self, InputSource, Invocation};
use harness_model::{
    CallContext, CallId, CallRequest, CallState, Delivery, ErrorCode, EventBody, Front, Outcome,
    Refusal, SessionId, Tool,
};
use harness_record::excerpt;
use harness_tools::{Kind, Request, StandardInput};
use serde_json::{Map, Value};

use super::{
    connection::{Connection, INPUT_MAX, Input},
    help,
    names::Names,
    render::{self, Answer},
    search,
};
use crate::{
    front::authority::PeerCredentials,
    harness::Harness,
    runs::{self, Run},
};

/// What ends a command.
enum End {
    /// With this answer.
    Answer(Answer),
    /// With its script: no answer reaches it any more.
    Stopped,
}

pub(super) async fn serve(harness: &Arc<Harness>, mut connection: Connection) {
    let served = command(harness, &mut connection).await;
    if let Err(error) = served {
        // The command was killed, or closed its end.
        tracing::debug!(%error, "a command of a script has no answer");
    }
}

async fn command(harness: &Arc<Harness>, connection: &mut Connection) -> io::Result<()> {
    let frame = connection.read().await?;
    if frame.kind != Kind::Request {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the first frame is no request",
        ));
    }
    let request = Request::decode(&frame.bytes);
    let end = match request {
        Ok(request) => carry_out(harness, connection, request).await?,
        Err(error) => End::Answer(Answer::refused(&invalid(error.to_string()))),
    };
    match end {
        End::Answer(answer) => render::send(connection, answer).await,
        End::Stopped => Ok(()),
    }
}

async fn carry_out(
    harness: &Arc<Harness>,
    connection: &mut Connection,
    request: Request,
) -> io::Result<End> {
    let peer = PeerCredentials::of(connection.stream())?;
    let run = match run_of(harness, &peer, &request.token).await {
        Ok(run) => run,
        Err(refusal) => {
            record_denial(harness, &peer, &request.words, refusal.clone()).await;
            return Ok(End::Answer(Answer::refused(&refusal)));
        }
    };
    if let Some(word) = request.words.first() {
        harness.servers().load_like(word).await;
    }
    let in_force = harness.in_force();
    let names = Names {
        catalogue: harness.catalogue(),
        policy: &in_force.policy,
    };
    let invocation = match command::read(&request.words, &names) {
        Ok(invocation) => invocation,
        Err(refusal) => return Ok(End::Answer(Answer::refused(&refusal))),
    };
    let answered = match invocation {
        Invocation::Call { tool, input } => {
            let wanted = match input.source {
                InputSource::StandardInput => true,
                InputSource::Either => request.standard_input == StandardInput::Stream,
                InputSource::Words => false,
            };
            let given = standard_input(connection, wanted).await?;
            return match given.and_then(|bytes| input.over(&bytes)) {
                Ok(input) => call(harness, connection, &run, &peer, &tool, input).await,
                Err(refusal) => Ok(End::Answer(Answer::refused(&refusal))),
            };
        }
        Invocation::Help => Ok(help::all(&names)),
        Invocation::GroupHelp(group) => Ok(help::group(&names, &group)),
        Invocation::ToolHelp(tool) => Ok(help::tool(&tool)),
        Invocation::Search(words) => Ok(search::find(&names, &words)),
        Invocation::Plan => {
            let script = standard_input(connection, true).await?;
            script.and_then(|script| plan(harness, script))
        }
        Invocation::Scripts(_) => {
            let message = "this version of harnessd keeps no scripts";
            Err(Refusal::new(ErrorCode::Unavailable, message))
        }
    };
    Ok(End::Answer(match answered {
        Ok(text) => Answer::text(text),
        Err(refusal) => Answer::refused(&refusal),
    }))
}

/// What comes from the command's standard input, where it is `wanted`.
async fn standard_input(
    connection: &mut Connection,
    wanted: bool,
) -> io::Result<Result<Vec<u8>, Refusal>> {
    if !wanted {
        return Ok(Ok(Vec::new()));
    }
    Ok(match connection.input().await? {
        Input::Whole(bytes) => Ok(bytes),
        Input::TooLong => Err(too_long()),
    })
}

fn plan(harness: &Harness, script: Vec<u8>) -> Result<String, Refusal> {
    let script = String::from_utf8(script);
    let script =
        script.map_err(|_| invalid("the script on standard input is not UTF-8".to_owned()))?;
    Ok(format!("{:#}\n", harness.plan(&script)))
}

/// Which run is calling: where the keeper finds the caller, and the token of that run.
async fn run_of(
    harness: &Harness,
    peer: &PeerCredentials,
    token: &str,
) -> Result<Arc<Run>, Refusal> {
    let pid = i32::try_from(peer.pid).unwrap_or(0);
    let location = harness.keeper.locate(pid).await.map_err(|error| {
        let message = format!("the caller's run cannot be told: {error}");
        Refusal::new(ErrorCode::Unavailable, message).retryable()
    })?;
    // Whoever took over the pid of a caller that has ended is somebody else.
    let location = location.filter(|_| !peer.has_ended());
    harness.runs().of(location.as_ref(), token).await
}

/// One call of a script. What needs a person, what is one too many and what a person has rejected ends the script.
async fn call(
    harness: &Arc<Harness>,
    connection: &Connection,
    run: &Run,
    peer: &PeerCredentials,
    tool: &Tool,
    input: Map<String, Value>,
) -> io::Result<End> {
    let begun = Instant::now();
    let id = CallId::generate();
    let context = context(
        run.session().clone(),
        Some(peer.uid),
        run.call(),
        id.clone(),
    );
    let request = CallRequest {
        group: Some(tool.group.clone()),
        tool: tool.name.clone(),
        input: input.clone(),
    };
    let counted = run.count(harness.in_force().loaded.config.limits.script_calls);
    let outcome = tokio::select! {
        outcome = harness.call_if(request, context, counted) => outcome,
        () = connection.gone() => return Ok(End::Stopped),
    };
    publish(harness, run, id, tool, &input, &outcome, begun);
    if run.done(tool, &input, &outcome) {
        harness.runs().keep(run).await;
    } else {
        harness.runs().note(run);
    }
    if let Err(refusal) = &outcome
        && stops(refusal)
    {
        if run.stop(runs::command(tool), &input, refusal) {
            harness.runs().keep(run).await;
        }
        match run.handle().kill().await {
            Ok(_) => return Ok(End::Stopped),
            Err(error) => tracing::error!(%error, unit = %run.unit(), "a script cannot be stopped"),
        }
    }
    Ok(End::Answer(Answer::outcome(&outcome)))
}

/// Whether a refusal stops the script: a person has to answer, or has answered no, or it has made all its calls.
fn stops(refusal: &Refusal) -> bool {
    let answered = || {
        let details = refusal.details.as_ref();
        details.is_some_and(|details| {
            details.get("approval").is_some() || details.get("standing").is_some()
        })
    };
    let repeats = || {
        let details = refusal.details.as_ref();
        details.is_some_and(|details| details["code"] == "ELOOP")
    };
    match refusal.code {
        ErrorCode::NeedsApproval | ErrorCode::Stopped => true,
        ErrorCode::CallLimit => !repeats(),
        ErrorCode::Denied => answered(),
        ErrorCode::UnknownCommand
        | ErrorCode::InvalidInput
        | ErrorCode::ToolError
        | ErrorCode::ConnectionRequired
        | ErrorCode::Unavailable
        | ErrorCode::OutcomeUnknown => false,
    }
}

fn context(
    session: SessionId,
    uid: Option<u32>,
    parent: Option<CallId>,
    call: CallId,
) -> CallContext {
    CallContext {
        front: Front::Tools,
        session,
        uid,
        parent,
        call: Some(call),
        progress: None,
        meta: None,
        delivery: Delivery::default(),
        elicit: None,
    }
}

/// A caller that is no run, or has not its token, is recorded like every refused call.
async fn record_denial(
    harness: &Harness,
    peer: &PeerCredentials,
    words: &[String],
    refusal: Refusal,
) {
    let request = CallRequest {
        group: None,
        tool: words.first().cloned().unwrap_or_default(),
        input: Map::from_iter([("words".to_owned(), Value::from(words.to_vec()))]),
    };
    let context = context(
        SessionId::generate(),
        Some(peer.uid),
        None,
        CallId::generate(),
    );
    // It is refused as it is; the record has it then.
    let _refused = harness.call_if(request, context, Err(refusal)).await;
}

fn publish(
    harness: &Harness,
    run: &Run,
    call: CallId,
    tool: &Tool,
    input: &Map<String, Value>,
    outcome: &Outcome,
    begun: Instant,
) {
    let (state, code) = match outcome {
        Ok(output) if output.is_error => (CallState::Failed, Some(ErrorCode::ToolError)),
        Ok(_) => (CallState::Ok, None),
        Err(refusal) if refusal.code == ErrorCode::ToolError => {
            (CallState::Failed, Some(refusal.code))
        }
        Err(refusal) => (CallState::Refused, Some(refusal.code)),
    };
    harness.bus().publish(EventBody::NestedCall {
        parent: run.call(),
        call,
        command: runs::command(tool),
        input: excerpt(&Value::Object(input.clone())),
        state,
        code,
        duration_usec: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
    });
}

fn invalid(message: String) -> Refusal {
    Refusal::new(ErrorCode::InvalidInput, message)
}

fn too_long() -> Refusal {
    invalid(format!(
        "standard input is longer than {INPUT_MAX} bytes: put it into a file and name that"
    ))
}
