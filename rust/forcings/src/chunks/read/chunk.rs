//! Filtered chunks on their way from the file to memory, several at a time where one thread has as many to decode.

use crate::chunks::{fetch_chunk, ByteSource, ChunkEntry, ChunkSite, Filter, Scratch};
use crate::Result;

/// Chunks that one thread decodes at a time.
pub(super) const AT_ONCE: usize = 2;

/// One chunk, and where it goes.
pub(super) struct Fetch<'a> {
    pub(super) source: &'a dyn ByteSource,
    pub(super) entry: ChunkEntry,
    /// What is undone of its filters.
    pub(super) filters: &'a [Filter],
    /// As long as what that gives.
    pub(super) out: &'a mut [u8],
    pub(super) scratch: &'a mut Scratch,
    pub(super) site: ChunkSite<'a>,
}

/// Fetches and decodes the chunks that there are; the outcome of each, which does not depend on the others.
pub(super) fn fetch_chunks(fetches: [Option<Fetch>; AT_ONCE]) -> [Option<Result<()>>; AT_ONCE] {
    fetches.map(|fetch| {
        let Fetch { source, entry, filters, out, scratch, site } = fetch?;
        Some(fetch_chunk(source, entry, filters, out, scratch, &site))
    })
}
