//! From the stored bytes of a chunk to its elements: checksums and at most one compressor, undone. What a damaged header
//! claims is checked against the bytes that there are before room is made for it.

use super::checksum;
use super::half;
use super::metadata::REWRITE;
use crate::chunks::codecs::{room, CodecError, Codecs};
use crate::chunks::{blosc, ByteSource, ChunkSite, Filter, ObjectScratch, Part};
use crate::formats::ByteOrder;
use crate::{Error, Result};

/// Bytes of a CRC-32C.
const CHECKSUM: usize = 4;

/// A compressor may add so many bytes to a chunk that does not shrink, besides as many as the chunk has.
const SLACK: u64 = 1 << 16;

/// The codecs that end in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Chain {
    /// Checksums of the elements.
    pub(super) inner_checksums: usize,
    pub(super) compressor: Option<Compressor>,
    /// Checksums of what the compressor gave.
    pub(super) outer_checksums: usize,
    /// Elements are halves in this order, to be widened.
    pub(super) halves: Option<ByteOrder>,
}

/// What shrinks the bytes of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compressor {
    Zlib,
    Gzip,
    Zstd,
    Blosc,
    /// A block behind its length in four bytes.
    Lz4,
}

impl Compressor {
    /// A compressor of this name, as both versions call it.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name {
            "zlib" => Some(Compressor::Zlib),
            "gzip" => Some(Compressor::Gzip),
            "zstd" => Some(Compressor::Zstd),
            "blosc" => Some(Compressor::Blosc),
            "lz4" => Some(Compressor::Lz4),
            _ => None,
        }
    }

    /// The most bytes that `size` stored bytes may stand for.
    fn most(self, size: u64) -> u64 {
        let filter = match self {
            Compressor::Zlib | Compressor::Gzip => Filter::Deflate,
            Compressor::Zstd => Filter::Zstd,
            Compressor::Blosc => Filter::Blosc,
            Compressor::Lz4 => Filter::Lz4,
        };
        filter.max_expansion().map_or(u64::MAX, |times| times.saturating_mul(size))
    }

    /// Decompresses into `out`; the bytes that it gave.
    fn decode(self, raw: &[u8], out: &mut [u8], codecs: &mut Codecs) -> std::result::Result<usize, CodecError> {
        match self {
            Compressor::Zlib => codecs.zlib(raw, out),
            Compressor::Gzip => codecs.gzip(raw, out),
            Compressor::Zstd => codecs.zstd(raw, out),
            Compressor::Blosc => blosc::decode_into(raw, out, codecs),
            Compressor::Lz4 => match raw.split_first_chunk::<4>() {
                Some((len, block)) if u32::from_le_bytes(*len) as usize == out.len() => Codecs::lz4(block, out),
                Some((len, _)) => {
                    Err(CodecError::Damaged(format!("its LZ4 block claims {} bytes", u32::from_le_bytes(*len))))
                }
                None => Err(CodecError::Damaged("its LZ4 block is cut short".into())),
            },
        }
    }
}

impl Chain {
    /// Refuses a stored chunk that cannot decode to `len` bytes, and one of more bytes than are read.
    ///
    /// # Errors
    /// `Format`.
    pub(super) fn check(&self, size: u64, len: usize, site: &ChunkSite) -> Result<()> {
        let wanted = self.inner_len(len) as u64;
        let outer = (CHECKSUM * self.outer_checksums) as u64;
        // Blosc counts in 31 bits.
        let most = if self.compressor == Some(Compressor::Blosc) { i32::MAX as u64 } else { u32::MAX.into() };
        match self.compressor {
            None if size != wanted + outer => {
                Err(site.damaged(format_args!("{size} bytes are stored, {} are expected", wanted + outer)))
            }
            Some(compressor) if wanted > compressor.most(size) => {
                Err(site.damaged(format_args!("{size} stored bytes cannot expand to {wanted}")))
            }
            Some(_) if size > wanted.saturating_mul(2).saturating_add(SLACK) => {
                Err(site.damaged(format_args!("{size} stored bytes are too many for a chunk of {wanted}")))
            }
            _ if wanted > most => {
                Err(site.damaged(format_args!("a chunk of {wanted} bytes is too large; {most} are the most")))
            }
            _ => Ok(()),
        }
    }

    /// Reads and decodes a part of `source` into `out`, which has the length of the chunk in memory.
    ///
    /// # Errors
    /// `Format` when it does not decode to exactly that or a checksum differs, `Unsupported` for a frame of another
    /// kind, `Io`.
    pub(super) fn decode(
        &self,
        source: &dyn ByteSource,
        part: Part,
        out: &mut [u8],
        scratch: &mut ObjectScratch,
        site: &ChunkSite,
    ) -> Result<()> {
        self.check(part.len, out.len(), site)?;
        // As they are.
        if *self == Chain::default() {
            return source.read_at(part.offset, out);
        }
        let fail = |error| codec_error(error, site);
        let (codecs, raw, stage) = scratch.split();
        let raw = room(raw, part.len as usize).map_err(fail)?;
        source.read_at(part.offset, raw)?;
        let raw = unchecked(raw, self.outer_checksums, site)?;
        let Some(compressor) = self.compressor else { return self.finish(raw, out, site) };
        let wanted = self.inner_len(out.len());
        let direct = self.inner_checksums == 0 && self.halves.is_none();
        let target = if direct { &mut *out } else { room(stage, wanted).map_err(fail)? };
        let found = compressor.decode(raw, target, codecs).map_err(fail)?;
        if found != wanted {
            return Err(site.damaged(format_args!("it holds {found} bytes, {wanted} are expected")));
        }
        if direct {
            return Ok(());
        }
        self.finish(&stage[..wanted], out, site)
    }

    /// The bytes below the compressor for a chunk of `len` bytes in memory.
    fn inner_len(&self, len: usize) -> usize {
        let elements = if self.halves.is_some() { len / 2 } else { len };
        elements + CHECKSUM * self.inner_checksums
    }

    fn finish(&self, bytes: &[u8], out: &mut [u8], site: &ChunkSite) -> Result<()> {
        let bytes = unchecked(bytes, self.inner_checksums, site)?;
        match self.halves {
            Some(order) => half::widen(bytes, out, order),
            None => out.copy_from_slice(bytes),
        }
        Ok(())
    }
}

/// What `count` checksums at the end of these bytes vouch for.
fn unchecked<'a>(mut bytes: &'a [u8], count: usize, site: &ChunkSite) -> Result<&'a [u8]> {
    for _ in 0..count {
        bytes = checksum::verified(bytes).ok_or_else(|| site.damaged("its CRC-32C differs"))?;
    }
    Ok(bytes)
}

fn codec_error(error: CodecError, site: &ChunkSite) -> Error {
    match error {
        CodecError::Damaged(detail) => site.damaged(detail),
        CodecError::Unsupported(detail) => Error::Unsupported(format!(
            "{}: chunk {} of {} is stored with {detail}, which this library does not read; {REWRITE}",
            site.path.display(),
            site.chunk,
            site.what
        )),
    }
}
