//! The head of a block: its kind, and the lengths of the words of its codes, which are themselves coded.

use super::codes::Code;
use super::stream::Stream;
use super::tables::Tables;
use super::Fault;

/// The order in which the lengths of the words for lengths come.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The longest word for a length, in bits.
const LENGTH_BITS: usize = 7;

/// Symbols of both codes, and what the last repetition may exceed them by before that is found out.
const LENGTHS: usize = 288 + 32;
const LONGEST_RUN: usize = 138;

/// What follows the head of a block.
pub(super) enum Block {
    /// Symbols, with the tables made for them.
    Symbols,
    /// Bytes as they are, behind their length.
    Stored,
}

/// Reads the head of a block; whether it is the last one, and what follows.
pub(super) fn read(stream: &mut Stream, tables: &mut Tables) -> Result<(bool, Block), Fault> {
    stream.refill();
    let last = stream.take(1)? == 1;
    let block = match stream.take(2)? {
        0 => Block::Stored,
        1 => {
            tables.make_fixed();
            Block::Symbols
        }
        2 => {
            read_codes(stream, tables)?;
            Block::Symbols
        }
        _ => return Err(Fault::Damaged),
    };
    Ok((last, block))
}

fn read_codes(stream: &mut Stream, tables: &mut Tables) -> Result<(), Fault> {
    let symbols = 257 + stream.take(5)? as usize;
    let distances = 1 + stream.take(5)? as usize;
    let explicit = 4 + stream.take(4)? as usize;
    let mut lengths = [0u8; 19];
    for &at in &ORDER[..explicit] {
        stream.refill();
        lengths[at] = stream.take(3)? as u8;
    }
    let mut code = Code::new();
    if !code.assign(&lengths) {
        return Err(Fault::Damaged);
    }
    let mut table = [0; 1 << LENGTH_BITS];
    code.fill(&mut table, 0, |symbol, length| (symbol as u32) << 8 | length);
    let mut lengths = [0u8; LENGTHS + LONGEST_RUN];
    let (mut at, all) = (0, symbols + distances);
    while at < all {
        stream.refill();
        let entry = table[stream.peek() as usize % table.len()];
        stream.take(entry & 0xff)?;
        match entry >> 8 {
            length @ 0..=15 => {
                lengths[at] = length as u8;
                at += 1;
            }
            16 => {
                let previous = *lengths[..at].last().ok_or(Fault::Damaged)?;
                let run = 3 + stream.take(2)? as usize;
                lengths[at..at + run].fill(previous);
                at += run;
            }
            17 => at += 3 + stream.take(3)? as usize,
            _ => at += 11 + stream.take(7)? as usize,
        }
    }
    if at != all || !tables.make(&lengths[..symbols], &lengths[symbols..all]) {
        return Err(Fault::Damaged);
    }
    Ok(())
}
