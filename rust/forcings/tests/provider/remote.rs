//! Files behind URLs: nothing is fetched before a sample needs it, once for all, and offline from the cache alone.

use crate::support::*;
use forcings::cache::{Cache, CacheOptions, HttpOptions};
use forcings::dataset::{CoordWindow, DimWindow, Selection};
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::provider::{ProviderOptions, Sampler};
use forcings::{Error, ErrorKind};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// Serves the files of a folder until the program ends, and notes which were asked for.
pub(crate) struct Files {
    dir: TempDir,
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Files {
    pub(crate) fn serve() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (root, log) = (dir.path().to_path_buf(), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, root, log) = (stream.unwrap(), root.clone(), log.clone());
                std::thread::spawn(move || {
                    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                    let Some(first) = lines.next() else { return };
                    lines.find(|line| line.is_empty());
                    let name = first.split(' ').nth(1).unwrap().trim_start_matches('/').to_string();
                    log.lock().unwrap().push(name.clone());
                    let (status, body) = match std::fs::read(root.join(&name)) {
                        Ok(body) => (200, body),
                        Err(_) => (404, Vec::new()),
                    };
                    let head =
                        format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).unwrap();
                });
            }
        });
        Files { dir, address, asked }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn url(&self, name: &str) -> PathBuf {
        format!("http://{}/{name}", self.address).into()
    }

    /// What was asked for since the last call, by name.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut names = std::mem::take(&mut *self.asked.lock().unwrap());
        names.sort();
        names
    }
}

pub(crate) fn cache(root: &TempDir, offline: bool) -> Cache {
    let mut options = CacheOptions::at(root.path());
    options.offline = offline;
    options.http = HttpOptions { backoff: Duration::from_millis(1), attempts: 2, ..HttpOptions::default() };
    Cache::with_options(options).unwrap()
}

pub(crate) fn unix(hours: impl IntoIterator<Item = i32>) -> Vec<f64> {
    hours.into_iter().map(|h| Y2000 + f64::from(h) * HOUR).collect()
}

pub(crate) fn options(files: Vec<PathBuf>, times: Vec<f64>, cache: Cache) -> ProviderOptions {
    ProviderOptions { times: Some(times), cache: Some(cache), ..ProviderOptions::of_files(files) }
}

/// Three files of four hours each, one URL for each hour; the seed of a record is its hour.
pub(crate) fn half_a_day(server: &Files) -> (Vec<PathBuf>, Vec<f64>) {
    for part in 0..3 {
        winds(server.path(), &format!("p{part}.nc"), &hours(part * 4..part * 4 + 4), 4 * part as usize);
    }
    let urls = (0..12).map(|hour| server.url(&format!("p{}.nc", hour / 4))).collect();
    (urls, unix(0..12))
}

#[test]
fn building_fetches_nothing_and_sampling_each_file_once() {
    let (server, root) = (Files::serve(), tempfile::tempdir().unwrap());
    let (urls, times) = half_a_day(&server);
    let provider = open(options(urls, times.clone(), cache(&root, false)));
    assert_eq!(provider.refresh_times(), times);
    assert_eq!((provider.calendar(), provider.is_const()), (None, false));
    let windowed = provider.with_window(DimWindow::new().range("lat", 1, 3)).unwrap();
    assert!(server.asked().is_empty());
    for hour in [5, 4, 7] {
        assert_wind(&provider.sample_at(times[hour]).unwrap(), hour);
    }
    assert_eq!(server.asked(), ["p1.nc"]);
    assert_eq!(windowed.sample_at(times[6] + 1.0).unwrap().variable("u").unwrap().shape, [2, LON]);
    assert!(server.asked().is_empty());
    std::thread::scope(|scope| {
        for hour in 0..12 {
            let (provider, times) = (&provider, &times);
            scope.spawn(move || assert_wind(&provider.sample_at(times[hour]).unwrap(), hour));
        }
    });
    assert_eq!(server.asked(), ["p0.nc", "p2.nc"]);
    let error = provider.sample_at(times[0] - 1.0).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OffGrid);
}

#[test]
fn the_files_of_a_time_are_known_and_fetched_without_a_sample() {
    let (server, root) = (Files::serve(), tempfile::tempdir().unwrap());
    let (urls, times) = half_a_day(&server);
    let provider = open(options(urls.clone(), times.clone(), cache(&root, false)));
    let files = |sampler: &dyn Sampler| times.iter().map(|t| sampler.files_at(t + 1.0)).collect::<Vec<_>>();
    assert_eq!(files(&provider), (0..12).map(|hour| vec![hour / 4]).collect::<Vec<_>>());
    assert!(provider.files_at(times[0] - 1.0).is_empty() && provider.files_at(f64::NAN).is_empty());
    let pairs = open(ProviderOptions { records_per_sample: 2, ..options(urls, times.clone(), cache(&root, false)) });
    for (hour, files) in files(&pairs).into_iter().enumerate() {
        let successor = (hour + 1).min(11) / 4;
        assert_eq!(files, if successor == hour / 4 { vec![successor] } else { vec![hour / 4, successor] });
    }
    assert!(server.asked().is_empty());
    provider.fetch_file(1).unwrap();
    provider.fetch_file(1).unwrap();
    assert_eq!(server.asked(), ["p1.nc"]);
    assert_wind(&provider.sample_at(times[5]).unwrap(), 5);
    assert!(server.asked().is_empty());
    assert_eq!(provider.fetch_file(3).unwrap_err().kind(), ErrorKind::InvalidParameter);
    let local = open(ProviderOptions::of_files(vec![server.path().join("p0.nc")]));
    assert!(local.files_at(times[0]).is_empty());
    local.fetch_file(0).unwrap();
}

#[test]
fn a_cadence_may_start_inside_a_file_and_skip_records() {
    let (server, root) = (Files::serve(), tempfile::tempdir().unwrap());
    let (urls, times) = half_a_day(&server);
    let chosen = [2, 3, 5, 9, 11];
    let pick = |i: &usize| (urls[*i].clone(), times[*i]);
    let (urls, times): (Vec<_>, Vec<_>) = chosen.iter().map(pick).unzip();
    let provider = open(options(urls, times.clone(), cache(&root, false)));
    for (t, hour) in times.iter().zip(chosen) {
        assert_wind(&provider.sample_at(*t).unwrap(), hour);
    }
    // The axis' own numbers do as well, and one URL for all of them.
    winds(server.path(), "all.nc", &hours(100..106), 100);
    let own = open(options(vec![server.url("all.nc")], vec![101.0, 104.0], cache(&root, false)));
    assert_wind(&own.sample_at(103.9).unwrap(), 101);
    assert_wind(&own.sample_at(104.0).unwrap(), 104);
}

#[test]
fn files_without_times_are_counted_or_whole() {
    let (server, root) = (Files::serve(), tempfile::tempdir().unwrap());
    for (name, dims) in [("counted.nc", &["time", "x"][..]), ("whole.nc", &["x"])] {
        write(&server.path().join(name), |file| {
            file.add_dimension("x", 2).unwrap();
            file.add_dimension("time", 3).unwrap();
            let len = if dims.len() == 2 { 6 } else { 2 };
            let values: Vec<f64> = (0..len).map(f64::from).collect();
            file.add_variable::<f64>("v", dims).unwrap().put_values(&values, ..).unwrap();
        });
    }
    let of = |name: &str, times: &[f64]| open(options(vec![server.url(name)], times.to_vec(), cache(&root, false)));
    let counted = of("counted.nc", &[0.5, 1.5, 2.5]);
    for (t, expected) in [(0.5, [0.0, 1.0]), (2.0, [2.0, 3.0]), (9.0, [4.0, 5.0])] {
        assert_eq!(f64s(counted.sample_at(t).unwrap().variable("v").unwrap()), expected);
    }
    let error = of("counted.nc", &[0.5, 1.5]).sample_at(0.5).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert_says(&error, &["counted.nc", "2 times", "3 records", "0.5"]);
    let whole = of("whole.nc", &[1.0, 2.0, 3.0]);
    assert_eq!(f64s(whole.sample_at(2.5).unwrap().variable("v").unwrap()), [0.0, 1.0]);
}

#[test]
fn what_is_fetched_ahead_serves_offline() {
    let (server, root) = (Files::serve(), tempfile::tempdir().unwrap());
    let (urls, times) = half_a_day(&server);
    let named =
        ProviderOptions { name: Some("winds".into()), ..options(urls.clone(), times.clone(), cache(&root, false)) };
    let online = open(named);
    assert_eq!(online.prefetch(times[3] + 1.0, times[5]).unwrap(), 2);
    assert_eq!(server.asked(), ["p0.nc", "p1.nc"]);
    assert_eq!(online.prefetch(f64::NEG_INFINITY, times[0]).unwrap(), 0);
    assert_eq!(online.prefetch(times[5], times[5]).unwrap(), 0);
    assert_eq!(online.prefetch(times[5] + 1.0, times[5] + 2.0).unwrap(), 1, "the file in force");
    assert_eq!(online.prefetch(times[5], times[0]).unwrap(), 0);
    assert!(online.prefetch(f64::NAN, 1.0).is_err());
    assert!(server.asked().is_empty());
    let usage = cache(&root, true).usage().unwrap();
    assert_eq!((usage.files, usage.sources[0].source.as_deref()), (2, Some("winds")));

    let offline = open(options(urls, times.clone(), cache(&root, true)));
    assert_eq!(offline.prefetch(times[0], times[8]).unwrap(), 2);
    assert_wind(&offline.sample_at(times[7]).unwrap(), 7);
    let misses = [offline.prefetch(times[0], times[9]).map(drop), offline.sample_at(times[8]).map(drop)];
    for miss in misses {
        let Err(Error::CacheMiss { url, .. }) = miss else { panic!("{miss:?}") };
        assert_eq!(Path::new(&url), server.url("p2.nc"));
    }
    let group = PrefetchGroup::builder().member("u", Arc::new(offline)).build().unwrap();
    group.start(Order::Explicit(vec![7, 8]), None).unwrap();
    assert_wind(&group.take(7).unwrap().get("u").unwrap().data, 7);
    assert_eq!(group.take(8).map(drop).unwrap_err().kind(), ErrorKind::CacheMiss);
    assert!(server.asked().is_empty());
}

#[test]
fn a_window_fetches_nothing_and_coordinates_fetch_the_first_file() {
    let server = Files::serve();
    let (urls, times) = half_a_day(&server);
    let (cold, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let offline = open(options(urls.clone(), times.clone(), cache(&cold, true)));
    let asked = CoordWindow::new().between("lat", 0.0, 2.5);
    // What is wrong with a window is known before anything is looked for.
    for window in [DimWindow::new().all("time").into(), Selection::All, DimWindow::new().into()] {
        let windowed = offline.with_window(DimWindow::new()).unwrap();
        assert_eq!(windowed.with_window(window).map(drop).unwrap_err().kind(), ErrorKind::Selection);
        assert_eq!(windowed.coord_window(&asked).map(drop).unwrap_err().kind(), ErrorKind::Selection);
    }
    assert_eq!(offline.with_window(Selection::All).map(drop).unwrap_err().kind(), ErrorKind::Selection);
    assert_eq!(offline.coord_window(&asked).map(drop).unwrap_err().kind(), ErrorKind::CacheMiss);
    assert!(server.asked().is_empty());
    let provider = open(options(urls, times.clone(), cache(&root, false)));
    let window = provider.coord_window(&asked).unwrap();
    assert_eq!(window, DimWindow::new().range("lat", 0, 2));
    assert_eq!(server.asked(), ["p0.nc"]);
    let sample = provider.with_window(window).unwrap().sample_at(times[0]).unwrap();
    assert_eq!(sample.variable("u").unwrap().shape, [2, LON]);
    assert!(server.asked().is_empty());
    let error = provider.coord_window(&CoordWindow::new().between("lat", 80.0, 90.0)).unwrap_err();
    assert_says(&error, &["http://", "no cell lies in (80, 90)"]);
}

#[test]
fn errors_name_the_url_and_the_time() {
    let (server, root) = (Files::serve(), tempfile::tempdir().unwrap());
    winds(server.path(), "good.nc", &hours(0..1), 0);
    std::fs::write(server.path().join("text.nc"), b"this is no NetCDF").unwrap();
    let urls = ["good.nc", "missing.nc", "text.nc", "good.nc"].map(|name| server.url(name)).to_vec();
    let times = unix(0..4);
    let provider = open(options(urls.clone(), times.clone(), cache(&root, false)));
    for (tick, kind) in [(1, ErrorKind::NotFound), (2, ErrorKind::Format), (3, ErrorKind::InvalidParameter)] {
        let error = provider.sample_at(times[tick]).map(drop).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_says(&error, &[urls[tick].to_str().unwrap(), &format!("the time {}", times[tick])]);
    }
    let error = provider.prefetch(times[0], times[3]).unwrap_err();
    assert_says(&error, &["missing.nc", &times[1].to_string()]);
    // A file that is put right is found then.
    winds(server.path(), "missing.nc", &hours(1..2), 1);
    assert_wind(&provider.sample_at(times[1]).unwrap(), 1);
}

#[test]
fn a_file_that_is_cleared_is_fetched_again_only_if_it_is_not_open() {
    let (server, root) = (Files::serve(), tempfile::tempdir().unwrap());
    let (urls, times) = half_a_day(&server);
    let provider = open(options(urls, times.clone(), cache(&root, false)));
    assert_wind(&provider.sample_at(times[0]).unwrap(), 0);
    cache(&root, false).clear(None, None).unwrap();
    assert_wind(&provider.sample_at(times[1]).unwrap(), 1);
    assert_eq!(server.asked(), ["p0.nc"]);
}

#[test]
fn urls_need_a_cache_and_times_that_fit() {
    let root = tempfile::tempdir().unwrap();
    let url = PathBuf::from("https://example.org/a.nc");
    let good = options(vec![url.clone()], vec![1.0, 2.0], cache(&root, false));
    let cases = [
        (ProviderOptions { cache: None, ..good.clone() }, "a cache"),
        (ProviderOptions { times: None, ..good.clone() }, "give its times"),
        (ProviderOptions { files: vec![url.clone(); 3], ..good.clone() }, "3 URLs are given for 2 times"),
        (ProviderOptions { times: Some(vec![2.0, 1.0]), ..good.clone() }, "ascend"),
    ];
    for (options, part) in cases {
        let error = refusal(options);
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert_says(&error, &[part]);
    }
    let select = Some(DimWindow::new().range("t", 0, 1).into());
    let timed = ProviderOptions { time_dim: Some("t".into()), select, ..good };
    assert_eq!(refusal(timed).kind(), ErrorKind::Selection);
    // Local files are as they were, with a cache or without, and fetch nothing.
    let local = winds(root.path(), "local.nc", &hours(0..2), 0);
    let options = ProviderOptions { cache: Some(cache(&root, false)), ..files(&[&local]) };
    assert_eq!(open(options).prefetch(0.0, f64::INFINITY).unwrap(), 0);
}
