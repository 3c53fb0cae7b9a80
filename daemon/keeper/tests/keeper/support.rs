//! A keeper of its own for each test, and a blocking client to talk to it.

use std::{
    collections::VecDeque,
    fs::File,
    io::{BufRead, BufReader},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio as Stream},
    sync::atomic::{AtomicU32, Ordering},
};

use harness_keeper::protocol::{
    Decoder, Event, Failure, Hello, Limits, Message, PROTOCOL_MAX, PROTOCOL_MIN, Reply, Request,
    RequestFrame, Spawn, Stdio, StopSequence, Welcome, encode, send,
};
use harness_model::{ExitReport, InvocationId, KillMode, SandboxRules, Signal, UnitId};
use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::inotify,
    io::Errno,
};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A user without any privilege.
pub(crate) const NOBODY: u32 = 65534;

/// What [`marked`] finds when all is well.
pub(crate) const NONE: [i32; 0] = [];

pub(crate) struct Keeper {
    pub(crate) directory: PathBuf,
    pub(crate) process: Child,
    flags: Vec<String>,
    user: Option<u32>,
}

impl Keeper {
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::start_as(None, flags)
    }

    /// `user`: under this uid, without groups and capabilities.
    pub(crate) fn start_as(user: Option<u32>, flags: &[&str]) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("harness-keeper-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        rustix::fs::chown(&directory, user.map(rustix::fs::Uid::from_raw), None).unwrap();
        let flags: Vec<_> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let process = launch(&directory, user, &flags);
        Self {
            directory,
            process,
            flags,
            user,
        }
    }

    /// Starts the next keeper after this one has ended.
    pub(crate) fn restart(&mut self) {
        self.process.wait().unwrap();
        self.process = launch(&self.directory, self.user, &self.flags);
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.process.id()).unwrap()
    }

    pub(crate) fn connect(&self) -> Client {
        let mut client = Client::connect(&self.directory);
        client.hello();
        client
    }

    pub(crate) fn terminate(&mut self) -> std::process::ExitStatus {
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(self.pid()).unwrap(),
            rustix::process::Signal::TERM,
        )
        .unwrap();
        self.process.wait().unwrap()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.process.try_wait().unwrap().is_none() {
            self.terminate();
        }
        std::fs::remove_dir_all(&self.directory).unwrap();
    }
}

/// The program, where `user` can reach it.
pub(crate) fn program(directory: &Path, user: Option<u32>) -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_harness-keeper"));
    if user.is_none() {
        return built;
    }
    let copy = directory.join("harness-keeper");
    if !copy.exists() {
        std::fs::copy(built, &copy).unwrap();
    }
    copy
}

#[expect(clippy::disallowed_methods, reason = "this is what the test is about")]
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

fn launch(directory: &Path, user: Option<u32>, flags: &[String]) -> Child {
    let program = program(directory, user);
    let watch = Watch::new(directory);
    let mut command = match user {
        None => command(program),
        Some(uid) => {
            let mut command = command("setpriv");
            let ids = [format!("--reuid={uid}"), format!("--regid={uid}")];
            command
                .args(ids)
                .args(["--clear-groups", "--inh-caps=-all"])
                .arg(program);
            command
        }
    };
    let process = command
        .args(["--agent", "test", "--runtime-dir"])
        .arg(directory)
        .args(flags)
        .current_dir("/")
        .stdin(Stream::null())
        .spawn()
        .unwrap();
    watch.until(|| UnixStream::connect(directory.join("keeper.sock")).is_ok());
    process
}

/// Waits for changes of a directory.
pub(crate) struct Watch(OwnedFd);

impl Watch {
    pub(crate) fn new(directory: &Path) -> Self {
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
        let flags = inotify::WatchFlags::CREATE
            | inotify::WatchFlags::MOVED_TO
            | inotify::WatchFlags::CLOSE_WRITE;
        inotify::add_watch(&watch, directory, flags).unwrap();
        Self(watch)
    }

    pub(crate) fn until(&self, mut done: impl FnMut() -> bool) {
        while !done() {
            let mut events = [0; 4096];
            rustix::io::read(&self.0, &mut events).unwrap();
        }
    }
}

pub(crate) struct Client {
    pub(crate) socket: UnixStream,
    decoder: Decoder,
    next: u64,
    events: VecDeque<Event>,
    replies: VecDeque<(u64, Reply, Vec<OwnedFd>)>,
}

impl Client {
    pub(crate) fn connect(directory: &Path) -> Self {
        Self {
            socket: UnixStream::connect(directory.join("keeper.sock")).unwrap(),
            decoder: Decoder::default(),
            next: 0,
            events: VecDeque::new(),
            replies: VecDeque::new(),
        }
    }

    pub(crate) fn hello(&mut self) -> Welcome {
        let reply = self.call(hello(PROTOCOL_MIN, PROTOCOL_MAX));
        let Reply::Welcome(welcome) = reply else {
            panic!("{reply:?}");
        };
        welcome
    }

    pub(crate) fn post(&mut self, request: Request, fds: &[OwnedFd]) -> u64 {
        self.next += 1;
        let count = u32::try_from(fds.len()).unwrap();
        let frame = encode(&RequestFrame {
            id: self.next,
            fds: count,
            request,
        })
        .unwrap();
        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        self.write(&frame, &fds);
        self.next
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8], fds: &[std::os::fd::BorrowedFd<'_>]) {
        let mut fds = fds;
        while !bytes.is_empty() {
            match send(&self.socket, bytes, fds) {
                Ok(sent) => {
                    bytes = &bytes[sent..];
                    fds = &[];
                }
                Err(Errno::AGAIN) => {
                    poll(&mut [PollFd::new(&self.socket, PollFlags::OUT)], None).unwrap();
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// The next message, or `false` at the end of the stream.
    pub(crate) fn read(&mut self) -> bool {
        loop {
            let message = self
                .decoder
                .next(|bytes| serde_json::from_slice(bytes).unwrap())
                .unwrap();
            match message {
                Some(Message::Reply(frame)) => {
                    let fds = self.decoder.take_fds(frame.fds as usize).unwrap();
                    self.replies.push_back((frame.id, frame.reply, fds));
                    return true;
                }
                Some(Message::Event(event)) => {
                    self.events.push_back(event);
                    return true;
                }
                None => {}
            }
            poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], None).unwrap();
            if matches!(
                self.decoder.receive(&self.socket),
                Ok(0) | Err(Errno::CONNRESET)
            ) {
                return false;
            }
        }
    }

    pub(crate) fn reply(&mut self, id: u64) -> (Reply, Vec<OwnedFd>) {
        loop {
            if let Some(place) = self.replies.iter().position(|(other, ..)| *other == id) {
                let (_, reply, fds) = self.replies.remove(place).unwrap();
                return (reply, fds);
            }
            assert!(self.read(), "the keeper closed the connection");
        }
    }

    pub(crate) fn call(&mut self, request: Request) -> Reply {
        let id = self.post(request, &[]);
        self.reply(id).0
    }

    pub(crate) fn event(&mut self) -> Event {
        while self.events.is_empty() {
            assert!(self.read(), "the keeper closed the connection");
        }
        self.events.pop_front().unwrap()
    }

    pub(crate) fn spawn_with(&mut self, request: &Spawn, fds: &[OwnedFd]) -> Result<i32, Failure> {
        let id = self.post(Request::Spawn(Box::new(request.clone())), fds);
        let reply = self.reply(id).0;
        if let Reply::Failed(failure) = reply {
            return Err(failure);
        }
        let Reply::Spawned { pid, .. } = reply else {
            panic!("{reply:?}");
        };
        Ok(pid)
    }

    pub(crate) fn spawn(&mut self, request: &Spawn) -> i32 {
        self.spawn_with(request, &[]).unwrap()
    }

    /// The report of the run's end.
    pub(crate) fn end(&mut self, invocation: &InvocationId) -> ExitReport {
        loop {
            if let Event::Ended {
                invocation: ended,
                exit,
            } = self.event()
                && ended == *invocation
            {
                return exit;
            }
        }
    }

    /// Runs `sh -c script` and returns what it wrote and how it ended.
    pub(crate) fn run(&mut self, script: &str) -> (String, ExitReport) {
        let mut request = shell(script);
        request.stdout = Stdio::Pipe;
        request.stderr = Stdio::Null;
        let id = self.post(Request::Spawn(Box::new(request.clone())), &[]);
        let (reply, mut fds) = self.reply(id);
        assert!(matches!(reply, Reply::Spawned { .. }), "{reply:?}");
        let text = read(fds.remove(0));
        (text, self.end(&request.invocation))
    }

    pub(crate) fn stop(&mut self, request: &Spawn) -> Reply {
        self.call(Request::Stop {
            invocation: request.invocation.clone(),
            sequence: request.on_exit.clone(),
        })
    }

    pub(crate) fn list(&mut self) -> Vec<harness_keeper::protocol::ListedUnit> {
        let reply = self.call(Request::List {});
        let Reply::Units(units) = reply else {
            panic!("{reply:?}");
        };
        units
    }
}

pub(crate) fn read(fd: OwnedFd) -> String {
    std::io::read_to_string(File::from(fd)).unwrap()
}

pub(crate) fn hello(min: u32, max: u32) -> Request {
    Request::Hello(Hello {
        min,
        max,
        features: Vec::new(),
        pid: std::process::id(),
        version: "test".to_owned(),
    })
}

/// A sequence that does not let a test wait.
pub(crate) fn sequence(timeout: std::time::Duration) -> StopSequence {
    StopSequence {
        kill_mode: KillMode::ControlGroup,
        kill_signal: Signal::TERM,
        timeout_usec: Some(u64::try_from(timeout.as_micros()).unwrap()),
        final_kill_signal: Signal::KILL,
    }
}

pub(crate) fn request(argv: &[&str]) -> Spawn {
    Spawn {
        unit: UnitId::generate(),
        invocation: InvocationId::generate(),
        kind: "task".to_owned(),
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        environment: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        cwd: "/".to_owned(),
        stdin: Stdio::Null,
        stdout: Stdio::Null,
        stderr: Stdio::Null,
        keep_pipes: false,
        limits: Limits::default(),
        on_exit: sequence(std::time::Duration::from_millis(200)),
        sandbox: Some(SandboxRules::default()),
    }
}

pub(crate) fn shell(script: &str) -> Spawn {
    request(&["bash", "-c", script])
}

/// Starts a script and waits until it has written a line.
pub(crate) fn started(client: &mut Client, request: Spawn) -> (Spawn, i32) {
    started_lines(client, request, 1)
}

/// Starts a script and waits until it has written so many lines.
pub(crate) fn started_lines(client: &mut Client, mut request: Spawn, lines: usize) -> (Spawn, i32) {
    request.stdout = Stdio::Pipe;
    let id = client.post(Request::Spawn(Box::new(request.clone())), &[]);
    let (reply, mut fds) = client.reply(id);
    let Reply::Spawned { pid, .. } = reply else {
        panic!("{reply:?}");
    };
    let output = BufReader::new(File::from(fds.remove(0)));
    assert_eq!(output.lines().take(lines).count(), lines);
    (request, pid)
}

/// Whether a process with this pid is there and no zombie.
pub(crate) fn lives(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit_once(") ").unwrap().1;
        !state.starts_with(['Z', 'X'])
    })
}

/// Those whose command line has `mark` in it.
pub(crate) fn marked(mark: &str) -> Vec<i32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            *pid != i32::try_from(std::process::id()).unwrap()
                && std::fs::read(format!("/proc/{pid}/cmdline"))
                    .is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
                && lives(*pid)
        })
        .collect()
}
