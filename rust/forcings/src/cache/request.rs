//! What is asked of the cache, when a stored copy will do, and what comes back.

use super::key::{is_lower_hex, CacheKey};
use super::manifest::Manifest;
use crate::time::UnixMillis;
use crate::{Error, Result};
use std::path::PathBuf;
use std::time::Duration;

/// Whether a file may still change at its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// It does not: a stored copy is served without asking anybody.
    #[default]
    Immutable,
    /// Its period is still open: a stored copy is served after the server said that it is the same, or, where the
    /// server gives no means to ask, while it is younger than `ttl`.
    Incomplete {
        /// How long a copy that cannot be compared stays good.
        ttl: Option<Duration>,
    },
}

/// One file to have.
#[derive(Debug, Clone)]
pub struct Request {
    /// The resolved URL: the name of the entry.
    pub url: String,
    /// Other URLs of the same bytes, tried in this order.
    pub mirrors: Vec<String>,
    /// What the content must hash to: SHA-256 in hex digits.
    pub sha256: Option<String>,
    /// Whether a stored copy will do.
    pub freshness: Freshness,
    /// The realm whose credential the server wants.
    pub auth_realm: Option<String>,
    /// The name of the source that asks, for the manifest.
    pub source: Option<String>,
}

impl Request {
    /// A file that does not change, from its own URL, for everyone.
    pub fn new(url: impl Into<String>) -> Self {
        Request {
            url: url.into(),
            mirrors: Vec::new(),
            sha256: None,
            freshness: Freshness::default(),
            auth_realm: None,
            source: None,
        }
    }

    /// # Errors
    /// `InvalidParameter` for a checksum that is none.
    pub(super) fn check(&self) -> Result<()> {
        match &self.sha256 {
            Some(text) if !is_lower_hex(&text.to_ascii_lowercase()) => {
                Err(Error::invalid(format!("the checksum of {} is not a SHA-256 in 64 hex digits", self.url)))
            }
            _ => Ok(()),
        }
    }
}

/// How an entry came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was there.
    Hit,
    /// It was fetched by this call.
    Downloaded,
    /// It was there, and the server said that it is still right.
    NotModified,
}

/// A file of the cache.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its key.
    pub key: CacheKey,
    /// Where its bytes are. They never change in place; another file may take the name later.
    pub path: PathBuf,
    /// What is known of it; `None` only offline, for a blob without a manifest.
    pub manifest: Option<Manifest>,
    /// How it came about.
    pub origin: Origin,
}

/// What to do about a stored copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Serve,
    AskServer,
    Fetch,
}

/// Judges a stored copy; the first rule that applies decides. A checksum and immutability come before the server's
/// validators, which every object store hands out: the other order would cost a round trip for each warm read.
pub(super) fn judge(manifest: &Manifest, request: &Request, now: UnixMillis) -> Verdict {
    if let Some(declared) = &request.sha256 {
        return if manifest.has_hash(declared) { Verdict::Serve } else { Verdict::Fetch };
    }
    let Freshness::Incomplete { ttl } = request.freshness else { return Verdict::Serve };
    if manifest.etag.is_some() || manifest.last_modified.is_some() {
        return Verdict::AskServer;
    }
    match (ttl, manifest.age(now)) {
        (Some(ttl), Some(age)) if age < ttl => Verdict::Serve,
        _ => Verdict::Fetch,
    }
}
