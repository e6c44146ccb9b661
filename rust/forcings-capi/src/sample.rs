//! Samples: decoded data that the caller holds by a counted pointer and reads in place.

use crate::guard::guard;
use crate::handle::POINTERS;
use crate::input;
use crate::output::Out;
use crate::payload::Payload;
use crate::table::ForcingsTable;
use forcings::dataset::{Dataset, Field, Values};
use forcings::formats::{Attribute, AttributeValue};
use forcings::prefetch::EpochSample;
use forcings::{Error, Result};
use std::borrow::Cow;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// The data of one or more members at a time: datasets, numbered from 0. Read-only; may be read on any thread.
pub struct ForcingsSample {
    datasets: Vec<Part>,
    members: Vec<Member>,
    time: f64,
}

/// A dataset, alone or among those of a member.
enum Part {
    Whole(Arc<Dataset>),
    Of(Arc<Payload>, usize),
}

struct Member {
    /// The number of its first dataset.
    first: usize,
    anchor: f64,
    changed: bool,
    /// Keeps the caller's value, if it has one instead of datasets.
    value: Option<Arc<Payload>>,
}

const _: () = {
    const fn may_be_read_on_any_thread<T: Send + Sync>() {}
    may_be_read_on_any_thread::<ForcingsSample>();
    may_be_read_on_any_thread::<ForcingsTable>();
};

impl ForcingsSample {
    /// The data of one provider.
    pub(crate) fn single(data: Arc<Dataset>, anchor: f64) -> Self {
        ForcingsSample::several(vec![data], anchor)
    }

    /// The data of one provider under several windows.
    pub(crate) fn several(data: Vec<Arc<Dataset>>, anchor: f64) -> Self {
        let member = |first| Member { first, anchor, changed: true, value: None };
        let members = (0..data.len()).map(member).collect();
        ForcingsSample { datasets: data.into_iter().map(Part::Whole).collect(), members, time: anchor }
    }

    /// What a worker has decoded for the caller to go on with.
    pub(crate) fn of(payload: &Arc<Payload>, time: f64) -> Self {
        let mut sample = ForcingsSample { datasets: Vec::new(), members: Vec::new(), time };
        sample.push(payload, time, true);
        sample
    }

    /// An epoch of a group.
    pub(crate) fn epoch(epoch: &EpochSample<Payload>) -> Self {
        let members = Vec::with_capacity(epoch.len());
        let mut sample = ForcingsSample { datasets: Vec::with_capacity(epoch.len()), members, time: epoch.time() };
        for (_, member) in epoch.iter() {
            sample.push(&member.data, member.anchor, member.changed);
        }
        sample
    }

    fn push(&mut self, payload: &Arc<Payload>, anchor: f64, changed: bool) {
        let value = (payload.token() != 0).then(|| Arc::clone(payload));
        self.members.push(Member { first: self.datasets.len(), anchor, changed, value });
        self.datasets.extend((0..payload.datasets().len()).map(|i| Part::Of(Arc::clone(payload), i)));
    }

    /// Hands the sample out; `forcings_sample_release` takes it back.
    pub(crate) fn into_raw(self) -> *mut ForcingsSample {
        POINTERS.fetch_add(1, Ordering::Relaxed);
        Box::into_raw(Box::new(self))
    }

    fn dataset(&self, number: u64) -> Result<&Dataset> {
        let found = usize::try_from(number).ok().and_then(|i| self.datasets.get(i));
        found.map(Part::data).ok_or_else(|| Error::invalid(format!("the sample has no dataset {number}")))
    }
}

impl Part {
    fn data(&self) -> &Dataset {
        match self {
            Part::Whole(data) => data,
            Part::Of(payload, i) => &payload.datasets()[*i],
        }
    }
}

/// Gives a sample back; null is ignored. Nothing that was read from it may be used any more.
#[no_mangle]
pub unsafe extern "C" fn forcings_sample_release(sample: *mut ForcingsSample) {
    if !sample.is_null() {
        POINTERS.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller gives back a sample of `into_raw` once.
        drop(unsafe { Box::from_raw(sample) });
    }
}

/// For each member, in byte-wise order of their keys: its anchor, whether that changed (0 or 1), the number of its first
/// dataset, and the number of the caller's value that it has instead of datasets, else 0; and the time of the sample. The
/// arrays have room for `capacity` members, which must be all.
#[no_mangle]
pub unsafe extern "C" fn forcings_sample_members(
    sample: *const ForcingsSample,
    out_anchors: *mut f64,
    out_changed: *mut u8,
    out_first: *mut u64,
    out_values: *mut u64,
    capacity: u64,
    out_time: *mut f64,
) -> i32 {
    guard("forcings_sample_members", || {
        // SAFETY: the caller passes a writable pointer and a sample that is not given back, as the header asks.
        let (time, sample) = unsafe { (Out::new("out_time", out_time)?, borrow(sample)?) };
        let places = input::places("out_anchors", out_anchors, capacity)?;
        input::places("out_changed", out_changed, capacity)?;
        input::places("out_first", out_first, capacity)?;
        input::places("out_values", out_values, capacity)?;
        if places != sample.members.len() {
            return Err(Error::invalid(format!("the sample has {} members, not {places}", sample.members.len())));
        }
        time.set(sample.time);
        for (i, member) in sample.members.iter().enumerate() {
            // SAFETY: `i` is less than `capacity`, and the caller passes room for that many.
            unsafe {
                out_anchors.add(i).write(member.anchor);
                out_changed.add(i).write(u8::from(member.changed));
                out_first.add(i).write(member.first as u64);
                out_values.add(i).write(member.value.as_ref().map_or(0, |value| value.token()));
            }
        }
        Ok(())
    })
}

/// One variable or coordinate of a dataset. `out_found` receives 0 if there is none of that name; otherwise 1, and
/// `out_type` the element type (0 `double`, 1 `float`, 2 `int64_t`, 3 `int32_t`, 5 bytes 0 or 1, 6 texts), `out_rank` and
/// `out_shape` the extents, slowest first, `out_values` the elements (null for texts, see `forcings_sample_strings`).
/// The pointers live as long as the sample.
#[no_mangle]
pub unsafe extern "C" fn forcings_sample_field(
    sample: *const ForcingsSample,
    dataset: u64,
    name: *const u8,
    name_len: u64,
    out_found: *mut u8,
    out_type: *mut i32,
    out_rank: *mut u64,
    out_shape: *mut *const u64,
    out_values: *mut *const c_void,
) -> i32 {
    guard("forcings_sample_field", || {
        // SAFETY: the caller passes writable pointers, a text, and a sample that is not given back, as the header asks.
        let (found, field_type, rank, shape, values, sample, name) = unsafe {
            (
                Out::new("out_found", out_found)?,
                Out::new("out_type", out_type)?,
                Out::new("out_rank", out_rank)?,
                Out::new("out_shape", out_shape)?,
                Out::new("out_values", out_values)?,
                borrow(sample)?,
                input::text("name", name, name_len)?,
            )
        };
        if let Some(field) = find(sample.dataset(dataset)?, name) {
            found.set(1);
            field_type.set(field.values.field_type() as i32);
            rank.set(field.shape.len() as u64);
            shape.set(extents(&field.shape));
            values.set(start(&field.values));
        }
        Ok(())
    })
}

/// The names of a dataset's variables and coordinates: a table with the columns `name` and `is_coord`.
#[no_mangle]
pub unsafe extern "C" fn forcings_sample_names(
    sample: *const ForcingsSample,
    dataset: u64,
    out_table: *mut *mut ForcingsTable,
) -> i32 {
    // SAFETY: the caller passes a writable pointer and a sample that is not given back; the name is empty.
    unsafe {
        table("forcings_sample_names", sample, dataset, (std::ptr::null(), 0), out_table, |data, _| {
            let all = || data.variables.iter().map(|f| (f, false)).chain(data.coords.iter().map(|f| (f, true)));
            Ok(ForcingsTable::new(data.variables.len() + data.coords.len())
                .texts("name", all().map(|(field, _)| Some(&*field.name)))
                .bools("is_coord", all().map(|(_, is_coord)| Some(is_coord))))
        })
    }
}

/// The names of a field's dimensions, slowest first: a table with the column `dim`.
#[no_mangle]
pub unsafe extern "C" fn forcings_sample_dims(
    sample: *const ForcingsSample,
    dataset: u64,
    name: *const u8,
    name_len: u64,
    out_table: *mut *mut ForcingsTable,
) -> i32 {
    // SAFETY: the caller passes a writable pointer, a text, and a sample that is not given back.
    unsafe {
        table("forcings_sample_dims", sample, dataset, (name, name_len), out_table, |data, name| {
            let dims = &required(data, name)?.dims;
            Ok(ForcingsTable::new(dims.len()).texts("dim", dims.iter().map(|d| Some(&**d))))
        })
    }
}

/// The elements of a field of texts, row-major: a table with the column `text`.
#[no_mangle]
pub unsafe extern "C" fn forcings_sample_strings(
    sample: *const ForcingsSample,
    dataset: u64,
    name: *const u8,
    name_len: u64,
    out_table: *mut *mut ForcingsTable,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        table("forcings_sample_strings", sample, dataset, (name, name_len), out_table, |data, name| {
            let Values::String(texts) = &required(data, name)?.values else {
                return Err(Error::invalid(format!("the variable `{name}` holds no texts")));
            };
            Ok(ForcingsTable::new(texts.len()).texts("text", texts.iter().map(|t| Some(t.as_str()))))
        })
    }
}

/// The attributes of a field, or of the file when `name` is empty: a table with one line per value. `key` is the
/// attribute's name; `is_list` tells a list from a single value; `kind` is 0 for an integer in `int`, 1 for a number in
/// `float`, 2 for a text in `text`, 3 for an unsigned integer whose bits are in `int`, and -1 for an empty list.
#[no_mangle]
pub unsafe extern "C" fn forcings_sample_attributes(
    sample: *const ForcingsSample,
    dataset: u64,
    name: *const u8,
    name_len: u64,
    out_table: *mut *mut ForcingsTable,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        table("forcings_sample_attributes", sample, dataset, (name, name_len), out_table, |data, name| {
            let attributes = if name.is_empty() { &data.attributes } else { &required(data, name)?.attributes };
            Ok(attribute_lines(attributes))
        })
    }
}

/// A call that answers a table about one dataset, or about its field of a name.
///
/// # Safety
/// `sample` is null or not given back; `name` is as `input::text` asks, `out_table` as `Out::new` does.
unsafe fn table(
    operation: &'static str,
    sample: *const ForcingsSample,
    dataset: u64,
    name: (*const u8, u64),
    out_table: *mut *mut ForcingsTable,
    make: impl FnOnce(&Dataset, &str) -> Result<ForcingsTable>,
) -> i32 {
    guard(operation, || {
        // SAFETY: the caller's promise.
        let (out, sample, name) =
            unsafe { (Out::new("out_table", out_table)?, borrow(sample)?, input::text("name", name.0, name.1)?) };
        out.set(make(sample.dataset(dataset)?, name)?.into_raw());
        Ok(())
    })
}

/// # Safety
/// A pointer that is not null is a sample that is not given back.
unsafe fn borrow<'a>(sample: *const ForcingsSample) -> Result<&'a ForcingsSample> {
    // SAFETY: the caller's promise.
    unsafe { sample.as_ref() }.ok_or_else(|| Error::invalid("sample must not be null"))
}

fn find<'a>(data: &'a Dataset, name: &str) -> Option<&'a Field> {
    data.variable(name).or_else(|| data.coord(name))
}

fn required<'a>(data: &'a Dataset, name: &str) -> Result<&'a Field> {
    find(data, name).ok_or_else(|| Error::NotFound(format!("there is no variable `{name}` in the sample")))
}

/// Extents as the interface gives them: on the platforms of this library `usize` has 64 bits.
fn extents(shape: &[usize]) -> *const u64 {
    const _: () = assert!(size_of::<usize>() == size_of::<u64>());
    shape.as_ptr().cast()
}

fn start(values: &Values) -> *const c_void {
    match values {
        Values::F64(v) => v.as_ptr().cast(),
        Values::F32(v) => v.as_ptr().cast(),
        Values::I64(v) => v.as_ptr().cast(),
        Values::I32(v) => v.as_ptr().cast(),
        Values::Bool(v) => v.as_ptr().cast(),
        Values::String(_) => std::ptr::null(),
    }
}

/// One value of an attribute.
enum Item<'a> {
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Text(Cow<'a, str>),
    Nothing,
}

fn attribute_lines(attributes: &[Attribute]) -> ForcingsTable {
    let lines: Vec<(&str, bool, Item<'_>)> = attributes
        .iter()
        .flat_map(|attribute| {
            let items = items(&attribute.value);
            let is_list = items.len() != 1 || matches!(items[0], Item::Nothing);
            items.into_iter().map(move |item| (attribute.name.as_str(), is_list, item))
        })
        .collect();
    let items = || lines.iter().map(|(_, _, item)| item);
    let kind = |item: &Item<'_>| match item {
        Item::Int(_) => 0,
        Item::Float(_) => 1,
        Item::Text(_) => 2,
        Item::Unsigned(_) => 3,
        Item::Nothing => -1,
    };
    let int = |item: &Item<'_>| match item {
        Item::Int(n) => Some(*n),
        Item::Unsigned(n) => Some(*n as i64),
        _ => None,
    };
    ForcingsTable::new(lines.len())
        .texts("key", lines.iter().map(|(key, _, _)| Some(*key)))
        .bools("is_list", lines.iter().map(|(_, is_list, _)| Some(*is_list)))
        .integers("kind", items().map(|i| Some(kind(i))))
        .integers("int", items().map(int))
        .doubles("float", items().map(|i| if let Item::Float(x) = i { Some(*x) } else { None }))
        .texts("text", items().map(|i| if let Item::Text(text) = i { Some(text.as_ref()) } else { None }))
}

fn items(value: &AttributeValue) -> Vec<Item<'_>> {
    let items: Vec<Item<'_>> = match value {
        AttributeValue::Text(bytes) => vec![text(bytes)],
        AttributeValue::Strings(texts) => texts.iter().map(|bytes| text(bytes)).collect(),
        AttributeValue::Integers(numbers) => numbers.iter().map(|&n| Item::Int(n)).collect(),
        AttributeValue::Unsigned(numbers) => numbers.iter().map(|&n| Item::Unsigned(n)).collect(),
        AttributeValue::Floats(numbers) => numbers.iter().map(|&x| Item::Float(x)).collect(),
        AttributeValue::Other(what) => vec![Item::Text(Cow::Owned(format!("<{what}>")))],
    };
    if items.is_empty() {
        vec![Item::Nothing]
    } else {
        items
    }
}

/// Text without the NULs that pad it; bytes that are no UTF-8 become replacement characters.
fn text(bytes: &[u8]) -> Item<'_> {
    let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    Item::Text(String::from_utf8_lossy(&bytes[..end]))
}
