//! The JSON files of the corpus.

use crate::expected::Expected;
use forcings::cache::{Cache, CacheOptions};
use serde::de::DeserializeOwned;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Index {
    pub(crate) schema: String,
    pub(crate) cache_format_version: String,
    pub(crate) cache_root: String,
    pub(crate) cases: Vec<IndexEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IndexEntry {
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) cache_key: String,
    pub(crate) blob_path: String,
}

/// One read of a file or a store. Members that are for people only are left out.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) schema: String,
    pub(crate) id: String,
    pub(crate) format: String,
    pub(crate) resolved_url: String,
    pub(crate) manifest_path: String,
    #[serde(flatten)]
    pub(crate) blob: Blob,
    #[serde(default)]
    pub(crate) objects: Vec<Object>,
    #[serde(default)]
    pub(crate) variables: Vec<String>,
    pub(crate) select: Option<Value>,
    #[serde(default)]
    pub(crate) decode: Decode,
    pub(crate) expected: Expected,
}

/// What is said of the bytes of one URL.
#[derive(Deserialize)]
pub(crate) struct Blob {
    pub(crate) cache_key: String,
    pub(crate) blob_path: String,
    pub(crate) content_sha256: String,
    pub(crate) bytes: u64,
}

/// One object of a store.
#[derive(Deserialize)]
pub(crate) struct Object {
    pub(crate) url: String,
    #[serde(flatten)]
    pub(crate) blob: Blob,
}

/// What a case says of its reading, among notes of any kind.
#[derive(Deserialize, Default)]
pub(crate) struct Decode {
    pub(crate) group: Option<String>,
    pub(crate) time_dim: Option<String>,
    pub(crate) refresh_times_s: Option<Vec<f64>>,
}

/// A series of files.
#[derive(Deserialize, Clone)]
pub(crate) struct Source {
    pub(crate) format: String,
    pub(crate) variables: Vec<String>,
    pub(crate) time_dim: String,
    pub(crate) refresh_times_s: Vec<f64>,
    pub(crate) urls: Vec<PathBuf>,
}

pub(crate) fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../julia/test/corpus"))
}

pub(crate) fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = folder().join(name);
    let text = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The cases of one format, with their entries in the index.
pub(crate) fn cases_of(format: &str) -> Vec<(IndexEntry, Case)> {
    let index: Index = read("cases.json");
    assert_eq!((index.schema.as_str(), index.cache_format_version.as_str()), ("earthsciio/cases-index/v1", "v1"));
    assert_eq!(index.cache_root, "cache/v1");
    let all = index.cases.into_iter().map(|entry| {
        let case: Case = read(&entry.file);
        (entry, case)
    });
    all.filter(|(_, case)| case.format == format).collect()
}

/// The cache of the corpus: nothing is fetched, and every blob is compared with its manifest.
pub(crate) fn cache() -> Cache {
    offline_cache(&folder().join("cache").canonicalize().unwrap())
}

pub(crate) fn offline_cache(root: &Path) -> Cache {
    let mut options = CacheOptions::at(root);
    options.offline = true;
    options.verify = true;
    Cache::with_options(options).unwrap()
}
