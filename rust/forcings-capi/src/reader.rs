//! Readers over a store.

use crate::handle::{self, Exclusive, Object, POINTERS};
use crate::output::Out;
use crate::store;
use crate::table::ForcingsTable;
use crate::wire::FilterObject;
use crate::{guard::guard, input, job, listing};
use forcings::readers::StaticReader;
use forcings::time::UnixMillis;
use forcings::{Error, Result};
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::Arc;

struct ReaderObject {
    reader: Arc<Exclusive<StaticReader>>,
}

impl Object for ReaderObject {
    const NOUN: &'static str = "reader";
    const CLOSE_ORDER: u8 = 2;
}

/// Keeps the buffer of a reader. Opaque and counted: one `forcings_buffer_release` for each.
pub struct ForcingsBuffer {
    _reader: Arc<Exclusive<StaticReader>>,
}

/// Builds a reader over the series that match `filter`, as `forcings_store_list` takes it; `resolution` is required. See
/// `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_build(
    store: u64,
    filter: *const u8,
    filter_len: u64,
    out_reader: *mut u64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_reader_build", || {
        // SAFETY: the caller passes writable pointers and a text, as the header asks.
        unsafe {
            let out = Out::new("out_reader", out_reader)?;
            let filter = input::json::<FilterObject>("filter", filter, filter_len)?.into_filter()?;
            let store = store::get(store)?;
            let build = move || {
                let reader = StaticReader::build(&store.0, &filter)?;
                Ok(ReaderObject { reader: Arc::new(Exclusive::new("reader", reader)) })
            };
            let deliver = move |reader| out.set(handle::insert(Arc::new(reader)));
            job::run("forcings_reader_build", out_job, build, deliver)
        }
    })
}

/// Closes a reader. Buffers that are held stay valid.
#[no_mangle]
pub extern "C" fn forcings_reader_close(reader: u64) -> i32 {
    guard("forcings_reader_close", || handle::close::<ReaderObject>(reader))
}

/// The number of steps.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_length(reader: u64, out_length: *mut u64) -> i32 {
    guard("forcings_reader_length", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_length", out_length) }?;
        with(reader, |r| {
            out.set(r.len() as u64);
            Ok(())
        })
    })
}

/// The groups: a table with one row per group and the columns `dtype`, `columns`, `element_shape`.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_groups(reader: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    guard("forcings_reader_groups", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_table", out_table) }?;
        with(reader, |r| {
            let groups = r.groups();
            let table = ForcingsTable::new(groups.len())
                .integers("dtype", groups.iter().map(|g| Some(i64::from(g.dtype() as u8))))
                .integers("columns", groups.iter().map(|g| Some(g.columns().len() as i64)))
                .integer_lists("element_shape", groups.iter().map(|g| g.element_shape()));
            out.set(table.into_raw());
            Ok(())
        })
    })
}

/// The series of a group, in the order of its columns: the two tables of `forcings_store_list`.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_columns(
    reader: u64,
    group: u64,
    out_table: *mut *mut ForcingsTable,
    out_features: *mut *mut ForcingsTable,
) -> i32 {
    guard("forcings_reader_columns", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let outs = unsafe { (Out::new("out_table", out_table)?, Out::new("out_features", out_features)?) };
        with(reader, |r| {
            let columns = r.groups()[group_index(r, group)?].columns();
            let infos: Vec<_> = columns.iter().map(|column| column.info()).collect();
            store::set_tables(&outs, listing::tables(&infos));
            Ok(())
        })
    })
}

/// The buffer of a group: `out_values` points to its values, row-major `[columns, element...]`, which every read
/// overwrites in place. The memory stays valid until `out_buffer` is released, also beyond the reader's close. There is no
/// buffer before the first read and after one that failed: the status `InvalidParameter`.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_values(
    reader: u64,
    group: u64,
    out_values: *mut *const c_void,
    out_len: *mut u64,
    out_buffer: *mut *mut ForcingsBuffer,
) -> i32 {
    guard("forcings_reader_values", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let (values, len, buffer) = unsafe {
            (Out::new("out_values", out_values)?, Out::new("out_len", out_len)?, Out::new("out_buffer", out_buffer)?)
        };
        let object = handle::get::<ReaderObject>(reader)?;
        object.reader.with(|r| {
            let bytes = r.values(group_index(r, group)?);
            if bytes.is_empty() {
                return Err(Error::invalid("the reader has no values: read an instant first"));
            }
            values.set(bytes.as_ptr().cast());
            len.set(bytes.len() as u64);
            Ok(())
        })?;
        POINTERS.fetch_add(1, Ordering::Relaxed);
        buffer.set(Box::into_raw(Box::new(ForcingsBuffer { _reader: Arc::clone(&object.reader) })));
        Ok(())
    })
}

/// Gives a buffer back; null is ignored.
#[no_mangle]
pub unsafe extern "C" fn forcings_buffer_release(buffer: *mut ForcingsBuffer) {
    if !buffer.is_null() {
        POINTERS.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller gives back a buffer of `forcings_reader_values` once.
        drop(unsafe { Box::from_raw(buffer) });
    }
}

/// Reads the values at an instant of the grid, in milliseconds since 1970.
#[no_mangle]
pub extern "C" fn forcings_reader_read(reader: u64, at_ms: i64) -> i32 {
    guard("forcings_reader_read", || with(reader, |r| r.read(UnixMillis(at_ms))))
}

/// Reads the values of a step, counted from 0.
#[no_mangle]
pub extern "C" fn forcings_reader_read_step(reader: u64, step: u64) -> i32 {
    guard("forcings_reader_read_step", || with(reader, |r| r.read_step(input::index("step", step)?)))
}

/// The instant of a step, counted from 0, in milliseconds since 1970.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_time_at(reader: u64, step: u64, out_ms: *mut i64) -> i32 {
    guard("forcings_reader_time_at", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_ms", out_ms) }?;
        with(reader, |r| {
            out.set(r.timestamp_at(input::index("step", step)?)?.0);
            Ok(())
        })
    })
}

/// The step, counted from 0, whose instant is `at_ms`.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_index_at(reader: u64, at_ms: i64, out_step: *mut u64) -> i32 {
    guard("forcings_reader_index_at", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_step", out_step) }?;
        with(reader, |r| {
            out.set(r.index_at(UnixMillis(at_ms))? as u64);
            Ok(())
        })
    })
}

fn with<R>(reader: u64, body: impl FnOnce(&mut StaticReader) -> Result<R>) -> Result<R> {
    handle::get::<ReaderObject>(reader)?.reader.with(body)
}

fn group_index(reader: &StaticReader, group: u64) -> Result<usize> {
    let n = reader.groups().len();
    usize::try_from(group)
        .ok()
        .filter(|&g| g < n)
        .ok_or_else(|| Error::invalid(format!("there is no group {group}; the reader has {n}")))
}
