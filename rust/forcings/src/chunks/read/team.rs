//! The threads that serve the blocks of reads. Blocks are handed out in order, one read after the other, so that no thread
//! waits at the end of a read, and the error of the first damaged block is the one that is returned, on any number of
//! threads.

use super::block::{Begun, Then};
use super::chunk::{fetch_chunks, AT_ONCE};
use super::worker::{lock, Room, Worker};
use super::{Job, Prepared, ReadStats};
use crate::chunks::stored::Needed;
use crate::{Error, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

/// Blocks that are larger, on average, are decoded one at a time.
const MAX_SHARED_BYTES: usize = 16 << 20;

/// Work per thread below which another thread costs more than it saves. Tests have little of it.
const MIN_THREAD_BYTES: usize = if cfg!(test) { 1 } else { 256 << 10 };

/// A read, as far as threads go. Each block is served once.
pub(super) trait Serve: Sync {
    /// The number of blocks.
    fn blocks(&self) -> usize;

    /// The bytes that have to be moved for all of them.
    fn bytes(&self) -> usize;

    /// The objects of a store that they lie in.
    fn needed(&self) -> Option<&Needed<'_>>;

    /// Reads the selected elements of one block, or says which chunk has to be fetched for [`finish`](Self::finish).
    ///
    /// # Errors
    /// Those of the block.
    fn begin<'a>(&'a self, block: usize, room: &'a mut Room, stats: &mut ReadStats) -> Result<Option<Begun<'a>>>;

    /// Reads the selected elements of a block whose chunk was fetched into `room`.
    ///
    /// # Errors
    /// Those of the block.
    fn finish(&self, block: usize, then: Then, room: &mut Room) -> Result<()>;
}

/// The first block that could not be read.
#[derive(Debug)]
pub struct Failure {
    /// The position of its read among those that were given.
    pub read: usize,
    /// What was wrong.
    pub error: Error,
}

/// Runs reads that were prepared, each once, on so many threads together.
///
/// # Errors
/// The error of the first block, in the order of the reads, that could not be read: `Format` for damage, `Selection` where a
/// store is asked for too much at once, `Unsupported` for unknown filters, `Io`. The reads before that one are complete.
pub fn run_all(reads: Vec<Prepared>, threads: usize) -> std::result::Result<ReadStats, Failure> {
    run(&reads.iter().map(|read| &*read.0).collect::<Vec<_>>(), threads)
}

/// The same; who calls runs no read twice.
pub(super) fn run(reads: &[&dyn Serve], threads: usize) -> std::result::Result<ReadStats, Failure> {
    let work = Work::new(reads);
    let end = work.blocks();
    let bytes = reads.iter().fold(0usize, |sum, read| sum.saturating_add(read.bytes()));
    let threads = threads.min(end).min(bytes / MIN_THREAD_BYTES + 1).max(1);
    let needed: Vec<&Needed> = reads.iter().filter_map(|read| read.needed()).collect();
    let next = AtomicUsize::new(0);
    let (failed, stopped) = (AtomicBool::new(false), AtomicBool::new(false));
    let outcome = Mutex::new((ReadStats::default(), None::<(usize, Failure)>));
    // The last ones are handed out one by one, so that the threads end together; and so are large ones, of which two would
    // take too much memory at a time.
    let small = bytes / end.max(1) <= MAX_SHARED_BYTES;
    let several = if threads > 1 { end.saturating_sub(threads) } else { end } / AT_ONCE * usize::from(small);
    let serve = || {
        let mut worker = Worker::hire();
        let mut failure = None;
        while !failed.load(Ordering::Relaxed) {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            let first = turn.min(several) * AT_ONCE + turn.saturating_sub(several);
            if first >= end {
                break;
            }
            let count = if turn < several { AT_ONCE } else { 1 };
            if let Err((block, error)) = work.serve(first..first + count, &mut worker) {
                failed.store(true, Ordering::Relaxed);
                stopped.store(true, Ordering::Relaxed);
                failure = Some((block, Failure { read: work.find(block).0, error }));
            }
        }
        let mut outcome = lock(&outcome);
        outcome.0.add(&worker.stats);
        if let Some((block, failure)) = failure {
            if outcome.1.as_ref().is_none_or(|(other, _)| block < *other) {
                outcome.1 = Some((block, failure));
            }
        }
        drop(outcome);
        worker.dismiss();
    };
    std::thread::scope(|scope| {
        // Where the system refuses another thread, those that there are do the work.
        for _ in 0..Needed::fetchers(&needed) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, || Needed::fetch_all(&needed, &stopped));
        }
        for _ in 1..threads {
            let _ = std::thread::Builder::new().spawn_scoped(scope, serve);
        }
        serve();
    });
    match outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        (stats, None) => Ok(stats),
        (_, Some((_, failure))) => Err(failure),
    }
}

/// The blocks of all reads, one read after the other.
struct Work<'a> {
    reads: &'a [&'a dyn Serve],
    /// For each read the number of blocks up to its end.
    ends: Vec<usize>,
}

impl<'a> Work<'a> {
    fn new(reads: &'a [&'a dyn Serve]) -> Self {
        let mut end = 0;
        let ends = reads.iter().map(|read| {
            end += read.blocks();
            end
        });
        Work { reads, ends: ends.collect() }
    }

    fn blocks(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The position of the read of a block, and that of the block in it.
    fn find(&self, block: usize) -> (usize, usize) {
        let read = self.ends.partition_point(|end| *end <= block);
        (read, block - read.checked_sub(1).map_or(0, |before| self.ends[before]))
    }

    /// Serves up to `AT_ONCE` blocks. After an error, of the first that has one, those behind it are not served.
    fn serve(&self, blocks: Range<usize>, worker: &mut Worker) -> std::result::Result<(), (usize, Error)> {
        let Worker { rooms, stats } = worker;
        let (mut fetches, mut waiting) = ([const { None }; AT_ONCE], [None; AT_ONCE]);
        let mut failure = None;
        for (k, (block, room)) in blocks.clone().zip(rooms.iter_mut()).enumerate() {
            let (read, within) = self.find(block);
            match self.reads[read].begin(within, room, stats) {
                Ok(begun) => (fetches[k], waiting[k]) = begun.map(|Begun { fetch, then }| (fetch, then)).unzip(),
                Err(error) => {
                    failure = Some((block, error));
                    break;
                }
            }
        }
        let fetched = fetch_chunks(fetches);
        for (((block, room), fetched), then) in blocks.zip(rooms).zip(fetched).zip(waiting) {
            if let (Some(fetched), Some(then)) = (fetched, then) {
                let (read, within) = self.find(block);
                fetched.and_then(|()| self.reads[read].finish(within, then, room)).map_err(|error| (block, error))?;
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

impl<T: Copy + Default + Send + Sync> Serve for Option<Job<'_, T>> {
    fn blocks(&self) -> usize {
        self.as_ref().map_or(0, |job| job.items)
    }

    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, |job| job.blocks.work(job.items, job.elements * job.subject.width))
    }

    fn needed(&self) -> Option<&Needed<'_>> {
        self.as_ref()?.needed.as_ref()
    }

    fn begin<'a>(&'a self, block: usize, room: &'a mut Room, stats: &mut ReadStats) -> Result<Option<Begun<'a>>> {
        self.as_ref().map_or(Ok(None), |job| job.begin(block, room, stats))
    }

    fn finish(&self, block: usize, then: Then, room: &mut Room) -> Result<()> {
        self.as_ref().map_or(Ok(()), |job| job.finish(block, then, room))
    }
}
