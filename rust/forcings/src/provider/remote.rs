//! Files that are fetched when a sample needs them: which one holds a time is known at once, which record it is only when
//! the file is there. Building a provider over them reads none.

use super::axis::{find_time_dim, FileAxis};
use super::cadence::{millisecond_key, number_key};
use super::pool::OpenFile;
use super::time_unit::TimeUnit;
use crate::{Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The ticks of each file, and their records once the file was open.
#[derive(Debug)]
pub(super) struct RemoteRecords {
    time_dim: Option<String>,
    files: Vec<FileTicks>,
}

#[derive(Debug, Default)]
struct FileTicks {
    /// Ascending.
    ticks: Vec<f64>,
    found: OnceLock<Records>,
}

/// The records of the ticks of one file.
#[derive(Debug, Default)]
struct Records {
    /// The dimension along which they lie; without one the whole file is each sample.
    dim: Option<String>,
    /// One for each tick of the file; empty without the dimension.
    at: Vec<u64>,
    /// What the records' times are counted in.
    unit: TimeUnit,
    /// The ticks in that unit, where they are given in another.
    times: Option<Vec<f64>>,
}

/// The record of one tick.
pub(super) struct Found<'a> {
    /// The dimension of the records; `None` where the whole file is the sample.
    pub(super) dim: Option<&'a str>,
    pub(super) record: Option<u64>,
    /// The time of the record.
    pub(super) time: f64,
    pub(super) unit: TimeUnit,
}

/// A list of files, one for each tick, without the repetitions.
pub(super) struct Assigned {
    pub(super) files: Vec<PathBuf>,
    /// For each tick the position of its file.
    pub(super) file_of_tick: Vec<usize>,
    pub(super) records: RemoteRecords,
}

/// Assigns ticks to files: all to the only one, or each to the one that stands in its place.
///
/// # Errors
/// `InvalidParameter` when the numbers do not fit.
pub(super) fn assign(files: &[PathBuf], ticks: &[f64], time_dim: Option<&str>) -> Result<Assigned> {
    if files.len() != 1 && files.len() != ticks.len() {
        return Err(Error::invalid(format!(
            "{} URLs are given for {} times; give one URL, or one for each time, the same for times that share a file",
            files.len(),
            ticks.len()
        )));
    }
    let mut positions = HashMap::new();
    let mut distinct: Vec<(PathBuf, FileTicks)> = Vec::new();
    let mut file_of_tick = Vec::with_capacity(ticks.len());
    for (tick, file) in ticks.iter().zip(files.iter().cycle()) {
        let position = *positions.entry(file.as_path()).or_insert(distinct.len());
        if position == distinct.len() {
            distinct.push((file.clone(), FileTicks::default()));
        }
        distinct[position].1.ticks.push(*tick);
        file_of_tick.push(position);
    }
    let (files, ticks) = distinct.into_iter().unzip();
    let records = RemoteRecords { time_dim: time_dim.map(str::to_string), files: ticks };
    Ok(Assigned { files, file_of_tick, records })
}

impl RemoteRecords {
    /// The record of `tick` in a file that is open now. `name` is how errors call the file.
    ///
    /// # Errors
    /// `InvalidParameter` or `NotFound` when the times of the file's ticks are not those of its records; those of reading
    /// its time axis.
    pub(super) fn of_tick(&self, open: &OpenFile, name: &Path, file: usize, tick: f64) -> Result<Found<'_>> {
        let of = &self.files[file];
        let records = match of.found.get() {
            Some(records) => records,
            None => {
                let records = Records::find(open, name, self.time_dim.as_deref(), &of.ticks)?;
                of.found.get_or_init(|| records)
            }
        };
        let position = of.ticks.partition_point(|t| *t < tick);
        Ok(Found {
            dim: records.dim.as_deref(),
            record: records.at.get(position).copied(),
            time: records.times.as_ref().map_or(tick, |times| times[position]),
            unit: records.unit.clone(),
        })
    }
}

impl Records {
    fn find(open: &OpenFile, name: &Path, asked: Option<&str>, ticks: &[f64]) -> Result<Self> {
        let dim = find_time_dim(&open.schema, asked, name)?;
        // The name alone makes a time axis too, by the rule that selections follow.
        let named = || open.schema.dimension_names().find(|d| d.eq_ignore_ascii_case("time")).map(str::to_string);
        let Some(dim) = dim.or_else(named) else { return Ok(Records::default()) };
        match FileAxis::read(open, &dim, name)? {
            Some(axis) => matched(axis, name, dim, ticks),
            None => {
                let at = counted(open, name, &dim, ticks)?;
                Ok(Records { dim: Some(dim), at, ..Records::default() })
            }
        }
    }
}

/// The records with the times of the ticks: all as Unix seconds, or all as the numbers of the axis.
fn matched(axis: FileAxis, name: &Path, dim: String, ticks: &[f64]) -> Result<Records> {
    let by_unix = match &axis.unix {
        Ok(unix) => look_up(unix, ticks, millisecond_key),
        Err(e) => Err(e.to_string()),
    };
    let unix_unit = axis.calendar.map_or(TimeUnit::Unknown, TimeUnit::unix);
    let (at, unit, times) = match (by_unix, look_up(&axis.raw, ticks, number_key)) {
        (Ok(unix), Ok(numbers)) if unix != numbers => {
            return Err(Error::invalid(format!(
                "{}: the times match the axis \"{dim}\" both as Unix seconds and as its own numbers, but not the same \
                 records",
                name.display()
            )))
        }
        (Ok(records), _) => (records, unix_unit, None),
        (Err(_), Ok(records)) => match &axis.unix {
            Ok(unix) => {
                let times = records.iter().map(|record| unix[*record as usize]).collect();
                (records, unix_unit, Some(times))
            }
            Err(_) => (records, axis.unit, None),
        },
        (Err(unix), Err(number)) => {
            return Err(Error::invalid(format!(
            "{}: the times of this file do not match its time axis \"{dim}\", neither as Unix seconds ({unix}) nor as \
                 its own numbers ({number})",
            name.display()
        )))
        }
    };
    Ok(Records { dim: Some(dim), at, unit, times })
}

fn look_up(axis: &[f64], ticks: &[f64], key: fn(f64) -> u64) -> std::result::Result<Vec<u64>, String> {
    let mut records = HashMap::new();
    for (record, time) in axis.iter().enumerate() {
        records.entry(key(*time)).or_insert_with(Vec::new).push(record as u64);
    }
    let record = |tick: &f64| match records.get(&key(*tick)).map(Vec::as_slice) {
        Some([record]) => Ok(*record),
        Some(_) => Err(format!("{tick} stands in it more than once")),
        None => Err(format!("{tick} is not among them")),
    };
    ticks.iter().map(record).collect()
}

/// The records in their order, where the file does not say their times.
fn counted(open: &OpenFile, name: &Path, dim: &str, ticks: &[f64]) -> Result<Vec<u64>> {
    let len = super::axis::require_dim(&open.schema, dim, name)?;
    if len != ticks.len() as u64 {
        return Err(Error::invalid(format!(
            "{}: {} times are given for this file, but it holds {len} records along \"{dim}\", which has no CF time units \
             by which they could be matched",
            name.display(),
            ticks.len()
        )));
    }
    Ok((0..len).collect())
}

/// The error of one file's sample, told by its URL and time. The kind stays as it is, and so does a `CacheMiss`.
pub(super) fn name_source(error: Error, url: &str, tick: f64) -> Error {
    let about = format!("needed for the time {tick}");
    let with_url = |text: String| {
        if text.contains(url) {
            format!("{text} ({about})")
        } else {
            format!("{url}: {text} ({about})")
        }
    };
    match error {
        Error::Format { path, detail } if path.as_os_str() == url => Error::format(url, format!("{detail} ({about})")),
        Error::Format { path, detail } => {
            Error::format(url, format!("{detail} ({about}, cached as {})", path.display()))
        }
        Error::Transport { url, detail } => Error::Transport { url, detail: format!("{detail} ({about})") },
        Error::NotFound(text) => Error::NotFound(with_url(text)),
        Error::InvalidParameter(text) => Error::InvalidParameter(with_url(text)),
        Error::Integrity(text) => Error::Integrity(with_url(text)),
        Error::Unsupported(text) => Error::Unsupported(with_url(text)),
        Error::Selection(text) => Error::Selection(with_url(text)),
        other => other,
    }
}
