//! `s3://bucket/key`: public objects, by their HTTPS address. Requests are anonymous.

use super::http::Http;
use super::{Ask, Failure, Reply, Transport};
use crate::cache::staging::Staging;
use crate::cache::url::Url;
use std::sync::Arc;

/// Public objects of one region.
pub(super) struct S3 {
    http: Arc<Http>,
    region: String,
}

impl S3 {
    pub(super) fn new(http: Arc<Http>, region: String) -> Self {
        S3 { http, region }
    }
}

impl Transport for S3 {
    fn download(&self, ask: &Ask<'_>, staging: &mut Staging) -> Result<Reply, Failure> {
        let address = address(ask.url, &self.region).map_err(Failure::Unknown)?;
        let url = Url::parse(&address)?;
        self.http.download(&Ask { url: &url, validators: ask.validators.clone(), ..*ask }, staging)
    }
}

/// The HTTPS address of an object.
///
/// # Errors
/// A text for a bucket or region that cannot be part of a host name, and without a key.
fn address(url: &Url, region: &str) -> Result<String, String> {
    let (bucket, key) = url.without_fragment().split_once('/').unwrap_or((url.without_fragment(), ""));
    let in_host = |text: &str| {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
        !text.is_empty() && text.bytes().all(plain)
    };
    if !in_host(bucket) {
        return Err(format!("\"{bucket}\" is not the name of a bucket"));
    }
    if !in_host(region) {
        return Err(format!("\"{region}\" is not the name of a region; see EARTHSCI_S3_REGION"));
    }
    if key.is_empty() {
        return Err("the URL names a bucket and no object in it".into());
    }
    Ok(format!("https://{bucket}.s3.{region}.amazonaws.com/{key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_one_https_address() {
        let of = |url: &str, region: &str| address(&Url::parse(url).unwrap(), region);
        assert_eq!(
            of("s3://era5/2018/a.nc", "us-east-2").unwrap(),
            "https://era5.s3.us-east-2.amazonaws.com/2018/a.nc"
        );
        assert_eq!(of("S3://b-1.x/k?v=2#f", "eu-west-1").unwrap(), "https://b-1.x.s3.eu-west-1.amazonaws.com/k?v=2");
        for (url, region, part) in [
            ("s3:///k", "us-east-2", "bucket"),
            ("s3://Evil:80/k", "us-east-2", "bucket"),
            ("s3://b", "us-east-2", "no object"),
            ("s3://b/", "us-east-2", "no object"),
            ("s3://b/k", "evil.example/", "region"),
        ] {
            let text = of(url, region).unwrap_err();
            assert!(text.contains(part), "{url}: {text}");
        }
    }
}
