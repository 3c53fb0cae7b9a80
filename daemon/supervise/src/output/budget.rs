//! Keeping an output file within its budget, however fast it is written.
//!
//! A file may grow to `max_bytes` untouched. Then its first MiB (a quarter of the budget, if that is
//! less) and its newest part stay, and what lies between is freed by punching a hole; the writer never
//! notices. At least half of what is left beside the head holds the newest output.
//!
//! While a file grows it is looked at again before a writer at 4 GiB/s could use up what is left, but
//! not more often than every millisecond. So a look that comes late on a loaded machine lets a writer
//! take more than the budget for that long: at 2 GB/s that is 2 MB a millisecond, and tens of MiB were
//! seen with two busy processors. The next look frees them. A budget of 256 MiB leaves 16 ms.
//!
//! A file system without holes (fallocate(2), `EOPNOTSUPP`) has the file cut to its head instead; the
//! writer goes on behind it, and everything between is lost.

use std::{
    fs::File,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FallocateFlags, fallocate, ftruncate},
    io::Errno,
};

use super::{
    gap::gap,
    open::{reading, writing},
    watcher::{Keeping, keep},
};

/// The most of a file's beginning that stays.
const HEAD: u64 = 1 << 20;
/// The smallest budget there is.
const LEAST: u64 = 64 << 10;
/// Bytes per millisecond of the fastest writer reckoned with.
const FASTEST: u64 = 4 << 20;
/// How long to wait between two looks, at least and at most.
const DELAY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(1));

/// A file in care, until this is dropped.
pub(crate) struct Budget {
    keeping: Option<Keeping>,
    path: PathBuf,
    max: u64,
}

impl Budget {
    /// Keeps a file within `max` bytes on disk. `report` is told once if that costs more than it should.
    pub(crate) fn keep(
        path: &Path,
        max: u64,
        report: impl Fn(String) + Send + 'static,
    ) -> io::Result<Self> {
        let kept = Kept::new(path, max, punch, Box::new(report))?;
        let max = kept.max;
        Ok(Self {
            keeping: Some(keep(kept)?),
            path: path.to_owned(),
            max,
        })
    }

    /// Nothing writes to it any more: it is within its budget when this resolves.
    pub(crate) async fn finish(mut self) {
        let size = std::fs::symlink_metadata(&self.path).map_or(0, |metadata| metadata.len());
        if size > self.max
            && let Some(keeping) = self.keeping.take()
        {
            keeping.finish().await;
        }
    }

    /// Keeps it so for as long as this process lives.
    pub(crate) fn keep_on(mut self) {
        self.keeping = None;
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        if let Some(keeping) = self.keeping.take() {
            keeping.release();
        }
    }
}

/// Frees a part of a file: from an offset, so many bytes.
type Free = fn(&File, u64, u64) -> rustix::io::Result<()>;

/// The file is locked while a part of it is freed: a writer should not wait for long.
const SLICE: u64 = 4 << 20;

fn punch(file: &File, offset: u64, length: u64) -> rustix::io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let end = offset + length;
    let mut at = offset;
    while at < end {
        let slice = SLICE.min(end - at);
        fallocate(file, flags, at, slice)?;
        at += slice;
    }
    Ok(())
}

/// When to look again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// At this time.
    At(Instant),
    /// At the next write.
    Quiet,
    /// The file is not ours any more.
    Never,
}

/// A file in care.
pub(super) struct Kept {
    path: PathBuf,
    identity: (u64, u64),
    max: u64,
    head: u64,
    block: u64,
    /// Where the freed part ends; 0 when nothing is freed.
    freed: u64,
    last_size: Option<u64>,
    /// Open while it grows: a quiet file costs no descriptor.
    file: Option<Arc<File>>,
    free: Free,
    report: Option<Box<dyn Fn(String) + Send>>,
    pub(super) watch: Option<i32>,
    pub(super) due: Option<Instant>,
}

impl Kept {
    fn new(
        path: &Path,
        max: u64,
        free: Free,
        report: Box<dyn Fn(String) + Send>,
    ) -> io::Result<Self> {
        let file = reading(path)?;
        let metadata = file.metadata()?;
        let max = max.max(LEAST);
        let block = match metadata.blksize() {
            size if size.is_power_of_two() && (4096..=max / 16).contains(&size) => size,
            _ => 4096,
        };
        let found = gap(&file, metadata.len())?;
        let head = (HEAD.min(max / 4) / block * block).max(block);
        Ok(Self {
            path: path.to_owned(),
            identity: (metadata.dev(), metadata.ino()),
            max,
            head,
            block,
            freed: found.map_or(0, |gap| gap.offset + gap.length),
            last_size: Some(metadata.len()),
            file: None,
            free,
            report: Some(report),
            watch: None,
            due: None,
        })
    }

    /// The file, if it is still the one it was: what lies in its place now is not ours to cut.
    pub(super) fn file(&mut self) -> io::Result<Arc<File>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let file = writing(&self.path)?;
        let metadata = file.metadata()?;
        if (metadata.dev(), metadata.ino()) != self.identity {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = Arc::new(file);
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }

    pub(super) fn close(&mut self) {
        self.file = None;
    }

    /// Frees what is too much, and says when to look again.
    pub(super) fn look(&mut self, now: Instant) -> Next {
        let looked = self.file().and_then(|file| self.trim(&file));
        match looked {
            Ok((size, left)) => {
                let quiet = self.last_size == Some(size);
                self.last_size = Some(size);
                if quiet {
                    return Next::Quiet;
                }
                let delay = Duration::from_millis(left / FASTEST);
                Next::At(now + delay.clamp(DELAY.0, DELAY.1))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.tell("output_max does not hold any more: the output file was removed");
                Next::Never
            }
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "an output file cannot be kept within its budget");
                Next::At(now + DELAY.1)
            }
        }
    }

    /// Returns the file's size, and how much it may grow until there is too much again.
    fn trim(&mut self, file: &File) -> io::Result<(u64, u64)> {
        let size = file.metadata()?.len();
        if size < self.freed {
            // Somebody cut it.
            self.freed = 0;
        }
        let room = self.max - self.head;
        let (used, bound) = if self.freed == 0 {
            (size, self.max)
        } else {
            (
                self.head + size.saturating_sub(self.freed),
                self.head + room / 4 * 3,
            )
        };
        if used <= bound {
            return Ok((size, self.max - used));
        }
        let from = self.freed.max(self.head);
        let to = size.saturating_sub(room / 2) / self.block * self.block;
        if to <= from {
            return Ok((size, self.max.saturating_sub(used)));
        }
        match (self.free)(file, from, to - from) {
            Ok(()) => self.freed = to,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                ftruncate(file, self.head)?;
                self.tell("its file system cannot free the middle of a file: output beyond output_max was cut off after the first part");
                return Ok((self.head, room));
            }
            Err(error) => return Err(error.into()),
        }
        Ok((size, self.max.saturating_sub(self.head + (size - to))))
    }

    fn tell(&mut self, text: &str) {
        if let Some(report) = self.report.take() {
            report(text.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
