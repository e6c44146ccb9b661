//! The file of a rollback journal: a header, and the former content of pages. A record counts when everything before it
//! and its own checksum are whole: the first that is not ends the journal, since its page was not overwritten yet.

use super::super::{disk, pages::PAGE};
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"frcJrnl1";
const HEADER_BYTES: usize = 80;
/// Records begin in a sector of their own.
const FIRST_RECORD: u64 = 512;
const RECORD_HEAD: usize = 32;
/// Bytes of one record's image at most.
pub(super) const MAX_IMAGE: usize = 256 << 10;
/// A journal that is longer gives its space back when it is done.
const KEPT_BYTES: u64 = 4 << 20;

/// The state that a journal leads back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The length of the file in that state.
    pub(super) committed: u64,
    /// Its number. The changes lead to the next one.
    pub(super) generation: u64,
    /// Whose it is: the first half of a hash of the pair's name.
    pub(super) pair: [u8; 16],
    /// Different for every journal, so that records of an older one do not count.
    salt: u64,
}

impl Header {
    pub(super) fn new(committed: u64, generation: u64, pair: [u8; 16]) -> Self {
        // The hasher's keys come from the system's random numbers.
        let salt = std::hash::RandomState::new().build_hasher().finish();
        Header { committed, generation, pair, salt }
    }

    fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.committed.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.generation.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.pair);
        bytes[40..48].copy_from_slice(&self.salt.to_le_bytes());
        let sum: [u8; 32] = Sha256::digest(&bytes[..48]).into();
        bytes[48..].copy_from_slice(&sum);
        bytes
    }

    fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let header = Header {
            committed: number(&bytes[8..16]),
            generation: number(&bytes[16..24]),
            pair: bytes[24..40].try_into().ok()?,
            salt: number(&bytes[40..48]),
        };
        (header.encode() == *bytes).then_some(header)
    }
}

/// The journal of one open file.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: Option<File>,
    /// The header on the disk and the end of the records; `None` when there is nothing to undo.
    begun: Option<(Header, u64)>,
}

impl Log {
    pub(super) fn new(path: PathBuf) -> Self {
        Log { path, file: None, begun: None }
    }

    /// Whether opening the file now would undo changes.
    pub(super) fn is_hot(&self) -> bool {
        self.begun.is_some()
    }

    /// Writes the former content of a run of pages. `header` is asked for when nothing was written yet.
    pub(super) fn append(&mut self, header: impl FnOnce() -> Header, offset: u64, image: &[u8]) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(disk::open_or_create(&self.path)?);
            disk::sync_folder(disk::folder_of(&self.path))?;
        }
        let file = self.file.as_ref().expect("opened above");
        let (header, end) = match self.begun {
            Some(begun) => begun,
            None => {
                let header = header();
                disk::write_at(file, &self.path, 0, &header.encode())?;
                *self.begun.insert((header, FIRST_RECORD))
            }
        };
        let mut record = Vec::with_capacity(RECORD_HEAD + image.len());
        record.extend(offset.to_le_bytes());
        record.extend((image.len() as u64).to_le_bytes());
        record.extend(checksum(&header, offset, image));
        record.extend(image);
        disk::write_at(file, &self.path, end, &record)?;
        self.begun = Some((header, end + record.len() as u64));
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| disk::sync(file, &self.path))
    }

    /// From here on there is nothing to undo.
    pub(super) fn invalidate(&mut self) -> Result<()> {
        let (Some(file), Some((_, end))) = (&self.file, self.begun) else { return Ok(()) };
        match end > KEPT_BYTES {
            true => disk::set_len(file, &self.path, 0)?,
            false => disk::write_at(file, &self.path, 0, &[0; HEADER_BYTES])?,
        }
        self.begun = None;
        Ok(())
    }

    /// Removes the file, if there is nothing to undo.
    pub(super) fn remove(&mut self) -> Result<()> {
        if self.is_hot() || self.file.is_none() {
            return Ok(());
        }
        self.file = None;
        disk::remove(&self.path)
    }
}

/// The header of the journal at `path`, if there is one that counts.
///
/// # Errors
/// `Io`.
pub(crate) fn header(path: &Path) -> Result<Option<Header>> {
    match File::open(path) {
        Ok(file) => read_header(&file, path),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io(path, e)),
    }
}

fn read_header(file: &File, path: &Path) -> Result<Option<Header>> {
    let mut bytes = [0; HEADER_BYTES];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok(Header::decode(&bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(Error::io(path, e)),
    }
}

/// Hands every image that counts to `take`, with its offset.
///
/// # Errors
/// `Io`; those of `take`.
pub(super) fn images(path: &Path, mut take: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
    let failed = |e| Error::io(path, e);
    let file = File::open(path).map_err(failed)?;
    let Some(header) = read_header(&file, path)? else { return Ok(()) };
    let len = file.metadata().map_err(failed)?.len();
    let (mut at, mut image) = (FIRST_RECORD, Vec::new());
    while at + RECORD_HEAD as u64 <= len {
        let mut head = [0; RECORD_HEAD];
        file.read_exact_at(&mut head, at).map_err(failed)?;
        let (offset, size) = (number(&head[..8]), number(&head[8..16]));
        let from = at + RECORD_HEAD as u64;
        let fits = offset % PAGE as u64 == 0 && offset.checked_add(size).is_some_and(|end| end <= header.committed);
        if size == 0 || size > MAX_IMAGE as u64 || size > len - from || !fits {
            break;
        }
        image.resize(size as usize, 0);
        file.read_exact_at(&mut image, from).map_err(failed)?;
        if head[16..] != checksum(&header, offset, &image) {
            break;
        }
        take(offset, &image)?;
        at = from + size;
    }
    Ok(())
}

fn checksum(header: &Header, offset: u64, image: &[u8]) -> [u8; 16] {
    let mut sha = Sha256::new();
    sha.update(header.salt.to_le_bytes());
    sha.update(offset.to_le_bytes());
    sha.update(image);
    let digest: [u8; 32] = sha.finalize().into();
    let mut sum = [0; 16];
    sum.copy_from_slice(&digest[..16]);
    sum
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
}
