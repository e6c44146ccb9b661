//! A prefetch group over providers of real files gives what a fresh provider gives, bit for bit.

use forcings::dataset::{Dataset, DimWindow, Selection, Values};
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::provider::{Provider, ProviderOptions};
use forcings::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const LAT: usize = 5;
const LON: usize = 8;
const FILL: i16 = -999;

/// Writes a file with the packed variable `u`, one record per hour of `hours`; one cell of each record is missing.
fn write(path: &Path, hours: &[f64], deflate: bool) -> std::result::Result<(), netcdf::Error> {
    let mut file = netcdf::create(path)?;
    file.add_dimension("time", hours.len())?;
    file.add_dimension("lat", LAT)?;
    file.add_dimension("lon", LON)?;
    let mut time = file.add_variable::<f64>("time", &["time"])?;
    time.put_attribute("units", "hours since 1900-01-01")?;
    time.put_values(hours, ..)?;
    file.add_variable::<f32>("lat", &["lat"])?.put_values(&[10.0f32, 12.5, 15.0, 17.5, 20.0], ..)?;
    let mut u = file.add_variable::<i16>("u", &["time", "lat", "lon"])?;
    u.set_chunking(&[1, 3, LON])?;
    if deflate {
        u.set_compression(4, true)?;
    }
    u.set_fill_value(FILL)?;
    u.put_attribute("scale_factor", 0.01)?;
    let cell =
        |hour: f64, i: usize| if i == hour as usize % (LAT * LON) { FILL } else { (hour as i16) * 50 + i as i16 };
    let values: Vec<i16> = hours.iter().flat_map(|&h| (0..LAT * LON).map(move |i| cell(h, i))).collect();
    u.put_values(&values, ..)
}

struct Files {
    fine: [PathBuf; 2],
    coarse: PathBuf,
    _folder: tempfile::TempDir,
}

fn files() -> Files {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let at = |name: &str| folder.path().join(name);
    let files = Files { fine: [at("a.nc"), at("b.nc")], coarse: at("c.nc"), _folder: folder };
    write(&files.fine[0], &[0.0, 1.0, 2.0, 3.0, 4.0], true).expect("netCDF-C writes");
    write(&files.fine[1], &[5.0, 6.0, 7.0, 8.0], true).expect("netCDF-C writes");
    write(&files.coarse, &[0.0, 3.0, 6.0], false).expect("netCDF-C writes");
    files
}

/// Rows 1 to 3 and columns across the seam.
fn window() -> DimWindow {
    DimWindow::new().range("lat", 1, 4).indices("lon", vec![6, 7, 0, 1, 0])
}

fn members(files: &Files) -> Result<[(&'static str, Provider); 2]> {
    let fine = Provider::open(ProviderOptions::of_files(&files.fine))?.with_window(window())?;
    let coarse = Provider::open(ProviderOptions::of_files([&files.coarse]))?;
    Ok([("fine", fine), ("coarse", coarse)])
}

fn epochs(order: &Order) -> Vec<usize> {
    match order {
        Order::Forward => (0..9).collect(),
        Order::Reverse => (0..9).rev().collect(),
        Order::Explicit(list) => list.clone(),
    }
}

#[test]
fn taken_samples_are_those_of_fresh_providers() -> Result<()> {
    let files = files();
    let times = members(&files)?[0].1.refresh_times().to_vec();
    // Each epoch by providers of its own.
    let expected: Vec<[Dataset; 2]> = times
        .iter()
        .map(|&t| {
            let [(_, fine), (_, coarse)] = members(&files)?;
            Ok([fine.sample_at(t)?, coarse.sample_at(t)?])
        })
        .collect::<Result<_>>()?;
    let slot: u64 = expected[0].iter().map(|data| data.byte_len() as u64).sum();
    for max_bytes in [None, Some(1), Some(2 * slot)] {
        for depth in 1..=4 {
            for workers in 0..=4 {
                let builder = PrefetchGroup::builder().depth(depth).max_bytes(max_bytes);
                let mut builder = if workers == 0 { builder.inline(true) } else { builder.workers(workers) };
                for (key, provider) in members(&files)? {
                    builder = builder.member(key, Arc::new(provider));
                }
                let group = builder.build()?;
                assert_eq!(group.boundaries(), times);
                for order in [Order::Forward, Order::Reverse, Order::Explicit(vec![8, 8, 0, 4, 5, 0, 3])] {
                    let list = epochs(&order);
                    group.start(order, None)?;
                    for k in list {
                        let epoch = group.take(k)?;
                        for (key, data) in ["fine", "coarse"].into_iter().zip(&expected[k]) {
                            assert!(epoch[key].data.same_bits(data), "{key} in epoch {k}");
                        }
                        assert_eq!(epoch["fine"].anchor, times[k]);
                        assert_eq!(epoch["coarse"].anchor, times[k / 3 * 3]);
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn the_data_are_those_of_the_window() -> Result<()> {
    let files = files();
    let [(key, fine), _] = members(&files)?;
    let group = PrefetchGroup::builder().member(key, Arc::new(fine)).build()?;
    group.start(Order::Forward, Some(6))?;
    let epoch = group.take(6)?;
    let u = epoch[key].data.variable("u").expect("it was written");
    assert_eq!(u.shape, [3, 5]);
    let Values::F64(values) = &u.values else { panic!("packed data decode to float64, not {:?}", u.values) };
    for (i, value) in values.iter().enumerate() {
        let cell = (1 + i / 5) * LON + [6, 7, 0, 1, 0][i % 5];
        let packed = f64::from(6 * 50 + cell as i32);
        assert!((value - packed * 0.01).abs() < 1e-9, "cell {cell} is {value}");
    }
    Ok(())
}

#[test]
fn a_file_that_vanishes_is_an_error_of_its_epoch() -> Result<()> {
    let files = files();
    let [(key, fine), _] = members(&files)?;
    let group = PrefetchGroup::builder().member(key, Arc::new(fine)).depth(1).build()?;
    std::fs::remove_file(&files.fine[1]).map_err(|error| Error::io(&files.fine[1], error))?;
    group.start(Order::Forward, None)?;
    for k in 0..5 {
        group.take(k)?;
    }
    let error = group.take(5).expect_err("the second file is gone");
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.to_string().contains("b.nc"), "{error}");
    group.start(Order::Reverse, Some(4))?;
    for k in (0..5).rev() {
        group.take(k)?;
    }
    Ok(())
}

/// Windows that overlap, one that is empty, and one over everything.
fn windows() -> [DimWindow; 4] {
    let window = DimWindow::new;
    [self::window(), window().range("lat", 2, 5), window().indices("lon", vec![]), window()]
}

fn bytes(list: &[Dataset]) -> u64 {
    list.iter().map(|data| data.byte_len() as u64).sum()
}

#[test]
fn lists_of_windows_are_those_of_the_provider_and_of_providers_with_each_window() -> Result<()> {
    let files = files();
    let open = |path: &[PathBuf]| Provider::open(ProviderOptions::of_files(path));
    let members =
        || Ok::<_, Error>([("coarse", open(std::slice::from_ref(&files.coarse))?), ("fine", open(&files.fine)?)]);
    let [(_, coarse), (_, fine)] = members()?;
    let narrowed = windows().into_iter().map(|w| Ok([coarse.with_window(w.clone())?, fine.with_window(w)?]));
    let narrowed = narrowed.collect::<Result<Vec<_>>>()?;
    for (depth, workers, budget) in [(1, 1, Some(1)), (2, 2, None), (4, 3, Some(20_000))] {
        let builder = PrefetchGroup::builder().depth(depth).workers(workers).max_bytes(budget);
        let add = |builder: forcings::prefetch::PrefetchGroupBuilder, (key, provider)| {
            builder.member(key, Arc::new(provider))
        };
        let group = members()?.into_iter().fold(builder, add).windows(windows()).build()?;
        let times = group.boundaries().to_vec();
        let mut largest = 0;
        for order in [Order::Forward, Order::Reverse, Order::Explicit(vec![8, 8, 0, 4, 5, 0, 3])] {
            let list = epochs(&order);
            group.start(order, None)?;
            for k in list {
                let (epoch, t) = (group.take(k)?, times[k]);
                for (member, (key, sample)) in epoch.iter().enumerate() {
                    let alone = [&coarse, &fine][member].sample_windows_at(t, &windows().map(Selection::from))?;
                    assert_eq!((sample.data.len(), alone.len()), (4, 4));
                    for (w, data) in sample.data.iter().enumerate() {
                        assert!(data.same_bits(&alone[w]), "{key} in epoch {k}, window {w}");
                        assert!(data.same_bits(&narrowed[w][member].sample_at(t)?), "{key} in epoch {k}, window {w}");
                    }
                }
                largest = largest.max(epoch.iter().map(|(_, sample)| bytes(&sample.data)).sum());
            }
        }
        let stats = group.stats();
        assert!(stats.peak_bytes >= largest && (depth > 1 || stats.peak_bytes == largest), "{largest} of {stats:?}");
        assert_eq!(stats.oversize_epochs > 0, budget == Some(1));
    }
    Ok(())
}

#[test]
fn row_100_windows_that_cannot_be_bound_to_a_member_are_refused_at_construction() -> Result<()> {
    let files = files();
    let [(key, narrowed), (_, whole)] = members(&files)?;
    let refused = |provider: &Provider, window: Selection| {
        let builder = PrefetchGroup::builder().member(key, Arc::new(provider.clone()));
        let error = builder.windows([window]).build().map(drop).expect_err("the window is no good");
        assert_eq!(error.kind(), ErrorKind::Selection, "{error}");
    };
    refused(&narrowed, window().into());
    refused(&whole, DimWindow::new().range("time", 0, 1).into());
    refused(&whole, Selection::from_value(&serde_json::json!({"axes": [{"indices": [0]}]}))?);
    PrefetchGroup::builder().member(key, Arc::new(whole)).windows([window()]).build()?;
    Ok(())
}

#[test]
fn spilled_samples_are_those_of_the_provider() -> Result<()> {
    let (files, folder) = (files(), tempfile::tempdir().expect("a folder to spill to"));
    let members = members(&files)?;
    let builder = PrefetchGroup::builder().depth(3).workers(2).spill(folder.path(), None);
    let group = members.iter().fold(builder, |b, (key, p)| b.member(*key, Arc::new(p.clone()))).build()?;
    for order in [Order::Forward, Order::Reverse] {
        let list = epochs(&order);
        group.start(order, None)?;
        for k in list {
            let epoch = group.take(k)?;
            for (key, provider) in &members {
                assert!(epoch[key].data.same_bits(&provider.sample_at(group.boundaries()[k])?), "{key} in epoch {k}");
            }
        }
    }
    let stats = group.stats();
    assert_eq!((stats.samples_spilled, stats.samples_restored), (9 + 3, 8 + 2), "the last ones were remembered");
    Ok(())
}
