//! Reading arrays: by offset, on all cores, without the HDF5 library.

mod slabs;

pub(crate) use slabs::Slab;

use super::index::{Place, Standalone};
use super::packed::{Column, DatasetState, PackedDataset};
use super::rows::{zeroed, Columns};
use super::{parallel, ArrayFile};
use crate::array::{Array, ArrayHash, DType};
use crate::chunks::{read_bytes_into, AxisRead, Layout, ReadRequest, MAX_EXPANSION};
use crate::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The columns of one dataset that are read together.
struct Wanted {
    dataset: Arc<PackedDataset>,
    columns: Vec<(usize, ArrayHash)>,
}

/// A variable of the file, to be read along its axes.
struct Variable<'a> {
    name: &'a str,
    dtype: DType,
    layout: &'a Layout,
    shape: &'a [u64],
    fill: Option<&'a [u8]>,
}

impl ArrayFile {
    /// The part of one array that lies in `range` along `axis`; only the chunks that it touches are decoded.
    ///
    /// # Errors
    /// `NotFound` for a hash that is not stored, `Selection` for an axis or a range that the array does not have, `Format`
    /// and `Integrity` when the file is damaged.
    pub(crate) fn read_slab(&self, hash: &ArrayHash, axis: usize, range: Range<usize>) -> Result<Array> {
        loop {
            match self.place(hash)? {
                Place::Standalone(array) => return self.read_standalone(&array, Some((axis, range))),
                Place::Packed(Column { dataset, column }) => {
                    let state = dataset.state.read();
                    if state.hashes[column] == Some(*hash) {
                        return match axis {
                            0 => Ok(self.read_columns(&dataset, &state, &[(column, *hash)], range)?.remove(0)),
                            _ => self.read_within(&dataset, &state, column, (axis, range)),
                        };
                    }
                }
            }
            // Moved or removed between the look-up and the lock: look again.
        }
    }

    /// Whole arrays, in the order of `hashes`, which may repeat. Each chunk is inflated once.
    ///
    /// # Errors
    /// As [`ArrayFile::read_slab`].
    pub(crate) fn read_many(&self, hashes: &[ArrayHash]) -> Result<Vec<Array>> {
        let mut found: HashMap<ArrayHash, Array> = HashMap::new();
        let mut wanted = hashes.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        while !wanted.is_empty() {
            let mut datasets: Vec<Wanted> = Vec::new();
            let mut known: HashMap<*const PackedDataset, usize> = HashMap::new();
            for hash in std::mem::take(&mut wanted) {
                match self.place(&hash)? {
                    Place::Standalone(array) => {
                        found.insert(hash, self.read_standalone(&array, None)?);
                    }
                    Place::Packed(Column { dataset, column }) => {
                        let at = *known.entry(Arc::as_ptr(&dataset)).or_insert(datasets.len());
                        if at == datasets.len() {
                            datasets.push(Wanted { dataset, columns: Vec::new() });
                        }
                        datasets[at].columns.push((column, hash));
                    }
                }
            }
            for Wanted { dataset, mut columns } in datasets {
                let state = dataset.state.read();
                // Moved or removed between the look-up and the lock: look again.
                columns.retain(|(column, hash)| {
                    let there = state.hashes[*column] == Some(*hash);
                    if !there {
                        wanted.push(*hash);
                    }
                    there
                });
                columns.sort_unstable_by_key(|(column, _)| *column);
                let arrays = self.read_columns(&dataset, &state, &columns, 0..dataset.pool.length)?;
                found.extend(columns.iter().map(|(_, hash)| *hash).zip(arrays));
            }
        }
        let mut last: HashMap<ArrayHash, usize> = HashMap::new();
        last.extend(hashes.iter().enumerate().map(|(i, hash)| (*hash, i)));
        let mut take = |(i, hash): (usize, &ArrayHash)| match last[hash] == i {
            true => found.remove(hash),
            false => found.get(hash).cloned(),
        };
        Ok(hashes.iter().enumerate().map(|item| take(item).expect("every hash was read above")).collect())
    }

    /// The type and the shape of an array.
    ///
    /// # Errors
    /// `NotFound` for a hash that is not stored.
    pub(crate) fn shape(&self, hash: &ArrayHash) -> Result<(DType, Vec<usize>)> {
        match self.place(hash)? {
            Place::Packed(Column { dataset, .. }) => Ok((dataset.pool.dtype, dataset.pool.array_shape())),
            Place::Standalone(array) => Ok((array.dtype, self.standalone_shape(&array)?)),
        }
    }

    fn place(&self, hash: &ArrayHash) -> Result<Place> {
        let waits = self.waiting.lock().contains(hash);
        if waits {
            self.settle()?;
        }
        let place = self.index.read().place(hash).cloned();
        place.ok_or_else(|| {
            let path = self.source.path().display();
            Error::NotFound(format!("{path} holds no array with the hash {hash:?}"))
        })
    }

    /// Reads columns of a dataset whose state the caller has locked.
    pub(super) fn read_columns(
        &self,
        dataset: &PackedDataset,
        state: &DatasetState,
        columns: &[(usize, ArrayHash)],
        rows: Range<usize>,
    ) -> Result<Vec<Array>> {
        check_range(0, &rows, &dataset.pool.array_shape())?;
        let layout = state.layout()?;
        let source = &*self.source;
        let bytes = match dataset.row_chunks(layout) {
            Some(chunks) => Columns { dataset, source, chunks, columns, rows: rows.clone() }.read()?,
            // Another library's layout: each column for itself.
            None => {
                let one = |&(column, _): &(usize, ArrayHash)| {
                    self.read_within(dataset, state, column, (0, rows.clone())).map(Array::into_bytes)
                };
                columns.iter().map(one).collect::<Result<_>>()?
            }
        };
        let mut shape = dataset.pool.array_shape();
        shape[0] = rows.len();
        bytes.into_iter().map(|bytes| Array::new(dataset.pool.dtype, shape.clone(), bytes)).collect()
    }

    /// A part of one column of a dataset whose state the caller has locked, whatever its chunks are.
    fn read_within(
        &self,
        dataset: &PackedDataset,
        state: &DatasetState,
        column: usize,
        (axis, range): (usize, Range<usize>),
    ) -> Result<Array> {
        let mut shape = dataset.pool.array_shape();
        check_range(axis, &range, &shape)?;
        shape[axis] = range.len();
        let mut axes = vec![AxisRead::All; shape.len()];
        axes[axis] = slice(&range);
        axes.insert(1, slice(&(column..column + 1)));
        let variable = Variable {
            name: &dataset.name,
            dtype: dataset.pool.dtype,
            layout: state.layout()?,
            shape: &dataset.shape(),
            fill: Some(&dataset.fill),
        };
        self.read_axes(&variable, &axes, shape)
    }

    pub(super) fn read_standalone(&self, array: &Standalone, part: Option<(usize, Range<usize>)>) -> Result<Array> {
        let mut shape = self.standalone_shape(array)?;
        let mut axes = vec![AxisRead::All; shape.len()];
        if let Some((axis, range)) = part {
            check_range(axis, &range, &shape)?;
            axes[axis] = slice(&range);
            shape[axis] = range.len();
        }
        let variable = Variable {
            name: &array.name,
            dtype: array.dtype,
            layout: &array.layout,
            shape: &array.shape,
            fill: array.fill.as_deref(),
        };
        self.read_axes(&variable, &axes, shape)
    }

    fn read_axes(&self, variable: &Variable<'_>, axes: &[AxisRead], shape: Vec<usize>) -> Result<Array> {
        let mut bytes = self.room(crate::array::byte_len(variable.dtype, &shape)?)?;
        let request = ReadRequest {
            source: &*self.source,
            layout: variable.layout,
            shape: variable.shape,
            element_width: variable.dtype.width(),
            fill: variable.fill,
            axes,
            what: &format!("variable {}", variable.name),
        };
        read_written(&request, &mut bytes)?;
        Array::new(variable.dtype, shape, bytes)
    }

    fn standalone_shape(&self, array: &Standalone) -> Result<Vec<usize>> {
        let shape: Option<Vec<usize>> = array.shape.iter().map(|&d| usize::try_from(d).ok()).collect();
        let path = self.source.path().display();
        shape.ok_or_else(|| Error::Integrity(format!("{path}: variable {} is too large", array.name)))
    }

    /// A buffer for `len` bytes of values, if the file can hold as many.
    fn room(&self, len: usize) -> Result<Vec<u8>> {
        if len as u64 > self.source.len().saturating_mul(MAX_EXPANSION as u64) {
            let path = self.source.path().display();
            return Err(Error::Integrity(format!(
                "{path}: an array of {len} bytes was never written: it is too large"
            )));
        }
        zeroed(len)
    }
}

/// Reads values all of which were written: an array has no cells of another kind.
fn read_written(request: &ReadRequest<'_>, bytes: &mut [u8]) -> Result<()> {
    let stats = read_bytes_into(request, bytes, parallel::threads_for(bytes.len()))?;
    if stats.blocks_absent > 0 {
        let path = request.source.path().display();
        return Err(Error::Integrity(format!("{path}: a part of {} was never written", request.what)));
    }
    Ok(())
}

fn slice(range: &Range<usize>) -> AxisRead {
    AxisRead::Slice { start: range.start as u64, stop: range.end as u64, step: 1 }
}

fn check_range(axis: usize, range: &Range<usize>, shape: &[usize]) -> Result<()> {
    if axis >= shape.len() || range.start > range.end || range.end > shape[axis] {
        return Err(Error::Selection(format!("{range:?} on axis {axis} is asked of an array of shape {shape:?}")));
    }
    Ok(())
}
