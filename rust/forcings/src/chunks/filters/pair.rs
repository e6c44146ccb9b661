//! Two chunks at once: where both are DEFLATE streams, one thread decodes them in one loop, faster than one after the other.

use super::{
    check_place, checked_below, checked_len, decode_chunk, fetch_chunk, grown, is_filtered, ChunkSite, Scratch,
};
use crate::chunks::codecs::{CodecError, Decoded};
use crate::chunks::inflate::{Frame, Job};
use crate::chunks::pipeline::{check_pipeline, is_active, Below};
use crate::chunks::{ByteSource, ChunkEntry, Filter};
use crate::Result;

/// A chunk that is to be fetched as by [`fetch_chunk`], and where it goes.
pub struct ChunkFetch<'a> {
    /// What it is read from.
    pub source: &'a dyn ByteSource,
    /// Where it lies.
    pub entry: ChunkEntry,
    /// What is undone.
    pub filters: &'a [Filter],
    /// As long as what that gives.
    pub out: &'a mut [u8],
    /// Buffers; those of the first chunk of a pair have the state of the decoder.
    pub scratch: &'a mut Scratch,
    /// For error texts.
    pub site: ChunkSite<'a>,
}

/// A stream that was read, before it is inflated.
struct Stream {
    /// The stored bytes; the stream is the first `len` of them.
    raw: Vec<u8>,
    len: usize,
    /// The position of its step.
    step: usize,
    below: Below,
    /// Where it is inflated to, if other steps lie below its own.
    stage: Option<Vec<u8>>,
}

/// Fetches two chunks, each as [`fetch_chunk`] does; the outcome of one does not depend on the other.
pub fn fetch_pair(fetches: [ChunkFetch; 2]) -> [Result<()>; 2] {
    let [mut a, mut b] = fetches;
    if !a.is_deflated() || !b.is_deflated() {
        return [a.fetch(), b.fetch()];
    }
    let (mut stream_a, mut stream_b) = match (a.begin(), b.begin()) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(e), Ok(_)) => return [Err(e), b.fetch()],
        (Ok(_), Err(e)) => return [a.fetch(), Err(e)],
        (Err(first), Err(second)) => return [Err(first), Err(second)],
    };
    let jobs = [stream_a.job(a.out), stream_b.job(b.out)];
    let [found_a, found_b] = a.scratch.codecs.inflate_pair(Frame::Zlib, jobs);
    [a.finish(stream_a, found_a), b.finish(stream_b, found_b)]
}

impl ChunkFetch<'_> {
    /// Fetches it alone, as [`fetch_chunk`].
    ///
    /// # Errors
    /// Those of [`fetch_chunk`].
    pub fn fetch(self) -> Result<()> {
        let ChunkFetch { source, entry, filters, out, scratch, site } = self;
        fetch_chunk(source, entry, filters, out, scratch, &site)
    }

    /// Whether its stored bytes are a DEFLATE stream, but for a checksum.
    fn is_deflated(&self) -> bool {
        self.active().find(|(_, filter)| is_moving(filter)).is_some_and(|(_, filter)| *filter == Filter::Deflate)
    }

    /// The steps that count, last first.
    fn active(&self) -> impl Iterator<Item = (usize, &Filter)> {
        let mask = self.entry.filter_mask;
        self.filters.iter().enumerate().rev().filter(move |(i, _)| is_active(mask, *i))
    }

    /// Reads its stream, and makes room for what it holds.
    fn begin(&mut self) -> Result<Stream> {
        let (mask, site) = (self.entry.filter_mask, self.site);
        check_place(self.source, self.entry, &site)?;
        let mut raw = std::mem::take(&mut self.scratch.raw);
        let mut len = self.entry.size as usize;
        self.source.read_at(self.entry.offset, grown(&mut raw, len, &site)?)?;
        check_pipeline(self.filters, mask, &site)?;
        let mut step = 0;
        for (i, filter) in self.active() {
            if is_moving(filter) {
                step = i;
                break;
            }
            if *filter == Filter::Fletcher32 {
                len = checked_len(&raw[..len]).ok_or_else(|| site.damaged("the Fletcher-32 checksum differs"))?;
            }
        }
        let below = checked_below(self.filters, mask, step, len, self.out.len(), &site)?;
        let stage = match is_filtered(&self.filters[..step], mask) {
            // The first stage is for the steps below.
            true => {
                let mut stage = std::mem::take(&mut self.scratch.stages[1]);
                grown(&mut stage, below.most, &site)?;
                Some(stage)
            }
            false => None,
        };
        Ok(Stream { raw, len, step, below, stage })
    }

    /// Undoes the steps below a stream that was inflated, or says what was wrong with it, and puts the buffers back.
    fn finish(self, stream: Stream, found: Decoded<usize>) -> Result<()> {
        let ChunkFetch { entry, filters, out, scratch, site, .. } = self;
        let Stream { raw, step, below, stage, .. } = stream;
        let result = match found {
            Err(CodecError::Damaged(detail)) => Err(site.damaged(detail)),
            Err(CodecError::Unsupported(detail)) => Err(site.unsupported(&detail)),
            Ok(len) if below.exact && len != below.most => {
                Err(site.damaged(format_args!("it decodes to {len} bytes, {} are expected", below.most)))
            }
            Ok(len) => match &stage {
                Some(stage) => decode_chunk(&stage[..len], &filters[..step], entry.filter_mask, out, scratch, &site),
                None => Ok(()),
            },
        };
        scratch.raw = raw;
        if let Some(stage) = stage {
            scratch.stages[1] = stage;
        }
        result
    }
}

impl Stream {
    /// What is to be inflated, to the stage or to `out`.
    fn job<'a>(&'a mut self, out: &'a mut [u8]) -> Job<'a> {
        let to = match &mut self.stage {
            Some(stage) => &mut stage[..self.below.most],
            None => out,
        };
        Job { from: &self.raw[..self.len], to }
    }
}

/// Whether a step moves bytes.
fn is_moving(filter: &Filter) -> bool {
    !matches!(filter, Filter::Fletcher32 | Filter::Verbatim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::{encode_chunk, EncodeFilter, MemorySource};
    use proptest::prelude::*;
    use std::path::Path;

    /// Fletcher-32 in the pipeline of a file; ours does not write it.
    fn encoded(plain: &[u8], filters: &[Filter]) -> Vec<u8> {
        let steps: Vec<EncodeFilter> = filters
            .iter()
            .filter_map(|filter| match filter {
                Filter::Shuffle(width) => Some(EncodeFilter::Shuffle(*width)),
                Filter::Deflate => Some(EncodeFilter::Deflate(4)),
                _ => None,
            })
            .collect();
        let mut raw = encode_chunk(plain, &steps, &mut Scratch::new()).unwrap().to_vec();
        if filters.contains(&Filter::Fletcher32) {
            raw.extend_from_slice(&super::super::fletcher32(&raw).to_le_bytes());
        }
        raw
    }

    fn pipelines() -> impl Strategy<Value = Vec<Filter>> {
        prop_oneof![
            Just(vec![Filter::Deflate]),
            Just(vec![Filter::Shuffle(4), Filter::Deflate]),
            Just(vec![Filter::Shuffle(4), Filter::Deflate, Filter::Fletcher32]),
            Just(vec![Filter::Shuffle(4)]),
            Just(vec![]),
        ]
    }

    #[test]
    fn errors_tell_which_chunk_it_is_and_what_is_wrong() {
        let filters = [Filter::Shuffle(4), Filter::Deflate];
        let mut raw = encoded(&[7; 400], &filters);
        let whole = raw.clone();
        let size = raw.len() as u32;
        *raw.last_mut().unwrap() ^= 1;
        let source = MemorySource::new("a.nc", [whole, raw].concat());
        let [first, second] = [(0, 396), (size, 400)].map(|(offset, len)| (offset.into(), vec![0; len]));
        let (mut a, mut b) = (Scratch::new(), Scratch::new());
        let [(at_a, mut out_a), (at_b, mut out_b)] = [first, second];
        let fetch = |chunk, offset, out, scratch| ChunkFetch {
            source: &source,
            entry: ChunkEntry { offset, size, filter_mask: 0 },
            filters: &filters,
            out,
            scratch,
            site: ChunkSite { path: Path::new("a.nc"), what: "x", chunk },
        };
        let found = fetch_pair([fetch(3, at_a, &mut out_a[..], &mut a), fetch(4, at_b, &mut out_b[..], &mut b)]);
        assert_eq!(
            found.map(|result| result.unwrap_err().to_string()),
            [
                "a.nc: chunk 3 of x: it inflates to more than the 396 bytes that are expected",
                "a.nc: chunk 4 of x: its DEFLATE stream is damaged",
            ]
        );
    }

    proptest! {
        #[test]
        fn a_pair_is_fetched_as_each_chunk_alone(
            pipelines in (pipelines(), pipelines()), seeds in (any::<u32>(), any::<u32>()),
            lens in (1usize..3000, 1usize..3000), cut in (0u32..40, 0u32..40), masks in (0u32..4, 0u32..4),
            longer in (0usize..3, 0usize..3), flip in proptest::option::of((any::<usize>(), 0u32..8)),
        ) {
            let plain = |seed: u32, len: usize| -> Vec<u8> {
                (0..4 * len as u32).map(|k| ((k / 4).wrapping_mul(seed | 1) >> (k % 4 * 7)) as u8).collect()
            };
            let plains = [plain(seeds.0, lens.0), plain(seeds.1, lens.1)];
            let filters = [&pipelines.0[..], &pipelines.1[..]];
            let mut raws = [encoded(&plains[0], filters[0]), encoded(&plains[1], filters[1])];
            if let Some((at, bit)) = flip {
                let at = at % raws[1].len();
                raws[1][at] ^= 1 << bit;
            }
            let (cuts, masks) = ([cut.0, cut.1], [masks.0, masks.1]);
            let entries: [ChunkEntry; 2] = std::array::from_fn(|k| ChunkEntry {
                offset: if k == 0 { 0 } else { raws[0].len() as u64 },
                // Half of them are whole, and of those half have all their filters.
                size: raws[k].len() as u32 - cuts[k].saturating_sub(20).min(raws[k].len() as u32),
                filter_mask: if cuts[k] < 10 { 0 } else { masks[k] },
            });
            let source = MemorySource::new("a.nc", raws.concat());
            let site = |chunk| ChunkSite { path: Path::new("a.nc"), what: "x", chunk };
            let lens = [plains[0].len() + longer.0 / 2, plains[1].len() + longer.1 / 2];
            let alone: [_; 2] = std::array::from_fn(|k| {
                let mut out = vec![0; lens[k]];
                let found = fetch_chunk(&source, entries[k], filters[k], &mut out, &mut Scratch::new(), &site(k));
                found.map(|()| out).map_err(|e| e.kind())
            });
            let (mut a, mut b) = (vec![0; lens[0]], vec![0; lens[1]]);
            let (mut scratch_a, mut scratch_b) = (Scratch::new(), Scratch::new());
            // Twice: what the first pair leaves in the buffers must not matter.
            for _ in 0..2 {
                let fetch = |k: usize, out, scratch| ChunkFetch {
                    source: &source, entry: entries[k], filters: filters[k], out, scratch, site: site(k),
                };
                let [first, second] =
                    fetch_pair([fetch(0, &mut a[..], &mut scratch_a), fetch(1, &mut b[..], &mut scratch_b)]);
                for (found, (out, alone)) in [(first, (&a, &alone[0])), (second, (&b, &alone[1]))] {
                    prop_assert_eq!(&found.map(|()| out.clone()).map_err(|e| e.kind()), alone);
                }
            }
        }
    }
}
