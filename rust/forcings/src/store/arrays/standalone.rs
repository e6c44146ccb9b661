//! Arrays that are variables of their own: their names, their chunks, and how they are written.

use super::write::{NewDataset, Writer};
use super::{open, parallel, ArrayFile, GROUP};
use crate::array::{ArrayHash, ArrayView};
use crate::chunks::{encode_chunk, Scratch};
use crate::formats::hdf5::Hdf5File;
use crate::store::h5::{Variable, VariableSpec};
use crate::{Error, Result};
use std::collections::HashSet;
use std::sync::Arc;

/// Bytes that a chunk of several windows has at most.
const MAX_WINDOWS_BYTES: usize = 1 << 20;
/// Bytes of the largest chunk that HDF5 writes.
const MAX_CHUNK_BYTES: usize = u32::MAX as usize;

/// How the chunks of an array that is a variable of its own are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Chunking {
    /// One chunk, as long as HDF5 can write it.
    Whole,
    /// Blocks of windows, which are counted along this axis.
    Windows {
        /// Position of the axis.
        axis: usize,
    },
}

/// The chunks of one array: full extents but along one axis.
struct Cut<'a> {
    array: ArrayView<'a>,
    axis: usize,
    /// Positions of one chunk along the axis.
    edge: usize,
    /// Elements before the axis, and bytes behind it.
    outer: usize,
    inner: usize,
}

impl ArrayFile {
    /// Stores arrays as variables of their own, and answers the hashes that were not stored before. All or nothing. One
    /// that was stored before and removed is found again with the bytes that it had.
    ///
    /// # Errors
    /// `InvalidParameter` for an array that no chunk can hold, `ReadOnlyStore`, `Io`, `Hdf5`. Nothing is stored then.
    pub(crate) fn put_standalone(&self, arrays: &[(Chunking, ArrayHash, ArrayView<'_>)]) -> Result<Vec<ArrayHash>> {
        let mut writer = self.writer()?;
        let (mut seen, mut staged, mut restored, mut new) = (HashSet::new(), Vec::new(), Vec::new(), Vec::new());
        for (chunking, hash, array) in arrays {
            if !seen.insert(*hash) || self.contains(hash) {
                continue;
            }
            let cut = Cut::new(*chunking, *array)?;
            staged.push(*hash);
            match self.index.write().restore(hash) {
                true => restored.push(*hash),
                false => new.push((*hash, cut)),
            }
        }
        let mut made = Vec::new();
        let written = self.write_standalone(&mut writer, &new, &mut made).and_then(|addresses| {
            let file = Hdf5File::open(self.source.clone())?;
            let load =
                |(hash, address): (ArrayHash, u64)| Ok((hash, open::load_standalone(&file, &name(&hash), address)?));
            new.iter().map(|(hash, _)| *hash).zip(addresses).map(load).collect::<Result<Vec<_>>>()
        });
        match written {
            Ok(loaded) => {
                let mut index = self.index.write();
                loaded.into_iter().for_each(|(hash, array)| index.add_standalone(hash, Arc::new(array)));
                Ok(staged)
            }
            Err(error) => {
                // The first error is the one to report.
                let _ = self.unlink(&mut writer, &made);
                restored.iter().for_each(|hash| self.index.write().forget(hash));
                Err(error)
            }
        }
    }

    /// Writes an array that the file does not have.
    pub(super) fn write_whole(&self, writer: &mut Writer, hash: ArrayHash, array: ArrayView<'_>) -> Result<()> {
        let cut = Cut::new(Chunking::Whole, array)?;
        self.write_standalone(writer, &[(hash, cut)], &mut Vec::new()).map(drop)
    }

    /// Makes variables and fills them, and answers where they are; chunks are encoded on all cores. `made` lists each
    /// before it exists.
    fn write_standalone(
        &self,
        writer: &mut Writer,
        new: &[(ArrayHash, Cut<'_>)],
        made: &mut Vec<NewDataset>,
    ) -> Result<Vec<u64>> {
        let mut addresses = vec![0; new.len()];
        if new.is_empty() {
            return Ok(addresses);
        }
        let jobs: Vec<(usize, usize)> =
            new.iter().enumerate().flat_map(|(i, (_, cut))| (0..cut.chunks()).map(move |chunk| (i, chunk))).collect();
        let total = new.iter().map(|(_, cut)| cut.array.bytes().len()).fold(0, usize::saturating_add);
        let encode = |job: usize, scratch: &mut Scratch| {
            let (i, chunk) = jobs[job];
            let cut = &new[i].1;
            let encoders = self.compression.pipeline(cut.array.dtype().width());
            match cut.chunks() {
                1 => encode_chunk(cut.array.bytes(), &encoders, scratch),
                _ => encode_chunk(&cut.chunk(chunk)?, &encoders, scratch),
            }
        };
        let mut current: Option<(usize, Variable)> = None;
        parallel::in_order(jobs.len(), parallel::threads_for(total), encode, |job, bytes| {
            let (i, chunk) = jobs[job];
            if current.as_ref().is_none_or(|(at, _)| *at != i) {
                let variable = self.create_standalone(writer, &new[i].0, &new[i].1, made)?;
                addresses[i] = variable.address()?;
                current = Some((i, variable));
            }
            let (_, variable) = current.as_ref().expect("set above");
            variable.write_chunk(&new[i].1.position(chunk), &bytes)
        })?;
        for (i, (hash, cut)) in new.iter().enumerate().filter(|(_, (_, cut))| cut.chunks() == 0) {
            addresses[i] = self.create_standalone(writer, hash, cut, made)?.address()?;
        }
        self.sync_with_hdf5(writer).map(|()| addresses)
    }

    fn create_standalone(
        &self,
        writer: &mut Writer,
        hash: &ArrayHash,
        cut: &Cut<'_>,
        made: &mut Vec<NewDataset>,
    ) -> Result<Variable> {
        let (name, shape, dtype) = (name(hash), cut.array.shape(), cut.array.dtype());
        let first = self.number_dimensions(writer, shape.len())?;
        let group = self.hdf5(writer)?.group(GROUP)?;
        let axes: Vec<String> = (0..shape.len()).map(|axis| format!("{name}_d{axis}")).collect();
        let members = axes.iter().cloned().chain([name.clone()]).collect();
        made.push(NewDataset { name: name.clone(), members, addresses: None });
        let numbered = axes.iter().zip(shape).zip(first..);
        let dimensions: Vec<_> = numbered
            .map(|((axis, &len), number)| group.create_scale(axis, len as u64, number))
            .collect::<Result<_>>()?;
        group.create_variable(&VariableSpec {
            name: &name,
            dtype,
            dimensions: &dimensions,
            chunk: &cut.chunk_shape(),
            fill: &super::pool::fill(dtype),
            pipeline: &self.compression.pipeline(dtype.width()),
        })
    }
}

impl<'a> Cut<'a> {
    fn new(chunking: Chunking, array: ArrayView<'a>) -> Result<Self> {
        let (axis, most) = match chunking {
            Chunking::Whole => (0, MAX_CHUNK_BYTES),
            Chunking::Windows { axis } => (axis, MAX_WINDOWS_BYTES),
        };
        let (shape, width) = (array.shape(), array.dtype().width());
        let extent =
            *shape.get(axis).ok_or_else(|| Error::invalid(format!("an array of shape {shape:?} has too few axes")))?;
        let (outer, inner) =
            (shape[..axis].iter().product::<usize>(), shape[axis + 1..].iter().product::<usize>() * width);
        // Neither is zero, or the array has no bytes and its chunk no meaning.
        let one = (outer * inner).max(1);
        if one > MAX_CHUNK_BYTES && extent > 0 {
            return Err(Error::invalid(format!(
                "one position on axis {axis} of an array of shape {shape:?} has more than 4 GiB"
            )));
        }
        Ok(Cut { array, axis, edge: (most / one).clamp(1, extent.max(1)), outer, inner })
    }

    /// The number of chunks; none for an array without a byte.
    fn chunks(&self) -> usize {
        match self.array.bytes() {
            [] => 0,
            _ => self.array.shape()[self.axis].div_ceil(self.edge),
        }
    }

    fn chunk_shape(&self) -> Vec<u64> {
        let mut shape: Vec<u64> = self.array.shape().iter().map(|&len| len.max(1) as u64).collect();
        if !self.array.bytes().is_empty() {
            shape[self.axis] = self.edge as u64;
        }
        shape
    }

    /// Where a chunk begins.
    fn position(&self, chunk: usize) -> Vec<u64> {
        let mut position = vec![0; self.array.shape().len()];
        position[self.axis] = (chunk * self.edge) as u64;
        position
    }

    /// The elements of a chunk; past the end of the axis, fill values.
    fn chunk(&self, chunk: usize) -> Result<Vec<u8>> {
        let extent = self.array.shape()[self.axis];
        let (start, end) = (chunk * self.edge, ((chunk + 1) * self.edge).min(extent));
        let row = self.edge * self.inner;
        let mut plain = super::rows::zeroed(self.outer * row)?;
        let fill = super::pool::fill(self.array.dtype());
        for (outer, target) in plain.chunks_exact_mut(row).enumerate() {
            let from = &self.array.bytes()[outer * extent * self.inner..][start * self.inner..end * self.inner];
            let (taken, rest) = target.split_at_mut(from.len());
            taken.copy_from_slice(from);
            rest.chunks_exact_mut(fill.len()).for_each(|cell| cell.copy_from_slice(&fill));
        }
        Ok(plain)
    }
}

/// The name of the variable that holds an array.
pub(super) fn name(hash: &ArrayHash) -> String {
    format!("arr_{}", hash.to_hex())
}
