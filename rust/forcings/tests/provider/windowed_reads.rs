//! The gate of windows: a windowed read is the full read, sliced afterwards; several windows together are each of them
//! alone. Over random files, layouts, projections and selectors.

use crate::library::{Library, Spec, UNLIMITED};
use crate::random_files::any_file;
use crate::support::*;
use forcings::dataset::{AxisSelect, Dataset, DimWindow, Field, Selection, Values};
use forcings::provider::{Provider, ProviderOptions};
use forcings::ErrorKind;
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeMap;
use tempfile::tempdir;

/// Numbers from which a selector for an axis of any length is made.
type Draw = (u8, Vec<Index>, (Index, Index), u64);

fn any_draws() -> impl Strategy<Value = Vec<Draw>> {
    let draw = (0..5_u8, proptest::collection::vec(any::<Index>(), 0..6), any::<(Index, Index)>(), 1..4_u64);
    proptest::collection::vec(draw, 5)
}

fn selector(draw: &Draw, len: usize) -> Option<AxisSelect> {
    let (kind, list, (a, b), step) = draw;
    let at = |i: &Index| i.index(len.max(1)) as u64;
    match kind {
        0 => None,
        1 => Some(AxisSelect::All),
        // A list with repeats, which may run over the end and on from the beginning.
        2 if len > 0 => Some(AxisSelect::Indices(list.iter().map(at).collect())),
        3 if len > 0 => {
            let (start, count) = (at(a), at(b) + 1);
            Some(AxisSelect::Indices((start..start + count).map(|i| i % len as u64).collect()))
        }
        2 | 3 => Some(AxisSelect::Indices(vec![])),
        _ => {
            let (start, stop) = (a.index(len + 1) as u64, b.index(len + 1) as u64);
            Some(AxisSelect::Slice { start, stop, step: *step })
        }
    }
}

/// A window on the dimensions that the fields of this sample have, but not on time axes.
fn window(sample: &Dataset, draws: &[Draw]) -> BTreeMap<String, AxisSelect> {
    let fields = || sample.fields();
    let mut lens = BTreeMap::new();
    for field in fields() {
        lens.extend(field.dims.iter().map(|d| d.to_string()).zip(field.shape.iter().copied()));
    }
    lens.remove("time");
    lens.into_iter().zip(draws).filter_map(|((dim, len), draw)| Some((dim, selector(draw, len)?))).collect()
}

/// Slices a field by the names of its dimensions, one element at a time.
fn slice(field: &Field, window: &BTreeMap<String, AxisSelect>) -> Field {
    let positions = |(dim, len): (&std::sync::Arc<str>, &usize)| -> Vec<usize> {
        match window.get(&**dim) {
            None | Some(AxisSelect::All) => (0..*len).collect(),
            Some(AxisSelect::Indices(list)) => list.iter().map(|i| *i as usize).collect(),
            Some(AxisSelect::Slice { start, stop, step }) => {
                (*start..*stop).step_by(*step as usize).map(|i| i as usize).collect()
            }
        }
    };
    let lists: Vec<Vec<usize>> = field.dims.iter().zip(&field.shape).map(positions).collect();
    let mut places = vec![0];
    for (list, len) in lists.iter().zip(&field.shape) {
        places = places.iter().flat_map(|base| list.iter().map(move |i| base * len + i)).collect();
    }
    let values = match &field.values {
        Values::F64(v) => Values::F64(places.iter().map(|i| v[*i]).collect()),
        Values::F32(v) => Values::F32(places.iter().map(|i| v[*i]).collect()),
        Values::I64(v) => Values::I64(places.iter().map(|i| v[*i]).collect()),
        Values::I32(v) => Values::I32(places.iter().map(|i| v[*i]).collect()),
        Values::U64(v) => Values::U64(places.iter().map(|i| v[*i]).collect()),
        Values::Bool(v) => Values::Bool(places.iter().map(|i| v[*i]).collect()),
        Values::String(v) => Values::String(places.iter().map(|i| v[*i].clone()).collect()),
    };
    Field { shape: lists.iter().map(Vec::len).collect(), values, ..field.clone() }
}

fn sliced(dataset: &Dataset, window: &BTreeMap<String, AxisSelect>) -> Dataset {
    let variables = dataset.variables.iter().map(|f| slice(f, window)).collect();
    let coords = dataset.coords.iter().map(|f| slice(f, window).into()).collect();
    Dataset { variables, coords, attributes: dataset.attributes.clone() }
}

fn check(provider: &Provider, draws: &[Vec<Draw>]) -> Result<(), TestCaseError> {
    let times = if provider.is_const() { &[0.0][..] } else { provider.refresh_times() };
    for &t in times {
        let full = provider.sample_at(t).unwrap();
        let dims: Vec<_> = draws.iter().map(|d| window(&full, d)).collect();
        let windows: Vec<Selection> = dims.iter().map(|d| Selection::Named(d.clone())).collect();
        let mut alone = Vec::new();
        for (window, dims) in windows.iter().zip(&dims) {
            let sample = provider.with_window(window.clone()).unwrap().sample_at(t).unwrap();
            prop_assert!(sample.same_bits(&sliced(&full, dims)), "{window:?} of {full:?} is {sample:?}");
            // The wire form is the window.
            prop_assert_eq!(&Selection::from_json(&window.to_json()).unwrap(), window);
            alone.push(sample);
        }
        let together = provider.sample_windows_at(t, &windows).unwrap();
        prop_assert_eq!(together.len(), alone.len());
        for (a, b) in together.iter().zip(&alone) {
            prop_assert!(a.same_bits(b), "{windows:?}: {a:?} is not {b:?}");
        }
    }
    let nobody: Selection = DimWindow::new().all("nobody").into();
    let error = provider.sample_windows_at(times[0], &[nobody]).unwrap_err();
    prop_assert_eq!(error.kind(), ErrorKind::Selection);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_windowed_read_is_the_full_read_sliced_afterwards(
        spec in any_file(),
        projected in any::<Option<Index>>(),
        draws in proptest::collection::vec(any_draws(), 1..4),
    ) {
        let dir = tempdir().unwrap();
        let path = dir.path().join("random.nc");
        spec.write(&path);
        let provider = open(files(&[&path]));
        check(&provider, &draws)?;
        if let Some(projected) = projected {
            let t = provider.refresh_times().first().copied().unwrap_or(0.0);
            let names: Vec<String> =
                provider.sample_at(t).unwrap().variables.iter().map(|f| f.name.to_string()).collect();
            let variables = vec![names[projected.index(names.len())].clone()];
            check(&open(ProviderOptions { variables, ..files(&[&path]) }), &draws)?;
        }
    }

    /// Files without dimension scales, in the layouts that netCDF-C does not write from here.
    #[test]
    fn so_it_is_in_files_of_plain_hdf5(
        extents in proptest::collection::vec(1..6_u64, 1..4),
        layout in 0..6_u8,
        big_endian in any::<bool>(),
        latest in any::<bool>(),
        draws in proptest::collection::vec(any_draws(), 1..4),
    ) {
        let dir = tempdir().unwrap();
        let path = dir.path().join("plain.h5");
        let chunk: Vec<u64> = if layout > 1 { extents.iter().map(|e| e.div_ceil(2)).collect() } else { vec![] };
        let spec = Spec {
            compact: layout == 0,
            max: if layout == 5 { vec![UNLIMITED; extents.len()] } else { vec![] },
            shuffle: layout >= 3,
            deflate: layout >= 3,
            fletcher32: layout == 4,
            dims: extents.clone(),
            chunk,
            big_endian,
            ..Spec::default()
        };
        let library = Library::create(&path, latest, 0);
        library.dataset("v", &spec);
        let values: Vec<i32> = (0..extents.iter().product::<u64>() as i32).map(|i| i * 37 - 5).collect();
        library.write("v", &vec![0; extents.len()], &extents, &values);
        drop(library);
        let provider = open(files(&[&path]));
        let full = provider.sample_at(0.0).unwrap();
        prop_assert!(full.variable("v").unwrap().values.same_bits(&Values::I32(values)));
        check(&provider, &draws)?;
    }
}
