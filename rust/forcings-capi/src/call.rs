//! The shapes of calls on a store: out-parameters first, then the arguments, then the work, here or as a job.

use crate::output::Out;
use crate::table::ForcingsTable;
use crate::{guard::guard, job, store};
use forcings::store::Store;
use forcings::Result;

/// A place of the caller's for a table, and its name.
pub(crate) type TablePlace = (&'static str, *mut *mut ForcingsTable);

/// A call without a result. `arguments` reads what the caller passed and returns the work to be done.
///
/// # Safety
/// `out_job` is null or valid for a write.
pub(crate) unsafe fn nothing<W>(
    operation: &'static str,
    store: u64,
    out_job: *mut u64,
    arguments: impl FnOnce() -> Result<W>,
) -> i32
where
    W: FnOnce(&Store) -> Result<()> + Send + 'static,
{
    guard(operation, || {
        let work = arguments()?;
        let store = store::get(store)?;
        // SAFETY: the caller's promise.
        unsafe { job::run(operation, out_job, move || work(&store.0), |()| ()) }
    })
}

/// A call whose result is one value, such as a count.
///
/// # Safety
/// As [`nothing`]; `place` is null, which is refused, or as `Out::new` asks.
pub(crate) unsafe fn value<T: Send + 'static, W>(
    operation: &'static str,
    store: u64,
    place: (&'static str, *mut T),
    out_job: *mut u64,
    arguments: impl FnOnce() -> Result<W>,
) -> i32
where
    W: FnOnce(&Store) -> Result<T> + Send + 'static,
{
    guard(operation, || {
        // SAFETY: the caller's promise.
        unsafe {
            let out = Out::new(place.0, place.1)?;
            let work = arguments()?;
            let store = store::get(store)?;
            job::run(operation, out_job, move || work(&store.0), move |value| out.set(value))
        }
    })
}

/// A call whose result is one table.
///
/// # Safety
/// As [`value`].
pub(crate) unsafe fn table<W>(
    operation: &'static str,
    store: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
    arguments: impl FnOnce() -> Result<W>,
) -> i32
where
    W: FnOnce(&Store) -> Result<ForcingsTable> + Send + 'static,
{
    let arguments = || arguments().map(|work| move |store: &Store| work(store).map(|table| [table]));
    // SAFETY: the caller's promise.
    unsafe { tables(operation, store, [("out_table", out_table)], out_job, arguments) }
}

/// A call whose result is several tables.
///
/// # Safety
/// As [`value`], for each place.
pub(crate) unsafe fn tables<const N: usize, W>(
    operation: &'static str,
    store: u64,
    places: [TablePlace; N],
    out_job: *mut u64,
    arguments: impl FnOnce() -> Result<W>,
) -> i32
where
    W: FnOnce(&Store) -> Result<[ForcingsTable; N]> + Send + 'static,
{
    guard(operation, || {
        // SAFETY: the caller's promise. Every place is zeroed before one of them is refused.
        let outs = places.map(|(name, place)| unsafe { Out::new(name, place) });
        let outs: Vec<Out<*mut ForcingsTable>> = outs.into_iter().collect::<Result<_>>()?;
        let work = arguments()?;
        let store = store::get(store)?;
        let deliver = move |tables: [ForcingsTable; N]| {
            outs.iter().zip(tables).for_each(|(out, table)| out.set(table.into_raw()));
        };
        // SAFETY: the caller's promise.
        unsafe { job::run(operation, out_job, move || work(&store.0), deliver) }
    })
}
