//! Selected elements of variables, read into buffers: only the blocks that the selections touch, each once, shared by
//! threads. Reads that are prepared together share the threads too.

mod block;
mod chunk;
mod fetch;
mod team;
mod worker;

pub use fetch::fetch_objects;
pub use team::{run_all, Failure};

use super::axis::{AxisPlan, AxisRead};
use super::geometry::{BlockAxis, Blocks, Subject};
use super::output::{Fresh, Target};
use super::stored::{check_bearable, Absent, Needed};
use super::{ByteSource, Layout};
use crate::{Error, Result};
use std::borrow::Cow;
use team::Serve;

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

impl ReadStats {
    fn add(&mut self, other: &ReadStats) {
        self.chunks_inflated += other.chunks_inflated;
        self.bytes_read += other.bytes_read;
        self.blocks_absent += other.blocks_absent;
    }
}

/// Turns a run of stored elements, in file byte order, into as many items.
pub type Convert<'a, T> = dyn Fn(&[u8], &mut [T]) + Sync + 'a;

/// A read whose output is there and whose blocks are known; [`run_all`] runs it.
pub struct Prepared<'a>(Box<dyn Serve + 'a>);

impl<'a> Prepared<'a> {
    /// Prepares to read the selected elements into `out`, row-major, each once. The selection is made along `extents`: what
    /// lies beyond those of the variable holds the fill value. An axis that is read whole must not be shorter than the
    /// variable. `convert` is called on any thread.
    ///
    /// # Errors
    /// `Selection` when a position lies outside its axis or a store is asked for too much at once, `InvalidParameter` when
    /// `out` has not as many items as are selected, `Format` when the layout does not fit the shape.
    pub fn new<T: Copy + Default + Send + Sync>(
        request: &ReadRequest<'a>,
        extents: &[u64],
        out: Target<'a, T>,
        convert: &'a Convert<'a, T>,
    ) -> Result<Self> {
        Ok(Prepared(Box::new(prepare(request, extents, out, Sink { items: 1, convert, as_bytes: None })?)))
    }
}

/// Reads the selected elements into `out`, row-major; each item is written once. `convert` is called on any of `threads`
/// threads. After an error the content of `out` is unspecified.
///
/// # Errors
/// Those of [`Prepared::new`], `Format` when the file is damaged, `Unsupported` for unknown filters, `Io`.
pub fn read_into<T: Copy + Default + Send + Sync>(
    request: &ReadRequest,
    out: &mut [T],
    threads: usize,
    convert: &Convert<T>,
) -> Result<ReadStats> {
    run(&prepare(request, request.shape, Target::of(out), Sink { items: 1, convert, as_bytes: None })?, threads)
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
    let refused = |_| {
        let detail = format!("{}: there is no memory for {len} elements", request.what);
        Error::format(request.source.path(), detail)
    };
    let mut out = Fresh::new(len, len).map_err(refused)?;
    run(&prepare(request, request.shape, out.whole(), Sink { items: 1, convert, as_bytes: None })?, threads)?;
    Ok(out.finish())
}

/// Reads the selected elements as they are stored, `element_width` bytes each; without a copy in between where one run
/// of the file is one run of `out`. Otherwise as [`read_into`].
///
/// # Errors
/// As [`read_into`].
pub fn read_bytes_into(request: &ReadRequest, out: &mut [u8], threads: usize) -> Result<ReadStats> {
    let convert = |from: &[u8], to: &mut [u8]| to.copy_from_slice(from);
    let sink = Sink { items: request.element_width, convert: &convert, as_bytes: Some(|out| out) };
    run(&prepare(request, request.shape, Target::of(out), sink)?, threads)
}

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
    fill: Cow<'a, [u8]>,
    sink: Sink<'a, T>,
    out: Target<'a, T>,
    /// Selected elements.
    elements: usize,
    /// Touched blocks.
    items: usize,
}

fn run(job: &dyn Serve, threads: usize) -> Result<ReadStats> {
    team::run(&[job], threads).map_err(|failure| failure.error)
}

/// Finds the blocks of a read; `None` where there are none. Where more is selected than the variable has, an element is an
/// item, and all of them start as the fill value. It is converted in that case only: it may be a number that an item cannot
/// hold.
fn prepare<'a, T: Copy + Default + Send + Sync>(
    request: &ReadRequest<'a>,
    extents: &[u64],
    mut out: Target<'a, T>,
    sink: Sink<'a, T>,
) -> Result<Option<Job<'a, T>>> {
    let ReadRequest { source, layout, shape, element_width: width, fill, axes, what } = *request;
    let counts = check(request, extents)?;
    let wanted = counts.iter().try_fold(sink.items as u64, |n, c| n.checked_mul(*c));
    if wanted != Some(out.len() as u64) {
        return Err(Error::invalid(format!(
            "the selection of {what} has shape {counts:?}, which does not fit a buffer of {} items",
            out.len()
        )));
    }
    if out.len() == 0 {
        return Ok(None);
    }
    let fill = fill.map_or_else(|| Cow::Owned(vec![0; width]), Cow::Borrowed);
    if shape != extents && !is_written(axes, shape, &counts) {
        let mut cell = [T::default()];
        (sink.convert)(&fill, &mut cell);
        out.fill(cell[0]);
        if shape.contains(&0) {
            return Ok(None);
        }
    }
    let subject = Subject { source, layout, shape, width, what };
    let blocks = Blocks::new(&subject, axes, &counts)?;
    let plans = plan(&blocks, &subject, axes, &counts)?;
    let mut out_strides = vec![1; plans.len()];
    for axis in (1..plans.len()).rev() {
        out_strides[axis - 1] = out_strides[axis] * counts[axis] as usize * blocks.axes[axis].unit as usize;
    }
    let items = plans.iter().map(|p| p.touched.len()).product();
    let elements = out.len() / sink.items;
    let needed = blocks.stored().map(|stored| Needed::new(stored, shape.len(), &plans));
    let absent = Absent::default();
    Ok(Some(Job { subject, blocks, needed, absent, plans, out_strides, fill, sink, out, elements, items }))
}

/// Checks that the parts of a request fit each other; the number of positions along each axis.
fn check(request: &ReadRequest, extents: &[u64]) -> Result<Vec<u64>> {
    let ReadRequest { shape, element_width: width, fill, axes, what, .. } = *request;
    if axes.len() != shape.len() || extents.len() != shape.len() || width == 0 || fill.is_some_and(|f| f.len() != width)
    {
        return Err(Error::invalid(format!(
            "{what} has {} axes of elements of {width} bytes; {} selections and a fill value of {} bytes were given",
            shape.len(),
            axes.len(),
            fill.map_or(0, <[u8]>::len)
        )));
    }
    if axes.iter().zip(shape).zip(extents).any(|((read, own), extent)| *read == AxisRead::All && extent < own) {
        return Err(Error::invalid(format!("{what} of shape {shape:?} is read whole along the extents {extents:?}")));
    }
    axes.iter().zip(extents).enumerate().map(|(axis, (read, extent))| read.count(*extent, what, axis)).collect()
}

/// Whether a selection of `counts` positions lies within a variable of these extents.
fn is_written(axes: &[AxisRead], shape: &[u64], counts: &[u64]) -> bool {
    axes.iter().zip(shape).zip(counts).all(|((read, extent), count)| match read {
        AxisRead::All => count <= extent,
        AxisRead::Slice { start, step, .. } => start + (count - 1) * step < *extent,
        AxisRead::Indices(list) => list.iter().all(|position| position < extent),
    })
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

#[cfg(test)]
mod tests;
