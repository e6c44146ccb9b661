//! The record beside a blob: which URL it holds, and what its bytes must be.

use super::key::{is_lower_hex, CacheKey};
use crate::time::UnixMillis;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;

/// The only value of `schema`.
const SCHEMA: &str = "earthsciio/manifest/v1";

/// What is known of a blob. The fields stand in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The name of the realm whose credential was used; never the credential.
    #[serde(default)]
    pub auth_realm: Option<String>,
    /// The length of the blob in bytes.
    pub bytes: u64,
    /// The server's `ETag`, quotes included.
    #[serde(default)]
    pub etag: Option<String>,
    /// When it was fetched or found unchanged: UTC, RFC 3339.
    pub fetched_at: String,
    /// The server's `Last-Modified`.
    #[serde(default)]
    pub last_modified: Option<String>,
    /// The version of this record.
    #[serde(default = "schema")]
    pub schema: String,
    /// SHA-256 of the blob in hex digits.
    pub sha256_content: String,
    /// The name of the source that asked for it.
    #[serde(default)]
    pub source_loader: Option<String>,
    /// The URL, as it was asked for.
    pub url: String,
}

fn schema() -> String {
    SCHEMA.into()
}

impl Manifest {
    /// The record of a file that was fetched `now`.
    pub(super) fn new(url: &str, bytes: u64, sha256_content: String, now: UnixMillis) -> Self {
        Manifest {
            auth_realm: None,
            bytes,
            etag: None,
            fetched_at: whole_second(now),
            last_modified: None,
            schema: schema(),
            sha256_content,
            source_loader: None,
            url: url.into(),
        }
    }

    /// Reads the manifest of `key`; `path` is where it stands, for the error.
    ///
    /// # Errors
    /// `Format` for anything but a manifest of this version, and for that of another URL.
    pub fn parse(bytes: &[u8], key: &CacheKey, path: &Path) -> Result<Self> {
        let fault = |detail: String| {
            Error::format(path, format!("this is no manifest of a cached file: {detail}; remove it to fetch again"))
        };
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(|e| fault(e.to_string()))?;
        if manifest.schema != SCHEMA {
            return Err(fault(format!("its schema is \"{}\", not \"{SCHEMA}\"", manifest.schema)));
        }
        if !is_lower_hex(&manifest.sha256_content.to_ascii_lowercase()) {
            return Err(fault("sha256_content is not a SHA-256 in 64 hex digits".into()));
        }
        if CacheKey::of_url(&manifest.url) != *key {
            return Err(fault("its url has another key than its file name".into()));
        }
        Ok(manifest)
    }

    /// The bytes of the file: sorted names, two blanks of indentation, a newline at the end.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("numbers and texts have a JSON form");
        bytes.push(b'\n');
        bytes
    }

    /// Whether the blob has the given hash.
    pub(super) fn has_hash(&self, sha256: &str) -> bool {
        self.sha256_content.eq_ignore_ascii_case(sha256)
    }

    /// Notes that it was found unchanged `now`.
    pub(super) fn renew(&mut self, now: UnixMillis) {
        self.fetched_at = whole_second(now);
    }

    /// The time since it was fetched; zero for a time to come, `None` where the record does not say.
    pub(super) fn age(&self, now: UnixMillis) -> Option<Duration> {
        let fetched = UnixMillis::from_rfc3339(&self.fetched_at).ok()?;
        Some(Duration::from_millis(u64::try_from(now.0.saturating_sub(fetched.0)).unwrap_or(0)))
    }
}

fn whole_second(now: UnixMillis) -> String {
    UnixMillis(now.0 - now.0.rem_euclid(1000)).to_rfc3339_z()
}
