//! Selected elements of one variable, read into a caller's buffer: only the blocks that the selection touches, each
//! once, shared by threads.

mod block;
mod fetch;

pub use fetch::fetch_objects;

use super::axis::{AxisPlan, AxisRead};
use super::geometry::{BlockAxis, Blocks, Subject};
use super::output::{expect_writes, SharedOutput};
use super::stored::{check_bearable, Absent, Needed};
use super::{ByteSource, Layout, ObjectScratch, Scratch};
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// What is read of which variable.
#[derive(Clone, Copy)]
pub struct ReadRequest<'a> {
    /// The bytes that the layout points into.
    pub source: &'a dyn ByteSource,
    /// Where the elements lie.
    pub layout: &'a Layout,
    /// The extents of the variable, slowest first; empty for a scalar.
    pub shape: &'a [u64],
    /// Bytes of one element.
    pub element_width: usize,
    /// The element, as stored, of cells that were never written; zeros if there is none.
    pub fill: Option<&'a [u8]>,
    /// What is read along each axis.
    pub axes: &'a [AxisRead],
    /// The variable's name for error texts, such as `variable "u"`.
    pub what: &'a str,
}

/// What a read cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadStats {
    /// Chunks whose filters were undone.
    pub chunks_inflated: u64,
    /// Bytes read from the source.
    pub bytes_read: u64,
    /// Blocks that were never written, whose cells are the fill value.
    pub blocks_absent: u64,
}

/// Turns a run of stored elements, in file byte order, into as many items.
pub type Convert<'a, T> = dyn Fn(&[u8], &mut [T]) + Sync + 'a;

/// Reads the selected elements into `out`, row-major; each item is written once. `convert` is called on any of `threads`
/// threads. After an error the content of `out` is unspecified.
///
/// # Errors
/// `Selection` when a position lies outside its axis or a store is asked for too much at once, `InvalidParameter` when
/// `out` has not as many items as are selected, `Format` when the file is damaged or its layout does not fit the shape,
/// `Unsupported` for unknown filters, `Io`.
pub fn read_into<T: Copy + Send + Sync>(
    request: &ReadRequest,
    out: &mut [T],
    threads: usize,
    convert: &Convert<T>,
) -> Result<ReadStats> {
    read(request, SharedOutput::new(out), threads, &Sink { items: 1, convert, as_bytes: None })
}

/// Reads the selected elements, `len` of them, into memory of their own, which is written once. Otherwise as
/// [`read_into`].
///
/// # Errors
/// As [`read_into`], and `Format` when there is no memory for them.
pub fn read_new<T: Copy + Default + Send + Sync>(
    request: &ReadRequest,
    len: usize,
    threads: usize,
    convert: &Convert<T>,
) -> Result<Vec<T>> {
    let mut out = Vec::new();
    let refused = |_| {
        let detail = format!("{}: there is no memory for {len} elements", request.what);
        Error::format(request.source.path(), detail)
    };
    out.try_reserve_exact(len).map_err(refused)?;
    let room = &mut out.spare_capacity_mut()[..len];
    expect_writes(room);
    let shared = SharedOutput::of_uninit(room, T::default());
    read(request, shared, threads, &Sink { items: 1, convert, as_bytes: None })?;
    // SAFETY: a read that succeeds has served every touched block, and so handed out, initialised, every position of the
    // output: each belongs to one run (`AxisPlan`), and `len` was found to be the product of what is selected.
    unsafe { out.set_len(len) };
    Ok(out)
}

/// Reads the selected elements as they are stored, `element_width` bytes each; without a copy in between where one run
/// of the file is one run of `out`. Otherwise as [`read_into`].
///
/// # Errors
/// As [`read_into`].
pub fn read_bytes_into(request: &ReadRequest, out: &mut [u8], threads: usize) -> Result<ReadStats> {
    let convert = |from: &[u8], to: &mut [u8]| to.copy_from_slice(from);
    let shared = SharedOutput::new(out);
    read(request, shared, threads, &Sink { items: request.element_width, convert: &convert, as_bytes: Some(|out| out) })
}

/// Work per thread below which another thread costs more than it saves.
const MIN_THREAD_BYTES: usize = 256 << 10;

type AsBytes<T> = fn(&mut [T]) -> &mut [u8];

/// How elements become items of the output.
struct Sink<'a, T> {
    /// Items per element.
    items: usize,
    convert: &'a Convert<'a, T>,
    /// The items as the stored bytes that they are, if so.
    as_bytes: Option<AsBytes<T>>,
}

/// A read, ready to be shared by threads.
struct Job<'a, T> {
    subject: Subject<'a>,
    blocks: Blocks<'a>,
    /// The objects of a store, where it is read.
    needed: Option<Needed<'a>>,
    absent: Absent,
    plans: Vec<AxisPlan>,
    /// Elements of the output from one position of a plan's axis to the next.
    out_strides: Vec<usize>,
    fill: &'a [u8],
    sink: &'a Sink<'a, T>,
    out: SharedOutput<'a, T>,
    /// Selected elements.
    elements: usize,
    /// Touched blocks.
    items: usize,
}

/// The state of one thread.
#[derive(Default)]
struct Worker {
    scratch: Scratch,
    objects: ObjectScratch,
    block: Vec<u8>,
    picked: Vec<u8>,
    stats: ReadStats,
}

/// What workers have left for the next ones: their buffers are as large as chunks, and warm.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Workers that are kept, and the most that the buffers of each may hold.
const MAX_IDLE: usize = 16;
const MAX_IDLE_BYTES: usize = 4 << 20;

impl Worker {
    fn hire() -> Self {
        lock(&IDLE).pop().unwrap_or_default()
    }

    fn dismiss(mut self) {
        self.stats = ReadStats::default();
        let buffers = [self.scratch.capacity(), self.objects.capacity(), self.block.capacity(), self.picked.capacity()];
        if buffers.iter().sum::<usize>() <= MAX_IDLE_BYTES {
            let mut idle = lock(&IDLE);
            if idle.len() < MAX_IDLE {
                idle.push(self);
            }
        }
    }
}

/// What a panic leaves behind here is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn read<T: Copy + Send + Sync>(
    request: &ReadRequest,
    out: SharedOutput<T>,
    threads: usize,
    sink: &Sink<T>,
) -> Result<ReadStats> {
    let ReadRequest { source, layout, shape, element_width: width, fill, axes, what } = *request;
    let counts = check(request)?;
    let wanted = counts.iter().try_fold(sink.items as u64, |n, c| n.checked_mul(*c));
    if wanted != Some(out.len() as u64) {
        return Err(Error::invalid(format!(
            "the selection of {what} has shape {counts:?}, which does not fit a buffer of {} items",
            out.len()
        )));
    }
    if out.len() == 0 {
        return Ok(ReadStats::default());
    }
    let subject = Subject { source, layout, shape, width, what };
    let blocks = Blocks::new(&subject, axes)?;
    let plans = plan(&blocks, &subject, axes, &counts)?;
    let mut out_strides = vec![1; plans.len()];
    for axis in (1..plans.len()).rev() {
        out_strides[axis - 1] = out_strides[axis] * counts[axis] as usize * blocks.axes[axis].unit as usize;
    }
    let zeros = vec![0; width];
    let items = plans.iter().map(|p| p.touched.len()).product();
    let fill = fill.unwrap_or(&zeros);
    let elements = out.len() / sink.items;
    let needed = blocks.stored().map(|stored| Needed::new(stored, shape.len(), &plans));
    let absent = Absent::default();
    let job = Job { subject, blocks, needed, absent, plans, out_strides, fill, sink, out, elements, items };
    job.run(threads)
}

/// Checks that the parts of a request fit each other; the number of positions along each axis.
fn check(request: &ReadRequest) -> Result<Vec<u64>> {
    let ReadRequest { shape, element_width: width, fill, axes, what, .. } = *request;
    if axes.len() != shape.len() || width == 0 || fill.is_some_and(|f| f.len() != width) {
        return Err(Error::invalid(format!(
            "{what} has {} axes of elements of {width} bytes; {} selections and a fill value of {} bytes were given",
            shape.len(),
            axes.len(),
            fill.map_or(0, <[u8]>::len)
        )));
    }
    axes.iter().zip(shape).enumerate().map(|(axis, (read, extent))| read.count(*extent, what, axis)).collect()
}

/// How the reads of `counts` positions along the axes split over the blocks.
fn plan(blocks: &Blocks, subject: &Subject, axes: &[AxisRead], counts: &[u64]) -> Result<Vec<AxisPlan>> {
    if blocks.stored().is_some() {
        check_bearable(blocks, subject, counts)?;
    }
    let of_axis = |b: &BlockAxis| match axes.get(b.axis) {
        Some(read) => AxisPlan::new(read, subject.shape[b.axis], b.unit, b.extent),
        None => AxisPlan::new(&AxisRead::All, 1, 1, 1),
    };
    Ok(blocks.axes.iter().map(of_axis).collect())
}

impl<T: Copy + Send + Sync> Job<'_, T> {
    /// Serves every touched block. With several threads they are handed out in order, so that the error of the first
    /// damaged block is the one that is returned, on any number of threads.
    fn run(&self, threads: usize) -> Result<ReadStats> {
        let worth = self.blocks.work(self.items, self.elements * self.subject.width) / MIN_THREAD_BYTES + 1;
        let threads = threads.min(self.items).min(worth).max(1);
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let outcome = Mutex::new((ReadStats::default(), None::<(usize, Error)>));
        let work = || {
            let mut worker = Worker::hire();
            let mut error = None;
            while !failed.load(Ordering::Relaxed) {
                let item = next.fetch_add(1, Ordering::Relaxed);
                if item >= self.items {
                    break;
                }
                if let Err(e) = self.serve(item, &mut worker) {
                    failed.store(true, Ordering::Relaxed);
                    self.needed.iter().for_each(Needed::stop);
                    error = Some((item, e));
                }
            }
            let mut outcome = lock(&outcome);
            outcome.0.chunks_inflated += worker.stats.chunks_inflated;
            outcome.0.bytes_read += worker.stats.bytes_read;
            outcome.0.blocks_absent += worker.stats.blocks_absent;
            if let Some((item, e)) = error {
                if outcome.1.as_ref().is_none_or(|(other, _)| item < *other) {
                    outcome.1 = Some((item, e));
                }
            }
            drop(outcome);
            worker.dismiss();
        };
        std::thread::scope(|scope| {
            // Where the system refuses another thread, those that there are do the work.
            for needed in self.needed.iter().flat_map(|n| std::iter::repeat_n(n, n.fetchers())) {
                let _ = std::thread::Builder::new().spawn_scoped(scope, || needed.fetch_all());
            }
            for _ in 1..threads {
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        match outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            (stats, None) => Ok(stats),
            (_, Some((_, error))) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
