//! What a spilled sample looks like: everything but its elements, which is small and stays in memory.

use super::raw::{Medium, Source};
use crate::dataset::{Dataset, Field, FieldType};
use crate::formats::{Attribute, AttributeValue};
use std::io;
use std::sync::Arc;

/// The datasets of a sample: one, or one for each window.
pub(super) struct Outline(Vec<DatasetOutline>);

struct DatasetOutline {
    variables: Vec<FieldOutline>,
    coords: Vec<FieldOutline>,
    attributes: Arc<[Attribute]>,
}

struct FieldOutline {
    name: Arc<str>,
    dims: Vec<Arc<str>>,
    shape: Vec<usize>,
    field_type: FieldType,
    len: usize,
    attributes: Arc<[Attribute]>,
}

impl Outline {
    pub(super) fn of(data: &[Dataset]) -> Self {
        let fields = |list: &[Field]| list.iter().map(FieldOutline::of).collect();
        let outline = |dataset: &Dataset| DatasetOutline {
            variables: fields(&dataset.variables),
            coords: fields(&dataset.coords),
            attributes: dataset.attributes.clone(),
        };
        Outline(data.iter().map(outline).collect())
    }

    /// The sample whose elements lie at `at`, of so many bytes.
    pub(super) fn read(&self, medium: &dyn Medium, at: u64, bytes: u64) -> io::Result<Vec<Dataset>> {
        let mut source = Source::new(medium, at, bytes);
        let mut fields =
            |list: &[FieldOutline]| list.iter().map(|field| field.read(&mut source)).collect::<io::Result<Vec<_>>>();
        let mut read = |dataset: &DatasetOutline| {
            let (variables, coords) = (fields(&dataset.variables)?, fields(&dataset.coords)?);
            Ok(Dataset { variables, coords, attributes: dataset.attributes.clone() })
        };
        self.0.iter().map(&mut read).collect()
    }

    /// Equality, bit for bit in the attributes too.
    pub(super) fn same_bits(&self, other: &Outline) -> bool {
        let same_fields = |a: &[FieldOutline], b: &[FieldOutline]| all(a, b, FieldOutline::same_bits);
        all(&self.0, &other.0, |a, b| {
            same_fields(&a.variables, &b.variables)
                && same_fields(&a.coords, &b.coords)
                && same_attributes(&a.attributes, &b.attributes)
        })
    }
}

impl FieldOutline {
    fn of(field: &Field) -> Self {
        FieldOutline {
            name: field.name.clone(),
            dims: field.dims.clone(),
            shape: field.shape.clone(),
            field_type: field.values.field_type(),
            len: field.values.len(),
            attributes: field.attributes.clone(),
        }
    }

    fn read(&self, source: &mut Source) -> io::Result<Field> {
        Ok(Field {
            name: self.name.clone(),
            dims: self.dims.clone(),
            shape: self.shape.clone(),
            values: source.values(self.field_type, self.len)?,
            attributes: self.attributes.clone(),
        })
    }

    fn same_bits(&self, other: &FieldOutline) -> bool {
        let key = |f: &FieldOutline| (f.field_type, f.len);
        key(self) == key(other)
            && self.name == other.name
            && self.dims == other.dims
            && self.shape == other.shape
            && same_attributes(&self.attributes, &other.attributes)
    }
}

fn same_attributes(a: &Arc<[Attribute]>, b: &Arc<[Attribute]>) -> bool {
    let same = |a: &Attribute, b: &Attribute| {
        a.name == b.name
            && a.numeric == b.numeric
            && match (&a.value, &b.value) {
                (AttributeValue::Floats(a), AttributeValue::Floats(b)) => all(a, b, |x, y| x.to_bits() == y.to_bits()),
                (a, b) => a == b,
            }
    };
    Arc::ptr_eq(a, b) || all(a, b, same)
}

fn all<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}
