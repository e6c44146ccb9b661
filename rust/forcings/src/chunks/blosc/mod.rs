//! Frames of Blosc 1 (the HDF5 filter 32001 and a codec of Zarr): a header, the places of the blocks, and blocks that are
//! compressed one by one, after their bytes or bits were shuffled. Every size in a frame is checked before it is used.

mod bitshuffle;
mod blosclz;

#[cfg(test)]
mod tests;

use super::codecs::{room, CodecError, Codecs, Decoded};
use super::shuffle::unshuffle;
use bitshuffle::bit_unshuffle;

/// Bytes of the header; the places of the blocks follow.
const HEADER: usize = 16;

/// The newest format of Blosc 1. Blosc 2 writes higher numbers and longer headers.
const FORMAT: u8 = 2;

/// A block is stored as one stream for each byte of an element where those are few and streams are this long.
const MAX_SPLITS: usize = 16;
const MIN_STREAM: usize = 128;

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    /// Bytes of an element, for the shuffles.
    width: usize,
    /// Bytes that the frame decodes to.
    len: usize,
    /// Bytes of a block, but for a shorter last one.
    block: usize,
    shuffle: Shuffle,
    codec: Codec,
    /// Whether the bytes follow as they are.
    stored: bool,
    /// Whether blocks are never split into streams.
    whole_blocks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shuffle {
    None,
    Bytes,
    Bits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

/// Decodes a frame into `out`, as far as it goes; returns the bytes that it holds.
pub(crate) fn decode_into(frame: &[u8], out: &mut [u8], codecs: &mut Codecs) -> Decoded<usize> {
    let header = Header::parse(frame)?;
    let room = out.len();
    let Some(out) = out.get_mut(..header.len) else {
        return Err(CodecError::damaged(format!("its Blosc frame holds {} bytes, {room} are expected", header.len)));
    };
    if header.stored {
        let Some(bytes) = frame[HEADER..].get(..out.len()) else {
            return Err(CodecError::damaged("its Blosc frame is cut short"));
        };
        out.copy_from_slice(bytes);
        return Ok(out.len());
    }
    if header.len == 0 {
        return Ok(0);
    }
    let count = header.len.div_ceil(header.block);
    // A block has a place of four bytes, and a stream with a length of four.
    if frame.len() < HEADER + 8 * count {
        return Err(CodecError::damaged(format!("{} bytes are too few for {count} blocks of Blosc", frame.len())));
    }
    let mut scratch = std::mem::take(&mut codecs.block);
    let mut decode = || {
        for (i, block) in out.chunks_mut(header.block).enumerate() {
            let place = number(frame, HEADER + 4 * i).filter(|place| *place >= HEADER + 4 * count);
            let Some(streams) = place.and_then(|place| frame.get(place..)) else {
                return Err(CodecError::damaged(format!("block {i} of its Blosc frame lies outside of it")));
            };
            header.block(streams, block, &mut scratch, codecs)?;
        }
        Ok(header.len)
    };
    let result = decode();
    codecs.block = scratch;
    result
}

impl Header {
    fn parse(frame: &[u8]) -> Decoded<Self> {
        let Some(([version, _, flags, width], sizes)) = frame.split_first_chunk::<4>() else {
            return Err(CodecError::damaged("its Blosc frame has no header"));
        };
        let (Some(len), Some(block), Some(stored)) = (number(sizes, 0), number(sizes, 4), number(sizes, 8)) else {
            return Err(CodecError::damaged("its Blosc frame has no header"));
        };
        if *version == 0 {
            return Err(CodecError::damaged("its Blosc frame is of format 0, which there is not"));
        }
        if *version > FORMAT {
            return Err(CodecError::Unsupported(format!("a Blosc frame of format {version} (Blosc 2)")));
        }
        if flags & 0x08 != 0 {
            return Err(CodecError::Unsupported("an extended Blosc frame".into()));
        }
        if stored != frame.len() {
            return Err(CodecError::damaged(format!(
                "its Blosc frame has {} bytes, its header says {stored}",
                frame.len()
            )));
        }
        if *width == 0 || (len > 0 && (block == 0 || block > len)) {
            return Err(CodecError::damaged(format!(
                "its Blosc frame has elements of {width} bytes and blocks of {block} bytes for {len} in all"
            )));
        }
        let codec = match flags >> 5 {
            0 => Codec::BloscLz,
            1 => Codec::Lz4,
            2 => Codec::Snappy,
            3 => Codec::Zlib,
            4 => Codec::Zstd,
            other => return Err(CodecError::Unsupported(format!("compressor {other} of Blosc"))),
        };
        let shuffle = match flags & 0x05 {
            0 => Shuffle::None,
            1 => Shuffle::Bytes,
            4 => Shuffle::Bits,
            _ => return Err(CodecError::damaged("its Blosc frame is shuffled by bytes and by bits")),
        };
        Ok(Header {
            width: usize::from(*width),
            len,
            block,
            shuffle,
            codec,
            stored: flags & 0x02 != 0,
            whole_blocks: flags & 0x10 != 0,
        })
    }

    /// Decodes one block from its streams.
    fn block(&self, streams: &[u8], out: &mut [u8], scratch: &mut Vec<u8>, codecs: &mut Codecs) -> Decoded<()> {
        match self.shuffle {
            Shuffle::Bytes if self.width > 1 => {
                let planes = room(scratch, out.len())?;
                self.streams(streams, planes, codecs)?;
                unshuffle(planes, self.width, out);
                Ok(())
            }
            Shuffle::Bits if out.len() >= self.width => {
                let planes = room(scratch, out.len())?;
                self.streams(streams, planes, codecs)?;
                bit_unshuffle(planes, self.width, out);
                Ok(())
            }
            _ => self.streams(streams, out, codecs),
        }
    }

    fn streams(&self, mut streams: &[u8], out: &mut [u8], codecs: &mut Codecs) -> Decoded<()> {
        let damaged = || CodecError::damaged("a stream of its Blosc frame is damaged");
        let split = !self.whole_blocks
            && self.width <= MAX_SPLITS
            && self.block / self.width >= MIN_STREAM
            && out.len() == self.block;
        let count = if split { self.width } else { 1 };
        if out.len() % count != 0 {
            return Err(damaged());
        }
        for part in out.chunks_mut(out.len() / count) {
            let size = number(streams, 0).ok_or_else(damaged)?;
            let stream = streams[4..].get(..size).ok_or_else(damaged)?;
            streams = &streams[4 + size..];
            // What did not get smaller is kept as it is.
            if size == part.len() {
                part.copy_from_slice(stream);
                continue;
            }
            let found = match self.codec {
                Codec::BloscLz => blosclz::decode(stream, part).ok_or_else(damaged)?,
                Codec::Lz4 => Codecs::lz4(stream, part)?,
                Codec::Snappy => Codecs::snappy(stream, part)?,
                Codec::Zlib => codecs.zlib(stream, part)?,
                Codec::Zstd => codecs.zstd(stream, part)?,
            };
            if found != part.len() {
                return Err(damaged());
            }
        }
        Ok(())
    }
}

/// The signed 32-bit number at `at`; none is negative.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(i32::from_le_bytes(bytes.try_into().ok()?)).ok()
}
