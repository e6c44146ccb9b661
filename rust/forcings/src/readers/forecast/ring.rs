//! The rows of a dataset around one window, column by column. Windows overlap, so the rows of the last one are kept: a
//! sweep in either direction fetches every band of rows once.

use crate::{Error, Result};
use std::ops::Range;

/// Whole bands of rows that follow each other. A row has one place for as long as it is held.
pub(super) struct Ring {
    /// Bytes of one row of one column.
    block: usize,
    /// Rows of a band, and all rows there are.
    height: u64,
    length: u64,
    /// Bands that there is room for: as many as a window can touch.
    bands: u64,
    /// The bands that are held.
    held: Range<u64>,
    /// Column by column; row `r` of each is at `r` modulo the rows that there is room for.
    bytes: Vec<u8>,
    /// One row of every column.
    row: Vec<u8>,
}

impl Ring {
    /// Room for windows of `window` rows, out of `length` rows in bands of `height`.
    ///
    /// # Errors
    /// `Integrity` when there is no memory for them.
    pub(super) fn new(columns: usize, block: usize, height: u64, window: usize, length: u64) -> Result<Self> {
        let height = height.clamp(1, length.max(1));
        let bands = ((window as u64).saturating_sub(1).div_ceil(height) + 1).min(length.div_ceil(height)).max(1);
        let row = columns.checked_mul(block);
        let all = usize::try_from(bands * height).ok().and_then(|rows| rows.checked_mul(row?));
        let (bytes, row) = all.zip(row).and_then(|(all, row)| Some((room(all)?, room(row)?))).ok_or_else(|| {
            Error::Integrity(format!("there is no memory for {} rows of {columns} columns", bands * height))
        })?;
        Ok(Ring { block, height, length, bands, held: 0..0, bytes, row })
    }

    /// The rows of a band.
    pub(super) fn height(&self) -> u64 {
        self.height
    }

    /// Makes `rows` be held; `fetch` fills a row of all columns. Rows before the ones that are held come in descending
    /// bands, rows behind them in ascending ones.
    ///
    /// # Errors
    /// Those of `fetch`; then nothing is held any more.
    pub(super) fn cover(
        &mut self,
        rows: Range<u64>,
        mut fetch: impl FnMut(u64, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let wanted = rows.start / self.height..(rows.end - 1) / self.height + 1;
        let held = std::mem::take(&mut self.held);
        if wanted.end < held.start || held.end < wanted.start || held.is_empty() {
            wanted.clone().try_for_each(|band| self.load(band, &mut fetch))?;
            self.held = wanted;
            return Ok(());
        }
        (wanted.start..held.start).rev().try_for_each(|band| self.load(band, &mut fetch))?;
        (held.end..wanted.end).try_for_each(|band| self.load(band, &mut fetch))?;
        // Bands that are not wanted stay as far as nothing took their places.
        self.held = match wanted.end > held.end {
            true => held.start.min(wanted.start).max(wanted.end.saturating_sub(self.bands))..wanted.end,
            false => {
                let start = held.start.min(wanted.start);
                start..held.end.min(start + self.bands)
            }
        };
        Ok(())
    }

    /// Copies rows of a column, which are held, to `out`.
    pub(super) fn copy(&self, column: usize, rows: Range<u64>, out: &mut [u8]) {
        debug_assert!(rows.start / self.height >= self.held.start && rows.end <= self.held.end * self.height);
        let room = self.bands * self.height;
        let own = &self.bytes[column * room as usize * self.block..][..room as usize * self.block];
        let start = (rows.start % room) as usize * self.block;
        let first = out.len().min(own.len() - start);
        let (head, tail) = out.split_at_mut(first);
        head.copy_from_slice(&own[start..start + first]);
        tail.copy_from_slice(&own[..tail.len()]);
    }

    fn load(&mut self, band: u64, fetch: &mut impl FnMut(u64, &mut [u8]) -> Result<()>) -> Result<()> {
        let room = self.bands * self.height;
        for row in band * self.height..((band + 1) * self.height).min(self.length) {
            fetch(row, &mut self.row)?;
            let at = (row % room) as usize * self.block;
            scatter(&self.row, &mut self.bytes[at..], self.block, room as usize * self.block);
        }
        Ok(())
    }
}

/// Puts the blocks of `row` into `columns`, one every `stride` bytes.
fn scatter(row: &[u8], columns: &mut [u8], block: usize, stride: usize) {
    // Blocks of a known size are copied by one instruction instead of a call.
    fn fixed<const N: usize>(row: &[u8], columns: &mut [u8], stride: usize) {
        for (value, column) in row.chunks_exact(N).zip(columns.chunks_mut(stride)) {
            column[..N].copy_from_slice(value);
        }
    }
    match block {
        8 => fixed::<8>(row, columns, stride),
        4 => fixed::<4>(row, columns, stride),
        _ => row.chunks_exact(block).zip(columns.chunks_mut(stride)).for_each(|(value, column)| {
            column[..block].copy_from_slice(value);
        }),
    }
}

/// A buffer of zeros, if there is memory for it.
fn room(len: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn windows_in_any_order_are_those_of_the_rows(
            columns in 1usize..4,
            block in prop_oneof![Just(1usize), Just(3), Just(4), Just(8)],
            height in 1u64..9,
            window in 1u64..12,
            more in 0u64..30,
            starts in proptest::collection::vec((0u64..40, any::<bool>()), 1..20),
        ) {
            let length = window + more;
            let value = |row: u64, column: usize, byte: usize| (row * 31 + column as u64 * 7 + byte as u64) as u8;
            let mut ring = Ring::new(columns, block, height, window as usize, length).unwrap();
            for (start, fails) in starts {
                let rows = start % (more + 1)..start % (more + 1) + window;
                let covered = ring.cover(rows.clone(), |row, out| {
                    for (k, cell) in out.iter_mut().enumerate() {
                        *cell = value(row, k / block, k % block);
                    }
                    if fails && row % 3 == 0 { Err(Error::invalid("no")) } else { Ok(()) }
                });
                if covered.is_err() {
                    prop_assert!(fails && ring.held.is_empty());
                    continue;
                }
                for column in 0..columns {
                    let mut out = vec![0; window as usize * block];
                    ring.copy(column, rows.clone(), &mut out);
                    let expected: Vec<u8> =
                        rows.clone().flat_map(|row| (0..block).map(move |byte| value(row, column, byte))).collect();
                    prop_assert_eq!(out, expected);
                }
            }
        }
    }

    #[test]
    fn a_sweep_in_either_direction_fetches_every_row_once() {
        let (height, window, length) = (5, 12, 103);
        for stride in [1, 3, 12] {
            let mut starts: Vec<u64> = (0..=length - window).step_by(stride).collect();
            let last = starts[starts.len() - 1] + window;
            for _ in 0..2 {
                let mut ring = Ring::new(1, 8, height, window as usize, length).unwrap();
                let mut rows = Vec::new();
                for &start in &starts {
                    ring.cover(start..start + window, |row, _| {
                        rows.push(row);
                        Ok(())
                    })
                    .unwrap();
                }
                rows.sort_unstable();
                assert_eq!(rows, (0..last.div_ceil(height) * height).take_while(|r| *r < length).collect::<Vec<_>>());
                starts.reverse();
            }
        }
    }
}
