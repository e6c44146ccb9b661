//! Readers that stay while the store changes under them: each value is that of the build, until its array goes.

use super::state::State;
use super::*;
use crate::readers::{ForecastReader, StaticReader};

enum Reader {
    Static(StaticReader),
    Forecast(ForecastReader),
}

/// A reader, and what it reads by step or window.
pub(super) struct Walker {
    reader: Reader,
    /// The rows at the time of the build, with their values.
    rows: HashMap<SeriesId, (SeriesInfo, Array)>,
}

impl Walker {
    /// A reader of what the filter selects; `None` where that has not one timeline.
    pub(super) fn build(
        store: &Store,
        state: &State,
        filter: &Filter,
        arrays: &HashMap<ArrayHash, Array>,
    ) -> Option<Self> {
        let rows: Vec<&SeriesInfo> = state.matching(filter).collect();
        let is_forecast = filter.series_type.is_some_and(SeriesType::is_forecast);
        let reader = match is_forecast {
            true => ForecastReader::build(store, filter).map(Reader::Forecast),
            false => StaticReader::build(store, filter).map(Reader::Static),
        };
        let timeline = |row: &&SeriesInfo| {
            (row.initial, row.interval, row.count, row.horizon, row.length.filter(|_| !is_forecast))
        };
        let aligned = rows.windows(2).all(|pair| timeline(&pair[0]) == timeline(&pair[1]));
        let reader = match reader {
            Ok(reader) => reader,
            Err(error) => {
                let fits = aligned && !rows.iter().any(|row| row.length == Some(0));
                assert!(error.kind() == ErrorKind::InvalidParameter && !fits, "{filter:?}: {error}");
                return None;
            }
        };
        let rows = rows
            .into_iter()
            .map(|row| {
                let read = reading::read(row, &arrays[&row.hash], None, None).unwrap();
                (row.id, (row.clone(), read.values))
            })
            .collect();
        let walker = Walker { reader, rows };
        assert_eq!(walker.ids(), walker.rows.keys().copied().collect());
        Some(walker)
    }

    fn ids(&self) -> HashSet<SeriesId> {
        match &self.reader {
            Reader::Static(reader) => reader.groups().iter().flat_map(|g| g.columns()).map(|c| c.id()).collect(),
            Reader::Forecast(reader) => reader.entries().iter().map(|entry| entry.info().id).collect(),
        }
    }

    /// Reads everything, backward.
    pub(super) fn walk(&mut self, state: &State) {
        let there = |hash: &ArrayHash| state.series.values().any(|row| row.hash == *hash);
        let kept = self.rows.values().all(|(row, _)| there(&row.hash));
        let len = match &self.reader {
            Reader::Static(reader) => reader.len(),
            Reader::Forecast(reader) => reader.len(),
        };
        for step in (0..len).rev() {
            let read = match &mut self.reader {
                Reader::Static(reader) => reader.read_step(step),
                Reader::Forecast(reader) => reader.read_window(step),
            };
            match read {
                Ok(()) => self.check(step),
                Err(error) => assert!(error.kind() == ErrorKind::NotFound && !kept, "step {step}: {error}"),
            }
        }
    }

    /// After the store was closed.
    pub(super) fn check_closed(mut self) {
        let read = match &mut self.reader {
            Reader::Static(reader) if !reader.is_empty() => reader.read_step(0),
            Reader::Forecast(reader) if !reader.is_empty() => reader.read_window(0),
            _ => return,
        };
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Closed);
    }

    fn check(&self, step: usize) {
        match &self.reader {
            Reader::Static(reader) => {
                for (n, group) in reader.groups().iter().enumerate() {
                    let values = reader.values(n).chunks(group.element_bytes());
                    assert_eq!(values.len(), group.columns().len());
                    for (column, found) in group.columns().iter().zip(values) {
                        assert_eq!(found, at(&self.rows[&column.id()].1, 0, step), "{}", self.rows[&column.id()].0);
                    }
                }
            }
            Reader::Forecast(reader) => {
                for entry in reader.entries() {
                    let (row, values) = &self.rows[&entry.info().id];
                    let axis = row.series_type.window_axis().unwrap_or(1);
                    assert_eq!(reader.values(entry.slot()), at(values, axis, step), "{row}");
                }
            }
        }
    }
}

/// The bytes at one position of an axis.
fn at(array: &Array, axis: usize, position: usize) -> Vec<u8> {
    reading::take(array, axis, position..position + 1).into_bytes()
}
