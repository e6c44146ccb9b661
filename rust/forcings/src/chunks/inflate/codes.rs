//! Canonical Huffman codes: from the lengths of their words to the words, and to a table that is looked up with the next
//! bits of a stream. Takes the codes that libdeflate takes.

/// The longest word of any code, and of the code for the lengths of words.
pub(super) const LONGEST: usize = 15;

/// Symbols of the largest code.
pub(super) const SYMBOLS: usize = 288;

/// A code, as its words in order.
pub(super) struct Code {
    /// How many words there are of each length.
    counts: [u16; LONGEST + 1],
    /// The symbols in the order of their words.
    symbols: [u16; SYMBOLS],
    /// For each length the first number of `LONGEST` bits that is no word of this length or less, left-aligned.
    limits: [u32; LONGEST + 1],
    /// For each length what to add to a word for its position in `symbols`.
    offsets: [i32; LONGEST + 1],
    /// One symbol, for which either bit stands.
    is_single: bool,
}

impl Code {
    /// A code without words.
    pub(super) fn new() -> Self {
        Code {
            counts: [0; LONGEST + 1],
            symbols: [0; SYMBOLS],
            limits: [0; LONGEST + 1],
            offsets: [0; LONGEST + 1],
            is_single: false,
        }
    }

    /// Gives every symbol a word of its length, none where that is 0. Whether there is such a code: it is complete, or
    /// has at most one word, of one bit; a code without words stands for symbol 0.
    pub(super) fn assign(&mut self, lengths: &[u8]) -> bool {
        self.counts = [0; LONGEST + 1];
        for &length in lengths {
            self.counts[usize::from(length)] += 1;
        }
        self.counts[0] = 0;
        let (mut word, mut used) = (0u32, 0u16);
        let mut next = [0u16; LONGEST + 1];
        for (length, next) in next.iter_mut().enumerate().skip(1) {
            word <<= 1;
            *next = used;
            self.offsets[length] = i32::from(used) - word as i32;
            word += u32::from(self.counts[length]);
            used += self.counts[length];
            if word > 1 << length {
                return false;
            }
            self.limits[length] = word << (LONGEST - length);
        }
        self.is_single = word != 1 << LONGEST;
        if self.is_single && !(used == 0 || used == 1 && self.counts[1] == 1) {
            return false;
        }
        self.symbols[0] = 0;
        for (symbol, &length) in lengths.iter().enumerate().filter(|(_, length)| **length > 0) {
            let at = &mut next[usize::from(length)];
            self.symbols[usize::from(*at)] = symbol as u16;
            *at += 1;
        }
        true
    }

    /// Fills `table`, whose length is a power of two and which is looked up with as many bits. `entry` makes what it holds
    /// for a symbol and the length of its word; where a longer word starts it holds `long`.
    pub(super) fn fill(&self, table: &mut [u32], long: u32, entry: impl Fn(usize, u32) -> u32) {
        if self.is_single {
            return table.fill(entry(usize::from(self.symbols[0]), 1));
        }
        let bits = table.len().trailing_zeros();
        let (mut word, mut symbols, mut size) = (0u32, self.symbols.iter(), 1);
        table[0] = long;
        for length in 1..=bits {
            // One bit more doubles the table: what does not depend on it is there twice.
            table.copy_within(..size, size);
            size *= 2;
            for &symbol in symbols.by_ref().take(usize::from(self.counts[length as usize])) {
                table[reversed(word, length)] = entry(usize::from(symbol), length);
                word += 1;
            }
            word <<= 1;
        }
        for prefix in word >> 1..size as u32 {
            table[reversed(prefix, bits)] = long;
        }
    }

    /// Calls `f` with each symbol that has a word of at most `longest` bits, the word's length, and the word as the low
    /// bits of a stream.
    pub(super) fn each(&self, longest: u32, mut f: impl FnMut(usize, u32, usize)) {
        let (mut word, mut symbols) = (0u32, self.symbols.iter());
        for length in 1..=longest {
            for &symbol in symbols.by_ref().take(usize::from(self.counts[length as usize])) {
                f(usize::from(symbol), length, reversed(word, length));
                word += 1;
            }
            word <<= 1;
        }
    }

    /// Whether one symbol has all words.
    pub(super) fn is_single(&self) -> bool {
        self.is_single
    }

    /// The symbol whose word of more than `table_bits` bits the stream continues with, and the word's length.
    #[cold]
    pub(super) fn find(&self, bits: u64, table_bits: u32) -> Option<(usize, u32)> {
        let word = reversed(bits as u32, LONGEST as u32) as u32;
        let length = (table_bits as usize + 1..=LONGEST).find(|length| word < self.limits[*length])?;
        let at = (word >> (LONGEST - length)) as i32 + self.offsets[length];
        Some((usize::from(*self.symbols.get(at as usize)?), length as u32))
    }
}

/// The low `length` bits in reverse order.
fn reversed(word: u32, length: u32) -> usize {
    (word.reverse_bits() >> (u32::BITS - length)) as usize
}
