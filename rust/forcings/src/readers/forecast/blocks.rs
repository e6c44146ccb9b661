//! The blocks of windows that a dense forecast, a variable of its own, is stored in: which windows each has, and how it is
//! decoded into windows one behind the other. Nothing in it changes, so any thread may use it.

use super::shape::WindowShape;
use crate::array::ArrayHash;
use crate::chunks::{check_expansion, fetch_chunk, is_filtered, ByteSource, ChunkSite, ChunkTable, Layout};
use crate::readers::readahead::Bench;
use crate::store::arrays::{ArrayFile, Place, Standalone};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a block of windows that are not stored in blocks.
const BLOCK_BYTES: usize = 1 << 20;

/// The blocks of one array.
pub(super) struct Blocks {
    hash: ArrayHash,
    array: Arc<Standalone>,
    shape: WindowShape,
    axis: usize,
    count: usize,
    /// Windows of a block.
    edge: usize,
    /// Whether a chunk of the file is a block.
    stored: bool,
}

impl Blocks {
    /// The blocks of `array`, of this shape, whose windows are counted along `axis`. Makes room for the largest in `bench`.
    ///
    /// # Errors
    /// `Format` when its chunk table is damaged or claims what cannot be.
    pub(super) fn new(
        (hash, array): (ArrayHash, Arc<Standalone>),
        (shape, axis): (&[usize], usize),
        source: &dyn ByteSource,
        bench: &mut Bench,
    ) -> Result<Self> {
        let (count, windows) = (shape[axis], WindowShape::new(shape, axis, array.dtype.width()));
        let table = whole_windows(&array, axis);
        let edge = match (table, &array.layout) {
            (Some(table), _) => table.chunk_shape[axis],
            (None, Layout::Chunked(table)) => table.chunk_shape.get(axis).copied().unwrap_or(1),
            (None, _) => (BLOCK_BYTES / windows.bytes().max(1)) as u64,
        };
        let stored = table.is_some();
        let edge = usize::try_from(edge).unwrap_or(usize::MAX).max(1);
        let edge = if stored { edge } else { edge.min(count.max(1)) };
        let blocks = Blocks { hash, array, shape: windows, axis, count, edge, stored };
        if let Some(table) = whole_windows(&blocks.array, axis) {
            let stored = table.entries.iter().filter(|entry| !entry.is_absent());
            if let Some(&largest) = stored.max_by_key(|entry| entry.size) {
                let (site, len) = (blocks.site(source, 0), blocks.chunk_bytes()?);
                check_expansion(largest, &table.filters, len, &site)?;
                let size = usize::try_from(source.len()).unwrap_or(usize::MAX).min(largest.size as usize);
                bench.scratch.reserve(size, len, &table.filters, &site)?;
                grow(&mut bench.plain, len)?;
            }
        }
        Ok(blocks)
    }

    /// Whether the array file still has the array in this variable.
    pub(super) fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        matches!(arrays.find(&self.hash), Some(Place::Standalone(array)) if Arc::ptr_eq(&array, &self.array))
    }

    /// Windows of a block.
    pub(super) fn edge(&self) -> usize {
        self.edge
    }

    /// Whether a chunk of the file is a block, so that any thread can decode it.
    pub(super) fn are_stored(&self) -> bool {
        self.stored
    }

    /// The number of blocks.
    pub(super) fn len(&self) -> usize {
        self.count.div_ceil(self.edge)
    }

    /// Bytes of the largest block.
    pub(super) fn bytes(&self) -> usize {
        self.edge.min(self.count) * self.shape.bytes()
    }

    /// Bytes of one window.
    pub(super) fn window_bytes(&self) -> usize {
        self.shape.bytes()
    }

    /// Bytes of a block, of which the last may be smaller.
    pub(super) fn bytes_of(&self, block: usize) -> usize {
        self.range(block).len() * self.shape.bytes()
    }

    /// Decodes a block that is a chunk of the file into the first bytes of `out`, and answers how many chunks it inflated.
    ///
    /// # Errors
    /// `Format` when the chunk is damaged or lies outside the file, `Integrity` when it was never written, `Unsupported`
    /// for unknown filters, `Io`.
    pub(super) fn decode(
        &self,
        source: &dyn ByteSource,
        block: usize,
        out: &mut [u8],
        bench: &mut Bench,
    ) -> Result<u64> {
        let damaged = || Error::format(source.path(), format!("{}: its chunks do not fit its shape", self.array.name));
        let Layout::Chunked(table) = &self.array.layout else { return Err(damaged()) };
        let entry = *table.entries.get(block).ok_or_else(damaged)?;
        if entry.is_absent() {
            let path = source.path().display();
            return Err(Error::Integrity(format!("{path}: chunk {block} of {} was never written", self.array.name)));
        }
        let (site, len) = (self.site(source, block), self.chunk_bytes()?);
        check_expansion(entry, &table.filters, len, &site)?;
        let plain = grow(&mut bench.plain, len)?;
        fetch_chunk(source, entry, &table.filters, plain, &mut bench.scratch, &site)?;
        self.shape.part(plain, self.edge, &mut out[..self.bytes_of(block)]);
        Ok(u64::from(is_filtered(&table.filters, entry.filter_mask)))
    }

    /// Reads a block of which no chunk of the file has all.
    ///
    /// # Errors
    /// As [`Blocks::decode`].
    pub(super) fn gather(&self, arrays: &ArrayFile, block: usize, out: &mut [u8]) -> Result<()> {
        let range = self.range(block);
        let part = arrays.read_slab(&self.hash, self.axis, range.clone())?;
        self.shape.part(part.bytes(), range.len(), &mut out[..self.bytes_of(block)]);
        Ok(())
    }

    fn range(&self, block: usize) -> Range<usize> {
        block * self.edge..((block + 1) * self.edge).min(self.count)
    }

    fn chunk_bytes(&self) -> Result<usize> {
        self.edge.checked_mul(self.shape.bytes()).filter(|n| *n <= isize::MAX as usize).ok_or_else(|| {
            Error::Integrity(format!("a chunk of {} windows of {} is too large", self.edge, self.array.name))
        })
    }

    fn site<'a>(&'a self, source: &'a dyn ByteSource, chunk: usize) -> ChunkSite<'a> {
        ChunkSite { path: source.path(), what: &self.array.name, chunk }
    }
}

/// The chunks of an array, if each holds whole windows.
fn whole_windows(array: &Standalone, axis: usize) -> Option<&ChunkTable> {
    let Layout::Chunked(table) = &array.layout else { return None };
    let extents = array.shape.iter().zip(&table.chunk_shape).enumerate();
    let fits = table.chunk_shape.len() == array.shape.len()
        && table.chunk_shape[axis] > 0
        && extents.clone().all(|(k, (extent, edge))| k == axis || extent == edge)
        && table.entries.len() as u64 == array.shape[axis].div_ceil(table.chunk_shape[axis]);
    fits.then_some(table)
}

/// The first `len` bytes of a buffer that only ever grows.
pub(super) fn grow(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        buffer
            .try_reserve_exact(len - buffer.len())
            .map_err(|_| Error::Integrity(format!("there is no memory for a block of windows of {len} bytes")))?;
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}
