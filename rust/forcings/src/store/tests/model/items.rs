//! The series that sequences draw from: every type, with element types, shapes and resolutions that differ, and arrays that
//! series of several types share.

use super::*;
use crate::array::DType;
use crate::series::{OffsetMinutes, Owner, SeriesData, TimeReference, Windows};
use proptest::prelude::*;

pub(super) const OWNERS: i64 = 3;
pub(super) const NAMES: [&str; 3] = ["load", "wind", "w"];
pub(super) const OWNER_TYPES: [&str; 2] = ["Bus", "Plant"];
/// Values that each kind may have.
const SEEDS: u32 = 3;

/// One series to be added.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) owner: Owner,
    pub(super) name: usize,
    pub(super) features: usize,
    reference: usize,
    kind: usize,
    seed: u32,
}

/// 2024-01-31T00:00:00Z, from where months are shortened.
pub(super) const MONTH_END: UnixMillis = UnixMillis(START.0 + 30 * 24 * HOUR);
pub(super) const MONTH: Period = Period::Months(1);

/// The time axis of a kind.
#[derive(Debug, Clone, Copy)]
enum Axis {
    Grid(UnixMillis, Period),
    Instants,
    Breakpoints,
    Deterministic(Windows),
    Probabilistic(Windows),
    Scenarios(Windows),
}

const fn windows(horizon: i32, interval: Period, count: usize) -> Windows {
    let (resolution, horizon) = (Period::hours(1), Period::hours(horizon));
    Windows { initial: START, resolution, horizon, interval, count }
}

const YEARLY: Windows = Windows {
    initial: MONTH_END,
    resolution: MONTH,
    horizon: Period::Months(4),
    interval: Period::Months(12),
    count: 2,
};

/// Where kinds have one element type and shape, equal seeds make one array.
const KINDS: &[(Axis, DType, &[usize])] = &[
    (Axis::Grid(START, Period::hours(1)), DType::F64, &[4]),
    (Axis::Grid(START, Period::hours(1)), DType::F64, &[4, 2]),
    (Axis::Grid(START, Period::hours(1)), DType::I32, &[4]),
    (Axis::Grid(START, Period::Fixed(900_000)), DType::F64, &[4]),
    (Axis::Grid(MONTH_END, MONTH), DType::F64, &[4, 2]),
    (Axis::Grid(START, MONTH), DType::Bool, &[5]),
    (Axis::Grid(START, Period::hours(2)), DType::F32, &[2, 3, 2]),
    (Axis::Grid(START, Period::hours(3)), DType::F64, &[3, 600]),
    (Axis::Grid(START, Period::hours(4)), DType::U64, &[0]),
    (Axis::Instants, DType::F64, &[4, 2]),
    (Axis::Instants, DType::I64, &[3]),
    (Axis::Instants, DType::F64, &[0]),
    (Axis::Breakpoints, DType::F64, &[4, 2]),
    (Axis::Breakpoints, DType::Bool, &[5]),
    (Axis::Deterministic(windows(4, Period::hours(3), 2)), DType::F64, &[4, 2]),
    (Axis::Deterministic(windows(2, MONTH, 3)), DType::U64, &[2, 3, 2]),
    (Axis::Deterministic(YEARLY), DType::F64, &[4, 2]),
    (Axis::Probabilistic(windows(3, Period::hours(24), 2)), DType::F32, &[2, 3, 2]),
    (Axis::Scenarios(windows(3, Period::hours(24), 2)), DType::F32, &[2, 3, 2]),
    (Axis::Scenarios(windows(1, Period::Fixed(0), 1)), DType::I64, &[3, 1, 1, 2]),
];

pub(super) fn item() -> impl Strategy<Value = Item> {
    (owner(), 0..NAMES.len(), 0..3usize, 0..8usize, 0..KINDS.len(), 0..SEEDS).prop_map(
        |(owner, name, features, reference, kind, seed)| Item { owner, name, features, reference, kind, seed },
    )
}

pub(super) fn owner() -> impl Strategy<Value = Owner> {
    (0..OWNERS, prop::sample::select(&OWNER_TYPES[..]), 0..4u8).prop_map(|(id, owner_type, n)| match n {
        0 => Owner::attribute(id, owner_type),
        _ => Owner::component(id, owner_type),
    })
}

pub(super) fn features(n: usize) -> Features {
    match n {
        0 => Features::new(),
        1 => Features::from_iter([("year", 2030)]),
        _ => [("year".to_string(), 2030.into()), ("scenario".to_string(), "high".into())]
            .into_iter()
            .collect::<Vec<(String, FeatureValue)>>()
            .into_iter()
            .collect(),
    }
}

/// The values of a kind. Elements of one seed differ, and one is not a number.
fn values(dtype: DType, shape: &[usize], seed: u32) -> Array {
    let len: usize = shape.iter().product();
    let element = |k: usize| {
        let n = seed * 10_000 + k as u32;
        match dtype {
            DType::F64 if n == 1 => f64::NAN.to_le_bytes().to_vec(),
            DType::F64 => f64::from(n).to_le_bytes().to_vec(),
            DType::F32 => (n as f32).to_le_bytes().to_vec(),
            DType::I64 => (-i64::from(n)).to_le_bytes().to_vec(),
            DType::I32 => (-(n as i32)).to_le_bytes().to_vec(),
            DType::U64 => (u64::MAX - u64::from(n)).to_le_bytes().to_vec(),
            DType::Bool => vec![(n >> (k % 5)) as u8 & 1],
        }
    };
    Array::new(dtype, shape.to_vec(), (0..len).flat_map(element).collect()).unwrap()
}

/// Every array that a series here may have.
pub(super) fn arrays() -> HashMap<ArrayHash, Array> {
    let all = KINDS.iter().flat_map(|(_, dtype, shape)| (0..SEEDS).map(|seed| values(*dtype, shape, seed)));
    all.map(|array| (array.view().hash(), array)).collect()
}

impl Item {
    pub(super) fn values(&self) -> Array {
        let (_, dtype, shape) = KINDS[self.kind];
        values(dtype, shape, self.seed)
    }

    pub(super) fn series<'a>(&self, values: &'a Array) -> NewSeries<'a> {
        let rows = values.shape()[0];
        // From before the year 1970 on, and unevenly.
        let timestamps = || (0..rows as i64).map(|k| UnixMillis(k * k * k * HOUR - HOUR)).collect();
        let values = values.view();
        let data = match KINDS[self.kind].0 {
            Axis::Grid(initial, resolution) => SeriesData::Single { initial, resolution, values },
            Axis::Instants => SeriesData::NonSequential { timestamps: timestamps(), values },
            Axis::Breakpoints => SeriesData::Persistent { timestamps: timestamps(), values },
            Axis::Deterministic(windows) => SeriesData::Deterministic { windows, values },
            Axis::Probabilistic(windows) => {
                let percentiles = (1..=rows).map(|k| k as f64 / 10.0).collect();
                SeriesData::Probabilistic { windows, percentiles, values }
            }
            Axis::Scenarios(windows) => SeriesData::Scenarios { windows, values },
        };
        let mut new = NewSeries::new(self.owner.clone(), NAMES[self.name], data);
        new.features = features(self.features);
        new.time_reference = match self.reference {
            0 => Some(TimeReference::Utc),
            1 => Some(TimeReference::Zoneless),
            2 => Some(TimeReference::FixedOffset(OffsetMinutes::new(-420).unwrap())),
            _ => None,
        };
        new.units = (self.seed == 1).then(|| "MW".into());
        new.ext = (self.reference == 3).then(|| "{\"a\": 1}".into());
        new
    }

    /// The row that it gets.
    pub(super) fn row(&self, id: SeriesId) -> SeriesInfo {
        let array = self.values();
        let new = self.series(&array);
        let windows = new.data.windows().copied();
        SeriesInfo {
            id,
            owner: new.owner,
            series_type: new.data.series_type(),
            name: new.name,
            initial: new.data.initial(),
            resolution: new.data.resolution(),
            length: Some(array.shape()[0] as u64),
            horizon: windows.map(|w| w.horizon),
            interval: windows.map(|w| w.interval),
            count: windows.map(|w| w.count as u64),
            timestamps: new.data.timestamps().map(<[UnixMillis]>::to_vec),
            percentiles: new.data.percentiles().map(<[f64]>::to_vec),
            dtype: array.dtype(),
            element_shape: array.shape()[1..].to_vec(),
            units: new.units,
            ext: new.ext,
            time_reference: new.time_reference,
            features: new.features,
            hash: array.view().hash(),
        }
    }
}
