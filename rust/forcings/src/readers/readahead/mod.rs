//! Readahead: while a reader is swept in order, native threads decode the bands of rows that come next.
//!
//! `ahead` is the reader's side, which notes in what order bands are asked for; `lane` is what one reader and the threads
//! share of one dataset; `pool` has the threads, which all readers share. What a band is, and when the addresses of its
//! chunks hold, is known to the [`Decode`] of a lane alone.

mod ahead;
mod lane;
mod pool;

pub(super) use ahead::Ahead;

use crate::chunks::Scratch;
use crate::Result;

/// The bytes that a reader decodes ahead at most, unless it is told otherwise.
pub const DEFAULT_READAHEAD: usize = 16 << 20;

/// What the bands of a lane are.
pub(super) trait Decode: Send + Sync {
    /// The number of bands.
    fn bands(&self) -> u64;

    /// The bytes of the largest band.
    fn band_bytes(&self) -> usize;

    /// Decodes a band into the first bytes of `out`, and answers how many chunks it inflated; `None` when the addresses of
    /// the chunks no longer hold.
    ///
    /// # Errors
    /// What is wrong with the file. The reader decodes the band again when it gets there, and reports it then.
    fn decode(&self, band: u64, out: &mut [u8], bench: &mut Bench) -> Result<Option<u64>>;
}

/// What a thread decodes with.
#[derive(Default)]
pub(super) struct Bench {
    pub(super) scratch: Scratch,
    /// A chunk before its elements are put in another order.
    pub(super) plain: Vec<u8>,
}

#[cfg(all(test, feature = "shuttle"))]
mod explored;
#[cfg(test)]
mod tests;
