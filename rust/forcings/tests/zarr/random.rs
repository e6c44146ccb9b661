//! Random arrays, chunks, shards and orders under random selections: every read is the whole array picked afterwards.

use crate::support::*;
use proptest::prelude::*;
use serde_json::{json, Value};

const FILL: f64 = -5.0;

/// An array of version 3, and what is read of it.
#[derive(Debug, Clone)]
struct Case {
    shape: Vec<usize>,
    chunk: Vec<usize>,
    /// Chunks of a shard along each axis; ones with `sharded` make shards of one chunk.
    per_shard: Vec<usize>,
    sharded: bool,
    /// The axes in the order in which a chunk runs through them.
    order: Vec<usize>,
    checksum: bool,
    /// Decides which chunks were never written.
    seed: usize,
    select: Vec<Select>,
    threads: usize,
}

#[derive(Debug, Clone)]
enum Select {
    All,
    Slice(usize, usize, usize),
    Indices(Vec<usize>),
}

impl Select {
    /// The selector for an axis of this extent, in its wire form, and the positions.
    fn on(&self, extent: usize) -> (Value, Vec<usize>) {
        match self {
            Select::All => (json!("all"), (0..extent).collect()),
            Select::Slice(start, len, step) => {
                let stop = (start + len).min(extent);
                (json!({ "slice": [start, stop, step] }), (*start..stop).step_by(*step).collect())
            }
            Select::Indices(list) => {
                let list: Vec<usize> = if extent == 0 { vec![] } else { list.iter().map(|i| i % extent).collect() };
                (json!({ "indices": list }), list)
            }
        }
    }
}

fn select() -> impl Strategy<Value = Select> {
    prop_oneof![
        Just(Select::All),
        (0..9usize, 0..9usize, 1..4usize).prop_map(|(start, len, step)| Select::Slice(start, len, step)),
        proptest::collection::vec(0..9usize, 0..5).prop_map(Select::Indices),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    (0..4usize).prop_flat_map(|rank| {
        let each = |low: usize, high: usize| proptest::collection::vec(low..=high, rank);
        let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        let selects = proptest::collection::vec(select(), rank);
        (each(0, 9), each(1, 4), each(1, 3), any::<(bool, bool)>(), order, any::<u16>(), selects, 1..4usize).prop_map(
            |(shape, chunk, per_shard, (sharded, checksum), order, seed, select, threads)| Case {
                per_shard: if sharded { per_shard } else { vec![1; shape.len()] },
                seed: seed.into(),
                shape,
                chunk,
                sharded,
                order,
                checksum,
                select,
                threads,
            },
        )
    })
}

impl Case {
    fn is_written(&self, chunk: &[usize]) -> bool {
        chunk.iter().fold(self.seed + 1, |n, c| n.wrapping_mul(31).wrapping_add(*c)) % 4 != 0
    }

    fn value(&self, at: &[usize]) -> f64 {
        let chunk: Vec<usize> = at.iter().zip(&self.chunk).map(|(a, c)| a / c).collect();
        if self.is_written(&chunk) {
            1.0 + linear(at, &self.shape) as f64
        } else {
            FILL
        }
    }

    /// The bytes of a chunk.
    fn encoded(&self, chunk: &[usize]) -> Vec<u8> {
        let extents: Vec<usize> = self.order.iter().map(|axis| self.chunk[*axis]).collect();
        let cell = |stored: Vec<usize>| {
            let mut at: Vec<usize> = chunk.iter().zip(&self.chunk).map(|(c, n)| c * n).collect();
            self.order.iter().zip(stored).for_each(|(axis, position)| at[*axis] += position);
            let inside = at.iter().zip(&self.shape).all(|(a, s)| a < s);
            if inside {
                self.value(&at)
            } else {
                99.0
            }
        };
        let bytes = f64_bytes(&positions(&extents).map(cell).collect::<Vec<_>>());
        if self.checksum {
            [&bytes[..], &crc32c(&bytes).to_le_bytes()].concat()
        } else {
            bytes
        }
    }

    fn write(&self, store: &Store) {
        let mut codecs = json!([{ "name": "transpose", "configuration": { "order": self.order } },
                                { "name": "bytes", "configuration": { "endian": "little" } }]);
        if self.checksum {
            codecs.as_array_mut().unwrap().push(json!("crc32c"));
        }
        let object: Vec<usize> = self.chunk.iter().zip(&self.per_shard).map(|(c, n)| c * n).collect();
        if self.sharded {
            codecs = json!([{ "name": "sharding_indexed", "configuration": {
                "chunk_shape": self.chunk, "codecs": codecs, "index_codecs": plain() } }]);
        }
        let metadata = with(v3("float64", &self.shape, &object, codecs), &[("fill_value", json!(FILL))]);
        store.put_json("q/zarr.json", &metadata);
        let grid: Vec<usize> = self.shape.iter().zip(&object).map(|(s, o)| s.div_ceil(*o)).collect();
        for coords in positions(&grid) {
            let (mut bytes, mut index, mut any) = (Vec::new(), Vec::new(), false);
            for within in positions(&self.per_shard) {
                let at = coords.iter().zip(&self.per_shard).zip(&within);
                let chunk: Vec<usize> = at.map(|((o, n), w)| o * n + w).collect();
                let (mut offset, mut len) = (u64::MAX, u64::MAX);
                if self.is_written(&chunk) {
                    let encoded = self.encoded(&chunk);
                    (offset, len, any) = (bytes.len() as u64, encoded.len() as u64, true);
                    bytes.extend(encoded);
                }
                index.extend([offset.to_le_bytes(), len.to_le_bytes()].concat());
            }
            if self.sharded {
                bytes.extend(index);
            }
            if any {
                let key = coords.iter().map(|c| format!("/{c}")).collect::<String>();
                store.put(&format!("q/c{key}"), bytes);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_read_is_the_whole_picked_afterwards(case in case()) {
        let store = Store::new();
        case.write(&store);
        let picks = || case.select.iter().zip(&case.shape).map(|(select, extent)| select.on(*extent));
        let lists: Vec<Vec<usize>> = picks().map(|(_, list)| list).collect();
        let json = json!({ "axes": picks().map(|(json, _)| json).collect::<Vec<_>>() });
        let options = forcings::provider::ProviderOptions {
            select: Some(forcings::dataset::Selection::from_value(&json).unwrap()),
            threads: case.threads,
            ..store.options(&["q"])
        };
        let data = forcings::provider::Provider::open(options).unwrap().materialize().unwrap();
        let shape: Vec<usize> = lists.iter().map(Vec::len).collect();
        let at = |at: Vec<usize>| case.value(&at.iter().zip(&lists).map(|(a, list)| list[*a]).collect::<Vec<_>>());
        prop_assert_eq!(&data.variables[0].shape, &shape);
        prop_assert_eq!(f64s(&data.variables[0]), positions(&shape).map(at).collect::<Vec<_>>());
    }
}
