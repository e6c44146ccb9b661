//! The loop that bounds a sweep: the stored bytes of the same cells read, inflated and unshuffled into a buffer that is
//! used again, by as many threads, and not looked at.

use crate::epochs::{Window, VARIABLES};
use forcings::chunks::{fetch_chunk, ByteSource, ChunkEntry, ChunkSite, FileSource, Filter, Layout, Scratch};
use forcings::{formats, Error, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The chunks of all files, or runs of bytes where there are no chunks.
pub(crate) struct Bare {
    files: Vec<PathBuf>,
    pieces: Vec<Piece>,
}

struct Piece {
    file: usize,
    entry: ChunkEntry,
    filters: Vec<Filter>,
    /// Bytes in memory.
    len: usize,
}

impl Bare {
    /// Finds what a window needs, which [`Bare::run`] is not charged with.
    ///
    /// # Errors
    /// Those of the files; `Integrity` for a layout that the data of this benchmark do not have.
    pub(crate) fn new(files: &[PathBuf], window: Window) -> Result<Self> {
        let mut pieces = Vec::new();
        for (file, path) in files.iter().enumerate() {
            let container = formats::open(path)?;
            for name in VARIABLES {
                let is_wanted = |v: &formats::Variable| &*v.name == name;
                let variable = container.variables().iter().position(is_wanted);
                let variable = variable.ok_or_else(|| unexpected(path, name))?;
                let header = &container.variables()[variable];
                let names: Vec<&str> = header.dimensions.iter().map(|d| &*container.dimensions()[*d].name).collect();
                let touched = |axis: usize, first: u64, past: u64| {
                    let range = window.iter().find(|(dim, ..)| *dim == names[axis]);
                    range.is_none_or(|&(_, start, stop)| first < stop && start < past)
                };
                match &*container.layout(variable)? {
                    Layout::Chunked(table) => {
                        let len = table.chunk_shape.iter().product::<u64>() as usize * 4;
                        for (k, entry) in table.entries.iter().enumerate() {
                            let mut rest = k as u64;
                            let hit = (0..table.grid.len()).rev().all(|axis| {
                                let (at, extent) = (rest % table.grid[axis], table.chunk_shape[axis]);
                                rest /= table.grid[axis];
                                touched(axis, at * extent, (at + 1) * extent)
                            });
                            if hit {
                                pieces.push(Piece { file, entry: *entry, filters: table.filters.clone(), len });
                            }
                        }
                    }
                    Layout::Records { offset, stride } if window.is_empty() => {
                        let len = header.shape[1..].iter().product::<u64>() as usize * 4;
                        for record in 0..header.shape[0] {
                            let entry =
                                ChunkEntry { offset: offset + record * stride, size: len as u32, filter_mask: 0 };
                            pieces.push(Piece { file, entry, filters: Vec::new(), len });
                        }
                    }
                    _ => return Err(unexpected(path, name)),
                }
            }
        }
        Ok(Bare { files: files.into(), pieces })
    }

    /// The bytes of the chunks in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len).sum()
    }

    /// Decodes all of it.
    ///
    /// # Errors
    /// Those of the files and of their chunks.
    pub(crate) fn run(&self, threads: usize) -> Result<()> {
        let files = self.files.iter().map(FileSource::open).collect::<Result<Vec<_>>>()?;
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut scratch, mut cells) = (Scratch::new(), Vec::new());
            while let Some(piece) = self.pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                if cells.len() < piece.len {
                    cells.resize(piece.len, 0);
                }
                let source: &dyn ByteSource = &files[piece.file];
                let site = ChunkSite { path: source.path(), what: "the bare loop", chunk: 0 };
                fetch_chunk(source, piece.entry, &piece.filters, &mut cells[..piece.len], &mut scratch, &site)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mine = work();
            others.into_iter().try_for_each(|thread| thread.join().expect("a loop without a panic")).and(mine)
        })
    }
}

fn unexpected(path: &Path, name: &str) -> Error {
    Error::Integrity(format!("{}: \"{name}\" is not laid out as the benchmark's files are", path.display()))
}
