//! The bulk data path: from a variable's layout in a file to values in a caller's buffer, by offset, on any number of
//! threads, without a lock. Knows bytes and chunks, not names or attributes.

mod layout;
mod source;

pub use layout::{ChunkEntry, ChunkTable, Filter, Layout};
pub use source::{ByteSource, FileSource};
