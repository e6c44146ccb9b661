//! The rules of a filter pipeline: which steps count, what they may be, and how many bytes lie between them.

use super::filters::{ChunkSite, CHECKSUM};
use super::scale_offset::ScaleOffset;
use super::Filter;
use crate::Result;

/// DEFLATE never expands a byte to more than this many (RFC 1951: 258 bytes for two bits).
pub const MAX_EXPANSION: usize = 1032;

/// No compressor expands a byte to more than this many: a Zstandard block of four bytes repeats one of them 128 Ki times,
/// and the streams of Blosc may be such blocks.
pub const LARGEST_EXPANSION: u64 = 32 << 10;

/// What lies below one step of a pipeline: `most` bytes, or that many at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Below {
    pub(super) most: usize,
    pub(super) exact: bool,
}

/// What lies below the step `index` of a chunk of `len` bytes in memory, where no compressor lies below it.
pub(super) fn most_below(filters: &[Filter], mask: u32, index: usize, len: usize) -> Below {
    let mut below = Below { most: len, exact: true };
    for (_, filter) in filters[..index].iter().enumerate().filter(|(i, _)| is_active(mask, *i)) {
        match filter {
            Filter::Fletcher32 => below.most += CHECKSUM,
            Filter::ScaleOffset(_) => below = Below { most: below.most + ScaleOffset::OVERHEAD, exact: false },
            _ => {}
        }
    }
    below
}

/// Whether a step was not skipped. The mask has 32 bits; a filter behind them cannot be skipped.
pub(super) fn is_active(mask: u32, filter: usize) -> bool {
    filter >= 32 || mask >> filter & 1 == 0
}

/// Refuses what cannot be undone.
///
/// # Errors
/// `Unsupported` for a filter that is not known or a second compressor, `Format` for a shuffle of elements of no bytes.
pub(super) fn check_pipeline(filters: &[Filter], mask: u32, site: &ChunkSite) -> Result<()> {
    let mut compressors = 0;
    for (_, filter) in filters.iter().enumerate().filter(|(i, _)| is_active(mask, *i)) {
        match filter {
            Filter::Unknown { id, name } => {
                let name = if name.is_empty() { "unnamed" } else { name };
                return Err(site.unsupported(&format!("filter {id} ({name})")));
            }
            Filter::Shuffle(0) => return Err(site.damaged("its shuffle filter has an element width of zero")),
            // Below a compressor, a length that is written nowhere has a bound; above it, there is none.
            Filter::ScaleOffset(_) if compressors > 0 => return Err(site.unsupported("a scale-offset filter last")),
            filter => compressors += u32::from(filter.is_compressor()),
        }
    }
    // The length between two compressors is written nowhere, so a hostile file could make it as long as it likes.
    if compressors > 1 {
        return Err(site.unsupported("two compressors, one upon the other"));
    }
    Ok(())
}

impl Filter {
    fn is_compressor(&self) -> bool {
        matches!(self, Filter::Deflate | Filter::Szip(_) | Filter::Lz4 | Filter::Zstd | Filter::Blosc)
    }

    /// The most bytes that one stored byte can stand for; `None` where a chunk may be next to nothing.
    pub(crate) fn max_expansion(&self) -> Option<u64> {
        match self {
            Filter::Deflate => Some(MAX_EXPANSION as u64),
            // Nine bits for 64 blocks of 32 samples of four bytes.
            Filter::Szip(_) => Some(8192),
            // A length grows by 255 with a byte.
            Filter::Lz4 => Some(256),
            Filter::Zstd | Filter::Blosc => Some(LARGEST_EXPANSION),
            Filter::ScaleOffset(_) => None,
            Filter::Shuffle(_) | Filter::Fletcher32 | Filter::Verbatim | Filter::Unknown { .. } => Some(1),
        }
    }
}
