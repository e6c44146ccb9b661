//! What the bits of a block mean: tables that are looked up with the next bits of its stream. An entry of `symbols` stands
//! for one symbol; an entry of `tokens` for two literals, or for a match with its length and the word of its distance.

use super::codes::Code;

/// The bits that the tables are looked up with.
pub(super) const TOKEN_BITS: u32 = 11;
pub(super) const DISTANCE_BITS: u32 = 9;

/// The longest match of a token, whose copy is one store.
pub(super) const MAX_STEP: usize = 16;

/// Entries behind the last one, so that `MAX_STEP` bytes can be read from the middle of any.
const PADDING: usize = 4;

/// The symbols of a block: 256 literals, its end, the lengths.
const END: usize = 256;

/// The fields of an entry. The low byte counts the bits that it takes, those of a distance or length behind its word
/// included. The second byte counts the bytes that it gives; `STOP` there is for what the loop over tokens leaves, with one
/// of the kinds, and `LITERAL` marks one literal in `symbols`. The upper half holds the literals, or the bits of the words
/// alone and the symbol whose base is to be looked up.
pub(super) const STOP: u32 = 0x8000;
pub(super) const LITERAL: u32 = 0x4000;
pub(super) const KIND: u32 = 0xff00;
pub(super) const IS_LENGTH: u32 = STOP | 0x100;
pub(super) const IS_END: u32 = STOP | 0x200;
/// The word is longer than the table has bits.
pub(super) const IS_LONG: u32 = STOP | 0x300;

/// Distance symbols from here on, so that most second literals, whose place they share, have a base of 1.
const DISTANCE_SYMBOLS: u32 = 0x80;

/// The shortest matches of the length symbols, and how many bits say what to add.
const LENGTH_BASES: [u16; 32] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
    258, 258, 258,
];
const LENGTH_EXTRAS: [u8; 32] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0, 0, 0, 0];

/// Below so many parts of 2^15 matches are rare enough for literals alone to be decoded between them.
const RARE_MATCHES: u32 = (1 << 15) / 24;

/// The tables of the block that a stream is in. One struct: the loops reach all of it from one pointer.
#[repr(C)]
pub(super) struct Tables {
    pub(super) tokens: [u32; (1 << TOKEN_BITS) + PADDING],
    pub(super) symbols: [u32; 1 << TOKEN_BITS],
    pub(super) distances: [u32; 1 << DISTANCE_BITS],
    /// By the upper byte of an entry: the shortest distance, 1 for what is no distance.
    pub(super) distance_bases: [u16; 256],
    symbol_code: Code,
    distance_code: Code,
    /// Whether `tokens` is of this block: it is not made where they would all be single literals.
    pub(super) has_tokens: bool,
    /// Whether the tables are those of the fixed codes.
    is_fixed: bool,
}

impl Tables {
    /// Tables of no block.
    pub(super) fn new() -> Self {
        let mut distance_bases = [1; 256];
        for (symbol, base) in distance_bases[DISTANCE_SYMBOLS as usize..].iter_mut().take(32).enumerate() {
            *base = distance(symbol).0;
        }
        Tables {
            tokens: [0; (1 << TOKEN_BITS) + PADDING],
            symbols: [0; 1 << TOKEN_BITS],
            distances: [0; 1 << DISTANCE_BITS],
            distance_bases,
            symbol_code: Code::new(),
            distance_code: Code::new(),
            has_tokens: false,
            is_fixed: false,
        }
    }

    /// Makes the tables of a block whose codes have words of these lengths; whether there are such codes.
    pub(super) fn make(&mut self, symbols: &[u8], distances: &[u8]) -> bool {
        self.is_fixed = false;
        if !self.symbol_code.assign(symbols) || !self.distance_code.assign(distances) {
            return false;
        }
        self.distance_code.fill(&mut self.distances, IS_LONG, distance_entry);
        self.symbol_code.fill(&mut self.symbols, IS_LONG, symbol_entry);
        self.has_tokens = !has_lone_literals(symbols);
        if self.has_tokens {
            self.join();
        }
        true
    }

    /// Makes the tables of a block with the fixed codes.
    pub(super) fn make_fixed(&mut self) {
        if !self.is_fixed {
            let mut lengths = [8; 288];
            lengths[144..256].fill(9);
            lengths[256..280].fill(7);
            self.is_fixed = self.make(&lengths, &[5; 32]);
        }
    }

    /// The entry of the symbol that `bits` start with, however long its word is; `None` for no word.
    pub(super) fn symbol(&self, bits: u64) -> Option<u32> {
        let entry = self.symbols[bits as usize % self.symbols.len()];
        if entry & KIND != IS_LONG {
            return Some(entry);
        }
        self.symbol_code.find(bits, TOKEN_BITS).map(|(symbol, length)| symbol_entry(symbol, length))
    }

    /// The entry of the distance that `bits` start with, however long its word is; `None` for no word.
    pub(super) fn distance(&self, bits: u64) -> Option<u32> {
        let entry = self.distances[bits as usize % self.distances.len()];
        if entry & KIND != IS_LONG {
            return Some(entry);
        }
        self.distance_code.find(bits, DISTANCE_BITS).map(|(symbol, length)| distance_entry(symbol, length))
    }

    /// The shortest distance of an entry.
    pub(super) fn distance_base(&self, entry: u32) -> usize {
        usize::from(self.distance_bases[(entry >> 24) as usize])
    }

    /// Makes `tokens` of the symbols: entries are joined with what follows wherever its word fits into the table's bits.
    fn join(&mut self) {
        let Tables { tokens, symbols, distances, symbol_code, .. } = self;
        for (token, &entry) in tokens.iter_mut().zip(&*symbols) {
            *token = entry & !LITERAL;
        }
        if symbol_code.is_single() {
            return;
        }
        let mut shortest_literal = u32::MAX;
        symbol_code.each(TOKEN_BITS, |symbol, length, word| {
            let room = TOKEN_BITS - length;
            if symbol < END {
                shortest_literal = shortest_literal.min(length);
                if shortest_literal <= room {
                    join_literals(tokens, &symbols[..1 << room], symbol_entry(symbol, length), word);
                }
            } else if symbol > END {
                let (base, extra) = (u32::from(LENGTH_BASES[symbol - 257]), u32::from(LENGTH_EXTRAS[symbol - 257]));
                for more in 0..1 << extra.min(room) {
                    let bytes = base + more;
                    if bytes <= MAX_STEP as u32 && extra < room {
                        let prefix = (length + extra, word | (more as usize) << length);
                        join_match(tokens, &distances[..1 << (room - extra).min(DISTANCE_BITS)], bytes, prefix);
                    }
                }
            }
        });
    }
}

/// Puts the tokens that start with the word of a literal into the table; `next` is what may follow in the bits left.
fn join_literals(tokens: &mut [u32], next: &[u32], literal: u32, word: usize) {
    let (first, length, room) = (literal & !LITERAL, literal & 0xff, next.len().trailing_zeros());
    for (rest, &next) in next.iter().enumerate() {
        let second = next >> 16 & 0xff;
        // A literal that looks like a distance symbol would be taken for a match that lies too far back.
        let fits = (next & LITERAL != 0) & (next & 0xff <= room) & (second & 0xe0 != DISTANCE_SYMBOLS);
        let both = first + (next & 0xff) + 0x100 + (second << 24);
        tokens[word | rest << length] = if fits { both } else { first };
    }
}

/// Puts the tokens of matches of `bytes` bytes into the table, where the length takes the bits of `prefix`; `next` are the
/// distances that may follow. The others stay the symbols that they are.
fn join_match(tokens: &mut [u32], next: &[u32], bytes: u32, prefix: (u32, usize)) {
    let (length, word) = prefix;
    let room = TOKEN_BITS - length;
    // The copy reads before it writes: what it repeats must not be of its own making.
    let nearest = (0..30).find(|symbol| u32::from(distance(*symbol).0) >= bytes).unwrap_or(30) as u32;
    let least = (nearest + DISTANCE_SYMBOLS) << 24;
    for rest in 0..1 << room {
        let next = next[rest % next.len()];
        // An entry without a distance is below the least.
        if (next >= least) & (next >> 16 & 0xff <= room) {
            tokens[word | rest << length] = next + length * 0x1_0001 + (bytes << 8);
        }
    }
}

/// The shortest match of the entry of a length.
pub(super) fn length_base(entry: u32) -> usize {
    usize::from(LENGTH_BASES[(entry >> 24) as usize % LENGTH_BASES.len()])
}

/// The entry of a symbol of a block.
fn symbol_entry(symbol: usize, length: u32) -> u32 {
    match symbol {
        0..END => length | LITERAL | 0x100 | (symbol as u32) << 16,
        END => length | IS_END,
        _ => {
            let sign = symbol - 257;
            (length + u32::from(LENGTH_EXTRAS[sign])) | IS_LENGTH | length << 16 | (sign as u32) << 24
        }
    }
}

/// The entry of a distance symbol.
fn distance_entry(symbol: usize, length: u32) -> u32 {
    (length + distance(symbol).1) | length << 16 | (symbol as u32 + DISTANCE_SYMBOLS) << 24
}

/// The shortest distance of a distance symbol, and how many bits say what to add. The two symbols that the format has no
/// use for count as the last one.
fn distance(symbol: usize) -> (u16, u32) {
    match symbol.min(29) {
        symbol @ 0..4 => (symbol as u16 + 1, 0),
        symbol => {
            let extra = symbol as u32 / 2 - 1;
            (1 + ((2 + (symbol as u16 & 1)) << extra), extra)
        }
    }
}

/// Whether matches are rare and literals so long that no two would share an entry.
fn has_lone_literals(lengths: &[u8]) -> bool {
    let share = |length: u8| if length == 0 { 0 } else { (1u32 << 15) >> length };
    let (literals, matches) = lengths.split_at(END);
    let (mut shares, mut bits) = (0, 0);
    for &length in literals {
        shares += share(length);
        bits += share(length) * u32::from(length);
    }
    matches[1..].iter().map(|length| share(*length)).sum::<u32>() < RARE_MATCHES && bits >= 6 * shares
}
