//! The times of a provider, and the file and record that each of them stands for.

use super::axis::{find_time_dim, require_dim, FileAxis};
use super::options::ProviderOptions;
use super::pool::FilePool;
use super::remote::{Assigned, RemoteRecords};
use super::time_unit::TimeUnit;
use crate::time::cf::Calendar;
use crate::{Error, Result};
use std::collections::HashMap;
use std::path::PathBuf;

/// Where the data of one time are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: usize,
    /// The position along the time dimension; `None` where the sample is the whole file, or the file tells.
    pub(super) record: Option<u64>,
}

/// The times, ascending, with their places. Without times the data are constant.
#[derive(Debug, Default)]
pub(super) struct Cadence {
    pub(super) ticks: Vec<f64>,
    /// One for each tick.
    pub(super) places: Vec<Place>,
    pub(super) time_dim: Option<String>,
    /// The calendar in which the ticks are counted; `None` where they are in a unit of the caller's.
    pub(super) calendar: Option<Calendar>,
    /// What the records' times are counted in.
    pub(super) unit: TimeUnit,
    /// The ticks in that unit, where they are given in another.
    times: Option<Vec<f64>>,
    /// Tells the records of files that are fetched when they are needed.
    pub(super) remote: Option<RemoteRecords>,
}

impl Cadence {
    /// The given times of files that are not looked at.
    pub(super) fn of_remote(ticks: Vec<f64>, assigned: Assigned, time_dim: Option<String>) -> (Self, Vec<PathBuf>) {
        let places = assigned.file_of_tick.into_iter().map(|file| Place { file, record: None }).collect();
        let remote = Some(assigned.records);
        (Cadence { ticks, places, time_dim, remote, ..Cadence::default() }, assigned.files)
    }

    /// Finds the times of the files, or the records of the given times.
    ///
    /// # Errors
    /// Those of opening and reading; `InvalidParameter`, `NotFound` or `Format` for times that contradict the files.
    pub(super) fn of(pool: &FilePool, options: &ProviderOptions) -> Result<Self> {
        let first = pool.open(0)?;
        let time_dim = find_time_dim(&first.schema, options.time_dim.as_deref(), pool.path(0))?;
        match (&options.times, time_dim) {
            (None, None) if pool.len() == 1 => Ok(Cadence::default()),
            (None, None) => Err(Error::invalid(format!(
                "{}: no dimension has a coordinate with CF time units, so the times of {} files are unknown; give times",
                pool.path(0).display(),
                pool.len()
            ))),
            (None, Some(dim)) => Cadence::of_axes(pool, dim),
            (Some(times), Some(dim)) if first.schema.time_units(&dim).is_some() => {
                Cadence::matched(pool, times, dim, options.records_per_sample == 2)
            }
            (Some(times), Some(dim)) => Cadence::counted(pool, times, dim),
            (Some(times), None) => {
                // The name alone makes a time axis too, by the rule that selections follow.
                let named = first.schema.dimension_names().find(|d| d.eq_ignore_ascii_case("time"));
                match named {
                    Some(dim) => Cadence::counted(pool, times, dim.to_string()),
                    None => Cadence::whole_files(pool, times),
                }
            }
        }
    }

    /// The position of the last tick at or before `t`.
    ///
    /// # Errors
    /// `OffGrid` before the first tick, `InvalidParameter` for NaN.
    pub(super) fn index_at(&self, t: f64) -> Result<usize> {
        tick_at(&self.ticks, t)
    }

    /// The time of a tick, in [`unit`](Cadence::unit).
    pub(super) fn time(&self, tick: usize) -> f64 {
        self.times.as_ref().unwrap_or(&self.ticks)[tick]
    }

    /// The times of the files' own axes, in Unix seconds.
    fn of_axes(pool: &FilePool, dim: String) -> Result<Self> {
        let mut parts: Vec<Vec<(f64, Place)>> = Vec::new();
        let mut calendar: Option<Calendar> = None;
        for file in 0..pool.len() {
            let axis = read_axis(pool, file, &dim)?;
            calendar = common_calendar(pool, calendar, file, axis.calendar)?;
            let place = |(record, t)| (t, Place { file, record: Some(record as u64) });
            let mut part: Vec<_> = axis.unix?.into_iter().enumerate().map(place).collect();
            part.sort_by(|a, b| a.0.total_cmp(&b.0));
            if let Some(pair) = part.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let (t, records) = (pair[0].0, [pair[0].1.record, pair[1].1.record].map(Option::unwrap_or_default));
                let [a, b] = records;
                let detail = format!("records {a} and {b} (counted from 0) have the same time, {t} Unix seconds");
                return Err(Error::format(pool.path(file), detail));
            }
            parts.extend((!part.is_empty()).then_some(part));
        }
        parts.sort_by(|a, b| a[0].0.total_cmp(&b[0].0));
        for pair in parts.windows(2) {
            let (before, behind) = (pair[0][pair[0].len() - 1], pair[1][0]);
            if before.0 >= behind.0 {
                return Err(Error::invalid(format!(
                    "the times of {} and {} overlap: {} is the last of one, {} the first of the other (Unix seconds)",
                    pool.path(before.1.file).display(),
                    pool.path(behind.1.file).display(),
                    before.0,
                    behind.0
                )));
            }
        }
        let (ticks, places): (Vec<_>, Vec<_>) = parts.into_iter().flatten().unzip();
        if ticks.is_empty() {
            return Err(Error::format(
                pool.path(0),
                format!("dimension \"{dim}\" has no record, so there are no times"),
            ));
        }
        let unit = calendar.map_or(TimeUnit::Unknown, TimeUnit::unix);
        Ok(Cadence { ticks, places, time_dim: Some(dim), calendar, unit, ..Cadence::default() })
    }

    /// Given times that are found on the files' own axes: all as Unix seconds, or all as the numbers of the axis.
    ///
    /// # Errors
    /// As [`of`](Cadence::of); with `bracket` also for neighbours that are counted in two units.
    fn matched(pool: &FilePool, times: &[f64], dim: String, bracket: bool) -> Result<Self> {
        let (mut by_unix, mut by_number) = (TickMap::default(), TickMap::default());
        let mut calendar = None;
        let mut no_unix = None;
        let (mut units, mut unix_of_files) = (Vec::new(), Vec::new());
        for file in 0..pool.len() {
            let axis = read_axis(pool, file, &dim)?;
            by_number.add(file, axis.raw.iter().map(|v| number_key(*v)));
            units.push(axis.unit);
            let unix = common_calendar(pool, calendar, file, axis.calendar).and_then(|common| {
                calendar = common;
                axis.unix
            });
            match unix {
                Ok(unix) => {
                    by_unix.add(file, unix.iter().map(|v| millisecond_key(*v)));
                    unix_of_files.push(unix);
                }
                Err(e) => no_unix = no_unix.or(Some(e)),
            }
        }
        let decoded = no_unix.is_none();
        let by_unix = match no_unix {
            None => by_unix.find(pool, times, millisecond_key),
            Some(e) => Err(e),
        };
        let by_number = by_number.find(pool, times, number_key);
        let unix_unit = calendar.filter(|_| decoded).map(TimeUnit::unix);
        let (places, calendar, unit, instants) = match (by_unix, by_number) {
            (Ok(unix), Ok(numbers)) if unix != numbers => {
                return Err(Error::invalid(format!(
                    "times match the axis \"{dim}\" both as Unix seconds and as its own numbers, but not the same \
                     records; leave times out"
                )))
            }
            (Ok(places), _) => (places, calendar, unix_unit.unwrap_or_default(), None),
            (Err(_), Ok(places)) => match unix_unit {
                Some(unit) => {
                    let instant = |p: &Place| unix_of_files[p.file][p.record.unwrap_or_default() as usize];
                    let instants = places.iter().map(instant).collect();
                    (places, None, unit, Some(instants))
                }
                // The caller's numbers are those of the files, if they all count alike.
                None => match places.windows(2).find(|pair| units[pair[0].file] != units[pair[1].file]) {
                    Some([a, b]) if bracket => {
                        return Err(units[a.file].differs(&units[b.file], pool.path(a.file), pool.path(b.file)))
                    }
                    Some(_) => (places, None, TimeUnit::Unknown, None),
                    None => {
                        let unit = places.first().map(|place| units.swap_remove(place.file)).unwrap_or_default();
                        (places, None, unit, None)
                    }
                },
            },
            (Err(unix), Err(number)) => {
                return Err(Error::invalid(format!(
                    "times do not match the time axis \"{dim}\" of the files, neither as Unix seconds ({unix}) nor as \
                     its own numbers ({number}); leave times out to use those of the files"
                )))
            }
        };
        let (ticks, time_dim) = (times.to_vec(), Some(dim));
        Ok(Cadence { ticks, places, time_dim, calendar, unit, times: instants, remote: None })
    }

    /// Given times for records that are counted through the files.
    fn counted(pool: &FilePool, times: &[f64], dim: String) -> Result<Self> {
        let mut places = Vec::new();
        for file in 0..pool.len() {
            let len = require_dim(&pool.open(file)?.schema, &dim, pool.path(file))?;
            // More than there are times is an error below; nothing is gained by listing them all.
            places.extend((0..len.min(times.len() as u64 + 1)).map(|r| Place { file, record: Some(r) }));
            if places.len() > times.len() {
                break;
            }
        }
        if places.len() != times.len() {
            let more = places.len() > times.len();
            let found = if more { "more".into() } else { format!("only {}", places.len()) };
            return Err(Error::invalid(format!(
                "{} times are given, but the {} files hold {found} records along \"{dim}\", which has no CF time units \
                 by which they could be matched",
                times.len(),
                pool.len()
            )));
        }
        Ok(Cadence { ticks: times.to_vec(), places, time_dim: Some(dim), ..Cadence::default() })
    }

    /// Given times, one for each file.
    fn whole_files(pool: &FilePool, times: &[f64]) -> Result<Self> {
        if times.len() != pool.len() {
            return Err(Error::invalid(format!(
                "{} times are given for {} files without a time dimension, each of which is one sample; if they have \
                 one, name it with time_dim",
                times.len(),
                pool.len()
            )));
        }
        let places = (0..pool.len()).map(|file| Place { file, record: None }).collect();
        Ok(Cadence { ticks: times.to_vec(), places, ..Cadence::default() })
    }
}

/// The position of the last tick at or before `t`.
///
/// # Errors
/// `OffGrid` before the first tick, `InvalidParameter` for NaN.
pub(super) fn tick_at(ticks: &[f64], t: f64) -> Result<usize> {
    if t.is_nan() {
        return Err(Error::invalid("the time is NaN"));
    }
    match ticks.partition_point(|tick| *tick <= t) {
        0 => Err(Error::OffGrid(format!(
            "the time {t} precedes the first refresh time {}",
            ticks.first().copied().unwrap_or(f64::NAN)
        ))),
        behind => Ok(behind - 1),
    }
}

fn read_axis(pool: &FilePool, file: usize, dim: &str) -> Result<FileAxis> {
    let (open, path) = (pool.open(file)?, pool.path(file));
    require_dim(&open.schema, dim, path)?;
    FileAxis::read(&open, dim, path)?.ok_or_else(|| {
        Error::format(path, format!("dimension \"{dim}\" has no coordinate with CF time units; give times"))
    })
}

/// The calendar of the files so far and of this one.
///
/// # Errors
/// `Format` when their Unix seconds do not mean the same instants.
fn common_calendar(
    pool: &FilePool,
    known: Option<Calendar>,
    file: usize,
    found: Option<Calendar>,
) -> Result<Option<Calendar>> {
    match (known, found) {
        (Some(known), Some(found)) if !known.shares_time_line(found) => {
            let others = pool.path(0).display();
            let detail = format!("its calendar is {found}, that of {others} is {known}; give each its own provider");
            Err(Error::format(pool.path(file), detail))
        }
        _ => Ok(known.or(found)),
    }
}

/// The places of the records by their time.
#[derive(Default)]
struct TickMap(HashMap<u64, Vec<Place>>);

impl TickMap {
    fn add(&mut self, file: usize, keys: impl Iterator<Item = u64>) {
        for (record, key) in keys.enumerate() {
            self.0.entry(key).or_default().push(Place { file, record: Some(record as u64) });
        }
    }

    /// The places of all times; the text of the error says which one has none, or two.
    fn find(&self, pool: &FilePool, times: &[f64], key: fn(f64) -> u64) -> Result<Vec<Place>> {
        let place = |t: &f64| match self.0.get(&key(*t)).map(Vec::as_slice) {
            Some([place]) => Ok(*place),
            Some([a, b, ..]) => Err(Error::invalid(format!(
                "{t} stands in {} and in {}",
                pool.path(a.file).display(),
                pool.path(b.file).display()
            ))),
            _ => Err(Error::invalid(format!("{t} is not among them"))),
        };
        times.iter().map(place).collect()
    }
}

/// Equal for the two zeros.
pub(super) fn number_key(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

pub(super) fn millisecond_key(seconds: f64) -> u64 {
    number_key((seconds * 1000.0).round())
}
