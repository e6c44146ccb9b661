//! What one field is decoded from: one read, or the reads of two records, one for each half of the result.

#[cfg(test)]
mod tests;

use super::attributes;
use super::convert;
use super::decode::FloatType;
use super::making::{Arrangement, Done, Make, Numbers, Pending};
use super::packing::{Rules, Target};
use super::read::FieldRead;
use super::reuse::Reusable;
use super::text;
use super::Values;
use crate::formats::{Conventions, ElementType};
use crate::time::cf;
use crate::{Error, Result};
use std::borrow::Cow;

/// How the elements of a variable become values.
pub(super) enum Kind {
    Numbers(Rules),
    Chars,
    Strings,
}

/// A read of one field of one file, with its rules, which the files of a bracket need not share.
pub(super) struct Half<'a> {
    pub(super) read: FieldRead<'a>,
    pub(super) kind: Kind,
    /// The file, among those of the read.
    pub(super) part: usize,
}

/// The reads that give a field.
pub(super) struct Plan<'a> {
    /// One, or two whose fields agree in all but their rules.
    halves: Vec<Half<'a>>,
    /// The axis, of extent 1 in each half, along which two of them lie. A single one then stands for both.
    axis: Option<usize>,
}

/// An error, and the file, among those of a read, that it is about.
pub(crate) struct Fault {
    pub(crate) part: usize,
    pub(crate) error: Error,
}

impl<'a> Half<'a> {
    /// Finds the rules of a field.
    ///
    /// # Errors
    /// `Unsupported` when the file holds it in a way that cannot be read.
    pub(super) fn new(read: FieldRead<'a>, part: usize) -> Result<Self> {
        let variable = read.readable()?;
        let kind = match &variable.element {
            ElementType::Number(stored, order) if read.schema.conventions == Conventions::Plain => {
                Kind::Numbers(Rules::plain(*stored, *order))
            }
            ElementType::Number(stored, order) => {
                // Time axes come as they are; their numbers mean nothing without their units.
                let units = attributes::text(&variable.attributes, "units");
                let is_time_axis = read.field.is_coord && units.is_some_and(|u| cf::is_time_units(&u));
                let rules = if is_time_axis { Rules::raw } else { Rules::of };
                Kind::Numbers(rules(variable, *stored, *order))
            }
            ElementType::Bool => Kind::Numbers(Rules::bools()),
            ElementType::Char => Kind::Chars,
            ElementType::String => Kind::Strings,
            ElementType::Other(_) => unreachable!("a schema leaves such variables out"),
        };
        Ok(Half { read, kind, part })
    }

    pub(super) fn fault(&self, error: Error) -> Fault {
        Fault { part: self.part, error }
    }

    fn exceeds_singles(&self) -> bool {
        matches!(&self.kind, Kind::Numbers(rules) if rules.exceeds_singles())
    }

    fn units(&self) -> Option<Cow<'_, str>> {
        self.read.schema.units(self.read.field)
    }

    /// The type of the values, in words.
    fn type_name(&self) -> &'static str {
        match &self.kind {
            Kind::Numbers(Rules { target: Target::I32, .. }) => "int32",
            Kind::Numbers(Rules { target: Target::I64, .. }) => "int64",
            Kind::Numbers(Rules { target: Target::F64, .. }) => "floating point",
            Kind::Numbers(Rules { target: Target::Bool, .. }) => "bool",
            Kind::Chars | Kind::Strings => "text",
        }
    }

    fn texts(&self) -> Result<Vec<String>> {
        let read = &self.read;
        if let Kind::Strings = self.kind {
            return read.strings();
        }
        let bytes = read.elements(1, &|raw, out: &mut [u8]| out.copy_from_slice(raw))?;
        if read.field.has_text_dim {
            return Ok(text::rows(&bytes, read.shape()?.iter().product()));
        }
        text::cells(&bytes).ok_or_else(|| {
            let name = &read.field.name;
            let detail = format!("variable \"{name}\": single characters beyond ASCII cannot be told apart");
            Error::format(&read.schema.path, detail)
        })
    }
}

impl<'a> Plan<'a> {
    /// A field of one read.
    pub(super) fn single(half: Half<'a>) -> Self {
        Plan { halves: vec![half], axis: None }
    }

    /// A field whose one record stands for both.
    pub(super) fn doubled(half: Half<'a>, axis: usize) -> Self {
        Plan { halves: vec![half], axis: Some(axis) }
    }

    /// A field of one record of each of two files.
    ///
    /// # Errors
    /// `Format`, about the second, when their extents, their types or their units differ.
    pub(super) fn joined(first: Half<'a>, second: Half<'a>, axis: usize) -> Result<Self> {
        let (shapes, types) = ([first.read.shape()?, second.read.shape()?], [first.type_name(), second.type_name()]);
        let (name, other) = (&first.read.field.name, first.read.schema.path.display());
        let differ = |what: &str, here: String, there: String| {
            let detail = format!(
                "variable \"{name}\" has {what} {here} here and {there} in {other}; their records make no bracket"
            );
            Err(Error::format(&second.read.schema.path, detail))
        };
        if shapes[0] != shapes[1] {
            return differ("records of shape", format!("{:?}", shapes[1]), format!("{:?}", shapes[0]));
        }
        if types[0] != types[1] {
            return differ("the type", types[1].into(), types[0].into());
        }
        if let (Some(there), Some(here)) = (first.units(), second.units()) {
            if there.trim() != here.trim() {
                return differ("the units", format!("\"{here}\""), format!("\"{there}\""));
            }
        }
        Ok(Plan { halves: vec![first, second], axis: Some(axis) })
    }

    /// The extents of the field.
    pub(super) fn shape(&self) -> Result<Vec<usize>> {
        let mut shape = self.halves[0].read.shape()?;
        if let Some(axis) = self.axis {
            shape[axis] *= 2;
        }
        Ok(shape)
    }

    /// Makes room for the values of the field; floating-point ones of `eltype`, but for integers that it would round. Text is
    /// read at once.
    pub(super) fn begin(&self, eltype: FloatType) -> std::result::Result<Box<dyn Pending + '_>, Fault> {
        Ok(match (&self.halves[0].kind, eltype) {
            (Kind::Numbers(Rules { target: Target::I32, .. }), _) => {
                self.numbers(&|rules, _| convert::to_i32(rules), Values::I32)?
            }
            (Kind::Numbers(Rules { target: Target::I64, .. }), _) => self.numbers(&convert::to_i64, Values::I64)?,
            (Kind::Numbers(Rules { target: Target::Bool, .. }), _) => {
                self.numbers(&|_, _| convert::to_bool(), Values::Bool)?
            }
            (Kind::Numbers(_), FloatType::F32) if !self.halves.iter().any(Half::exceeds_singles) => {
                self.numbers(&convert::to_float, Values::F32)?
            }
            (Kind::Numbers(_), _) => self.numbers(&convert::to_float, Values::F64)?,
            (Kind::Chars | Kind::Strings, _) => Box::new(Done(Values::String(self.texts()?))),
        })
    }

    fn numbers<'p, T: Reusable + 'p>(
        &'p self,
        make: &Make<T>,
        wrap: fn(Vec<T>) -> Values,
    ) -> std::result::Result<Box<dyn Pending + 'p>, Fault> {
        let about_first = |error| self.halves[0].fault(error);
        let arrangement = match self.axis {
            None => Arrangement::Whole,
            Some(axis) => {
                let shape = self.halves[0].read.shape().map_err(about_first)?;
                let run = shape[axis + 1..].iter().product();
                if self.halves.len() == 1 {
                    Arrangement::Doubled { run }
                } else {
                    Arrangement::Halves { run }
                }
            }
        };
        Ok(match Numbers::new(&self.halves, make, arrangement, wrap)? {
            Some(numbers) => Box::new(numbers),
            // Nothing is selected.
            None => Box::new(Done(wrap(Vec::new()))),
        })
    }

    fn texts(&self) -> std::result::Result<Vec<String>, Fault> {
        let first = &self.halves[0];
        let mut half = first.texts().map_err(|e| first.fault(e))?;
        let Some(axis) = self.axis else { return Ok(half) };
        let shape = first.read.shape().map_err(|e| first.fault(e))?;
        let mut out = vec![String::new(); half.len() * 2];
        for k in 0..2 {
            if let (1, Some(second)) = (k, self.halves.get(1)) {
                half = second.texts().map_err(|e| second.fault(e))?;
            }
            interleave(&half, k, &shape[axis + 1..], &mut out, |to, from| to.clone_from_slice(from));
        }
        Ok(out)
    }
}

/// Puts `half` at position `k` of an axis of extent 2, whose positions have `inner` extents.
fn interleave<T>(half: &[T], k: usize, inner: &[usize], out: &mut [T], copy: impl Fn(&mut [T], &[T])) {
    let run: usize = inner.iter().product();
    if run > 0 {
        for (from, to) in half.chunks_exact(run).zip(out.chunks_exact_mut(2 * run)) {
            copy(&mut to[k * run..][..run], from);
        }
    }
}
