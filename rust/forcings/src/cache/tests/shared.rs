//! Many threads and many caches on one root.

use super::server::{respond, Server};
use super::{content, row, some_bytes, Root};
use crate::cache::{Cache, Origin};
use std::sync::Barrier;

/// All fetch at once; how many of them downloaded.
fn race(caches: &[Cache], url: &str, expected: &[u8]) -> usize {
    let start = Barrier::new(caches.len());
    std::thread::scope(|scope| {
        let fetch = |cache: &Cache| {
            start.wait();
            let entry = cache.fetch_url(url).unwrap();
            assert_eq!(content(&entry.path), expected);
            entry.origin == Origin::Downloaded
        };
        let threads: Vec<_> = caches.iter().map(|cache| scope.spawn(move || fetch(cache))).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    })
}

#[test]
fn one_url_is_downloaded_once() {
    let bytes = some_bytes(300_000);
    row("9", "12 threads of one cache", || {
        let (root, server) = (Root::new(), Server::of_bytes(bytes.clone()));
        let caches = vec![root.cache(); 12];
        assert_eq!(race(&caches, &server.url("/a.nc"), &bytes), 1);
        assert_eq!(server.count(), 1);
    });
    row("10", "12 caches on one root", || {
        let (root, server) = (Root::new(), Server::of_bytes(bytes.clone()));
        let caches: Vec<Cache> = (0..12).map(|_| root.cache()).collect();
        assert_eq!(race(&caches, &server.url("/a.nc"), &bytes), 1);
        assert_eq!(server.count(), 1);
        assert!(root.files("v1/tmp").is_empty());
    });
    // Different URLs do not wait for each other: the first answer comes only after the second.
    let (root, second) = (Root::new(), std::sync::Arc::new(Barrier::new(2)));
    let server = Server::start({
        let second = second.clone();
        move |seen, wire| {
            second.wait();
            respond(wire, 200, &[], seen.path.as_bytes());
        }
    });
    let cache = root.cache();
    std::thread::scope(|scope| {
        for path in ["/1", "/2"] {
            let (cache, url) = (&cache, server.url(path));
            scope.spawn(move || assert_eq!(content(&cache.fetch_url(&url).unwrap().path), path.as_bytes()));
        }
    });
}

#[test]
fn who_waits_for_a_download_that_fails_tries_alone() {
    let root = Root::new();
    let server = Server::start(|seen, wire| match seen.number {
        0..=2 => {}
        _ => respond(wire, 200, &[], b"at last"),
    });
    let url = server.url("/a");
    let caches: Vec<Cache> = (0..2).map(|_| root.cache()).collect();
    let results: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = caches.iter().map(|cache| scope.spawn(|| cache.fetch_url(&url).is_ok())).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|ok| **ok).count(), 1);
    assert_eq!(server.count(), 4);
    assert_eq!(content(&root.cache().fetch_url(&url).unwrap().path), b"at last");
}

#[test]
fn readers_never_see_half_a_replacement() {
    let (root, sources) = (Root::new(), Root::new());
    let source = sources.path().join("s.dat");
    let versions: Vec<Vec<u8>> = [3000, 5000].iter().map(|len| some_bytes(*len)).collect();
    std::fs::write(&source, &versions[0]).unwrap();
    let url = format!("file://{}", source.display());
    let cache = root.verifying();
    cache.fetch_url(&url).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for i in 0..100 {
                // By renaming, as whoever publishes files should.
                let next = sources.path().join("next");
                std::fs::write(&next, &versions[i % 2]).unwrap();
                std::fs::rename(&next, &source).unwrap();
                cache.fetch_url(&url).unwrap();
            }
        });
        let offline = root.offline();
        while !writer.is_finished() {
            let entry = offline.fetch_url(&url).unwrap();
            let found = content(&entry.path);
            assert!(versions.contains(&found), "{} bytes", found.len());
        }
    });
}
