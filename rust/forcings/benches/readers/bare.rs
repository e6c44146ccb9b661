//! The loop that bounds a sweep: every chunk of a store once, in order, read, inflated and unshuffled into one buffer,
//! whose values are summed as those of a sweep are.

use crate::support::checksum::{bits_of_bytes, Checksum};
use forcings::chunks::{fetch_chunk, ChunkSite, ChunkTable, FileSource, Layout, Scratch};
use forcings::{formats, Error, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where a store keeps its arrays.
const GROUP: &str = "/time_series/single";

/// The chunks of all arrays of a store.
pub(crate) struct Bare {
    path: PathBuf,
    tables: Vec<ChunkTable>,
    /// Bytes of an element.
    width: usize,
}

impl Bare {
    /// Finds the chunks, which [`Bare::run`] is not charged with.
    ///
    /// # Errors
    /// Those of the file; `Integrity` when there are no chunks.
    pub(crate) fn new(path: &Path, width: usize) -> Result<Self> {
        let file = formats::open_group(path, Some(GROUP))?;
        let mut tables = Vec::new();
        for variable in 0..file.variables().len() {
            if let Layout::Chunked(table) = &*file.layout(variable)? {
                tables.push(table.clone());
            }
        }
        if tables.is_empty() {
            return Err(Error::Integrity(format!("{}: nothing in {GROUP} has chunks", path.display())));
        }
        Ok(Bare { path: path.into(), tables, width })
    }

    /// Decodes the chunks with these positions of the first axis. The checksum is that of a sweep over them if the first
    /// axis counts steps.
    ///
    /// # Errors
    /// Those of the file and of its chunks.
    pub(crate) fn run(&self, rows: &Range<usize>) -> Result<String> {
        let source = FileSource::open(&self.path)?;
        let (mut scratch, mut chunk, mut sum) = (Scratch::new(), Vec::new(), Checksum::default());
        for table in &self.tables {
            let row = table.chunk_shape[1..].iter().product::<u64>() as usize * self.width;
            let (edge, across) = (table.chunk_shape[0] as usize, table.grid[1..].iter().product::<u64>() as usize);
            chunk.resize(edge * row, 0);
            for (k, entry) in table.entries.iter().enumerate() {
                let first = k / across * edge;
                if entry.is_absent() || first >= rows.end || first + edge <= rows.start {
                    continue;
                }
                let site = ChunkSite { path: &self.path, what: "the bare loop", chunk: k };
                fetch_chunk(&source, *entry, &table.filters, &mut chunk, &mut scratch, &site)?;
                for (step, values) in (first..).zip(chunk.chunks_exact(row)).filter(|(step, _)| rows.contains(step)) {
                    sum.add(step - rows.start, bits_of_bytes(values, self.width));
                }
            }
        }
        Ok(sum.hex())
    }
}
