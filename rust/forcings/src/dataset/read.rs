//! Reading one variable along checked axes, through the chunk path.

use super::gather::{gather, scatter, Pick};
use super::resolve::{count, positions, Axes};
use super::reuse::{self, Reusable};
use super::schema::{Schema, SchemaField};
use crate::chunks::{
    fetch_objects, run_all, AxisRead, ByteSource, Convert, Fresh, Layout, Prepared, ReadRequest, Target,
    LARGEST_EXPANSION,
};
use crate::formats::{Container, Conventions, Variable};
use crate::{Error, Result};
use std::sync::Arc;

/// Up to this size a result is made whatever the size of its file: cells that were never written take no room there.
const UNCHECKED_BYTES: u64 = 4 << 30;

/// A larger one has this many bytes for a stored byte at the most: what a compressor gains, each of them a double.
const MAX_RATIO: u64 = LARGEST_EXPANSION * 8;

/// One variable, and which part of it.
#[derive(Clone, Copy)]
pub(super) struct FieldRead<'a> {
    pub(super) schema: &'a Schema,
    pub(super) container: &'a dyn Container,
    pub(super) field: &'a SchemaField,
    /// What is read along each dimension of the file.
    pub(super) axes: &'a Axes,
    pub(super) threads: usize,
}

/// What a request to the chunk path is made of.
pub(super) struct Ask<'a> {
    source: &'a dyn ByteSource,
    variable: &'a Variable,
    layout: Arc<Layout>,
    width: usize,
    /// The lengths of the variable's dimensions.
    extents: Vec<u64>,
    axes: Vec<AxisRead>,
    what: String,
}

impl Ask<'_> {
    /// Prepares to read into `out`.
    ///
    /// # Errors
    /// Those of [`Prepared::new`].
    pub(super) fn prepare<'s, T: Reusable>(
        &'s self,
        out: Target<'s, T>,
        convert: &'s Convert<'s, T>,
    ) -> Result<Prepared<'s>> {
        Prepared::new(&self.request(self.variable.fill.as_deref()), &self.extents, out, convert)
    }

    fn request<'s>(&'s self, fill: Option<&'s [u8]>) -> ReadRequest<'s> {
        ReadRequest {
            source: self.source,
            layout: &self.layout,
            shape: &self.variable.shape,
            element_width: self.width,
            fill,
            axes: &self.axes,
            what: &self.what,
        }
    }
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
        if total == 0 {
            return Ok(Vec::new());
        }
        let mut out = self.fresh(total, total)?;
        let ask = self.ask(width)?;
        run_all(vec![ask.prepare(out.whole(), convert)?], self.threads).map_err(|failure| failure.error)?;
        Ok(out.finish())
    }

    /// What the chunk path is asked for, with elements of so many bytes.
    ///
    /// # Errors
    /// Those of finding where the elements lie.
    pub(super) fn ask(&self, width: usize) -> Result<Ask<'a>> {
        let (layout, what) = (self.container.layout(self.field.variable)?, format!("variable \"{}\"", self.field.name));
        let (variable, source) = (self.variable(), &**self.container.source());
        Ok(Ask { source, variable, layout, width, extents: self.lens(), axes: self.reads(), what })
    }

    /// The selected elements of a variable of strings, row-major.
    pub(super) fn strings(&self) -> Result<Vec<String>> {
        let variable = self.variable();
        let shape = self.shape()?;
        let total = self.size(shape.iter().map(|s| *s as u64))?;
        self.check_size::<String>(total)?;
        let mut out = Vec::new();
        out.try_reserve_exact(total).map_err(|_| self.no_memory(total))?;
        out.resize(total, String::new());
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

    /// Fetches what the read needs of a store. Returns the number of objects.
    ///
    /// # Errors
    /// Those of fetching.
    pub(super) fn fetch(&self) -> Result<usize> {
        fetch_objects(&self.ask(self.variable().element.width())?.request(None))
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

    /// The lengths of those dimensions.
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
        if is_file && !is_plausible(bytes, stored) {
            return Err(self.fault(format!("a file of {stored} bytes cannot hold its {len} elements")));
        }
        Ok(())
    }

    /// Memory for `len` elements of the result, which may grow to `most`.
    ///
    /// # Errors
    /// `Format` where the system has no room for them, or where so large an extent can only be damage.
    pub(super) fn fresh<T: Reusable>(&self, len: usize, most: usize) -> Result<Fresh<T>> {
        self.check_size::<T>(most)?;
        if let Some(mut kept) = reuse::take(most) {
            kept.truncate(len);
            return Ok(Fresh::reusing(kept));
        }
        Fresh::new(len, most).map_err(|_| self.no_memory(most))
    }

    fn no_memory(&self, len: usize) -> Error {
        self.fault(format!("there is no memory for {len} elements"))
    }

    pub(super) fn fault(&self, detail: impl std::fmt::Display) -> Error {
        Error::format(&self.schema.path, format!("variable \"{}\": {detail}", self.field.name))
    }
}

/// Whether a file of `stored` bytes may give a result of so many.
fn is_plausible(bytes: u64, stored: u64) -> bool {
    bytes <= UNCHECKED_BYTES.max(stored.saturating_mul(MAX_RATIO))
}

/// The part of a read that lies within a variable which is shorter than its dimensions: NetCDF-4 lets an unlimited dimension
/// grow without the variables that were not written so far.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_may_be_as_large_as_its_file_can_make_it() {
        // Blocks of Zstandard of one repeated byte each, which become doubles.
        let stored = 5 << 20;
        let largest = stored / 4 * (128 << 10) * 8;
        assert!(is_plausible(largest, stored) && !is_plausible(largest + 1, stored));
        assert!(is_plausible(4 << 30, 100) && !is_plausible((4 << 30) + 1, 100));
    }
}
