//! A file whose commits are whole: what they overwrite can be put back. Bytes below the end of the last committed state
//! are changed in memory until [`FileLayer::prepare`], which first brings what they replace to the disk, in a journal
//! beside the file. Bytes behind that end go straight to the file: until a commit they are only a tail. The file becomes
//! shorter after a commit, never before.
//!
//! Whether a prepared state counts is said by the catalog alone: it holds the number of the last state that does.

mod log;
mod recovery;

pub(crate) use recovery::{is_hot, journal_path, recover, undone_view};

use super::layer::FileLayer;
use super::pages::{Pages, PAGE};
use crate::chunks::ByteSource;
use crate::{Error, Result};
use log::{Header, Log, MAX_IMAGE};
use parking_lot::{Mutex, RwLock, RwLockUpgradableReadGuard};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Changed pages that are held in memory. Beyond it they go to the file, behind what they replace.
const MAX_PAGES: usize = (32 << 20) / PAGE;

/// The committed state of a pair: its name and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pair: [u8; 16],
    generation: u64,
}

impl Mark {
    /// State `generation` of the pair of this name, if it has one yet.
    pub(crate) fn new(pair: Option<&str>, generation: u64) -> Self {
        let mut name = [0; 16];
        if let Some(pair) = pair {
            let digest: [u8; 32] = Sha256::digest(pair).into();
            name.copy_from_slice(&digest[..16]);
        }
        Mark { pair: name, generation }
    }
}

/// A file with a rollback journal.
pub(crate) struct JournalFile {
    base: Arc<dyn FileLayer>,
    view: RwLock<View>,
    writer: Mutex<Writer>,
    max_pages: usize,
    /// A step that brings changes to the disk went wrong: what the disk has is only known after it is opened again.
    failed: AtomicBool,
}

/// The bytes as they are now.
struct View {
    /// Pages that differ from the base, below `committed`; what the last one has behind that end means nothing.
    pages: Pages,
    /// The end of the committed state.
    committed: u64,
    len: u64,
}

struct Writer {
    log: Log,
    /// Pages whose committed content is in the journal.
    saved: HashSet<u64>,
    mark: Mark,
}

impl JournalFile {
    /// A file in its committed state, which is `mark`. A journal that is still there was dealt with.
    pub(crate) fn new(base: Arc<dyn FileLayer>, mark: Mark) -> Self {
        Self::limited(base, mark, MAX_PAGES)
    }

    fn limited(base: Arc<dyn FileLayer>, mark: Mark, max_pages: usize) -> Self {
        let committed = base.len();
        let log = Log::new(journal_path(base.path()));
        let view = View { pages: Pages::new(committed), committed, len: committed };
        JournalFile {
            base,
            view: RwLock::new(view),
            writer: Mutex::new(Writer { log, saved: HashSet::new(), mark }),
            max_pages,
            failed: AtomicBool::new(false),
        }
    }

    /// Runs a step after whose failure nothing more may be written.
    fn decisive<T>(&self, step: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_whole()?;
        step().inspect_err(|_| self.failed.store(true, Ordering::Release))
    }

    fn check_whole(&self) -> Result<()> {
        match self.failed.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(Error::Hdf5(format!(
                "an earlier commit to {} failed, so it is not written any more; open it again",
                self.path().display()
            ))),
        }
    }

    /// Brings the changed pages to the file, what they replace to the journal first.
    fn spill(&self) -> Result<()> {
        let mut writer = self.writer.lock();
        self.write_zeros()?;
        let view = self.view.upgradable_read();
        let changed = self.save(&view, &mut writer)?;
        let mut view = RwLockUpgradableReadGuard::upgrade(view);
        let mut run = Run::default();
        for number in changed {
            let page = &view.pages.map[&number][..view.committed_bytes(number)];
            run.push(number, page, |offset, bytes| self.base.write_at(offset, bytes))?;
        }
        run.end(|offset, bytes| self.base.write_at(offset, bytes))?;
        view.pages.map.clear();
        Ok(())
    }

    /// Brings the committed content of pages to the journal, and answers which pages differ from the file.
    fn save(&self, view: &View, writer: &mut Writer) -> Result<Vec<u64>> {
        let Writer { log, saved, mark } = writer;
        let header = || Header::new(view.committed, mark.generation, mark.pair);
        let (mut changed, mut fresh, mut run) = (Vec::new(), Vec::new(), Run::default());
        let mut former = [0; PAGE];
        for (&number, page) in &view.pages.map {
            let former = &mut former[..view.committed_bytes(number)];
            self.base.read_at(number * PAGE as u64, former)?;
            if *former == page[..former.len()] {
                continue;
            }
            changed.push(number);
            if !saved.contains(&number) {
                fresh.push(number);
                run.push(number, former, |offset, bytes| log.append(header, offset, bytes))?;
            }
        }
        run.end(|offset, bytes| log.append(header, offset, bytes))?;
        if !fresh.is_empty() {
            log.sync()?;
            saved.extend(fresh);
        }
        Ok(changed)
    }

    /// Makes pages of the zeros that stand for committed bytes, so that the base need not be told from them any more.
    fn write_zeros(&self) -> Result<()> {
        let mut view = self.view.write();
        let end = view.len.min(view.committed);
        if view.pages.zeros_from < end {
            for number in view.pages.zeros_from / PAGE as u64..end.div_ceil(PAGE as u64) {
                view.pages.hold(&*self.base, number)?;
            }
        }
        view.pages.zeros_from = end;
        Ok(())
    }
}

impl View {
    /// The bytes of a page that belong to the committed state.
    fn committed_bytes(&self, number: u64) -> usize {
        self.committed.saturating_sub(number * PAGE as u64).min(PAGE as u64) as usize
    }
}

/// Adjacent pages, to be written at once.
#[derive(Default)]
struct Run {
    offset: u64,
    bytes: Vec<u8>,
}

impl Run {
    fn push(&mut self, number: u64, page: &[u8], write: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let offset = number * PAGE as u64;
        if self.offset + self.bytes.len() as u64 != offset || self.bytes.len() + page.len() > MAX_IMAGE {
            self.end(write)?;
        }
        if self.bytes.is_empty() {
            self.offset = offset;
        }
        self.bytes.extend_from_slice(page);
        Ok(())
    }

    fn end(&mut self, mut write: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        if !self.bytes.is_empty() {
            write(self.offset, &self.bytes)?;
        }
        self.bytes.clear();
        Ok(())
    }
}

impl ByteSource for JournalFile {
    fn len(&self) -> u64 {
        self.view.read().len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let view = self.view.read();
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > view.len) {
            let detail = format!("{} bytes at offset {offset} lie beyond the end of the file", buffer.len());
            return Err(Error::format(self.path(), detail));
        }
        let below = view.committed.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let (below, above) = buffer.split_at_mut(below);
        if !below.is_empty() {
            view.pages.read(&*self.base, offset, below)?;
        }
        match above.is_empty() {
            true => Ok(()),
            false => self.base.read_at(offset + below.len() as u64, above),
        }
    }

    fn path(&self) -> &Path {
        self.base.path()
    }
}

impl FileLayer for JournalFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_whole()?;
        let below = self.view.read().committed.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (below, above) = bytes.split_at(below);
        if !above.is_empty() {
            // Nobody reads these bytes before the end has moved.
            self.base.write_at(offset + below.len() as u64, above)?;
        }
        let mut view = self.view.write();
        if !below.is_empty() {
            view.pages.write(&*self.base, offset, below)?;
        }
        view.len = view.len.max(offset + bytes.len() as u64);
        let full = view.pages.map.len() >= self.max_pages;
        drop(view);
        match full {
            true => self.decisive(|| self.spill()),
            false => Ok(()),
        }
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.check_whole()?;
        let mut view = self.view.write();
        let physical = len.max(view.committed);
        if self.base.len() != physical {
            self.base.set_len(physical)?;
        }
        if len < view.committed {
            view.pages.cut(len);
        }
        view.len = len;
        Ok(())
    }

    /// What is prepared stays undone by the next open until it is finished.
    fn sync(&self) -> Result<()> {
        self.prepare()
    }

    fn prepare(&self) -> Result<()> {
        self.decisive(|| {
            self.spill()?;
            self.base.sync()
        })
    }

    fn finish(&self) -> Result<()> {
        self.decisive(|| {
            let mut writer = self.writer.lock();
            let mut view = self.view.write();
            if !view.pages.map.is_empty() {
                let path = self.path().display();
                return Err(Error::Integrity(format!("{path} was changed between the two halves of a commit")));
            }
            writer.log.invalidate()?;
            writer.saved.clear();
            writer.mark.generation = writer.mark.generation.wrapping_add(1);
            if self.base.len() != view.len {
                self.base.set_len(view.len)?;
            }
            (view.committed, view.pages.zeros_from) = (view.len, view.len);
            Ok(())
        })
    }

    fn writable(&self) -> bool {
        self.base.writable()
    }

    fn tidy(&self) -> Result<()> {
        self.writer.lock().log.remove()
    }

    fn release(&self) {
        let mut writer = self.writer.lock();
        if !writer.log.is_hot() {
            // On the disk before it goes. Where that fails it still names a state that the catalog has left.
            let _ = writer.log.sync().and_then(|()| writer.log.remove());
        }
        self.base.release();
    }

    fn detach(&self) {
        let _ = self.writer.lock().log.remove();
        self.base.detach();
    }

    fn into_source(self: Arc<Self>) -> Arc<dyn ByteSource> {
        self
    }
}

#[cfg(test)]
mod tests;
