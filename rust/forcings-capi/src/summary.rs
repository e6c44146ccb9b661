//! Questions about a store as a whole: counts, distinct values, groups of series.

use crate::table::ForcingsTable;
use crate::wire::PeriodObject;
use crate::{call, input};
use forcings::series::OwnerCategory;
use forcings::store::{ForecastParameters, Store, Summary};
use forcings::time::Period;
use forcings::{Error, Result};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowsObject {
    resolution: Option<PeriodObject>,
    interval: Option<PeriodObject>,
}

/// A column whose distinct values can be asked for.
#[derive(Clone, Copy)]
enum Field {
    Name,
    OwnerType,
    OwnerId(OwnerCategory),
    Resolution,
    Interval,
}

/// Counts. `out_counts` receives one row: `components`, `attributes` (owners of series), `static_series`, `forecasts`,
/// `static_arrays`, `forecast_arrays`, `arrays` (distinct ones). `out_types` receives one row per type that the store has:
/// `type`, `series`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_counts(
    store: u64,
    out_counts: *mut *mut ForcingsTable,
    out_types: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes writable pointers, as the header asks.
    unsafe {
        let places = [("out_counts", out_counts), ("out_types", out_types)];
        call::tables("forcings_store_counts", store, places, out_job, || Ok(counts))
    }
}

/// The series, grouped by what they have in common: with `forecasts` 0 the static ones, with 1 the forecasts.
///
/// The table has one row per group: `owner_type`, `owner_category`, `type`, `name`, `initial_ms`, `resolution_ms` or
/// `resolution_months`, `length`, `horizon_ms` or `horizon_months`, `interval_ms` or `interval_months`, `count`, and
/// `series`, how many they are. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_summary(
    store: u64,
    forecasts: u8,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes writable pointers, as the header asks.
    unsafe {
        call::table("forcings_store_summary", store, out_table, out_job, || {
            Ok(move |store: &Store| {
                let groups = if forecasts == 0 { store.static_summary()? } else { store.forecast_summary()? };
                Ok(groups_table(&groups))
            })
        })
    }
}

/// The windows of one forecast, with the `resolution` and the `interval` of the JSON object `windows` if they are there: a
/// table with at most one row, `initial_ms`, `resolution_ms` or `resolution_months`, `horizon_ms` or `horizon_months`,
/// `interval_ms` or `interval_months`, `count`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_forecast_parameters(
    store: u64,
    windows: *const u8,
    windows_len: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::table("forcings_store_forecast_parameters", store, out_table, out_job, || {
            let windows = input::json::<WindowsObject>("windows", windows, windows_len)?;
            let resolution = windows.resolution.map(PeriodObject::into_period).transpose()?;
            let interval = windows.interval.map(PeriodObject::into_period).transpose()?;
            Ok(move |store: &Store| store.forecast_parameters(resolution, interval).map(|found| windows_table(&found)))
        })
    }
}

/// The distinct values of a field, ascending. `field` is `name` or `owner_type`: a table with a column `value` of texts;
/// `component_id` or `attribute_id`, the owners of series: one of integers; or `resolution` or `interval`, in the order of
/// their ISO texts: the columns `value_ms` and `value_months`, of which each row has one. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_distinct(
    store: u64,
    field: *const u8,
    field_len: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::table("forcings_store_distinct", store, out_table, out_job, || {
            let field = Field::from_name(input::text("field", field, field_len)?)?;
            Ok(move |store: &Store| field.distinct(store))
        })
    }
}

impl Field {
    fn from_name(name: &str) -> Result<Self> {
        Ok(match name {
            "name" => Field::Name,
            "owner_type" => Field::OwnerType,
            "component_id" => Field::OwnerId(OwnerCategory::Component),
            "attribute_id" => Field::OwnerId(OwnerCategory::SupplementalAttribute),
            "resolution" => Field::Resolution,
            "interval" => Field::Interval,
            _ => return Err(Error::invalid(format!("there is no field `{name}` whose values are listed"))),
        })
    }

    fn distinct(self, store: &Store) -> Result<ForcingsTable> {
        let texts = |values: Vec<String>| {
            ForcingsTable::new(values.len()).texts("value", values.iter().map(|text| Some(text.as_str())))
        };
        let periods = |values: Vec<Period>| {
            ForcingsTable::new(values.len()).periods(["value_ms", "value_months"], values.into_iter().map(Some))
        };
        match self {
            Field::Name => store.names().map(texts),
            Field::OwnerType => store.owner_types().map(texts),
            Field::OwnerId(category) => store
                .owner_ids(category)
                .map(|ids| ForcingsTable::new(ids.len()).integers("value", ids.into_iter().map(Some))),
            Field::Resolution => store.resolutions().map(periods),
            Field::Interval => store.intervals().map(periods),
        }
    }
}

fn counts(store: &Store) -> Result<[ForcingsTable; 2]> {
    let (counts, types) = (store.counts()?, store.counts_by_type()?);
    let one = |n: u64| std::iter::once(Some(n));
    let all = ForcingsTable::new(1)
        .counts("components", one(counts.components))
        .counts("attributes", one(counts.attributes))
        .counts("static_series", one(counts.static_series))
        .counts("forecasts", one(counts.forecasts))
        .counts("static_arrays", one(counts.static_arrays))
        .counts("forecast_arrays", one(counts.forecast_arrays))
        .counts("arrays", one(counts.arrays));
    let by_type = ForcingsTable::new(types.len())
        .texts("type", types.iter().map(|(series_type, _)| Some(series_type.name())))
        .counts("series", types.iter().map(|(_, series)| Some(*series)));
    Ok([all, by_type])
}

fn groups_table(groups: &[Summary]) -> ForcingsTable {
    let all = || groups.iter();
    ForcingsTable::new(groups.len())
        .texts("owner_type", all().map(|g| Some(g.owner_type.as_str())))
        .texts("owner_category", all().map(|g| Some(g.owner_category.name())))
        .texts("type", all().map(|g| Some(g.series_type.name())))
        .texts("name", all().map(|g| Some(g.name.as_str())))
        .integers("initial_ms", all().map(|g| g.initial.map(|t| t.0)))
        .periods(["resolution_ms", "resolution_months"], all().map(|g| g.resolution))
        .counts("length", all().map(|g| g.length))
        .periods(["horizon_ms", "horizon_months"], all().map(|g| g.horizon))
        .periods(["interval_ms", "interval_months"], all().map(|g| g.interval))
        .counts("count", all().map(|g| g.count))
        .counts("series", all().map(|g| Some(g.series)))
}

fn windows_table(found: &Option<ForecastParameters>) -> ForcingsTable {
    let all = || found.iter();
    ForcingsTable::new(found.iter().len())
        .integers("initial_ms", all().map(|p| Some(p.initial.0)))
        .periods(["resolution_ms", "resolution_months"], all().map(|p| Some(p.resolution)))
        .periods(["horizon_ms", "horizon_months"], all().map(|p| Some(p.horizon)))
        .periods(["interval_ms", "interval_months"], all().map(|p| Some(p.interval)))
        .counts("count", all().map(|p| Some(p.count)))
}
