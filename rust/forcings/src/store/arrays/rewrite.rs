//! The arrays of one file written to another, without what is free or unused. Chunks that stay as they are stored are
//! copied as they are; others are decoded and encoded again, some rows at a time.

use super::index::{Index, Place, Standalone};
use super::packed::{DatasetState, PackedDataset};
use super::pool::{fill, PoolKey};
use super::rows::{zeroed, Edit, Rewrite};
use super::write::Writer;
use super::{ArrayFile, GROUP};
use crate::array::ArrayHash;
use crate::chunks::{ChunkEntry, ChunkTable, Layout};
use crate::store::h5::{Variable, VariableSpec};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of values that are held at once, unless one chunk has more.
const BAND_BYTES: usize = 16 << 20;

impl ArrayFile {
    /// Every root attribute that is text.
    pub(crate) fn attributes(&self) -> Vec<(String, String)> {
        self.attributes.lock().iter().map(|(name, text)| (name.clone(), text.clone())).collect()
    }

    /// The filters of its data variables.
    pub(crate) fn compression(&self) -> super::Compression {
        self.compression
    }

    /// Writes the arrays that `is_live` to `target`, a new file that is read only after it was opened again. Datasets keep
    /// their order and lose their free columns; a dataset without an array, and a variable whose array is not live, go.
    ///
    /// # Errors
    /// Those of reading and writing either file, and of `is_live`.
    pub(crate) fn rewrite_into(
        &self,
        target: &ArrayFile,
        mut is_live: impl FnMut(&ArrayHash) -> Result<bool>,
    ) -> Result<()> {
        self.settle()?;
        let mut writer = target.writer()?;
        let mut names: HashMap<PoolKey, Vec<String>> = HashMap::new();
        for dataset in self.datasets_by_name() {
            let state = dataset.state.read();
            let mut columns = Vec::new();
            for (column, hash) in state.hashes.iter().enumerate() {
                let Some(hash) = *hash else { continue };
                // A hash that has several columns keeps one of them.
                let found = matches!(self.index.read().place(&hash), Some(Place::Packed(place))
                    if Arc::ptr_eq(&place.dataset, &dataset) && place.column == column);
                if found && is_live(&hash)? {
                    columns.push((column, hash));
                }
            }
            if !columns.is_empty() {
                let names = names.entry(dataset.pool.clone()).or_default();
                let name = target.index.read().next_name(&dataset.pool, names);
                names.push(name.clone());
                self.copy_columns(target, &mut writer, name, (&dataset, &state), &columns)?;
            }
        }
        for (hash, array) in self.variables_by_hash() {
            if is_live(&hash)? {
                self.copy_standalone(target, &mut writer, &hash, &array)?;
            }
        }
        target.sync_with_hdf5(&mut writer)
    }

    /// From here on this file is another's past: nobody finds an array in it, who looks goes to the other, and reads in
    /// progress end well. The name is the other's too.
    pub(crate) fn retire(&self) {
        for dataset in self.datasets_by_name() {
            let mut state = dataset.state.write();
            state.hashes.iter_mut().for_each(|hash| *hash = None);
            state.generation += 1;
        }
        *self.index.write() = Index::default();
        let mut writer = self.writer.lock();
        (writer.closed, writer.broken) = (true, true);
        if let Some(file) = writer.file.take() {
            // What closing writes, nobody will read.
            let _ = file.close();
        }
        self.layer.detach();
    }

    /// Every dataset, by name.
    fn datasets_by_name(&self) -> Vec<Arc<PackedDataset>> {
        let mut datasets: Vec<_> = self.index.read().datasets().cloned().collect();
        datasets.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        datasets
    }

    /// Every array that is a variable of its own, by hash.
    fn variables_by_hash(&self) -> Vec<(ArrayHash, Arc<Standalone>)> {
        let alone = |(hash, place): (&ArrayHash, &Place)| match place {
            Place::Standalone(array) => Some((*hash, array.clone())),
            Place::Packed(_) => None,
        };
        let mut variables: Vec<_> = self.index.read().places().filter_map(alone).collect();
        variables.sort_unstable_by_key(|(hash, _)| *hash);
        variables
    }

    fn copy_columns(
        &self,
        target: &ArrayFile,
        writer: &mut Writer,
        name: String,
        (dataset, state): (&PackedDataset, &DatasetState),
        columns: &[(usize, ArrayHash)],
    ) -> Result<()> {
        let (pool, width) = (&dataset.pool, columns.len());
        let (data, slots) = target.create_dataset(writer, pool, name.clone(), width, &mut Vec::new())?;
        let hashes: Vec<String> = columns.iter().map(|(_, hash)| hash.to_hex()).collect();
        slots.write_strings(0, &hashes)?;
        if pool.length * pool.block() == 0 {
            return Ok(());
        }
        let (rows, encoders) = (pool.chunk_rows(width), target.compression.pipeline(pool.dtype.width()));
        let layout = state.layout()?;
        if let (Layout::Chunked(table), Some(chunks)) = (&**layout, dataset.row_chunks(layout)) {
            let same = width == dataset.cols && chunks.rows == rows;
            if same && target.compression.matching(&table.filters) == Some(encoders.clone()) && is_plain(table) {
                return self.copy_chunks(table, &data);
            }
        }
        let band = (BAND_BYTES / (rows * width * pool.block())).max(1) * rows;
        let mut position = vec![0; dataset.shape().len()];
        for start in (0..pool.length).step_by(band) {
            let end = (start + band).min(pool.length);
            let parts = self.read_columns(dataset, state, columns, start..end)?;
            let planned = PackedDataset::planned(name.clone(), PoolKey { length: end - start, ..pool.clone() }, width);
            let edits: Vec<_> = parts.iter().map(|part| Edit::Set(part.bytes())).enumerate().collect();
            let rewrite = Rewrite { dataset: &planned, rows, encoders: &encoders, present: None, edits: &edits };
            rewrite.run(|row, bytes| {
                position[0] = start as u64 + row;
                data.write_chunk(&position, bytes)
            })?;
        }
        Ok(())
    }

    fn copy_standalone(
        &self,
        target: &ArrayFile,
        writer: &mut Writer,
        hash: &ArrayHash,
        array: &Standalone,
    ) -> Result<()> {
        let filters = match &array.layout {
            Layout::Chunked(table) if is_plain(table) => target.compression.matching(&table.filters),
            _ => None,
        };
        let (Layout::Chunked(table), Some(pipeline)) = (&array.layout, filters) else {
            // Another library's layout.
            let values = self.read_standalone(array, None)?;
            return target.write_whole(writer, *hash, values.view());
        };
        let first = target.number_dimensions(writer, array.shape.len())?;
        let group = target.hdf5(writer)?.group(GROUP)?;
        let axes = (0..array.shape.len()).map(|axis| format!("{}_d{axis}", array.name));
        let numbered = axes.zip(&array.shape).zip(first..);
        let dimensions: Vec<_> =
            numbered.map(|((axis, &len), number)| group.create_scale(&axis, len, number)).collect::<Result<_>>()?;
        let default = fill(array.dtype);
        let data = group.create_variable(&VariableSpec {
            name: &array.name,
            dtype: array.dtype,
            dimensions: &dimensions,
            chunk: &table.chunk_shape,
            fill: array.fill.as_deref().filter(|fill| fill.len() == default.len()).unwrap_or(&default),
            pipeline: &pipeline,
        })?;
        self.copy_chunks(table, &data)
    }

    /// Copies chunks as they are stored.
    fn copy_chunks(&self, table: &ChunkTable, to: &Variable) -> Result<()> {
        let mut position = vec![0; table.grid.len()];
        for (number, entry) in table.entries.iter().enumerate() {
            if entry.is_absent() {
                continue;
            }
            let mut rest = number as u64;
            for axis in (0..position.len()).rev() {
                position[axis] = rest % table.grid[axis] * table.chunk_shape[axis];
                rest /= table.grid[axis];
            }
            let (offset, size) = (entry.offset, entry.size);
            if u64::from(size) > self.source.len() {
                let detail = format!("a chunk of {size} bytes at offset {offset} is larger than the file");
                return Err(Error::format(self.source.path(), detail));
            }
            let mut bytes = zeroed(size as usize)?;
            self.source.read_at(offset, &mut bytes)?;
            to.write_chunk(&position, &bytes)?;
        }
        Ok(())
    }
}

/// Whether every chunk went through every filter.
fn is_plain(table: &ChunkTable) -> bool {
    let plain = |entry: &ChunkEntry| entry.is_absent() || entry.filter_mask == 0;
    table.entries.iter().all(plain)
}
