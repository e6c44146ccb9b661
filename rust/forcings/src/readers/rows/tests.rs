use super::*;
use crate::chunks::{encode_chunk, ChunkEntry, ChunkTable, EncodeFilter, Filter, MemorySource, Scratch};
use crate::ErrorKind;
use proptest::prelude::*;

/// A dataset with `plain` as its row-major bytes, the part of it that was written.
struct Dataset {
    source: MemorySource,
    layout: Layout,
    shape: Vec<u64>,
    width: usize,
    plain: Vec<u8>,
}

impl Dataset {
    fn rows(&self) -> RowSource<'_> {
        let Dataset { source, layout, shape, width, .. } = self;
        RowSource { source, layout, shape, width: *width, what: "dataset d" }
    }

    fn block(&self) -> usize {
        self.shape[2..].iter().product::<u64>() as usize * self.width
    }

    /// Cells that put `columns` one behind the other.
    fn cells(&self, columns: &[usize]) -> Vec<Cell> {
        columns.iter().enumerate().map(|(k, &column)| Cell { column, at: k * self.block() }).collect()
    }

    fn expected(&self, row: u64, columns: &[usize]) -> Vec<u8> {
        let (block, stride) = (self.block(), self.shape[1] as usize * self.block());
        let start = |column: usize| row as usize * stride + column * block;
        columns.iter().flat_map(|&c| self.plain[start(c)..start(c) + block].to_vec()).collect()
    }
}

fn chunked(shape: &[u64], chunk_shape: &[u64], width: usize, filters: &[EncodeFilter]) -> Dataset {
    let cells = shape.iter().product::<u64>() as usize;
    let plain: Vec<u8> = (0..cells * width).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    let grid: Vec<u64> = shape.iter().zip(chunk_shape).map(|(s, c)| s.div_ceil(*c)).collect();
    let (mut bytes, mut entries) = (vec![0xaa; 3], Vec::new());
    let mut scratch = Scratch::new();
    for chunk in 0..grid.iter().product::<u64>() {
        let mut content = Vec::new();
        for cell in 0..chunk_shape.iter().product::<u64>() {
            let (mut c, mut k, mut place, mut scale, mut inside) = (chunk, cell, 0, 1, true);
            for axis in (0..shape.len()).rev() {
                let at = c % grid[axis] * chunk_shape[axis] + k % chunk_shape[axis];
                inside &= at < shape[axis];
                place += at * scale;
                scale *= shape[axis];
                (c, k) = (c / grid[axis], k / chunk_shape[axis]);
            }
            let place = place as usize * width;
            if !inside {
                content.extend(std::iter::repeat_n(0x5a, width));
                continue;
            }
            content.extend_from_slice(&plain[place..place + width]);
        }
        let stored = encode_chunk(&content, filters, &mut scratch).unwrap();
        entries.push(ChunkEntry { offset: bytes.len() as u64, size: stored.len() as u32, filter_mask: 0 });
        bytes.extend_from_slice(&stored);
    }
    let filters: Vec<Filter> = filters.iter().map(|f| f.decoder()).collect();
    let layout = Layout::Chunked(ChunkTable { chunk_shape: chunk_shape.to_vec(), grid, filters, entries });
    Dataset { source: MemorySource::new("a.nc", bytes), layout, shape: shape.to_vec(), width, plain }
}

fn unchunked(shape: &[u64], width: usize, compact: bool) -> Dataset {
    let mut dataset = chunked(shape, shape, width, &[]);
    dataset.layout = match compact {
        true => Layout::Compact(dataset.plain.clone()),
        false => Layout::Contiguous { offset: 3 },
    };
    dataset
}

fn deflate(width: usize) -> Vec<EncodeFilter> {
    EncodeFilter::pipeline(1, true, width)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn rows_in_any_order_agree_with_the_definition(
        length in 1u64..20,
        columns in 1u64..9,
        element in proptest::collection::vec((1u64..4, 1u64..5), 0..3),
        chunk in (1u64..22, 1u64..11),
        width in prop_oneof![Just(1usize), Just(4), Just(8)],
        kind in 0usize..5,
        picks in proptest::collection::vec(0usize..9, 0..9),
        order in proptest::collection::vec(0u64..20, 1..30),
    ) {
        let shape: Vec<u64> = [length, columns].into_iter().chain(element.iter().map(|e| e.0)).collect();
        let chunk_shape: Vec<u64> = [chunk.0, chunk.1].into_iter().chain(element.iter().map(|e| e.1)).collect();
        let dataset = match kind {
            0 => unchunked(&shape, width, false),
            1 => unchunked(&shape, width, true),
            2 => chunked(&shape, &chunk_shape, width, &deflate(width)),
            3 => chunked(&shape, &chunk_shape, width, &[]),
            _ => chunked(&shape, &[&chunk_shape[..2], &shape[2..]].concat(), width, &deflate(width)),
        };
        let picks: Vec<usize> = picks.into_iter().map(|p| p % columns as usize).collect();
        let mut reader = RowReader::new(&dataset.rows(), &dataset.cells(&picks)).unwrap();
        let mut out = vec![0xcd; picks.len() * dataset.block()];
        for row in order.into_iter().map(|r| r % length) {
            reader.read(&dataset.rows(), row, &mut out).unwrap();
            prop_assert_eq!(&out, &dataset.expected(row, &picks));
        }
    }
}

#[test]
fn a_sweep_in_either_direction_inflates_every_touched_chunk_once() {
    // Bands of 5 rows, 3 columns of chunks of which the cells need 2, and the last band ragged.
    let dataset = chunked(&[23, 10], &[5, 4], 8, &deflate(8));
    let columns = [0, 9, 2, 8];
    for backward in [false, true] {
        let mut reader = RowReader::new(&dataset.rows(), &dataset.cells(&columns)).unwrap();
        let mut out = vec![0; 32];
        for step in 0..23 {
            let row = if backward { 22 - step } else { step };
            reader.read(&dataset.rows(), row, &mut out).unwrap();
            assert_eq!(out, dataset.expected(row, &columns));
        }
        assert_eq!(reader.chunks_inflated(), 5 * 2);
    }
}

#[test]
fn cells_go_where_they_are_told_and_the_rest_is_left_alone() {
    let dataset = chunked(&[3, 4], &[1, 4], 4, &deflate(4));
    let cells = [Cell { column: 2, at: 8 }, Cell { column: 3, at: 0 }, Cell { column: 2, at: 16 }];
    let mut reader = RowReader::new(&dataset.rows(), &cells).unwrap();
    let mut out = [0xcd; 20];
    reader.read(&dataset.rows(), 1, &mut out).unwrap();
    let row = dataset.expected(1, &[0, 1, 2, 3]);
    let (two, three) = (&row[8..12], &row[12..16]);
    assert_eq!(out, [three, &[0xcd; 4], two, &[0xcd; 4], two].concat()[..]);
}

#[test]
fn a_failed_band_is_not_taken_for_a_loaded_one() {
    let mut dataset = chunked(&[4, 2], &[2, 2], 8, &deflate(8));
    let mut reader = RowReader::new(&dataset.rows(), &dataset.cells(&[0, 1])).unwrap();
    let mut out = vec![0; 16];
    reader.read(&dataset.rows(), 0, &mut out).unwrap();
    let good = dataset.layout.clone();
    if let Layout::Chunked(table) = &mut dataset.layout {
        table.entries[1].offset += 1;
    }
    for _ in 0..2 {
        let error = reader.read(&dataset.rows(), 2, &mut out).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().starts_with("a.nc: chunk 1 of dataset d"), "{error}");
    }
    dataset.layout = good;
    reader.read(&dataset.rows(), 1, &mut out).unwrap();
    assert_eq!(out, dataset.expected(1, &[0, 1]));
}

#[test]
fn chunks_that_were_never_written_are_an_error_not_zeros() {
    let mut dataset = chunked(&[4, 4], &[2, 2], 8, &deflate(8));
    if let Layout::Chunked(table) = &mut dataset.layout {
        table.entries[1] = ChunkEntry::ABSENT;
    }
    let mut out = [0; 8];
    let mut reader = RowReader::new(&dataset.rows(), &dataset.cells(&[3])).unwrap();
    let error = reader.read(&dataset.rows(), 0, &mut out).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Integrity, "a.nc: chunk 1 of dataset d was never written")
    );
    reader.read(&dataset.rows(), 2, &mut out).unwrap();
    assert_eq!(out, dataset.expected(2, &[3])[..]);
    let mut reader = RowReader::new(&dataset.rows(), &dataset.cells(&[0])).unwrap();
    reader.read(&dataset.rows(), 0, &mut out).unwrap();
    dataset.layout = Layout::Unallocated;
    let mut reader = RowReader::new(&dataset.rows(), &dataset.cells(&[0])).unwrap();
    assert_eq!(reader.read(&dataset.rows(), 0, &mut out).unwrap_err().kind(), ErrorKind::Integrity);
}

#[test]
fn columns_and_layouts_that_a_dataset_does_not_have_are_refused() {
    let mut dataset = chunked(&[4, 2], &[2, 2], 8, &deflate(8));
    let kind = |d: &Dataset, column| RowReader::new(&d.rows(), &[Cell { column, at: 0 }]).err().map(|e| e.kind());
    assert_eq!(kind(&dataset, 2), Some(ErrorKind::Integrity));
    if let Layout::Chunked(table) = &mut dataset.layout {
        table.chunk_shape[1] = 1;
    }
    assert_eq!(kind(&dataset, 0), Some(ErrorKind::Format));
    // A chunk that no DEFLATE stream of its size can fill is refused before a buffer is made for it.
    dataset.shape = vec![4, 1 << 40];
    if let Layout::Chunked(table) = &mut dataset.layout {
        (table.chunk_shape, table.grid) = (vec![2, 1 << 40], vec![2, 1]);
    }
    assert_eq!(kind(&dataset, 0), Some(ErrorKind::Format));
    dataset.layout = Layout::Records { offset: 0, stride: 16 };
    assert_eq!(kind(&dataset, 0), Some(ErrorKind::Integrity));
}
