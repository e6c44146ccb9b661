//! Sequences of changes against a map from hash to array.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
enum Step {
    Put { pool: usize, seed: usize },
    Batch { items: Vec<(usize, usize)> },
    Standalone { items: Vec<(usize, usize)>, windows: bool },
    Remove { at: Vec<prop::sample::Index> },
    Reopen,
}

fn pools() -> Vec<PoolKey> {
    vec![
        pool(DType::F64, &[], 40),
        pool(DType::F64, &[2, 3], 7),
        pool(DType::Bool, &[], 5),
        pool(DType::I64, &[], 0),
        pool(DType::F32, &[0], 3),
        pool(DType::F64, &[70_000], 2),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let item = (0..6usize, 0..12usize);
    prop_oneof![
        4 => item.clone().prop_map(|(pool, seed)| Step::Put { pool, seed }),
        3 => prop::collection::vec(item.clone(), 0..9).prop_map(|items| Step::Batch { items }),
        3 => (prop::collection::vec(item, 0..4), any::<bool>())
            .prop_map(|(items, windows)| Step::Standalone { items, windows }),
        3 => prop::collection::vec(any::<prop::sample::Index>(), 1..4).prop_map(|at| Step::Remove { at }),
        2 => Just(Step::Reopen),
    ]
}

/// Where the file is kept, and how it is opened anew.
enum Home {
    Memory(Arc<MemoryFile>),
    Disk(tempfile::TempDir),
}

impl Home {
    fn layer(&self, create: bool) -> Arc<dyn FileLayer> {
        match self {
            Home::Memory(file) => file.clone(),
            Home::Disk(dir) if create => Arc::new(PlainFile::create(dir.path().join("s.nc"), false).unwrap()),
            Home::Disk(dir) => Arc::new(PlainFile::open(dir.path().join("s.nc"), false).unwrap()),
        }
    }
}

/// What the file holds: the arrays that are found, and those that are variables of their own, removed ones included.
#[derive(Default)]
struct Model {
    found: BTreeMap<ArrayHash, Array>,
    variables: BTreeMap<ArrayHash, Array>,
}

fn check(file: &ArrayFile, Model { found: model, variables }: &Model) {
    let mut hashes = file.hashes();
    hashes.sort();
    assert!(hashes.iter().eq(model.keys()));
    for (array, expected) in file.read_many(&hashes).unwrap().iter().zip(model.values()) {
        assert_eq!(array, expected);
    }
    for (hash, expected) in model {
        let length = expected.shape()[0];
        let rows = length / 3..length - length / 4;
        let step = expected.bytes().len() / length.max(1);
        let array = file.read_rows(hash, rows.clone()).unwrap();
        assert_eq!(array.bytes(), &expected.bytes()[rows.start * step..rows.end * step]);
        if let [_, columns, rest @ ..] = expected.shape() {
            let part = columns / 3..columns - columns / 4;
            let slab = file.read_slab(hash, 1, part.clone()).unwrap();
            let block = rest.iter().product::<usize>() * expected.dtype().width();
            let rows = expected.bytes().chunks((columns * block).max(1));
            let picked: Vec<u8> = rows.flat_map(|row| &row[part.start * block..part.end * block]).copied().collect();
            assert_eq!(slab.bytes(), picked);
        }
    }
    let mut columns = BTreeMap::new();
    for dataset in file.datasets() {
        for (column, hash) in dataset.state.read().hashes.iter().enumerate() {
            if let Some(hash) = hash {
                assert!(columns.insert(*hash, column).is_none(), "a hash has two columns");
            }
        }
    }
    for hash in model.keys() {
        assert!(columns.contains_key(hash) != variables.contains_key(hash), "an array has one place");
    }
    assert!(columns.keys().all(|hash| model.contains_key(hash)));
}

fn run(home: &Home, compression: Compression, steps: &[Step]) {
    let pools = pools();
    let mut file = ArrayFile::create(home.layer(true), compression, &[]).unwrap();
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Put { pool, seed } => {
                let array = array(&pools[*pool], *seed);
                let hash = array.view().hash();
                let staged = file.put_one(&pools[*pool], hash, array.view()).unwrap();
                assert_eq!(staged, !model.found.contains_key(&hash));
                model.found.entry(hash).or_insert(array);
            }
            Step::Batch { items } => {
                let arrays: Vec<_> = items.iter().map(|&(p, seed)| (&pools[p], array(&pools[p], seed))).collect();
                let items: Vec<_> =
                    arrays.iter().map(|(pool, a)| ((*pool).clone(), a.view().hash(), a.view())).collect();
                let staged = file.put_batch(&items).unwrap();
                for (_, array) in &arrays {
                    let hash = array.view().hash();
                    assert_eq!(staged.contains(&hash), !model.found.contains_key(&hash));
                }
                model.found.extend(arrays.into_iter().map(|(_, array)| (array.view().hash(), array)));
            }
            Step::Standalone { items, windows } => {
                let arrays: Vec<Array> = items.iter().map(|&(p, seed)| array(&pools[p], seed)).collect();
                let chunking = |a: &Array| match *windows && a.shape().len() > 1 {
                    true => Chunking::Windows { axis: 1 },
                    false => Chunking::Whole,
                };
                let items: Vec<_> = arrays.iter().map(|a| (chunking(a), a.view().hash(), a.view())).collect();
                let staged = file.put_standalone(&items).unwrap();
                for array in arrays {
                    let hash = array.view().hash();
                    assert_eq!(staged.contains(&hash), !model.found.contains_key(&hash));
                    if staged.contains(&hash) {
                        model.variables.insert(hash, array.clone());
                    }
                }
                let new = staged.iter().map(|hash| (*hash, model.variables[hash].clone()));
                model.found.extend(new.collect::<Vec<_>>());
            }
            Step::Remove { at } => {
                let hashes: Vec<ArrayHash> = model.found.keys().copied().collect();
                if !hashes.is_empty() {
                    let gone: Vec<ArrayHash> = at.iter().map(|i| *i.get(&hashes)).collect();
                    file.remove_many(&gone).unwrap();
                    model.found.retain(|hash, _| !gone.contains(hash));
                }
            }
            Step::Reopen => {
                if let Home::Disk(_) = home {
                    file.close().unwrap();
                }
                drop(file);
                file = ArrayFile::open(home.layer(false)).unwrap();
                // Variables stay in the file, and are found again.
                model.found.extend(model.variables.clone());
            }
        }
        check(&file, &model);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn in_memory(steps in prop::collection::vec(step(), 1..14)) {
        run(&Home::Memory(Arc::new(MemoryFile::new())), Compression::None, &steps);
    }

    #[test]
    fn on_disk(steps in prop::collection::vec(step(), 1..14), level in 0..4u8, shuffle in any::<bool>()) {
        run(&Home::Disk(tempfile::tempdir().unwrap()), Compression::Deflate { level, shuffle }, &steps);
    }
}
