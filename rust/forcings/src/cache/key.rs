//! The cache key of a URL.

use sha2::{Digest, Sha256};
use std::fmt;

/// The name of a cached file: 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey(String);

impl CacheKey {
    /// SHA-256 of the URL, byte for byte: nothing is trimmed, folded or decoded, query and fragment included.
    pub fn of_url(url: &str) -> Self {
        CacheKey(hex(&Sha256::digest(url.as_bytes())))
    }

    /// The key of the bytes `first..=last` of a URL, which are an entry of their own.
    pub fn of_range(url: &str, first: u64, last: u64) -> Self {
        CacheKey::of_url(&format!("{url}#bytes={first}-{last}"))
    }

    /// Reads a key as it stands in file names; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        is_lower_hex(text).then(|| CacheKey(text.into()))
    }

    /// The 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Whether the text is a SHA-256 in lower-case hex digits.
pub(super) fn is_lower_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
