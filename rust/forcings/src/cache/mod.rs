//! The content-addressed disk cache of remote files, version 1 of its format: what is fetched, from where, and when
//! again. Decoding is not its business: it hands out the path of a file.
//!
//! A URL has one blob, named by the SHA-256 of the URL, and a manifest beside it that says what the blob must hold. The
//! folder tree is the only index, so that many processes share one root: a lock per key makes one of them download, and
//! a rename makes the result visible whole or not at all.

mod credentials;
mod digest;
mod fetch;
mod key;
mod layout;
mod lock;
mod manifest;
mod options;
mod permits;
mod request;
mod staging;
mod transport;
mod upkeep;
mod url;

#[cfg(test)]
mod tests;

pub use credentials::Credential;
pub use fetch::Cache;
pub use key::CacheKey;
pub use manifest::Manifest;
pub use options::{CacheOptions, HttpOptions};
pub use request::{Entry, Freshness, Origin, Request};
pub use upkeep::{Cleared, SourceUsage, Usage};
pub use url::is_url;
