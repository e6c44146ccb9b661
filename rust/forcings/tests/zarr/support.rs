//! Stores to read, object by object, and readings to compare.

use forcings::cache::{Cache, CacheOptions, HttpOptions};
use forcings::dataset::{Dataset, Field, Selection, Values};
use forcings::provider::{Provider, ProviderOptions};
use forcings::{Error, ErrorKind};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A store in a folder.
pub(crate) struct Store {
    pub(crate) dir: TempDir,
}

impl Store {
    pub(crate) fn new() -> Self {
        Store { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn put(&self, key: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn put_json(&self, key: &str, value: &Value) {
        self.put(key, value.to_string());
    }

    pub(crate) fn get(&self, key: &str) -> Vec<u8> {
        std::fs::read(self.path().join(key)).unwrap()
    }

    pub(crate) fn remove(&self, key: &str) {
        std::fs::remove_file(self.path().join(key)).unwrap();
    }

    /// Every object whose key this accepts, overwritten with what is no chunk of any kind.
    pub(crate) fn poison(&self, name: &str, keep: impl Fn(&str) -> bool) {
        for entry in std::fs::read_dir(self.path().join(name)).unwrap() {
            let key = entry.unwrap().file_name().into_string().unwrap();
            if !key.starts_with('.') && !keep(&key) {
                self.put(&format!("{name}/{key}"), "poison");
            }
        }
    }

    /// An uncompressed array of version 2 with these values in C order.
    pub(crate) fn array(&self, name: &str, dims: &[&str], shape: &[usize], chunks: &[usize], values: &[f64]) {
        self.put_json(&format!("{name}/.zarray"), &v2("<f8", shape, chunks));
        self.put_json(&format!("{name}/.zattrs"), &json!({ "_ARRAY_DIMENSIONS": dims }));
        for (coords, cells) in cut(shape, chunks, values, -1.0) {
            let key = coords.iter().map(usize::to_string).collect::<Vec<_>>().join(".");
            self.put(&format!("{name}/{key}"), f64_bytes(&cells));
        }
    }

    pub(crate) fn options(&self, variables: &[&str]) -> ProviderOptions {
        options(self.path(), variables)
    }

    pub(crate) fn open(&self, variables: &[&str]) -> Provider {
        Provider::open(self.options(variables)).unwrap()
    }

    /// All of these arrays.
    pub(crate) fn read(&self, variables: &[&str]) -> Result<Dataset, Error> {
        self.read_under(variables, None)
    }

    pub(crate) fn read_under(&self, variables: &[&str], select: Option<&str>) -> Result<Dataset, Error> {
        let select = select.map(|json| Selection::from_json(json).unwrap());
        let provider = Provider::open(ProviderOptions { select, ..self.options(variables) })?;
        provider.materialize().map(|data| (*data).clone())
    }

    pub(crate) fn refusal(&self, name: &str) -> Error {
        self.read(&[name]).map(drop).unwrap_err()
    }
}

pub(crate) fn options(store: impl Into<PathBuf>, variables: &[&str]) -> ProviderOptions {
    ProviderOptions {
        format: "zarr".into(),
        variables: variables.iter().map(|v| v.to_string()).collect(),
        ..ProviderOptions::of_files([store])
    }
}

/// The metadata of an uncompressed array of version 2.
pub(crate) fn v2(dtype: &str, shape: &[usize], chunks: &[usize]) -> Value {
    json!({ "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "compressor": null, "fill_value": 0,
            "order": "C", "filters": null })
}

/// The metadata of an array of version 3.
pub(crate) fn v3(data_type: &str, shape: &[usize], chunks: &[usize], codecs: Value) -> Value {
    json!({ "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": 0,
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunks } },
            "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } }, "codecs": codecs })
}

/// The codec list of little-endian bytes without anything else.
pub(crate) fn plain() -> Value {
    json!([{ "name": "bytes", "configuration": { "endian": "little" } }])
}

/// Changes members of metadata.
pub(crate) fn with(mut metadata: Value, changes: &[(&str, Value)]) -> Value {
    for (name, value) in changes {
        metadata[*name] = value.clone();
    }
    metadata
}

/// The chunks of an array, each full, with `padding` in the cells beyond the array.
pub(crate) fn cut(shape: &[usize], chunks: &[usize], values: &[f64], padding: f64) -> Vec<(Vec<usize>, Vec<f64>)> {
    let grid: Vec<usize> = shape.iter().zip(chunks).map(|(s, c)| s.div_ceil(*c)).collect();
    let cells = |coords: &[usize]| {
        let cell = |within: Vec<usize>| {
            let at: Vec<usize> = coords.iter().zip(chunks).zip(&within).map(|((c, n), w)| c * n + w).collect();
            let inside = at.iter().zip(shape).all(|(a, s)| a < s);
            if inside {
                values[linear(&at, shape)]
            } else {
                padding
            }
        };
        positions(chunks).map(cell).collect()
    };
    positions(&grid).map(|coords| (coords.clone(), cells(&coords))).collect()
}

pub(crate) fn linear(at: &[usize], shape: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |n, (a, s)| n * s + a)
}

/// All positions of an array in C order.
pub(crate) fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..shape.iter().product()).map(move |mut n: usize| {
        let mut at = vec![0; shape.len()];
        for (a, s) in at.iter_mut().zip(shape).rev() {
            *a = n % s;
            n /= s;
        }
        at
    })
}

pub(crate) fn f64_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub(crate) fn f64s(field: &Field) -> &[f64] {
    match &field.values {
        Values::F64(values) => values,
        other => panic!("{} is {:?}", field.name, other.field_type()),
    }
}

pub(crate) fn dims(field: &Field) -> Vec<&str> {
    field.dims.iter().map(|d| &**d).collect()
}

/// Checks the kind of an error and that its text holds every one of these parts.
pub(crate) fn assert_error(error: &Error, kind: ErrorKind, parts: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    for part in parts {
        assert!(text.contains(part), "\"{part}\" is not in: {text}");
    }
}

pub(crate) fn cache(root: &TempDir, offline: bool) -> Cache {
    let mut options = CacheOptions::at(root.path());
    options.offline = offline;
    options.http = HttpOptions { backoff: Duration::from_millis(1), attempts: 2, ..HttpOptions::default() };
    Cache::with_options(options).unwrap()
}

/// The checksum of these bytes, bit by bit: another way than the library's.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    let bit = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| bit(crc)))
}
