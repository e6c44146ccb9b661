//! One series as a caller describes it: a struct of numbers and pointers, and what it becomes in the core.

use crate::wire::{features, period, SeriesObject};
use crate::{guard::guard, input};
use forcings::array::{ArrayView, DType};
use forcings::series::{NewSeries, SeriesData, SeriesType, TimeReference, Windows};
use forcings::time::UnixMillis;
use forcings::{Error, Result};

/// One series to add, of any type but the derived one, which a transform makes. Members that its type does not have are
/// ignored. A period is a number of milliseconds or of calendar months: at most one of the two is not 0.
#[repr(C)]
pub struct ForcingsSeries {
    /// The size of this struct in bytes.
    pub size: u64,
    /// JSON: `owner` (`id`, `type`, `category`), `name`, `features`, `units`, `ext`.
    pub meta: *const u8,
    /// Its length in bytes.
    pub meta_len: u64,
    /// How the instants are to be spelled: `utc`, `zoneless`, an offset like `-07:00` or the name of a zone; null if that is
    /// not said.
    pub time_reference: *const u8,
    /// Its length in bytes.
    pub time_reference_len: u64,
    /// The type: 0 single, 1 non-sequential, 2 persistent, 3 deterministic, 5 probabilistic, 6 scenarios.
    pub series_type: u64,
    /// The first instant, or the start of the first window, in milliseconds since 1970.
    pub initial_ms: i64,
    /// From step to step, in milliseconds.
    pub resolution_ms: i64,
    /// From step to step, in months.
    pub resolution_months: i64,
    /// The span of a window, in milliseconds.
    pub horizon_ms: i64,
    /// The span of a window, in months.
    pub horizon_months: i64,
    /// From window to window, in milliseconds.
    pub interval_ms: i64,
    /// From window to window, in months.
    pub interval_months: i64,
    /// The instants of a non-sequential or persistent series, in milliseconds since 1970.
    pub timestamps: *const i64,
    /// Their number.
    pub timestamps_len: u64,
    /// The percentiles of a probabilistic forecast.
    pub percentiles: *const f64,
    /// Their number.
    pub percentiles_len: u64,
    /// The extents of the values, slowest first: `[steps, element...]`, for forecasts `[steps, windows, element...]` with the
    /// percentiles or scenarios in front.
    pub shape: *const u64,
    /// Their number.
    pub rank: u64,
    /// The values, row-major and little-endian.
    pub values: *const u8,
    /// Their length in bytes.
    pub values_len: u64,
    /// Their type: 0 `double`, 1 `float`, 2 `int64_t`, 3 `int32_t`, 4 `uint64_t`, 5 bytes 0 or 1.
    pub dtype: u64,
}

/// Checks the rules that a series must keep wherever it is added. `meta` is not read, and the order of the values does not
/// matter; the text of the error names no series.
#[no_mangle]
pub unsafe extern "C" fn forcings_series_check(series: *const ForcingsSeries) -> i32 {
    guard("forcings_series_check", || {
        // SAFETY: the caller passes one item, as the header asks.
        unsafe {
            let item = only(input::slice("series", series, 1)?)?;
            data(item)?.validate(reference(item)?.as_ref())
        }
    })
}

/// The series that is described.
///
/// # Errors
/// `InvalidParameter` for a description that makes no sense. The rules that the core checks are not checked here.
///
/// # Safety
/// What the item points to must stay valid for `'a`.
pub(super) unsafe fn new_series<'a>(item: &ForcingsSeries) -> Result<NewSeries<'a>> {
    let item = only(std::slice::from_ref(item))?;
    // SAFETY: the caller's promise.
    unsafe {
        let meta = input::json::<SeriesObject>("meta", item.meta, item.meta_len)?;
        Ok(NewSeries {
            owner: meta.owner.into_owner()?,
            name: meta.name,
            features: features(meta.features),
            units: meta.units,
            ext: meta.ext,
            time_reference: reference(item)?,
            data: data(item)?,
        })
    }
}

/// The item, if it is of this version's size.
fn only(items: &[ForcingsSeries]) -> Result<&ForcingsSeries> {
    match items {
        [item] if item.size == size_of::<ForcingsSeries>() as u64 => Ok(item),
        _ => Err(Error::invalid(format!("a ForcingsSeries has a size of {} bytes", size_of::<ForcingsSeries>()))),
    }
}

/// # Safety
/// As [`new_series`].
unsafe fn reference(item: &ForcingsSeries) -> Result<Option<TimeReference>> {
    if item.time_reference.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    unsafe { input::text("time_reference", item.time_reference, item.time_reference_len) }?.parse().map(Some)
}

/// # Safety
/// As [`new_series`].
unsafe fn data<'a>(item: &ForcingsSeries) -> Result<SeriesData<'a>> {
    // SAFETY: the caller's promise.
    let (shape, bytes, timestamps, percentiles) = unsafe {
        (
            input::slice("shape", item.shape.cast::<usize>(), item.rank)?,
            input::slice("values", item.values, item.values_len)?,
            input::slice("timestamps", item.timestamps, item.timestamps_len)?,
            input::slice("percentiles", item.percentiles, item.percentiles_len)?,
        )
    };
    let dtype = u8::try_from(item.dtype).ok().and_then(DType::from_code);
    let dtype = dtype.ok_or_else(|| Error::invalid(format!("there is no element type {}", item.dtype)))?;
    let series_type = u8::try_from(item.series_type).ok().and_then(SeriesType::from_code);
    let series_type = series_type.ok_or_else(|| Error::invalid(format!("there is no type {}", item.series_type)))?;
    let values = ArrayView::new(dtype, shape, bytes)?;
    let instants = || timestamps.iter().map(|&ms| UnixMillis(ms)).collect();
    let windows = || windows(item, series_type, shape);
    Ok(match series_type {
        SeriesType::SingleTimeSeries => SeriesData::Single {
            initial: UnixMillis(item.initial_ms),
            resolution: period("resolution", item.resolution_ms, item.resolution_months)?,
            values,
        },
        SeriesType::NonSequentialTimeSeries => SeriesData::NonSequential { timestamps: instants(), values },
        SeriesType::PersistentTimeSeries => SeriesData::Persistent { timestamps: instants(), values },
        SeriesType::Deterministic => SeriesData::Deterministic { windows: windows()?, values },
        SeriesType::DeterministicSingleTimeSeries => return Err(Error::invalid(
            "a DeterministicSingleTimeSeries has no values of its own: add its SingleTimeSeries, then transform that",
        )),
        SeriesType::Probabilistic => {
            SeriesData::Probabilistic { windows: windows()?, percentiles: percentiles.to_vec(), values }
        }
        SeriesType::Scenarios => SeriesData::Scenarios { windows: windows()?, values },
    })
}

/// The windows, as many as the shape of the values has.
fn windows(item: &ForcingsSeries, series_type: SeriesType, shape: &[usize]) -> Result<Windows> {
    Ok(Windows {
        initial: UnixMillis(item.initial_ms),
        resolution: period("resolution", item.resolution_ms, item.resolution_months)?,
        horizon: period("horizon", item.horizon_ms, item.horizon_months)?,
        interval: period("interval", item.interval_ms, item.interval_months)?,
        count: series_type.window_axis().and_then(|axis| shape.get(axis)).copied().unwrap_or(0),
    })
}
