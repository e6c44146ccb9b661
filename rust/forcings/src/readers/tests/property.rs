//! Every reader against whole series, over random stores.

use super::listed::{IRREGULAR, PERSISTENT};
use super::*;
use crate::series::SeriesData;

/// A few series of a random store: their type and element shape, how many they are, and after how many their values
/// repeat.
#[derive(Debug, Clone)]
struct Batch {
    dtype: DType,
    element_shape: Vec<usize>,
    columns: usize,
    repeats: u64,
}

/// How a random store is filled.
#[derive(Debug, Clone)]
struct Recipe {
    batches: Vec<Batch>,
    steps: usize,
    on_disk: bool,
    one_by_one: bool,
    compressed: bool,
    /// Which type is written first, and so decides on the layout of arrays that several have.
    first: usize,
    removed: Vec<usize>,
    /// Of the regular series, by column.
    period: Period,
    start: UnixMillis,
    ahead: Vec<usize>,
    longer: Vec<usize>,
}

fn batch() -> impl Strategy<Value = Batch> {
    let shapes = prop_oneof![
        4 => Just(vec![]), 1 => Just(vec![3]), 1 => Just(vec![2, 2]), 1 => Just(vec![700]), 1 => Just(vec![150_000]),
    ];
    (0u8..6, shapes, prop_oneof![4 => 1usize..5, 1 => Just(40)], 1u64..9).prop_map(
        |(code, element_shape, columns, repeats)| {
            let columns = if element_shape.iter().product::<usize>() > 1000 { columns.min(3) } else { columns };
            Batch { dtype: DType::from_code(code).unwrap(), element_shape, columns, repeats }
        },
    )
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let grids = prop_oneof![
        Just((HOUR, "2024-03-01T07:00:00Z")),
        Just((Period::Fixed(86_400_000), "1969-12-25T00:00:00Z")),
        Just((Period::Months(1), "2023-12-15T00:00:00Z")),
        Just((Period::Months(1), "2024-01-31T00:00:00Z")),
        Just((Period::Months(12), "2024-02-29T12:00:00Z")),
    ];
    let ragged = prop_oneof![Just(vec![0]), proptest::collection::vec(0usize..4, 1..5)];
    (
        proptest::collection::vec(batch(), 1..4),
        1usize..14,
        (any::<bool>(), any::<bool>(), any::<bool>(), 0usize..3),
        proptest::collection::vec(0usize..200, 0..4),
        grids,
        (ragged, prop_oneof![Just(vec![0]), proptest::collection::vec(0usize..3, 1..4)]),
    )
        .prop_map(|(batches, steps, (on_disk, one_by_one, compressed, first), removed, grid, (ahead, longer))| {
            Recipe {
                batches,
                steps,
                on_disk,
                one_by_one,
                compressed,
                first,
                removed,
                period: grid.0,
                start: UnixMillis::from_rfc3339(grid.1).unwrap(),
                ahead,
                longer,
            }
        })
}

impl Recipe {
    /// Instants of the irregular series, and breakpoints of every column.
    fn instants(&self, k: usize, len: usize) -> Vec<UnixMillis> {
        (0..len as i64).map(|i| hour(i * i + (k % 3) as i64 * (1 + i % 2))).collect()
    }

    fn data<'a>(&self, series_type: SeriesType, k: usize, values: &'a Array) -> SeriesData<'a> {
        let (len, values) = (values.shape()[0], values.view());
        match series_type {
            IRREGULAR => SeriesData::NonSequential { timestamps: self.instants(0, len), values },
            PERSISTENT => SeriesData::Persistent { timestamps: self.instants(k, len), values },
            _ => {
                let ahead = self.ahead[k % self.ahead.len()];
                let initial = self.period.add(self.start, -(ahead as i64)).unwrap();
                SeriesData::Single { initial, resolution: self.period, values }
            }
        }
    }

    /// A store with every type. Columns of several types may have one array.
    fn fill(&self, folder: &std::path::Path) -> Store {
        let path = folder.join("s.nc");
        let compression = if self.compressed { Compression::default() } else { Compression::None };
        let options = CreateOptions { compression, ..CreateOptions::default() };
        let store = if self.on_disk { Store::create(&path, &options) } else { Store::memory() }.unwrap();
        let mut ids: Vec<SeriesId> = Vec::new();
        let types = [SeriesType::SingleTimeSeries, IRREGULAR, PERSISTENT];
        for t in 0..3 {
            let series_type = types[(self.first + t) % 3];
            for (b, batch) in self.batches.iter().enumerate() {
                let longer = |k: usize| match series_type {
                    IRREGULAR => 0,
                    _ => self.longer[k % self.longer.len()],
                };
                let arrays: Vec<Array> = (0..batch.columns)
                    .map(|k| {
                        let shape = [self.steps + longer(k)].iter().chain(&batch.element_shape).copied().collect();
                        pattern(batch.dtype, shape, k as u64 % batch.repeats)
                    })
                    .collect();
                // Owners in an order that is not that of the columns.
                let items: Vec<NewSeries> = arrays
                    .iter()
                    .enumerate()
                    .map(|(k, a)| {
                        let owner = Owner::component((k as i64 * 7) % 5, "Bus");
                        NewSeries::new(owner, format!("{b}-{k}"), self.data(series_type, k, a))
                    })
                    .collect();
                match self.one_by_one {
                    true => ids.extend(items.iter().map(|item| store.add(item).unwrap())),
                    false => ids.extend(store.add_bulk(&items).unwrap()),
                }
            }
        }
        for k in &self.removed {
            store.remove(&[ids.swap_remove(k % ids.len())]).unwrap();
            if ids.is_empty() {
                break;
            }
        }
        match self.on_disk {
            true => {
                store.close().unwrap();
                Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap()
            }
            false => store,
        }
    }
}

/// The values of a reader's columns, as whole series.
struct Whole(Vec<Vec<crate::series::Series>>);

impl Whole {
    fn of(store: &Store, reader: &StaticReader) -> Self {
        let group = |g: &Group| g.columns().iter().map(|c| store.read(c.id()).unwrap()).collect();
        Whole(reader.groups().iter().map(group).collect())
    }

    /// What a group's buffer holds at an instant, by each series' own axis.
    fn at(&self, group: usize, at: UnixMillis) -> Vec<u8> {
        let mut bytes = Vec::new();
        for series in &self.0[group] {
            let row = match (&series.info.timestamps, series.info.series_type) {
                (Some(instants), IRREGULAR) => instants.iter().position(|t| *t == at).unwrap(),
                (Some(instants), _) => instants.iter().rposition(|t| *t <= at).unwrap(),
                (None, _) => series.info.grid().unwrap().instants().position(|t| t == at).unwrap(),
            };
            let block = series.values.bytes().len() / series.values.shape()[0];
            bytes.extend_from_slice(&series.values.bytes()[row * block..][..block]);
        }
        bytes
    }
}

/// Reads there, back, and in a random order.
fn check(store: &Store, reader: &mut StaticReader, order: &[usize]) -> std::result::Result<(), TestCaseError> {
    let whole = Whole::of(store, reader);
    let n = reader.len();
    if n == 0 {
        prop_assert!(reader.is_empty() && reader.groups().is_empty());
        return Ok(());
    }
    // A step function has no value before the last of the first breakpoints.
    let first = whole.0.iter().flatten().filter_map(|s| s.info.timestamps.as_ref()?.first().copied()).max();
    for step in (0..n).chain((0..n).rev()).chain(order.iter().map(|k| k % n)) {
        let at = reader.timestamp_at(step).unwrap();
        if first.is_some_and(|first| at < first) {
            prop_assert_eq!(kind_of(reader.read_step(step)), ErrorKind::OffGrid);
            prop_assert!((0..whole.0.len()).all(|g| reader.values(g).is_empty()));
            continue;
        }
        reader.read_step(step).unwrap();
        for g in 0..whole.0.len() {
            prop_assert!(reader.values(g) == whole.at(g, at), "group {} at {}", g, at);
        }
    }
    let instants = reader.timestamps();
    prop_assert!(instants.iter().enumerate().all(|(i, at)| reader.index_at(*at).unwrap() == i));
    super::shared::check(reader);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_reader_agrees_with_whole_series(
        recipe in recipe(), order in proptest::collection::vec(0usize..100, 1..20), skip in 0usize..5,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = recipe.fill(folder.path());
        let count = |reader: &StaticReader| reader.groups().iter().map(|g| g.columns().len()).sum::<usize>();
        for series_type in [IRREGULAR, PERSISTENT] {
            let filter = Filter { series_type: Some(series_type), ..Filter::default() };
            let mut reader = StaticReader::build(&store, &filter).unwrap();
            prop_assert_eq!(count(&reader), store.list(&filter).unwrap().len());
            check(&store, &mut reader, &order)?;
        }
        let filter = Filter { resolution: Some(recipe.period), ..Filter::default() };
        let listed = store.list(&filter).unwrap();
        let grids: Vec<crate::time::Grid> = listed.iter().map(|s| s.grid().unwrap()).collect();
        match StaticReader::build(&store, &filter) {
            Ok(mut reader) => {
                prop_assert!(grids.windows(2).all(|pair| pair[0] == pair[1]));
                prop_assert_eq!(count(&reader), listed.len());
                check(&store, &mut reader, &order)?;
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidParameter);
                prop_assert!(grids.windows(2).any(|pair| pair[0] != pair[1]));
            }
        }
        // A window that begins at a step of the grid that all series were cut from.
        let start = recipe.period.add(recipe.start, skip as i64).unwrap();
        let options = StaticReaderOptions { filter, start: Some(start.into()), extent: None };
        let own: Option<Vec<Vec<UnixMillis>>> = grids
            .iter()
            .map(|grid| grid.instants().position(|t| t == start).map(|k| grid.instants().skip(k).collect()))
            .collect();
        let least = own.iter().flatten().map(Vec::len).min().unwrap_or(0);
        let same = |own: &Vec<UnixMillis>| {
            (0..least).all(|j| recipe.period.add(start, j as i64).unwrap() == own[j])
        };
        match StaticReader::with_options(&store, &options) {
            Ok(mut reader) => {
                prop_assert!(own.iter().flatten().all(same));
                prop_assert_eq!((count(&reader), reader.len()), (listed.len(), least));
                check(&store, &mut reader, &order)?;
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidParameter);
                prop_assert!(own.is_none_or(|own| !own.iter().all(same)), "{}", error);
            }
        }
    }
}
