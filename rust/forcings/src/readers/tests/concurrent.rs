//! Readers beside writers, and beside a thread that sits on the lock of the HDF5 library.

use super::*;

/// Runs `work` again and again on another thread while this one sweeps, until it ran `times` times.
fn beside(times: usize, work: impl Fn(usize) + Sync, mut sweep: impl FnMut()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _done = OnDrop(|| done.store(true, Ordering::SeqCst));
            (0..times).for_each(&work);
        });
        while !done.load(Ordering::SeqCst) {
            sweep();
        }
        sweep();
    });
}

/// So that neither thread waits for one that failed.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A sweep there and back, every value checked against `1000 * owner + step`.
fn checked_sweep(reader: &mut StaticReader, steps: usize) {
    for step in (0..steps).chain((0..steps).rev()) {
        reader.read_step(step).unwrap();
        for (value, column) in doubles(reader.values(0)).iter().zip(reader.groups()[0].columns()) {
            assert_eq!(*value, (1000 * column.owner_id() + step as i64) as f64, "{column} at step {step}");
        }
    }
}

#[test]
fn a_sweep_is_right_while_columns_of_its_datasets_are_added_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    for on_disk in [true, false] {
        let path = folder.path().join("s.nc");
        let store = if on_disk { Store::create(path, &CreateOptions::default()) } else { Store::memory() }.unwrap();
        let arrays: Vec<Array> = (0..20).map(|k| ramp(60, k)).collect();
        for (k, array) in arrays.iter().enumerate() {
            store.add(&series(k as i64, "load", array)).unwrap();
        }
        let only = Filter { name: Some("load".into()), ..hourly() };
        let mut reader = StaticReader::build(&store, &only).unwrap();
        let work = |k: usize| {
            let array = ramp(60, 100 + k as i64);
            let id = store.add(&series(100 + k as i64, "other", &array)).unwrap();
            // Written now: what is removed before it is written changes nothing.
            store.shared().arrays().unwrap().settle().unwrap();
            if k % 3 != 0 {
                store.remove(&[id]).unwrap();
                store.flush().unwrap();
            }
        };
        let generation = || {
            let datasets = store.shared().arrays().unwrap().datasets();
            let [dataset] = &datasets[..] else { panic!("all arrays are of one pool and fit one dataset") };
            let generation = dataset.state.read().generation;
            generation
        };
        let before = generation();
        beside(12, work, || checked_sweep(&mut reader, 60));
        assert!(generation() >= before + 12);
    }
}

#[test]
fn so_are_the_reads_of_several_threads() {
    let store = Store::memory().unwrap();
    let arrays: Vec<Array> = (0..20).map(|k| ramp(60, k)).collect();
    for (k, array) in arrays.iter().enumerate() {
        store.add(&series(k as i64, "load", array)).unwrap();
    }
    let only = Filter { name: Some("load".into()), ..hourly() };
    let shared = StaticReader::build(&store, &only).unwrap().shared().unwrap();
    let work = |k: usize| {
        let array = ramp(60, 100 + k as i64);
        let id = store.add(&series(100 + k as i64, "other", &array)).unwrap();
        store.flush().unwrap();
        if k % 3 != 0 {
            store.remove(&[id]).unwrap();
            store.flush().unwrap();
        }
    };
    let sweep = |steps: &mut dyn Iterator<Item = usize>| {
        for step in steps {
            let expected: Vec<f64> = (0..20).map(|k| (1000 * k + step) as f64).collect();
            assert_eq!(shared.read(step, |groups| Ok(doubles(&groups[0]))).unwrap(), expected, "step {step}");
        }
    };
    beside(12, work, || {
        std::thread::scope(|scope| {
            scope.spawn(|| sweep(&mut (0..60)));
            sweep(&mut (0..60).rev());
        });
    });
}

#[test]
fn a_sweep_does_not_need_the_hdf5_library() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let arrays: Vec<Array> = (0..20).map(|k| ramp(30, k)).collect();
    let items: Vec<NewSeries> = arrays.iter().enumerate().map(|(k, a)| series(k as i64, "load", a)).collect();
    store.add_bulk(&items).unwrap();
    store.close().unwrap();
    let (locked, free) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _guard = hdf5_sys::LOCK.lock();
            locked.wait();
            free.wait();
        });
        locked.wait();
        let _free = OnDrop(|| {
            free.wait();
        });
        let store = Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
        let mut reader = StaticReader::build(&store, &hourly()).unwrap();
        checked_sweep(&mut reader, 30);
    });
}
