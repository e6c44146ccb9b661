//! Global heap collections: where values of any length are kept.

use super::cursor::Fields;
use super::storage::FileBytes;
use crate::Result;
use hdf5_reader::Storage;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of collections kept at a time.
const MAX_KEPT_BYTES: u64 = 64 << 20;

/// Resolves references to the global heap, each collection read once while it is kept.
pub(crate) struct GlobalHeap<'a> {
    file: &'a FileBytes,
    collections: HashMap<u64, Collection>,
    kept_bytes: u64,
    /// Bytes that may still be read, and handed out. Honest files stay far below; references that overlap do not.
    left_to_read: u64,
    left_to_lend: u64,
}

struct Collection {
    bytes: Vec<u8>,
    objects: HashMap<u16, Range<usize>>,
}

impl<'a> GlobalHeap<'a> {
    pub(super) fn new(file: &'a FileBytes) -> Self {
        let limit = Storage::len(file).saturating_mul(4).saturating_add(16 << 20);
        let (left_to_read, left_to_lend) = (limit, limit);
        GlobalHeap { file, collections: HashMap::new(), kept_bytes: 0, left_to_read, left_to_lend }
    }

    /// Bytes of one reference: a length, the address of a collection, the number of an object in it.
    pub(super) fn reference_size(&self) -> usize {
        8 + usize::from(self.file.offset_size)
    }

    /// The elements, `width` bytes each, behind `reference`; a null reference has none.
    ///
    /// # Errors
    /// `Format` when the reference or the heap is damaged.
    pub(super) fn resolve(&mut self, reference: &[u8], width: usize) -> Result<&[u8]> {
        let mut fields = Fields(reference);
        let parts = (|| Some((fields.u32()?, fields.uint(self.file.offset_size.into())?, fields.u32()?)))();
        let Some((count, address, index)) = parts else {
            return Err(self.file.damaged("a reference to the global heap is cut short"));
        };
        if count == 0 || address == 0 || self.file.is_undefined(address) {
            return Ok(&[]);
        }
        let size = count as usize * width;
        self.left_to_lend = self.left_to_lend.checked_sub(size as u64).ok_or_else(|| {
            self.file.damaged("values on the global heap are larger than the file; references overlap")
        })?;
        if !self.collections.contains_key(&address) {
            self.load(address)?;
        }
        let collection = &self.collections[&address];
        u16::try_from(index)
            .ok()
            .and_then(|index| collection.objects.get(&index))
            .and_then(|place| collection.bytes[place.clone()].get(..size))
            .ok_or_else(|| {
                self.file.damaged(format!("the global heap at {address} has no object {index} of {size} bytes"))
            })
    }

    fn load(&mut self, address: u64) -> Result<()> {
        let what = "global heap";
        let length = usize::from(self.file.length_size);
        let head = self.file.read(address, 8 + length as u64, what)?;
        let size = match (head.starts_with(b"GCOL\x01"), Fields(&head[8..]).uint(length)) {
            (true, Some(size)) => size,
            _ => return Err(self.file.damaged(format!("there is no global heap at {address}"))),
        };
        self.left_to_read = self
            .left_to_read
            .checked_sub(size)
            .ok_or_else(|| self.file.damaged("global heaps are larger than the file; they overlap"))?;
        let bytes = self.file.read(address, size, what)?;
        let mut objects = HashMap::new();
        let mut fields = Fields(bytes.get(8 + length..).unwrap_or_default());
        while fields.0.len() >= 8 + length {
            let prefix = (|| {
                let index = fields.u16()?;
                fields.take(6)?;
                Some((index, usize::try_from(fields.uint(length)?).ok()?))
            })();
            let Some((index, size)) = prefix else { break };
            if index == 0 {
                break;
            }
            let start = bytes.len() - fields.0.len();
            if fields.take(size).is_none() {
                return Err(self.file.damaged(format!("object {index} leaves the global heap at {address}")));
            }
            fields.take(size.wrapping_neg() & 7);
            objects.insert(index, start..start + size);
        }
        if self.kept_bytes.saturating_add(size) > MAX_KEPT_BYTES {
            self.collections.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += size;
        self.collections.insert(address, Collection { bytes, objects });
        Ok(())
    }
}
