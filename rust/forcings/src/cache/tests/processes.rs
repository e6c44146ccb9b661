//! Many processes on one root, and one that dies.

use super::server::{head, respond, Server};
use super::{content, some_bytes, Root};
use crate::cache::{Cache, CacheOptions};
use std::process::{Child, Command};
use std::sync::{mpsc, Mutex};

const LEN: usize = 500_000;

/// Runs a test of this program in another process, with a root and a URL for it.
pub(super) fn child(test: &str, root: &Root, url: &str) -> Child {
    let name = format!("cache::tests::{test}");
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name.as_str(), "--nocapture"])
        .env("FORCINGS_TEST_CACHE_ROOT", root.path())
        .env("FORCINGS_TEST_CACHE_URL", url)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

/// In a child: fetches the URL from its parent.
fn fetch_as_child() -> Option<Vec<u8>> {
    let root = std::env::var_os("FORCINGS_TEST_CACHE_ROOT")?;
    let url = std::env::var("FORCINGS_TEST_CACHE_URL").unwrap();
    let cache = Cache::with_options(CacheOptions::at(root)).unwrap();
    Some(content(&cache.fetch_url(&url).unwrap().path))
}

#[test]
fn four_processes_download_once() {
    if let Some(found) = fetch_as_child() {
        assert!(found == some_bytes(LEN));
        return;
    }
    let (root, server) = (Root::new(), Server::of_bytes(some_bytes(LEN)));
    let url = server.url("/a.nc");
    let children: Vec<Child> = (0..4).map(|_| child("processes::four_processes_download_once", &root, &url)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(server.count(), 1);
    assert_eq!(root.files("v1/blobs").len(), 1);
    assert!(root.files("v1/tmp").is_empty());
}

#[test]
fn a_process_that_is_killed_leaves_nothing_that_others_see() {
    if fetch_as_child().is_some() {
        unreachable!("it is killed before the file is whole");
    }
    let (root, (half_sent, half)) = (Root::new(), mpsc::channel());
    let half_sent = Mutex::new(half_sent);
    let server = Server::start(move |seen, wire| {
        let bytes = some_bytes(LEN);
        if seen.number > 0 {
            return respond(wire, 200, &[], &bytes);
        }
        head(wire, 200, &[("content-length", &LEN.to_string())]);
        wire.write_all(&bytes[..LEN / 2]).unwrap();
        wire.flush().unwrap();
        half_sent.lock().unwrap().send(()).unwrap();
        let _ = wire.read(&mut [0]);
    });
    let url = server.url("/a.nc");
    let test = "processes::a_process_that_is_killed_leaves_nothing_that_others_see";
    let mut child = child(test, &root, &url);
    half.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(root.files("v1/blobs").is_empty() && root.files("v1/meta").is_empty());
    assert!(root.offline().fetch_url(&url).is_err());
    // The lock went with the process.
    assert!(content(&root.cache().fetch_url(&url).unwrap().path) == some_bytes(LEN));
}
