//! Arrays that were added one by one and are not in the file yet. Each for itself would have every chunk of its dataset
//! written again; together they have it written once. They count as stored, and are written before anybody reads them, by
//! a flush, and when they become many.

use super::index::Place;
use super::packed::{Column, PackedDataset};
use super::pool::PoolKey;
use super::rows::Edit;
use super::write::Writer;
use super::ArrayFile;
use crate::array::{Array, ArrayHash, ArrayView};
use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of values that wait before they are written: more than a dataset for single arrays has of a year of hourly
/// doubles.
const MAX_BYTES: usize = 96 << 20;

/// What waits, by hash.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    arrays: HashMap<ArrayHash, Held>,
    /// Counts the arrays that ever waited: they are written in the order in which they came.
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Held {
    order: u64,
    pool: PoolKey,
    values: Arc<Array>,
}

/// The arrays of one pool that are written together.
type Batch = Vec<(ArrayHash, Arc<Array>)>;

impl Waiting {
    pub(super) fn contains(&self, hash: &ArrayHash) -> bool {
        self.arrays.contains_key(hash)
    }

    pub(super) fn push(&mut self, pool: &PoolKey, hash: ArrayHash, array: ArrayView<'_>) {
        let held = Held { order: self.next, pool: pool.clone(), values: Arc::new(array.to_array()) };
        self.next += 1;
        self.bytes += held.values.bytes().len();
        if let Some(old) = self.arrays.insert(hash, held) {
            self.bytes -= old.values.bytes().len();
        }
    }

    pub(super) fn remove_all<'a>(&mut self, hashes: impl IntoIterator<Item = &'a ArrayHash>) {
        for held in hashes.into_iter().filter_map(|hash| self.arrays.remove(hash)).collect::<Vec<_>>() {
            self.bytes -= held.values.bytes().len();
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    fn batches(&self) -> Vec<(PoolKey, Batch)> {
        let mut ordered: Vec<_> = self.arrays.iter().collect();
        ordered.sort_unstable_by_key(|(_, held)| held.order);
        let mut places = HashMap::new();
        let mut batches: Vec<(PoolKey, Batch)> = Vec::new();
        for (hash, held) in ordered {
            let at = *places.entry(&held.pool).or_insert(batches.len());
            if at == batches.len() {
                batches.push((held.pool.clone(), Vec::new()));
            }
            batches[at].1.push((*hash, held.values.clone()));
        }
        batches
    }
}

impl ArrayFile {
    /// Writes what waits.
    ///
    /// # Errors
    /// `Closed`, `Io`, `Hdf5`. What was not written waits on.
    pub(crate) fn settle(&self) -> Result<()> {
        if self.waiting.lock().arrays.is_empty() {
            return Ok(());
        }
        self.write_waiting(&mut *self.writer()?)
    }

    pub(super) fn write_waiting(&self, writer: &mut Writer) -> Result<()> {
        let batches = self.waiting.lock().batches();
        batches.iter().try_for_each(|(pool, batch)| self.put_columns(writer, pool, batch))
    }

    /// Stores arrays in the free columns of their pool, those of the first dataset by name first, and in new datasets.
    fn put_columns(&self, writer: &mut Writer, pool: &PoolKey, batch: &[(ArrayHash, Arc<Array>)]) -> Result<()> {
        let mut rest = batch;
        let mut sound = true;
        while !rest.is_empty() {
            let joined = if sound { self.joinable(pool) } else { None };
            let old = joined.is_some();
            let dataset = match joined {
                Some(dataset) => dataset,
                None => self.new_dataset(writer, pool)?,
            };
            let columns = dataset.state.read().free_columns(rest.len());
            if columns.is_empty() {
                return Err(Error::Integrity(format!("the new dataset {} has no free column", dataset.name)));
            }
            let (now, later) = rest.split_at(columns.len());
            match self.fill_columns(writer, &dataset, &columns, now) {
                Ok(()) => rest = later,
                // What is damaged takes no more arrays; those that come find another dataset.
                Err(e) if old && [ErrorKind::Format, ErrorKind::Integrity].contains(&e.kind()) => sound = false,
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// The first dataset of a pool, by name, that can take another array.
    fn joinable(&self, pool: &PoolKey) -> Option<Arc<PackedDataset>> {
        let index = self.index.read();
        let fits = |dataset: &&Arc<PackedDataset>| {
            let state = dataset.state.read();
            let free = state.hashes.iter().any(Option::is_none);
            let layout = state.layout().ok().filter(|_| free);
            layout.is_some_and(|layout| dataset.writable(layout, self.compression).is_some() && state.is_whole(layout))
        };
        index.pool(pool).iter().find(fits).cloned()
    }

    fn new_dataset(&self, writer: &mut Writer, pool: &PoolKey) -> Result<Arc<PackedDataset>> {
        let name = self.index.read().next_name(pool, &[]);
        let mut made = Vec::new();
        let new = self
            .create_dataset(writer, pool, name.clone(), pool.incremental_columns(), &mut made)
            .and_then(|_| self.sync_with_hdf5(writer))
            .and_then(|()| self.enter(&made));
        if let Err(error) = new {
            let _ = self.unlink(writer, &made);
            return Err(error);
        }
        let index = self.index.read();
        let found = index.pool(pool).iter().find(|dataset| dataset.name == name);
        found.cloned().ok_or_else(|| Error::Integrity(format!("the new dataset {name} is not found")))
    }

    /// Writes arrays into these columns, which ascend. From then on they do not wait any more.
    fn fill_columns(
        &self,
        writer: &mut Writer,
        dataset: &Arc<PackedDataset>,
        columns: &[usize],
        batch: &[(ArrayHash, Arc<Array>)],
    ) -> Result<()> {
        let cells = columns.iter().zip(batch).map(|(&column, (_, values))| (column, Edit::Set(values.bytes())));
        self.change(writer, dataset, &cells.collect::<Vec<_>>(), |slots| {
            let mut texts = batch.iter().map(|(hash, _)| hash.to_hex());
            columns.chunk_by(|a, b| a + 1 == *b).try_for_each(|run| {
                let run_texts: Vec<String> = texts.by_ref().take(run.len()).collect();
                slots.write_strings(run[0], &run_texts)
            })
        })?;
        let placed = || columns.iter().copied().zip(batch.iter().map(|(hash, _)| *hash));
        placed().for_each(|(column, hash)| dataset.state.write().hashes[column] = Some(hash));
        let place = |column| Place::Packed(Column { dataset: dataset.clone(), column });
        placed().for_each(|(column, hash)| self.index.write().insert(hash, place(column)));
        self.waiting.lock().remove_all(batch.iter().map(|(hash, _)| hash));
        Ok(())
    }
}
