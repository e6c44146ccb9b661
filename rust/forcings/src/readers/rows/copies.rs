//! What is copied from a row to the output.

#[derive(Default)]
pub(super) struct Copies {
    /// Elements of `unit` bytes that have no neighbour to be copied with: source and target.
    singles: Vec<(usize, usize)>,
    unit: usize,
    /// Source, target and length.
    runs: Vec<(usize, usize, usize)>,
}

impl Copies {
    /// Nothing yet, in elements of `unit` bytes.
    pub(super) fn of(unit: usize) -> Self {
        Copies { unit, ..Copies::default() }
    }

    /// Adds a copy, as a part of the last one where it continues that.
    pub(super) fn push(&mut self, from: usize, to: usize, len: usize) {
        match self.runs.last_mut() {
            Some((f, t, n)) if *f + *n == from && *t + *n == to => *n += len,
            _ => self.runs.push((from, to, len)),
        }
    }

    /// Parts single elements from longer runs, since they are copied faster when their length is known.
    pub(super) fn settle(&mut self) {
        let unit = self.unit;
        self.singles = self.runs.iter().filter(|r| r.2 == unit).map(|r| (r.0, r.1)).collect();
        self.runs.retain(|r| r.2 != unit);
    }

    pub(super) fn run(&self, row: &[u8], out: &mut [u8]) {
        for &(from, to, len) in &self.runs {
            out[to..to + len].copy_from_slice(&row[from..from + len]);
        }
        match self.unit {
            1 => self.run_singles::<1>(row, out),
            4 => self.run_singles::<4>(row, out),
            8 => self.run_singles::<8>(row, out),
            unit => {
                for &(from, to) in &self.singles {
                    out[to..to + unit].copy_from_slice(&row[from..from + unit]);
                }
            }
        }
    }

    fn run_singles<const UNIT: usize>(&self, row: &[u8], out: &mut [u8]) {
        for &(from, to) in &self.singles {
            out[to..to + UNIT].copy_from_slice(&row[from..from + UNIT]);
        }
    }
}
