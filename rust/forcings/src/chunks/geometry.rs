//! A layout seen as a grid of equal blocks: where each lies, and how its elements follow each other. Contiguous data
//! are cut into blocks of about a MiB, so that several threads can share them.

use super::stored::{strides, StoredChunks};
use super::{AxisRead, ByteSource, ChunkEntry, ChunkTable, Filter, Layout};
use crate::{Error, Result};

/// The bytes of one block of contiguous data.
const BLOCK_BYTES: u64 = 1 << 20;

/// The variable that is read, as far as its place in the file goes.
pub(super) struct Subject<'a> {
    pub source: &'a dyn ByteSource,
    pub layout: &'a Layout,
    pub shape: &'a [u64],
    pub width: usize,
    pub what: &'a str,
}

impl Subject<'_> {
    pub(super) fn damaged(&self, detail: impl std::fmt::Display) -> Error {
        Error::format(self.source.path(), format!("{}: {detail}", self.what))
    }
}

/// One axis of the grid of blocks. Trailing axes that are read whole and lie densely are joined to the axis before.
#[derive(Debug, Clone)]
pub(super) struct BlockAxis {
    /// The axis of the variable.
    pub axis: usize,
    /// Elements of a block along this axis.
    pub extent: u64,
    /// The elements that one position of the axis stands for: 1, or the product of the joined axes.
    pub unit: u64,
    /// Bytes from one element to the next, within a block.
    pub stride: u64,
}

/// Where a block lies.
pub(super) enum Place<'a> {
    /// Its elements can be read one by one, from this offset of the source on.
    Plain(u64),
    /// In memory.
    Memory(&'a [u8]),
    /// It has to be decoded as a whole.
    Filtered { chunk: usize, entry: ChunkEntry },
    /// In an object of a store.
    Stored,
    /// Nowhere: its cells hold the fill value.
    Absent,
}

enum Kind<'a> {
    Plain(u64),
    Memory(&'a [u8]),
    Chunked(&'a ChunkTable),
    Stored(&'a StoredChunks),
    Absent,
}

/// The blocks of a variable.
pub(super) struct Blocks<'a> {
    /// At least one axis.
    pub axes: Vec<BlockAxis>,
    /// Bytes of one block in memory.
    pub bytes: usize,
    kind: Kind<'a>,
}

impl<'a> Blocks<'a> {
    /// The blocks of `subject`, for a read of `reads`, which select `counts` positions.
    ///
    /// # Errors
    /// `Format` when the layout contradicts the shape, or its offsets overflow.
    pub(super) fn new(subject: &Subject<'a>, reads: &[AxisRead], counts: &[u64]) -> Result<Self> {
        let too_large = || subject.damaged("its extents are too large");
        let width = subject.width as u64;
        let (kind, extents) = match subject.layout {
            Layout::Contiguous { offset } | Layout::Records { offset, .. } => (Kind::Plain(*offset), subject.shape),
            Layout::Compact(bytes) => (Kind::Memory(bytes), subject.shape),
            Layout::Unallocated => (Kind::Absent, subject.shape),
            Layout::Chunked(table) => {
                check_table(subject, table)?;
                (Kind::Chunked(table), &table.chunk_shape[..])
            }
            Layout::Stored(stored) => {
                check_stored(subject, stored)?;
                (Kind::Stored(stored), &stored.chunk_shape[..])
            }
        };
        let mut stride = width;
        let mut axes = vec![BlockAxis { axis: 0, extent: 1, unit: 1, stride }; extents.len().max(1)];
        for (axis, &extent) in extents.iter().enumerate().rev() {
            axes[axis] = BlockAxis { axis, extent, unit: 1, stride };
            stride = stride.checked_mul(extent).ok_or_else(too_large)?;
        }
        if let (Layout::Records { stride, .. }, Some(first)) = (subject.layout, axes.first_mut()) {
            first.stride = *stride;
        }
        if let Kind::Stored(stored) = kind {
            let (strides, _) = strides(stored, width).ok_or_else(too_large)?;
            axes.iter_mut().zip(strides).for_each(|(axis, stride)| axis.stride = stride);
        }
        let bytes = usize::try_from(stride).map_err(|_| too_large())?;
        match kind {
            Kind::Memory(stored) if stored.len() < bytes => {
                return Err(subject.damaged(format_args!("{} bytes are stored, {bytes} are expected", stored.len())))
            }
            // So that no sum of an offset and a position can overflow.
            Kind::Plain(offset) => {
                let last = axes
                    .iter()
                    .try_fold(offset, |end, a| end.checked_add(a.extent.saturating_sub(1).checked_mul(a.stride)?));
                last.and_then(|l| l.checked_add(width)).ok_or_else(too_large)?;
            }
            _ => {}
        }
        // The objects of a store are found by the coordinates of all axes.
        if !matches!(kind, Kind::Stored(_)) {
            join(&mut axes, subject.shape, reads, counts);
        }
        if !matches!(kind, Kind::Chunked(_) | Kind::Stored(_)) {
            let mut room = (BLOCK_BYTES / width).max(1);
            for axis in axes.iter_mut().rev() {
                axis.extent = axis.extent.clamp(1, room);
                room /= axis.extent;
            }
        }
        Ok(Blocks { axes, bytes, kind })
    }

    /// Where the block at these coordinates lies.
    ///
    /// # Errors
    /// `Format` for an unfiltered chunk of a wrong size or beyond the end of the source.
    pub(super) fn place(&self, coords: &[u64], subject: &Subject) -> Result<Place<'a>> {
        let start = || self.axes.iter().zip(coords).map(|(a, c)| c * a.extent * a.stride).sum::<u64>();
        match self.kind {
            Kind::Absent => Ok(Place::Absent),
            Kind::Stored(_) => Ok(Place::Stored),
            Kind::Plain(offset) => Ok(Place::Plain(offset + start())),
            Kind::Memory(bytes) => Ok(Place::Memory(&bytes[start() as usize..])),
            Kind::Chunked(table) => {
                let chunk = coords.iter().zip(&table.grid).fold(0, |n, (c, g)| n * *g as usize + *c as usize);
                let entry = table.entries[chunk];
                if entry.is_absent() {
                    Ok(Place::Absent)
                } else if super::is_filtered(&table.filters, entry.filter_mask) {
                    Ok(Place::Filtered { chunk, entry })
                } else {
                    let ChunkEntry { offset, size, .. } = entry;
                    if size as usize != self.bytes {
                        return Err(subject.damaged(format_args!(
                            "{size} bytes are stored for chunk {chunk}, {} are expected",
                            self.bytes
                        )));
                    }
                    if offset.checked_add(size.into()).is_none_or(|end| end > subject.source.len()) {
                        return Err(subject.damaged(format_args!("chunk {chunk} lies beyond the end of the file")));
                    }
                    Ok(Place::Plain(offset))
                }
            }
        }
    }

    /// The bytes that have to be moved to read `selected` bytes from `touched` blocks.
    pub(super) fn work(&self, touched: usize, selected: usize) -> usize {
        match self.kind {
            Kind::Chunked(_) | Kind::Stored(_) => self.bytes.saturating_mul(touched),
            _ => selected,
        }
    }

    /// The chunks in objects of a store, if they are.
    pub(super) fn stored(&self) -> Option<&'a StoredChunks> {
        match self.kind {
            Kind::Stored(stored) => Some(stored),
            _ => None,
        }
    }

    /// The filters of the chunks.
    pub(super) fn filters(&self) -> &'a [Filter] {
        match self.kind {
            Kind::Chunked(table) => &table.filters,
            _ => &[],
        }
    }
}

/// Joins trailing axes that are read whole, and that blocks hold whole and without gaps, to the axis before.
fn join(axes: &mut Vec<BlockAxis>, shape: &[u64], reads: &[AxisRead], counts: &[u64]) {
    while let [.., before, last] = &mut axes[..] {
        let extent = shape[last.axis];
        let full = reads[last.axis].is_full(extent) && counts[last.axis] == extent;
        let whole = full && last.extent == extent * last.unit;
        if !whole || before.stride != last.extent.saturating_mul(last.stride) {
            return;
        }
        before.unit = last.extent;
        before.extent *= last.extent;
        before.stride = last.stride;
        axes.pop();
    }
}

fn check_table(subject: &Subject, table: &ChunkTable) -> Result<()> {
    let ChunkTable { chunk_shape, grid, entries, .. } = table;
    let fits = chunk_shape.len() == subject.shape.len()
        && !chunk_shape.is_empty()
        && !chunk_shape.contains(&0)
        && subject.shape.iter().zip(chunk_shape).map(|(s, c)| s.div_ceil(*c)).eq(grid.iter().copied())
        && grid.iter().try_fold(1u64, |n, g| n.checked_mul(*g)) == Some(entries.len() as u64);
    fits.then_some(()).ok_or_else(|| {
        subject.damaged(format_args!(
            "chunks of shape {chunk_shape:?} in a grid of {grid:?} with {} entries do not cover its shape {:?}",
            entries.len(),
            subject.shape
        ))
    })
}

fn check_stored(subject: &Subject, stored: &StoredChunks) -> Result<()> {
    let StoredChunks { chunk_shape, order, objects } = stored;
    let rank = subject.shape.len();
    let mut axes = order.clone();
    axes.sort_unstable();
    let per_object = objects.chunks_per_object();
    let fits = chunk_shape.len() == rank
        && !chunk_shape.contains(&0)
        && axes.iter().copied().eq(0..rank)
        && per_object.len() == rank
        && !per_object.contains(&0);
    fits.then_some(()).ok_or_else(|| {
        subject.damaged(format_args!(
            "chunks of shape {chunk_shape:?} in the order {order:?}, {per_object:?} in an object, do not fit its shape {:?}",
            subject.shape
        ))
    })
}
