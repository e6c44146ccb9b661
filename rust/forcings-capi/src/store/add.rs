//! Adding series.

use super::get;
use crate::wire::{features, SeriesObject};
use crate::{guard::guard, input, job};
use forcings::array::{ArrayView, DType};
use forcings::series::{NewSeries, SeriesData, SeriesId};
use forcings::{Error, Result};

/// One series to add. `size` is `sizeof(ForcingsSeries)`.
#[repr(C)]
pub struct ForcingsSeries {
    /// The size of this struct in bytes.
    pub size: u64,
    /// JSON: `owner` (`id`, `type`, `category`), `name`, `features`, `units`, `ext`, `series` (`type`, `initial_ms`,
    /// `resolution` with either `ms` or `months`).
    pub meta: *const u8,
    /// Its length in bytes.
    pub meta_len: u64,
    /// The extents of the values, slowest first; the first is time.
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

/// Adds `n` series and writes their ids to `out_ids`, which has room for `n`: all of them or none. `mode` 0 adds them one
/// by one, for a few; 1 writes whole chunks, for many. The items and all they point to are borrowed. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_add(
    store: u64,
    items: *const ForcingsSeries,
    n: u64,
    mode: i32,
    out_ids: *mut i64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_add", || {
        input::places("out_ids", out_ids, n)?;
        let store = get(store)?;
        // SAFETY: the caller keeps the items, and what they point to, until the call or its job has ended.
        let series: Vec<NewSeries<'static>> = unsafe { input::slice("items", items, n)? }
            .iter()
            .map(|item| unsafe { new_series(item) })
            .collect::<Result<_>>()?;
        let add = move || match mode {
            0 if series.len() == 1 => Ok(vec![store.0.add(&series[0])?]),
            0 | 1 => store.0.add_bulk(&series),
            _ => Err(Error::invalid(format!("there is no mode {mode}; 0 and 1 are modes"))),
        };
        let out = Ids(out_ids);
        // SAFETY: the caller passes null or a writable pointer; and room for `n` ids, as many as there are series.
        unsafe { job::run("forcings_store_add", out_job, add, move |ids: Vec<SeriesId>| out.write(&ids)) }
    })
}

/// Where the ids of added series go.
struct Ids(*mut i64);

// SAFETY: the places are written by one thread, the one that ends the call or finishes its job.
unsafe impl Send for Ids {}

impl Ids {
    /// # Safety
    /// There must be room for as many ids, as `forcings_store_add` asks of its caller.
    unsafe fn write(self, ids: &[SeriesId]) {
        for (i, id) in ids.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { self.0.add(i).write(id.0) };
        }
    }
}

/// # Safety
/// What the item points to must stay valid for `'a`.
unsafe fn new_series<'a>(item: &ForcingsSeries) -> Result<NewSeries<'a>> {
    if item.size != size_of::<ForcingsSeries>() as u64 {
        return Err(Error::invalid(format!(
            "a ForcingsSeries has {} bytes, not {}",
            size_of::<ForcingsSeries>(),
            item.size
        )));
    }
    // SAFETY: the caller's promise.
    let (meta, shape, bytes) = unsafe {
        (
            input::json::<SeriesObject>("meta", item.meta, item.meta_len)?,
            input::slice("shape", item.shape.cast::<usize>(), item.rank)?,
            input::slice("values", item.values, item.values_len)?,
        )
    };
    let dtype = u8::try_from(item.dtype).ok().and_then(DType::from_code);
    let dtype = dtype.ok_or_else(|| Error::invalid(format!("there is no element type {}", item.dtype)))?;
    let values = ArrayView::new(dtype, shape, bytes)?;
    let (initial, resolution) = meta.series.into_grid()?;
    Ok(NewSeries {
        owner: meta.owner.into_owner()?,
        name: meta.name,
        features: features(meta.features),
        units: meta.units,
        ext: meta.ext,
        time_reference: None,
        data: SeriesData::Single { initial, resolution, values },
    })
}
