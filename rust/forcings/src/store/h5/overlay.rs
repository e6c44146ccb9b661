//! Writes that never reach their file. After a write failed, HDF5 can neither go on nor drop what it still has to write:
//! closing it over the failed file would leave it half closed. So it is closed over this layer, and the file keeps the
//! state of its last commit as far as the layer below can promise one.

use super::layer::FileLayer;
use super::pages::Pages;
use crate::chunks::ByteSource;
use crate::Result;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

/// The bytes of `base` with changes on top that are held in memory.
pub(super) struct Overlay {
    base: Arc<dyn FileLayer>,
    changes: Mutex<Changes>,
}

struct Changes {
    pages: Pages,
    len: u64,
}

impl Overlay {
    pub(super) fn new(base: Arc<dyn FileLayer>) -> Self {
        let len = base.len();
        Overlay { base, changes: Mutex::new(Changes { pages: Pages::new(len), len }) }
    }
}

impl ByteSource for Overlay {
    fn len(&self) -> u64 {
        self.changes.lock().len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.changes.lock().pages.read(&*self.base, offset, buffer)
    }

    fn path(&self) -> &Path {
        self.base.path()
    }
}

impl FileLayer for Overlay {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut changes = self.changes.lock();
        changes.len = changes.len.max(offset + bytes.len() as u64);
        changes.pages.write(&*self.base, offset, bytes)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let mut changes = self.changes.lock();
        if len < changes.len {
            changes.pages.cut(len);
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
