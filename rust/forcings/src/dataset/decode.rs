//! Decoding: the variables of a file, under a projection, a selection and a choice of records, as fields.

use super::attributes;
use super::convert::{self, Overflow};
use super::packing::{Rules, Target};
use super::read::FieldRead;
use super::resolve::{Axes, Records};
use super::schema::Schema;
use super::select::Selection;
use super::text;
use super::{Dataset, Field, Values};
use crate::chunks::AxisRead;
use crate::formats::{Container, Conventions, ElementType};
use crate::time::cf;
use crate::{Error, Result};
use std::sync::atomic::Ordering;

/// What to decode of a file.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The data variables; empty for all of them. Coordinates always come along.
    pub variables: Vec<String>,
    /// Which part of each.
    pub select: Selection,
    /// Which records.
    pub records: Option<Records>,
}

/// How to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Threads that share the chunks of one large variable; at least 1.
    pub threads: usize,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions { threads: 1 }
    }
}

/// Decodes a file once. See [`Schema::decode`] for reading it again and again.
///
/// # Errors
/// Those of [`Schema::decode`].
pub fn decode(container: &dyn Container, request: &Request, options: DecodeOptions) -> Result<Dataset> {
    Schema::of(container).decode(container, request, options)
}

impl Schema {
    /// Decodes what `request` asks for of the file that this schema was made of.
    ///
    /// # Errors
    /// `NotFound` and `Unsupported` for variables, `Selection` for what does not fit the file, all before any value is
    /// read; `Format`, `Io` and `Unsupported` from reading; `Format` for an integer that its type here cannot hold.
    pub fn decode(&self, container: &dyn Container, request: &Request, options: DecodeOptions) -> Result<Dataset> {
        let axes = self.check(request)?;
        self.decode_checked(container, request, &axes, options)
    }

    /// Checks a request without reading any value.
    ///
    /// # Errors
    /// Those that [`decode`](Schema::decode) raises before it reads.
    pub(crate) fn check(&self, request: &Request) -> Result<Axes> {
        let read = self.project(&request.variables)?;
        self.resolve(&request.select, &read, request.records.as_ref())
    }

    /// Decodes along axes that [`check`](Schema::check) made for this request, or narrower ones.
    pub(crate) fn decode_checked(
        &self,
        container: &dyn Container,
        request: &Request,
        axes: &Axes,
        options: DecodeOptions,
    ) -> Result<Dataset> {
        let squeezed = request.records.as_ref().filter(|r| r.squeeze).map(|r| r.dim.as_str());
        let mut dataset = Dataset { attributes: self.attributes.clone(), ..Dataset::default() };
        for field in self.project(&request.variables)? {
            if field.is_coord && Some(&*field.name) == squeezed {
                continue;
            }
            let read = FieldRead { schema: self, container, field, axes, threads: options.threads };
            let values = self.values(&read)?;
            let kept = |d: &&usize| Some(&*self.dims[**d].name) != squeezed;
            let shape = field.dims.iter().zip(read.shape()?).filter(|(d, _)| kept(d)).map(|(_, extent)| extent);
            let decoded = Field {
                name: field.name.clone(),
                dims: field.dims.iter().filter(kept).map(|d| self.dims[*d].name.clone()).collect(),
                shape: shape.collect(),
                values,
                attributes: field.attributes.clone(),
            };
            if field.is_coord { &mut dataset.coords } else { &mut dataset.variables }.push(decoded);
        }
        Ok(dataset)
    }

    /// The numbers of a whole coordinate as doubles, unpacked; missing ones are NaN, integers beyond 2^53 are rounded.
    ///
    /// # Errors
    /// `NotFound` when there is no such coordinate, `Format` when it holds no numbers, and those of reading.
    pub(crate) fn coordinate_numbers(&self, container: &dyn Container, name: &str) -> Result<Vec<f64>> {
        let missing = || Error::NotFound(format!("{}: dimension \"{name}\" has no coordinate", self.path.display()));
        let field = self.fields.iter().find(|f| f.is_coord && *f.name == *name).ok_or_else(missing)?;
        let axes = vec![AxisRead::All; self.dims.len()];
        let read = FieldRead { schema: self, container, field, axes: &axes, threads: 1 };
        let variable = read.readable()?;
        let ElementType::Number(stored, order) = variable.element else {
            return Err(Error::format(&self.path, format!("the coordinate \"{name}\" holds no numbers")));
        };
        let rules = Rules { target: Target::F64, ..Rules::of(variable, stored, order) };
        // A count of nanoseconds loses some of them, which is nothing beside the millisecond that times are rounded to.
        read.elements(stored.width(), &*convert::to_f64(&rules, &Overflow::default()))
    }

    fn values(&self, read: &FieldRead) -> Result<Values> {
        let (field, variable) = (read.field, read.readable()?);
        match &variable.element {
            ElementType::Number(stored, order) => {
                if self.conventions == Conventions::Plain {
                    return self.numbers(read, &Rules::plain(*stored, *order));
                }
                // Time axes come as they are; their numbers mean nothing without their units.
                let units = attributes::text(&variable.attributes, "units");
                let is_time_axis = field.is_coord && units.is_some_and(|u| cf::is_time_units(&u));
                let rules = if is_time_axis { Rules::raw } else { Rules::of };
                self.numbers(read, &rules(variable, *stored, *order))
            }
            ElementType::Bool => {
                let truth = |raw: &[u8], out: &mut [u8]| raw.iter().zip(out).for_each(|(r, o)| *o = u8::from(*r != 0));
                read.elements(1, &truth).map(Values::Bool)
            }
            ElementType::Char => {
                let bytes = read.elements(1, &|raw, out: &mut [u8]| out.copy_from_slice(raw))?;
                if field.has_text_dim {
                    return Ok(Values::String(text::rows(&bytes, read.shape()?.iter().product())));
                }
                text::cells(&bytes).map(Values::String).ok_or_else(|| {
                    let name = &field.name;
                    let detail = format!("variable \"{name}\": single characters beyond ASCII cannot be told apart");
                    Error::format(&self.path, detail)
                })
            }
            ElementType::String => read.strings().map(Values::String),
            ElementType::Other(_) => unreachable!("a schema leaves such variables out"),
        }
    }

    fn numbers(&self, read: &FieldRead, rules: &Rules) -> Result<Values> {
        let overflow = Overflow::default();
        let width = rules.stored.width();
        let values = match rules.target {
            Target::I32 => Values::I32(read.elements(width, &*convert::to_i32(rules))?),
            Target::I64 => Values::I64(read.elements(width, &*convert::to_i64(rules, &overflow))?),
            Target::F64 => Values::F64(read.elements(width, &*convert::to_f64(rules, &overflow))?),
        };
        if overflow.load(Ordering::Relaxed) {
            let limit = match rules.target {
                Target::F64 => "2^53, which its fill value would make an inexact float64",
                _ => "2^63 - 1, the largest int64",
            };
            let detail = format!("variable \"{}\" holds an integer beyond {limit}", read.field.name);
            return Err(Error::format(&self.path, detail));
        }
        Ok(values)
    }
}
