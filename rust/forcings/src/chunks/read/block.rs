//! Serving one block of a read: its selected elements, from wherever it lies to their places in the output.

use super::worker::Room;
use super::{Job, ReadStats};
use crate::chunks::axis::{Run, Touched};
use crate::chunks::filters::{check_expansion, grown};
use crate::chunks::geometry::{Place, Subject};
use crate::chunks::shuffle::unshuffle_part;
use crate::chunks::{ChunkEntry, ChunkFetch, ChunkSite, Filter};
use crate::Result;

/// A read is charged as many bytes; so many may be read in vain to save one.
const READ_COST: u64 = 16 << 10;

/// The most bytes that are read at once to pick elements from.
const MAX_SPAN: u64 = 4 << 20;

/// The bytes of one step when a long run goes through a buffer: they stay in the processor's cache.
const STEP_BYTES: usize = 256 << 10;

/// The bytes of one step from planes to values: with the values they stay in the smallest cache.
const STRIP_BYTES: usize = 8 << 10;

/// A block whose chunk has to be fetched before it can be served.
pub(super) struct Begun<'a> {
    pub(super) fetch: ChunkFetch<'a>,
    pub(super) then: Then,
}

/// What is left to do with a block when its chunk is decoded.
#[derive(Clone, Copy)]
pub(super) enum Then {
    /// It was decoded to its place.
    Done,
    /// Its elements are to be converted.
    Scatter,
    /// The same, from shuffled ones.
    ScatterPlanes,
}

/// What a block is of a read.
struct Located<'a> {
    /// Its positions among the touched ones of each axis.
    at: Vec<usize>,
    touched: Vec<&'a Touched>,
}

impl<T: Copy + Default + Send + Sync> Job<'_, T> {
    /// Reads the selected elements of one block, or says which chunk has to be fetched for [`finish`](Self::finish).
    pub(super) fn begin<'a>(
        &'a self,
        block: usize,
        room: &'a mut Room,
        stats: &mut ReadStats,
    ) -> Result<Option<Begun<'a>>> {
        let Located { at, touched } = self.locate(block);
        let coords: Vec<u64> = touched.iter().map(|t| t.coord).collect();
        match self.blocks.place(&coords, &self.subject)? {
            Place::Absent => self.fill_block(&touched, stats)?,
            Place::Stored => self.read_stored(&touched, &at, &coords, room, stats)?,
            Place::Memory(bytes) => self.scatter(&touched, bytes, 0, &mut room.picked)?,
            Place::Plain(offset) => self.read_plain(&touched, offset, room, stats)?,
            Place::Filtered { chunk, entry } => {
                let Subject { source, what, .. } = self.subject;
                let site = ChunkSite { path: source.path(), what, chunk };
                let filters = self.blocks.filters();
                let Room { scratch, block, .. } = room;
                stats.chunks_inflated += 1;
                stats.bytes_read += u64::from(entry.size);
                if let Some(out) = self.whole_block(&touched) {
                    let fetch = ChunkFetch { source, entry, filters, out, scratch, site };
                    return Ok(Some(Begun { fetch, then: Then::Done }));
                }
                check_expansion(entry, filters, self.blocks.bytes, &site)?;
                let out = grown(block, self.blocks.bytes, &site)?;
                let (then, entry, filters) = match self.without_shuffle(entry, filters) {
                    Some((entry, filters)) => (Then::ScatterPlanes, entry, filters),
                    None => (Then::Scatter, entry, filters),
                };
                let fetch = ChunkFetch { source, entry, filters, out, scratch, site };
                return Ok(Some(Begun { fetch, then }));
            }
        }
        self.count(&touched);
        Ok(None)
    }

    /// Serves a block whose chunk was fetched into `room`.
    pub(super) fn finish(&self, block: usize, then: Then, room: &mut Room) -> Result<()> {
        let Located { touched, .. } = self.locate(block);
        let Room { block, picked, .. } = room;
        match then {
            Then::Done => {}
            Then::Scatter => self.scatter(&touched, &block[..self.blocks.bytes], 0, picked)?,
            Then::ScatterPlanes => self.scatter_planes(&touched, &block[..self.blocks.bytes], picked)?,
        }
        self.count(&touched);
        Ok(())
    }

    fn locate(&self, mut block: usize) -> Located<'_> {
        let mut at = vec![0; self.plans.len()];
        for (position, plan) in at.iter_mut().zip(&self.plans).rev() {
            *position = block % plan.touched.len();
            block /= plan.touched.len();
        }
        let touched = self.plans.iter().zip(&at).map(|(plan, at)| &plan.touched[*at]).collect();
        Located { at, touched }
    }

    /// Notes that a block was served.
    fn count(&self, touched: &[&Touched]) {
        self.out.count(touched.iter().map(|t| t.count).product::<usize>() * self.sink.items);
    }

    /// How to decode the chunk except for the shuffle of its elements, if that is the last step.
    fn without_shuffle<'f>(&self, entry: ChunkEntry, filters: &'f [Filter]) -> Option<(ChunkEntry, &'f [Filter])> {
        let (first, rest) = filters.split_first()?;
        let shuffled = *first == Filter::Shuffle(self.subject.width) && entry.filter_mask & 1 == 0;
        shuffled.then_some((ChunkEntry { filter_mask: entry.filter_mask >> 1, ..entry }, rest))
    }

    fn fill_block(&self, touched: &[&Touched], stats: &mut ReadStats) -> Result<()> {
        stats.blocks_absent += 1;
        self.each_run(touched, &mut |_, out, run| {
            self.fill(out, run.len);
            Ok(())
        })
    }

    /// Decodes a chunk of a store.
    fn read_stored(
        &self,
        touched: &[&Touched],
        at: &[usize],
        coords: &[u64],
        room: &mut Room,
        stats: &mut ReadStats,
    ) -> Result<()> {
        let Subject { shape, what, .. } = self.subject;
        let needed = self.needed.as_ref().expect("there are objects where a layout is stored in them");
        let coords = &coords[..shape.len()];
        let absent = |stats: &mut ReadStats| {
            let cells = touched.iter().map(|t| t.count as u64).product();
            self.absent.add(cells, &self.subject)?;
            self.fill_block(touched, stats)
        };
        let Some(object) = needed.get(at)? else { return absent(stats) };
        let grid = shape.iter().zip(&self.blocks.axes).map(|(s, b)| s.div_ceil(b.extent));
        let chunk = grid.zip(coords).fold(0u64, |n, (g, c)| n.saturating_mul(g).saturating_add(*c)) as usize;
        let site = ChunkSite { path: object.name(), what, chunk };
        let len = self.blocks.bytes;
        let Some(part) = object.find(&needed.within(coords), len, &site)? else { return absent(stats) };
        let Room { objects, block, picked, .. } = room;
        stats.chunks_inflated += 1;
        stats.bytes_read += part.len;
        let block = grown(block, len, &site)?;
        object.decode(part, block, objects, &site)?;
        self.scatter(touched, block, 0, picked)
    }

    /// The part of the output that is this block, byte for byte, if there is one.
    fn whole_block(&self, touched: &[&Touched]) -> Option<&mut [u8]> {
        let as_bytes = self.sink.as_bytes?;
        let run = self.single_run(touched)?;
        (run.1.len * self.subject.width == self.blocks.bytes).then(|| as_bytes(self.items(run.0, run.1.len)))
    }

    /// The position in the output and the run, when the selected part of the block is one run of stride 1.
    fn single_run(&self, touched: &[&Touched]) -> Option<(usize, Run)> {
        let mut found = None;
        let one = self.out.is_one_run()
            && touched.iter().all(|t| t.runs.len() == 1)
            && touched[..touched.len() - 1].iter().all(|t| t.count == 1);
        if one {
            self.each_run(touched, &mut |_, out, run| {
                found = self.is_dense(run).then_some((out, *run));
                Ok(())
            })
            .ok()?;
        }
        found
    }

    /// Reads elements that lie at `offset` one by one: in one go where they are close, else run by run.
    fn read_plain(&self, touched: &[&Touched], offset: u64, room: &mut Room, stats: &mut ReadStats) -> Result<()> {
        let Room { block, picked, .. } = room;
        let source = self.subject.source;
        let width = self.subject.width as u64;
        let path = source.path();
        let site = ChunkSite { path, what: self.subject.what, chunk: 0 };
        let axes = &self.blocks.axes;
        let low: u64 = axes.iter().zip(touched).map(|(a, t)| t.bounds.0 * a.stride).sum();
        let high: u64 = axes.iter().zip(touched).map(|(a, t)| t.bounds.1 * a.stride).sum::<u64>() + width;
        let (last, outer) = touched.split_last().expect("there is at least one axis");
        let rows = outer.iter().fold(1u64, |n, t| n.saturating_mul(t.count as u64));
        let inner = &self.plans[outer.len()].runs[last.runs.clone()];
        let reads = rows.saturating_mul(inner.iter().map(|r| if self.is_dense(r) { 1 } else { r.len as u64 }).sum());
        let selected = rows.saturating_mul(last.count as u64).saturating_mul(width);
        let span = high - low;
        if reads > 1 && span <= MAX_SPAN && span <= selected.saturating_add((reads - 1).saturating_mul(READ_COST)) {
            let block = grown(block, span as usize, &site)?;
            source.read_at(offset + low, block)?;
            stats.bytes_read += span;
            return self.scatter(touched, block, low, picked);
        }
        stats.bytes_read += selected;
        let step = (STEP_BYTES as u64 / width).max(1);
        self.each_run(touched, &mut |src, out, run| {
            let (mut at, mut done) = (offset + src, 0);
            let dense = self.is_dense(run);
            if let (Some(as_bytes), true) = (self.sink.as_bytes, dense) {
                return source.read_at(at, as_bytes(self.items(out, run.len)));
            }
            while done < run.len {
                let len = if dense { (run.len - done).min(step as usize) } else { 1 };
                let bytes = grown(picked, len * width as usize, &site)?;
                source.read_at(at, bytes)?;
                (self.sink.convert)(bytes, self.items(out + done, len));
                at = at.wrapping_add_signed(self.step(run).wrapping_mul(len as i64));
                done += len;
            }
            Ok(())
        })
    }

    /// Converts the selected elements of a block whose bytes from `low` on are `bytes`.
    fn scatter(&self, touched: &[&Touched], bytes: &[u8], low: u64, picked: &mut Vec<u8>) -> Result<()> {
        let width = self.subject.width;
        let step = (STEP_BYTES / width).max(1);
        self.each_run(touched, &mut |src, out, run| {
            let start = (src - low) as usize;
            if self.is_dense(run) {
                (self.sink.convert)(&bytes[start..start + run.len * width], self.items(out, run.len));
                return Ok(());
            }
            let (mut at, mut done) = (start, 0);
            while done < run.len {
                let len = (run.len - done).min(step);
                picked.clear();
                for _ in 0..len {
                    picked.extend_from_slice(&bytes[at..at + width]);
                    at = at.wrapping_add_signed(self.step(run) as isize);
                }
                (self.sink.convert)(picked, self.items(out + done, len));
                done += len;
            }
            Ok(())
        })
    }

    /// Converts the selected elements of a block whose bytes are `planes`, without those that are not selected.
    fn scatter_planes(&self, touched: &[&Touched], planes: &[u8], picked: &mut Vec<u8>) -> Result<()> {
        let width = self.subject.width;
        let (count, step) = (planes.len() / width, (STRIP_BYTES / width).max(1));
        self.each_run(touched, &mut |src, out, run| {
            let (mut at, mut done) = (src as usize / width, 0);
            let stride = (self.step(run) / width as i64) as isize;
            while done < run.len {
                let len = (run.len - done).min(step);
                picked.resize(len * width, 0);
                if self.is_dense(run) {
                    unshuffle_part(planes, width, at, picked);
                    at += len;
                } else {
                    for cell in picked.chunks_exact_mut(width) {
                        cell.iter_mut().enumerate().for_each(|(b, byte)| *byte = planes[b * count + at]);
                        at = at.wrapping_add_signed(stride);
                    }
                }
                (self.sink.convert)(picked, self.items(out + done, len));
                done += len;
            }
            Ok(())
        })
    }

    fn fill(&self, out: usize, len: usize) {
        let cells = self.items(out, len);
        let items = self.sink.items;
        (self.sink.convert)(&self.fill, &mut cells[..items]);
        let mut done = items;
        while done < cells.len() {
            let more = done.min(cells.len() - done);
            cells.copy_within(..more, done);
            done += more;
        }
    }

    /// Calls `f` with every run of the block: its first byte within the block, its first element in the output.
    fn each_run(&self, touched: &[&Touched], f: &mut dyn FnMut(u64, usize, &Run) -> Result<()>) -> Result<()> {
        self.each_run_from(touched, 0, 0, 0, f)
    }

    fn each_run_from(
        &self,
        touched: &[&Touched],
        axis: usize,
        src: u64,
        out: usize,
        f: &mut dyn FnMut(u64, usize, &Run) -> Result<()>,
    ) -> Result<()> {
        let stride = self.blocks.axes[axis].stride;
        for run in &self.plans[axis].runs[touched[axis].runs.clone()] {
            if axis + 1 == self.plans.len() {
                let mut rest = *run;
                while rest.len > 0 {
                    let items = self.sink.items;
                    let first = out + rest.out;
                    let len = self.out.run(first * items, rest.len * items) / items;
                    f(src + rest.src * stride, first, &Run { len, ..rest })?;
                    rest.out += len;
                    rest.src = rest.src.wrapping_add_signed(rest.stride.wrapping_mul(len as i64));
                    rest.len -= len;
                }
                continue;
            }
            for k in 0..run.len {
                let src = src + run.src.wrapping_add_signed(run.stride * k as i64) * stride;
                self.each_run_from(touched, axis + 1, src, out + (run.out + k) * self.out_strides[axis], f)?;
            }
        }
        Ok(())
    }

    /// Bytes from one element of a run to the next, within its block.
    fn step(&self, run: &Run) -> i64 {
        run.stride.wrapping_mul(self.blocks.axes[self.blocks.axes.len() - 1].stride as i64)
    }

    /// Whether the elements of a run follow each other without gaps.
    fn is_dense(&self, run: &Run) -> bool {
        run.len == 1 || self.step(run) == self.subject.width as i64
    }

    /// The items of `len` elements of the output.
    #[allow(clippy::mut_from_ref, reason = "see the SAFETY line")]
    fn items(&self, first: usize, len: usize) -> &mut [T] {
        // SAFETY: each position of the output belongs to one run of one block, since each position of an axis belongs
        // to one run (`AxisPlan`); each block is served once (`team`), and a run's slice is dropped before the next.
        unsafe { self.out.part(first * self.sink.items, len * self.sink.items) }
    }
}
