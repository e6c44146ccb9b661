//! Offline, and what the environment says.

use super::server::Server;
use super::{content, row, Root};
use crate::cache::{Cache, CacheKey, CacheOptions, Request};
use crate::{Error, ErrorKind};
use std::path::Path;
use std::time::Duration;

const URL: &str = "https://example.org/a.nc";

fn from(variables: &[(&str, &str)], dir: Option<&Path>, offline: Option<bool>) -> crate::Result<CacheOptions> {
    let lookup = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_string());
    CacheOptions::from_lookup(dir, offline, &lookup)
}

#[test]
fn offline_serves_what_is_there() {
    let root = Root::new();
    row("11", "not cached: CacheMiss with URL and key", || {
        let Error::CacheMiss { url, key } = root.offline().fetch_url(URL).unwrap_err() else { panic!() };
        assert_eq!((url.as_str(), key), (URL, CacheKey::of_url(URL).to_string()));
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0, "nothing is written, not even a folder");
    });
    // Every scheme is the same then, and an unknown realm is no matter.
    for url in ["file:///etc/hostname", "s3://b/k", "ftp://a.org/x", "https://a.org/x#bytes=0-1"] {
        let request = Request { auth_realm: Some("nobody".into()), ..Request::new(url) };
        assert_eq!(root.offline().fetch(&request).unwrap_err().kind(), ErrorKind::CacheMiss, "{url}");
    }
    let blob = root.plant(URL, "", b"stored", |m| m.etag = Some("\"old\"".into()));
    let entry = root.offline().fetch_url(URL).unwrap();
    assert_eq!((&entry.path, entry.manifest.unwrap().bytes), (&blob, 6));
    // Its manifest decides, if it has one.
    std::fs::write(&blob, b"sturdy").unwrap();
    assert_eq!(root.offline().fetch_url(URL).unwrap_err().kind(), ErrorKind::Integrity);
    std::fs::write(root.manifest_path(URL), b"{}").unwrap();
    assert_eq!(root.offline().fetch_url(URL).unwrap_err().kind(), ErrorKind::Format);
    std::fs::remove_file(root.manifest_path(URL)).unwrap();
    let entry = root.offline().fetch_url(URL).unwrap();
    assert_eq!((content(&entry.path), entry.manifest), (b"sturdy".to_vec(), None));
    let declared = |text: &str| Request { sha256: Some(CacheKey::of_url(text).to_string()), ..Request::new(URL) };
    assert_eq!(root.offline().fetch(&declared("sturdy")).unwrap().path, blob);
    assert_eq!(root.offline().fetch(&declared("other")).unwrap_err().kind(), ErrorKind::Integrity);
    // A manifest without its blob is a miss.
    root.plant(URL, "", b"stored", |_| {});
    std::fs::remove_file(&blob).unwrap();
    assert_eq!(root.offline().fetch_url(URL).unwrap_err().kind(), ErrorKind::CacheMiss);
    assert!(root.files("v1/locks").is_empty());
}

#[test]
fn online_a_blob_without_manifest_is_fetched_again() {
    let (root, server) = (Root::new(), Server::of_bytes(b"fetched".to_vec()));
    let url = server.url("/a.nc");
    root.plant(&url, ".nc", b"unknown", |_| {});
    std::fs::remove_file(root.manifest_path(&url)).unwrap();
    assert_eq!(content(&root.cache().fetch_url(&url).unwrap().path), b"fetched");
    assert_eq!(server.count(), 1);
}

#[test]
fn the_environment_speaks_where_the_caller_does_not() {
    let dir = Path::new("/data/cache");
    for (value, expected) in
        [("1", true), (" TRUE ", true), ("Yes", true), ("0", false), ("on", false), ("", false), ("offline", false)]
    {
        assert_eq!(from(&[("EARTHSCI_OFFLINE", value)], Some(dir), None).unwrap().offline, expected, "{value:?}");
    }
    row("12", "explicit online while EARTHSCI_OFFLINE=1", || {
        let server = Server::of_bytes(b"x".to_vec());
        let root = Root::new();
        let options = from(&[("EARTHSCI_OFFLINE", "1")], Some(root.path()), Some(false)).unwrap();
        Cache::with_options(options).unwrap().fetch_url(&server.url("/a")).unwrap();
        assert_eq!(server.count(), 1);
    });
    assert!(from(&[], Some(dir), Some(true)).unwrap().offline);
    row("30", "EARTHSCI_REVALIDATE_FILE=offf", || {
        for (value, expected) in
            [("offf", true), ("", true), ("1", true), (" OFF ", false), ("0", false), ("No", false)]
        {
            let options = from(&[("EARTHSCI_REVALIDATE_FILE", value)], Some(dir), None).unwrap();
            assert_eq!(options.recheck_files, expected, "{value:?}");
        }
    });
    let root = |variables: &[(&str, &str)]| from(variables, None, None).map(|o| o.root.display().to_string());
    assert_eq!(root(&[("EARTHSCIDATADIR", "/big/cache"), ("USER", "me")]).unwrap(), "/big/cache");
    assert_eq!(root(&[("EARTHSCIDATADIR", ""), ("USER", "me")]).unwrap(), "/scratch.local/me/earthsci-cache");
    assert_eq!(root(&[("LOGNAME", "me")]).unwrap(), "/scratch.local/me/earthsci-cache");
    for variables in [&[][..], &[("USER", "../../etc")], &[("USER", "..")], &[("HOME", "/home/me")]] {
        assert_eq!(root(variables).unwrap_err().kind(), ErrorKind::InvalidParameter);
    }
    let options = from(
        &[
            ("EARTHSCIIO_HTTP_CONNECT_TIMEOUT_SECS", "7"),
            ("EARTHSCIIO_HTTP_READ_TIMEOUT_SECS", " 8 "),
            ("AWS_REGION", "eu-west-1"),
        ],
        Some(dir),
        None,
    )
    .unwrap();
    assert_eq!(options.http.connect_timeout, Duration::from_secs(7));
    assert_eq!(options.http.read_timeout, Duration::from_secs(8));
    assert_eq!(options.s3_region, "eu-west-1");
    let both = from(&[("AWS_REGION", "a"), ("EARTHSCI_S3_REGION", "b")], Some(dir), None).unwrap();
    assert_eq!(both.s3_region, "b");
    assert_eq!(from(&[], Some(dir), None).unwrap().s3_region, "us-east-2");
    for (value, expected) in [("", 16), ("0", 1), ("1", 1), (" 20 ", 20), ("64", 64), ("1000", 64)] {
        let options = from(&[("EARTHSCIIO_FETCH_CONCURRENCY", value)], Some(dir), None).unwrap();
        assert_eq!(options.fetch_concurrency, expected, "{value:?}");
    }
    for value in ["-1", "1.5", "many"] {
        let error = from(&[("EARTHSCIIO_FETCH_CONCURRENCY", value)], Some(dir), None).unwrap_err();
        assert!(error.to_string().contains("EARTHSCIIO_FETCH_CONCURRENCY"), "{error}");
    }
    for (value, expected) in [("direct", true), (" Direct ", true), ("", false), ("cached", false), ("fast", false)] {
        let options = from(&[("EARTHSCIIO_STORE_ACCESS", value)], Some(dir), None).unwrap();
        assert_eq!(options.direct_stores, expected, "{value:?}");
    }
    for value in ["0", "-1", "1.5", "soon"] {
        let error = from(&[("EARTHSCIIO_HTTP_READ_TIMEOUT_SECS", value)], Some(dir), None).unwrap_err();
        assert!(error.to_string().contains("EARTHSCIIO_HTTP_READ_TIMEOUT_SECS"), "{error}");
    }
}
