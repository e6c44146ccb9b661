//! A dense forecast that is a variable of its own: it is stored in blocks of windows, of which the last one that was used
//! is kept, window by window. A sweep in either direction decodes every block once.

use crate::array::ArrayHash;
use crate::chunks::{
    check_expansion, fetch_chunk, is_filtered, ByteSource, ChunkEntry, ChunkSite, ChunkTable, Layout, Scratch,
};
use crate::store::arrays::{ArrayFile, Standalone};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a block of windows that are not stored in blocks.
const BLOCK_BYTES: usize = 1 << 20;

/// What all forecasts of a reader decode with.
#[derive(Default)]
pub(super) struct Bench {
    scratch: Scratch,
    /// A block as it is stored.
    plain: Vec<u8>,
}

/// The windows of one array.
pub(super) struct Blocks {
    hash: ArrayHash,
    array: Arc<Standalone>,
    shape: WindowShape,
    axis: usize,
    count: usize,
    /// Windows of a block.
    edge: usize,
    /// Whether a chunk of the file is a block.
    whole: bool,
    /// The block that is held.
    held: Option<usize>,
    /// Its windows, one behind the other.
    windows: Vec<u8>,
    /// Its bytes in the reader's buffer.
    at: Range<usize>,
    inflated: u64,
}

/// How the windows of an array are interleaved: before the axis that counts them lie `outer` positions, behind it `inner`
/// bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowShape {
    outer: usize,
    inner: usize,
}

impl WindowShape {
    /// That of an array of this shape, whose windows are counted along `axis`.
    pub(super) fn new(shape: &[usize], axis: usize, width: usize) -> Self {
        let product = |extents: &[usize]| extents.iter().product::<usize>();
        WindowShape { outer: product(&shape[..axis]), inner: product(&shape[axis + 1..]) * width }
    }

    /// Bytes of one window.
    pub(super) fn bytes(&self) -> usize {
        self.outer * self.inner
    }

    /// Takes interleaved windows apart: of `from`, which has `extent` of them, the first ones into `to`, one behind the
    /// other, as many as there is room for.
    pub(super) fn part(&self, from: &[u8], extent: usize, to: &mut [u8]) {
        // Elements of a known size are copied by one instruction instead of a call.
        fn fixed<const N: usize>(from: &[u8], to: &mut [u8], stride: usize) {
            for (value, window) in from.chunks_exact(N).zip(to.chunks_mut(stride)) {
                window[..N].copy_from_slice(value);
            }
        }
        if to.is_empty() {
            return;
        }
        for (outer, windows) in from.chunks_exact(extent * self.inner).enumerate() {
            let to = &mut to[outer * self.inner..];
            match self.inner {
                8 => fixed::<8>(windows, to, self.bytes()),
                4 => fixed::<4>(windows, to, self.bytes()),
                inner => {
                    for (value, window) in windows.chunks_exact(inner).zip(to.chunks_mut(self.bytes())) {
                        window[..inner].copy_from_slice(value);
                    }
                }
            }
        }
    }
}

impl Blocks {
    /// The windows of `array`, of this shape, along `axis`. Makes room for its largest block in `bench`.
    ///
    /// # Errors
    /// `Format` when its chunk table is damaged or claims what cannot be.
    pub(super) fn new(
        (hash, array): (ArrayHash, Arc<Standalone>),
        (shape, axis): (&[usize], usize),
        at: Range<usize>,
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
        let whole = table.is_some();
        let edge = usize::try_from(edge).unwrap_or(usize::MAX).max(1);
        let edge = if whole { edge } else { edge.min(count.max(1)) };
        let (held, room) = (None, Vec::new());
        let blocks =
            Blocks { hash, array, shape: windows, axis, count, edge, whole, held, windows: room, at, inflated: 0 };
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

    /// Whether the array is still where it was.
    pub(super) fn is_place(&self, array: &Arc<Standalone>) -> bool {
        Arc::ptr_eq(&self.array, array)
    }

    /// The hash of the array.
    pub(super) fn hash(&self) -> &ArrayHash {
        &self.hash
    }

    /// Copies a window into the reader's buffer.
    ///
    /// # Errors
    /// `Format` when a chunk is damaged or lies outside the file, `Integrity` when it was never written, `Unsupported` for
    /// unknown filters, `Io`.
    pub(super) fn read(&mut self, arrays: &ArrayFile, window: usize, bench: &mut Bench, out: &mut [u8]) -> Result<()> {
        let block = window / self.edge;
        if self.held != Some(block) {
            self.held = None;
            self.load(arrays, block, bench)?;
            self.held = Some(block);
        }
        let bytes = self.shape.bytes();
        out[self.at.clone()].copy_from_slice(&self.windows[window % self.edge * bytes..][..bytes]);
        Ok(())
    }

    /// Chunks that were inflated so far; those of arrays whose chunks hold parts of windows do not count.
    pub(super) fn chunks_inflated(&self) -> u64 {
        self.inflated
    }

    fn load(&mut self, arrays: &ArrayFile, block: usize, bench: &mut Bench) -> Result<()> {
        let range = block * self.edge..((block + 1) * self.edge).min(self.count);
        let len = range.len() * self.shape.bytes();
        let source = &**arrays.source();
        if !self.whole {
            let part = arrays.read_slab(&self.hash, self.axis, range.clone())?;
            grow(&mut self.windows, self.edge.min(self.count) * self.shape.bytes())?;
            self.shape.part(part.bytes(), range.len(), &mut self.windows[..len]);
            return Ok(());
        }
        let Layout::Chunked(table) = &self.array.layout else { return Err(self.damaged(source)) };
        let entry = *table.entries.get(block).ok_or_else(|| self.damaged(source))?;
        self.check(source, table, block, entry)?;
        let plain = grow(&mut bench.plain, self.chunk_bytes()?)?;
        // Of the largest block, so that no later one has to make it larger.
        grow(&mut self.windows, self.edge.min(self.count) * self.shape.bytes())?;
        fetch_chunk(source, entry, &table.filters, plain, &mut bench.scratch, &self.site(source, block))?;
        self.shape.part(plain, self.edge, &mut self.windows[..len]);
        self.inflated += u64::from(is_filtered(&table.filters, entry.filter_mask));
        Ok(())
    }

    /// Refuses a chunk that was never written or cannot hold a block.
    fn check(&self, source: &dyn ByteSource, table: &ChunkTable, chunk: usize, entry: ChunkEntry) -> Result<()> {
        if entry.is_absent() {
            let path = source.path().display();
            return Err(Error::Integrity(format!("{path}: chunk {chunk} of {} was never written", self.array.name)));
        }
        check_expansion(entry, &table.filters, self.chunk_bytes()?, &self.site(source, chunk))
    }

    fn chunk_bytes(&self) -> Result<usize> {
        self.edge.checked_mul(self.shape.bytes()).filter(|n| *n <= isize::MAX as usize).ok_or_else(|| {
            Error::Integrity(format!("a chunk of {} windows of {} is too large", self.edge, self.array.name))
        })
    }

    fn site<'a>(&'a self, source: &'a dyn ByteSource, chunk: usize) -> ChunkSite<'a> {
        ChunkSite { path: source.path(), what: &self.array.name, chunk }
    }

    fn damaged(&self, source: &dyn ByteSource) -> Error {
        Error::format(source.path(), format!("{}: its chunks do not fit its shape", self.array.name))
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
fn grow(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        buffer
            .try_reserve_exact(len - buffer.len())
            .map_err(|_| Error::Integrity(format!("there is no memory for a block of windows of {len} bytes")))?;
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_taken_apart_whatever_lies_around_their_axis() {
        for (shape, axis, width) in [
            (vec![3, 5], 1, 8),
            (vec![3, 5], 1, 4),
            (vec![2, 3, 5], 2, 1),
            (vec![3, 5, 2], 1, 8),
            (vec![2, 3, 5, 4], 2, 1),
            (vec![1, 5], 1, 8),
            (vec![3, 5, 0], 1, 8),
        ] {
            let len = shape.iter().product::<usize>() * width;
            let from: Vec<u8> = (0..len).map(|k| (k * 37) as u8).collect();
            let windows = WindowShape::new(&shape, axis, width);
            let inner = shape[axis + 1..].iter().product::<usize>() * width;
            for count in 0..=shape[axis] {
                let mut to = vec![0xaa; count * windows.bytes()];
                windows.part(&from, shape[axis], &mut to);
                let mut expected = Vec::new();
                for w in 0..count {
                    for row in from.chunks(shape[axis] * inner.max(1)).filter(|_| inner > 0) {
                        expected.extend_from_slice(&row[w * inner..(w + 1) * inner]);
                    }
                }
                assert_eq!(to, expected, "{shape:?} {count}");
            }
        }
    }
}
