//! Bringing changes to the disk, in the two halves of a commit, and closing the file.

use super::waiting::Waiting;
use super::write::Writer;
use super::ArrayFile;
use crate::store::h5::FileLayer;
use crate::{Error, Result};

impl ArrayFile {
    /// Hands every change to the operating system.
    ///
    /// # Errors
    /// `Io`, `Hdf5`.
    pub(crate) fn flush(&self) -> Result<()> {
        self.settle()?;
        let mut writer = self.writer.lock();
        match writer.file {
            Some(_) => self.sync_with_hdf5(&mut writer),
            None => Ok(()),
        }
    }

    /// Returns when every change is on the disk, and counts; flushes first.
    ///
    /// # Errors
    /// `Io`, `Hdf5`.
    pub(crate) fn sync(&self) -> Result<()> {
        self.prepare()?;
        self.finish()
    }

    /// Brings every change to the disk; flushes first. Where the layer has a journal, the changes count from the commit of
    /// the catalog on, which [`ArrayFile::finish`] follows; until then opening the file would undo them. After an error
    /// the file is not written any more.
    ///
    /// # Errors
    /// `Io`, `Hdf5`.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.flush()?;
        match self.layer.writable() {
            true => self.decisive(&mut self.writer.lock(), |layer| layer.prepare()),
            false => Ok(()),
        }
    }

    /// The changes that were prepared count. After an error the file is not written any more.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.layer.writable() {
            true => self.decisive(&mut self.writer.lock(), |layer| layer.finish()),
            false => Ok(()),
        }
    }

    /// Leaves nothing beside the file that is of no use any more.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn tidy(&self) -> Result<()> {
        self.layer.tidy()
    }

    /// Nothing more may be written: whether what was prepared counts is known when the file is opened again.
    pub(crate) fn give_up(&self) {
        self.writer.lock().broken = true;
    }

    /// Whether HDF5 has the file open.
    pub(crate) fn is_being_written(&self) -> bool {
        self.writer.lock().file.is_some()
    }

    /// Whether no write has failed since it was opened.
    pub(crate) fn can_be_written(&self) -> bool {
        let writer = self.writer.lock();
        !writer.broken && writer.file.as_ref().is_none_or(|file| file.check_whole().is_ok())
    }

    /// Flushes, ends the work of HDF5 and brings the rest to the disk as [`ArrayFile::prepare`] does. Nothing can be
    /// changed any more.
    ///
    /// # Errors
    /// `Io`, `Hdf5`. HDF5 has closed the file all the same.
    pub(crate) fn shut(&self) -> Result<()> {
        let settled = self.settle();
        let mut writer = self.writer.lock();
        writer.closed = true;
        *self.waiting.lock() = Waiting::default();
        // Closing writes once more: what HDF5 keeps of free space, and the superblock.
        let Some(file) = writer.file.take() else { return settled };
        file.close()?;
        settled?;
        self.decisive(&mut writer, |layer| layer.prepare())
    }

    /// Shuts the file and gives its lock up; a second call does nothing. Whoever still holds
    /// [`ArrayFile::source`] or a dataset reads `Closed` errors.
    ///
    /// # Errors
    /// `Io`, `Hdf5`. The file is closed all the same.
    pub(crate) fn close(&self) -> Result<()> {
        let closed = self.shut();
        self.layer.release();
        closed
    }

    fn decisive(&self, writer: &mut Writer, step: impl FnOnce(&dyn FileLayer) -> Result<()>) -> Result<()> {
        self.check_unbroken(writer)?;
        step(&*self.layer).inspect_err(|_| writer.broken = true)
    }

    pub(super) fn check_unbroken(&self, writer: &Writer) -> Result<()> {
        match writer.broken {
            false => Ok(()),
            true => Err(Error::Hdf5(format!(
                "an earlier commit of {} failed, so it is not written any more; open it again",
                self.layer.path().display()
            ))),
        }
    }
}
