//! Where the elements of one variable lie in its file.

use super::scale_offset::ScaleOffset;
use super::StoredChunks;

/// One step of a chunk's filter pipeline, in the order in which the writer applied it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// Bytes of equal significance gathered; the number is the element width.
    Shuffle(usize),
    /// A zlib stream.
    Deflate,
    /// A Fletcher-32 checksum behind the data.
    Fletcher32,
    /// Extended Rice codes (CCSDS 121.0-B): options, pixels in a block, bits of a pixel, pixels in a scanline.
    Szip([u32; 4]),
    /// Differences from the least value, in few bits.
    ScaleOffset(ScaleOffset),
    /// The LZ4 frame of HDF5.
    Lz4,
    /// Zstandard.
    Zstd,
    /// A frame of Blosc 1.
    Blosc,
    /// A filter that found nothing to do, such as n-bit for numbers that use all of their bits.
    Verbatim,
    /// Another registered filter; variables that use it cannot be read.
    Unknown {
        /// Its HDF5 id.
        id: u16,
        /// Its name, where the file gives one.
        name: String,
    },
}

/// Where one chunk lies. Sixteen bytes, since files have hundreds of thousands of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct ChunkEntry {
    /// Offset in the source; [`ChunkEntry::ABSENT`]'s for a chunk that was never written.
    pub offset: u64,
    /// Bytes as stored.
    pub size: u32,
    /// Bit i set: filter i was skipped.
    pub filter_mask: u32,
}

impl ChunkEntry {
    /// A chunk that was never written; its cells hold the fill value.
    pub const ABSENT: ChunkEntry = ChunkEntry { offset: u64::MAX, size: 0, filter_mask: 0 };

    /// Whether the chunk was never written.
    pub fn is_absent(&self) -> bool {
        self.offset == u64::MAX
    }
}

/// The chunks of a variable: their shape, filters and places, in row-major order of the chunk grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkTable {
    /// Extents of one chunk, slowest first; none is zero. Edge chunks are stored in full.
    pub chunk_shape: Vec<u64>,
    /// Chunks along each dimension: `ceil(extent / chunk extent)`.
    pub grid: Vec<u64>,
    /// The pipeline.
    pub filters: Vec<Filter>,
    /// `product(grid)` entries.
    pub entries: Vec<ChunkEntry>,
}

/// How the elements of a variable are laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// One run of bytes at this offset.
    Contiguous {
        /// Offset in the source.
        offset: u64,
    },
    /// The elements themselves, kept in the header.
    Compact(Vec<u8>),
    /// A classic record variable: one run of `product(shape[1..])` elements for each record.
    Records {
        /// Offset of the first record.
        offset: u64,
        /// Bytes from one record to the next.
        stride: u64,
    },
    /// Chunks.
    Chunked(ChunkTable),
    /// Chunks in objects of a store, which are no part of the source.
    Stored(StoredChunks),
    /// Nothing was ever written: every cell holds the fill value.
    Unallocated,
}
