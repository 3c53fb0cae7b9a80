//! One command from its words to its exit status.

use std::{
    env, fmt,
    fs::File,
    io::{self, BufReader, Read, Write},
    os::{
        fd::AsFd as _,
        unix::{
            ffi::OsStrExt,
            fs::{FileTypeExt as _, MetadataExt as _},
            net::UnixStream,
        },
    },
};

use harness_tools::{
    FRAME_MAX, Frame, Kind, Request, SOCKET_VARIABLE, StandardInput, TOKEN_VARIABLE, read, write,
};

use crate::image::Image;

/// The exit status of a program whose output nobody reads any more: 128 + SIGPIPE.
const BROKEN_PIPE: u8 = 141;

/// Why the command could not be carried out, where the daemon could not say it itself.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Called outside of a run.
    NoRun(&'static str),
    /// Nobody listens.
    Unreachable(io::Error),
    /// The command was sent and no answer came.
    NoAnswer(Option<io::Error>),
    /// The words do not fit in one frame.
    TooLong(usize),
    /// Standard input cannot be read.
    Input(io::Error),
    /// Standard output cannot be written.
    Output(io::Error),
    /// An image cannot be saved.
    Image(String, io::Error),
}

impl Failure {
    const fn code(&self) -> (&'static str, bool) {
        match self {
            Self::NoRun(_) => ("unavailable", false),
            Self::Unreachable(_) => ("unavailable", true),
            Self::NoAnswer(_) => ("outcome_unknown", false),
            Self::TooLong(_) | Self::Input(_) => ("invalid_input", false),
            Self::Output(_) | Self::Image(..) => ("tool_error", false),
        }
    }

    /// The line that scripts read: `{"error":{"code":…,"message":…,"retryable":…}}`.
    pub(crate) fn to_json(&self) -> String {
        let (code, retryable) = self.code();
        let mut message = String::new();
        for c in self.to_string().chars() {
            match c {
                '"' | '\\' => message.extend(['\\', c]),
                c if c.is_control() => message.push(' '),
                c => message.push(c),
            }
        }
        format!(r#"{{"error":{{"code":"{code}","message":"{message}","retryable":{retryable}}}}}"#)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRun(variable) => write!(
                formatter,
                "tools works inside a task or a shell call of harnessd: {variable} is not set"
            ),
            Self::Unreachable(error) => write!(formatter, "harnessd does not answer: {error}"),
            Self::NoAnswer(error) => {
                formatter.write_str(
                    "harnessd ended before it answered, and the call may have been made",
                )?;
                match error {
                    Some(error) => write!(formatter, ": {error}"),
                    None => Ok(()),
                }
            }
            Self::TooLong(length) => write!(
                formatter,
                "the command is {length} bytes long and may be {FRAME_MAX}: give the input on standard input"
            ),
            Self::Input(error) => write!(formatter, "standard input cannot be read: {error}"),
            Self::Output(error) => {
                write!(
                    formatter,
                    "the call was made, but its result cannot be written: {error}"
                )
            }
            Self::Image(name, error) => {
                write!(
                    formatter,
                    "the call was made, but {name} cannot be saved: {error}"
                )
            }
        }
    }
}

pub(crate) fn run() -> Result<u8, Failure> {
    let variable = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .ok_or(Failure::NoRun(name))
    };
    let socket = variable(SOCKET_VARIABLE)?;
    let token = variable(TOKEN_VARIABLE)?;
    let words: Vec<_> = env::args_os().skip(1).collect();
    let request = Request::encode(
        token.as_bytes(),
        standard_input(),
        words.iter().map(|word| word.as_bytes()),
    );
    if request.len() > FRAME_MAX {
        return Err(Failure::TooLong(request.len()));
    }
    let stream = UnixStream::connect(&socket).map_err(Failure::Unreachable)?;
    write(&stream, Kind::Request, &request).map_err(Failure::Unreachable)?;
    answer(&stream)
}

/// What comes from standard input; a terminal and `/dev/null` never have anything to say.
fn standard_input() -> StandardInput {
    let stream = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .and_then(|fd| File::from(fd).metadata())
        .is_ok_and(|metadata| {
            let kind = metadata.file_type();
            kind.is_fifo() || kind.is_socket() || (kind.is_file() && metadata.size() > 0)
        });
    if stream {
        StandardInput::Stream
    } else {
        StandardInput::Nothing
    }
}

/// Does what the daemon says until it says how to end.
fn answer(stream: &UnixStream) -> Result<u8, Failure> {
    let mut image: Option<Image> = None;
    let mut frames = BufReader::new(stream);
    loop {
        let frame = read(&mut frames).map_err(|error| Failure::NoAnswer(Some(error)))?;
        let Some(Frame { kind, bytes }) = frame else {
            return Err(Failure::NoAnswer(None));
        };
        match kind {
            Kind::WantStandardInput => send_input(stream)?,
            Kind::Output => match io::stdout()
                .write_all(&bytes)
                .and_then(|()| io::stdout().flush())
            {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(BROKEN_PIPE),
                Err(error) => return Err(Failure::Output(error)),
            },
            // Where standard error is closed, the exit status still tells.
            Kind::Error => drop(io::stderr().write_all(&bytes)),
            Kind::FileBegin => image = Some(Image::create(&bytes)?),
            Kind::FilePiece if bytes.is_empty() => {
                if let Some(image) = image.take() {
                    image.finish()?;
                }
            }
            Kind::FilePiece => {
                if let Some(image) = &mut image {
                    image.append(&bytes)?;
                }
            }
            Kind::Exit => return Ok(bytes.first().copied().unwrap_or(1)),
            // Of another version: whatever it means, the exit status comes.
            Kind::Request | Kind::StandardInput => {}
        }
    }
}

fn send_input(stream: &UnixStream) -> Result<(), Failure> {
    let mut input = io::stdin().lock();
    let mut piece = vec![0; 64 << 10];
    loop {
        let count = match input.read(&mut piece) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::Input(error)),
        };
        let contents = piece.get(..count).unwrap_or_default();
        match write(stream, Kind::StandardInput, contents) {
            Ok(()) => {}
            // The daemon has read enough and says why.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(Failure::NoAnswer(Some(error))),
        }
        if count == 0 {
            return Ok(());
        }
    }
}
