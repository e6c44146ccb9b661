//! The bulk data path: from a variable's layout in a file to values in a caller's buffer, by offset, on any number of
//! threads, without a lock. Knows bytes and chunks, not names or attributes.

mod axis;
pub(crate) mod blosc;
pub(crate) mod codecs;
mod encode;
mod filters;
mod geometry;
mod inflate;
mod layout;
mod lz4;
mod output;
mod pipeline;
mod read;
mod scale_offset;
mod shuffle;
mod source;
mod stored;
mod szip;
mod zlib;

pub use axis::AxisRead;
pub use encode::{encode_chunk, EncodeFilter};
pub use filters::{
    check_expansion, decode_chunk, fetch_chunk, fetch_pair, is_filtered, ChunkFetch, ChunkSite, Scratch,
};
pub use layout::{ChunkEntry, ChunkTable, Filter, Layout};
pub use output::{Fresh, Target};
pub use pipeline::{LARGEST_EXPANSION, MAX_EXPANSION};
pub use read::{
    fetch_objects, read_bytes_into, read_into, read_new, run_all, Convert, Failure, Prepared, ReadRequest, ReadStats,
};
pub use scale_offset::ScaleOffset;
pub use source::{ByteSource, FileSource, MemorySource};
pub use stored::{ChunkObject, ChunkObjects, Fetched, ObjectScratch, Part, StoredChunks};
