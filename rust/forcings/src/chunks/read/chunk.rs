//! Filtered chunks on their way from the file to memory, two at a time where one thread has as many to decode.

use crate::chunks::{fetch_chunk, fetch_pair, ChunkFetch};
use crate::Result;

/// Chunks that one thread decodes at a time.
pub(super) const AT_ONCE: usize = 2;

/// Fetches and decodes the chunks that there are; the outcome of each, which does not depend on the others.
pub(super) fn fetch_chunks(fetches: [Option<ChunkFetch>; AT_ONCE]) -> [Option<Result<()>>; AT_ONCE] {
    match fetches {
        [Some(a), Some(b)] => fetch_pair([a, b]).map(Some),
        fetches => fetches.map(|fetch| {
            let ChunkFetch { source, entry, filters, out, scratch, site } = fetch?;
            Some(fetch_chunk(source, entry, filters, out, scratch, &site))
        }),
    }
}
