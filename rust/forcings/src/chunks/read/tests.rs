mod together;

use super::*;
use crate::chunks::{encode_chunk, ChunkEntry, ChunkTable, EncodeFilter, Filter, MemorySource, Scratch};
use crate::ErrorKind;
use proptest::prelude::*;

/// A variable, its bytes as a source and as a row-major array.
#[derive(Debug)]
struct Case {
    source: MemorySource,
    layout: Layout,
    shape: Vec<u64>,
    width: usize,
    plain: Vec<u8>,
    fill: Option<Vec<u8>>,
}

impl Case {
    fn request<'a>(&'a self, axes: &'a [AxisRead]) -> ReadRequest<'a> {
        ReadRequest {
            source: &self.source,
            layout: &self.layout,
            shape: &self.shape,
            element_width: self.width,
            fill: self.fill.as_deref(),
            axes,
            what: "variable \"u\"",
        }
    }

    fn read(&self, axes: &[AxisRead], threads: usize) -> Result<(Vec<u8>, ReadStats)> {
        let mut out = vec![0xcd; self.expected(axes).len()];
        let stats = read_bytes_into(&self.request(axes), &mut out, threads)?;
        Ok((out, stats))
    }

    /// The selected bytes, by the definition.
    fn expected(&self, axes: &[AxisRead]) -> Vec<u8> {
        let picks: Vec<Vec<u64>> = axes
            .iter()
            .zip(&self.shape)
            .map(|(read, extent)| match read {
                AxisRead::All => (0..*extent).collect(),
                AxisRead::Slice { start, stop, step } => (*start..*stop).step_by(*step as usize).collect(),
                AxisRead::Indices(list) => list.clone(),
            })
            .collect();
        let mut out = Vec::new();
        for k in 0..picks.iter().map(Vec::len).product::<usize>() {
            let mut rest = k;
            let mut at: Vec<u64> = picks
                .iter()
                .rev()
                .map(|p| {
                    let i = p[rest % p.len()];
                    rest /= p.len();
                    i
                })
                .collect();
            at.reverse();
            let cell = at.iter().zip(&self.shape).fold(0, |n, (i, extent)| n * extent + i) as usize * self.width;
            out.extend_from_slice(&self.plain[cell..cell + self.width]);
        }
        out
    }
}

/// What a case is made of; `noise` supplies every arbitrary byte and choice.
#[derive(Debug, Clone)]
struct Recipe {
    axes: Vec<(u64, u64, AxisRead)>,
    width: usize,
    kind: usize,
    filters: Vec<Filter>,
    filled: bool,
    noise: Vec<u8>,
}

fn axis() -> impl Strategy<Value = (u64, u64, AxisRead)> {
    (0u64..9, 1u64..11).prop_flat_map(|(extent, chunk)| {
        let read = if extent == 0 {
            Just(AxisRead::All).boxed()
        } else {
            prop_oneof![
                3 => Just(AxisRead::All),
                2 => (0..=extent, 0..=extent, 1u64..4).prop_map(|(a, b, step)| AxisRead::Slice {
                    start: a.min(b), stop: a.max(b), step
                }),
                2 => proptest::collection::vec(0..extent, 0..7).prop_map(AxisRead::Indices),
            ]
            .boxed()
        };
        (Just(extent), Just(chunk), read)
    })
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let filters = prop_oneof![
        Just(vec![]),
        Just(vec![Filter::Deflate]),
        Just(vec![Filter::Shuffle(8), Filter::Deflate]),
        Just(vec![Filter::Shuffle(4)]),
        Just(vec![Filter::Shuffle(3), Filter::Deflate]),
    ];
    let noise = proptest::collection::vec(any::<u8>(), 64);
    (proptest::collection::vec(axis(), 0..4), 1usize..9, 0usize..5, filters, any::<bool>(), noise)
        .prop_map(|(axes, width, kind, filters, filled, noise)| Recipe { axes, width, kind, filters, filled, noise })
}

/// Writes the variable of a recipe.
fn build(recipe: &Recipe) -> Case {
    let shape: Vec<u64> = recipe.axes.iter().map(|a| a.0).collect();
    let width = recipe.width;
    let mut noise = recipe.noise.iter().cycle().enumerate().map(|(i, b)| b.wrapping_mul(i as u8 | 1));
    let len = shape.iter().product::<u64>() as usize * width;
    let mut plain: Vec<u8> = noise.by_ref().take(len).collect();
    let fill: Option<Vec<u8>> = recipe.filled.then(|| (0..width as u8).map(|b| 200 + b).collect());
    let fill_cell = fill.clone().unwrap_or(vec![0; width]);
    let mut bytes = vec![0x55; 13];
    let layout = match recipe.kind {
        0 => {
            bytes.extend_from_slice(&plain);
            Layout::Contiguous { offset: 13 }
        }
        1 => Layout::Compact(plain.clone()),
        2 if !shape.is_empty() => {
            let record = shape[1..].iter().product::<u64>() as usize * width;
            for chunk in plain.chunks(record.max(1)) {
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(&[0x77; 5]);
            }
            Layout::Records { offset: 13, stride: record as u64 + 5 }
        }
        3 => {
            plain = fill_cell.iter().copied().cycle().take(len).collect();
            Layout::Unallocated
        }
        _ if shape.is_empty() => {
            bytes.extend_from_slice(&plain);
            Layout::Contiguous { offset: 13 }
        }
        _ => Layout::Chunked(write_chunks(recipe, &shape, &mut plain, &fill_cell, &mut bytes, &mut noise)),
    };
    Case { source: MemorySource::new("a.nc", bytes), layout, shape, width, plain, fill }
}

fn write_chunks(
    recipe: &Recipe,
    shape: &[u64],
    plain: &mut [u8],
    fill: &[u8],
    bytes: &mut Vec<u8>,
    noise: &mut impl Iterator<Item = u8>,
) -> ChunkTable {
    let chunk_shape: Vec<u64> = recipe.axes.iter().map(|a| a.1).collect();
    let grid: Vec<u64> = shape.iter().zip(&chunk_shape).map(|(s, c)| s.div_ceil(*c)).collect();
    let cells = chunk_shape.iter().product::<u64>();
    let mut entries = Vec::new();
    for chunk in 0..grid.iter().product::<u64>() {
        let absent = noise.next().unwrap() % 5 == 0;
        let mut content = Vec::new();
        for cell in 0..cells {
            let (mut c, mut k) = (chunk, cell);
            let mut at = vec![0; shape.len()];
            for axis in (0..shape.len()).rev() {
                at[axis] = c % grid[axis] * chunk_shape[axis] + k % chunk_shape[axis];
                (c, k) = (c / grid[axis], k / chunk_shape[axis]);
            }
            if at.iter().zip(shape).all(|(i, extent)| i < extent) {
                let place = at.iter().zip(shape).fold(0, |n, (i, extent)| n * extent + i) as usize * recipe.width;
                if absent {
                    plain[place..place + recipe.width].copy_from_slice(fill);
                }
                content.extend_from_slice(&plain[place..place + recipe.width]);
            } else {
                content.extend(noise.by_ref().take(recipe.width));
            }
        }
        if absent {
            entries.push(ChunkEntry::ABSENT);
            continue;
        }
        let skipped = u32::from(noise.next().unwrap() % 4 == 0);
        let filters: Vec<EncodeFilter> = recipe.filters[(skipped as usize).min(recipe.filters.len())..]
            .iter()
            .map(|f| match f {
                Filter::Shuffle(width) => EncodeFilter::Shuffle(*width),
                _ => EncodeFilter::Deflate(1),
            })
            .collect();
        let stored = encode_chunk(&content, &filters, &mut Scratch::new()).unwrap();
        entries.push(ChunkEntry { offset: bytes.len() as u64, size: stored.len() as u32, filter_mask: skipped });
        bytes.extend_from_slice(&stored);
        bytes.push(0x99);
    }
    ChunkTable { chunk_shape, grid, filters: recipe.filters.clone(), entries }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn every_layout_and_selection_agrees_with_the_definition(recipe in recipe(), threads in 1usize..4) {
        let case = build(&recipe);
        let axes: Vec<AxisRead> = recipe.axes.iter().map(|a| a.2.clone()).collect();
        let expected = case.expected(&axes);
        let (got, stats) = case.read(&axes, threads).unwrap();
        prop_assert_eq!(&got, &expected);
        if let Layout::Chunked(table) = &case.layout {
            prop_assert!(stats.chunks_inflated <= table.entries.len() as u64);
        }
        // Through a conversion to items of another size, into memory of the caller's and into new memory.
        let number = |element: &[u8]| element.iter().fold(7u64, |n, b| n << 8 | u64::from(*b));
        let convert = |raw: &[u8], items: &mut [u64]| {
            raw.chunks_exact(case.width).zip(items).for_each(|(element, item)| *item = number(element));
        };
        let wanted: Vec<u64> = expected.chunks_exact(case.width).map(number).collect();
        let mut numbers = vec![u64::MAX; wanted.len()];
        read_into(&case.request(&axes), &mut numbers, threads, &convert).unwrap();
        prop_assert_eq!(&numbers, &wanted);
        prop_assert_eq!(read_new(&case.request(&axes), wanted.len(), threads, &convert).unwrap(), wanted);
    }

    #[test]
    fn damaged_sources_give_an_error_or_an_answer_but_no_panic(
        recipe in recipe(), cut in 0usize..400, entry in any::<(u64, u32, u32)>(), small in any::<bool>(),
    ) {
        let mut case = build(&recipe);
        let axes: Vec<AxisRead> = recipe.axes.iter().map(|a| a.2.clone()).collect();
        let mut bytes = vec![0; case.source.len() as usize];
        case.source.read_at(0, &mut bytes).unwrap();
        bytes.truncate(cut);
        case.source = MemorySource::new("a.nc", bytes);
        if let Layout::Chunked(table) = &mut case.layout {
            if let Some(first) = table.entries.first_mut() {
                let offset = if small { entry.0 % 500 } else { entry.0 };
                let size = if small { entry.1 % 100 } else { entry.1 };
                *first = ChunkEntry { offset, size, filter_mask: entry.2 % 4 };
            }
        }
        if let Err(error) = case.read(&axes, 2) {
            prop_assert_eq!(error.kind(), ErrorKind::Format);
        }
        let count = case.expected(&axes).len() / case.width;
        let first = |raw: &[u8], items: &mut [u8]| {
            raw.chunks_exact(case.width).zip(items).for_each(|(element, item)| *item = element[0]);
        };
        match read_new(&case.request(&axes), count, 2, &first) {
            Ok(items) => prop_assert_eq!(items.len(), count),
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::Format),
        }
    }
}

/// 4 x 6 elements of one byte, `10 * row + column`, in chunks of 2 x 4, none of them absent.
fn table_4_by_6(filters: Vec<Filter>) -> Case {
    let mut plain: Vec<u8> = (0..4).flat_map(|row| (0..6).map(move |column| 10 * row + column)).collect();
    let axes = vec![(4, 2, AxisRead::All), (6, 4, AxisRead::All)];
    let recipe = Recipe { axes, width: 1, kind: 4, filters, filled: false, noise: Vec::new() };
    let mut bytes = Vec::new();
    let table = write_chunks(&recipe, &[4, 6], &mut plain, &[0], &mut bytes, &mut std::iter::repeat(1));
    let (source, layout) = (MemorySource::new("a.nc", bytes), Layout::Chunked(table));
    Case { source, layout, shape: vec![4, 6], width: 1, plain, fill: None }
}

#[test]
fn only_touched_chunks_are_read_and_each_once() {
    let case = table_4_by_6(vec![Filter::Deflate]);
    let (got, stats) =
        case.read(&[AxisRead::Indices(vec![1, 0, 1]), AxisRead::Slice { start: 3, stop: 6, step: 2 }], 1).unwrap();
    assert_eq!(got, [13, 15, 3, 5, 13, 15]);
    assert_eq!(stats.chunks_inflated, 2);
    let (got, stats) = case
        .read(&[AxisRead::Slice { start: 2, stop: 3, step: 1 }, AxisRead::Slice { start: 0, stop: 4, step: 1 }], 1)
        .unwrap();
    assert_eq!(got, [20, 21, 22, 23]);
    assert_eq!(stats.chunks_inflated, 1);
    let (_, stats) = case.read(&[AxisRead::All, AxisRead::All], 2).unwrap();
    assert_eq!(stats.chunks_inflated, 4);
}

#[test]
fn an_unknown_filter_names_the_variable() {
    let mut case = table_4_by_6(vec![]);
    if let Layout::Chunked(table) = &mut case.layout {
        table.filters = vec![Filter::Unknown { id: 307, name: "bzip2".into() }];
    }
    let error = case.read(&[AxisRead::All, AxisRead::All], 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("variable \"u\""), "{error}");
}

#[test]
fn the_first_damaged_chunk_is_named_on_any_number_of_threads() {
    let mut case = table_4_by_6(vec![Filter::Deflate]);
    if let Layout::Chunked(table) = &mut case.layout {
        table.entries[2].offset += 1;
        table.entries[3].offset += 1;
    }
    for threads in 1..4 {
        let text = case.read(&[AxisRead::All, AxisRead::All], threads).unwrap_err().to_string();
        assert!(text.starts_with("a.nc: chunk 2 of variable \"u\""), "{text}");
    }
}

#[test]
fn a_table_that_does_not_fit_the_shape_is_refused() {
    for change in 0..4 {
        let mut case = table_4_by_6(vec![]);
        if let Layout::Chunked(table) = &mut case.layout {
            match change {
                0 => table.entries.truncate(3),
                1 => table.chunk_shape[0] = 0,
                2 => table.grid = vec![4, 1],
                _ => table.chunk_shape = vec![8],
            }
        }
        assert_eq!(case.read(&[AxisRead::All, AxisRead::All], 1).unwrap_err().kind(), ErrorKind::Format);
    }
}

#[test]
fn offsets_that_overflow_are_refused() {
    let plain = vec![0; 6];
    let source = MemorySource::new("a.nc", vec![0; 10]);
    for layout in [Layout::Contiguous { offset: u64::MAX - 2 }, Layout::Records { offset: 0, stride: u64::MAX / 2 + 1 }]
    {
        let case =
            Case { source: source.clone(), layout, shape: vec![3, 2], width: 1, plain: plain.clone(), fill: None };
        assert_eq!(case.read(&[AxisRead::All, AxisRead::All], 1).unwrap_err().kind(), ErrorKind::Format);
    }
}

#[test]
fn buffers_and_selections_that_do_not_fit_are_refused() {
    let case = table_4_by_6(vec![]);
    let kind = |axes: &[AxisRead], len| read_bytes_into(&case.request(axes), &mut vec![0; len], 1).unwrap_err().kind();
    assert_eq!(kind(&[AxisRead::All, AxisRead::All], 23), ErrorKind::InvalidParameter);
    assert_eq!(kind(&[AxisRead::All], 24), ErrorKind::InvalidParameter);
    assert_eq!(kind(&[AxisRead::Indices(vec![4]), AxisRead::All], 6), ErrorKind::Selection);
    let new =
        |len| read_new(&case.request(&[AxisRead::All, AxisRead::All]), len, 1, &|raw, out| out.copy_from_slice(raw));
    assert_eq!(new(23).unwrap_err().kind(), ErrorKind::InvalidParameter);
    assert_eq!(new(usize::MAX / 2).unwrap_err().kind(), ErrorKind::Format);
    assert_eq!(new(24).unwrap(), case.plain);
}

#[test]
fn long_runs_of_shuffled_chunks_are_exact() {
    // Two chunks of 3 x 2500 elements: each row is several strips.
    let values: Vec<u32> = (0..15_000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let plain: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let (mut bytes, mut entries) = (Vec::new(), Vec::new());
    for chunk in plain.chunks(4 * 7500) {
        let stored = encode_chunk(chunk, &EncodeFilter::pipeline(1, true, 4), &mut Scratch::new()).unwrap();
        entries.push(ChunkEntry { offset: bytes.len() as u64, size: stored.len() as u32, filter_mask: 0 });
        bytes.extend(stored);
    }
    let filters = vec![Filter::Shuffle(4), Filter::Deflate];
    let layout = Layout::Chunked(ChunkTable { chunk_shape: vec![3, 2500], grid: vec![2, 1], filters, entries });
    let source = MemorySource::new("a.nc", bytes);
    let case = Case { source, layout, shape: vec![6, 2500], width: 4, plain, fill: None };
    for axes in [
        [AxisRead::All, AxisRead::All],
        [AxisRead::Slice { start: 1, stop: 5, step: 1 }, AxisRead::Slice { start: 3, stop: 2499, step: 1 }],
        [AxisRead::All, AxisRead::Slice { start: 5, stop: 2500, step: 2 }],
        [AxisRead::Indices(vec![5, 0, 0]), AxisRead::Indices((0..2500).rev().collect())],
    ] {
        let wanted: Vec<f64> =
            case.expected(&axes).chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]).into()).collect();
        let convert = |raw: &[u8], out: &mut [f64]| {
            let numbers = raw.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            numbers.zip(out).for_each(|(number, item)| *item = number.into());
        };
        for threads in [1, 2] {
            assert!(read_new(&case.request(&axes), wanted.len(), threads, &convert).unwrap() == wanted, "{axes:?}");
        }
    }
}

#[test]
fn a_large_contiguous_read_is_exact_on_several_threads() {
    let plain: Vec<u8> = (0..5_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let source = MemorySource::new("a.nc", plain.clone());
    let shape = vec![1250, 500];
    let case = Case { source, layout: Layout::Contiguous { offset: 0 }, shape, width: 8, plain, fill: None };
    for axes in [
        [AxisRead::All, AxisRead::All],
        [AxisRead::Slice { start: 1, stop: 1249, step: 1 }, AxisRead::All],
        [AxisRead::All, AxisRead::Slice { start: 7, stop: 9, step: 1 }],
        [AxisRead::Slice { start: 3, stop: 1250, step: 400 }, AxisRead::Indices(vec![499, 0, 250])],
    ] {
        for threads in [1, 3] {
            let (got, stats) = case.read(&axes, threads).unwrap();
            assert!(got == case.expected(&axes), "{axes:?}");
            assert!(stats.bytes_read >= got.len() as u64);
        }
    }
}
