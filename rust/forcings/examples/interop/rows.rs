//! Series between the language of the scripts and our types.

use super::script::{double, double_text, from_hex, hex, Feature, Identity, Row, Stored};
use super::Result;
use forcings::array::{ArrayView, DType};
use forcings::series::{
    FeatureValue, Features, NewSeries, Owner, OwnerCategory, SeriesData, SeriesId, SeriesInfo, SeriesType, Windows,
};
use forcings::store::{Filter, Finding, Store};
use forcings::time::{Period, UnixMillis};
use std::collections::BTreeMap;

/// The error of a script that has no good value here.
pub(crate) fn bad(what: &'static str) -> impl Fn() -> Box<dyn std::error::Error> {
    move || format!("a bad or missing {what}").into()
}

pub(crate) fn period(text: &str) -> Result<Period> {
    Ok(text.parse()?)
}

pub(crate) fn bytes(row: &Row) -> Result<Vec<u8>> {
    from_hex(&row.values).ok_or_else(bad("value"))
}

/// The number of the series with this identity.
pub(crate) fn find(store: &Store, identity: &Identity) -> Result<SeriesId> {
    let wanted = forcings::store::Identity {
        owner_id: identity.owner,
        owner_category: OwnerCategory::from_name(&identity.category).ok_or_else(bad("category"))?,
        series_type: SeriesType::from_name(&identity.series_type).ok_or_else(bad("type"))?,
        name: identity.name.clone(),
        resolution: identity.resolution.as_deref().map(period).transpose()?,
        interval: identity.interval.as_deref().map(period).transpose()?,
        features: features(&identity.features)?,
    };
    let candidates = store.list(&Filter { owner_id: Some(identity.owner), ..Filter::default() })?;
    let found = candidates.iter().find(|info| forcings::store::Identity::of(info) == wanted);
    Ok(found.ok_or_else(bad("identity"))?.id)
}

pub(crate) fn new_series<'a>(row: &'a Row, bytes: &'a [u8]) -> Result<NewSeries<'a>> {
    let category = OwnerCategory::from_name(&row.category).ok_or_else(bad("category"))?;
    let owner = Owner { id: row.owner, owner_type: row.owner_type.clone(), category };
    let dtype = DType::from_name(&row.dtype).ok_or_else(bad("element type"))?;
    let data = data(row, ArrayView::new(dtype, &row.shape, bytes)?)?;
    let mut series = NewSeries::new(owner, row.name.clone(), data);
    series.features = features(&row.features)?;
    (series.units, series.ext) = (row.units.clone(), row.ext.clone());
    Ok(series)
}

/// The series of a row of the catalog, values read.
pub(crate) fn row(store: &Store, info: &SeriesInfo) -> Result<Row> {
    let values = store.read(info.id)?.values;
    let text = |period: Option<Period>| period.map(|p| p.to_string());
    Ok(Row {
        owner: info.owner.id,
        owner_type: info.owner.owner_type.clone(),
        category: info.owner.category.name().into(),
        series_type: info.series_type.name().into(),
        name: info.name.clone(),
        initial: info.initial.map(|t| t.0),
        resolution: text(info.resolution),
        horizon: text(info.horizon),
        interval: text(info.interval),
        count: info.count,
        timestamps: info.timestamps.as_ref().map(|times| times.iter().map(|t| t.0).collect()),
        percentiles: info.percentiles.as_ref().map(|p| p.iter().copied().map(double_text).collect()),
        features: info.features.iter().map(|(key, value)| (key.to_string(), feature(value))).collect(),
        units: info.units.clone(),
        ext: info.ext.clone(),
        dtype: values.dtype().name().into(),
        shape: values.shape().to_vec(),
        values: hex(values.bytes()),
        stored: Some(Stored {
            length: info.length,
            element_shape: info.element_shape.clone(),
            hash: info.hash.to_hex(),
        }),
    })
}

/// Whether a finding is a fault. Other writers keep no generation, and leave the variable of a removed array.
pub(crate) fn counts(finding: &Finding) -> bool {
    !matches!(finding, Finding::UnreferencedArray { .. } | Finding::Generations { .. })
}

fn data<'a>(row: &Row, values: ArrayView<'a>) -> Result<SeriesData<'a>> {
    let initial = || row.initial.map(UnixMillis).ok_or_else(bad("initial timestamp"));
    let timestamps = || row.timestamps.iter().flatten().copied().map(UnixMillis).collect();
    let part = |text: &Option<String>| period(text.as_deref().ok_or_else(bad("period"))?);
    let windows = || -> Result<Windows> {
        Ok(Windows {
            initial: initial()?,
            resolution: part(&row.resolution)?,
            horizon: part(&row.horizon)?,
            interval: part(&row.interval)?,
            count: usize::try_from(row.count.ok_or_else(bad("count"))?)?,
        })
    };
    Ok(match SeriesType::from_name(&row.series_type).ok_or_else(bad("type"))? {
        SeriesType::SingleTimeSeries => {
            SeriesData::Single { initial: initial()?, resolution: part(&row.resolution)?, values }
        }
        SeriesType::NonSequentialTimeSeries => SeriesData::NonSequential { timestamps: timestamps(), values },
        SeriesType::PersistentTimeSeries => SeriesData::Persistent { timestamps: timestamps(), values },
        SeriesType::Deterministic => SeriesData::Deterministic { windows: windows()?, values },
        SeriesType::Probabilistic => {
            let percentiles = row.percentiles.iter().flatten().map(|p| double(p).ok_or_else(bad("percentile")));
            let percentiles = percentiles.collect::<Result<_>>()?;
            SeriesData::Probabilistic { windows: windows()?, percentiles, values }
        }
        SeriesType::Scenarios => SeriesData::Scenarios { windows: windows()?, values },
        other => return Err(format!("scripts add no {}", other.name()).into()),
    })
}

fn features(features: &BTreeMap<String, Feature>) -> Result<Features> {
    let value = |feature: &Feature| -> Result<FeatureValue> {
        Ok(match feature {
            Feature::Int(n) => FeatureValue::Int(*n),
            Feature::Float(bits) => FeatureValue::Float(double(bits).ok_or_else(bad("double"))?),
            Feature::Bool(b) => FeatureValue::Bool(*b),
            Feature::Text(text) => FeatureValue::Text(text.clone()),
        })
    };
    let mut all = Features::new();
    for (key, feature) in features {
        all.insert(key.clone(), value(feature)?);
    }
    Ok(all)
}

fn feature(value: &FeatureValue) -> Feature {
    match value {
        FeatureValue::Int(n) => Feature::Int(*n),
        FeatureValue::Float(x) => Feature::Float(double_text(*x)),
        FeatureValue::Bool(b) => Feature::Bool(*b),
        FeatureValue::Text(text) => Feature::Text(text.clone()),
    }
}
