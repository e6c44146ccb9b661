//! Reading one variable along checked axes, through the chunk path.

use super::gather::{gather, scatter, Pick};
use super::resolve::{count, positions, Axes};
use super::reuse::{self, Reusable};
use super::schema::{Schema, SchemaField};
use crate::chunks::{fetch_objects, read_into, read_new, AxisRead, ReadRequest};
use crate::formats::{Container, Conventions, Variable};
use crate::{Error, Result};

/// Up to this size a result is made whatever the size of its file: cells that were never written take no room there.
const UNCHECKED_BYTES: u64 = 4 << 30;

/// DEFLATE never gains more than 1032, and one byte may become a double.
const MAX_RATIO: u64 = 1032 * 8;

/// One variable, and which part of it.
pub(super) struct FieldRead<'a> {
    pub(super) schema: &'a Schema,
    pub(super) container: &'a dyn Container,
    pub(super) field: &'a SchemaField,
    /// What is read along each dimension of the file.
    pub(super) axes: &'a Axes,
    pub(super) threads: usize,
}

impl<'a> FieldRead<'a> {
    fn variable(&self) -> &'a Variable {
        &self.container.variables()[self.field.variable]
    }

    /// The header of the variable.
    ///
    /// # Errors
    /// `Unsupported` when the file holds it in a way that cannot be read.
    pub(super) fn readable(&self) -> Result<&'a Variable> {
        let variable = self.variable();
        match &variable.problem {
            Some(problem) => Err(Error::Unsupported(format!(
                "{}: variable \"{}\" cannot be read: {problem}",
                self.schema.path.display(),
                self.field.name
            ))),
            None => Ok(variable),
        }
    }

    /// The extents of the decoded field, without the length of its strings.
    pub(super) fn shape(&self) -> Result<Vec<usize>> {
        let extent = |d: &usize| self.size([count(&self.axes[*d], self.schema.dims[*d].len)]);
        self.field.dims.iter().map(extent).collect()
    }

    /// The number of selected elements. The length of strings is read whole.
    ///
    /// # Errors
    /// `Format` when memory cannot hold them.
    pub(super) fn total(&self) -> Result<usize> {
        self.size(self.counts())
    }

    /// The selected elements of `width` bytes each, converted, row-major.
    pub(super) fn elements<T: Reusable>(
        &self,
        width: usize,
        convert: &(dyn Fn(&[u8], &mut [T]) + Sync),
    ) -> Result<Vec<T>> {
        let total = self.total()?;
        self.check_size::<T>(total)?;
        let kept = reuse::take(total);
        if kept.is_some() || total == 0 || self.variable().shape != self.lens() {
            let mut out = kept.map_or_else(|| self.allocate(total), Ok)?;
            self.elements_into(width, convert, &mut out)?;
            return Ok(out);
        }
        self.ask(&self.reads(), width, |request, threads| read_new(request, total, threads, convert))
    }

    /// The same into `out`, which has room for exactly as many.
    pub(super) fn elements_into<T: Copy + Default + Send + Sync>(
        &self,
        width: usize,
        convert: &(dyn Fn(&[u8], &mut [T]) + Sync),
        out: &mut [T],
    ) -> Result<()> {
        let variable = self.variable();
        let (reads, lens) = (self.reads(), self.lens());
        if variable.shape == lens {
            return self.block_into(&reads, width, convert, out);
        }
        // NetCDF-4 lets an unlimited dimension grow without the variables that were not written so far. What lies
        // beyond them holds the fill value.
        let counts: Vec<usize> = self.counts().map(|c| c as usize).collect();
        let written = Written::of(&reads, &variable.shape, &lens);
        let total = self.size(written.counts())?;
        // Not converted without need: it may be a number that the result cannot hold.
        if total < out.len() {
            let mut fill = [T::default()];
            let zeros = vec![0; width];
            convert(variable.fill.as_deref().filter(|f| f.len() == width).unwrap_or(&zeros), &mut fill);
            out.fill(fill[0]);
        }
        if let Some(start) = written.run(&counts) {
            return self.block_into(&written.reads, width, convert, &mut out[start..start + total]);
        }
        let mut block = self.allocate(total)?;
        self.block_into(&written.reads, width, convert, &mut block)?;
        scatter(block, &written.places, out, &counts);
        Ok(())
    }

    /// The selected elements of a variable of strings, row-major.
    pub(super) fn strings(&self) -> Result<Vec<String>> {
        let variable = self.variable();
        let shape = self.shape()?;
        let total = self.size(shape.iter().map(|s| *s as u64))?;
        let mut out = self.allocate(total)?;
        if total == 0 {
            return Ok(out);
        }
        let stored = self.container.strings(self.field.variable)?;
        let expected = self.size(variable.shape.iter().copied())?;
        if stored.len() != expected {
            return Err(self.fault(format!("{} strings are stored, not {expected}", stored.len())));
        }
        let written = Written::of(&self.reads(), &variable.shape, &self.lens());
        let picks = written.reads.iter().map(|r| match r {
            AxisRead::Indices(list) => Pick::List(list.iter().map(|i| *i as usize).collect()),
            _ => Pick::All,
        });
        let extents: Vec<usize> = variable.shape.iter().map(|e| *e as usize).collect();
        let picked = gather(&stored, &extents, &picks.collect::<Vec<_>>());
        let text = picked.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
        scatter(text, &written.places, &mut out, &shape);
        Ok(out)
    }

    fn block_into<T: Copy + Default + Send + Sync>(
        &self,
        reads: &[AxisRead],
        width: usize,
        convert: &(dyn Fn(&[u8], &mut [T]) + Sync),
        out: &mut [T],
    ) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        self.ask(reads, width, |request, threads| read_into(request, out, threads, convert).map(drop))
    }

    /// Has `read` read from the chunk path, on so many threads.
    fn ask<R>(
        &self,
        reads: &[AxisRead],
        width: usize,
        read: impl FnOnce(&ReadRequest, usize) -> Result<R>,
    ) -> Result<R> {
        let variable = self.variable();
        let request = ReadRequest {
            source: &**self.container.source(),
            layout: &*self.container.layout(self.field.variable)?,
            shape: &variable.shape,
            element_width: width,
            fill: variable.fill.as_deref(),
            axes: reads,
            what: &format!("variable \"{}\"", self.field.name),
        };
        read(&request, self.threads.max(1))
    }

    /// Fetches what the read needs of a store. Returns the number of objects.
    ///
    /// # Errors
    /// Those of fetching.
    pub(super) fn fetch(&self) -> Result<usize> {
        let variable = self.variable();
        let request = ReadRequest {
            source: &**self.container.source(),
            layout: &*self.container.layout(self.field.variable)?,
            shape: &variable.shape,
            element_width: variable.element.width(),
            fill: None,
            axes: &self.reads(),
            what: &format!("variable \"{}\"", self.field.name),
        };
        fetch_objects(&request)
    }

    /// The number of positions read along each dimension of the variable in the file.
    fn counts(&self) -> impl Iterator<Item = u64> {
        let counts: Vec<u64> = self.reads().iter().zip(self.lens()).map(|(a, len)| count(a, len)).collect();
        counts.into_iter()
    }

    /// What is read along each dimension of the variable in the file.
    fn reads(&self) -> Vec<AxisRead> {
        let decoded = self.field.dims.iter().map(|d| self.axes[*d].clone());
        decoded.chain(self.field.has_text_dim.then_some(AxisRead::All)).collect()
    }

    fn lens(&self) -> Vec<u64> {
        self.variable().dimensions.iter().map(|d| self.schema.dims[*d].len).collect()
    }

    /// The product of extents, as the size of an array.
    fn size(&self, extents: impl IntoIterator<Item = u64>) -> Result<usize> {
        let product = extents.into_iter().try_fold(1_u64, |n, e| n.checked_mul(e));
        product.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| self.fault("it is too large for memory"))
    }

    /// Refuses so many elements of a result that they can only be damage.
    fn check_size<T>(&self, len: usize) -> Result<()> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let stored = self.container.source().len();
        // What a store of objects holds shows only while it is read; there the chunk path keeps count.
        let is_file = self.schema.conventions == Conventions::Cf;
        if is_file && bytes > UNCHECKED_BYTES.max(stored.saturating_mul(MAX_RATIO)) {
            return Err(self.fault(format!("a file of {stored} bytes cannot hold its {len} elements")));
        }
        Ok(())
    }

    /// A buffer whose content is of no meaning.
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate).
    pub(super) fn room<T: Reusable>(&self, len: usize) -> Result<Vec<T>> {
        self.check_size::<T>(len)?;
        reuse::take(len).map_or_else(|| self.allocate(len), Ok)
    }

    /// A buffer of zeros or empty strings, or an error where the system has no room for it, or where so large an extent
    /// can only be damage.
    pub(super) fn allocate<T: Clone + Default>(&self, len: usize) -> Result<Vec<T>> {
        self.check_size::<T>(len)?;
        // Reserving first turns a refusal into an error; the allocation behind it takes fresh pages of zeros.
        let refused = |_| self.fault(format!("there is no memory for {len} elements"));
        Vec::<T>::new().try_reserve_exact(len).map_err(refused)?;
        Ok(vec![T::default(); len])
    }

    pub(super) fn fault(&self, detail: impl std::fmt::Display) -> Error {
        Error::format(&self.schema.path, format!("variable \"{}\": {detail}", self.field.name))
    }
}

/// The part of a read that lies within a variable which is shorter than its dimensions.
struct Written {
    /// As index lists.
    reads: Vec<AxisRead>,
    /// Where they stand in the result, by axis.
    places: Vec<Vec<usize>>,
}

impl Written {
    fn of(reads: &[AxisRead], shape: &[u64], lens: &[u64]) -> Self {
        let mut written = Written { reads: Vec::new(), places: Vec::new() };
        for ((axis, extent), len) in reads.iter().zip(shape).zip(lens) {
            let inside = positions(axis, *len).enumerate().filter(|(_, p)| p < extent);
            let (places, indices) = inside.unzip();
            written.reads.push(AxisRead::Indices(indices));
            written.places.push(places);
        }
        written
    }

    fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.places.iter().map(|p| p.len() as u64)
    }

    /// Where the part starts in a result of these extents, if it is one run of it: only the first axis is short, and
    /// what is written of it comes without a gap.
    fn run(&self, extents: &[usize]) -> Option<usize> {
        let (first, rest) = self.places.split_first()?;
        let whole = rest.iter().zip(&extents[1..]).all(|(places, extent)| places.len() == *extent);
        let dense = first.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        (whole && dense).then(|| first.first().unwrap_or(&0) * extents[1..].iter().product::<usize>())
    }
}
