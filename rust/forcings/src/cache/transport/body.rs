//! The body of an answer: how long it must be, and whether a part of it continues what is staged.

use super::{Failure, Validators};
use crate::cache::staging::{too_large, Staging};
use crate::Error;
use std::io::{self, Read};
use std::time::Duration;
use ureq::http::{header, HeaderMap};
use ureq::Body;

/// Why an attempt gave no file.
pub(super) enum Trouble {
    /// Another attempt may; the server may say when.
    Again(String, Option<Duration>),
    /// No other attempt will.
    Final(Failure),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Final(Failure::Here(error))
    }
}

/// The version of a file that the staged bytes are of.
#[derive(Default)]
pub(super) struct Version {
    pub(super) validators: Validators,
    /// The length of the whole, if the server said.
    total: Option<u64>,
}

impl Version {
    /// Reads it from the headers of a whole file.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Version { validators: validators(headers), total: content_length(headers) }
    }

    /// What to send as `If-Range`; nothing where the server gives no means to tell versions apart.
    pub(super) fn condition(&self) -> Option<&str> {
        let strong = self.validators.etag.as_deref().filter(|etag| !etag.starts_with("W/"));
        strong.or(self.validators.last_modified.as_deref())
    }

    /// Whether the headers of a part say that it continues the first `have` bytes of this version to its end; that end is
    /// known from then on.
    pub(super) fn is_continued_by(&mut self, headers: &HeaderMap, have: u64) -> bool {
        let found = validators(headers);
        let same = match &self.validators {
            Validators { etag: Some(etag), .. } => found.etag.as_ref() == Some(etag),
            Validators { last_modified, .. } => found.last_modified == *last_modified,
        };
        let Some((first, last, total)) = content_range(headers) else { return false };
        let whole = self.total.is_none_or(|known| known == total);
        let fits = content_length(headers).is_none_or(|len| have.checked_add(len) == Some(total));
        let continues = same && whole && fits && first == have && last.checked_add(1) == Some(total);
        if continues {
            self.total = Some(total);
        }
        continues
    }

    /// Whether this many bytes can be the whole.
    pub(super) fn may_end_at(&self, len: u64) -> bool {
        self.total.is_none_or(|total| total == len)
    }
}

/// Appends a body to the staged bytes, which then are the whole file.
///
/// # Errors
/// `Again` when the connection broke or the body is not as long as the headers say.
pub(super) fn receive(body: Body, headers: &HeaderMap, staging: &mut Staging) -> Result<(), Trouble> {
    let declared = content_length(headers);
    if declared.is_some_and(|len| len > staging.limit() - staging.len()) {
        return Err(too_large(staging.limit()).into());
    }
    let start = staging.len();
    let (mut reader, mut buffer) = (body.into_reader(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => staging.write(&buffer[..n])?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => {
                let (text, _) = super::http::describe(&ureq::Error::from(e));
                return Err(Trouble::Again(format!("{text} after {} bytes of the file", staging.len()), None));
            }
        }
    }
    let received = staging.len() - start;
    match declared {
        Some(len) if len != received => {
            Err(Trouble::Again(format!("the body ended after {received} of {len} bytes"), None))
        }
        _ => Ok(()),
    }
}

/// Whether the end of the body can be told from a broken connection.
pub(super) fn has_end(headers: &HeaderMap) -> bool {
    content_length(headers).is_some() || headers.contains_key(header::TRANSFER_ENCODING)
}

/// A coding of the body, which is not the file then.
pub(super) fn coding(headers: &HeaderMap) -> Option<&str> {
    let coding = headers.get(header::CONTENT_ENCODING)?.to_str().unwrap_or("unknown");
    (!coding.trim().is_empty() && !coding.trim().eq_ignore_ascii_case("identity")).then_some(coding)
}

pub(super) fn validators(headers: &HeaderMap) -> Validators {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_string);
    Validators { etag: text(header::ETAG), last_modified: text(header::LAST_MODIFIED) }
}

/// The pause that the server asks for.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        return None;
    }
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// First byte, last byte and total length of `bytes 5-9/10`.
fn content_range(headers: &HeaderMap) -> Option<(u64, u64, u64)> {
    let text = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let number = |text: &str| text.trim().parse().ok();
    Some((number(first)?, number(last)?, number(total)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_part_must_continue_the_same_version_to_its_end() {
        let whole = headers(&[("etag", "\"a\""), ("content-length", "100")]);
        let mut version = Version::of(&whole);
        assert_eq!(version.condition(), Some("\"a\""));
        let mut continues = |range: &str, etag: &str, len: &str| {
            let part = headers(&[("content-range", range), ("etag", etag), ("content-length", len)]);
            version.is_continued_by(&part, 40)
        };
        assert!(continues("bytes 40-99/100", "\"a\"", "60"));
        for (range, etag, len) in [
            ("bytes 40-99/100", "\"b\"", "60"),
            ("bytes 39-99/100", "\"a\"", "61"),
            ("bytes 40-98/100", "\"a\"", "59"),
            ("bytes 40-99/101", "\"a\"", "60"),
            ("bytes 40-100/101", "\"a\"", "61"),
            ("bytes 40-99/100", "\"a\"", "59"),
            ("bytes 40-99/*", "\"a\"", "60"),
            ("bytes 40-18446744073709551615/100", "\"a\"", "60"),
            ("40-99/100", "\"a\"", "60"),
            ("bytes -", "\"a\"", "60"),
        ] {
            assert!(!continues(range, etag, len), "{range} {etag} {len}");
        }
        assert!(!version.is_continued_by(&headers(&[("content-range", "bytes 40-99/100")]), 40), "no tag");
        let weak = Version::of(&headers(&[("etag", "W/\"a\"")]));
        assert_eq!(weak.condition(), None);
        let dated = Version::of(&headers(&[("etag", "W/\"a\""), ("last-modified", "then")]));
        assert_eq!(dated.condition(), Some("then"));
    }

    #[test]
    fn bodies_say_where_they_end() {
        assert!(has_end(&headers(&[("content-length", "3")])));
        assert!(has_end(&headers(&[("transfer-encoding", "chunked")])));
        assert!(!has_end(&headers(&[("connection", "close")])));
        assert!(!has_end(&headers(&[("content-length", "three")])));
        assert_eq!(coding(&headers(&[("content-encoding", "gzip")])), Some("gzip"));
        assert_eq!(coding(&headers(&[("content-encoding", "Identity")])), None);
        assert_eq!(coding(&headers(&[])), None);
        assert_eq!(retry_after(&headers(&[("retry-after", "7")])), Some(Duration::from_secs(7)));
        assert_eq!(retry_after(&headers(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")])), None);
    }
}
