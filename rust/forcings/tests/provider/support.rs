//! Files to read, and readings to compare.

use forcings::dataset::{Dataset, Field, Values};
use forcings::provider::{Provider, ProviderOptions};
use forcings::Error;
use netcdf::FileMut;
use std::path::{Path, PathBuf};

pub(crate) const LAT: usize = 4;
pub(crate) const LON: usize = 6;

/// Writes a NetCDF-4 file.
pub(crate) fn write(path: &Path, build: impl FnOnce(&mut FileMut)) {
    let mut file = netcdf::create(path).unwrap();
    build(&mut file);
    file.close().unwrap();
}

/// The time axis of a file: hours counted from `first`, in a calendar.
pub(crate) struct Axis {
    pub(crate) units: &'static str,
    pub(crate) calendar: Option<&'static str>,
    pub(crate) values: Vec<f64>,
}

/// Hours since 2000-01-01 in the standard calendar.
pub(crate) fn hours(values: impl IntoIterator<Item = i32>) -> Axis {
    let values = values.into_iter().map(f64::from).collect();
    Axis { units: "hours since 2000-01-01 00:00:00", calendar: Some("standard"), values }
}

pub(crate) const HOUR: f64 = 3600.0;
pub(crate) const Y2000: f64 = 946_684_800.0;

/// The stored wind of a record; -32768 is missing.
pub(crate) fn stored_wind(seed: usize) -> Vec<i16> {
    let cell = |i: usize| if i == seed % (LAT * LON) { i16::MIN } else { ((seed * 37 + i * 11) % 4000) as i16 - 2000 };
    (0..LAT * LON).map(cell).collect()
}

/// The wind of a record, unpacked.
pub(crate) fn wind(seed: usize) -> Vec<f64> {
    let unpack = |raw: i16| if raw == i16::MIN { f64::NAN } else { f64::from(raw) * 0.01 + 0.5 };
    stored_wind(seed).into_iter().map(unpack).collect()
}

/// A file like those of weather centres: packed `u(time, lat, lon)`, `height(lat, lon)`, coordinates, one record in a
/// chunk, deflate and shuffle. Record `r` holds `stored_wind(seed + r)`.
pub(crate) fn winds(dir: &Path, name: &str, axis: &Axis, seed: usize) -> PathBuf {
    let path = dir.join(name);
    write(&path, |file| {
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("lat", LAT).unwrap();
        file.add_dimension("lon", LON).unwrap();
        let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
        time.put_attribute("units", axis.units).unwrap();
        if let Some(calendar) = axis.calendar {
            time.put_attribute("calendar", calendar).unwrap();
        }
        time.put_values(&axis.values, ..axis.values.len()).unwrap();
        for (name, len) in [("lat", LAT), ("lon", LON)] {
            let values: Vec<f32> = (0..len).map(|i| i as f32 * 2.5).collect();
            file.add_variable::<f32>(name, &[name]).unwrap().put_values(&values, ..).unwrap();
        }
        let mut height = file.add_variable::<f32>("height", &["lat", "lon"]).unwrap();
        height.put_values(&[10.0_f32; LAT * LON], ..).unwrap();
        let mut u = file.add_variable::<i16>("u", &["time", "lat", "lon"]).unwrap();
        u.set_chunking(&[1, LAT, LON]).unwrap();
        u.set_compression(4, true).unwrap();
        u.set_fill_value(i16::MIN).unwrap();
        u.put_attribute("scale_factor", 0.01).unwrap();
        u.put_attribute("add_offset", 0.5).unwrap();
        for record in 0..axis.values.len() {
            u.put_values(&stored_wind(seed + record), (record, .., ..)).unwrap();
        }
    });
    path
}

pub(crate) fn open(options: ProviderOptions) -> Provider {
    Provider::open(options).unwrap()
}

/// The options for these files.
pub(crate) fn files(files: &[&PathBuf]) -> ProviderOptions {
    ProviderOptions::of_files(files.iter().map(|f| f.to_path_buf()))
}

pub(crate) fn refusal(options: ProviderOptions) -> Error {
    Provider::open(options).map(drop).unwrap_err()
}

/// Checks that a text holds every one of these parts.
pub(crate) fn assert_says(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "\"{part}\" is not in: {text}");
    }
}

pub(crate) fn f64s(field: &Field) -> &[f64] {
    match &field.values {
        Values::F64(values) => values,
        other => panic!("{} is {:?}", field.name, other.field_type()),
    }
}

/// Checks that `u` of a sample is the record with this seed.
pub(crate) fn assert_wind(sample: &Dataset, seed: usize) {
    let u = sample.variable("u").unwrap();
    assert_eq!(u.dims.iter().map(|d| &**d).collect::<Vec<_>>(), ["lat", "lon"]);
    assert_eq!(u.shape, [LAT, LON]);
    assert!(u.values.same_bits(&Values::F64(wind(seed))), "record {seed}: {:?}", u.values);
}
