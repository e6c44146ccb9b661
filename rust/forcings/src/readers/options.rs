//! What a `StaticReader` is asked to walk, and the rules of that which need no catalog.

use crate::series::{Bound, SeriesType};
use crate::store::Filter;
use crate::{Error, Result};

/// Which series a [`StaticReader`](super::StaticReader) walks, and over which span.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StaticReaderOptions {
    /// The series. Their type is `SingleTimeSeries` unless the filter names another. That type needs a `resolution`, the
    /// others have none. `initial` and `length` select the series of one grid.
    pub filter: Filter,
    /// The first instant to walk: a step of every series, each of which may begin earlier. It has to be an instant or the
    /// face of a clock as the series are. For `SingleTimeSeries` only; `None` walks the one grid that all series have.
    pub start: Option<Bound>,
    /// The number of steps from `start` on; `None` for as many as every series has.
    pub extent: Option<u64>,
}

/// Options that make sense.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    /// With the type.
    pub filter: Filter,
    pub series_type: SeriesType,
    pub window: Option<Window>,
}

/// The span that a caller names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    pub start: Bound,
    pub extent: Option<u64>,
}

impl StaticReaderOptions {
    /// Checks what can be checked before the series are known.
    ///
    /// # Errors
    /// `InvalidParameter` for a type that such a reader does not read, a window that the type does not have, an extent
    /// without a start, and a resolution that is missing or that the type does not have.
    pub(super) fn checked(&self) -> Result<Request> {
        let series_type = self.filter.series_type.unwrap_or(SeriesType::SingleTimeSeries);
        let window = match (self.start, self.extent) {
            (None, Some(extent)) => {
                return Err(Error::invalid(format!("an extent of {extent} steps needs the start that they follow")))
            }
            (start, extent) => start.map(|start| Window { start, extent }),
        };
        match (series_type, self.filter.resolution) {
            (SeriesType::SingleTimeSeries, None) => {
                return Err(Error::invalid("a reader walks one grid: name the resolution of its series"))
            }
            (SeriesType::SingleTimeSeries, Some(_)) => {}
            (irregular @ (SeriesType::NonSequentialTimeSeries | SeriesType::PersistentTimeSeries), resolution) => {
                if window.is_some() {
                    return Err(Error::invalid(format!(
                        "a {irregular} has no grid that a start could be a step of: leave start and extent out"
                    )));
                }
                if let Some(resolution) = resolution {
                    return Err(Error::invalid(format!(
                        "a {irregular} has no resolution: leave {resolution} out of the filter"
                    )));
                }
            }
            (forecast, _) => {
                return Err(Error::invalid(format!(
                    "a StaticReader reads static series, not {forecast}; a ForecastReader reads forecasts"
                )))
            }
        }
        let filter = Filter { series_type: Some(series_type), ..self.filter.clone() };
        Ok(Request { filter, series_type, window })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Period, UnixMillis};
    use crate::ErrorKind;

    const START: Bound = Bound::Floating(UnixMillis(0));

    fn options(series_type: Option<SeriesType>, resolution: bool) -> StaticReaderOptions {
        let resolution = resolution.then_some(Period::hours(1));
        StaticReaderOptions {
            filter: Filter { series_type, resolution, ..Filter::default() },
            ..StaticReaderOptions::default()
        }
    }

    #[test]
    fn the_type_is_that_of_regular_series_unless_the_filter_names_one() {
        let request = options(None, true).checked().unwrap();
        assert_eq!(request.filter.series_type, Some(SeriesType::SingleTimeSeries));
        assert_eq!((request.series_type, request.window), (SeriesType::SingleTimeSeries, None));
        for irregular in [SeriesType::NonSequentialTimeSeries, SeriesType::PersistentTimeSeries] {
            assert_eq!(options(Some(irregular), false).checked().unwrap().series_type, irregular);
        }
        let window = StaticReaderOptions { start: Some(START), extent: Some(3), ..options(None, true) };
        assert_eq!(window.checked().unwrap().window, Some(Window { start: START, extent: Some(3) }));
    }

    #[test]
    fn row_133_a_resolution_belongs_to_regular_series_and_to_no_others() {
        for (wrong, text) in [
            (options(None, false), "name the resolution"),
            (options(Some(SeriesType::SingleTimeSeries), false), "name the resolution"),
            (options(Some(SeriesType::NonSequentialTimeSeries), true), "leave PT1H out"),
            (options(Some(SeriesType::PersistentTimeSeries), true), "leave PT1H out"),
        ] {
            let error = wrong.checked().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn windows_need_a_start_and_series_on_a_grid_and_forecasts_another_reader() {
        let extent = |options| StaticReaderOptions { extent: Some(3), ..options };
        let start = |options| StaticReaderOptions { start: Some(START), ..options };
        let mut cases = vec![
            (extent(options(None, true)), "needs the start"),
            // The rules are asked in this order.
            (extent(options(Some(SeriesType::Deterministic), false)), "needs the start"),
            (start(options(None, false)), "name the resolution"),
            (start(options(Some(SeriesType::NonSequentialTimeSeries), true)), "leave start and extent out"),
            (start(options(Some(SeriesType::PersistentTimeSeries), false)), "leave start and extent out"),
        ];
        for forecast in SeriesType::ALL.into_iter().filter(|t| t.is_forecast()) {
            cases.push((options(Some(forecast), true), "a ForecastReader reads forecasts"));
        }
        for (wrong, text) in cases {
            let error = wrong.checked().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
