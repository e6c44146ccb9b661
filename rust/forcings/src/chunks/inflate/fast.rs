//! The symbols between the ends of a stream: without a check for either end at each, of two streams by turns. Each step
//! first loads 56 bits of a stream, then decodes two tokens, or five literals where matches are rare.
//!
//! The invariants of all `unsafe` code here: a [`Cursor`] is made by [`Cursor::new`] of a stream that [`has_room`], and a
//! step begins only where `Limits` still hold, that is with `INPUT` bytes to load and `OUTPUT` bytes to fill. A step and the
//! symbol that ends it load 16 bytes at most; tokens fill 32 at most, literals 5; a match is not copied without room for
//! it. Entries come from tables made by [`Tables::make`], which have words of 15 bits at most with 13 bits behind them.

use super::copy::{copy16, repeat, OVERSHOOT};
use super::stream::Stream;
use super::tables::{
    length_base, Tables, DISTANCE_BITS, IS_END, IS_LENGTH, IS_LONG, KIND, LITERAL, MAX_STEP, STOP, TOKEN_BITS,
};
use super::Fault;

/// Bytes that a step needs before the end of the stream, and before the end of its room.
const INPUT: usize = 32;
const OUTPUT: usize = 2 * MAX_STEP + 16;

/// After so many decoded bytes it is asked anew whether literals are decoded one by one.
const WINDOW: usize = 1024;

/// Below so many stored bytes of 16 decoded ones they are not, above so many they are.
const FEW: usize = 10;
const MANY: usize = 13;

/// Whether symbols of the stream can be decoded fast.
pub(super) fn has_room(stream: &Stream) -> bool {
    stream.from.len() - stream.loaded > INPUT && stream.to.len() - stream.filled > OUTPUT
}

/// Decodes symbols of two streams that have room, until one of them has not, or is done with its block.
pub(super) fn pair(first: (&mut Stream, &Tables), second: (&mut Stream, &Tables)) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has BMI2.
        return unsafe { pair_bmi2(first, second) };
    }
    pair_by::<false>(first, second);
}

/// Decodes symbols of a stream that has room, until it has not, or its block is done.
pub(super) fn one(stream: &mut Stream, tables: &Tables) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has BMI2.
        return unsafe { one_bmi2(stream, tables) };
    }
    one_by::<false>(stream, tables);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn pair_bmi2(first: (&mut Stream, &Tables), second: (&mut Stream, &Tables)) {
    pair_by::<true>(first, second);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn one_bmi2(stream: &mut Stream, tables: &Tables) {
    one_by::<true>(stream, tables);
}

/// [`pair`], with or without BMI2.
#[inline(always)]
pub(super) fn pair_by<const BMI2: bool>(first: (&mut Stream, &Tables), second: (&mut Stream, &Tables)) {
    match (first.0.by_literals, second.0.by_literals) {
        (false, false) => run_pair::<BMI2, false, false>(first, second),
        (false, true) => run_pair::<BMI2, false, true>(first, second),
        (true, false) => run_pair::<BMI2, true, false>(first, second),
        (true, true) => run_pair::<BMI2, true, true>(first, second),
    }
}

/// [`one`], with or without BMI2.
#[inline(always)]
pub(super) fn one_by<const BMI2: bool>(stream: &mut Stream, tables: &Tables) {
    if stream.by_literals {
        run_one::<BMI2, true>(stream, tables);
    } else {
        run_one::<BMI2, false>(stream, tables);
    }
}

#[inline(always)]
fn run_pair<const BMI2: bool, const A: bool, const B: bool>(
    (a, tables_a): (&mut Stream, &Tables),
    (b, tables_b): (&mut Stream, &Tables),
) {
    let (mut limits_a, mut limits_b) = (Limits::new(a), Limits::new(b));
    let (mut cursor_a, mut cursor_b) = (Cursor::new(a), Cursor::new(b));
    let (mut end_a, mut end_b) = (Outcome::Going, Outcome::Going);
    'windows: loop {
        while limits_a.hold(&cursor_a) && limits_b.hold(&cursor_b) {
            // SAFETY: the limits hold, so a step has room in both.
            unsafe {
                let stopped_a = cursor_a.step::<BMI2, A>(tables_a, limits_a.start);
                let stopped_b = cursor_b.step::<BMI2, B>(tables_b, limits_b.start);
                if stopped_a != 0 {
                    end_a = cursor_a.symbol::<BMI2>(tables_a, &limits_a, stopped_a);
                    if end_a != Outcome::Going {
                        break 'windows;
                    }
                }
                if stopped_b != 0 {
                    end_b = cursor_b.symbol::<BMI2>(tables_b, &limits_b, stopped_b);
                    if end_b != Outcome::Going {
                        break 'windows;
                    }
                }
            }
        }
        let (after_a, after_b) =
            (limits_a.next_window::<A>(cursor_a, tables_a), limits_b.next_window::<B>(cursor_b, tables_b));
        if after_a != After::Same || after_b != After::Same {
            a.by_literals ^= after_a == After::Other;
            b.by_literals ^= after_b == After::Other;
            break;
        }
    }
    cursor_a.put_back(a);
    cursor_b.put_back(b);
    end_a.settle(a, tables_a);
    end_b.settle(b, tables_b);
}

#[inline(always)]
fn run_one<const BMI2: bool, const L: bool>(stream: &mut Stream, tables: &Tables) {
    let mut limits = Limits::new(stream);
    let mut cursor = Cursor::new(stream);
    let mut end = Outcome::Going;
    'windows: loop {
        while limits.hold(&cursor) {
            // SAFETY: the limits hold, so a step has room.
            unsafe {
                let stopped = cursor.step::<BMI2, L>(tables, limits.start);
                if stopped != 0 {
                    end = cursor.symbol::<BMI2>(tables, &limits, stopped);
                    if end != Outcome::Going {
                        break 'windows;
                    }
                }
            }
        }
        let after = limits.next_window::<L>(cursor, tables);
        if after != After::Same {
            stream.by_literals ^= after == After::Other;
            break;
        }
    }
    cursor.put_back(stream);
    end.settle(stream, tables);
}

/// How a symbol ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It was decoded.
    Going,
    /// It was the end of the block.
    End,
    /// It was left: its copy would come too near the end of the room.
    Near,
    /// It is no symbol.
    Damaged,
}

impl Outcome {
    fn settle(self, stream: &mut Stream, tables: &Tables) {
        match self {
            Outcome::Going => {}
            Outcome::End => stream.end_block(),
            Outcome::Near => stream.careful_symbol(tables),
            Outcome::Damaged => stream.fail(Fault::Damaged),
        }
    }
}

/// What comes after a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// More of the same.
    Same,
    /// The other way of decoding: it fits better.
    Other,
    /// Nothing: the room is used up.
    Nothing,
}

/// How far the steps may go.
struct Limits {
    start: *mut u8,
    end: *mut u8,
    /// Up to where a step may begin in the stream, and in the room or the window, which ends sooner.
    last_input: *const u8,
    last_output: *mut u8,
    /// Where the window began.
    window: (*const u8, *mut u8),
}

impl Limits {
    /// Those of a stream that has room, and of its first window.
    #[inline(always)]
    fn new(stream: &mut Stream) -> Self {
        let cursor = Cursor::new(stream);
        let (from, to) = (stream.from.as_ptr_range(), stream.to.as_mut_ptr_range());
        let mut limits = Limits {
            start: to.start,
            end: to.end,
            last_input: from.end.wrapping_sub(INPUT),
            last_output: to.start,
            window: (cursor.next, cursor.out),
        };
        limits.begin_window(&cursor);
        limits
    }

    /// Whether there is room for a step, and the window goes on.
    #[inline(always)]
    fn hold(&self, cursor: &Cursor) -> bool {
        cursor.next < self.last_input && cursor.out < self.last_output
    }

    /// Begins the next window, if the last one is over. By value, so that the cursors of the loops stay in registers.
    #[inline(never)]
    fn next_window<const L: bool>(&mut self, cursor: Cursor, tables: &Tables) -> After {
        if cursor.next >= self.last_input || self.end as usize - cursor.out as usize <= OUTPUT {
            return After::Nothing;
        }
        if cursor.out < self.last_output {
            return After::Same;
        }
        let (next, out) = self.window;
        let (stored, decoded) = (cursor.next as usize - next as usize, cursor.out as usize - out as usize);
        self.begin_window(&cursor);
        let is_other = if L { 16 * stored < FEW * decoded } else { 16 * stored > MANY * decoded };
        if is_other && tables.has_tokens {
            After::Other
        } else {
            After::Same
        }
    }

    #[inline(always)]
    fn begin_window(&mut self, cursor: &Cursor) {
        self.window = (cursor.next, cursor.out);
        self.last_output = cursor.out.wrapping_add(WINDOW).min(self.end.wrapping_sub(OUTPUT));
    }
}

/// Where a stream is: the next byte to load, the loaded bits, the next byte to fill.
#[derive(Clone, Copy)]
struct Cursor {
    next: *const u8,
    bits: u64,
    /// In its low 6 bits how many of the bits count. Whole entries are subtracted from it.
    count: u64,
    out: *mut u8,
}

impl Cursor {
    #[inline(always)]
    fn new(stream: &mut Stream) -> Self {
        Cursor {
            next: stream.from.as_ptr().wrapping_add(stream.loaded),
            bits: stream.bits,
            count: stream.count.into(),
            out: stream.to.as_mut_ptr().wrapping_add(stream.filled),
        }
    }

    #[inline(always)]
    fn put_back(self, stream: &mut Stream) {
        stream.loaded = self.next as usize - stream.from.as_ptr() as usize;
        stream.filled = self.out as usize - stream.to.as_ptr() as usize;
        (stream.bits, stream.count) = (self.bits, self.count as u32 & 63);
    }

    /// Decodes tokens, or literals if `L`; the entry that stopped it, or 0. `start` is the start of the decoded bytes.
    ///
    /// # Safety
    /// [`Limits::hold`] for this cursor.
    #[inline(always)]
    unsafe fn step<const BMI2: bool, const L: bool>(&mut self, tables: &Tables, start: *mut u8) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            self.refill();
            if L {
                return self.literals(tables);
            }
            match self.token::<BMI2>(tables, start) {
                0 => self.token::<BMI2>(tables, start),
                stopped => stopped,
            }
        }
    }

    /// Decodes up to five literals, of 11 bits at most each.
    ///
    /// # Safety
    /// At least 5 bytes can be filled.
    #[inline(always)]
    unsafe fn literals(&mut self, tables: &Tables) -> u32 {
        for _ in 0..5 {
            let entry = tables.symbols[self.bits as usize % (1 << TOKEN_BITS)];
            if entry & LITERAL == 0 {
                return entry;
            }
            self.consume(entry);
            // SAFETY: the caller's promise.
            unsafe {
                *self.out = (entry >> 16) as u8;
                self.out = self.out.add(1);
            }
        }
        0
    }

    /// Decodes a token, of 11 bits and 13 behind them at most. Literals and matches in one way, so that nothing has to be
    /// guessed: a copy of 16 bytes, for literals from the entry itself.
    ///
    /// # Safety
    /// At least 16 bytes can be filled.
    #[inline(always)]
    unsafe fn token<const BMI2: bool>(&mut self, tables: &Tables, start: *mut u8) -> u32 {
        let at = self.bits as usize % (1 << TOKEN_BITS);
        let entry = tables.tokens[at];
        let base = tables.distance_bases[(entry >> 24) as usize];
        let matched = self.out.wrapping_sub(usize::from(base) + self.extra::<BMI2>(entry));
        let bytes = (entry >> 8) as u8;
        let literals = tables.tokens.as_ptr().wrapping_add(at).cast::<u8>().wrapping_add(2);
        let from = if bytes < 3 { literals } else { matched.cast_const() };
        if entry & STOP != 0 {
            return entry;
        }
        // Of literals this is the place that bits make up which mean nothing, near the start perhaps before it.
        if matched < start {
            return IS_LONG;
        }
        // SAFETY: the table has bytes enough behind every entry; a match lies between the start and `out`; the caller's
        // promise for what is written.
        unsafe {
            copy16::<1>(from, self.out);
            self.out = self.out.add(usize::from(bytes));
        }
        self.consume(entry);
        0
    }

    /// Decodes the symbol that stopped a step with this entry.
    ///
    /// # Safety
    /// At least 8 bytes can be loaded.
    #[inline(always)]
    unsafe fn symbol<const BMI2: bool>(&mut self, tables: &Tables, limits: &Limits, entry: u32) -> Outcome {
        // SAFETY: the caller's promise.
        unsafe { self.refill() };
        let before = *self;
        if entry & KIND != IS_LENGTH {
            return self.rare_symbol(tables, limits);
        }
        let length = length_base(entry) + self.extra::<BMI2>(entry);
        self.consume(entry);
        let entry = tables.distances[self.bits as usize % (1 << DISTANCE_BITS)];
        if entry & STOP != 0 {
            *self = before;
            return self.rare_symbol(tables, limits);
        }
        let distance = tables.distance_base(entry) + self.extra::<BMI2>(entry);
        self.consume(entry);
        let outcome = self.copy(limits, distance, length);
        if outcome == Outcome::Near {
            *self = before;
        }
        outcome
    }

    /// Decodes a symbol with 48 loaded bits, whatever it is; by value and out of line, so that the cursors of the loops stay
    /// in registers.
    #[inline(always)]
    fn rare_symbol(&mut self, tables: &Tables, limits: &Limits) -> Outcome {
        let (cursor, outcome) = decode_rare(*self, tables, limits);
        *self = cursor;
        outcome
    }

    /// Copies a match, if it lies within the decoded bytes and there is room.
    #[inline(always)]
    fn copy(&mut self, limits: &Limits, distance: usize, length: usize) -> Outcome {
        if distance > self.out as usize - limits.start as usize {
            return Outcome::Damaged;
        }
        if limits.end as usize - (self.out as usize) < length + OVERSHOOT {
            return Outcome::Near;
        }
        // SAFETY: both were just checked; the decoded bytes and the room are one slice.
        unsafe {
            repeat(self.out, distance, length);
            self.out = self.out.add(length);
        }
        Outcome::Going
    }

    /// Loads bytes up to 56 bits or more.
    ///
    /// # Safety
    /// At least 8 bytes can be loaded.
    #[inline(always)]
    unsafe fn refill(&mut self) {
        // SAFETY: the caller's promise; the cursor moves 7 bytes at most.
        unsafe {
            let loaded = u64::from_le(self.next.cast::<u64>().read_unaligned());
            self.bits |= loaded << (self.count & 63);
            self.next = self.next.add(((!self.count & 63) >> 3) as usize);
        }
        self.count |= 56;
    }

    /// The bits behind the word of an entry.
    #[inline(always)]
    fn extra<const BMI2: bool>(&self, entry: u32) -> usize {
        (low::<BMI2>(self.bits, entry) >> (entry >> 16 & 63)) as usize
    }

    /// Takes the bits of an entry.
    #[inline(always)]
    fn consume(&mut self, entry: u32) {
        self.bits >>= entry & 63;
        self.count = self.count.wrapping_sub(entry.into());
    }
}

/// A symbol of any kind; its 48 bits at most are loaded.
#[cold]
#[inline(never)]
fn decode_rare(mut cursor: Cursor, tables: &Tables, limits: &Limits) -> (Cursor, Outcome) {
    let before = cursor;
    let Some(entry) = tables.symbol(cursor.bits) else { return (cursor, Outcome::Damaged) };
    if entry & LITERAL != 0 {
        if cursor.out >= limits.end {
            return (before, Outcome::Near);
        }
        cursor.consume(entry);
        // SAFETY: there is a byte before the end.
        unsafe {
            *cursor.out = (entry >> 16) as u8;
            cursor.out = cursor.out.add(1);
        }
        return (cursor, Outcome::Going);
    }
    let extra = cursor.extra::<false>(entry);
    cursor.consume(entry);
    if entry & KIND == IS_END {
        return (cursor, Outcome::End);
    }
    let length = length_base(entry) + extra;
    let Some(entry) = tables.distance(cursor.bits) else { return (cursor, Outcome::Damaged) };
    let distance = tables.distance_base(entry) + cursor.extra::<false>(entry);
    cursor.consume(entry);
    match cursor.copy(limits, distance, length) {
        Outcome::Near => (before, Outcome::Near),
        outcome => (cursor, outcome),
    }
}

/// The low bits, as many as the low byte of `count` says, which is below 64.
#[inline(always)]
fn low<const BMI2: bool>(bits: u64, count: u32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if BMI2 {
        // SAFETY: only what is compiled for BMI2 asks for it.
        return unsafe { std::arch::x86_64::_bzhi_u64(bits, count) };
    }
    bits & !(u64::MAX << (count & 63))
}
