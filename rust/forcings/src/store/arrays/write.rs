//! Adding and removing arrays. One thread at a time writes; it holds a dataset's lock while it changes it.

use super::index::Place;
use super::open;
use super::packed::{Column, PackedDataset};
use super::pool::{fill, PoolKey};
use super::rows::{Edit, Rewrite};
use super::{ArrayFile, GROUP};
use crate::array::{ArrayHash, ArrayView};
use crate::formats::hdf5::Hdf5File;
use crate::store::h5::{H5File, Variable, VariableSpec};
use crate::{Error, Result};
use parking_lot::MutexGuard;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// HDF5's side of the file.
#[derive(Default)]
pub(super) struct Writer {
    /// `None` before the first change.
    pub(super) file: Option<H5File>,
    /// The lowest number that no dimension has, once it is known.
    next_dimension: Option<i32>,
    pub(super) closed: bool,
    /// Bringing changes to the disk failed: what it has is known when the file is opened again.
    pub(super) broken: bool,
}

/// A dataset that was just made in the file.
pub(super) struct NewDataset {
    pub(super) name: String,
    /// Everything that was made for it.
    pub(super) members: Vec<String>,
    /// Where the headers of a packed dataset and of its hashes lie, once they do.
    pub(super) addresses: Option<(u64, u64)>,
}

impl Writer {
    pub(super) fn open(file: H5File) -> Self {
        Writer { file: Some(file), next_dimension: Some(0), ..Writer::default() }
    }
}

impl ArrayFile {
    /// Stores one array, in a free column of its pool or in a new dataset. `false` if its hash is stored already: then
    /// the bytes stay those of the first array with it. It is written together with others, at the next flush at the
    /// latest.
    ///
    /// # Errors
    /// `InvalidParameter` for an array that is none of the pool, `ReadOnlyStore`, `Io`, `Hdf5`. Nothing is stored then.
    pub(crate) fn put_one(&self, pool: &PoolKey, hash: ArrayHash, array: ArrayView<'_>) -> Result<bool> {
        pool.check(&array)?;
        let mut writer = self.writer()?;
        // A file that cannot be written says so now.
        self.hdf5(&mut writer)?;
        self.write_many_waiting(&mut writer)?;
        if self.contains(&hash) {
            return Ok(false);
        }
        if !self.index.write().restore(&hash) {
            self.waiting.lock().push(pool, hash, array);
        }
        Ok(true)
    }

    /// Stores arrays in datasets of their own, and answers the hashes that were not stored before. All or nothing. The
    /// only new array of its pool is stored as by [`ArrayFile::put_one`].
    ///
    /// # Errors
    /// As [`ArrayFile::put_one`].
    pub(crate) fn put_batch(&self, arrays: &[(PoolKey, ArrayHash, ArrayView<'_>)]) -> Result<Vec<ArrayHash>> {
        for (pool, _, array) in arrays {
            pool.check(array)?;
        }
        let mut writer = self.writer()?;
        let mut seen = HashSet::new();
        let mut order: Vec<&PoolKey> = Vec::new();
        let mut pools: HashMap<&PoolKey, Vec<(ArrayHash, ArrayView<'_>)>> = HashMap::new();
        // Staged are all arrays that are new; joined are those that got a place which was there before.
        let (mut staged, mut joined) = (Vec::new(), Vec::new());
        for (pool, hash, array) in arrays {
            if seen.insert(*hash) && !self.contains(hash) {
                staged.push(*hash);
                if self.index.write().restore(hash) {
                    joined.push(*hash);
                    continue;
                }
                let members = pools.entry(pool).or_insert_with(|| {
                    order.push(pool);
                    Vec::new()
                });
                members.push((*hash, *array));
            }
        }
        let mut made = Vec::new();
        let put = || -> Result<()> {
            // The datasets of a pool are numbered as they are made.
            match pools.values().any(|arrays| arrays.len() > 1) {
                true => self.write_waiting(&mut writer)?,
                false => self.write_many_waiting(&mut writer)?,
            }
            let (single, many): (Vec<_>, Vec<_>) = order.into_iter().partition(|pool| pools[*pool].len() == 1);
            for pool in many {
                self.put_datasets(&mut writer, pool, &pools[pool], &mut made)?;
            }
            // Last: whoever reads while something waits waits for the writer.
            for pool in single {
                for (hash, array) in &pools[pool] {
                    joined.push(*hash);
                    self.waiting.lock().push(pool, *hash, *array);
                }
            }
            self.sync_with_hdf5(&mut writer)?;
            self.enter(&made)
        };
        let Err(error) = put() else { return Ok(staged) };
        // The first error is the one to report. What cannot be taken out of the file is at least not found any more.
        if self.remove_columns(&mut writer, &joined).is_err() {
            self.forget(&joined);
        }
        let _ = self.unlink(&mut writer, &made);
        Err(error)
    }

    /// Removes arrays: their columns become free, and zeros; one that is a variable of its own is not found any more.
    /// Hashes that are not stored are passed over.
    ///
    /// # Errors
    /// `ReadOnlyStore`, `Io`, `Hdf5`.
    pub(crate) fn remove_many(&self, hashes: &[ArrayHash]) -> Result<()> {
        self.remove_columns(&mut *self.writer()?, hashes)
    }

    /// Sets a text attribute of the root group. It reaches the file with the next flush.
    ///
    /// # Errors
    /// `ReadOnlyStore`, `Io`, `Hdf5`.
    pub(crate) fn set_attribute(&self, name: &str, text: &str) -> Result<()> {
        let mut writer = self.writer()?;
        self.hdf5(&mut writer)?.set_text(name, text)?;
        self.attributes.lock().insert(name.into(), text.into());
        Ok(())
    }

    pub(super) fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        self.check_writable()?;
        let writer = self.writer.lock();
        match writer.closed {
            true => Err(Error::Closed("store")),
            false => Ok(writer),
        }
    }

    /// The file as HDF5 has it, opened at the first change.
    pub(super) fn hdf5<'a>(&self, writer: &'a mut Writer) -> Result<&'a H5File> {
        self.check_unbroken(writer)?;
        if writer.file.is_none() {
            writer.file = Some(H5File::open(&self.layer)?);
        }
        let file = writer.file.as_ref().expect("opened above");
        file.check_whole().map(|()| file)
    }

    /// Brings the file up to what HDF5 holds.
    pub(super) fn sync_with_hdf5(&self, writer: &mut Writer) -> Result<()> {
        self.hdf5(writer)?.flush()
    }

    /// Writes what waits if it is much.
    fn write_many_waiting(&self, writer: &mut Writer) -> Result<()> {
        let full = self.waiting.lock().is_full();
        match full {
            true => self.write_waiting(writer),
            false => Ok(()),
        }
    }

    /// Rewrites columns of a dataset, then its slots by `slots`, and puts its new chunk table in place.
    pub(super) fn change(
        &self,
        writer: &mut Writer,
        dataset: &PackedDataset,
        edits: &[(usize, Edit<'_>)],
        slots: impl FnOnce(&Variable) -> Result<()>,
    ) -> Result<()> {
        let mut state = dataset.state.write();
        let layout = state.layout()?.clone();
        // Whatever ends this early, no reader uses an address that may be another chunk's by then.
        state.layout = Err(format!("a change of {} was left unfinished; open the store again", dataset.name));
        let written = self.hdf5(writer).and_then(|file| {
            let group = file.group(GROUP)?;
            let writable = dataset.writable(&layout, self.compression).filter(|_| state.is_whole(&layout));
            if let Some((rows, encoders)) = writable {
                let data = group.variable(&dataset.name)?;
                let present = dataset.row_chunks(&layout);
                let present = present.as_ref().map(|chunks| (&*self.source, chunks));
                let rewrite = Rewrite { dataset, rows, encoders: &encoders, present, edits };
                let mut position = vec![0; dataset.shape().len()];
                rewrite.run(|row, bytes| {
                    position[0] = row;
                    data.write_chunk(&position, bytes)
                })?;
            }
            slots(&group.variable(&format!("{}_h", dataset.name))?)
        });
        let reread = self.sync_with_hdf5(writer).and_then(|()| {
            let now = Hdf5File::open(self.source.clone())?.dataset_at(dataset.address)?;
            now.layout().map(Arc::new)
        });
        state.generation += 1;
        match reread {
            Ok(layout) => state.layout = Ok(layout),
            Err(error) => {
                let what = format!("{} was left half changed: {error}; open the store again", dataset.name);
                state.layout = Err(what);
                return written.and(Err(error));
            }
        }
        written
    }

    /// Makes datasets for all `arrays`, each as wide as it may be, and fills them.
    fn put_datasets(
        &self,
        writer: &mut Writer,
        pool: &PoolKey,
        arrays: &[(ArrayHash, ArrayView<'_>)],
        made: &mut Vec<NewDataset>,
    ) -> Result<()> {
        let mut names: Vec<String> = Vec::new();
        for arrays in arrays.chunks(pool.max_columns()) {
            let name = self.index.read().next_name(pool, &names);
            names.push(name.clone());
            let columns = arrays.len();
            let (data, hashes) = self.create_dataset(writer, pool, name.clone(), columns, made)?;
            let dataset = PackedDataset::planned(name, pool.clone(), columns);
            let edits: Vec<_> = arrays.iter().map(|(_, array)| Edit::Set(array.bytes())).enumerate().collect();
            let encoders = self.compression.pipeline(pool.dtype.width());
            let rows = pool.chunk_rows(columns);
            let rewrite = Rewrite { dataset: &dataset, rows, encoders: &encoders, present: None, edits: &edits };
            let mut position = vec![0; dataset.shape().len()];
            rewrite.run(|row, bytes| {
                position[0] = row;
                data.write_chunk(&position, bytes)
            })?;
            let slots: Vec<String> = arrays.iter().map(|(hash, _)| hash.to_hex()).collect();
            hashes.write_strings(0, &slots)?;
        }
        Ok(())
    }

    /// Makes a dataset with its dimensions and its empty slots. `made` lists it before the first of them exists.
    pub(super) fn create_dataset(
        &self,
        writer: &mut Writer,
        pool: &PoolKey,
        name: String,
        columns: usize,
        made: &mut Vec<NewDataset>,
    ) -> Result<(Variable, Variable)> {
        let shape = pool.dataset_shape(columns);
        let first = self.number_dimensions(writer, shape.len())?;
        let group = self.hdf5(writer)?.group(GROUP)?;
        let elements = (0..pool.element_shape.len()).map(|k| format!("{name}_e{k}"));
        let names: Vec<String> = [format!("{name}_t"), format!("{name}_c")].into_iter().chain(elements).collect();
        let slots = format!("{name}_h");
        let members = names.iter().cloned().chain([name.clone(), slots.clone()]).collect();
        made.push(NewDataset { name: name.clone(), members, addresses: None });
        let numbered = names.iter().zip(&shape).zip(first..);
        let dimensions: Vec<_> =
            numbered.map(|((name, &len), number)| group.create_scale(name, len, number)).collect::<Result<_>>()?;
        let mut chunk: Vec<u64> = shape.iter().map(|&len| len.max(1)).collect();
        chunk[0] = pool.chunk_rows(columns) as u64;
        let pipeline = self.compression.pipeline(pool.dtype.width());
        let data = group.create_variable(&VariableSpec {
            name: &name,
            dtype: pool.dtype,
            dimensions: &dimensions,
            chunk: &chunk,
            fill: &fill(pool.dtype),
            pipeline: &pipeline,
        })?;
        let hashes = group.create_strings(&slots, &dimensions[1])?;
        made.last_mut().expect("pushed above").addresses = Some((data.address()?, hashes.address()?));
        Ok((data, hashes))
    }

    /// The first of `count` numbers that no dimension has.
    pub(super) fn number_dimensions(&self, writer: &mut Writer, count: usize) -> Result<i32> {
        let first = match writer.next_dimension {
            Some(first) => first,
            None => self.hdf5(writer)?.next_dimension()?,
        };
        let next = i32::try_from(count).ok().and_then(|count| first.checked_add(count));
        writer.next_dimension = Some(next.ok_or_else(|| {
            Error::Integrity(format!("{} has used up its dimension numbers", self.layer.path().display()))
        })?);
        Ok(first)
    }

    /// Takes datasets that were made, filled and flushed into the index.
    pub(super) fn enter(&self, made: &[NewDataset]) -> Result<()> {
        if made.is_empty() {
            return Ok(());
        }
        let file = Hdf5File::open(self.source.clone())?;
        let load = |new: &NewDataset| {
            let pool = PoolKey::from_name(&new.name).zip(new.addresses);
            let (pool, addresses) =
                pool.ok_or_else(|| Error::Integrity(format!("the dataset {} is incomplete", new.name)))?;
            open::load(&file, &new.name, &pool, addresses).map(Arc::new)
        };
        let datasets: Vec<_> = made.iter().map(load).collect::<Result<_>>()?;
        let mut index = self.index.write();
        datasets.into_iter().for_each(|dataset| index.add(dataset));
        Ok(())
    }

    /// Takes datasets that were not entered out of the file again.
    pub(super) fn unlink(&self, writer: &mut Writer, made: &[NewDataset]) -> Result<()> {
        if made.is_empty() {
            return Ok(());
        }
        let group = self.hdf5(writer)?.group(GROUP)?;
        for member in made.iter().flat_map(|new| new.members.iter().rev()) {
            // Some were never made.
            let _ = group.unlink(member);
        }
        self.sync_with_hdf5(writer)
    }

    fn remove_columns(&self, writer: &mut Writer, hashes: &[ArrayHash]) -> Result<()> {
        self.waiting.lock().remove_all(hashes);
        let mut datasets: BTreeMap<String, (Arc<PackedDataset>, BTreeSet<usize>)> = BTreeMap::new();
        {
            let mut index = self.index.write();
            for hash in hashes {
                match index.place(hash).cloned() {
                    None => {}
                    // The variable stays: netCDF cannot remove one, and a reader may be about to use its address.
                    Some(Place::Standalone(_)) => index.forget(hash),
                    Some(Place::Packed(Column { dataset, column })) => {
                        let (_, columns) = datasets.entry(dataset.name.clone()).or_insert((dataset, BTreeSet::new()));
                        columns.insert(column);
                    }
                }
            }
        }
        for (dataset, columns) in datasets.into_values() {
            self.free(writer, &dataset, &columns.into_iter().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Frees these columns, which ascend.
    fn free(&self, writer: &mut Writer, dataset: &PackedDataset, columns: &[usize]) -> Result<()> {
        let slots = self.hdf5(writer)?.group(GROUP)?.variable(&format!("{}_h", dataset.name))?;
        let hashes: Vec<ArrayHash> = {
            let state = dataset.state.read();
            columns.iter().filter_map(|&column| state.hashes[column]).collect()
        };
        self.forget(&hashes);
        for run in columns.chunk_by(|a, b| a + 1 == *b) {
            slots.write_strings(run[0], &vec![String::new(); run.len()])?;
        }
        let edits: Vec<_> = columns.iter().map(|&column| (column, Edit::Zero)).collect();
        self.change(writer, dataset, &edits, |_| Ok(()))
    }

    /// From here on nobody finds the arrays; whoever found them before sees that their columns are free.
    fn forget(&self, hashes: &[ArrayHash]) {
        for hash in hashes {
            let place = self.index.read().place(hash).cloned();
            if let Some(Place::Packed(Column { dataset, column })) = place {
                let mut state = dataset.state.write();
                state.hashes[column] = None;
                state.generation += 1;
            }
            self.index.write().forget(hash);
        }
    }
}
