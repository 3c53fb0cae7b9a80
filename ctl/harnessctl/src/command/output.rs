//! `harnessctl output`

use std::io::{self, IsTerminal as _};

use clap::Args;
use harness_client::Client;
use harness_model::{OutputChunk, Stream, UnitId};

use crate::{
    context::Context,
    error::Result,
    exit::Exit,
    output::{escape, note, print_json_line, span},
};

/// Print what a task wrote
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The task
    id: UnitId,
    /// Go on as it writes, until it ends
    #[arg(long, short)]
    follow: bool,
    /// Its standard error instead of its standard output
    #[arg(long)]
    stderr: bool,
    /// Where to begin, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    offset: u64,
}

pub(crate) async fn execute(arguments: Arguments, context: &Context) -> Result<Exit> {
    let client = context.client()?;
    let stream = if arguments.stderr {
        Stream::Stderr
    } else {
        Stream::Stdout
    };
    // One stream was asked for, and it is the result.
    let target = Target {
        stream: Stream::Stdout,
        context,
    };
    if arguments.follow {
        let mut follow = client
            .follow(&arguments.id, stream, arguments.offset)
            .await?;
        while let Some(chunk) = follow.next().await? {
            target.write(&chunk)?;
        }
        return Ok(Exit::DONE);
    }
    let mut offset = arguments.offset;
    loop {
        let chunk = client.output(&arguments.id, stream, offset, None).await?;
        target.write(&chunk)?;
        if chunk.next_offset <= offset || chunk.next_offset >= chunk.bytes {
            return Ok(Exit::DONE);
        }
        offset = chunk.next_offset;
    }
}

/// Copies a task's stream to the same one of this process until the task ends.
pub(super) async fn copy(
    client: &Client,
    id: &UnitId,
    stream: Stream,
    offset: u64,
    context: &Context,
) -> Result<()> {
    let mut follow = client.follow(id, stream, offset).await?;
    let target = Target { stream, context };
    while let Some(chunk) = follow.next().await? {
        target.write(&chunk)?;
    }
    Ok(())
}

struct Target<'a> {
    stream: Stream,
    context: &'a Context,
}

impl Target<'_> {
    /// As it is into a file or pipe, with control characters escaped onto a terminal.
    fn write(&self, chunk: &OutputChunk) -> Result<()> {
        if self.context.json {
            return print_json_line(chunk);
        }
        if let Some(gap) = chunk
            .gap
            .filter(|gap| chunk.offset == gap.offset + gap.length)
        {
            note(&format!(
                "[{} of output were freed here]",
                span::size(gap.length)
            ));
        }
        match self.stream {
            Stream::Stdout => put(
                &mut io::stdout().lock(),
                &shown(&chunk.text, io::stdout().is_terminal()),
            ),
            Stream::Stderr => put(
                &mut io::stderr().lock(),
                &shown(&chunk.text, io::stderr().is_terminal()),
            ),
        }
    }
}

pub(super) fn shown(text: &str, terminal: bool) -> String {
    if terminal {
        escape::lines(&text.replace("\r\n", "\n"))
    } else {
        text.to_owned()
    }
}

pub(super) fn put(target: &mut impl io::Write, text: &str) -> Result<()> {
    target.write_all(text.as_bytes())?;
    Ok(target.flush()?)
}
