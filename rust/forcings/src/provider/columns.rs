//! The fields over the columns of a store: what they are called, and the coordinates that tell the columns apart. Knows
//! neither where the values come from nor when.

use crate::array::DType;
use crate::dataset::{Field, Values};
use crate::formats::{Attribute, AttributeValue, NumericType};
use crate::readers::ColumnInfo;
use crate::series::{FeatureValue, Features, OwnerCategory, SeriesInfo, SeriesType};
use crate::time::Period;
use crate::Result;
use std::sync::Arc;

/// The dimension along which the series lie.
const COLUMN: &str = "column";

/// A series that is a column.
#[derive(Clone, Copy)]
pub(super) struct Column<'a> {
    id: i64,
    owner: (OwnerCategory, &'a str, i64),
    name: &'a str,
    units: Option<&'a str>,
    features: &'a Features,
}

/// How the names of one group's fields, dimensions and coordinates differ from those of the others.
pub(super) struct Names {
    suffix: String,
}

/// What a field is in every sample.
pub(super) struct FieldPlan {
    name: Arc<str>,
    dims: Vec<Arc<str>>,
    shape: Vec<usize>,
    dtype: DType,
    attributes: Arc<[Attribute]>,
}

impl Names {
    /// Those of the groups of elements of these types and extents: plain ones if there is one group, else with its type
    /// and extents at the end, as in `values_float64_2x3`.
    pub(super) fn of_groups<'a>(groups: impl ExactSizeIterator<Item = (DType, &'a [usize])>) -> Vec<Names> {
        let alone = groups.len() == 1;
        let suffix = |(dtype, extents): (DType, &[usize])| {
            if alone {
                return String::new();
            }
            let mut suffix = format!("_{}", type_name(dtype));
            for (k, extent) in extents.iter().enumerate() {
                suffix += &format!("{}{extent}", if k == 0 { '_' } else { 'x' });
            }
            suffix
        };
        groups.map(|group| Names { suffix: suffix(group) }).collect()
    }

    pub(super) fn name(&self, stem: &str) -> Arc<str> {
        format!("{stem}{}", self.suffix).into()
    }

    /// The field of the values, whose dimensions behind the columns are `inner`.
    pub(super) fn values<'a>(
        &self,
        dtype: DType,
        inner: impl IntoIterator<Item = (&'a str, usize)>,
        attributes: Vec<Attribute>,
        columns: usize,
    ) -> FieldPlan {
        let (mut dims, mut shape) = (vec![self.name(COLUMN)], vec![columns]);
        for (dim, extent) in inner {
            dims.push(self.name(dim));
            shape.push(extent);
        }
        FieldPlan { name: self.name("values"), dims, shape, dtype, attributes: attributes.into() }
    }

    /// The coordinates of the columns: `id`, `owner_id`, `owner` and `name`.
    pub(super) fn coordinates<'a>(&self, columns: impl Iterator<Item = Column<'a>> + Clone) -> Vec<Arc<Field>> {
        let owner = |(category, kind, id): (OwnerCategory, &str, i64)| format!("{} {kind} {id}", category.name());
        let field = |stem: &str, values: Values| {
            let (name, dims) = (self.name(stem), vec![self.name(COLUMN)]);
            Arc::new(Field { name, dims, shape: vec![values.len()], values, attributes: Arc::new([]) })
        };
        vec![
            field("id", Values::I64(columns.clone().map(|c| c.id).collect())),
            field("owner_id", Values::I64(columns.clone().map(|c| c.owner.2).collect())),
            field("owner", Values::String(columns.clone().map(|c| owner(c.owner)).collect())),
            field("name", Values::String(columns.map(|c| c.name.into()).collect())),
        ]
    }

    /// The coordinate of another dimension.
    pub(super) fn coordinate(&self, dim: &str, values: Values, attributes: Vec<Attribute>) -> Arc<Field> {
        let name = self.name(dim);
        let (dims, shape) = (vec![name.clone()], vec![values.len()]);
        Arc::new(Field { name, dims, shape, values, attributes: attributes.into() })
    }
}

impl FieldPlan {
    /// A field of a sample: `fill` appends its elements.
    ///
    /// # Errors
    /// `Integrity` when there is no memory for them.
    pub(super) fn field(&self, fill: impl FnOnce(&mut Values)) -> Result<Field> {
        let mut values = Values::with_room(self.dtype, self.shape.iter().product())?;
        fill(&mut values);
        let FieldPlan { name, dims, shape, attributes, .. } = self;
        let (name, attributes) = (name.clone(), attributes.clone());
        Ok(Field { name, dims: dims.clone(), shape: shape.clone(), values, attributes })
    }
}

impl<'a> From<&'a ColumnInfo> for Column<'a> {
    fn from(column: &'a ColumnInfo) -> Self {
        Column {
            id: column.id().0,
            owner: (column.owner_category(), column.owner_type(), column.owner_id()),
            name: column.name(),
            units: column.units(),
            features: column.features(),
        }
    }
}

impl<'a> From<&'a SeriesInfo> for Column<'a> {
    fn from(info: &'a SeriesInfo) -> Self {
        Column {
            id: info.id.0,
            owner: (info.owner.category, &info.owner.owner_type, info.owner.id),
            name: &info.name,
            units: info.units.as_deref(),
            features: &info.features,
        }
    }
}

/// What the series of a field have in common: their type, `resolution`, `units`, and each feature as `feature_KEY`.
pub(super) fn attributes<'a>(
    series_type: SeriesType,
    resolution: Option<Period>,
    columns: impl Iterator<Item = Column<'a>> + Clone,
) -> Vec<Attribute> {
    let mut found = vec![text("series_type", series_type.name())];
    found.extend(resolution.map(|period| text("resolution", &period.to_string())));
    let Some(first) = columns.clone().next() else { return found };
    if let Some(units) = first.units.filter(|_| columns.clone().all(|c| c.units == first.units)) {
        found.push(text("units", units));
    }
    for (key, value) in first.features.iter() {
        if columns.clone().all(|c| c.features.get(key) == Some(value)) {
            found.push(feature(&format!("feature_{key}"), value));
        }
    }
    found
}

pub(super) fn text(name: &str, text: &str) -> Attribute {
    Attribute { name: name.into(), value: AttributeValue::Text(text.into()), numeric: None }
}

fn feature(name: &str, value: &FeatureValue) -> Attribute {
    let (value, numeric) = match value {
        FeatureValue::Int(n) => (AttributeValue::Integers(vec![*n]), Some(NumericType::I64)),
        FeatureValue::Float(x) => (AttributeValue::Floats(vec![*x]), Some(NumericType::F64)),
        FeatureValue::Bool(b) => return text(name, if *b { "true" } else { "false" }),
        FeatureValue::Text(words) => return text(name, words),
    };
    Attribute { name: name.into(), value, numeric }
}

/// The name of an element type, as Julia and NumPy spell it but for capitals.
fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "float64",
        DType::F32 => "float32",
        DType::I64 => "int64",
        DType::I32 => "int32",
        DType::U64 => "uint64",
        DType::Bool => "bool",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_their_group_where_there_are_several() {
        let alone = Names::of_groups([(DType::F64, &[2, 3][..])].into_iter());
        assert_eq!(&*alone[0].name("values"), "values");
        let groups: [(DType, &[usize]); 3] = [(DType::F64, &[]), (DType::U64, &[24]), (DType::Bool, &[2, 3])];
        let names: Vec<_> = Names::of_groups(groups.into_iter()).iter().map(|n| n.name("id").to_string()).collect();
        assert_eq!(names, ["id_float64", "id_uint64_24", "id_bool_2x3"]);
    }

    #[test]
    fn what_the_series_have_in_common_is_said_once() {
        let features: [Features; 2] = [
            [("year", FeatureValue::Int(2030)), ("case", FeatureValue::Text("high".into()))].into_iter().collect(),
            [("year", FeatureValue::Int(2030)), ("case", FeatureValue::Text("low".into()))].into_iter().collect(),
        ];
        let column = |k: usize, units| Column {
            id: k as i64,
            owner: (OwnerCategory::Component, "Bus", 7),
            name: "load",
            units,
            features: &features[k],
        };
        let about = |second| {
            let columns = [column(0, Some("MW")), column(1, second)];
            let found = attributes(SeriesType::SingleTimeSeries, Some(Period::hours(1)), columns.into_iter());
            found.into_iter().map(|a| a.name).collect::<Vec<_>>()
        };
        assert_eq!(about(Some("MW")), ["series_type", "resolution", "units", "feature_year"]);
        assert_eq!(about(None), ["series_type", "resolution", "feature_year"]);
        let names = Names { suffix: String::new() };
        let coords = names.coordinates([column(0, None), column(1, None)].into_iter());
        assert!(coords[0].values.same_bits(&Values::I64(vec![0, 1])));
        assert!(coords[2].values.same_bits(&Values::String(vec!["Component Bus 7".into(); 2])));
    }
}
