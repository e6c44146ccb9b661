//! How one field is decoded: from one read, or from the reads of two records, each into its half of the result.

#[cfg(test)]
mod tests;

use super::attributes;
use super::convert::{self, Convert, Overflow};
use super::decode::FloatType;
use super::packing::{Rules, Target};
use super::read::FieldRead;
use super::reuse::Reusable;
use super::text;
use super::Values;
use crate::formats::{Conventions, ElementType};
use crate::time::cf;
use crate::{Error, Result};
use std::sync::atomic::Ordering;

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

    fn fault(&self, error: Error) -> Fault {
        Fault { part: self.part, error }
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

    /// Decodes numbers into `out`.
    fn numbers_into<T: Reusable>(&self, make: &Make<T>, out: &mut [T]) -> Result<()> {
        self.numbers(make, |width, convert| self.read.elements_into(width, convert, out))
    }

    /// Has `decode` convert numbers of a width, and checks that their type here holds them.
    fn numbers<T, R>(
        &self,
        make: &Make<T>,
        decode: impl FnOnce(usize, &(dyn Fn(&[u8], &mut [T]) + Sync)) -> Result<R>,
    ) -> Result<R> {
        let Kind::Numbers(rules) = &self.kind else { unreachable!("the halves of a plan have one type") };
        let overflow = Overflow::default();
        let decoded = decode(rules.stored.width(), &*make(rules, &overflow))?;
        if overflow.load(Ordering::Relaxed) {
            let limit = match rules.target {
                Target::F64 => "2^53, which its fill value would make an inexact float64",
                _ => "2^63 - 1, the largest int64",
            };
            let detail = format!("variable \"{}\" holds an integer beyond {limit}", self.read.field.name);
            return Err(Error::format(&self.read.schema.path, detail));
        }
        Ok(decoded)
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

/// Makes the conversion of a half from its rules.
type Make<'m, T> = dyn Fn(&Rules, &Overflow) -> Convert<T> + 'm;

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
    /// `Format`, about the second, when their extents or their types differ.
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

    /// The values of the field; floating-point ones of `eltype`.
    pub(super) fn decode(&self, eltype: FloatType) -> std::result::Result<Values, Fault> {
        Ok(match (&self.halves[0].kind, eltype) {
            (Kind::Numbers(Rules { target: Target::I32, .. }), _) => {
                Values::I32(self.numbers(&|rules, _| convert::to_i32(rules))?)
            }
            (Kind::Numbers(Rules { target: Target::I64, .. }), _) => Values::I64(self.numbers(&convert::to_i64)?),
            (Kind::Numbers(Rules { target: Target::Bool, .. }), _) => {
                Values::Bool(self.numbers(&|_, _| convert::to_bool())?)
            }
            (Kind::Numbers(_), FloatType::F64) => Values::F64(self.numbers(&convert::to_float)?),
            (Kind::Numbers(_), FloatType::F32) => Values::F32(self.numbers(&convert::to_float)?),
            (Kind::Chars | Kind::Strings, _) => Values::String(self.texts()?),
        })
    }

    fn numbers<T: Reusable>(&self, make: &Make<T>) -> std::result::Result<Vec<T>, Fault> {
        let first = &self.halves[0];
        let about_first = |error| first.fault(error);
        let Some(axis) = self.axis else {
            return first.numbers(make, |width, convert| first.read.elements(width, convert)).map_err(about_first);
        };
        let len = first.read.total().map_err(about_first)?;
        let twice = len.checked_mul(2).ok_or_else(|| about_first(first.read.fault("it is too large for memory")))?;
        let mut out = first.read.room(twice).map_err(about_first)?;
        let shape = first.read.shape().map_err(about_first)?;
        if shape[..axis].iter().all(|extent| *extent == 1) {
            let (one, two) = out.split_at_mut(len);
            first.numbers_into(make, one).map_err(about_first)?;
            match self.halves.get(1) {
                Some(second) => second.numbers_into(make, two).map_err(|e| second.fault(e))?,
                None => two.copy_from_slice(one),
            }
        } else {
            // The halves lie in strips between each other.
            let mut half = first.read.room(len).map_err(about_first)?;
            for k in 0..2 {
                if let Some(one) = self.halves.get(k) {
                    one.numbers_into(make, &mut half).map_err(|e| one.fault(e))?;
                }
                interleave(&half, k, &shape[axis + 1..], &mut out, |to, from| to.copy_from_slice(from));
            }
        }
        Ok(out)
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
