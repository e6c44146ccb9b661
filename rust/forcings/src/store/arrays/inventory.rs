//! What the array file holds as a whole: every array, in portions that can be read at once; free columns; all its bytes.

use super::index::Place;
use super::packed::PackedDataset;
use super::ArrayFile;
use crate::array::ArrayHash;
use crate::store::catalog::Catalog;
use crate::{Error, Result};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a file that are copied at once.
const COPY_BYTES: usize = 4 << 20;

/// Arrays that are read together.
#[derive(Debug)]
pub(crate) struct Portion {
    /// Their hashes.
    pub(crate) hashes: Vec<ArrayHash>,
    /// Whether each chunk holds a part of every one of them, so that one which cannot be read concerns all.
    pub(crate) shared: bool,
    /// Whether it is an array that is a variable of its own.
    pub(crate) standalone: bool,
}

impl ArrayFile {
    /// Every array of the file, by dataset, in portions of about `bytes` or one array.
    pub(crate) fn portions(&self, bytes: usize) -> Vec<Portion> {
        let index = self.index.read();
        let alone = |(hash, place): (&ArrayHash, &Place)| match place {
            Place::Standalone(_) => Some(Portion { hashes: vec![*hash], shared: true, standalone: true }),
            Place::Packed(_) => None,
        };
        let mut portions: Vec<Portion> = index.places().filter_map(alone).collect();
        portions.sort_unstable_by(|a, b| a.hashes.cmp(&b.hashes));
        let mut datasets: Vec<_> = index.datasets().collect();
        datasets.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for dataset in datasets {
            let state = dataset.state.read();
            // A hash that has several columns is read from one of them.
            let found = |hash: &ArrayHash, column: usize| {
                matches!(index.place(hash), Some(Place::Packed(place))
                    if Arc::ptr_eq(&place.dataset, dataset) && place.column == column)
            };
            let columns = state.hashes.iter().enumerate();
            let hashes: Vec<ArrayHash> =
                columns.filter_map(|(column, hash)| hash.filter(|hash| found(hash, column))).collect();
            let shared = state.layout().is_ok_and(|layout| dataset.row_chunks(layout).is_some());
            let each = (bytes / (dataset.pool.length * dataset.pool.block()).max(1)).max(1);
            let portion = |hashes: &[ArrayHash]| Portion { hashes: hashes.to_vec(), shared, standalone: false };
            portions.extend(hashes.chunks(each).map(portion));
        }
        portions
    }

    /// The arrays that no row of `catalog` has; none where they could not be removed.
    ///
    /// # Errors
    /// Those of the catalog.
    pub(crate) fn unreferenced(&self, catalog: &Catalog) -> Result<Vec<ArrayHash>> {
        let mut unreferenced = Vec::new();
        if !self.layer.writable() {
            return Ok(unreferenced);
        }
        for (hash, _) in self.index.read().places() {
            if !catalog.is_referenced(hash)? {
                unreferenced.push(*hash);
            }
        }
        Ok(unreferenced)
    }

    /// Columns that hold no array, those that never held one included.
    pub(crate) fn free_columns(&self) -> u64 {
        let index = self.index.read();
        let free = |dataset: &Arc<PackedDataset>| {
            dataset.state.read().hashes.iter().filter(|slot| slot.is_none()).count() as u64
        };
        index.datasets().map(free).sum()
    }

    /// Writes the file's bytes to a new file. The caller has flushed, and nobody changes the file meanwhile.
    ///
    /// # Errors
    /// `Io`, and those of [`ArrayFile::settle`].
    pub(crate) fn copy_to(&self, path: &Path) -> Result<()> {
        self.settle()?;
        let failed = |e| Error::io(path, e);
        let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        let len = self.source.len();
        let mut buffer = vec![0; COPY_BYTES];
        let mut at = 0;
        while at < len {
            let part = &mut buffer[..usize::try_from(len - at).map_or(COPY_BYTES, |rest| rest.min(COPY_BYTES))];
            self.source.read_at(at, part)?;
            file.write_all(part).map_err(failed)?;
            at += part.len() as u64;
        }
        Ok(())
    }
}
