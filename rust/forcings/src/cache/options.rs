//! What a cache is opened with, and what the environment says where the caller does not.

use super::credentials::{CdsSettings, Credential, Credentials};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The parts of a [`Cache`](super::Cache).
#[derive(Debug, Clone)]
pub struct CacheOptions {
    /// The root folder. It need not exist, and must be absolute.
    pub root: PathBuf,
    /// Serve what is there; fetch and write nothing.
    pub offline: bool,
    /// Compare the hash of each stored file with its manifest before it is served. Offline this is always done.
    pub verify: bool,
    /// Compare a stored copy of a `file://` URL with the local file it came from.
    pub recheck_files: bool,
    /// The largest file that is accepted, in bytes.
    pub max_file_bytes: u64,
    /// How HTTP servers are talked to.
    pub http: HttpOptions,
    /// How many objects of stores (Zarr) are fetched at a time, at least 1.
    pub fetch_concurrency: usize,
    /// Whether `EARTHSCIIO_STORE_ACCESS` asks to read such stores without storing anything, which this build cannot.
    pub direct_stores: bool,
    /// The region of `s3://` buckets.
    pub s3_region: String,
    /// What `$EARTHSCIDATADIR` in a `file://` URL stands for.
    pub data_dir: Option<String>,
    pub(super) credentials: Credentials,
}

/// How HTTP servers are talked to.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// How long a server may be silent.
    pub read_timeout: Duration,
    /// How often a download may fail in a row, without having moved on, before it is given up.
    pub attempts: u32,
    /// The pause before the first repetition; it doubles with each, up to 30 s.
    pub backoff: Duration,
    /// How many redirects one request may take.
    pub max_redirects: u32,
    /// Certificate authorities in PEM to trust instead of the built-in ones.
    pub ca_file: Option<PathBuf>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            connect_timeout: Duration::from_secs(30),
            read_timeout: Duration::from_secs(600),
            attempts: 5,
            backoff: Duration::from_millis(500),
            max_redirects: 10,
            ca_file: None,
        }
    }
}

impl CacheOptions {
    /// A cache at `root` that takes nothing from the environment.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        CacheOptions {
            root: root.into(),
            offline: false,
            verify: false,
            recheck_files: true,
            max_file_bytes: 1 << 40,
            fetch_concurrency: 16,
            direct_stores: false,
            http: HttpOptions::default(),
            s3_region: "us-east-2".into(),
            data_dir: None,
            credentials: Credentials::default(),
        }
    }

    /// What the environment says, except for what is given: the root from `EARTHSCIDATADIR` (else
    /// `/scratch.local/<user>/earthsci-cache`), `offline` from `EARTHSCI_OFFLINE`, and further `EARTHSCI_REVALIDATE_FILE`,
    /// `EARTHSCIIO_HTTP_CONNECT_TIMEOUT_SECS`, `EARTHSCIIO_HTTP_READ_TIMEOUT_SECS`, `EARTHSCIIO_FETCH_CONCURRENCY`,
    /// `EARTHSCIIO_STORE_ACCESS`, `EARTHSCI_S3_REGION`, `AWS_REGION`, `SSL_CERT_FILE`, `CDSAPI_KEY` and `CDSAPI_URL`.
    ///
    /// # Errors
    /// `InvalidParameter` for a value that is not of its kind, and when no root is known.
    pub fn from_environment(dir: Option<&Path>, offline: Option<bool>) -> Result<Self> {
        CacheOptions::from_lookup(dir, offline, &|name| std::env::var(name).ok())
    }

    pub(super) fn from_lookup(
        dir: Option<&Path>,
        offline: Option<bool>,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let get = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let data_dir = get("EARTHSCIDATADIR");
        let root = match (dir, &data_dir) {
            (Some(dir), _) => dir.to_path_buf(),
            (None, Some(dir)) => dir.into(),
            (None, None) => default_root(get("USER").or_else(|| get("LOGNAME")))?,
        };
        let root = std::path::absolute(&root).map_err(|e| Error::io(&root, e))?;
        let seconds = |name: &str, default: Duration| match get(name) {
            None => Ok(default),
            Some(text) => match text.trim().parse::<u32>() {
                Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds.into())),
                _ => Err(Error::invalid(format!("{name} is \"{text}\", not a positive number of whole seconds"))),
            },
        };
        let defaults = HttpOptions::default();
        let http = HttpOptions {
            connect_timeout: seconds("EARTHSCIIO_HTTP_CONNECT_TIMEOUT_SECS", defaults.connect_timeout)?,
            read_timeout: seconds("EARTHSCIIO_HTTP_READ_TIMEOUT_SECS", defaults.read_timeout)?,
            ca_file: get("SSL_CERT_FILE").map(PathBuf::from),
            ..defaults
        };
        let cds = CdsSettings {
            key: get("CDSAPI_KEY"),
            url: get("CDSAPI_URL"),
            file: get("HOME").map(|home| Path::new(&home).join(".cdsapirc")),
        };
        let one_of = |name: &str, words: &[&str]| {
            get(name).is_some_and(|value| words.contains(&value.trim().to_ascii_lowercase().as_str()))
        };
        let options = CacheOptions::at(root);
        let fetch_concurrency = match get("EARTHSCIIO_FETCH_CONCURRENCY") {
            None => options.fetch_concurrency,
            Some(text) => match text.trim().parse::<usize>() {
                Ok(number) => number.clamp(1, 64),
                Err(_) => {
                    return Err(Error::invalid(format!(
                        "EARTHSCIIO_FETCH_CONCURRENCY is \"{text}\", not a whole number"
                    )))
                }
            },
        };
        Ok(CacheOptions {
            fetch_concurrency,
            direct_stores: one_of("EARTHSCIIO_STORE_ACCESS", &["direct"]),
            offline: offline.unwrap_or_else(|| one_of("EARTHSCI_OFFLINE", &["1", "true", "yes"])),
            recheck_files: !one_of("EARTHSCI_REVALIDATE_FILE", &["0", "false", "no", "off"]),
            s3_region: get("EARTHSCI_S3_REGION").or_else(|| get("AWS_REGION")).unwrap_or(options.s3_region),
            http,
            data_dir,
            credentials: Credentials { given: Vec::new(), cds },
            ..options
        })
    }

    /// Adds a credential; a later one of the same realm replaces it.
    pub fn with_credential(mut self, credential: Credential) -> Self {
        self.credentials.given.retain(|c| c.realm() != credential.realm());
        self.credentials.given.push(credential);
        self
    }
}

/// Never a home folder: quotas there are small.
fn default_root(user: Option<String>) -> Result<PathBuf> {
    match user {
        Some(user) if !user.contains('/') && user != "." && user != ".." => {
            Ok(Path::new("/scratch.local").join(user).join("earthsci-cache"))
        }
        _ => Err(Error::invalid("no folder for the cache is known; give one, or set EARTHSCIDATADIR")),
    }
}
