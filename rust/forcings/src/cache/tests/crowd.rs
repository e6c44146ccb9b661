//! Four processes of eight threads on one cold cache, and a server that drops connections, stalls, lies about lengths and
//! changes its files: each file is downloaded once, never seen in part, and every failure says what it is.

use super::http::{all, half};
use super::processes::child;
use super::server::{head, respond, stall, Seen, Server, Wire};
use super::{content, some_bytes, Root};
use crate::cache::{Cache, CacheKey, CacheOptions, HttpOptions};
use crate::ErrorKind;
use std::collections::HashMap;
use std::process::Child;
use std::sync::{Barrier, Mutex};
use std::time::Duration;

const PROCESSES: usize = 4;
const THREADS: usize = 8;
const LEN: usize = 200_000;
/// Long enough for a busy machine; the server that stalls is waited for once.
const PATIENCE: Duration = Duration::from_secs(5);

/// The files, and the requests that each takes.
const FILES: [(&str, usize); 5] =
    [("/good.nc", 1), ("/drops.nc", 3), ("/stalls.nc", 2), ("/lies.nc", 3), ("/changes.nc", 2)];

/// What a file is in the end.
fn expected(path: &str) -> Vec<u8> {
    match path {
        "/changes.nc" => vec![9; LEN + 10],
        _ => some_bytes(LEN + path.len()),
    }
}

/// Answers the request of this number for its path.
fn answer(seen: &Seen, number: usize, wire: &mut dyn Wire) {
    let whole = expected(&seen.path);
    match (seen.path.as_str(), number) {
        ("/drops.nc", 0 | 1) => half(wire, seen, &whole, "\"v\""),
        ("/stalls.nc", 0) => {
            half(wire, seen, &whole, "\"v\"");
            stall(wire);
        }
        // Twice as much as there is; the rest of that cannot be had.
        ("/lies.nc", 0) => {
            head(wire, 200, &[("content-length", &(2 * whole.len()).to_string()), ("etag", "\"v\"")]);
            let _ = wire.write_all(&whole).and_then(|()| wire.flush());
        }
        ("/lies.nc", 1) => respond(wire, 416, &[], b""),
        ("/changes.nc", 0) => half(wire, seen, &some_bytes(LEN), "\"old\""),
        ("/gone.nc", _) => respond(wire, 404, &[], b"no such file"),
        ("/liar.nc", _) => {
            head(wire, 200, &[("content-length", "100")]);
            let _ = wire.write_all(&[1; 50]);
        }
        _ => all(wire, seen, &whole, "\"v\""),
    }
}

fn failure(cache: &Cache, url: &str, kind: ErrorKind, part: &str) {
    let error = cache.fetch_url(url).unwrap_err();
    let text = error.to_string();
    assert!(error.kind() == kind && text.contains(url) && text.contains(part), "{text}");
}

/// One of the processes. Its threads go through the files in different orders; half of them share a cache.
fn be_one_of_them(root: std::ffi::OsString, base: &str) {
    let options = CacheOptions::at(root);
    let http = HttpOptions { backoff: Duration::from_millis(1), attempts: 3, ..HttpOptions::default() };
    let patient = CacheOptions { http: http.clone(), ..options.clone() };
    let gate = format!("{base}/gate/{}", std::process::id());
    Cache::with_options(patient).unwrap().fetch_url(&gate).unwrap();
    let options = CacheOptions { http: HttpOptions { read_timeout: PATIENCE, ..http }, ..options };
    let caches = [0, 1].map(|_| Cache::with_options(options.clone()).unwrap());
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (cache, start) = (&caches[thread % 2], &start);
            scope.spawn(move || {
                start.wait();
                for turn in 0..FILES.len() {
                    let (path, _) = FILES[(thread + turn) % FILES.len()];
                    let entry = cache.fetch_url(&format!("{base}{path}")).unwrap();
                    assert!(content(&entry.path) == expected(path), "{path}");
                }
                failure(cache, &format!("{base}/gone.nc"), ErrorKind::NotFound, "no such file (404)");
                if thread == 0 {
                    failure(cache, &format!("{base}/liar.nc"), ErrorKind::Transport, "after 50 bytes");
                }
            });
        }
    });
}

/// What is visible of a file at this moment is all of it or nothing.
fn look(root: &Root, offline: &Cache, files: &HashMap<String, (String, Vec<u8>)>) {
    for path in root.files("v1/blobs") {
        let key = path.file_stem().unwrap().to_str().unwrap();
        if let Some((url, whole)) = files.get(key) {
            assert!(content(&path) == *whole, "a part of {url} is visible");
        }
    }
    for (url, whole) in files.values() {
        match offline.fetch_url(url) {
            Ok(entry) => assert!(content(&entry.path) == *whole, "{url}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::CacheMiss, "{error}"),
        }
    }
}

#[test]
fn a_crowd_downloads_each_file_once_from_a_server_that_misbehaves() {
    if let Some(root) = std::env::var_os("FORCINGS_TEST_CACHE_ROOT") {
        return be_one_of_them(root, &std::env::var("FORCINGS_TEST_CACHE_URL").unwrap());
    }
    let root = Root::new();
    let (gate, counts) = (Barrier::new(PROCESSES), Mutex::new(HashMap::<String, usize>::new()));
    let server = Server::start(move |seen, wire| {
        if seen.path.starts_with("/gate/") {
            gate.wait();
            return respond(wire, 200, &[], b"go");
        }
        let number = {
            let mut counts = counts.lock().unwrap();
            let count = counts.entry(seen.path.clone()).or_default();
            *count += 1;
            *count - 1
        };
        answer(seen, number, wire);
    });
    let files: HashMap<String, (String, Vec<u8>)> = FILES
        .iter()
        .map(|(path, _)| (CacheKey::of_url(&server.url(path)).to_string(), (server.url(path), expected(path))))
        .collect();
    let test = "crowd::a_crowd_downloads_each_file_once_from_a_server_that_misbehaves";
    let mut children: Vec<Child> = (0..PROCESSES).map(|_| child(test, &root, &server.url(""))).collect();
    let offline = root.offline();
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        look(&root, &offline, &files);
        std::thread::sleep(Duration::from_millis(1));
    }
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    for (url, whole) in files.values() {
        assert!(content(&offline.fetch_url(url).unwrap().path) == *whole, "{url}");
    }
    let requests = server.requests();
    let count = |path: &str| requests.iter().filter(|seen| seen.path == path).count();
    for (path, expected) in FILES {
        assert_eq!(count(path), expected, "{path}");
    }
    // A failure is nobody else's: each who asks is told by the server, and by a liar only after three attempts.
    assert_eq!((count("/gone.nc"), count("/liar.nc")), (PROCESSES * THREADS, 3 * PROCESSES));
    assert_eq!(root.files("v1/blobs").len(), FILES.len() + PROCESSES);
    assert_eq!(root.files("v1/meta").len(), FILES.len() + PROCESSES);
    assert!(root.files("v1/tmp").is_empty());
}
