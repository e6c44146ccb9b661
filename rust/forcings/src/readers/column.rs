//! What a reader keeps of each of its series. There may be a million of them, so what many have in common is kept once.

use crate::array::{ArrayHash, DType};
use crate::series::{Features, Owner, OwnerCategory, SeriesId, SeriesInfo, SeriesType, TimeReference};
use crate::time::{Grid, Period, UnixMillis};
use crate::{Error, Result};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// One column of a reader: a series as it was when the reader was built.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnInfo {
    id: SeriesId,
    owner_id: i64,
    name: Arc<str>,
    features: Features,
    hash: ArrayHash,
    traits: Arc<Traits>,
    /// Which of the timeline's rows it reads.
    lane: u32,
}

/// What many series have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Traits {
    owner_type: String,
    owner_category: OwnerCategory,
    series_type: SeriesType,
    initial: Option<UnixMillis>,
    resolution: Option<Period>,
    length: Option<u64>,
    instants: Option<Arc<[UnixMillis]>>,
    dtype: DType,
    element_shape: Vec<usize>,
    units: Option<String>,
    ext: Option<String>,
    time_reference: Option<TimeReference>,
}

/// Makes columns, and lets them share what they have in common.
#[derive(Debug, Default)]
pub(super) struct Interner {
    names: HashSet<Arc<str>>,
    traits: HashSet<Arc<Traits>>,
}

impl Interner {
    /// The column of a static series. `instants` are those of an irregular one.
    pub(super) fn column(&mut self, info: SeriesInfo, instants: Option<Arc<[UnixMillis]>>, lane: u32) -> ColumnInfo {
        let name = match self.names.get(info.name.as_str()) {
            Some(name) => name.clone(),
            None => {
                let name: Arc<str> = info.name.into();
                self.names.insert(name.clone());
                name
            }
        };
        let traits = Traits {
            owner_type: info.owner.owner_type,
            owner_category: info.owner.category,
            series_type: info.series_type,
            initial: info.initial,
            resolution: info.resolution,
            length: info.length,
            instants,
            dtype: info.dtype,
            element_shape: info.element_shape,
            units: info.units,
            ext: info.ext,
            time_reference: info.time_reference,
        };
        let traits = match self.traits.get(&traits) {
            Some(known) => known.clone(),
            None => {
                let traits = Arc::new(traits);
                self.traits.insert(traits.clone());
                traits
            }
        };
        ColumnInfo {
            id: info.id,
            owner_id: info.owner.id,
            name,
            features: info.features,
            hash: info.hash,
            traits,
            lane,
        }
    }
}

impl ColumnInfo {
    /// The number of the series.
    pub fn id(&self) -> SeriesId {
        self.id
    }

    /// The owner's number.
    pub fn owner_id(&self) -> i64 {
        self.owner_id
    }

    /// The owner's category.
    pub fn owner_category(&self) -> OwnerCategory {
        self.traits.owner_category
    }

    /// The owner's type.
    pub fn owner_type(&self) -> &str {
        &self.traits.owner_type
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The type.
    pub fn series_type(&self) -> SeriesType {
        self.traits.series_type
    }

    /// The unit of the values.
    pub fn units(&self) -> Option<&str> {
        self.traits.units.as_deref()
    }

    /// How its instants are to be spelled.
    pub fn time_reference(&self) -> Option<&TimeReference> {
        self.traits.time_reference.as_ref()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.traits.dtype
    }

    /// The shape of its value at one instant; empty for a scalar.
    pub fn element_shape(&self) -> &[usize] {
        &self.traits.element_shape
    }

    /// The content hash of its array.
    pub fn hash(&self) -> &ArrayHash {
        &self.hash
    }

    /// All that the catalog had of the series.
    pub fn info(&self) -> SeriesInfo {
        let traits = &*self.traits;
        SeriesInfo {
            id: self.id,
            owner: Owner { id: self.owner_id, owner_type: traits.owner_type.clone(), category: traits.owner_category },
            series_type: traits.series_type,
            name: self.name.to_string(),
            initial: traits.initial,
            resolution: traits.resolution,
            length: traits.length,
            horizon: None,
            interval: None,
            count: None,
            timestamps: traits.instants.as_deref().map(<[_]>::to_vec),
            percentiles: None,
            dtype: traits.dtype,
            element_shape: traits.element_shape.clone(),
            units: traits.units.clone(),
            ext: traits.ext.clone(),
            time_reference: traits.time_reference.clone(),
            features: self.features.clone(),
            hash: self.hash,
        }
    }

    pub(super) fn lane(&self) -> usize {
        self.lane as usize
    }

    /// The series' own grid, of a regular one.
    pub(super) fn grid(&self) -> Result<Grid> {
        let Traits { initial, resolution, length, .. } = &*self.traits;
        match (initial, resolution, length.and_then(|n| usize::try_from(n).ok())) {
            (Some(initial), Some(resolution), Some(length)) => Grid::new(*initial, *resolution, length),
            _ => Err(Error::Integrity(format!("{self} has no grid of steps"))),
        }
    }

    /// Refuses an array that is not what the catalog says.
    ///
    /// # Errors
    /// `Integrity`, naming the series and `place`.
    pub(super) fn check_array(&self, dtype: DType, shape: impl IntoIterator<Item = u64>, place: &str) -> Result<()> {
        let Traits { length, element_shape, .. } = &*self.traits;
        let elements = element_shape.iter().map(|&n| n as u64);
        match self.traits.dtype == dtype && length.iter().copied().chain(elements).eq(shape) {
            true => Ok(()),
            false => {
                Err(Error::Integrity(format!("the catalog and the array {place} differ in type or shape of {self}")))
            }
        }
    }
}

impl fmt::Display for ColumnInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.info().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_gives_back_its_row_and_shares_what_is_the_same() {
        let mut info = super::super::cohort::tests::info(7, Owner::attribute(3, "Outage"), "rate");
        info.features = [("year", 2030)].into_iter().collect();
        info.units = Some("MW".into());
        info.ext = Some("x".into());
        info.time_reference = Some(TimeReference::Zoneless);
        let mut interner = Interner::default();
        let first = interner.column(info.clone(), None, 0);
        assert_eq!(first.info(), info);
        assert_eq!(first.to_string(), info.to_string());
        let second = interner.column(SeriesInfo { id: SeriesId(8), ..info.clone() }, None, 1);
        assert!(Arc::ptr_eq(&first.name, &second.name) && Arc::ptr_eq(&first.traits, &second.traits));
        let other = interner.column(SeriesInfo { length: Some(9), ..info.clone() }, None, 0);
        assert!(Arc::ptr_eq(&first.name, &other.name) && !Arc::ptr_eq(&first.traits, &other.traits));
        assert!(std::mem::size_of::<ColumnInfo>() <= 88);

        let instants = vec![UnixMillis(1), UnixMillis(5)];
        let info = SeriesInfo { timestamps: Some(instants.clone()), length: Some(2), ..info };
        assert_eq!(interner.column(info.clone(), Some(instants.into()), 0).info(), info);
    }
}
