//! Decoding: the variables of a file, under a projection, a selection and a choice of records, as fields.

use super::convert::{self, Overflow};
use super::making;
use super::packing::{Rules, Target};
use super::plan::{Fault, Half, Plan};
use super::read::FieldRead;
use super::resolve::{Axes, Records};
use super::schema::{list, Schema, SchemaField};
use super::select::Selection;
use super::{Dataset, Field};
use crate::chunks::AxisRead;
use crate::formats::{Container, ElementType};
use crate::time::cf;
use crate::{Error, Result};
use std::sync::Arc;

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

/// The type of data variables that are floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FloatType {
    /// Double precision.
    #[default]
    F64,
    /// Single precision, in half the memory: stored singles as they are, all else computed in double precision and
    /// rounded once, to infinity beyond the range. Doubles stay: coordinates, what has CF time units, and unpacked
    /// integers of more than 16 bits with a fill value. Integers without one stay integers.
    F32,
}

/// How to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Threads that share the chunks of all variables, where there is enough to do; at least 1.
    pub threads: usize,
    /// The type of data variables that are floating-point numbers.
    pub eltype: FloatType,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions { threads: 1, eltype: FloatType::F64 }
    }
}

/// A file, and what is read along each of its dimensions.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) container: &'a dyn Container,
    /// Made by [`Schema::check`], or narrower.
    pub(crate) axes: &'a Axes,
}

/// How a sample of two records is put together.
#[derive(Clone, Copy)]
pub(crate) struct Bracket<'a> {
    pub(crate) second: Second<'a>,
    /// Stands for the coordinate of the records' dimension.
    pub(crate) times: &'a Field,
}

/// Where the second record of a bracket comes from.
#[derive(Clone, Copy)]
pub(crate) enum Second<'a> {
    /// The axes have both.
    Along,
    /// Another file.
    Part(Part<'a>),
    /// There is none; the first stands for it.
    First,
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
        let part = Part { schema: self, container, axes: &axes };
        decode_parts(&part, request, None, options).map_err(|fault| fault.error)
    }

    /// Checks a request without reading any value.
    ///
    /// # Errors
    /// Those that [`decode`](Schema::decode) raises before it reads.
    pub(crate) fn check(&self, request: &Request) -> Result<Axes> {
        let read = self.project(&request.variables)?;
        self.resolve(&request.select, &read, request.records.as_ref())
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
        read.elements(stored.width(), &*convert::to_float(&rules, &Overflow::default()))
    }
}

/// Decodes what `request`, by which the axes of `first` were made, asks for. With a bracket, the fields with the
/// dimension of its records have two of them; the others are those of `first`.
pub(crate) fn decode_parts(
    first: &Part,
    request: &Request,
    bracket: Option<Bracket>,
    options: DecodeOptions,
) -> std::result::Result<Dataset, Fault> {
    let schema = first.schema;
    let about_first = |error| Fault { part: 0, error };
    let squeezed = request.records.as_ref().filter(|r| r.squeeze).map(|r| r.dim.as_str());
    let replaced = bracket.map(|b| &*b.times.name);
    let mut plans = Vec::new();
    // All of them are made before any value is read.
    for field in schema.project(&request.variables).map_err(about_first)? {
        if field.is_coord && [squeezed, replaced].contains(&Some(&*field.name)) {
            plans.push((field, None));
            continue;
        }
        let half = Half::new(first.read(field, options), 0).map_err(about_first)?;
        // Another dimension of that name, which has no records, stays whole.
        let records =
            |d: &usize, dim: &str| *schema.dims[*d].name == *dim && matches!(first.axes[*d], AxisRead::Indices(_));
        let axis = replaced.and_then(|dim| field.dims.iter().position(|d| records(d, dim)));
        let plan = match (bracket.map(|b| b.second), axis) {
            (Some(Second::First), Some(axis)) => Plan::doubled(half, axis),
            (Some(Second::Part(second)), Some(axis)) => {
                let about_second = |error| Fault { part: 1, error };
                let twin = second.twin(field, schema).map_err(about_second)?;
                let other = Half::new(second.read(twin, options), 1).map_err(about_second)?;
                Plan::joined(half, other, axis).map_err(about_second)?
            }
            _ => Plan::single(half),
        };
        plans.push((field, Some(plan)));
    }
    let mut pending = Vec::new();
    for (field, plan) in plans.iter().filter_map(|(field, plan)| Some((field, plan.as_ref()?))) {
        let is_exact = field.is_coord || schema.units(field).is_some_and(|u| cf::is_time_units(&u));
        pending.push(plan.begin(if is_exact { FloatType::F64 } else { options.eltype })?);
    }
    making::run(&mut pending, options.threads)?;
    let mut values = pending.into_iter();
    let mut dataset = Dataset { attributes: schema.attributes.clone(), ..Dataset::default() };
    let mut times = bracket.map(|b| b.times.clone());
    for (field, plan) in &plans {
        let Some(plan) = plan else {
            dataset.coords.extend(times.take().map(Arc::new));
            continue;
        };
        let kept = |d: &&usize| Some(&*schema.dims[**d].name) != squeezed;
        let shape = plan.shape().map_err(about_first)?;
        let decoded = Field {
            name: field.name.clone(),
            dims: field.dims.iter().filter(kept).map(|d| schema.dims[*d].name.clone()).collect(),
            shape: field.dims.iter().zip(shape).filter(|(d, _)| kept(d)).map(|(_, extent)| extent).collect(),
            values: values.next().expect("each plan has begun a field").finish(),
            attributes: field.attributes.clone(),
        };
        match field.is_coord {
            true => dataset.coords.push(decoded.into()),
            false => dataset.variables.push(decoded),
        }
    }
    dataset.coords.extend(times.map(Arc::new));
    Ok(dataset)
}

impl<'a> Part<'a> {
    fn read(&self, field: &'a SchemaField, options: DecodeOptions) -> FieldRead<'a> {
        let Part { schema, container, axes } = *self;
        FieldRead { schema, container, field, axes, threads: options.threads }
    }

    /// Fetches what `request`, by which the axes were made, needs of a store. Returns the number of objects.
    ///
    /// # Errors
    /// Those of fetching.
    pub(crate) fn fetch(&self, request: &Request) -> Result<usize> {
        let fields = self.schema.project(&request.variables)?;
        fields.into_iter().try_fold(0, |n, field| Ok(n + self.read(field, DecodeOptions::default()).fetch()?))
    }

    /// The field here that has the name and the dimensions of one there.
    fn twin(&self, field: &SchemaField, there: &Schema) -> Result<&'a SchemaField> {
        let names = |schema: &Schema, field: &SchemaField| -> Vec<_> {
            field.dims.iter().map(|d| schema.dims[*d].name.clone()).collect()
        };
        let (path, name) = (self.schema.path.display(), &field.name);
        let Some(twin) = self.schema.fields.iter().find(|f| f.name == *name) else {
            let present = list(self.schema.data_variables());
            let other = there.path.display();
            return Err(Error::NotFound(format!(
                "{path}: there is no data variable \"{name}\", whose record here follows one of {other}; there are {present}"
            )));
        };
        let (here, wanted) = (names(self.schema, twin), names(there, field));
        if here != wanted || twin.is_coord != field.is_coord {
            let (here, wanted) = (list(here.iter().map(|d| &**d)), list(wanted.iter().map(|d| &**d)));
            let detail = format!(
                "variable \"{name}\" has the dimensions {here} here and {wanted} in {}; their records make no bracket",
                there.path.display()
            );
            return Err(Error::format(&self.schema.path, detail));
        }
        Ok(twin)
    }
}
