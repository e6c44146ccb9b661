//! Bytes of a file that are held in memory, by pages, over those of another.

use super::layer::FileLayer;
use crate::Result;
use std::collections::BTreeMap;

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

/// The bytes of one page.
pub(super) type Page = Box<[u8; PAGE]>;

/// What differs from a base.
pub(super) struct Pages {
    pub(super) map: BTreeMap<u64, Page>,
    /// From here on the base counts as zeros: the end was here meanwhile.
    pub(super) zeros_from: u64,
}

impl Pages {
    /// No difference from a base of this length.
    pub(super) fn new(len: u64) -> Self {
        Pages { map: BTreeMap::new(), zeros_from: len }
    }

    /// A page as it is now.
    pub(super) fn load(&self, base: &dyn FileLayer, number: u64) -> Result<Page> {
        if let Some(page) = self.map.get(&number) {
            return Ok(page.clone());
        }
        let mut page = Box::new([0; PAGE]);
        self.read_base(base, number * PAGE as u64, &mut page[..])?;
        Ok(page)
    }

    pub(super) fn read(&self, base: &dyn FileLayer, offset: u64, mut buffer: &mut [u8]) -> Result<()> {
        let end = offset + buffer.len() as u64;
        let pages = offset / PAGE as u64..end.div_ceil(PAGE as u64);
        if end <= self.zeros_from && self.map.range(pages).next().is_none() {
            return base.read_at(offset, buffer);
        }
        for (number, within, count) in pieces(offset, buffer.len()) {
            let (part, rest) = buffer.split_at_mut(count);
            match self.map.get(&number) {
                Some(page) => part.copy_from_slice(&page[within..within + count]),
                None => self.read_base(base, number * PAGE as u64 + within as u64, part)?,
            }
            buffer = rest;
        }
        Ok(())
    }

    pub(super) fn write(&mut self, base: &dyn FileLayer, offset: u64, mut bytes: &[u8]) -> Result<()> {
        for (number, within, count) in pieces(offset, bytes.len()) {
            let (part, rest) = bytes.split_at(count);
            self.hold(base, number)?[within..within + count].copy_from_slice(part);
            bytes = rest;
        }
        Ok(())
    }

    /// Holds a page, and gives access to it.
    pub(super) fn hold(&mut self, base: &dyn FileLayer, number: u64) -> Result<&mut Page> {
        if !self.map.contains_key(&number) {
            let page = self.load(base, number)?;
            self.map.insert(number, page);
        }
        Ok(self.map.get_mut(&number).expect("inserted above"))
    }

    /// Zeros from `len` on.
    pub(super) fn cut(&mut self, len: u64) {
        self.zeros_from = self.zeros_from.min(len);
        self.map.split_off(&len.div_ceil(PAGE as u64));
        if let Some(last) = self.map.get_mut(&(len / PAGE as u64)) {
            last[(len % PAGE as u64) as usize..].fill(0);
        }
    }

    fn read_base(&self, base: &dyn FileLayer, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let there = self.zeros_from.saturating_sub(offset).min(buffer.len() as u64) as usize;
        if there > 0 {
            base.read_at(offset, &mut buffer[..there])?;
        }
        buffer[there..].fill(0);
        Ok(())
    }
}

/// The pages that `len` bytes at `offset` touch: the page, where in it, and how many bytes.
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = (at % PAGE as u64) as usize;
        let count = (len - done).min(PAGE - within);
        done += count;
        (count > 0).then_some((at / PAGE as u64, within, count))
    })
}
