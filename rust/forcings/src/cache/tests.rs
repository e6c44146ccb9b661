//! The cache against servers on this machine that behave well, badly and worse.

mod crowd;
mod http;
mod local;
mod offline;
mod processes;
mod rows;
mod secrets;
mod server;
mod shared;
mod upkeep;

use super::options::{CacheOptions, HttpOptions};
use super::{Cache, CacheKey, Manifest};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Checks a numbered case of the format; its number is in the failure.
fn row(number: &str, case: &str, check: impl FnOnce()) {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
    assert!(outcome.is_ok(), "row {number} ({case}) does not hold; its own message stands above");
}

/// A cache root that goes with the test.
struct Root(TempDir);

impl Root {
    fn new() -> Self {
        Root(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// With short pauses, so that tests of repetition are quick.
    fn options(&self) -> CacheOptions {
        let http = HttpOptions {
            read_timeout: Duration::from_secs(60),
            attempts: 3,
            backoff: Duration::from_millis(1),
            max_redirects: 4,
            ..HttpOptions::default()
        };
        CacheOptions { http, ..CacheOptions::at(self.path()) }
    }

    fn cache(&self) -> Cache {
        Cache::with_options(self.options()).unwrap()
    }

    /// For servers that say nothing, and answer nothing that counts either.
    fn impatient(&self) -> Cache {
        let options = self.options();
        let http = HttpOptions { read_timeout: Duration::from_millis(700), ..options.http };
        Cache::with_options(CacheOptions { http, ..options }).unwrap()
    }

    fn offline(&self) -> Cache {
        Cache::with_options(CacheOptions { offline: true, ..self.options() }).unwrap()
    }

    fn verifying(&self) -> Cache {
        Cache::with_options(CacheOptions { verify: true, ..self.options() }).unwrap()
    }

    /// Every file below a folder of the root.
    fn files(&self, dir: &str) -> Vec<PathBuf> {
        fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(dir).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, found);
                } else {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.path().join(dir), &mut found);
        found.sort();
        found
    }

    /// Nothing may be seen of a failed fetch.
    #[track_caller]
    fn assert_empty(&self) {
        for dir in ["v1/blobs", "v1/meta", "v1/tmp"] {
            assert_eq!(self.files(dir), Vec::<PathBuf>::new(), "{dir}");
        }
    }

    fn manifest_path(&self, url: &str) -> PathBuf {
        self.path().join("v1/meta").join(format!("{}.json", CacheKey::of_url(url)))
    }

    fn manifest(&self, url: &str) -> Manifest {
        let path = self.manifest_path(url);
        Manifest::parse(&std::fs::read(&path).unwrap(), &CacheKey::of_url(url), &path).unwrap()
    }

    /// Puts a blob and its manifest in place as another program would.
    fn plant(&self, url: &str, extension: &str, content: &[u8], change: impl FnOnce(&mut Manifest)) -> PathBuf {
        use sha2::Digest;
        let key = CacheKey::of_url(url);
        let blob = self.path().join("v1/blobs").join(&key.as_str()[..2]).join(format!("{key}{extension}"));
        let meta = self.manifest_path(url);
        for path in [&blob, &meta] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        std::fs::write(&blob, content).unwrap();
        let hash = super::key::hex(&sha2::Sha256::digest(content));
        let mut manifest = Manifest::new(url, content.len() as u64, hash, crate::time::UnixMillis(1_939_248_000_000));
        change(&mut manifest);
        std::fs::write(meta, manifest.to_bytes()).unwrap();
        blob
    }
}

fn content(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Bytes that differ from place to place, so that a wrong offset shows.
fn some_bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i / 251 + i * 7) as u8).collect()
}
