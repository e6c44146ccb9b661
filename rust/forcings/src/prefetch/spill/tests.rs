use super::raw::Medium;
use super::*;
use crate::dataset::{Field, Values};
use crate::formats::{Attribute, AttributeValue};
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

/// Bytes in memory, which cannot be read or written while told so.
#[derive(Default)]
struct Memory {
    bytes: Mutex<Vec<u8>>,
    unwritable: AtomicBool,
    unreadable: AtomicBool,
    reads: AtomicUsize,
}

impl Medium for Memory {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let (begin, end) = (at as usize, at as usize + bytes.len());
        if self.unwritable.load(SeqCst) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let mut all = self.bytes.lock();
        let len = all.len().max(end);
        all.resize(len, 0);
        all[begin..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.reads.fetch_add(1, SeqCst);
        let all = self.bytes.lock();
        let found = all.get(at as usize..at as usize + bytes.len());
        let found = found.filter(|_| !self.unreadable.load(SeqCst)).ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes.copy_from_slice(found);
        Ok(())
    }
}

/// A spill in memory.
fn in_memory(max_bytes: u64) -> (Spill, Arc<Memory>) {
    let memory = Arc::new(Memory::default());
    (Spill::on(memory.clone(), Path::new("/scratch"), max_bytes), memory)
}

fn key(anchor: f64) -> Key {
    Key::new(0, anchor)
}

fn field(name: &str, values: Values) -> Field {
    let shape = vec![values.len()];
    Field { name: name.into(), dims: vec!["x".into()], shape, values, attributes: Arc::new([]) }
}

fn of(values: Values) -> Vec<Dataset> {
    vec![Dataset { variables: vec![field("v", values)], ..Dataset::default() }]
}

fn same(a: &[Dataset], b: &[Dataset]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_bits(b))
}

/// Elements of any bits.
fn values() -> impl Strategy<Value = Values> {
    let bits = || prop_oneof![any::<u64>(), Just((-0.0f64).to_bits()), Just(0x7ff0_0000_0000_0001)];
    prop_oneof![
        prop::collection::vec(bits().prop_map(f64::from_bits), 0..40).prop_map(Values::F64),
        prop::collection::vec(any::<u32>().prop_map(f32::from_bits), 0..40).prop_map(Values::F32),
        prop::collection::vec(any::<i64>(), 0..40).prop_map(Values::I64),
        prop::collection::vec(any::<i32>(), 0..40).prop_map(Values::I32),
        prop::collection::vec(any::<u64>(), 0..40).prop_map(Values::U64),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Values::Bool),
        prop::collection::vec(any::<String>(), 0..10).prop_map(Values::String),
    ]
}

fn attributes() -> impl Strategy<Value = Arc<[Attribute]>> {
    let value = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..9).prop_map(AttributeValue::Text),
        prop::collection::vec(-2.0..2.0f64, 0..3).prop_map(AttributeValue::Floats),
    ];
    let attribute = (any::<String>(), value).prop_map(|(name, value)| Attribute { name, value, numeric: None });
    prop::collection::vec(attribute, 0..3).prop_map(Into::into)
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let field =
        (any::<String>(), values(), attributes(), any::<bool>()).prop_map(|(name, values, attributes, deep)| {
            let (dims, shape): (Vec<Arc<str>>, _) = match deep {
                true => (vec!["one".into(), "x".into()], vec![1, values.len()]),
                false => (vec!["x".into()], vec![values.len()]),
            };
            Field { name: name.into(), dims, shape, values, attributes }
        });
    prop::collection::vec(field, 0..4)
}

fn datasets() -> impl Strategy<Value = Vec<Dataset>> {
    let dataset = (fields(), fields(), attributes());
    let dataset = dataset.prop_map(|(variables, coords, attributes)| {
        let coords = coords.into_iter().map(Arc::new).collect();
        Dataset { variables, coords, attributes }
    });
    prop::collection::vec(dataset, 0..3)
}

proptest! {
    #[test]
    fn what_is_read_back_has_the_same_bits(samples in prop::collection::vec(datasets(), 1..6)) {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::create(folder.path(), None).unwrap();
        for (i, sample) in samples.iter().enumerate() {
            spill.keep(key(i as f64), sample);
        }
        for (i, sample) in samples.iter().enumerate().rev() {
            prop_assert!(same(&spill.restore(key(i as f64)).unwrap(), sample));
        }
        let bytes: u64 = samples.iter().map(|sample| raw::byte_len(sample)).sum();
        let count = samples.len() as u64;
        prop_assert_eq!(spill.counts(), Counts { spilled: count, restored: count, bytes });
        prop_assert_eq!(spill.error(), None);
    }

    #[test]
    fn damaged_bytes_are_told_or_change_the_values_and_nothing_else(
        sample in datasets(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let (spill, memory) = in_memory(u64::MAX);
        spill.keep(key(0.0), &sample);
        let mut bytes = memory.bytes.lock();
        for (at, byte) in damage.iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        drop(bytes);
        if let Some(restored) = spill.restore(key(0.0)) {
            let names = |data: &[Dataset]| raw::fields(data).map(|f| (f.name.clone(), f.values.len())).collect::<Vec<_>>();
            prop_assert_eq!(names(&restored), names(&sample));
        } else {
            prop_assert!(spill.error().is_some());
        }
    }
}

#[test]
fn fields_and_strings_of_many_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::create(folder.path(), None).unwrap();
    let nan = |i: u64| f64::from_bits(0x7ff0_0000_0000_0001 + i);
    let fields = vec![
        field("flags", Values::Bool((0..100_001).map(|i| i as u8).collect())),
        field("wide", Values::F64((0..200_003).map(nan).collect())),
        field("texts", Values::String(vec!["é".repeat(400_000), String::new(), "x".repeat(262_144)])),
        field("narrow", Values::F32((0..300_007).map(|i| -(i as f32)).collect())),
    ];
    let sample = vec![Dataset { variables: fields, ..Dataset::default() }];
    for anchor in [0.0, 1.0] {
        spill.keep(key(anchor), &sample);
    }
    for anchor in [1.0, 0.0] {
        assert!(same(&spill.restore(key(anchor)).unwrap(), &sample));
    }
}

#[test]
fn what_does_not_fit_is_not_kept() {
    let (spill, _) = in_memory(100);
    for anchor in 0..4 {
        spill.keep(key(f64::from(anchor)), &of(Values::F64(vec![1.0; 5])));
    }
    assert_eq!(spill.counts(), Counts { spilled: 2, restored: 0, bytes: 80 });
    assert!(spill.restore(key(1.0)).is_some() && spill.restore(key(2.0)).is_none());
    spill.keep(key(9.0), &of(Values::I32(vec![7; 5])));
    spill.keep(key(10.0), &of(Values::Bool(vec![])));
    assert_eq!(spill.counts().bytes, 100, "it is full to the last byte");
    assert!(spill.restore(key(9.0)).is_some() && spill.restore(key(10.0)).is_some());
    assert_eq!(spill.error(), None, "a budget is no error");
}

#[test]
fn a_failing_write_stops_the_spilling_and_keeps_what_is_there() {
    let (spill, memory) = in_memory(u64::MAX);
    for (anchor, unwritable) in [(0.0, false), (1.0, true), (2.0, false)] {
        memory.unwritable.store(unwritable, SeqCst);
        spill.keep(key(anchor), &of(Values::F64(vec![anchor; 5])));
    }
    assert_eq!(spill.counts().spilled, 1);
    let error = spill.error().unwrap();
    assert!(error.contains("/scratch") && error.contains("nothing more is spilled"), "{error}");
    assert!(same(&spill.restore(key(0.0)).unwrap(), &of(Values::F64(vec![0.0; 5]))));
    assert!([1.0, 2.0].into_iter().all(|anchor| spill.restore(key(anchor)).is_none()));
}

#[test]
fn a_sample_that_cannot_be_read_is_not_tried_again() {
    let (spill, memory) = in_memory(u64::MAX);
    for anchor in [0.0, 1.0] {
        spill.keep(key(anchor), &of(Values::I64(vec![3])));
    }
    memory.unreadable.store(true, SeqCst);
    assert!(spill.restore(key(0.0)).is_none());
    memory.unreadable.store(false, SeqCst);
    spill.keep(key(0.0), &of(Values::I64(vec![3])));
    assert!(spill.restore(key(0.0)).is_none());
    assert_eq!(memory.reads.load(SeqCst), 1);
    assert!(spill.restore(key(1.0)).is_some(), "the others are");
    let error = spill.error().unwrap();
    assert!(error.contains("/scratch") && error.contains("could not be read back"), "{error}");
    assert_eq!(spill.counts(), Counts { spilled: 2, restored: 1, bytes: 16 });
}

#[test]
fn samples_are_told_apart_by_member_and_anchor_and_written_once() {
    let (spill, _) = in_memory(u64::MAX);
    spill.keep(Key::new(0, -0.0), &of(Values::I64(vec![1])));
    spill.keep(Key::new(0, 0.0), &of(Values::I64(vec![2])));
    spill.keep(Key::new(1, 0.0), &of(Values::I64(vec![3])));
    let first = |key| match &spill.restore(key).unwrap()[0].variables[0].values {
        Values::I64(values) => values[0],
        other => panic!("{other:?}"),
    };
    assert_eq!((first(Key::new(0, 0.0)), first(Key::new(1, -0.0))), (1, 3));
    assert_eq!(spill.counts().spilled, 2);
}

#[test]
fn many_threads_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::create(folder.path(), None).unwrap();
    let sample = |i: usize| of(Values::F64((0..i * 7).map(|x| x as f64 + i as f64 * 1e6).collect()));
    thread::scope(|scope| {
        for thread in 0..6 {
            let spill = &spill;
            scope.spawn(move || {
                for i in (0..200).map(|i| (i * 7 + thread * 31) % 100) {
                    match spill.restore(key(i as f64)) {
                        Some(data) => assert!(same(&data, &sample(i))),
                        None => spill.keep(key(i as f64), &sample(i)),
                    }
                }
            });
        }
    });
    assert_eq!(spill.counts().spilled, 100);
    assert!((0..100).all(|i| same(&spill.restore(key(i as f64)).unwrap(), &sample(i))));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
}

#[test]
fn a_closed_one_holds_nothing() {
    let (spill, memory) = in_memory(u64::MAX);
    spill.keep(key(0.0), &of(Values::I64(vec![1])));
    spill.close();
    assert_eq!(Arc::strong_count(&memory), 1, "the file is given back");
    assert!(spill.restore(key(0.0)).is_none());
    spill.keep(key(1.0), &of(Values::I64(vec![1])));
    assert_eq!(spill.counts().spilled, 1);
}

#[test]
fn samples_that_look_alike_share_what_is_kept_in_memory() {
    let (spill, _) = in_memory(u64::MAX);
    let with = |missing: f64| {
        let mut sample = of(Values::I64(vec![1]));
        let value = AttributeValue::Floats(vec![missing]);
        sample[0].attributes = Arc::new([Attribute { name: "missing".into(), value, numeric: None }]);
        sample
    };
    let nan = f64::NAN;
    for (anchor, missing) in [nan, nan, 0.0, -0.0].into_iter().enumerate() {
        spill.keep(key(anchor as f64), &with(missing));
    }
    let state = spill.state.lock();
    let outline = |anchor: f64| match &state.samples[&key(anchor)] {
        Slot::Written(record) => record.outline.clone(),
        _ => panic!("it was written"),
    };
    assert!(Arc::ptr_eq(&outline(0.0), &outline(1.0)));
    assert!(!Arc::ptr_eq(&outline(2.0), &outline(3.0)), "the zeros differ");
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = Spill::create(&missing, None).map(drop).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == missing), "{error}");
}
