//! The scale-offset filter of HDF5: differences from a chunk's least value in as few bits as hold them. Undone here, with
//! the arithmetic of the C library, so that rounded floats get the same bits.

use super::codecs::{CodecError, Decoded};

/// The client data of the filter that count: each has its own place in a list of twenty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaleOffset {
    /// Elements of a chunk.
    count: usize,
    /// Bytes of an element.
    width: usize,
    number: Number,
    big_endian: bool,
    /// The fill value, which the highest code stands for.
    fill: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Integer,
    /// Kept as they are: as many bits were asked for as there are.
    Verbatim,
    /// Multiplied by this power of ten and rounded.
    Decimal(i32),
}

/// Bits of a code, and the least value, from the first bytes; some of them are unused.
const HEADER: usize = 21;

impl ScaleOffset {
    /// Bytes that a chunk may get longer by.
    pub(super) const OVERHEAD: usize = HEADER + 1;

    /// Reads the client data; `None` where they contradict each other. Powers of two in place of ten were planned for HDF5
    /// and never made.
    pub fn parse(client: &[u32]) -> Option<Self> {
        let &[kind, factor, count, class, width, _, order, filled, low, high, ..] = client else { return None };
        let (count, width) = (count as usize, width as usize);
        let number = match (class, kind) {
            (0, 2) if factor as usize == 8 * width => Number::Verbatim,
            (0, 2) => Number::Integer,
            (1, 0) if width >= 4 => Number::Decimal(factor as i32),
            _ => return None,
        };
        if !matches!(width, 1 | 2 | 4 | 8) || order > 1 || filled > 1 {
            return None;
        }
        let fill = (filled == 1).then_some((u64::from(high) << 32 | u64::from(low)) & ones(8 * width as u32));
        Some(ScaleOffset { count, width, number, big_endian: order == 1, fill })
    }

    /// Bytes of a chunk.
    fn bytes(&self) -> Option<usize> {
        self.count.checked_mul(self.width)
    }

    /// Decodes `from` into `to`, which has as many bytes as a chunk.
    pub(super) fn decode(&self, from: &[u8], to: &mut [u8]) -> Decoded<()> {
        if self.bytes() != Some(to.len()) {
            return Err(CodecError::damaged(format!(
                "its scale-offset filter is for {} elements of {} bytes, {} bytes are expected",
                self.count,
                self.width,
                to.len()
            )));
        }
        let short = || CodecError::damaged("its scale-offset codes are cut short");
        if self.number == Number::Verbatim {
            to.copy_from_slice(from.get(..to.len()).ok_or_else(short)?);
            return Ok(());
        }
        let (header, codes) = from.split_at_checked(HEADER).ok_or_else(short)?;
        let bits = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let mut least = [0; 8];
        let size = usize::from(header[4]).min(8);
        least[..size].copy_from_slice(&header[5..5 + size]);
        let least = u64::from_le_bytes(least);
        let width = 8 * self.width as u32;
        if bits > width {
            return Err(CodecError::damaged(format!("its scale-offset codes have {bits} bits for {width}")));
        }
        if bits == width {
            to.copy_from_slice(codes.get(..to.len()).ok_or_else(short)?);
            if self.big_endian {
                to.chunks_exact_mut(self.width).for_each(<[u8]>::reverse);
            }
            return Ok(());
        }
        if codes.len() < (self.count as u64 * u64::from(bits)).div_ceil(8) as usize {
            return Err(short());
        }
        let mut codes = Codes { bytes: codes, buffer: 0, held: 0 };
        for cell in to.chunks_exact_mut(self.width) {
            let code = codes.take(bits);
            let value = match self.fill {
                Some(fill) if code == ones(bits) => fill,
                _ => self.value(code, least),
            };
            let value = value.to_le_bytes();
            cell.copy_from_slice(&value[..self.width]);
            if self.big_endian {
                cell.reverse();
            }
        }
        Ok(())
    }

    /// The bits of the element that a code stands for.
    fn value(&self, code: u64, least: u64) -> u64 {
        match self.number {
            Number::Decimal(digits) if self.width == 4 => {
                let scale = 10f64.powf(digits.into()) as f32;
                u64::from((code as u32 as i32 as f32 / scale + f32::from_bits(least as u32)).to_bits())
            }
            Number::Decimal(digits) => {
                (code as i64 as f64 / 10f64.powf(digits.into()) + f64::from_bits(least)).to_bits()
            }
            Number::Integer | Number::Verbatim => code.wrapping_add(least),
        }
    }
}

/// The lowest `bits` bits, at most 64.
fn ones(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

/// Takes numbers off a stream of bits, the highest bit first.
struct Codes<'a> {
    bytes: &'a [u8],
    buffer: u128,
    held: u32,
}

impl Codes<'_> {
    /// The next `bits` bits, at most 64; bits behind the end are zero.
    fn take(&mut self, bits: u32) -> u64 {
        while self.held < bits {
            let (byte, rest) = self.bytes.split_first().map_or((0, self.bytes), |(byte, rest)| (*byte, rest));
            self.bytes = rest;
            self.buffer = self.buffer << 8 | u128::from(byte);
            self.held += 8;
        }
        self.held -= bits;
        (self.buffer >> self.held) as u64 & ones(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(kind: u32, factor: u32, count: u32, class: u32, width: u32, order: u32, fill: Option<u32>) -> Vec<u32> {
        let mut client = vec![kind, factor, count, class, width, 1, order, u32::from(fill.is_some())];
        client.push(fill.unwrap_or(0));
        client.resize(20, 0);
        client
    }

    fn decode(client: &[u32], stored: &[u8], len: usize) -> Decoded<Vec<u8>> {
        let mut out = vec![0xee; len];
        ScaleOffset::parse(client).expect("they agree").decode(stored, &mut out)?;
        Ok(out)
    }

    fn stored(bits: u32, least: u64, codes: &[u8]) -> Vec<u8> {
        let mut stored = [bits.to_le_bytes().as_slice(), &[8], &least.to_le_bytes(), &[0; 8]].concat();
        stored.extend_from_slice(codes);
        stored
    }

    #[test]
    fn codes_count_from_the_least_value_and_the_highest_is_the_fill_value() {
        // Three codes of three bits: 000, 111, 101.
        let bytes = stored(3, (-10i64) as u64, &[0b0001_1110, 0b1000_0000]);
        let values = |fill, order| decode(&client(2, 0, 3, 0, 4, order, fill), &bytes, 12).unwrap();
        assert_eq!(values(None, 0), [-10i32, -3, -5].map(i32::to_le_bytes).concat());
        assert_eq!(values(Some(-99i32 as u32), 1), [-10i32, -99, -5].map(i32::to_be_bytes).concat());
    }

    #[test]
    fn decimals_are_divided_in_their_own_precision() {
        let bytes = stored(8, u64::from(1.5f32.to_bits()), &[0, 1, 255]);
        let values = decode(&client(0, 2, 3, 1, 4, 0, None), &bytes, 12).unwrap();
        assert_eq!(values, [1.5f32, 0.01 + 1.5, 2.55 + 1.5].map(f32::to_le_bytes).concat());
        let bytes = stored(8, 1.5f64.to_bits(), &[0, 1, 255]);
        let values = decode(&client(0, 2, 3, 1, 8, 0, None), &bytes, 24).unwrap();
        assert_eq!(values, [1.5f64, 0.01 + 1.5, 2.55 + 1.5].map(f64::to_le_bytes).concat());
    }

    #[test]
    fn all_the_bits_mean_the_values_themselves() {
        let plain = [7u16, 0x1234].map(u16::to_le_bytes).concat();
        assert_eq!(decode(&client(2, 0, 2, 0, 2, 0, None), &stored(16, 9, &plain), 4).unwrap(), plain);
        let swapped = [7u16, 0x1234].map(u16::to_be_bytes).concat();
        assert_eq!(decode(&client(2, 0, 2, 0, 2, 1, None), &stored(16, 9, &plain), 4).unwrap(), swapped);
        // Without a header, where the writer asked for it.
        assert_eq!(decode(&client(2, 16, 2, 0, 2, 1, None), &plain, 4).unwrap(), plain);
    }

    #[test]
    fn numbers_that_lie_are_errors() {
        let good = client(2, 0, 3, 0, 4, 0, None);
        let bytes = stored(3, 0, &[0, 0]);
        assert!(decode(&good, &bytes, 12).is_ok());
        assert!(decode(&good, &bytes, 16).is_err());
        assert!(decode(&good, &bytes[..22], 12).is_err());
        assert!(decode(&good, &bytes[..20], 12).is_err());
        assert!(decode(&good, &stored(33, 0, &[0; 99]), 12).is_err());
        assert_eq!(ScaleOffset::parse(&good[..9]), None);
        for (at, value) in [(0, 7), (3, 2), (4, 0), (4, 3), (4, 16), (6, 2), (7, 2)] {
            let mut client = good.clone();
            client[at] = value;
            assert_eq!(ScaleOffset::parse(&client), None, "{at} {value}");
        }
        assert_eq!(ScaleOffset::parse(&client(1, 0, 3, 1, 4, 0, None)), None);
    }

    #[test]
    fn codes_may_have_up_to_63_bits() {
        let code = (1u64 << 63) - 2;
        let mut bits =
            Codes { bytes: &(u128::from(code) << 65 | u128::from(code) << 2).to_be_bytes(), buffer: 0, held: 0 };
        assert_eq!((bits.take(63), bits.take(63)), (code, code));
    }
}
