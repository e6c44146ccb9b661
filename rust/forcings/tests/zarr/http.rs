//! Stores behind URLs: which objects are asked for, which of them may be missing, and how many are fetched at a time.

use crate::support::*;
use forcings::cache::{Cache, CacheKey, CacheOptions};
use forcings::dataset::DimWindow;
use forcings::provider::{Provider, ProviderOptions};
use forcings::{Error, ErrorKind};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Serves a store, with a status other than 200 for some keys, until the program ends.
struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    /// The most requests for chunks that were open at a time.
    most: Arc<AtomicUsize>,
}

impl Server {
    /// A request for a chunk is answered when `together` of them are open, or after a while.
    fn start(store: &Store, status: fn(&str) -> u16, together: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server { address, asked: Arc::default(), most: Arc::default() };
        let (root, asked, most) = (store.path().to_path_buf(), server.asked.clone(), server.most.clone());
        let open = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, root, asked) = (stream.unwrap(), root.clone(), asked.clone());
                let (open, most) = (open.clone(), most.clone());
                std::thread::spawn(move || {
                    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                    let Some(first) = lines.next() else { return };
                    lines.find(|line| line.is_empty());
                    let key = first.split(' ').nth(1).unwrap().trim_start_matches("/grid.zarr/").to_string();
                    asked.lock().unwrap().push(key.clone());
                    let is_chunk = !key.contains(".z") && !key.ends_with(".json");
                    if is_chunk {
                        most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        for _ in 0..400 {
                            if most.load(Ordering::SeqCst) >= together {
                                break;
                            }
                            std::thread::sleep(Duration::from_millis(5));
                        }
                        open.fetch_sub(1, Ordering::SeqCst);
                    }
                    let (status, body) = match (status(&key), std::fs::read(root.join(&key))) {
                        (200, Ok(body)) => (200, body),
                        (200, Err(_)) => (404, Vec::new()),
                        (other, _) => (other, Vec::new()),
                    };
                    let head =
                        format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                    // A client that has heard enough may be gone.
                    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
                });
            }
        });
        server
    }

    fn url(&self) -> String {
        format!("http://{}/grid.zarr/", self.address)
    }

    fn options(&self, variables: &[&str], cache: Cache) -> ProviderOptions {
        ProviderOptions { cache: Some(cache), ..options(self.url(), variables) }
    }

    /// What was asked for since the last call, in the order of the names.
    fn asked(&self) -> Vec<String> {
        let mut names = std::mem::take(&mut *self.asked.lock().unwrap());
        names.sort();
        names
    }
}

fn ok(_: &str) -> u16 {
    200
}

/// `q(x 8)` in four chunks, the third of which was never written.
fn four_chunks() -> Store {
    let store = Store::new();
    store.array("q", &["x"], &[8], &[2], &(0..8).map(f64::from).collect::<Vec<_>>());
    store.remove("q/2");
    store
}

const WRITTEN: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 6.0, 7.0];

#[test]
fn row_93_a_store_of_version_2_opens_online_and_each_object_is_fetched_once() {
    let (store, root) = (four_chunks(), tempfile::tempdir().unwrap());
    let server = Server::start(&store, ok, 1);
    let provider = Provider::open(server.options(&["q"], cache(&root, false))).unwrap();
    assert!(server.asked().is_empty(), "building fetches nothing");
    assert_eq!(f64s(&provider.materialize().unwrap().variables[0]), WRITTEN);
    assert_eq!(server.asked(), ["q/.zarray", "q/.zattrs", "q/0", "q/1", "q/2", "q/3", "q/zarr.json"]);
    // From the cache alone, but for what is not there, which may have come up meanwhile.
    let window = provider.with_window(DimWindow::new().indices("x", [7, 0])).unwrap();
    assert_eq!(f64s(&window.sample_at(0.0).unwrap().variables[0]), [7.0, 0.0]);
    assert!(server.asked().is_empty());
    // The keys are those of the format.
    for key in ["q/.zarray", "q/0"] {
        let key = CacheKey::of_url(&format!("http://{}/grid.zarr/{key}", server.address)).to_string();
        assert!(root.path().join("v1/meta").join(format!("{key}.json")).is_file());
    }
    // Offline, what is not there is absent, and nobody is asked.
    let offline = Provider::open(server.options(&["q"], cache(&root, true))).unwrap();
    assert_eq!(f64s(&offline.materialize().unwrap().variables[0]), WRITTEN);
    let cold = tempfile::tempdir().unwrap();
    let offline = Provider::open(server.options(&["q"], cache(&cold, true))).unwrap();
    let Err(Error::CacheMiss { url, .. }) = offline.materialize() else { panic!() };
    assert!(url.ends_with("/grid.zarr/q/zarr.json"), "{url}");
    assert!(server.asked().is_empty());
}

#[test]
fn row_95_an_unknown_chunk_is_an_error_and_not_the_fill_value() {
    let (store, root) = (four_chunks(), tempfile::tempdir().unwrap());
    for (status, kind) in [
        ((|key| if key == "q/2" { 503 } else { 200 }) as fn(&str) -> u16, ErrorKind::Transport),
        (|key| if key == "q/2" { 403 } else { 200 }, ErrorKind::Transport),
    ] {
        let server = Server::start(&store, status, 1);
        let provider = Provider::open(server.options(&["q"], cache(&root, false))).unwrap();
        let error = provider.materialize().map(drop).unwrap_err();
        assert_error(&error, kind, &["q/2"]);
    }
    // Neither is an array whose metadata are not to be had.
    let server = Server::start(&store, |key| if key == "q/zarr.json" { 503 } else { 200 }, 1);
    let provider = Provider::open(server.options(&["q"], cache(&root, false))).unwrap();
    assert_error(&provider.materialize().map(drop).unwrap_err(), ErrorKind::Transport, &["q/zarr.json"]);
    // 410 is as good as 404.
    let server = Server::start(&store, |key| if key == "q/2" { 410 } else { 200 }, 1);
    let provider = Provider::open(server.options(&["q"], cache(&root, false))).unwrap();
    assert_eq!(f64s(&provider.materialize().unwrap().variables[0]), WRITTEN);
}

#[test]
fn chunks_are_fetched_together_but_no_more_than_asked_for() {
    let store = Store::new();
    store.array("q", &["x"], &[40], &[1], &(0..40).map(f64::from).collect::<Vec<_>>());
    for concurrency in [1, 6] {
        let root = tempfile::tempdir().unwrap();
        let mut options = CacheOptions::at(root.path());
        options.fetch_concurrency = concurrency;
        let cache = Cache::with_options(options);
        // The first answers wait for as many requests as there should be at a time.
        let server = Server::start(&store, ok, concurrency);
        let provider = Provider::open(server.options(&["q"], cache.unwrap())).unwrap();
        assert_eq!(f64s(&provider.materialize().unwrap().variables[0]).len(), 40);
        assert_eq!(server.most.load(Ordering::SeqCst), concurrency);
        assert_eq!(server.asked().len(), 43);
    }
}

#[test]
fn after_an_error_no_further_chunk_is_asked_for() {
    let store = Store::new();
    store.array("q", &["x"], &[200], &[1], &[0.0; 200]);
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(&store, |key| if key == "q/3" { 403 } else { 200 }, 1);
    let provider = Provider::open(server.options(&["q"], cache(&root, false))).unwrap();
    assert_error(&provider.materialize().map(drop).unwrap_err(), ErrorKind::Transport, &["q/3"]);
    assert!(server.asked().len() < 150);
}

#[test]
fn times_choose_the_chunks_of_a_record() {
    let store = Store::new();
    store.array("q", &["time", "x"], &[3, 2], &[1, 2], &(0..6).map(f64::from).collect::<Vec<_>>());
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(&store, ok, 1);
    let options = ProviderOptions { times: Some(vec![0.0, 1.0, 2.0]), ..server.options(&["q"], cache(&root, false)) };
    let provider = Provider::open(options).unwrap();
    assert_eq!(f64s(&provider.sample_at(1.5).unwrap().variables[0]), [2.0, 3.0]);
    assert_eq!(server.asked(), ["q/.zarray", "q/.zattrs", "q/1.0", "q/zarr.json"]);
    // What is fetched ahead serves offline, under a window too.
    assert_eq!(provider.prefetch(1.0, 3.0).unwrap(), 2);
    assert_eq!(server.asked(), ["q/2.0"]);
    let offline = ProviderOptions { times: Some(vec![0.0, 1.0, 2.0]), ..server.options(&["q"], cache(&root, true)) };
    assert_eq!(f64s(&Provider::open(offline).unwrap().sample_at(2.0).unwrap().variables[0]), [4.0, 5.0]);
}

#[test]
fn what_is_fetched_ahead_is_what_the_samples_need() {
    let (store, root) = (four_chunks(), tempfile::tempdir().unwrap());
    let server = Server::start(&store, ok, 1);
    let provider = Provider::open(server.options(&["q"], cache(&root, false))).unwrap();
    let window = provider.with_window(DimWindow::new().range("x", 1, 3)).unwrap();
    assert_eq!(window.prefetch(0.0, 0.0).unwrap(), 2);
    assert_eq!(server.asked(), ["q/.zarray", "q/.zattrs", "q/0", "q/1", "q/zarr.json"]);
    assert_eq!(provider.prefetch(f64::NEG_INFINITY, f64::INFINITY).unwrap(), 3);
    assert_eq!(server.asked(), ["q/2", "q/3"]);
    let server = Server::start(&store, |key| if key == "q/1" { 403 } else { 200 }, 1);
    let provider = Provider::open(server.options(&["q"], cache(&root, false))).unwrap();
    assert_error(&provider.prefetch(0.0, 0.0).map(drop).unwrap_err(), ErrorKind::Transport, &["q/1"]);
}
