//! One thread that sleeps until an output file is written to.
//!
//! It has one inotify instance for the whole process. Each file is watched for one event at a time
//! (`IN_ONESHOT`): a file that is written to all the time costs its writer one event per look, and a
//! quiet one costs nothing. It is a thread of its own because freeing parts of a file may block, and
//! because it must not be late: a fast writer fills gigabytes in a second.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    fs::File,
    io,
    mem::MaybeUninit,
    os::fd::{AsRawFd, OwnedFd},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};
use tokio::sync::oneshot;

use super::budget::{Kept, Next};

/// Called when a file is written to.
type Tell = Arc<dyn Fn() + Send + Sync>;

/// What the thread is asked to do for one key.
enum Message {
    /// Keep a file within its budget.
    Keep(Box<Kept>),
    /// Tell of the next write to this file.
    Arm { file: File, seen: u64, tell: Tell },
    /// Look a last time, forget it, then say so.
    Finish(Option<oneshot::Sender<()>>),
}

struct Queue {
    messages: Mutex<Vec<(u64, Message)>>,
    bell: OwnedFd,
    next_key: AtomicU64,
}

impl Queue {
    fn messages(&self) -> MutexGuard<'_, Vec<(u64, Message)>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, key: u64, message: Message) {
        self.messages().push((key, message));
        // A counter at its maximum has rung already.
        rustix::io::write(&self.bell, &1_u64.to_ne_bytes()).ok();
    }
}

/// The thread, once it is needed.
static QUEUE: Mutex<Option<Arc<Queue>>> = Mutex::new(None);

fn queue() -> io::Result<Arc<Queue>> {
    let mut place = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(queue) = &*place {
        return Ok(Arc::clone(queue));
    }
    let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
    let queue = Arc::new(Queue {
        messages: Mutex::default(),
        bell: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
        next_key: AtomicU64::new(0),
    });
    let mut watcher = Watcher {
        queue: Arc::clone(&queue),
        inotify,
        kept: HashMap::new(),
        told: HashMap::new(),
        watches: HashMap::new(),
        due: BinaryHeap::new(),
    };
    std::thread::Builder::new()
        .name("output-watcher".to_owned())
        .stack_size(128 << 10)
        .spawn(move || watcher.run())?;
    *place = Some(Arc::clone(&queue));
    Ok(queue)
}

/// A file that somebody wants to hear of; forgotten when it is dropped.
pub(super) struct Watch {
    queue: Arc<Queue>,
    key: u64,
    file: File,
    tell: Tell,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Watch")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Prepares to call `tell` when the file is written to.
pub(super) fn watch(file: File, tell: impl Fn() + Send + Sync + 'static) -> io::Result<Watch> {
    let queue = queue()?;
    Ok(Watch {
        key: queue.next_key.fetch_add(1, Ordering::Relaxed),
        queue,
        file,
        tell: Arc::new(tell),
    })
}

impl Watch {
    /// Tells of the next write, or at once when the file has not `seen` bytes any more.
    pub(super) fn arm(&self, seen: u64) -> io::Result<()> {
        let message = Message::Arm {
            file: self.file.try_clone()?,
            seen,
            tell: Arc::clone(&self.tell),
        };
        self.queue.send(self.key, message);
        Ok(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.queue.send(self.key, Message::Finish(None));
    }
}

/// A file in the care of the thread.
pub(super) struct Keeping {
    queue: Arc<Queue>,
    key: u64,
}

/// Hands a file over to the thread.
pub(super) fn keep(kept: Kept) -> io::Result<Keeping> {
    let queue = queue()?;
    let key = queue.next_key.fetch_add(1, Ordering::Relaxed);
    queue.send(key, Message::Keep(Box::new(kept)));
    Ok(Keeping { queue, key })
}

impl Keeping {
    /// Lets the thread look a last time; resolves when it has.
    pub(super) async fn finish(self) {
        let (done, finished) = oneshot::channel();
        self.queue.send(self.key, Message::Finish(Some(done)));
        finished.await.ok();
    }

    /// Lets the thread look a last time.
    pub(super) fn release(self) {
        self.queue.send(self.key, Message::Finish(None));
    }
}

/// A file that could not be watched.
const NO_WATCH: i32 = -1;

struct Watcher {
    queue: Arc<Queue>,
    inotify: OwnedFd,
    kept: HashMap<u64, Box<Kept>>,
    /// Who is told, and the watch they wait on.
    told: HashMap<u64, (Tell, i32)>,
    /// Who waits on which watch.
    watches: HashMap<i32, Vec<u64>>,
    /// When to look at which file again.
    due: BinaryHeap<Reverse<(Instant, u64)>>,
}

impl Watcher {
    fn run(&mut self) {
        loop {
            self.sleep();
            let messages = std::mem::take(&mut *self.queue.messages());
            for (key, message) in messages {
                self.receive(key, message);
            }
            self.events();
            let now = Instant::now();
            while let Some(Reverse((at, key))) = self.due.peek().copied() {
                if at > now {
                    break;
                }
                self.due.pop();
                self.look(key, true);
            }
        }
    }

    /// Until a message, an event, or the next look.
    fn sleep(&self) {
        let left = self
            .due
            .peek()
            .map(|Reverse((at, _))| at.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        let mut sources = [
            PollFd::new(&self.queue.bell, PollFlags::IN),
            PollFd::new(&self.inotify, PollFlags::IN),
        ];
        // Interrupted or not, what there is to do is looked up afterwards.
        poll(&mut sources, timeout.as_ref()).ok();
        rustix::io::read(&self.queue.bell, &mut [0; 8]).ok();
    }

    fn receive(&mut self, key: u64, message: Message) {
        match message {
            Message::Keep(kept) => {
                self.kept.insert(key, kept);
                self.look(key, false);
            }
            Message::Arm { file, seen, tell } => self.tell_of(key, &file, seen, tell),
            Message::Finish(done) => {
                if let Some(mut kept) = self.kept.remove(&key) {
                    kept.look(Instant::now());
                    self.disarm(key, kept.watch);
                }
                if let Some((_, watch)) = self.told.remove(&key) {
                    self.disarm(key, Some(watch));
                }
                if let Some(done) = done {
                    done.send(()).ok();
                }
            }
        }
    }

    fn tell_of(&mut self, key: u64, file: &File, seen: u64, tell: Tell) {
        match self.arm(key, file) {
            Ok(watch) => {
                let size = file.metadata().map(|metadata| metadata.len());
                if !matches!(size, Ok(size) if size == seen) {
                    tell();
                }
                self.told.insert(key, (tell, watch));
            }
            Err(error) => {
                tracing::warn!(%error, "a follower looks every second: raise fs.inotify.max_user_watches");
                self.told.insert(key, (tell, NO_WATCH));
                let later = Instant::now() + Duration::from_secs(1);
                self.due.push(Reverse((later, key)));
            }
        }
    }

    /// One look at a file in care: on a write, or because it is due.
    fn look(&mut self, key: u64, due: bool) {
        let now = Instant::now();
        let Some(kept) = self.kept.get_mut(&key) else {
            if let Some((tell, _)) = self.told.remove(&key) {
                tell();
            }
            return;
        };
        // A look that was put off by a later one.
        if due && kept.due.is_none_or(|at| at > now) {
            return;
        }
        kept.due = None;
        let next = match kept.look(now) {
            Next::Quiet => self.quiet(key),
            next @ (Next::At(_) | Next::Never) => next,
        };
        let Some(kept) = self.kept.get_mut(&key) else {
            return;
        };
        match next {
            Next::At(at) => {
                kept.due = Some(at);
                self.due.push(Reverse((at, key)));
            }
            Next::Quiet => kept.close(),
            Next::Never => {
                self.kept.remove(&key);
            }
        }
    }

    /// A file that has stopped growing is watched for its next write.
    fn quiet(&mut self, key: u64) -> Next {
        let later = Next::At(Instant::now() + Duration::from_secs(1));
        let Some(file) = self.kept.get_mut(&key).and_then(|kept| kept.file().ok()) else {
            return later;
        };
        let watch = match self.arm(key, &file) {
            Ok(watch) => watch,
            Err(error) => {
                // The budget comes before the sleep.
                tracing::warn!(%error, "an output file is looked at every second: raise fs.inotify.max_user_watches");
                return later;
            }
        };
        let Some(kept) = self.kept.get_mut(&key) else {
            return Next::Never;
        };
        kept.watch = Some(watch);
        // It may have grown before the watch was there.
        kept.look(Instant::now())
    }

    fn arm(&mut self, key: u64, file: &File) -> io::Result<i32> {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = WatchFlags::MODIFY | WatchFlags::ONESHOT;
        let watch = inotify::add_watch(&self.inotify, path, flags)?;
        let keys = self.watches.entry(watch).or_default();
        if !keys.contains(&key) {
            keys.push(key);
        }
        Ok(watch)
    }

    fn disarm(&mut self, key: u64, watch: Option<i32>) {
        let Some(watch) = watch else { return };
        let Some(keys) = self.watches.get_mut(&watch) else {
            return;
        };
        keys.retain(|other| *other != key);
        if keys.is_empty() {
            self.watches.remove(&watch);
            // It may have fired by itself just now.
            inotify::remove_watch(&self.inotify, watch).ok();
        }
    }

    fn events(&mut self) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut fired = Vec::new();
        let mut reader = inotify::Reader::new(&self.inotify, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => {
                    fired.extend(self.watches.keys().copied());
                }
                Ok(event) => fired.push(event.wd()),
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        for watch in fired {
            for key in self.watches.remove(&watch).unwrap_or_default() {
                if let Some((tell, _)) = self.told.remove(&key) {
                    tell();
                } else if let Some(kept) = self.kept.get_mut(&key) {
                    kept.watch = None;
                    self.look(key, false);
                }
            }
        }
    }
}
