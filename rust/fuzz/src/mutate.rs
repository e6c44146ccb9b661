//! Makes inputs of inputs.

pub use crate::mutation::Random;

/// The longest input that is made.
pub const MAX_LEN: usize = 64 << 10;

/// Numbers at the borders of what fields hold.
const NUMBERS: [u64; 12] =
    [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, i64::MAX as u64, u64::MAX];

/// Changes `input` one to eight times; `other` is another input, to take parts from, and `words` are what its format is
/// made of.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], words: &[&[u8]], random: &mut Random) {
    for _ in 0..1 + random.below(8) {
        if input.is_empty() {
            input.push(random.below(256) as u8);
        }
        let at = random.below(input.len());
        match random.below(11) {
            0 => input[at] ^= 1 << random.below(8),
            1 => input[at] = random.below(256) as u8,
            2 => input[at] = input[at].wrapping_add(1),
            3 => input[at] = input[at].wrapping_sub(1),
            4 => {
                let number = NUMBERS[random.below(NUMBERS.len())].wrapping_add(random.below(3) as u64);
                let width = [1, 2, 4, 8][random.below(4)];
                let bytes = if random.below(2) == 0 { number.to_le_bytes() } else { number.to_be_bytes() };
                let bytes = if bytes[0] == number as u8 { &bytes[..width] } else { &bytes[8 - width..] };
                overwrite(input, at, bytes);
            }
            5 if !words.is_empty() => {
                let word = words[random.below(words.len())];
                if random.below(2) == 0 {
                    overwrite(input, at, word);
                } else {
                    insert(input, at, word);
                }
            }
            6 if !other.is_empty() => {
                let from = random.below(other.len());
                let len = 1 + random.below((other.len() - from).min(64));
                if random.below(2) == 0 {
                    overwrite(input, at, &other[from..from + len]);
                } else {
                    insert(input, at, &other[from..from + len]);
                }
            }
            7 => {
                let len = 1 + random.below((input.len() - at).min(16));
                input.drain(at..at + len);
            }
            8 => {
                let len = 1 + random.below((input.len() - at).min(16));
                let part = input[at..at + len].to_vec();
                insert(input, at, &part);
            }
            9 if random.below(8) == 0 => input.truncate(at),
            _ => insert(input, at, &[random.below(256) as u8]),
        }
    }
}

fn overwrite(input: &mut [u8], at: usize, bytes: &[u8]) {
    let len = bytes.len().min(input.len() - at);
    input[at..at + len].copy_from_slice(&bytes[..len]);
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if input.len() + bytes.len() <= MAX_LEN {
        input.splice(at..at, bytes.iter().copied());
    }
}
