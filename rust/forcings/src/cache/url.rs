//! URLs as far as the cache looks into them: the scheme, the authority, and the suffix that names a blob.

use crate::{Error, Result};

/// No URL that means something is longer; a longer one would only end up in errors and manifests.
const MAX_LEN: usize = 16 * 1024;

/// Whether the text is a URL (`scheme://…`) and not a path.
pub fn is_url(text: &str) -> bool {
    split_scheme(text).is_some()
}

/// A URL that was checked. Its text is what the caller gave, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    text: String,
    scheme: String,
}

impl Url {
    /// # Errors
    /// `InvalidParameter` for a text without a scheme, one with blanks or control characters, and one that holds a
    /// user name or password, which would end up in manifests; the text of the error leaves them out.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let Some((scheme, rest)) = split_scheme(text) else {
            return Err(Error::invalid(format!("\"{}\" is not a URL like https://host/path", shortened(text))));
        };
        if text.len() > MAX_LEN {
            return Err(Error::invalid(format!("the URL {}… is longer than {MAX_LEN} bytes", shortened(text))));
        }
        if let Some(c) = text.chars().find(|c| c.is_whitespace() || c.is_control()) {
            return Err(Error::invalid(format!("the URL {text:?} holds {c:?}; write it in percent encoding")));
        }
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "file" && authority(rest).contains('@') {
            let host = authority(rest).rsplit('@').next().unwrap_or_default();
            return Err(Error::invalid(format!(
                "the URL for {scheme}://{host} holds a user name or password, which a cache would store; give a \
                 credential with a realm instead"
            )));
        }
        Ok(Url { text: text.into(), scheme })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The scheme in lower case.
    pub(super) fn scheme(&self) -> &str {
        &self.scheme
    }

    /// What follows `scheme://`.
    pub(super) fn rest(&self) -> &str {
        &self.text[self.scheme.len() + 3..]
    }

    /// What follows `scheme://`, without the fragment, which is never sent.
    pub(super) fn without_fragment(&self) -> &str {
        self.rest().split('#').next().unwrap_or_default()
    }

    /// Whether it names a part of a file, which has a key of its own but cannot be fetched as a whole file is.
    pub(super) fn is_byte_range(&self) -> bool {
        self.rest().rsplit_once('#').is_some_and(|(_, fragment)| fragment.starts_with("bytes="))
    }

    /// The suffix of the blob's file name, for humans: 1 to 8 letters and digits behind the last dot of the last
    /// segment, in lower case.
    pub(super) fn extension(&self) -> Option<String> {
        let path = self.rest().split(['?', '#']).next().unwrap_or_default();
        let (stem, suffix) = path.rsplit('/').next()?.rsplit_once('.')?;
        let plain = (1..=8).contains(&suffix.len()) && suffix.bytes().all(|b| b.is_ascii_alphanumeric());
        (plain && !stem.is_empty()).then(|| suffix.to_ascii_lowercase())
    }
}

/// The part before the path.
pub(super) fn authority(rest: &str) -> &str {
    rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

/// The host of an authority in lower case, without the port; brackets of an IPv6 address stay.
pub(super) fn host(authority: &str) -> String {
    let end = match authority.rfind(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    authority[..end].to_ascii_lowercase()
}

pub(super) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let starts_well = scheme.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let plain = scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    (starts_well && plain).then_some((scheme, rest))
}

/// Enough of a text to recognise it.
fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
