//! Output while it is written, for those who watch.

use std::{io, path::Path, time::Duration};

use harness_model::{CallId, Stream, UnitId};
use harness_supervise::{OutputFiles, output};
use tokio::time::sleep;

/// What is published at once, in bytes of one stream.
const BURST: u64 = 64 << 10;

/// One piece, in bytes.
const PIECE: usize = 16 << 10;

/// Between two bursts: a flood is watched at a little over 1 MB/s, and never holds up the command.
const PAUSE: Duration = Duration::from_millis(50);

/// What is still published of a stream when its command has ended, in bytes.
const LAST_BURST: u64 = 256 << 10;

/// A piece of a running command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePiece {
    /// The call.
    pub call: CallId,
    /// Its unit.
    pub unit: UnitId,
    /// Which stream.
    pub stream: Stream,
    /// Where it begins in the stream, in bytes.
    pub offset: u64,
    /// The text; never split within a character.
    pub text: String,
}

/// Where output goes while it is written. Best effort: it may lose pieces.
pub trait LiveOutput: Send + Sync + 'static {
    /// Whether somebody watches, so that it is worth reading.
    fn is_wanted(&self) -> bool;

    /// Hands a piece on. Never blocks.
    fn publish(&self, piece: LivePiece);
}

/// Follows both streams of one command.
pub(super) struct Relay<'a> {
    sink: &'a dyn LiveOutput,
    call: &'a CallId,
    unit: &'a UnitId,
    streams: Vec<Followed<'a>>,
}

struct Followed<'a> {
    stream: Stream,
    path: &'a Path,
    growth: output::Follow,
    offset: u64,
    /// There was more than one burst.
    behind: bool,
}

impl<'a> Relay<'a> {
    /// Nothing is followed when nobody watches.
    pub(super) fn new(
        sink: &'a dyn LiveOutput,
        call: &'a CallId,
        unit: &'a UnitId,
        files: &'a OutputFiles,
    ) -> Self {
        let followed = |(stream, path): (Stream, &'a Path)| {
            let growth = output::Follow::new(path, 0);
            growth.ok().map(|growth| Followed {
                stream,
                path,
                growth,
                offset: 0,
                behind: false,
            })
        };
        let files = [
            (Stream::Stdout, files.stdout.as_path()),
            (Stream::Stderr, files.stderr.as_path()),
        ];
        let streams = if sink.is_wanted() {
            files.into_iter().filter_map(followed).collect()
        } else {
            Vec::new()
        };
        Self {
            sink,
            call,
            unit,
            streams,
        }
    }

    /// Publishes what comes, until it is dropped.
    pub(super) async fn follow(&mut self) {
        loop {
            if !self.streams.iter().any(|followed| followed.behind) {
                self.grown().await;
            }
            self.publish(BURST);
            sleep(PAUSE).await;
        }
    }

    /// Publishes what came last.
    pub(super) fn finish(&mut self) {
        self.publish(LAST_BURST);
    }

    /// Resolves when a stream has grown; one that cannot be followed any more is let go.
    async fn grown(&mut self) {
        let failed = match self.streams.as_mut_slice() {
            [] => std::future::pending().await,
            [one] => one.growth.grown().await.err().map(|_| 0),
            [first, second, ..] => tokio::select! {
                grown = first.growth.grown() => grown.err().map(|_| 0),
                grown = second.growth.grown() => grown.err().map(|_| 1),
            },
        };
        if let Some(place) = failed {
            self.streams.remove(place);
        }
    }

    fn publish(&mut self, burst: u64) {
        for followed in &mut self.streams {
            let (sink, call, unit) = (self.sink, self.call, self.unit);
            let stream = followed.stream;
            let handed_on = followed.read(burst, |offset, text| {
                sink.publish(LivePiece {
                    call: call.clone(),
                    unit: unit.clone(),
                    stream,
                    offset,
                    text,
                });
            });
            if let Err(error) = handed_on {
                tracing::debug!(%unit, %error, "live output cannot be read");
                followed.behind = false;
            }
        }
    }
}

impl Followed<'_> {
    fn read(&mut self, burst: u64, mut hand_on: impl FnMut(u64, String)) -> io::Result<()> {
        let end = self.offset.saturating_add(burst);
        self.behind = true;
        while self.offset < end {
            let piece = output::read(self.path, self.offset, PIECE)?;
            if piece.next_offset <= self.offset || piece.text.is_empty() {
                self.behind = false;
                return Ok(());
            }
            self.offset = piece.next_offset;
            hand_on(piece.offset, piece.text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        path::PathBuf,
        sync::{Mutex, mpsc},
    };

    use super::*;

    struct Watcher(bool, Mutex<mpsc::Sender<LivePiece>>);

    impl LiveOutput for Watcher {
        fn is_wanted(&self) -> bool {
            self.0
        }

        fn publish(&self, piece: LivePiece) {
            self.1.lock().unwrap().send(piece).unwrap();
        }
    }

    struct Desk {
        _directory: tempfile::TempDir,
        files: OutputFiles,
    }

    impl Desk {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let file = |name: &str| -> PathBuf {
                let path = directory.path().join(name);
                std::fs::write(&path, "").unwrap();
                path
            };
            let (stdout, stderr) = (file("a.out"), file("a.err"));
            let files = OutputFiles {
                stdout,
                stderr,
                max_bytes: 1 << 20,
            };
            Self {
                _directory: directory,
                files,
            }
        }

        fn write(&self, bytes: &[u8]) {
            let mut file = std::fs::File::options()
                .append(true)
                .open(&self.files.stdout)
                .unwrap();
            file.write_all(bytes).unwrap();
        }
    }

    #[test]
    fn pieces_are_whole_characters_and_say_where_they_begin() {
        let (sender, pieces) = mpsc::channel();
        let (desk, watcher) = (Desk::new(), Watcher(true, Mutex::new(sender)));
        let (call, unit) = (CallId::generate(), UnitId::generate());
        let mut relay = Relay::new(&watcher, &call, &unit, &desk.files);
        desk.write("grün".as_bytes().split_at(3).0);
        relay.publish(BURST);
        desk.write("grün!".as_bytes().split_at(3).1);
        relay.publish(BURST);
        drop(relay);
        drop(watcher);
        let seen: Vec<_> = pieces
            .iter()
            .map(|piece| (piece.offset, piece.text))
            .collect();
        assert_eq!(seen, [(0, "gr".to_owned()), (2, "ün!".to_owned())]);
    }

    #[test]
    fn a_flood_is_handed_on_in_bursts() {
        let (sender, pieces) = mpsc::channel();
        let (desk, watcher) = (Desk::new(), Watcher(true, Mutex::new(sender)));
        let (call, unit) = (CallId::generate(), UnitId::generate());
        let mut relay = Relay::new(&watcher, &call, &unit, &desk.files);
        desk.write(&vec![b'x'; 3 << 20]);
        relay.publish(BURST);
        assert!(relay.streams[0].behind);
        relay.finish();
        drop(relay);
        drop(watcher);
        let total: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        assert_eq!(total as u64, BURST + LAST_BURST);
    }

    #[test]
    fn nobody_who_watches_costs_nothing() {
        let (sender, pieces) = mpsc::channel();
        let (desk, watcher) = (Desk::new(), Watcher(false, Mutex::new(sender)));
        let (call, unit) = (CallId::generate(), UnitId::generate());
        let mut relay = Relay::new(&watcher, &call, &unit, &desk.files);
        desk.write(b"x");
        relay.finish();
        assert!(relay.streams.is_empty());
        assert!(pieces.try_recv().is_err());
    }
}
