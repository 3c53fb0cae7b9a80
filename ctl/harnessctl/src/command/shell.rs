//! `harnessctl shell`

use std::{
    io::{self, IsTerminal as _},
    path::Path,
    pin::pin,
};

use clap::Args;
use harness_client::{Client, Error as ClientError, Events};
use harness_model::{CallId, EventBody, Refusal, Stream, TimeSpan, ToolOutput};
use serde_json::{Map, Value, json};

use crate::{
    command::{
        output::{put, shown},
        run::script,
    },
    context::Context,
    error::Result,
    exit::Exit,
    output::{note, print_json},
};

/// The tool.
const TOOL: &str = "shell__shell";

/// How much of what was shown is kept to compare it with the result, in bytes: more than a result holds.
const KEPT: usize = 2 << 20;

/// Run a command in the workspace and wait for it, as the agent's tool `shell` does
#[derive(Debug, Args)]
#[command(after_help = "\
Its output is shown as it comes, and its exit code is the end's.
One word is a shell script as it stands; several are one command, quoted for the shell:
  harnessctl shell 'make && make test' --timeout 5min
  harnessctl shell -- ls -l 'a file'")]
pub(crate) struct Arguments {
    /// Where it runs: a directory of the workspace [default: the workspace itself]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// End it after this time, as in 90 or 5min; the harness may allow less [default: 30s]
    #[arg(long, value_name = "SPAN")]
    timeout: Option<TimeSpan>,
    /// The interpreter, by name or absolute path [default: that of the harness]
    #[arg(long, value_name = "SHELL")]
    shell: Option<String>,
    /// The command
    #[arg(required = true, value_name = "CMD")]
    command: Vec<String>,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    let input = input(&arguments, &client).await?;
    if context.json {
        let output = client.call(TOOL, &input, None).await?;
        let result = output.structured.unwrap_or_default();
        print_json(&result)?;
        return Ok(Exit::of_shell(&result));
    }
    let id = CallId::generate();
    let events = client.events(None).await?;
    let mut streams = Streams::default();
    let called = client.call(TOOL, &input, Some(&id));
    match watched(called, events, &id, &mut streams).await? {
        Ok(output) => {
            let result = output.structured.unwrap_or_default();
            streams.finish(&result)?;
            Ok(Exit::of_shell(&result))
        }
        Err(error) => {
            if let ClientError::Refused(Refusal {
                details: Some(details),
                ..
            }) = &error
                && details["code"] == "ETIMEDOUT"
            {
                streams.finish(details)?;
                context.report(&error.into());
                return Ok(Exit::TIMED_OUT);
            }
            Err(error.into())
        }
    }
}

async fn input(arguments: &Arguments, client: &Client) -> Result<Map<String, Value>> {
    let mut input = Map::new();
    input.insert("cmd".to_owned(), script(&arguments.command).into());
    if let Some(cwd) = &arguments.cwd {
        input.insert("cwd".to_owned(), below(cwd, client).await?.into());
    }
    if let Some(span) = arguments.timeout {
        let millis = span.finite().map_or(i64::MAX, |span| {
            i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
        });
        input.insert("timeoutMs".to_owned(), json!(millis));
    }
    if let Some(shell) = &arguments.shell {
        input.insert("shell".to_owned(), shell.as_str().into());
    }
    Ok(input)
}

/// An absolute path in the workspace as the tool takes it; any other is the harness's to judge.
async fn below(cwd: &str, client: &Client) -> Result<String> {
    if !Path::new(cwd).is_absolute() {
        return Ok(cwd.to_owned());
    }
    let workspace = client.status().await?.workspace;
    let below = Path::new(cwd).strip_prefix(&workspace).ok();
    Ok(below
        .and_then(Path::to_str)
        .map_or_else(|| cwd.to_owned(), ToOwned::to_owned))
}

/// Waits for the answer while output is shown as it comes.
async fn watched(
    called: impl Future<Output = harness_client::Result<ToolOutput>>,
    events: Events,
    id: &CallId,
    streams: &mut Streams,
) -> Result<harness_client::Result<ToolOutput>> {
    let mut called = pin!(called);
    let mut events = Some(events);
    loop {
        let next = async {
            match &mut events {
                Some(events) => events.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            answer = &mut called => return Ok(answer),
            message = next => match message {
                Ok(message) => {
                    if let Some(event) = message.event() {
                        streams.take(&event.body, id)?;
                    }
                }
                // The result holds what was not shown.
                Err(_) => events = None,
            },
        }
    }
}

/// What was shown of both streams.
#[derive(Default)]
struct Streams {
    stdout: Shown,
    stderr: Shown,
}

#[derive(Default)]
struct Shown {
    text: String,
    /// Where the next piece has to begin, in bytes.
    next: u64,
    /// A piece is missing, so what comes later would stand in the wrong place.
    gap: bool,
}

impl Streams {
    fn take(&mut self, body: &EventBody, id: &CallId) -> Result<()> {
        if let EventBody::ApprovalRequested(approval) = body
            && approval.call == *id
        {
            let number = approval.id;
            note(&format!(
                "harnessctl: this waits for an answer: harnessctl approve {number}"
            ));
        }
        if let EventBody::ShellOutput {
            call,
            stream,
            offset,
            delta,
            ..
        } = body
            && call == id
        {
            self.piece(*stream, *offset, delta)?;
        }
        Ok(())
    }

    fn piece(&mut self, stream: Stream, offset: u64, delta: &str) -> Result<()> {
        let seen = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        seen.gap |= offset != seen.next;
        if seen.gap {
            return Ok(());
        }
        seen.next += delta.len() as u64;
        if seen.text.len() < KEPT {
            seen.text.push_str(delta);
        }
        write(stream, delta)
    }

    /// Shows what is left, from the result.
    fn finish(&self, result: &Value) -> Result<()> {
        let streams = [
            (Stream::Stdout, &self.stdout, "stdout"),
            (Stream::Stderr, &self.stderr, "stderr"),
        ];
        for (stream, seen, name) in streams {
            let text = result[name].as_str().unwrap_or_default();
            if let Some(rest) = seen.rest(text) {
                write(stream, rest)?;
            } else {
                note(&format!(
                    "harnessctl: {name} was not shown as it was written; here it is"
                ));
                write(stream, text)?;
            }
            let file = result[format!("{name}File")].as_str();
            if let Some(file) = file.filter(|_| text.contains("...[truncated at ")) {
                note(&format!("harnessctl: all of {name} is in {file}"));
            }
        }
        Ok(())
    }
}

impl Shown {
    /// What of the result was not shown yet; none when something else was shown.
    fn rest<'a>(&self, text: &'a str) -> Option<&'a str> {
        if let Some(rest) = text.strip_prefix(self.text.as_str()) {
            return Some(rest);
        }
        // More was shown than the result holds.
        let (kept, _) = text.rsplit_once("\n...[truncated at ")?;
        self.text.starts_with(kept).then_some("")
    }
}

fn write(stream: Stream, text: &str) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    match stream {
        Stream::Stdout => put(
            &mut io::stdout().lock(),
            &shown(text, io::stdout().is_terminal()),
        ),
        Stream::Stderr => put(
            &mut io::stderr().lock(),
            &shown(text, io::stderr().is_terminal()),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Shown {
        Shown {
            text: text.to_owned(),
            ..Shown::default()
        }
    }

    #[test]
    fn what_was_not_shown_follows_from_the_result() {
        let cut = "aaaa\n...[truncated at 262144 chars]";
        for (shown, text, rest) in [
            ("", "all", Some("all")),
            ("one\n", "one\ntwo\n", Some("two\n")),
            ("same", "same", Some("")),
            ("other", "text", None),
            ("more than", "more", None),
            ("aa", cut, Some("aa\n...[truncated at 262144 chars]")),
            ("aaaaaaaa", cut, Some("")),
            ("bbbbbbbb", cut, None),
        ] {
            assert_eq!(seen(shown).rest(text), rest, "{shown} {text}");
        }
    }

    #[test]
    fn a_result_tells_the_exit_code() {
        for (result, code) in [
            (json!({"exitCode": 0}), 0),
            (json!({"exitCode": 255}), 255),
            (json!({"exitCode": null, "signal": "SIGKILL"}), 137),
            (json!({}), 125),
        ] {
            assert_eq!(Exit::of_shell(&result), Exit(code), "{result}");
        }
    }
}
