//! Reading needs no HDF5 library: with its lock held by another thread, files are opened and sampled, and a store is
//! opened, listed and swept, also by the workers of a prefetch group.

use forcings::array::Array;
use forcings::dataset::{DimWindow, Values};
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::provider::{Provider, ProviderOptions};
use forcings::readers::StaticReader;
use forcings::series::{NewSeries, Owner};
use forcings::store::{CreateOptions, Filter, OpenOptions, Store};
use forcings::time::{Period, UnixMillis};
use std::path::Path;
use std::sync::{mpsc, Arc};
use std::time::Duration;

/// Far beyond what the work takes: whoever needs the lock would wait for ever.
const DEADLINE: Duration = Duration::from_secs(60);

const STEPS: usize = 40;
const OWNERS: i64 = 12;
const HOUR_MS: i64 = 3_600_000;

#[test]
fn providers_stores_and_groups_work_while_the_library_is_locked() {
    let folder = tempfile::tempdir().unwrap();
    let (winds, store) = (folder.path().join("winds.nc"), folder.path().join("store.nc"));
    write_winds(&winds);
    write_store(&store);
    let (done, finished) = mpsc::channel();
    let _library = hdf5_sys::LOCK.lock();
    let work = std::thread::spawn(move || {
        sample(&winds);
        sweep(&store);
        prefetch(&winds);
        done.send(()).unwrap();
    });
    match finished.recv_timeout(DEADLINE) {
        Ok(()) => work.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Disconnected) => std::panic::resume_unwind(work.join().unwrap_err()),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("something waits for the lock of the HDF5 library"),
    }
}

/// Hourly `u(time, x)`: packed, compressed, one record in a chunk.
fn write_winds(path: &Path) {
    let mut file = netcdf::create(path).unwrap();
    file.add_dimension("time", STEPS).unwrap();
    file.add_dimension("x", 8).unwrap();
    let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("units", "hours since 1970-01-01").unwrap();
    time.put_values(&(0..STEPS).map(|h| h as f64).collect::<Vec<_>>(), ..).unwrap();
    let mut u = file.add_variable::<i16>("u", &["time", "x"]).unwrap();
    u.set_chunking(&[1, 8]).unwrap();
    u.set_compression(3, true).unwrap();
    u.put_attribute("scale_factor", 0.5).unwrap();
    u.put_values(&(0..STEPS * 8).map(|i| i as i16).collect::<Vec<_>>(), ..).unwrap();
    file.close().unwrap();
}

/// One hourly series for each owner, of which the value at step `i` is `1000 * owner + i`.
fn write_store(path: &Path) {
    let store = Store::create(path, &CreateOptions::default()).unwrap();
    let arrays: Vec<Array> = (0..OWNERS)
        .map(|owner| {
            let values: Vec<f64> = (0..STEPS as i64).map(|i| (1000 * owner + i) as f64).collect();
            Array::from_f64(vec![STEPS], &values).unwrap()
        })
        .collect();
    let (first, step) = (UnixMillis(0), Period::Fixed(HOUR_MS));
    let items: Vec<NewSeries> = (0..OWNERS)
        .zip(&arrays)
        .map(|(id, array)| NewSeries::single(Owner::component(id, "Bus"), "load", first, step, array.view()))
        .collect();
    store.add_bulk(&items).unwrap();
    store.close().unwrap();
}

fn open(winds: &Path) -> Provider {
    Provider::open(ProviderOptions::of_files([winds])).unwrap()
}

fn check(data: &forcings::dataset::Dataset, hour: usize, cells: &[usize]) {
    let expected: Vec<f64> = cells.iter().map(|x| (8 * hour + x) as f64 * 0.5).collect();
    assert!(data.variable("u").unwrap().values.same_bits(&Values::F64(expected)), "hour {hour}");
}

fn sample(winds: &Path) {
    let provider = open(winds);
    for (hour, t) in provider.refresh_times().iter().enumerate() {
        check(&provider.sample_at(*t).unwrap(), hour, &[0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

fn sweep(path: &Path) {
    let store = Store::open(path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
    let filter = Filter { resolution: Some(Period::Fixed(HOUR_MS)), ..Filter::default() };
    assert_eq!(store.list(&filter).unwrap().len(), OWNERS as usize);
    let mut reader = StaticReader::build(&store, &filter).unwrap();
    for step in (0..STEPS).chain((0..STEPS).rev()) {
        reader.read_step(step).unwrap();
        let values = reader.values(0).chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
        assert!(values.eq((0..OWNERS).map(|owner| (1000 * owner + step as i64) as f64)), "step {step}");
    }
}

fn prefetch(winds: &Path) {
    let window = DimWindow::new().indices("x", vec![7, 0]);
    let member = open(winds).with_window(window).unwrap();
    let group = PrefetchGroup::builder().member("winds", Arc::new(member)).workers(2).build().unwrap();
    group.start(Order::Reverse, None).unwrap();
    for hour in (0..STEPS).rev() {
        check(&group.take(hour).unwrap()["winds"].data, hour, &[7, 0]);
    }
}
