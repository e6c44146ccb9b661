//! The threads that serve the blocks of reads. Blocks are handed out in order, one read after the other, so that no thread
//! waits at the end of a read, and the error of the first damaged block is the one that is returned, on any number of
//! threads.

use super::worker::{lock, Worker};
use super::{Job, Prepared, ReadStats};
use crate::chunks::stored::Needed;
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

/// Work per thread below which another thread costs more than it saves.
const MIN_THREAD_BYTES: usize = 256 << 10;

/// A read, as far as threads go. Each block is served once.
pub(super) trait Serve: Sync {
    /// The number of blocks.
    fn blocks(&self) -> usize;

    /// The bytes that have to be moved for all of them.
    fn bytes(&self) -> usize;

    /// The objects of a store that they lie in.
    fn needed(&self) -> Option<&Needed<'_>>;

    /// Reads the selected elements of one block.
    fn serve(&self, block: usize, worker: &mut Worker) -> Result<()>;
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
    let mut end = 0;
    let ends: Vec<usize> = reads
        .iter()
        .map(|read| {
            end += read.blocks();
            end
        })
        .collect();
    let bytes = reads.iter().fold(0usize, |sum, read| sum.saturating_add(read.bytes()));
    let threads = threads.min(end).min(bytes / MIN_THREAD_BYTES + 1).max(1);
    let needed: Vec<&Needed> = reads.iter().filter_map(|read| read.needed()).collect();
    let next = AtomicUsize::new(0);
    let (failed, stopped) = (AtomicBool::new(false), AtomicBool::new(false));
    let outcome = Mutex::new((ReadStats::default(), None::<(usize, Failure)>));
    let work = || {
        let mut worker = Worker::hire();
        let mut failure = None;
        while !failed.load(Ordering::Relaxed) {
            let item = next.fetch_add(1, Ordering::Relaxed);
            if item >= end {
                break;
            }
            let read = ends.partition_point(|end| *end <= item);
            let first = ends[read] - reads[read].blocks();
            if let Err(error) = reads[read].serve(item - first, &mut worker) {
                failed.store(true, Ordering::Relaxed);
                stopped.store(true, Ordering::Relaxed);
                failure = Some((item, Failure { read, error }));
            }
        }
        let mut outcome = lock(&outcome);
        outcome.0.add(&worker.stats);
        if let Some((item, failure)) = failure {
            if outcome.1.as_ref().is_none_or(|(other, _)| item < *other) {
                outcome.1 = Some((item, failure));
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
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    match outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        (stats, None) => Ok(stats),
        (_, Some((_, failure))) => Err(failure),
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

    fn serve(&self, block: usize, worker: &mut Worker) -> Result<()> {
        self.as_ref().map_or(Ok(()), |job| job.serve(block, worker))
    }
}
