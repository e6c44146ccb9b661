//! Keys, names, manifests, and when a stored copy will do.

use super::server::{respond, Server};
use super::{content, row, some_bytes, Root};
use crate::cache::request::{judge, Verdict};
use crate::cache::url::Url;
use crate::cache::{Cache, CacheKey, CacheOptions, Freshness, Manifest, Origin, Request};
use crate::time::UnixMillis;
use crate::{Error, ErrorKind};
use proptest::prelude::*;
use std::path::Path;
use std::time::Duration;

const URL: &str = "https://example.org/met/2031/06/20310615.nc";

#[test]
fn keys_and_names() {
    let of = |url: &str| CacheKey::of_url(url).to_string();
    for (url, key) in [
        (URL, "b0f3d1b53f0d42f746d5c7db5c06aec5d2c0a8a318e3235b2d907b48cb97f46f"),
        (
            "https://example.org/store/grid.zarr/q/.zarray",
            "7afca2543d22fc5d8f6fa2d8123a924e67585007f90b97e9ff58e62f618642ad",
        ),
        (
            "https://data.earthsci.dev/era5/2018/11/20181108.nc",
            "11cdcec111409f586e6afc432e1a6da47e6f97ccf3715e5db8554632b00671c1",
        ),
    ] {
        assert_eq!(of(url), key);
    }
    row("1", "URL with and without trailing newline", || assert_ne!(of(URL), of(&format!("{URL}\n"))));
    row("2", "a range of bytes", || {
        let key = CacheKey::of_range(URL, 0, 99);
        assert_eq!(key.as_str(), "8038751c933e2b2d51d4de61b15506a06a205b48e9be100aa411aba2f9810de7");
        assert_eq!(CacheKey::of_range(URL, 0, 1023), CacheKey::of_url(&format!("{URL}#bytes=0-1023")));
    });
    let extension = |url: &str| Url::parse(url).unwrap().extension();
    row("6", "/.hidden", || assert_eq!(extension("https://a.org/.hidden"), None));
    row("7", "data.NC4", || assert_eq!(extension("https://a.org/data.NC4").as_deref(), Some("nc4")));
    row("8", "y.csv?token=abc", || assert_eq!(extension("https://a.org/y.csv?token=abc").as_deref(), Some("csv")));
    for (url, expected) in [
        ("file:///a.b/plain", None),
        ("https://a.org/x.toolongext", None),
        ("https://a.org/x.a-b", None),
        ("https://a.org/x.", None),
        ("https://a.org/q/0.0", Some("0")),
        ("https://a.org/a.nc#part.of/it", Some("nc")),
        ("https://a.org/..%2f..%2fetc", None),
        ("https://a.org/x.nc/../../etc/passwd", None),
    ] {
        assert_eq!(extension(url).as_deref(), expected, "{url}");
    }
}

#[test]
fn what_is_no_url_is_refused() {
    let root = Root::new();
    for url in
        ["", "/a/b", "a.nc", "://x", "1http://x", "http//x", "http://a.org/a b", "http://a.org/\n", "http://a.org/\0"]
    {
        assert_eq!(root.cache().fetch_url(url).unwrap_err().kind(), ErrorKind::InvalidParameter, "{url:?}");
    }
    let error = root.cache().fetch_url("ftp://a.org/x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let text = error.to_string();
    assert!(text.contains("\"ftp://\"") && text.contains("file, http, https, s3"), "{text}");
    let error = root.cache().fetch_url("http://a.org/x#bytes=0-1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let checksum = Request { sha256: Some("abc".into()), ..Request::new(URL) };
    assert_eq!(root.cache().fetch(&checksum).unwrap_err().kind(), ErrorKind::InvalidParameter);
    root.assert_empty();
    let relative = CacheOptions::at("some/folder");
    assert_eq!(Cache::with_options(relative).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
fn manifests_keep_their_bytes() {
    let text = r#"{
  "auth_realm": null,
  "bytes": 4,
  "etag": "\"r7\"",
  "fetched_at": "2031-06-16T04:05:06Z",
  "last_modified": null,
  "schema": "earthsciio/manifest/v1",
  "sha256_content": "2a97516c354b68848cdbd8f54a226a0a55b21ed138e207ad6c5cbb9c00aa5aea",
  "source_loader": "met",
  "url": "https://example.org/met/2031/06/20310615.nc"
}
"#;
    let key = CacheKey::of_url(URL);
    let parse = |text: &str| Manifest::parse(text.as_bytes(), &key, Path::new("m.json"));
    row("3", "read and written again", || assert_eq!(parse(text).unwrap().to_bytes(), text.as_bytes()));
    row("4", "without schema", || {
        let without = text.replace("  \"schema\": \"earthsciio/manifest/v1\",\n", "");
        assert_eq!(parse(&without).unwrap(), parse(text).unwrap());
    });
    let shortest = parse(
        r#"{"url":"https://example.org/met/2031/06/20310615.nc","bytes":4,"fetched_at":"x",
            "sha256_content":"2A97516C354B68848CDBD8F54A226A0A55B21ED138E207AD6C5CBB9C00AA5AEA"}"#,
    )
    .unwrap();
    assert_eq!((shortest.etag, shortest.source_loader), (None, None));
    for (from, to) in [
        ("\"bytes\": 4", "\"bytes\": -1"),
        ("\"bytes\": 4", "\"bytes\": 4, \"more\": 1"),
        ("  \"bytes\": 4,\n", ""),
        ("manifest/v1", "manifest/v2"),
        ("2a97", "2a9"),
        ("2a97", "zzzz"),
        ("20310615.nc", "20310616.nc"),
        ("}", ""),
        ("{", "[{"),
    ] {
        let error = parse(&text.replace(from, to)).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{from}: {error}");
    }
}

proptest! {
    #[test]
    fn any_manifest_reads_as_it_was_written(
        url in "[a-z]{1,5}://[ -~\u{e9}\u{1f600}]{0,40}",
        bytes: u64,
        texts in prop::collection::vec(prop::option::of(".{0,20}"), 4),
        seconds in -62_167_219_200_i64..253_402_300_800,
    ) {
        let hash = CacheKey::of_url("x").to_string();
        let mut manifest = Manifest::new(&url, bytes, hash, UnixMillis(seconds * 1000 + 999));
        [&mut manifest.etag, &mut manifest.last_modified, &mut manifest.source_loader, &mut manifest.auth_realm]
            .into_iter()
            .zip(texts)
            .for_each(|(field, text)| *field = text);
        let read = Manifest::parse(&manifest.to_bytes(), &CacheKey::of_url(&url), Path::new("m"));
        prop_assert_eq!(read.unwrap(), manifest);
    }

    #[test]
    fn a_damaged_manifest_is_an_error_or_a_manifest(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Manifest::parse(&bytes, &CacheKey::of_url(URL), Path::new("m"));
    }

    #[test]
    fn no_url_names_a_file_outside_the_root(url in "[a-z]{1,5}://[ -~]{0,60}") {
        if let Ok(parsed) = Url::parse(&url) {
            let extension = parsed.extension();
            prop_assert!(extension.iter().all(|e| e.len() <= 8 && e.bytes().all(|b| b.is_ascii_alphanumeric())));
        }
    }
}

/// All combinations of what is declared, stored and old enough.
#[test]
fn the_first_rule_that_applies_decides() {
    let now = UnixMillis(1_000_000_000_000);
    let second = Duration::from_secs(1);
    let hash = CacheKey::of_url("content").to_string();
    for declared in [None, Some(hash.to_ascii_uppercase()), Some(CacheKey::of_url("other").to_string())] {
        for freshness in [
            Freshness::Immutable,
            Freshness::Incomplete { ttl: None },
            Freshness::Incomplete { ttl: Some(60 * second) },
        ] {
            for (etag, last_modified) in [(false, false), (true, false), (false, true), (true, true)] {
                for (age, young) in
                    [(Some(59), true), (Some(60), false), (Some(61), false), (Some(-5), true), (None, false)]
                {
                    let mut manifest = Manifest::new(URL, 1, hash.clone(), UnixMillis(now.0 - age.unwrap_or(0) * 1000));
                    if age.is_none() {
                        manifest.fetched_at = "yesterday".into();
                    }
                    manifest.etag = etag.then(|| "\"e\"".into());
                    manifest.last_modified = last_modified.then(|| "then".into());
                    let request = Request { sha256: declared.clone(), freshness, ..Request::new(URL) };
                    let expected = match (&declared, freshness) {
                        (Some(d), _) if d.eq_ignore_ascii_case(&hash) => Verdict::Serve,
                        (Some(_), _) => Verdict::Fetch,
                        (None, Freshness::Immutable) => Verdict::Serve,
                        (None, _) if etag || last_modified => Verdict::AskServer,
                        (None, Freshness::Incomplete { ttl: Some(_) }) if young => Verdict::Serve,
                        (None, _) => Verdict::Fetch,
                    };
                    assert_eq!(judge(&manifest, &request, now), expected, "{declared:?} {freshness:?} {age:?}");
                }
            }
        }
    }
}

#[test]
fn a_copy_is_served_or_compared() {
    row("5", "blob under an unexpected extension", || {
        let root = Root::new();
        for extension in ["", ".bin", ".nc.old", ".NC"] {
            let blob = root.plant(URL, extension, b"found", |_| {});
            assert_eq!(root.cache().fetch_url(URL).unwrap().path, blob, "{extension}");
            std::fs::remove_file(blob).unwrap();
        }
    });
    row("13", "immutable with a stored ETag: no request", || {
        let (root, server) = (Root::new(), Server::of_status(500));
        root.plant(&server.url("/a.nc"), ".nc", b"warm", |m| m.etag = Some("\"1\"".into()));
        let entry = root.cache().fetch_url(&server.url("/a.nc")).unwrap();
        assert_eq!((content(&entry.path), entry.origin, server.count()), (b"warm".to_vec(), Origin::Hit, 0));
    });
    row("14", "incomplete, ETag stored, within its time: conditional request", || {
        let root = Root::new();
        let server = Server::start(|seen, wire| {
            assert_eq!(seen.header("if-none-match"), Some("\"1\""));
            assert_eq!(seen.header("if-modified-since"), Some("Sat, 01 Jan 2000 00:00:00 GMT"));
            respond(wire, 304, &[("etag", "\"2\"")], b"");
        });
        let url = server.url("/a.nc");
        root.plant(&url, ".nc", b"warm", |m| {
            m.etag = Some("\"1\"".into());
            m.last_modified = Some("Sat, 01 Jan 2000 00:00:00 GMT".into());
        });
        let freshness = Freshness::Incomplete { ttl: Some(Duration::MAX) };
        let entry = root.cache().fetch(&Request { freshness, ..Request::new(&url) }).unwrap();
        assert_eq!((content(&entry.path), entry.origin, server.count()), (b"warm".to_vec(), Origin::NotModified, 1));
        let manifest = root.manifest(&url);
        assert_eq!(manifest.etag.as_deref(), Some("\"2\""));
        assert_eq!(manifest.last_modified.as_deref(), Some("Sat, 01 Jan 2000 00:00:00 GMT"));
        assert_ne!(manifest.fetched_at, "2031-06-15T00:00:00Z");
        assert_eq!(entry.manifest, Some(manifest));
    });
    row("15", "304, but the blob is gone: once more without conditions", || {
        let root = Root::new();
        let blobs = root.path().join("v1/blobs");
        let server = Server::start(move |seen, wire| match seen.header("if-none-match") {
            Some(_) => {
                std::fs::remove_dir_all(&blobs).unwrap();
                respond(wire, 304, &[], b"");
            }
            None => respond(wire, 200, &[], b"fresh"),
        });
        let url = server.url("/a.nc");
        root.plant(&url, ".nc", b"warm", |m| m.etag = Some("\"1\"".into()));
        let freshness = Freshness::Incomplete { ttl: None };
        let entry = root.cache().fetch(&Request { freshness, ..Request::new(&url) }).unwrap();
        assert_eq!((content(&entry.path), entry.origin, server.count()), (b"fresh".to_vec(), Origin::Downloaded, 2));
    });
    // Unasked for, it is no answer.
    let (root, server) = (Root::new(), Server::of_status(304));
    assert_eq!(root.cache().fetch_url(&server.url("/a")).unwrap_err().kind(), ErrorKind::Transport);
    root.assert_empty();
}

#[test]
fn a_changed_file_replaces_the_copy_and_its_suffix() {
    let (root, server) = (Root::new(), Server::of_bytes(b"new".to_vec()));
    let url = server.url("/a.nc");
    let old = root.plant(&url, ".bin", b"old", |m| m.etag = Some("\"1\"".into()));
    let request = Request { freshness: Freshness::Incomplete { ttl: None }, ..Request::new(&url) };
    let entry = root.cache().fetch(&request).unwrap();
    assert_eq!((content(&entry.path), entry.origin), (b"new".to_vec(), Origin::Downloaded));
    assert!(!old.exists());
    assert_eq!(root.files("v1/blobs"), [entry.path]);
    assert_eq!(root.manifest(&url).etag, None);
    // Without anything to compare by and without a time, each call asks.
    root.cache().fetch(&request).unwrap();
    assert_eq!(server.count(), 2);
    let request = Request { freshness: Freshness::Incomplete { ttl: Some(Duration::from_secs(3600)) }, ..request };
    assert_eq!(root.cache().fetch(&request).unwrap().origin, Origin::Hit);
    assert_eq!(server.count(), 2);
}

#[test]
fn mirrors_and_realms() {
    let request =
        |canonical: &str, mirrors: &[String]| Request { mirrors: mirrors.to_vec(), ..Request::new(canonical) };
    row("16", "a mirror served the bytes", || {
        let (root, canonical, mirror) = (Root::new(), Server::of_status(503), Server::of_bytes(b"mirrored".to_vec()));
        let url = canonical.url("/a.nc");
        let entry = root.cache().fetch(&request(&url, &[mirror.url("/copy.dat")])).unwrap();
        assert_eq!((entry.key.clone(), content(&entry.path)), (CacheKey::of_url(&url), b"mirrored".to_vec()));
        assert_eq!(root.manifest(&url).url, url);
        assert_eq!(content(&root.offline().fetch_url(&url).unwrap().path), b"mirrored");
        assert_eq!(root.cache().fetch_url(&url).unwrap().origin, Origin::Hit);
        assert_eq!(mirror.count(), 1);
    });
    row("17", "canonical and mirror both missing: absent", || {
        let (root, canonical, mirror) = (Root::new(), Server::of_status(404), Server::of_status(410));
        let error = root.cache().fetch(&request(&canonical.url("/a"), &[mirror.url("/b")])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let text = error.to_string();
        assert!(text.contains("all sources failed") && text.contains("404") && text.contains("410"), "{text}");
        assert_eq!((canonical.count(), mirror.count()), (1, 1));
        root.assert_empty();
    });
    row("18", "one mirror 404, another timed out: unknown", || {
        let (root, canonical, mirror) =
            (Root::new(), Server::of_status(404), Server::start(|_, w| super::server::stall(w)));
        let error = root.impatient().fetch(&request(&canonical.url("/a"), &[mirror.url("/b")])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transport);
        assert!(error.to_string().contains(&canonical.url("/a")));
        root.assert_empty();
    });
    row("19", "unknown realm: an error before any request", || {
        let (root, server) = (Root::new(), Server::of_bytes(b"x".to_vec()));
        let asked = Request { auth_realm: Some("nobody".into()), ..Request::new(server.url("/a")) };
        let error = root.cache().fetch(&asked).unwrap_err();
        assert_eq!((error.kind(), server.count()), (ErrorKind::InvalidParameter, 0));
        assert!(error.to_string().contains("\"nobody\""));
        root.assert_empty();
    });
}

#[test]
fn integrity() {
    let root = Root::new();
    row("21", "tampered blob", || {
        let blob = root.plant(URL, ".nc", b"right", |_| {});
        std::fs::write(&blob, b"wrong").unwrap();
        assert_eq!(content(&root.cache().fetch_url(URL).unwrap().path), b"wrong");
        let error = root.verifying().fetch_url(URL).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity);
        assert!(error.to_string().contains(&CacheKey::of_url(URL).to_string()), "{error}");
        assert!(blob.exists(), "removing it is for the user to decide");
        // A length is looked at in any case.
        std::fs::write(&blob, b"longer").unwrap();
        assert_eq!(root.cache().fetch_url(URL).unwrap_err().kind(), ErrorKind::Integrity);
    });
    row("22", "declared checksum wrong", || {
        let (root, server) = (Root::new(), Server::of_bytes(some_bytes(1000)));
        let wrong = CacheKey::of_url("other").to_string();
        let request = Request { sha256: Some(wrong.clone()), ..Request::new(server.url("/a.nc")) };
        let error = root.cache().fetch(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity);
        assert!(error.to_string().contains(&wrong));
        root.assert_empty();
    });
    let (root, server) = (Root::new(), Server::of_bytes(b"abc".to_vec()));
    let hash = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    let request = Request { sha256: Some(hash.into()), ..Request::new(server.url("/a.nc")) };
    for origin in [Origin::Downloaded, Origin::Hit] {
        assert_eq!(root.cache().fetch(&request).unwrap().origin, origin);
    }
    assert_eq!(server.count(), 1);
}
