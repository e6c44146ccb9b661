//! What a file holds in the terms of this layer: data variables, coordinates, time axes and string lengths. Made once
//! from the header of a file, it serves every read of it.

use super::attributes;
use crate::formats::{Attribute, Container, Conventions, ElementType, Variable};
use crate::time::cf;
use crate::{Error, Result};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// A file as decoding sees it.
#[derive(Debug)]
pub struct Schema {
    /// The file, for error texts.
    pub(super) path: PathBuf,
    pub(super) dims: Vec<SchemaDim>,
    /// In file order.
    pub(super) fields: Vec<SchemaField>,
    /// Variables that cannot be decoded, with the reason; they fail only who names them.
    unreadable: Vec<(String, String)>,
    /// The attributes of the file.
    pub(super) attributes: Arc<[Attribute]>,
    /// How the file is read.
    pub(super) conventions: Conventions,
}

/// A dimension of the file.
#[derive(Debug, Clone)]
pub(super) struct SchemaDim {
    pub(super) name: Arc<str>,
    pub(super) len: u64,
    /// Records lie along it: a variable of its name has CF time units, or it is called `time`.
    pub(super) is_time: bool,
    /// It is the length of strings, and so no dimension of any decoded field.
    pub(super) is_text: bool,
}

/// A variable that can be decoded.
#[derive(Debug, Clone)]
pub(super) struct SchemaField {
    /// Its position among the variables of the container.
    pub(super) variable: usize,
    pub(super) name: Arc<str>,
    /// The dimensions of the decoded field, as positions in [`Schema::dims`].
    pub(super) dims: Vec<usize>,
    /// Whether the file has one more dimension, which holds the bytes of each string.
    pub(super) has_text_dim: bool,
    /// It has one dimension, of its own name.
    pub(super) is_coord: bool,
    pub(super) attributes: Arc<[Attribute]>,
}

impl Schema {
    /// Looks through the header of an open file.
    pub fn of(container: &dyn Container) -> Self {
        let variables = container.variables();
        let conventions = container.conventions();
        let follows_cf = conventions == Conventions::Cf;
        let text_dims = text_dims(container);
        let dims = container.dimensions().iter().enumerate().map(|(i, dim)| SchemaDim {
            name: dim.name.as_str().into(),
            len: dim.len,
            is_time: is_time_dim(&dim.name, if follows_cf { variables } else { &[] }),
            is_text: follows_cf && text_dims[i],
        });
        let dims: Vec<SchemaDim> = dims.collect();
        let (mut fields, mut unreadable) = (Vec::new(), Vec::new());
        for (i, variable) in variables.iter().enumerate() {
            match unreadable_because(variable, &dims) {
                Some(reason) => unreadable.push((variable.name.clone(), reason)),
                None => fields.push(SchemaField::of(i, variable, &dims, follows_cf)),
            }
        }
        let path = container.source().path().to_path_buf();
        Schema { path, dims, fields, unreadable, attributes: container.attributes().into(), conventions }
    }

    /// The names of the data variables, in file order.
    pub fn data_variables(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|f| !f.is_coord).map(|f| &*f.name)
    }

    /// The names of the dimensions that decoded fields can have, in file order.
    pub fn dimension_names(&self) -> impl Iterator<Item = &str> {
        self.dims.iter().filter(|d| !d.is_text).map(|d| &*d.name)
    }

    /// The length of a dimension of the file.
    pub fn dimension_len(&self, name: &str) -> Option<u64> {
        self.dims.iter().find(|d| !d.is_text && *d.name == *name).map(|d| d.len)
    }

    /// The CF time units of the coordinate of a dimension, and its calendar where it names one.
    pub(crate) fn time_units(&self, dim: &str) -> Option<(String, Option<String>)> {
        let coord = self.fields.iter().find(|f| f.is_coord && *f.name == *dim)?;
        let text = |name| attributes::text(&coord.attributes, name).map(|t| t.into_owned());
        text("units").filter(|u| cf::is_time_units(u)).map(|units| (units, text("calendar")))
    }

    /// The units of a field: its own, or those of the variable whose bounds it holds.
    pub(super) fn units<'a>(&'a self, field: &'a SchemaField) -> Option<Cow<'a, str>> {
        let text = |f: &'a SchemaField, name| attributes::text(&f.attributes, name);
        let names = |f: &&'a SchemaField| {
            ["bounds", "climatology"].iter().any(|name| text(f, name).is_some_and(|t| t.trim() == &*field.name))
        };
        text(field, "units").or_else(|| text(self.fields.iter().find(names)?, "units"))
    }

    /// The lengths of all dimensions of the file.
    pub(crate) fn dimension_lens(&self) -> Vec<u64> {
        self.dims.iter().map(|d| d.len).collect()
    }

    /// The names of all dimensions of the file.
    pub(crate) fn all_dimension_names(&self) -> Vec<Arc<str>> {
        self.dims.iter().map(|d| d.name.clone()).collect()
    }

    /// Whether a data variable among `variables` (all of them if empty), or a coordinate, has the dimension.
    pub(crate) fn is_carried(&self, dim: &str, variables: &[String]) -> bool {
        let wanted = |f: &&SchemaField| f.is_coord || variables.is_empty() || variables.iter().any(|v| **v == *f.name);
        self.fields.iter().filter(wanted).any(|f| f.dims.iter().any(|d| *self.dims[*d].name == *dim))
    }

    /// The fields of a read: the data variables asked for (all of them if none is named) and every coordinate.
    ///
    /// # Errors
    /// `NotFound` for a name that is no data variable of the file, `Unsupported` for a variable that is not decoded.
    pub(super) fn project(&self, variables: &[String]) -> Result<Vec<&SchemaField>> {
        let path = self.path.display();
        for name in variables {
            if self.data_variables().any(|v| v == name) {
                continue;
            }
            if let Some((_, reason)) = self.unreadable.iter().find(|(unreadable, _)| unreadable == name) {
                return Err(Error::Unsupported(format!("{path}: variable \"{name}\" cannot be read: {reason}")));
            }
            let present = list(self.data_variables());
            return Err(Error::NotFound(format!("{path}: there is no data variable \"{name}\"; there are {present}")));
        }
        let wanted = |f: &&SchemaField| f.is_coord || variables.is_empty() || variables.iter().any(|v| **v == *f.name);
        Ok(self.fields.iter().filter(wanted).collect())
    }
}

impl SchemaField {
    fn of(position: usize, variable: &Variable, dims: &[SchemaDim], follows_cf: bool) -> Self {
        let has_text_dim = variable.dimensions.last().is_some_and(|d| dims[*d].is_text);
        let rank = variable.dimensions.len() - usize::from(has_text_dim);
        let decoded = &variable.dimensions[..rank];
        SchemaField {
            variable: position,
            name: variable.name.as_str().into(),
            dims: decoded.to_vec(),
            has_text_dim,
            is_coord: follows_cf && matches!(decoded, [d] if *dims[*d].name == *variable.name),
            attributes: variable.attributes.as_slice().into(),
        }
    }
}

/// Why a variable is no field, if so. A shape may be shorter than the dimensions, which grow with other variables.
fn unreadable_because(variable: &Variable, dims: &[SchemaDim]) -> Option<String> {
    let lens = variable.dimensions.iter().map(|d| dims.get(*d).map(|d| d.len)).collect::<Option<Vec<_>>>();
    let fits = |lens: &Vec<u64>| {
        lens.len() == variable.shape.len() && variable.shape.iter().zip(lens).all(|(extent, len)| extent <= len)
    };
    match &variable.element {
        ElementType::Other(kind) => {
            Some(variable.problem.clone().unwrap_or_else(|| format!("values of type {kind} are not decoded")))
        }
        _ if !lens.as_ref().is_some_and(fits) => Some("its shape does not fit its dimensions".into()),
        _ => None,
    }
}

/// The names in quotes, for error texts.
pub(crate) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.map(|n| format!("\"{n}\"")).collect();
    // Dimensions of several arrays may share a name.
    let mut known = std::collections::HashSet::new();
    names.retain(|name| known.insert(name.clone()));
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

/// The seed of every reader's rule for time axes: the units of the variable of that name, or the name itself.
fn is_time_dim(name: &str, variables: &[Variable]) -> bool {
    let coordinate = variables.iter().find(|v| v.name == name);
    let units = coordinate.and_then(|v| attributes::text(&v.attributes, "units"));
    units.is_some_and(|u| cf::is_time_units(&u)) || name.eq_ignore_ascii_case("time")
}

/// A dimension is a string length when nothing but characters uses it, always last, and no variable has its name.
fn text_dims(container: &dyn Container) -> Vec<bool> {
    let variables = container.variables();
    let is_text = |(i, dim): (usize, &crate::formats::Dimension)| {
        let mut users = variables.iter().filter(|v| v.dimensions.contains(&i)).peekable();
        let ends = |v: &Variable| {
            let before = v.dimensions.len() - 1;
            v.element == ElementType::Char && v.dimensions[before] == i && !v.dimensions[..before].contains(&i)
        };
        users.peek().is_some() && users.all(ends) && !variables.iter().any(|v| v.name == dim.name)
    };
    container.dimensions().iter().enumerate().map(is_text).collect()
}
