//! The general compressors behind one face: whole blocks from slice to slice, never past the end of the target. Knows
//! their streams, not the frames of HDF5 or Blosc around them.

use super::inflate::{Fault, Frame, Inflater, Job};
use libdeflater::{DecompressionError, Decompressor};
use std::fmt;

/// Why bytes do not decode; who calls adds where they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CodecError {
    /// The bytes contradict their format.
    Damaged(String),
    /// The format has more to it than is read here.
    Unsupported(String),
}

/// The result of a codec.
pub(crate) type Decoded<T> = std::result::Result<T, CodecError>;

impl CodecError {
    /// A [`CodecError::Damaged`].
    pub(crate) fn damaged(detail: impl Into<String>) -> Self {
        CodecError::Damaged(detail.into())
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (CodecError::Damaged(detail) | CodecError::Unsupported(detail)) = self;
        f.write_str(detail)
    }
}

/// The state of the decoders, reused from block to block.
pub(crate) struct Codecs {
    zlib: Decompressor,
    /// For two streams at once; made for the first two.
    inflater: Option<Inflater>,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    /// Room for a block whose bytes are still to be reordered.
    pub(super) block: Vec<u8>,
}

impl Codecs {
    /// Decoders that have read nothing yet.
    pub(crate) fn new() -> Self {
        Codecs { zlib: Decompressor::new(), inflater: None, zstd: None, block: Vec::new() }
    }

    /// A zlib stream; returns the bytes that it holds.
    pub(crate) fn zlib(&mut self, from: &[u8], to: &mut [u8]) -> Decoded<usize> {
        let found = self.zlib.zlib_decompress(from, to);
        found.map_err(|e| inflate_error(Frame::Zlib, fault(e), to.len()))
    }

    /// A gzip member; returns the bytes that it holds.
    pub(crate) fn gzip(&mut self, from: &[u8], to: &mut [u8]) -> Decoded<usize> {
        let found = self.zlib.gzip_decompress(from, to);
        found.map_err(|e| inflate_error(Frame::Gzip, fault(e), to.len()))
    }

    /// Two streams of zlib or gzip, decoded at once; for each the bytes that it holds.
    pub(crate) fn inflate_pair(&mut self, frame: Frame, jobs: [Job; 2]) -> [Decoded<usize>; 2] {
        let [a, b] = jobs.each_ref().map(|job| job.to.len());
        let [found_a, found_b] = self.inflater.get_or_insert_with(Inflater::new).pair(frame, jobs);
        [(found_a, a), (found_b, b)].map(|(found, len)| found.map_err(|fault| inflate_error(frame, fault, len)))
    }

    /// Zstandard frames; returns the bytes that they hold.
    pub(crate) fn zstd(&mut self, from: &[u8], to: &mut [u8]) -> Decoded<usize> {
        let decoder = match &mut self.zstd {
            Some(decoder) => decoder,
            none => {
                let made = zstd::bulk::Decompressor::new();
                none.insert(made.map_err(|e| CodecError::damaged(format!("no memory for a Zstandard decoder: {e}")))?)
            }
        };
        decoder
            .decompress_to_buffer(from, to)
            .map_err(|e| CodecError::damaged(format!("its Zstandard frame is damaged or too long: {e}")))
    }

    /// A raw LZ4 block, without a frame; returns the bytes that it holds.
    pub(crate) fn lz4(from: &[u8], to: &mut [u8]) -> Decoded<usize> {
        lz4_flex::block::decompress_into(from, to)
            .map_err(|e| CodecError::damaged(format!("its LZ4 block is damaged or too long: {e}")))
    }

    /// A raw Snappy block; returns the bytes that it holds.
    pub(crate) fn snappy(from: &[u8], to: &mut [u8]) -> Decoded<usize> {
        snap::raw::Decoder::new()
            .decompress(from, to)
            .map_err(|e| CodecError::damaged(format!("its Snappy block is damaged or too long: {e}")))
    }
}

fn fault(error: DecompressionError) -> Fault {
    match error {
        DecompressionError::InsufficientSpace => Fault::TooLong,
        DecompressionError::BadData => Fault::Damaged,
    }
}

/// What is wrong with a stream that should fill `len` bytes.
fn inflate_error(frame: Frame, fault: Fault, len: usize) -> CodecError {
    match (fault, frame) {
        (Fault::TooLong, _) => {
            CodecError::damaged(format!("it inflates to more than the {len} bytes that are expected"))
        }
        (Fault::Damaged, Frame::Zlib) => CodecError::damaged("its DEFLATE stream is damaged"),
        (Fault::Damaged, Frame::Gzip) => CodecError::damaged("its gzip stream is damaged"),
    }
}

/// The first `len` bytes of a buffer that only grows, so that it is not cleared for every block. What it held is gone
/// when it grows: fresh zeros take no memory before they are written.
pub(crate) fn room(buffer: &mut Vec<u8>, len: usize) -> Decoded<&mut [u8]> {
    if buffer.len() < len {
        *buffer = Vec::new();
        if buffer.try_reserve_exact(len).is_err() {
            return Err(CodecError::damaged(format!("no memory for {len} bytes")));
        }
        // An allocation that nobody sees would be optimized away, and with it the question whether there is room.
        drop(std::hint::black_box(std::mem::take(buffer)));
        *buffer = vec![0; len];
    }
    Ok(&mut buffer[..len])
}
