//! Series between the language of the scripts and the crate's own types.

use crate::script::{double, double_text, from_hex, hex, Feature, Identity, Row, Stored};
use crate::Result;
use chrono::{DateTime, Utc};
use infrastore_core::{
    hash_hex, AddRequest, Deterministic, Dtype, FeatureValue, Features, KeyIdentity, NonSequentialTimeSeries,
    OwnerCategory, Period, Probabilistic, Scenarios, SingleTimeSeries, Store, TimeSeriesData, TimeSeriesMetadata,
    TimeSeriesType, TypedArray,
};
use std::collections::BTreeMap;

pub fn period(text: &str) -> Result<Period> {
    Ok(Period::from_iso8601(text)?)
}

pub fn identity(identity: &Identity) -> Result<KeyIdentity> {
    Ok(KeyIdentity {
        owner_id: identity.owner,
        owner_category: category(&identity.category)?,
        time_series_type: identity.series_type.parse().map_err(|()| "an unknown type of series")?,
        name: identity.name.clone(),
        resolution: identity.resolution.as_deref().map(period).transpose()?,
        interval: identity.interval.as_deref().map(period).transpose()?,
        features: features(&identity.features)?,
    })
}

pub fn add_request(row: &Row) -> Result<AddRequest> {
    Ok(AddRequest {
        owner_id: row.owner,
        owner_type: row.owner_type.clone(),
        owner_category: category(&row.category)?,
        data: data(row)?,
        features: features(&row.features)?,
        units: row.units.clone(),
        ext: row.ext.clone(),
    })
}

/// The series of a row of the catalog, values read.
pub fn row(store: &Store, metadata: &TimeSeriesMetadata) -> Result<Row> {
    let key = KeyIdentity {
        owner_id: metadata.owner_id,
        owner_category: metadata.owner_category,
        time_series_type: metadata.time_series_type,
        name: metadata.name.clone(),
        resolution: metadata.resolution,
        interval: metadata.interval,
        features: metadata.features.clone(),
    };
    let data = store.get_time_series(&key, None)?;
    let array = match &data {
        TimeSeriesData::SingleTimeSeries(s) => &s.data,
        TimeSeriesData::NonSequentialTimeSeries(s) => &s.data,
        TimeSeriesData::Deterministic(s) => &s.data,
        TimeSeriesData::Probabilistic(s) => &s.data,
        TimeSeriesData::Scenarios(s) => &s.data,
    };
    let times = |times: &Vec<DateTime<Utc>>| times.iter().map(DateTime::timestamp_millis).collect();
    Ok(Row {
        owner: metadata.owner_id,
        owner_type: metadata.owner_type.clone(),
        category: metadata.owner_category.as_str().into(),
        series_type: metadata.time_series_type.as_str().into(),
        name: metadata.name.clone(),
        initial: metadata.initial_timestamp.map(|t| t.timestamp_millis()),
        resolution: metadata.resolution.map(|p| p.to_iso8601()),
        horizon: metadata.horizon.map(|p| p.to_iso8601()),
        interval: metadata.interval.map(|p| p.to_iso8601()),
        count: metadata.count.map(|n| n as u64),
        timestamps: metadata.timestamps.as_ref().map(times),
        percentiles: metadata.percentiles.as_ref().map(|p| p.iter().copied().map(double_text).collect()),
        features: metadata.features.iter().map(|(key, value)| (key.clone(), feature(value))).collect(),
        units: metadata.units.clone(),
        ext: metadata.ext.clone(),
        dtype: array.dtype.as_str().into(),
        shape: array.shape.clone(),
        values: hex(&array.bytes),
        stored: Some(Stored {
            length: metadata.length.map(|n| n as u64),
            element_shape: metadata.element_shape.clone(),
            hash: hash_hex(&metadata.data_hash),
        }),
    })
}

fn data(row: &Row) -> Result<TimeSeriesData> {
    let dtype = Dtype::parse(&row.dtype).ok_or("an unknown element type")?;
    let bytes = from_hex(&row.values).ok_or("values that are not hex digits")?;
    let array = TypedArray::new(dtype, row.shape.clone(), bytes)?;
    let initial = row.initial.map(instant).transpose()?.ok_or("no initial timestamp");
    let name = row.name.clone();
    let series_type: TimeSeriesType = row.series_type.parse().map_err(|()| "an unknown type of series")?;
    let forecast = || -> Result<_> {
        let part = |text: &Option<String>| text.as_deref().map(period).transpose()?.ok_or("a missing period".into());
        let periods: [Result<Period>; 3] = [&row.resolution, &row.horizon, &row.interval].map(part);
        let [resolution, horizon, interval] = periods;
        let count = row.count.ok_or("no count of windows")? as usize;
        Ok((resolution?, horizon?, interval?, count))
    };
    Ok(match series_type {
        TimeSeriesType::SingleTimeSeries => {
            let resolution = period(row.resolution.as_deref().ok_or("no resolution")?)?;
            TimeSeriesData::SingleTimeSeries(SingleTimeSeries::new(initial?, resolution, array, name))
        }
        TimeSeriesType::NonSequentialTimeSeries => {
            let times = row.timestamps.iter().flatten().map(|&t| instant(t)).collect::<Result<_>>()?;
            TimeSeriesData::NonSequentialTimeSeries(NonSequentialTimeSeries::new(times, array, name)?)
        }
        TimeSeriesType::Deterministic => {
            let (resolution, horizon, interval, count) = forecast()?;
            let new = Deterministic::new(initial?, resolution, horizon, interval, count, array, name)?;
            TimeSeriesData::Deterministic(new)
        }
        TimeSeriesType::Probabilistic => {
            let (resolution, horizon, interval, count) = forecast()?;
            let percentiles = row.percentiles.iter().flatten().map(|p| double(p).ok_or("a bad percentile".into()));
            let percentiles = percentiles.collect::<Result<_>>()?;
            let new = Probabilistic::new(initial?, resolution, horizon, interval, count, percentiles, array, name)?;
            TimeSeriesData::Probabilistic(new)
        }
        TimeSeriesType::Scenarios => {
            let (resolution, horizon, interval, count) = forecast()?;
            let scenarios = *row.shape.first().ok_or("no scenarios")?;
            let new = Scenarios::new(initial?, resolution, horizon, interval, count, scenarios, array, name)?;
            TimeSeriesData::Scenarios(new)
        }
        TimeSeriesType::DeterministicSingleTimeSeries => return Err("a derived forecast is not added".into()),
    })
}

fn category(text: &str) -> Result<OwnerCategory> {
    OwnerCategory::parse(text).ok_or_else(|| "an unknown category".into())
}

fn instant(milliseconds: i64) -> Result<DateTime<Utc>> {
    DateTime::from_timestamp_millis(milliseconds).ok_or_else(|| "a time out of range".into())
}

fn features(features: &BTreeMap<String, Feature>) -> Result<Features> {
    let value = |feature: &Feature| -> Result<FeatureValue> {
        Ok(match feature {
            Feature::Int(n) => FeatureValue::Int(*n),
            Feature::Float(bits) => FeatureValue::Float(double(bits).ok_or("a bad double")?),
            Feature::Bool(b) => FeatureValue::Bool(*b),
            Feature::Text(text) => FeatureValue::Str(text.clone()),
        })
    };
    features.iter().map(|(key, feature)| Ok((key.clone(), value(feature)?))).collect()
}

fn feature(value: &FeatureValue) -> Feature {
    match value {
        FeatureValue::Int(n) => Feature::Int(*n),
        FeatureValue::Float(x) => Feature::Float(double_text(*x)),
        FeatureValue::Bool(b) => Feature::Bool(*b),
        FeatureValue::Str(text) => Feature::Text(text.clone()),
    }
}
