//! How bytes come from a URL into a file in the making: one trait, and what answers which scheme.

mod body;
mod http;
mod local;
mod redirect;
mod s3;

pub(super) use local::{canonical_path, Local};

use super::credentials::Credential;
use super::options::CacheOptions;
use super::staging::Staging;
use super::url::Url;
use crate::{Error, Result};
use std::sync::Arc;

/// One way to fetch. Calls come from many threads at once.
pub(super) trait Transport: Send + Sync {
    /// Fetches the whole of a URL. After an error the staging file holds anything.
    fn download(&self, ask: &Ask<'_>, staging: &mut Staging) -> std::result::Result<Reply, Failure>;
}

/// What is asked of a server.
pub(super) struct Ask<'a> {
    pub(super) url: &'a Url,
    /// Of the copy that is there.
    pub(super) validators: Validators,
    pub(super) credential: Option<&'a Credential>,
    /// Whether a checksum will judge the bytes, so that a server need not say how many there are.
    pub(super) has_checksum: bool,
}

/// What a server says by which to tell one version of a file from another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Validators {
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
}

/// A server's answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The bytes are staged.
    Body(Validators),
    /// The copy that is there is right; nothing is staged.
    NotModified(Validators),
}

/// Why there is no answer. The texts name neither headers nor the addresses that redirects led to, which may be signed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The source says that there is no such file.
    Absent(String),
    /// Nobody knows whether there is.
    Unknown(String),
    /// No transport for the scheme.
    NoTransport(String),
    /// The fault is on this side, and another source would not help.
    Here(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Here(error)
    }
}

/// The transports by scheme.
#[derive(Default)]
pub(super) struct Transports(Vec<(&'static str, Arc<dyn Transport>)>);

impl Transports {
    /// # Errors
    /// `Io` and `Format` for a file of certificate authorities that cannot be used.
    pub(super) fn new(options: &CacheOptions) -> Result<Self> {
        let http = Arc::new(http::Http::new(&options.http)?);
        let s3 = s3::S3::new(http.clone(), options.s3_region.clone());
        Ok(Transports(vec![
            ("file", Arc::new(Local::new(options.data_dir.clone()))),
            ("http", http.clone()),
            ("https", http),
            ("s3", Arc::new(s3)),
        ]))
    }

    pub(super) fn download(&self, ask: &Ask<'_>, staging: &mut Staging) -> std::result::Result<Reply, Failure> {
        match self.0.iter().find(|(scheme, _)| *scheme == ask.url.scheme()) {
            Some((_, transport)) => transport.download(ask, staging),
            None => {
                let known: Vec<&str> = self.0.iter().map(|(scheme, _)| *scheme).collect();
                let (scheme, known) = (ask.url.scheme(), known.join(", "));
                Err(Failure::NoTransport(format!("nothing fetches \"{scheme}://\"; known schemes are {known}")))
            }
        }
    }
}
