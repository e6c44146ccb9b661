//! Selected elements of one variable, read into a caller's buffer: only the blocks that the selection touches, each
//! once, shared by threads.

use super::axis::{AxisPlan, AxisRead, Run, Touched};
use super::filters::{check_expansion, grown};
use super::geometry::{Blocks, Place, Subject};
use super::output::SharedOutput;
use super::{fetch_chunk, ByteSource, ChunkSite, Layout, Scratch};
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

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
}

/// Turns a run of stored elements, in file byte order, into as many items.
pub type Convert<'a, T> = dyn Fn(&[u8], &mut [T]) + Sync + 'a;

/// Reads the selected elements into `out`, row-major; each item is written once. `convert` is called on any of `threads`
/// threads. After an error the content of `out` is unspecified.
///
/// # Errors
/// `Selection` when a position lies outside its axis, `InvalidParameter` when `out` has not as many items as are
/// selected, `Format` when the file is damaged or its layout does not fit the shape, `Unsupported` for unknown filters,
/// `Io`.
pub fn read_into<T: Copy + Send + Sync>(
    request: &ReadRequest,
    out: &mut [T],
    threads: usize,
    convert: &Convert<T>,
) -> Result<ReadStats> {
    read(request, out, threads, &Sink { items: 1, convert, as_bytes: None })
}

/// Reads the selected elements as they are stored, `element_width` bytes each; without a copy in between where one run
/// of the file is one run of `out`. Otherwise as [`read_into`].
///
/// # Errors
/// As [`read_into`].
pub fn read_bytes_into(request: &ReadRequest, out: &mut [u8], threads: usize) -> Result<ReadStats> {
    let convert = |from: &[u8], to: &mut [u8]| to.copy_from_slice(from);
    read(request, out, threads, &Sink { items: request.element_width, convert: &convert, as_bytes: Some(|out| out) })
}

/// Work per thread below which another thread costs more than it saves.
const MIN_THREAD_BYTES: usize = 256 << 10;

/// A read is charged as many bytes; so many may be read in vain to save one.
const READ_COST: u64 = 16 << 10;

/// The most bytes that are read at once to pick elements from.
const MAX_SPAN: u64 = 4 << 20;

/// The bytes of one step when a long run goes through a buffer: they stay in the processor's cache.
const STEP_BYTES: usize = 256 << 10;

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
    block: Vec<u8>,
    picked: Vec<u8>,
    stats: ReadStats,
}

fn read<T: Copy + Send + Sync>(
    request: &ReadRequest,
    out: &mut [T],
    threads: usize,
    sink: &Sink<T>,
) -> Result<ReadStats> {
    let ReadRequest { source, layout, shape, element_width: width, fill, axes, what } = *request;
    if axes.len() != shape.len() || width == 0 || fill.is_some_and(|f| f.len() != width) {
        return Err(Error::invalid(format!(
            "{what} has {} axes of elements of {width} bytes; {} selections and a fill value of {} bytes were given",
            shape.len(),
            axes.len(),
            fill.map_or(0, <[u8]>::len)
        )));
    }
    let mut counts = Vec::with_capacity(shape.len());
    for (axis, (read, extent)) in axes.iter().zip(shape).enumerate() {
        counts.push(read.count(*extent, what, axis)?);
    }
    let wanted = counts.iter().try_fold(sink.items as u64, |n, c| n.checked_mul(*c));
    if wanted != Some(out.len() as u64) {
        return Err(Error::invalid(format!(
            "the selection of {what} has shape {counts:?}, which does not fit a buffer of {} items",
            out.len()
        )));
    }
    if out.is_empty() {
        return Ok(ReadStats::default());
    }
    let subject = Subject { source, layout, shape, width, what };
    let blocks = Blocks::new(&subject, axes)?;
    let plans: Vec<AxisPlan> = blocks
        .axes
        .iter()
        .map(|b| match axes.get(b.axis) {
            Some(read) => AxisPlan::new(read, shape[b.axis], b.unit, b.extent),
            None => AxisPlan::new(&AxisRead::All, 1, 1, 1),
        })
        .collect();
    let mut out_strides = vec![1; plans.len()];
    for axis in (1..plans.len()).rev() {
        out_strides[axis - 1] = out_strides[axis] * counts[axis] as usize * blocks.axes[axis].unit as usize;
    }
    let zeros = vec![0; width];
    let items = plans.iter().map(|p| p.touched.len()).product();
    let fill = fill.unwrap_or(&zeros);
    let elements = out.len() / sink.items;
    let job = Job { subject, blocks, plans, out_strides, fill, sink, out: SharedOutput::new(out), elements, items };
    job.run(threads)
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
            let mut worker = Worker::default();
            let mut error = None;
            while !failed.load(Ordering::Relaxed) {
                let item = next.fetch_add(1, Ordering::Relaxed);
                if item >= self.items {
                    break;
                }
                if let Err(e) = self.serve(item, &mut worker) {
                    failed.store(true, Ordering::Relaxed);
                    error = Some((item, e));
                }
            }
            let mut outcome = outcome.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            outcome.0.chunks_inflated += worker.stats.chunks_inflated;
            outcome.0.bytes_read += worker.stats.bytes_read;
            if let Some((item, e)) = error {
                if outcome.1.as_ref().is_none_or(|(other, _)| item < *other) {
                    outcome.1 = Some((item, e));
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        match outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            (stats, None) => Ok(stats),
            (_, Some((_, error))) => Err(error),
        }
    }

    /// Reads the selected elements of one block.
    fn serve(&self, mut item: usize, worker: &mut Worker) -> Result<()> {
        let mut touched: Vec<&Touched> = Vec::with_capacity(self.plans.len());
        for plan in self.plans.iter().rev() {
            touched.push(&plan.touched[item % plan.touched.len()]);
            item /= plan.touched.len();
        }
        touched.reverse();
        let coords: Vec<u64> = touched.iter().map(|t| t.coord).collect();
        match self.blocks.place(&coords, &self.subject)? {
            Place::Absent => self.each_run(&touched, &mut |_, out, run| {
                self.fill(out, run.len);
                Ok(())
            }),
            Place::Memory(bytes) => self.scatter(&touched, bytes, 0, &mut worker.picked),
            Place::Plain(offset) => self.read_plain(&touched, offset, worker),
            Place::Filtered { chunk, entry } => {
                let Subject { source, what, .. } = self.subject;
                let site = ChunkSite { path: source.path(), what, chunk };
                let filters = self.blocks.filters();
                let Worker { scratch, block, picked, stats } = worker;
                stats.chunks_inflated += 1;
                stats.bytes_read += u64::from(entry.size);
                if let Some(target) = self.whole_block(&touched) {
                    return fetch_chunk(source, entry, filters, target, scratch, &site);
                }
                check_expansion(entry, filters, self.blocks.bytes, &site)?;
                let block = grown(block, self.blocks.bytes, &site)?;
                fetch_chunk(source, entry, filters, block, scratch, &site)?;
                self.scatter(&touched, block, 0, picked)
            }
        }
    }

    /// The part of the output that is this block, byte for byte, if there is one.
    fn whole_block(&self, touched: &[&Touched]) -> Option<&mut [u8]> {
        let as_bytes = self.sink.as_bytes?;
        let run = self.single_run(touched)?;
        (run.1.len * self.subject.width == self.blocks.bytes).then(|| as_bytes(self.items(run.0, run.1.len)))
    }

    /// The position in the output and the run, when the selected part of the block is one run of stride 1.
    fn single_run(&self, touched: &[&Touched]) -> Option<(usize, Run)> {
        let mut found = None;
        let one =
            touched.iter().all(|t| t.runs.len() == 1) && touched[..touched.len() - 1].iter().all(|t| t.count == 1);
        if one {
            self.each_run(touched, &mut |_, out, run| {
                found = self.is_dense(run).then_some((out, *run));
                Ok(())
            })
            .ok()?;
        }
        found
    }

    /// Reads elements that lie at `offset` one by one: in one go where they are close, else run by run.
    fn read_plain(&self, touched: &[&Touched], offset: u64, worker: &mut Worker) -> Result<()> {
        let Worker { block, picked, stats, .. } = worker;
        let source = self.subject.source;
        let width = self.subject.width as u64;
        let path = source.path();
        let site = ChunkSite { path, what: self.subject.what, chunk: 0 };
        let axes = &self.blocks.axes;
        let low: u64 = axes.iter().zip(touched).map(|(a, t)| t.bounds.0 * a.stride).sum();
        let high: u64 = axes.iter().zip(touched).map(|(a, t)| t.bounds.1 * a.stride).sum::<u64>() + width;
        let (last, outer) = touched.split_last().expect("there is at least one axis");
        let rows = outer.iter().fold(1u64, |n, t| n.saturating_mul(t.count as u64));
        let inner = &self.plans[outer.len()].runs[last.runs.clone()];
        let reads = rows.saturating_mul(inner.iter().map(|r| if self.is_dense(r) { 1 } else { r.len as u64 }).sum());
        let selected = rows.saturating_mul(last.count as u64).saturating_mul(width);
        let span = high - low;
        if reads > 1 && span <= MAX_SPAN && span <= selected.saturating_add((reads - 1).saturating_mul(READ_COST)) {
            let block = grown(block, span as usize, &site)?;
            source.read_at(offset + low, block)?;
            stats.bytes_read += span;
            return self.scatter(touched, block, low, picked);
        }
        stats.bytes_read += selected;
        let step = (STEP_BYTES as u64 / width).max(1);
        self.each_run(touched, &mut |src, out, run| {
            let (mut at, mut done) = (offset + src, 0);
            let dense = self.is_dense(run);
            if let (Some(as_bytes), true) = (self.sink.as_bytes, dense) {
                return source.read_at(at, as_bytes(self.items(out, run.len)));
            }
            while done < run.len {
                let len = if dense { (run.len - done).min(step as usize) } else { 1 };
                let bytes = grown(picked, len * width as usize, &site)?;
                source.read_at(at, bytes)?;
                (self.sink.convert)(bytes, self.items(out + done, len));
                at = at.wrapping_add_signed(self.step(run).wrapping_mul(len as i64));
                done += len;
            }
            Ok(())
        })
    }

    /// Converts the selected elements of a block whose bytes from `low` on are `bytes`.
    fn scatter(&self, touched: &[&Touched], bytes: &[u8], low: u64, picked: &mut Vec<u8>) -> Result<()> {
        let width = self.subject.width;
        let step = (STEP_BYTES / width).max(1);
        self.each_run(touched, &mut |src, out, run| {
            let start = (src - low) as usize;
            if self.is_dense(run) {
                (self.sink.convert)(&bytes[start..start + run.len * width], self.items(out, run.len));
                return Ok(());
            }
            let (mut at, mut done) = (start, 0);
            while done < run.len {
                let len = (run.len - done).min(step);
                picked.clear();
                for _ in 0..len {
                    picked.extend_from_slice(&bytes[at..at + width]);
                    at = at.wrapping_add_signed(self.step(run) as isize);
                }
                (self.sink.convert)(picked, self.items(out + done, len));
                done += len;
            }
            Ok(())
        })
    }

    fn fill(&self, out: usize, len: usize) {
        let cells = self.items(out, len);
        let items = self.sink.items;
        (self.sink.convert)(self.fill, &mut cells[..items]);
        let mut done = items;
        while done < cells.len() {
            let more = done.min(cells.len() - done);
            cells.copy_within(..more, done);
            done += more;
        }
    }

    /// Calls `f` with every run of the block: its first byte within the block, its first element in the output.
    fn each_run(&self, touched: &[&Touched], f: &mut dyn FnMut(u64, usize, &Run) -> Result<()>) -> Result<()> {
        self.each_run_from(touched, 0, 0, 0, f)
    }

    fn each_run_from(
        &self,
        touched: &[&Touched],
        axis: usize,
        src: u64,
        out: usize,
        f: &mut dyn FnMut(u64, usize, &Run) -> Result<()>,
    ) -> Result<()> {
        let stride = self.blocks.axes[axis].stride;
        for run in &self.plans[axis].runs[touched[axis].runs.clone()] {
            if axis + 1 == self.plans.len() {
                f(src + run.src * stride, out + run.out, run)?;
                continue;
            }
            for k in 0..run.len {
                let src = src + run.src.wrapping_add_signed(run.stride * k as i64) * stride;
                self.each_run_from(touched, axis + 1, src, out + (run.out + k) * self.out_strides[axis], f)?;
            }
        }
        Ok(())
    }

    /// Bytes from one element of a run to the next, within its block.
    fn step(&self, run: &Run) -> i64 {
        run.stride.wrapping_mul(self.blocks.axes[self.blocks.axes.len() - 1].stride as i64)
    }

    /// Whether the elements of a run follow each other without gaps.
    fn is_dense(&self, run: &Run) -> bool {
        run.len == 1 || self.step(run) == self.subject.width as i64
    }

    /// The items of `len` elements of the output.
    #[allow(clippy::mut_from_ref, reason = "see the SAFETY line")]
    fn items(&self, first: usize, len: usize) -> &mut [T] {
        // SAFETY: each position of the output belongs to one run of one block, since each position of an axis belongs
        // to one run (`AxisPlan`); each block is served once (`next`), and a run's slice is dropped before the next.
        unsafe { self.out.part(first * self.sink.items, len * self.sink.items) }
    }
}

#[cfg(test)]
mod tests;
