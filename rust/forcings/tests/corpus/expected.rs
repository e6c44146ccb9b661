//! What a read must give, and the comparison: bit for bit, masks, dimensions and types included.

use forcings::dataset::{Dataset, Field, Values};
use forcings::formats::{Attribute, AttributeValue};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) variables: BTreeMap<String, ExpectedField>,
    pub(crate) coords: BTreeMap<String, ExpectedField>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedField {
    dtype: String,
    /// Compared where it is given, as is the shape.
    dims: Option<Vec<String>>,
    shape: Option<Vec<usize>>,
    data: Value,
    /// Told of the file; cells of it are `null` among the data.
    #[serde(rename = "fill_value")]
    _fill_value: Option<Value>,
    units: Option<String>,
    calendar: Option<String>,
}

impl Expected {
    /// Checks a sample; `what` is how failures call it.
    pub(crate) fn check(&self, what: &str, data: &Dataset) {
        let (variables, coords) = (data.variables.iter(), data.coords.iter().map(|f| &**f));
        for (fields, expected, kind) in [
            (variables.collect::<Vec<_>>(), &self.variables, "variables"),
            (coords.collect(), &self.coords, "coordinates"),
        ] {
            let mut names: Vec<&str> = fields.iter().map(|f| &*f.name).collect();
            names.sort_unstable();
            let wanted: Vec<&str> = expected.keys().map(String::as_str).collect();
            assert_eq!(names, wanted, "{what}: the {kind}");
            for field in fields {
                let wanted = &expected[&*field.name];
                wanted.check(&format!("{what}: {}", field.name), field);
                if kind == "coordinates" {
                    let found = ["units", "calendar"].map(|name| text(&field.attributes, name));
                    let wanted = [&wanted.units, &wanted.calendar].map(Clone::clone);
                    assert_eq!(found, wanted, "{what}: units and calendar of {}", field.name);
                }
            }
        }
    }

    /// What the sample of one record must be: without the dimension, and without its coordinate.
    pub(crate) fn record(&self, dim: &str, index: usize) -> Expected {
        let cut = |fields: &BTreeMap<String, ExpectedField>| {
            fields.iter().map(|(name, field)| (name.clone(), field.record(dim, index))).collect()
        };
        let mut sample = Expected { variables: cut(&self.variables), coords: cut(&self.coords) };
        sample.coords.remove(dim);
        sample
    }
}

impl ExpectedField {
    fn check(&self, what: &str, field: &Field) {
        if let Some(dims) = &self.dims {
            assert_eq!(field.dims.iter().map(|d| &**d).collect::<Vec<_>>(), *dims, "{what}: dims");
        }
        if let Some(shape) = &self.shape {
            assert_eq!(field.shape, *shape, "{what}: shape");
        }
        let wanted = self.values();
        assert!(field.values.same_bits(&wanted), "{what} is {:?}, not {wanted:?}", field.values);
    }

    /// The elements, row-major.
    pub(crate) fn values(&self) -> Values {
        let mut flat = Vec::new();
        flatten(&self.data, &self.shape.clone().unwrap_or_else(|| nesting(&self.data)), &mut flat);
        let bad = |v: &Value| -> ! { panic!("{v} is no {}", self.dtype) };
        match self.dtype.as_str() {
            "float64" => {
                let number = |v: &&Value| if v.is_null() { f64::NAN } else { v.as_f64().unwrap_or_else(|| bad(v)) };
                Values::F64(flat.iter().map(number).collect())
            }
            "int64" => Values::I64(flat.iter().map(|v| v.as_i64().unwrap_or_else(|| bad(v))).collect()),
            "int32" => {
                let number = |v: &&Value| v.as_i64().and_then(|i| i32::try_from(i).ok()).unwrap_or_else(|| bad(v));
                Values::I32(flat.iter().map(number).collect())
            }
            "bool" => Values::Bool(flat.iter().map(|v| v.as_bool().unwrap_or_else(|| bad(v)).into()).collect()),
            "string" => Values::String(flat.iter().map(|v| v.as_str().unwrap_or_else(|| bad(v)).to_string()).collect()),
            other => panic!("{other} is no dtype of the contract"),
        }
    }

    /// The elements of a numeric field as doubles.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        match &self.values() {
            Values::F64(v) => v.clone(),
            Values::I64(v) => v.iter().map(|i| *i as f64).collect(),
            Values::I32(v) => v.iter().copied().map(f64::from).collect(),
            other => panic!("{:?} are no numbers", other.field_type()),
        }
    }

    fn record(&self, dim: &str, index: usize) -> ExpectedField {
        let mut field = self.clone();
        if let Some(axis) = self.dims.iter().flatten().position(|d| d == dim) {
            if let Some(dims) = &mut field.dims {
                dims.remove(axis);
            }
            if let Some(shape) = &mut field.shape {
                shape.remove(axis);
            }
            field.data = take(&self.data, axis, index);
        }
        field
    }
}

/// The nested lists without one level: its element `index`.
fn take(data: &Value, axis: usize, index: usize) -> Value {
    let list = data.as_array().expect("a level for each dimension");
    match axis {
        0 => list[index].clone(),
        _ => list.iter().map(|inner| take(inner, axis - 1, index)).collect(),
    }
}

/// The lengths of nested lists, outermost first.
fn nesting(data: &Value) -> Vec<usize> {
    let mut lens = Vec::new();
    let mut level = Some(data);
    while let Some(list) = level.and_then(Value::as_array) {
        lens.push(list.len());
        level = list.first();
    }
    lens
}

fn flatten<'a>(data: &'a Value, shape: &[usize], out: &mut Vec<&'a Value>) {
    match shape {
        [] => out.push(data),
        [extent, rest @ ..] => {
            let list = data.as_array().unwrap_or_else(|| panic!("{data} is no list"));
            assert_eq!(list.len(), *extent, "the lists do not have the shape that is said");
            list.iter().for_each(|inner| flatten(inner, rest, out));
        }
    }
}

fn text(attributes: &[Attribute], name: &str) -> Option<String> {
    match &attributes.iter().find(|a| a.name == name)?.value {
        AttributeValue::Text(bytes) => Some(String::from_utf8(bytes.clone()).unwrap()),
        AttributeValue::Strings(list) if list.len() == 1 => Some(String::from_utf8(list[0].clone()).unwrap()),
        other => panic!("{name} is {other:?}"),
    }
}
