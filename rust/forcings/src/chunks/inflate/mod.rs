//! DEFLATE streams, decoded two at a time on one thread. Decoding one stream is a chain of table lookups, each of which
//! waits for the one before; the lookups of two streams overlap. Owns the decoder and the frames of zlib and gzip around a
//! stream; a stream that comes alone is left to libdeflate, which is as fast with one.

mod codes;
mod copy;
mod fast;
mod frame;
mod header;
mod stream;
mod tables;

pub(crate) use frame::Frame;

use stream::{State, Stream};
use tables::Tables;

/// Why a stream does not decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes contradict the format, or end too early.
    Damaged,
    /// The stream holds more than there is room for.
    TooLong,
}

/// What one stream is decoded from and to.
pub(crate) struct Job<'a> {
    /// The stream in its frame; bytes behind it are not looked at.
    pub(crate) from: &'a [u8],
    /// Room for what it holds.
    pub(crate) to: &'a mut [u8],
}

/// The decoding tables of two streams; reused from pair to pair.
pub(crate) struct Inflater {
    tables: Box<[Tables; 2]>,
}

/// The loops over the symbols between the ends of streams, for the processor or for any.
struct Loops {
    pair: fn((&mut Stream, &Tables), (&mut Stream, &Tables)),
    one: fn(&mut Stream, &Tables),
}

impl Inflater {
    /// Tables that are still empty.
    pub(crate) fn new() -> Self {
        Inflater { tables: Box::new([Tables::new(), Tables::new()]) }
    }

    /// Decodes two streams at once; for each the bytes that it holds. What a faulty one leaves in its room is unspecified.
    pub(crate) fn pair(&mut self, frame: Frame, jobs: [Job; 2]) -> [Result<usize, Fault>; 2] {
        self.decode(frame, jobs, Loops { pair: fast::pair, one: fast::one })
    }

    fn decode(&mut self, frame: Frame, jobs: [Job; 2], loops: Loops) -> [Result<usize, Fault>; 2] {
        let [first, second] = jobs;
        let [(mut a, rest_a), (mut b, rest_b)] = [first, second].map(|job| {
            let Job { from, to } = job;
            match frame.body(from) {
                Some(body) => (Stream::new(&from[body.clone()], to), &from[body.start..]),
                None => (Stream::damaged(to), from),
            }
        });
        let [tables_a, tables_b] = &mut *self.tables;
        while a.settle(tables_a) & b.settle(tables_b) {
            (loops.pair)((&mut a, tables_a), (&mut b, tables_b));
        }
        for (stream, tables) in [(&mut a, tables_a), (&mut b, tables_b)] {
            while stream.settle(tables) {
                (loops.one)(stream, tables);
            }
        }
        [(a, rest_a), (b, rest_b)].map(|(stream, rest)| match stream.state() {
            State::Failed(fault) => Err(fault),
            _ => frame.checked(&rest[stream.consumed()..], stream.decoded()),
        })
    }
}

#[cfg(test)]
mod tests;
