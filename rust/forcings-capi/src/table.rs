//! Tables: the one form in which listings and other results of many values leave the library.

use crate::guard::guard;
use crate::handle::POINTERS;
use crate::input;
use crate::output::Out;
use forcings::array::Array;
use forcings::time::{Period, UnixMillis};
use forcings::{Error, Result};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

/// A result with named, typed columns of one length. Read-only; may be read on any thread.
pub struct ForcingsTable {
    rows: usize,
    columns: Vec<Column>,
}

struct Column {
    name: &'static str,
    values: Values,
    /// One byte per row, 1 where the row has no value; `None` when every row has one.
    nulls: Option<Vec<u8>>,
}

/// The kinds of columns; `kind` gives their numbers in the interface.
enum Values {
    I64(Vec<i64>),
    F64(Vec<f64>),
    Bool(Vec<u8>),
    Text { bytes: Vec<u8>, ends: Vec<u64> },
    Integers { numbers: Vec<i64>, ends: Vec<u64> },
    Doubles { numbers: Vec<f64>, ends: Vec<u64> },
    Arrays { starts: Vec<Address>, lengths: Vec<u64>, _owners: Vec<Array> },
}

/// Where the elements of an array begin.
#[repr(transparent)]
struct Address(*const u8);

// SAFETY: the addresses point into arrays that the same column owns and nobody writes.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl ForcingsTable {
    /// A table without columns.
    pub(crate) fn new(rows: usize) -> Self {
        ForcingsTable { rows, columns: Vec::new() }
    }

    /// A column of integers.
    pub(crate) fn integers(self, name: &'static str, values: impl Iterator<Item = Option<i64>>) -> Self {
        let (values, nulls) = split(values);
        self.with(name, Values::I64(values), nulls)
    }

    /// A column of counts and extents.
    pub(crate) fn counts(self, name: &'static str, values: impl Iterator<Item = Option<u64>>) -> Self {
        // One that does not fit is read from a damaged file; the row has no such value.
        self.integers(name, values.map(|n| n.and_then(|n| i64::try_from(n).ok())))
    }

    /// Two columns of periods: a row has milliseconds in the first, or months in the second.
    pub(crate) fn periods(self, names: [&'static str; 2], values: impl Iterator<Item = Option<Period>>) -> Self {
        let (fixed, calendar): (Vec<_>, Vec<_>) = values
            .map(|period| match period {
                Some(Period::Fixed(ms)) => (Some(ms), None),
                Some(Period::Months(months)) => (None, Some(i64::from(months))),
                None => (None, None),
            })
            .unzip();
        self.integers(names[0], fixed.into_iter()).integers(names[1], calendar.into_iter())
    }

    /// A column of doubles.
    pub(crate) fn doubles(self, name: &'static str, values: impl Iterator<Item = Option<f64>>) -> Self {
        let (values, nulls) = split(values);
        self.with(name, Values::F64(values), nulls)
    }

    /// A column of truth values.
    pub(crate) fn bools(self, name: &'static str, values: impl Iterator<Item = Option<bool>>) -> Self {
        let (values, nulls) = split(values.map(|v| v.map(u8::from)));
        self.with(name, Values::Bool(values), nulls)
    }

    /// A column of texts.
    pub(crate) fn texts<'a>(self, name: &'static str, values: impl Iterator<Item = Option<&'a str>>) -> Self {
        let (mut bytes, mut ends, mut nulls) = (Vec::new(), Vec::new(), Vec::new());
        for value in values {
            bytes.extend_from_slice(value.unwrap_or_default().as_bytes());
            ends.push(bytes.len() as u64);
            nulls.push(u8::from(value.is_none()));
        }
        self.with(name, Values::Text { bytes, ends }, nulls)
    }

    /// A column of short lists of extents or positions.
    pub(crate) fn integer_lists<'a>(self, name: &'static str, values: impl Iterator<Item = &'a [usize]>) -> Self {
        let (mut numbers, mut ends) = (Vec::new(), Vec::new());
        for list in values {
            // Extents of data in memory fit.
            numbers.extend(list.iter().map(|&n| n as i64));
            ends.push(numbers.len() as u64);
        }
        self.with(name, Values::Integers { numbers, ends }, Vec::new())
    }

    /// A column of lists of instants, in milliseconds.
    pub(crate) fn instant_lists<'a>(
        self,
        name: &'static str,
        values: impl Iterator<Item = Option<&'a [UnixMillis]>>,
    ) -> Self {
        let (mut numbers, mut ends, mut nulls) = (Vec::new(), Vec::new(), Vec::new());
        for list in values {
            numbers.extend(list.unwrap_or_default().iter().map(|t| t.0));
            ends.push(numbers.len() as u64);
            nulls.push(u8::from(list.is_none()));
        }
        self.with(name, Values::Integers { numbers, ends }, nulls)
    }

    /// A column of lists of doubles.
    pub(crate) fn double_lists<'a>(self, name: &'static str, values: impl Iterator<Item = Option<&'a [f64]>>) -> Self {
        let (mut numbers, mut ends, mut nulls) = (Vec::new(), Vec::new(), Vec::new());
        for list in values {
            numbers.extend_from_slice(list.unwrap_or_default());
            ends.push(numbers.len() as u64);
            nulls.push(u8::from(list.is_none()));
        }
        self.with(name, Values::Doubles { numbers, ends }, nulls)
    }

    /// A column of arrays, which the table keeps.
    pub(crate) fn arrays(self, name: &'static str, values: Vec<Array>) -> Self {
        let starts = values.iter().map(|a| Address(a.bytes().as_ptr())).collect();
        let lengths = values.iter().map(|a| a.bytes().len() as u64).collect();
        self.with(name, Values::Arrays { starts, lengths, _owners: values }, Vec::new())
    }

    /// Hands the table out; `forcings_table_free` takes it back.
    pub(crate) fn into_raw(self) -> *mut ForcingsTable {
        POINTERS.fetch_add(1, Ordering::Relaxed);
        Box::into_raw(Box::new(self))
    }

    fn with(mut self, name: &'static str, values: Values, nulls: Vec<u8>) -> Self {
        debug_assert_eq!(values.len(), self.rows, "the column {name} has as many rows as the table");
        let nulls = nulls.contains(&1).then_some(nulls);
        self.columns.push(Column { name, values, nulls });
        self
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::I64(v) => v.len(),
            Values::F64(v) => v.len(),
            Values::Bool(v) => v.len(),
            Values::Text { ends, .. } | Values::Integers { ends, .. } | Values::Doubles { ends, .. } => ends.len(),
            Values::Arrays { starts, .. } => starts.len(),
        }
    }

    /// The number of the kind, the values, and for kinds of varying length the ends or lengths.
    fn parts(&self) -> (i32, *const c_void, *const u64) {
        match self {
            Values::I64(v) => (0, v.as_ptr().cast(), std::ptr::null()),
            Values::F64(v) => (1, v.as_ptr().cast(), std::ptr::null()),
            Values::Bool(v) => (2, v.as_ptr().cast(), std::ptr::null()),
            Values::Text { bytes, ends } => (3, bytes.as_ptr().cast(), ends.as_ptr()),
            Values::Integers { numbers, ends } => (4, numbers.as_ptr().cast(), ends.as_ptr()),
            Values::Doubles { numbers, ends } => (6, numbers.as_ptr().cast(), ends.as_ptr()),
            Values::Arrays { starts, lengths, .. } => (5, starts.as_ptr().cast(), lengths.as_ptr()),
        }
    }
}

/// The number of rows and columns of a table.
#[no_mangle]
pub unsafe extern "C" fn forcings_table_size(
    table: *const ForcingsTable,
    out_rows: *mut u64,
    out_columns: *mut u64,
) -> i32 {
    guard("forcings_table_size", || {
        // SAFETY: the caller passes writable pointers and a table that is not freed, as the header asks.
        let (rows, columns, table) =
            unsafe { (Out::new("out_rows", out_rows)?, Out::new("out_columns", out_columns)?, borrow(table)?) };
        rows.set(table.rows as u64);
        columns.set(table.columns.len() as u64);
        Ok(())
    })
}

/// One column of a table, counted from 0. What the pointers point to lives as long as the table.
///
/// `out_kind` receives 0 for `int64_t`, 1 for `double`, 2 for bytes that are 0 or 1, 3 for texts, 4 for lists of
/// `int64_t`, 5 for arrays, 6 for lists of `double`. For kinds 3, 4 and 6 `out_values` points to all bytes or numbers in one run and `out_ends` to
/// the end of each row in it; for kind 5 `out_values` points to one address per row and `out_ends` to the lengths in
/// bytes. `out_nulls` points to one byte per row, 1 where a row has no value, or is null when every row has one.
#[no_mangle]
pub unsafe extern "C" fn forcings_table_column(
    table: *const ForcingsTable,
    column: u64,
    out_name: *mut *const u8,
    out_name_len: *mut u64,
    out_kind: *mut i32,
    out_values: *mut *const c_void,
    out_ends: *mut *const u64,
    out_nulls: *mut *const u8,
) -> i32 {
    guard("forcings_table_column", || {
        // SAFETY: the caller passes writable pointers and a table that is not freed, as the header asks.
        let (name, name_len, kind, values, ends, nulls, table) = unsafe {
            (
                Out::new("out_name", out_name)?,
                Out::new("out_name_len", out_name_len)?,
                Out::new("out_kind", out_kind)?,
                Out::new("out_values", out_values)?,
                Out::new("out_ends", out_ends)?,
                Out::new("out_nulls", out_nulls)?,
                borrow(table)?,
            )
        };
        let found = table.columns.get(input::index("column", column)?);
        let found = found.ok_or_else(|| Error::invalid(format!("the table has no column {column}")))?;
        let (number, start, lengths) = found.values.parts();
        name.set(found.name.as_ptr());
        name_len.set(found.name.len() as u64);
        kind.set(number);
        values.set(start);
        ends.set(lengths);
        nulls.set(found.nulls.as_ref().map_or(std::ptr::null(), |n| n.as_ptr()));
        Ok(())
    })
}

/// Frees a table; null is ignored.
#[no_mangle]
pub unsafe extern "C" fn forcings_table_free(table: *mut ForcingsTable) {
    if !table.is_null() {
        POINTERS.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller gives back a table of `into_raw` once.
        drop(unsafe { Box::from_raw(table) });
    }
}

/// # Safety
/// A pointer that is not null is a table that is not freed.
unsafe fn borrow<'a>(table: *const ForcingsTable) -> Result<&'a ForcingsTable> {
    // SAFETY: the caller's promise.
    unsafe { table.as_ref() }.ok_or_else(|| Error::invalid("table must not be null"))
}

fn split<T: Default>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<u8>) {
    values.map(|v| (u8::from(v.is_none()), v.unwrap_or_default())).map(|(null, v)| (v, null)).unzip()
}

#[cfg(test)]
mod tests;
