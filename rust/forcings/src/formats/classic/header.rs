//! The header of a classic file. Every count and size is checked against the bytes that are there before anything is
//! allocated for it.

use super::super::numbers::numbers;
use super::super::{Attribute, AttributeValue, ByteOrder, Dimension, ElementType, NumericType, Variable};
use crate::chunks::{ByteSource, Layout};
use crate::{Error, Result};

/// The most bytes of a header.
const MAX_HEADER_BYTES: u64 = 64 << 20;
/// Bytes read at a time.
const PIECE: u64 = 16 << 10;
/// The most dimensions of one variable.
const MAX_RANK: u64 = 1024;

const DIMENSIONS: u32 = 10;
const VARIABLES: u32 = 11;
const ATTRIBUTES: u32 = 12;

/// What a header says.
pub(super) struct Header {
    pub(super) dimensions: Vec<Dimension>,
    pub(super) attributes: Vec<Attribute>,
    /// Each variable with the place of its data.
    pub(super) variables: Vec<(Variable, Layout)>,
}

/// Reads the header at the start of `source`.
///
/// # Errors
/// `Format` when it is damaged, or the source ends before the data that it describes.
pub(super) fn read(source: &dyn ByteSource) -> Result<Header> {
    let mut reader = Reader { source, bytes: Vec::new(), at: 0, wide: false, wide_offsets: false };
    let magic = reader.take(4, "the signature")?;
    (reader.wide, reader.wide_offsets) = match magic {
        [b'C', b'D', b'F', 1] => (false, false),
        [b'C', b'D', b'F', 2] => (false, true),
        [b'C', b'D', b'F', 5] => (true, true),
        [b'C', b'D', b'F', version] => {
            let version = *version;
            return Err(reader.damaged(format!("the NetCDF classic version {version} is unknown")));
        }
        _ => return Err(reader.damaged("it is no NetCDF classic file")),
    };
    let records = reader.size("the number of records")?;
    let streaming = if reader.wide { u64::MAX } else { u64::from(u32::MAX) };
    let records = (records != streaming).then_some(records);
    let mut dimensions = reader.dimensions()?;
    let attributes = reader.attributes("the file")?;
    let stored = reader.variables(&dimensions)?;
    place(&reader, &mut dimensions, attributes, stored, records)
}

/// A variable as its entry describes it.
struct Stored {
    name: Vec<u8>,
    dimensions: Vec<usize>,
    attributes: Vec<Attribute>,
    element: ElementType,
    width: u64,
    begin: u64,
}

/// Finds where the data of every variable lie.
fn place(
    reader: &Reader,
    dimensions: &mut [Dimension],
    attributes: Vec<Attribute>,
    stored: Vec<Stored>,
    records: Option<u64>,
) -> Result<Header> {
    let is_record = |v: &Stored| v.dimensions.first().is_some_and(|d| dimensions[*d].unlimited);
    // Bytes of one record of a record variable, of all of any other.
    let mut sizes = Vec::with_capacity(stored.len());
    for variable in &stored {
        let inner = &variable.dimensions[usize::from(is_record(variable))..];
        let size = inner.iter().try_fold(variable.width, |n, d| n.checked_mul(dimensions[*d].len));
        sizes.push(size.filter(|n| n.checked_next_multiple_of(4).is_some()).ok_or_else(|| {
            reader.damaged(format!("variable {}: its size overflows", String::from_utf8_lossy(&variable.name)))
        })?);
    }
    let record_like: Vec<bool> = stored.iter().map(is_record).collect();
    let of_records: Vec<usize> = (0..stored.len()).filter(|v| record_like[*v]).collect();
    let stride = match of_records[..] {
        // A lone record variable is not padded.
        [only] => Some(sizes[only]),
        _ => of_records.iter().try_fold(0_u64, |n, v| n.checked_add(sizes[*v].next_multiple_of(4))),
    };
    let stride = stride.ok_or_else(|| reader.damaged("the size of a record overflows"))?;
    let first = of_records.iter().map(|v| stored[*v].begin).min();
    let records = match (records, first) {
        (Some(records), _) => records,
        // Written as a stream: the file ends behind the last record.
        (None, Some(first)) if stride > 0 => reader.source.len().saturating_sub(first) / stride,
        (None, _) => 0,
    };
    for dimension in dimensions.iter_mut().filter(|d| d.unlimited) {
        dimension.len = records;
    }

    let mut variables = Vec::with_capacity(stored.len());
    for (v, variable) in stored.into_iter().enumerate() {
        let is_record = record_like[v];
        let count = if is_record { records } else { 1 };
        let layout = match is_record {
            true => Layout::Records { offset: variable.begin, stride },
            false => Layout::Contiguous { offset: variable.begin },
        };
        let (name, mut problem) = text(&variable.name);
        let end = match count.checked_sub(1) {
            None => Some(0),
            Some(last) => last
                .checked_mul(if is_record { stride } else { 0 })
                .and_then(|n| n.checked_add(variable.begin)?.checked_add(sizes[v])),
        };
        if end.is_none_or(|end| end > reader.source.len()) {
            return Err(reader.damaged(format!(
                "the file is truncated or its header is damaged: variable {name} reaches behind its {} bytes",
                reader.source.len()
            )));
        }
        if variable.dimensions.iter().skip(1).any(|d| dimensions[*d].unlimited) {
            problem = Some("its record dimension is not its first".into());
        }
        let shape = variable.dimensions.iter().map(|d| dimensions[*d].len).collect();
        let Stored { dimensions, attributes, element, .. } = variable;
        variables.push((Variable { name, dimensions, shape, element, attributes, fill: None, problem }, layout));
    }
    Ok(Header { dimensions: dimensions.to_vec(), attributes, variables })
}

/// A name, and what is wrong with it.
fn text(name: &[u8]) -> (String, Option<String>) {
    match std::str::from_utf8(name) {
        Ok(name) => (name.to_string(), None),
        Err(_) => (String::from_utf8_lossy(name).into_owned(), Some("its name is not UTF-8".into())),
    }
}

struct Reader<'a> {
    source: &'a dyn ByteSource,
    /// The source as far as it was read.
    bytes: Vec<u8>,
    at: usize,
    /// Whether counts have 8 bytes.
    wide: bool,
    /// Whether offsets have 8 bytes.
    wide_offsets: bool,
}

impl Reader<'_> {
    /// The next `count` bytes.
    fn take(&mut self, count: u64, what: &str) -> Result<&[u8]> {
        let end = (self.at as u64).checked_add(count);
        let Some(end) = end.filter(|end| *end <= self.source.len()) else {
            return Err(self.damaged(format!("the file ends inside {what} of its header: it is truncated or damaged")));
        };
        if end > MAX_HEADER_BYTES {
            return Err(self.damaged(format!("its header exceeds {MAX_HEADER_BYTES} bytes")));
        }
        let have = self.bytes.len() as u64;
        if end > have {
            let until = end.max(have + PIECE).max(have * 2).min(self.source.len());
            self.bytes.resize(until as usize, 0);
            self.source.read_at(have, &mut self.bytes[have as usize..])?;
        }
        let start = std::mem::replace(&mut self.at, end as usize);
        Ok(&self.bytes[start..end as usize])
    }

    fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(u32::from_be_bytes(self.take(4, what)?.try_into().expect("4 bytes")))
    }

    fn u64(&mut self, what: &str) -> Result<u64> {
        Ok(u64::from_be_bytes(self.take(8, what)?.try_into().expect("8 bytes")))
    }

    /// A count or a length.
    fn size(&mut self, what: &str) -> Result<u64> {
        if self.wide {
            self.u64(what)
        } else {
            self.u32(what).map(u64::from)
        }
    }

    /// A count of things that take at least `least` bytes each.
    fn count(&mut self, least: u64, what: &str) -> Result<u64> {
        let count = self.size(what)?;
        let left = self.source.len() - self.at as u64;
        match count.checked_mul(least) {
            Some(needed) if needed <= left => Ok(count),
            _ => Err(self.damaged(format!("{count} entries of {what} do not fit: it is truncated or damaged"))),
        }
    }

    /// `count` bytes and the padding to a multiple of 4, which may miss at the end of a file.
    fn padded(&mut self, count: u64, what: &str) -> Result<Vec<u8>> {
        let bytes = self.take(count, what)?.to_vec();
        let padding = count.wrapping_neg() & 3;
        self.take(padding.min(self.source.len() - self.at as u64), what)?;
        Ok(bytes)
    }

    fn name(&mut self, what: &str) -> Result<Vec<u8>> {
        let length = self.count(1, what)?;
        self.padded(length, what)
    }

    /// The number of entries of a list that starts with this tag.
    fn list(&mut self, tag: u32, least: u64, what: &str) -> Result<u64> {
        let found = self.u32(what)?;
        let count = self.count(least, what)?;
        match (found, count) {
            (0, 0) => Ok(0),
            (found, count) if found == tag => Ok(count),
            _ => Err(self.damaged(format!("{what}: the list does not start as one"))),
        }
    }

    fn dimensions(&mut self) -> Result<Vec<Dimension>> {
        let what = "the dimensions";
        let mut dimensions = Vec::new();
        for _ in 0..self.list(DIMENSIONS, 8, what)? {
            let name = text(&self.name(what)?).0;
            let len = self.size(what)?;
            if len == 0 && dimensions.iter().any(|d: &Dimension| d.unlimited) {
                return Err(self.damaged(format!("dimension {name} is a second record dimension")));
            }
            dimensions.push(Dimension { name, len, unlimited: len == 0 });
        }
        Ok(dimensions)
    }

    fn attributes(&mut self, of: &str) -> Result<Vec<Attribute>> {
        let what = format!("the attributes of {of}");
        let mut attributes = Vec::new();
        for _ in 0..self.list(ATTRIBUTES, 12, &what)? {
            let (name, problem) = text(&self.name(&what)?);
            let element = self.element(&what)?;
            let width = width(&element);
            let count = self.count(width, &what)?;
            let bytes = self.padded(count * width, &what)?;
            let (value, numeric) = match (problem, element) {
                (Some(problem), _) => (AttributeValue::Other(problem), None),
                (None, ElementType::Number(number, order)) => (numbers(&bytes, number, order), Some(number)),
                (None, _) => (AttributeValue::Text(bytes), None),
            };
            attributes.push(Attribute { name, value, numeric });
        }
        Ok(attributes)
    }

    fn variables(&mut self, dimensions: &[Dimension]) -> Result<Vec<Stored>> {
        let what = "the variables";
        let mut variables = Vec::new();
        for _ in 0..self.list(VARIABLES, 28, what)? {
            let name = self.name(what)?;
            let of = format!("variable {}", String::from_utf8_lossy(&name));
            let rank = self.count(4, &of)?;
            if rank > MAX_RANK {
                return Err(self.damaged(format!("{of} has {rank} dimensions, more than {MAX_RANK}")));
            }
            let mut own = Vec::new();
            for _ in 0..rank {
                let id = self.size(&of)?;
                let known = usize::try_from(id).ok().filter(|id| *id < dimensions.len());
                own.push(known.ok_or_else(|| self.damaged(format!("{of}: there is no dimension number {id}")))?);
            }
            let attributes = self.attributes(&of)?;
            let element = self.element(&of)?;
            // The size of the variable, which its shape gives too: writers differ when it is large.
            self.size(&of)?;
            let begin = if self.wide_offsets { self.u64(&of)? } else { self.u32(&of)?.into() };
            let width = width(&element);
            variables.push(Stored { name, dimensions: own, attributes, element, width, begin });
        }
        Ok(variables)
    }

    fn element(&mut self, what: &str) -> Result<ElementType> {
        let number = match self.u32(what)? {
            1 => NumericType::I8,
            2 => return Ok(ElementType::Char),
            3 => NumericType::I16,
            4 => NumericType::I32,
            5 => NumericType::F32,
            6 => NumericType::F64,
            7 if self.wide => NumericType::U8,
            8 if self.wide => NumericType::U16,
            9 if self.wide => NumericType::U32,
            10 if self.wide => NumericType::I64,
            11 if self.wide => NumericType::U64,
            other => return Err(self.damaged(format!("{what}: the type number {other} is unknown"))),
        };
        Ok(ElementType::Number(number, ByteOrder::Big))
    }

    fn damaged(&self, detail: impl Into<String>) -> Error {
        Error::format(self.source.path(), detail)
    }
}

fn width(element: &ElementType) -> u64 {
    match element {
        ElementType::Number(number, _) => number.width() as u64,
        _ => 1,
    }
}
