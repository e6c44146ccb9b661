//! Attributes, from their exact bytes: text keeps its NULs and whatever encoding it has.

use super::cursor::Fields;
use super::dataspace::dataspace;
use super::datatype::{Datatype, Kind};
use super::group::dense_objects;
use super::header::{shared_body, ObjectHeader};
use super::heap::GlobalHeap;
use super::storage::FileBytes;
use crate::formats::numbers::numbers;
use crate::formats::{Attribute, AttributeValue, NumericType};
use crate::Result;
use hdf5_reader::messages::{self, HdfMessage};

/// An attribute as stored.
pub(crate) struct RawAttribute {
    /// Its name, as bytes.
    pub(crate) name: Vec<u8>,
    order: Option<u32>,
    /// Its value; or why it cannot be read.
    value: std::result::Result<RawValue, String>,
}

struct RawValue {
    datatype: Datatype,
    /// Whether the dataspace has dimensions.
    list: bool,
    data: Vec<u8>,
}

/// The attributes of the object whose header this is, in creation order where it is tracked, else in file order. One
/// whose own message is damaged is listed as unreadable.
///
/// # Errors
/// `Format` when the structure that holds them is damaged.
pub(super) fn attributes(file: &FileBytes, header: &ObjectHeader) -> Result<Vec<RawAttribute>> {
    let mut found = Vec::new();
    for message in header.messages.iter().filter(|m| m.kind == messages::MSG_ATTRIBUTE) {
        found.push(parse(file, &message.body(file)?, message.order.map(u32::from))?);
    }
    if let Some(HdfMessage::AttributeInfo(info)) = header.parsed(file, messages::MSG_ATTRIBUTE_INFO)? {
        if !file.is_undefined(info.fractal_heap_address) {
            let (heap, index) = (info.fractal_heap_address, info.btree_name_index_address);
            for object in dense_objects(file, heap, index, "attributes of an object")? {
                found.push(parse(file, &object.body, object.order)?);
            }
        }
    }
    found.sort_by_key(|a| a.order);
    Ok(found)
}

impl RawAttribute {
    /// The attribute with its value decoded.
    pub(crate) fn decode(&self, heap: &mut GlobalHeap) -> Attribute {
        let name = String::from_utf8_lossy(&self.name).into_owned();
        let (value, numeric) = match &self.value {
            Ok(_) if std::str::from_utf8(&self.name).is_err() => {
                (AttributeValue::Other("its name is not UTF-8".into()), None)
            }
            Ok(value) => value.decode(heap).unwrap_or_else(|e| (AttributeValue::Other(e.to_string()), None)),
            Err(why) => (AttributeValue::Other(why.clone()), None),
        };
        Attribute { name, value, numeric }
    }

    /// The integers of a numeric attribute.
    pub(crate) fn integers(&self) -> Option<Vec<i64>> {
        let value = self.value.as_ref().ok()?;
        match value.datatype.kind {
            Kind::Number(number, order) => match numbers(&value.data, number, order) {
                AttributeValue::Integers(integers) => Some(integers),
                _ => None,
            },
            _ => None,
        }
    }

    /// For each element of an attribute that is lists of references, the addresses in its list.
    ///
    /// # Errors
    /// `Format` when the heap is damaged.
    pub(crate) fn references(&self, heap: &mut GlobalHeap) -> Result<Option<Vec<Vec<u64>>>> {
        let Some(value) = self.value.as_ref().ok().filter(|v| v.datatype.kind == Kind::References) else {
            return Ok(None);
        };
        let lists = value.data.chunks_exact(heap.reference_size()).map(|reference| {
            let addresses = heap.resolve(reference, 8)?;
            Ok(addresses.chunks_exact(8).map(|a| u64::from_le_bytes(a.try_into().expect("8 bytes"))).collect())
        });
        lists.collect::<Result<_>>().map(Some)
    }

    /// The bytes of a text attribute.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        self.value.as_ref().ok().filter(|v| v.datatype.kind == Kind::Text).map(|v| v.data.as_slice())
    }
}

impl RawValue {
    fn decode(&self, heap: &mut GlobalHeap) -> Result<(AttributeValue, Option<NumericType>)> {
        Ok(match &self.datatype.kind {
            Kind::Number(number, order) => (numbers(&self.data, *number, *order), Some(*number)),
            Kind::Text if self.list && self.data.len() > self.datatype.size => {
                let texts = self.data.chunks_exact(self.datatype.size);
                (AttributeValue::Strings(texts.map(|t| until_nul(t).to_vec()).collect()), None)
            }
            Kind::Text => (AttributeValue::Text(self.data.clone()), None),
            Kind::VarText if self.datatype.size != heap.reference_size() => {
                (AttributeValue::Other("strings that are not references to the global heap".into()), None)
            }
            Kind::VarText => {
                let references = self.data.chunks_exact(heap.reference_size());
                let texts = references.map(|r| heap.resolve(r, 1).map(|t| until_nul(t).to_vec()));
                (AttributeValue::Strings(texts.collect::<Result<_>>()?), None)
            }
            Kind::Reference => (AttributeValue::Other("reference".into()), None),
            Kind::References => (AttributeValue::Other("variable-length list".into()), None),
            Kind::Other(name) => (AttributeValue::Other(name.clone()), None),
        })
    }
}

/// The bytes before the first NUL: a C string.
pub(super) fn until_nul(text: &[u8]) -> &[u8] {
    &text[..text.iter().position(|b| *b == 0).unwrap_or(text.len())]
}

fn parse(file: &FileBytes, body: &[u8], order: Option<u32>) -> Result<RawAttribute> {
    let mut fields = Fields(body);
    let prefix = (|| {
        let (version, flags) = (fields.u8()?, fields.u8()?);
        let sizes = (fields.u16()?, fields.u16()?, fields.u16()?);
        fields.take(if version == 3 { 1 } else { 0 })?;
        let name = take_padded(&mut fields, sizes.0, version)?;
        Some((version, flags, sizes, name))
    })();
    let Some((version @ 1..=3, flags, (_, type_size, space_size), name)) = prefix else {
        return Err(file.damaged("an attribute is damaged"));
    };
    let flags = if version == 1 { 0 } else { flags };
    let value = (|| {
        let datatype = take_padded(&mut fields, type_size, version);
        let space = take_padded(&mut fields, space_size, version);
        let (Some(datatype), Some(space)) = (datatype, space) else {
            return Err(file.damaged("it is cut short"));
        };
        let datatype = resolve(file, flags & 1 != 0, messages::MSG_DATATYPE, datatype)?;
        let space = resolve(file, flags & 2 != 0, messages::MSG_DATASPACE, space)?;
        let Some(datatype) = Datatype::parse(&datatype) else {
            return Err(file.damaged("its datatype is damaged"));
        };
        let (count, list) = match dataspace(file, &space)? {
            None => (Some(0), false),
            Some((dims, _)) => (dims.iter().try_fold(1_u64, |n, d| n.checked_mul(*d)), !dims.is_empty()),
        };
        let bytes = count.and_then(|n| usize::try_from(n).ok()?.checked_mul(datatype.size));
        match bytes.and_then(|bytes| fields.take(bytes)) {
            Some(data) => Ok(RawValue { datatype, list, data: data.to_vec() }),
            None => Err(file.damaged("its value is cut short")),
        }
    })();
    let value = value.map_err(|e| e.to_string());
    Ok(RawAttribute { name: until_nul(name).to_vec(), order, value })
}

/// Fields of version 1 are padded to 8 bytes.
fn take_padded<'a>(fields: &mut Fields<'a>, size: u16, version: u8) -> Option<&'a [u8]> {
    let size = usize::from(size);
    let taken = fields.take(size)?;
    if version == 1 {
        fields.take(size.wrapping_neg() & 7)?;
    }
    Some(taken)
}

fn resolve(file: &FileBytes, shared: bool, kind: u16, body: &[u8]) -> Result<Vec<u8>> {
    if shared {
        shared_body(file, kind, body)
    } else {
        Ok(body.to_vec())
    }
}
