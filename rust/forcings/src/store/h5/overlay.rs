//! Writes that never reach their file. After a write failed, HDF5 can neither go on nor drop what it still has to write:
//! closing it over the failed file would leave it half closed. So it is closed over this layer, and the file keeps the
//! state of its last commit as far as the layer below can promise one.

use super::layer::FileLayer;
use super::pages::{pieces, Page, PAGE};
use crate::chunks::ByteSource;
use crate::Result;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The bytes of `base` with changes on top that are held in memory.
pub(super) struct Overlay {
    base: Arc<dyn FileLayer>,
    changes: Mutex<Changes>,
}

struct Changes {
    pages: BTreeMap<u64, Page>,
    len: u64,
    /// The base is zeros from here on: the shortest length that was set.
    base_len: u64,
}

impl Overlay {
    pub(super) fn new(base: Arc<dyn FileLayer>) -> Self {
        let len = base.len();
        Overlay { base, changes: Mutex::new(Changes { pages: BTreeMap::new(), len, base_len: len }) }
    }

    fn page(&self, changes: &Changes, number: u64) -> Result<Page> {
        if let Some(page) = changes.pages.get(&number) {
            return Ok(page.clone());
        }
        let mut page = Box::new([0; PAGE]);
        let start = number * PAGE as u64;
        let there = changes.base_len.saturating_sub(start).min(PAGE as u64) as usize;
        if there > 0 {
            self.base.read_at(start, &mut page[..there])?;
        }
        Ok(page)
    }
}

impl ByteSource for Overlay {
    fn len(&self) -> u64 {
        self.changes.lock().len
    }

    fn read_at(&self, offset: u64, mut buffer: &mut [u8]) -> Result<()> {
        let changes = self.changes.lock();
        for (number, within, count) in pieces(offset, buffer.len()) {
            let (part, rest) = buffer.split_at_mut(count);
            part.copy_from_slice(&self.page(&changes, number)?[within..within + count]);
            buffer = rest;
        }
        Ok(())
    }

    fn path(&self) -> &Path {
        self.base.path()
    }
}

impl FileLayer for Overlay {
    fn write_at(&self, offset: u64, mut bytes: &[u8]) -> Result<()> {
        let mut changes = self.changes.lock();
        changes.len = changes.len.max(offset + bytes.len() as u64);
        for (number, within, count) in pieces(offset, bytes.len()) {
            let (part, rest) = bytes.split_at(count);
            let mut page = self.page(&changes, number)?;
            page[within..within + count].copy_from_slice(part);
            changes.pages.insert(number, page);
            bytes = rest;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let mut changes = self.changes.lock();
        if len < changes.len {
            changes.base_len = changes.base_len.min(len);
            changes.pages.split_off(&len.div_ceil(PAGE as u64));
            if let Some(last) = changes.pages.get_mut(&(len / PAGE as u64)) {
                last[(len % PAGE as u64) as usize..].fill(0);
            }
        }
        changes.len = len;
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn writable(&self) -> bool {
        true
    }

    fn release(&self) {
        self.base.release();
    }

    fn into_source(self: Arc<Self>) -> Arc<dyn ByteSource> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer::MemoryFile;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_file_and_leaves_its_base_alone(
            start in 0..9000u64,
            steps in prop::collection::vec((any::<bool>(), 0..14000u64, 0..9000usize, any::<u8>()), 1..12),
        ) {
            let base = MemoryFile::new();
            base.write_at(0, &vec![7; start as usize]).unwrap();
            let base: Arc<dyn FileLayer> = Arc::new(base);
            let overlay = Overlay::new(base.clone());
            let model = MemoryFile::new();
            model.write_at(0, &vec![7; start as usize]).unwrap();
            for (write, at, count, byte) in steps {
                for file in [&overlay as &dyn FileLayer, &model] {
                    match write {
                        true => file.write_at(at, &vec![byte; count]).unwrap(),
                        false => file.set_len(at).unwrap(),
                    }
                }
                prop_assert_eq!(overlay.len(), model.len());
                let mut both = [vec![1; model.len() as usize], vec![2; model.len() as usize]];
                overlay.read_at(0, &mut both[0]).unwrap();
                model.read_at(0, &mut both[1]).unwrap();
                prop_assert!(both[0] == both[1]);
            }
            let mut bytes = vec![0; start as usize];
            base.read_at(0, &mut bytes).unwrap();
            prop_assert!(base.len() == start && bytes.iter().all(|&b| b == 7));
        }
    }
}
