//! Cutting a window out of decoded data by the names of dimensions, with the rules and errors of a window of a file.

use super::attributes;
use super::gather::{gather, Pick};
use super::resolve::{names_no_field, narrows_time, positions, positions_along};
use super::schema::list;
use super::select::{AxisSelect, Selection};
use super::{Dataset, Field, Values};
use crate::chunks::AxisRead;
use crate::time::cf;
use crate::{Error, Result};
use std::collections::{BTreeMap, HashMap};

impl Selection {
    /// The selectors by dimension, of a selection in the named form.
    ///
    /// # Errors
    /// `Selection` for another form.
    pub(crate) fn named(&self) -> Result<&BTreeMap<String, AxisSelect>> {
        match self {
            Selection::Named(dims) => Ok(dims),
            _ => {
                let text = "a window names its dimensions (the form \"dims\"); this selection does not";
                Err(Error::Selection(text.into()))
            }
        }
    }
}

impl Dataset {
    /// The part that a window takes: each selector belongs to the dimension of that name of every field, and every other
    /// dimension is whole.
    ///
    /// # Errors
    /// `Selection`: the window is not in the named form; it names a dimension that no field has, or narrows a time axis; an
    /// index lies outside its dimension; a slice has step 0.
    pub fn cut(&self, window: &Selection) -> Result<Dataset> {
        let dims = window.named()?;
        let fields = || self.variables.iter().chain(&self.coords);
        let present = || fields().flat_map(|f| f.dims.iter().map(|d| &**d));
        let unknown: Vec<&str> =
            dims.keys().map(String::as_str).filter(|name| !present().any(|d| d == *name)).collect();
        if !unknown.is_empty() {
            let text = names_no_field(&list(unknown.into_iter()), "", &list(present()));
            return Err(Error::Selection(text));
        }
        let mut picks = HashMap::new();
        for (name, selector) in dims.iter().filter(|(_, selector)| **selector != AxisSelect::All) {
            if self.is_time_axis(name) {
                return Err(Error::Selection(narrows_time(name)));
            }
            for (dim, extent) in fields().flat_map(|f| f.dims.iter().zip(&f.shape)).filter(|(dim, _)| ***dim == **name)
            {
                let len = *extent as u64;
                let axis = positions_along(selector, name, len).map_err(Error::Selection)?;
                picks.insert((&**dim, *extent), pick(&axis, len));
            }
        }
        Ok(self.pick(|dim, extent| picks.get(&(dim, extent)).cloned().unwrap_or(Pick::All)))
    }

    /// What is picked along each dimension, which `along` tells for its name and extent.
    pub(crate) fn pick(&self, along: impl Fn(&str, usize) -> Pick) -> Dataset {
        let field = |field: &Field| {
            let shape = &field.shape;
            let picks: Vec<Pick> = field.dims.iter().zip(shape).map(|(dim, extent)| along(dim, *extent)).collect();
            let values = match &field.values {
                Values::F64(v) => Values::F64(gather(v, shape, &picks)),
                Values::F32(v) => Values::F32(gather(v, shape, &picks)),
                Values::I64(v) => Values::I64(gather(v, shape, &picks)),
                Values::I32(v) => Values::I32(gather(v, shape, &picks)),
                Values::Bool(v) => Values::Bool(gather(v, shape, &picks)),
                Values::String(v) => Values::String(gather(v, shape, &picks)),
            };
            let extents = picks.iter().zip(shape).map(|(p, extent)| p.count(*extent)).collect();
            Field { shape: extents, values, ..field.header() }
        };
        Dataset {
            variables: self.variables.iter().map(field).collect(),
            coords: self.coords.iter().map(field).collect(),
            attributes: self.attributes.clone(),
        }
    }

    /// Whether a dimension is a time axis: by the units of its coordinate, or by its name.
    fn is_time_axis(&self, dim: &str) -> bool {
        let units = self.coord(dim).and_then(|coord| attributes::text(&coord.attributes, "units"));
        units.is_some_and(|u| cf::is_time_units(&u)) || dim.eq_ignore_ascii_case("time")
    }
}

fn pick(axis: &AxisRead, len: u64) -> Pick {
    match axis {
        AxisRead::All => Pick::All,
        axis => Pick::List(positions(axis, len).map(|p| p as usize).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::DimWindow;
    use crate::formats::{Attribute, AttributeValue};
    use crate::ErrorKind;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn field(name: &str, dims: &[(&str, usize)]) -> Field {
        let shape: Vec<usize> = dims.iter().map(|(_, extent)| *extent).collect();
        let values = Values::I64((0..shape.iter().product::<usize>() as i64).collect());
        let dims = dims.iter().map(|(dim, _)| (*dim).into()).collect();
        Field { name: name.into(), dims, shape, values, attributes: Arc::new([]) }
    }

    fn example() -> Dataset {
        Dataset {
            variables: vec![field("t", &[("lat", 3), ("lon", 4)]), field("mask", &[("lon", 4)]), field("p", &[])],
            coords: vec![field("lon", &[("lon", 4)])],
            ..Dataset::default()
        }
    }

    fn integers(field: Option<&Field>) -> &[i64] {
        match &field.expect("it is there").values {
            Values::I64(v) => v,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_field_and_coordinate_is_cut_by_name() {
        let window = DimWindow::new().range("lat", 1, 3).indices("lon", [3, 0, 0]);
        let cut = example().cut(&window.into()).unwrap();
        assert_eq!(integers(cut.variable("t")), [7, 4, 4, 11, 8, 8]);
        assert_eq!(cut.variable("t").unwrap().shape, [2, 3]);
        assert_eq!(integers(cut.variable("mask")), [3, 0, 0]);
        assert_eq!(integers(cut.coord("lon")), [3, 0, 0]);
        assert_eq!(integers(cut.variable("p")), [0]);
        assert!(example().cut(&DimWindow::new().all("lat").into()).unwrap().same_bits(&example()));
        let empty = example().cut(&DimWindow::new().range("lon", 4, 2).into()).unwrap();
        assert_eq!(
            (empty.variable("t").unwrap().shape.as_slice(), empty.coord("lon").unwrap().shape[0]),
            (&[3, 0][..], 0)
        );
    }

    #[test]
    fn what_a_file_would_refuse_is_refused() {
        let refused = |window: Selection, text: &str| {
            let error = example().cut(&window).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Selection);
            assert!(error.to_string().contains(text), "{error}");
        };
        refused(Selection::All, "names its dimensions");
        refused(Selection::Positional(vec![AxisSelect::All]), "names its dimensions");
        refused(DimWindow::new().all("lev").all("lat").into(), "dimension \"lev\"; present are \"lat\", \"lon\"");
        refused(
            DimWindow::new().indices("lon", [0, 4]).into(),
            "index 4 of dimension \"lon\" lies outside its length 4",
        );
        refused(DimWindow::new().range("lat", 2, 4).into(), "index 3 of dimension \"lat\"");
        refused(DimWindow::new().range_step("lat", 0, 1, 0).into(), "step 0");
    }

    #[test]
    fn a_time_axis_is_not_narrowed() {
        let mut data = Dataset { variables: vec![field("v", &[("when", 2)])], ..Dataset::default() };
        let window = |dim: &str| DimWindow::new().range(dim, 0, 1).into();
        assert!(data.cut(&window("when")).is_ok());
        let units = AttributeValue::Text("hours since 1970-01-01".into());
        let units = Attribute { name: "units".into(), value: units, numeric: None };
        data.coords = vec![Field { attributes: [units].into(), ..field("when", &[("when", 2)]) }];
        assert!(data.cut(&window("when")).unwrap_err().to_string().contains("\"when\" is a time axis"));
        assert!(data.cut(&DimWindow::new().all("when").into()).unwrap().same_bits(&data));
        data = Dataset { variables: vec![field("v", &[("Time", 2)])], ..Dataset::default() };
        assert!(data.cut(&window("Time")).unwrap_err().to_string().contains("time axis"));
    }

    proptest! {
        #[test]
        fn a_slice_is_the_list_of_its_indices(start in 0u64..5, stop in 0u64..5, step in 1u64..4) {
            let list: Vec<u64> = (start..stop).step_by(step as usize).collect();
            let slice = example().cut(&DimWindow::new().range_step("lon", start, stop, step).into());
            let indices = example().cut(&DimWindow::new().indices("lon", list).into());
            match (slice, indices) {
                (Ok(slice), Ok(indices)) => prop_assert!(slice.same_bits(&indices)),
                (slice, indices) => prop_assert_eq!(slice.is_err(), indices.is_err()),
            }
        }
    }
}
