//! One stream on its way, in safe code and exactly: never a bit past its end, never a byte past its room. The heads of
//! blocks, stored blocks, and the symbols near either end; those between are for [`fast`](super::fast).

use super::header::{self, Block};
use super::tables::{length_base, Tables, IS_END, KIND, LITERAL};
use super::{fast, Fault};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The head of a block.
    Head,
    /// Symbols.
    Symbols,
    /// Nothing: the stream was decoded.
    Done,
    /// Nothing: it cannot be.
    Failed(Fault),
}

/// A stream, and what was decoded of it.
pub(super) struct Stream<'a> {
    pub(super) from: &'a [u8],
    /// Bytes of `from` that were loaded into `bits`.
    pub(super) loaded: usize,
    /// The next bits, the lowest first; `count` of them, above which there may be those that follow.
    pub(super) bits: u64,
    pub(super) count: u32,
    pub(super) to: &'a mut [u8],
    /// Bytes of `to` that were decoded.
    pub(super) filled: usize,
    state: State,
    /// Whether this is the last block.
    last: bool,
    /// Whether literals are decoded one by one, rather than tokens.
    pub(super) by_literals: bool,
}

impl<'a> Stream<'a> {
    /// A stream of which nothing was decoded.
    pub(super) fn new(from: &'a [u8], to: &'a mut [u8]) -> Self {
        Stream {
            from,
            loaded: 0,
            bits: 0,
            count: 0,
            to,
            filled: 0,
            state: State::Head,
            last: false,
            by_literals: false,
        }
    }

    /// What is no stream.
    pub(super) fn damaged(to: &'a mut [u8]) -> Self {
        Stream { state: State::Failed(Fault::Damaged), ..Stream::new(&[], to) }
    }

    /// What comes next.
    pub(super) fn state(&self) -> State {
        self.state
    }

    /// Bytes of the stream that were decoded, the last one perhaps in part.
    pub(super) fn consumed(&self) -> usize {
        self.loaded - (self.count / 8) as usize
    }

    /// What was decoded.
    pub(super) fn decoded(&self) -> &[u8] {
        &self.to[..self.filled]
    }

    /// Decodes until there are symbols with enough room around them to be decoded fast; whether there are.
    pub(super) fn settle(&mut self, tables: &mut Tables) -> bool {
        loop {
            let step = match self.state {
                State::Head => self.begin_block(tables),
                State::Symbols if fast::has_room(self) => return true,
                State::Symbols => self.symbol(tables),
                State::Done | State::Failed(_) => return false,
            };
            if let Err(fault) = step {
                self.state = State::Failed(fault);
            }
        }
    }

    /// Decodes one symbol.
    pub(super) fn symbol(&mut self, tables: &Tables) -> Result<(), Fault> {
        self.refill();
        let entry = tables.symbol(self.bits).ok_or(Fault::Damaged)?;
        if entry & LITERAL != 0 {
            self.take(entry & 0xff)?;
            *self.to.get_mut(self.filled).ok_or(Fault::TooLong)? = (entry >> 16) as u8;
            self.filled += 1;
            return Ok(());
        }
        if entry & KIND == IS_END {
            self.take(entry & 0xff)?;
            self.end_block();
            return Ok(());
        }
        let length = length_base(entry) + self.take_extra(entry)?;
        self.refill();
        let entry = tables.distance(self.bits).ok_or(Fault::Damaged)?;
        let distance = tables.distance_base(entry) + self.take_extra(entry)?;
        let start = self.filled.checked_sub(distance).ok_or(Fault::Damaged)?;
        if length > self.to.len() - self.filled {
            return Err(Fault::TooLong);
        }
        for k in 0..length {
            self.to[self.filled + k] = self.to[start + k];
        }
        self.filled += length;
        Ok(())
    }

    /// [`symbol`](Self::symbol), for one that was found to lie too near the end.
    pub(super) fn careful_symbol(&mut self, tables: &Tables) {
        if let Err(fault) = self.symbol(tables) {
            self.fail(fault);
        }
    }

    /// The end of a block was decoded.
    pub(super) fn end_block(&mut self) {
        self.state = if self.last { State::Done } else { State::Head };
    }

    /// The stream turned out to be damaged.
    pub(super) fn fail(&mut self, fault: Fault) {
        self.state = State::Failed(fault);
    }

    /// Loads what bits there are, up to 56 or more.
    pub(super) fn refill(&mut self) {
        if let Some(bytes) = self.from[self.loaded..].first_chunk::<8>() {
            self.bits |= u64::from_le_bytes(*bytes) << self.count;
            self.loaded += ((63 - self.count) >> 3) as usize;
            self.count |= 56;
            return;
        }
        while self.count < 56 && self.loaded < self.from.len() {
            self.bits |= u64::from(self.from[self.loaded]) << self.count;
            self.loaded += 1;
            self.count += 8;
        }
    }

    /// The next bits; zeros past the end.
    pub(super) fn peek(&self) -> u64 {
        self.bits
    }

    /// Takes up to 32 of the loaded bits.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, Fault> {
        self.count = self.count.checked_sub(count).ok_or(Fault::Damaged)?;
        let taken = self.bits & ((1 << count) - 1);
        self.bits >>= count;
        Ok(taken as u32)
    }

    /// Takes the word of a length or a distance, and the bits behind it; their value.
    fn take_extra(&mut self, entry: u32) -> Result<usize, Fault> {
        let word = entry >> 16 & 0xff;
        self.take(word)?;
        Ok(self.take((entry & 0xff) - word)? as usize)
    }

    fn begin_block(&mut self, tables: &mut Tables) -> Result<(), Fault> {
        let (last, block) = header::read(self, tables)?;
        self.last = last;
        match block {
            Block::Symbols => {
                self.state = State::Symbols;
                self.by_literals = !tables.has_tokens;
                Ok(())
            }
            Block::Stored => self.copy_stored(),
        }
    }

    /// Copies a stored block, which starts with the next whole byte.
    fn copy_stored(&mut self) -> Result<(), Fault> {
        let start = self.consumed();
        (self.bits, self.count) = (0, 0);
        let rest = &self.from[start..];
        let (&[a, b, c, d], rest) = rest.split_first_chunk::<4>().ok_or(Fault::Damaged)?;
        let len = u16::from_le_bytes([a, b]);
        if len != !u16::from_le_bytes([c, d]) {
            return Err(Fault::Damaged);
        }
        let len = usize::from(len);
        let room = self.to.get_mut(self.filled..self.filled + len).ok_or(Fault::TooLong)?;
        room.copy_from_slice(rest.get(..len).ok_or(Fault::Damaged)?);
        self.filled += len;
        self.loaded = start + 4 + len;
        self.end_block();
        Ok(())
    }
}
