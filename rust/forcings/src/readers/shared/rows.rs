//! Rows of packed datasets, and of variables of their own, for any number of threads. Addresses are used only under the
//! dataset's read lock, and only while its columns hold the arrays that they are meant to.

use super::{Kept, Tools};
use crate::chunks::ByteSource;
use crate::readers::columns::Packed;
use crate::readers::link::Homed;
use crate::readers::rows::{make_room, Bands, Cell, RowSource};
use crate::readers::variable::Stored;
use crate::store::arrays::ArrayFile;
use crate::Result;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of bands that a dataset may keep for reads beside each other, beyond those of one read.
const SPARE_BYTES: usize = 1 << 20;
/// Bands that it may keep so.
const SPARE_BANDS: usize = 8;

/// Some columns of a dataset.
pub(in crate::readers) struct SharedColumns {
    packed: Packed,
    /// Rows that are read at once at most.
    span: u64,
    rows: Current,
}

/// A variable of its own, that has several bands of rows.
pub(in crate::readers) struct SharedVariable {
    stored: Stored,
    rows: Current,
}

/// The bands of a dataset under one layout, and those that were decoded last.
struct SharedRows {
    bands: Bands,
    kept: Kept,
}

/// The rows as of the generation of a dataset that they were planned under.
#[derive(Default)]
struct Current(Mutex<Option<(u64, Arc<SharedRows>)>>);

impl SharedColumns {
    /// The columns, of which up to `span` rows are read at once.
    pub(in crate::readers) fn new(packed: Packed, span: u64) -> Self {
        SharedColumns { packed, span, rows: Current::default() }
    }

    /// Copies the elements of rows that follow each other: those of each behind those of the one before, so that the
    /// places of the cells are those of the first row. False, and nothing copied, when a column no longer holds its array.
    ///
    /// # Errors
    /// `Format` when a chunk is damaged or lies outside the file, `Integrity` when it was never written or a change of the
    /// dataset failed half-way, `Unsupported` for unknown filters, `Io`.
    pub(in crate::readers) fn read(
        &self,
        source: &dyn ByteSource,
        rows: Range<u64>,
        out: &mut [u8],
        tools: &mut Tools,
    ) -> Result<bool> {
        let state = self.packed.dataset.state.read();
        let dataset = self.packed.rows(source, &state)?;
        let plan = || match self.packed.holds(&state) {
            true => SharedRows::new(&dataset, self.packed.cells(), self.span, SPARE_BYTES, tools).map(Some),
            false => Ok(None),
        };
        let Some(shared) = self.rows.get(state.generation, plan)? else { return Ok(false) };
        shared.read(&dataset, rows, self.packed.dataset.pool.block(), out, tools)?;
        Ok(true)
    }
}

impl SharedVariable {
    pub(in crate::readers) fn new(stored: Stored) -> Self {
        SharedVariable { stored, rows: Current::default() }
    }

    /// Copies the element of one row to each of its places.
    ///
    /// # Errors
    /// As [`SharedColumns::read`].
    pub(in crate::readers) fn read(
        &self,
        source: &dyn ByteSource,
        row: u64,
        out: &mut [u8],
        tools: &mut Tools,
    ) -> Result<()> {
        let dataset = self.stored.rows(source);
        // There may be very many variables.
        let plan = || SharedRows::new(&dataset, self.stored.cells(), 1, 0, tools).map(Some);
        // Where such a variable lies never changes.
        match self.rows.get(0, plan)? {
            Some(shared) => shared.read(&dataset, row..row + 1, 0, out, tools),
            None => Ok(()),
        }
    }
}

impl Homed for SharedColumns {
    fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        self.packed.is_at_home(arrays)
    }
}

impl Homed for SharedVariable {
    fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        self.stored.is_at_home(arrays)
    }
}

impl SharedRows {
    /// Keeps the bands that `span` rows touch, and one more, or as many as `spare_bytes` hold.
    fn new(dataset: &RowSource, cells: &[Cell], span: u64, spare_bytes: usize, tools: &mut Tools) -> Result<Self> {
        let bands = Bands::new(dataset, cells, &mut tools.bench.scratch)?;
        let needed = (span.saturating_sub(1).div_ceil(bands.height()) + 1).min(bands.count());
        let spare = (spare_bytes / bands.bytes().max(1)).clamp(1, SPARE_BANDS);
        let kept = Kept::new(needed as usize + spare);
        Ok(SharedRows { bands, kept })
    }

    fn read(
        &self,
        dataset: &RowSource,
        rows: Range<u64>,
        stride: usize,
        out: &mut [u8],
        tools: &mut Tools,
    ) -> Result<()> {
        let (SharedRows { bands, kept }, mut next) = (self, rows.start);
        while next < rows.end {
            let band = next / bands.height();
            let behind = ((band + 1) * bands.height()).min(rows.end);
            let decode = |bytes: &mut Vec<u8>| {
                make_room(bytes, bands.bytes(), dataset)?;
                tools.inflated += bands.load(dataset, band, bytes, &mut tools.bench.scratch)?;
                Ok(())
            };
            kept.with(band, decode, |bytes| {
                for row in next..behind {
                    bands.copy(bytes, row, &mut out[(row - rows.start) as usize * stride..]);
                }
            })?;
            next = behind;
        }
        Ok(())
    }
}

impl Current {
    /// The rows of this generation, which `plan` finds; `None` where it does.
    fn get(
        &self,
        generation: u64,
        plan: impl FnOnce() -> Result<Option<SharedRows>>,
    ) -> Result<Option<Arc<SharedRows>>> {
        let mut current = self.0.lock();
        if let Some((of, rows)) = &*current {
            if *of == generation {
                return Ok(Some(rows.clone()));
            }
        }
        *current = None;
        let Some(rows) = plan()? else { return Ok(None) };
        let rows = Arc::new(rows);
        *current = Some((generation, rows.clone()));
        Ok(Some(rows))
    }
}
