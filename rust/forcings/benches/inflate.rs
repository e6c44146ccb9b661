//! DEFLATE streams of chunks, two at a time on one thread, against libdeflate, which takes one after the other.

#[path = "support/mod.rs"]
mod support;

use flate2::{write::ZlibEncoder, Compression};
use forcings::chunks::{
    fetch_chunk, fetch_pair, ByteSource, ChunkEntry, ChunkFetch, ChunkSite, Filter, MemorySource, Scratch,
};
use forcings::{Error, Result};
use std::io::Write;
use std::path::Path;
use support::{generator, median, timed, wanted, Row};

const ROUNDS: usize = 15;
const CHUNKS: usize = 16;
const FILTERS: [Filter; 1] = [Filter::Deflate];

/// What is in the chunks.
struct Kind {
    name: &'static str,
    elements: usize,
    /// How hard the compressor tries.
    level: u32,
    make: fn(usize, usize) -> Vec<u8>,
    /// How many times faster than one stream at a time two are to be.
    goal: Option<f64>,
}

const KINDS: [(&str, &Kind); 4] = [
    (
        "fields",
        &Kind { name: "a level of a field, shuffled", elements: 361 * 576, level: 4, make: field, goal: Some(1.15) },
    ),
    ("tiles", &Kind { name: "a tile of a field, shuffled", elements: 91 * 144, level: 4, make: field, goal: None }),
    ("loads", &Kind { name: "hourly loads, shuffled", elements: 30_000, level: 4, make: loads, goal: None }),
    ("plain", &Kind { name: "hourly loads as they are", elements: 30_000, level: 6, make: plain_loads, goal: None }),
];

/// Streams that follow each other, of chunks of the same length.
struct Case {
    source: MemorySource,
    entries: Vec<ChunkEntry>,
    len: usize,
}

fn main() -> Result<()> {
    for (part, kind) in KINDS {
        if wanted(part) {
            kind.case().map_err(|e| Error::io("a stream in memory", e))?.measure(kind)?;
        }
    }
    Ok(())
}

impl Kind {
    fn case(&self) -> std::io::Result<Case> {
        let (mut bytes, mut entries, mut len) = (Vec::new(), Vec::new(), 0);
        for chunk in 0..CHUNKS {
            let plain = (self.make)(chunk, self.elements);
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(self.level));
            encoder.write_all(&plain)?;
            let stream = encoder.finish()?;
            entries.push(ChunkEntry { offset: bytes.len() as u64, size: stream.len() as u32, filter_mask: 0 });
            bytes.extend_from_slice(&stream);
            len = plain.len();
        }
        Ok(Case { source: MemorySource::new("the benchmark", bytes), entries, len })
    }
}

impl Case {
    fn measure(&self, kind: &Kind) -> Result<()> {
        let mut rooms = [(); 2].map(|()| (vec![0; self.len], Scratch::new()));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            theirs.push(timed(|| self.one_by_one(&mut rooms))?.0);
            ours.push(timed(|| self.in_pairs(&mut rooms))?.0);
        }
        let row = format!("inflate {CHUNKS} chunks of {} bytes, {}", self.len, kind.name);
        let (ours_s, peer) = (median(ours), Some(("libdeflate", median(theirs))));
        Row { area: "chunks", row: &row, ours_s, peer, goal_ratio_peer: kind.goal, ..Row::default() }
            .print(&[("bytes", (CHUNKS * self.len).into()), ("stored_bytes", self.source.len().into())]);
        Ok(())
    }

    fn one_by_one(&self, rooms: &mut [(Vec<u8>, Scratch); 2]) -> Result<()> {
        for (entry, k) in self.entries.iter().zip([0, 1].into_iter().cycle()) {
            let (out, scratch) = &mut rooms[k];
            fetch_chunk(&self.source, *entry, &FILTERS, out, scratch, &site())?;
        }
        Ok(())
    }

    fn in_pairs(&self, rooms: &mut [(Vec<u8>, Scratch); 2]) -> Result<()> {
        for pair in self.entries.chunks_exact(2) {
            let [(a, scratch_a), (b, scratch_b)] = rooms;
            let fetch = |entry, out, scratch| ChunkFetch {
                source: &self.source,
                entry,
                filters: &FILTERS,
                out,
                scratch,
                site: site(),
            };
            for result in fetch_pair([fetch(pair[0], &mut a[..], scratch_a), fetch(pair[1], &mut b[..], scratch_b)]) {
                result?;
            }
        }
        Ok(())
    }
}

fn site() -> ChunkSite<'static> {
    ChunkSite { path: Path::new("the benchmark"), what: "the benchmark", chunk: 0 }
}

/// Waves and noise, kept to multiples of 1/64, as `write_epochs.py` makes them.
fn field(chunk: usize, elements: usize) -> Vec<u8> {
    let value = |k: usize| {
        let (y, x) = ((k / 576) as f64 / 361.0, (k % 576) as f64 / 576.0);
        let smooth = 30.0 * (12.6 * y + chunk as f64).sin() * (18.8 * x).cos() + 10.0 * (44.0 * (x + y)).sin();
        // The sum of 12 numbers spread evenly over 0 to 1 is about normal.
        let noise: f64 = (0..12).map(|part| uniform(chunk, k, part)).sum::<f64>() - 6.0;
        (((smooth + noise) * 64.0).round() / 64.0) as f32
    };
    planes((0..elements).map(|k| value(k).to_le_bytes()).collect())
}

fn loads(chunk: usize, elements: usize) -> Vec<u8> {
    planes((0..elements).map(|step| generator::value(chunk as u64, step as u64, 0).to_le_bytes()).collect())
}

fn plain_loads(chunk: usize, elements: usize) -> Vec<u8> {
    support::series_bytes(chunk, elements)
}

/// The bytes of equal significance one after the other.
fn planes<const W: usize>(values: Vec<[u8; W]>) -> Vec<u8> {
    (0..W).flat_map(|plane| values.iter().map(move |value| value[plane])).collect()
}

fn uniform(chunk: usize, k: usize, part: u64) -> f64 {
    let bits = generator::splitmix64((chunk as u64) << 40 | (k as u64) << 8 | part);
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
