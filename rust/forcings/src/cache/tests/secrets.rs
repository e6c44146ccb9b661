//! A credential reaches its own servers and nothing else.

use super::server::{respond, Server};
use super::{content, row, Root};
use crate::cache::{Cache, CacheOptions, Credential, Request};
use crate::ErrorKind;
use std::path::Path;

/// A word that must not be found anywhere but in a request.
const CANARY: &str = "canary-5f2d9e71";

fn bearer(hosts: &[&str]) -> Credential {
    Credential::bearer("met", CANARY, hosts).unwrap()
}

fn asks(url: String) -> Request {
    Request { auth_realm: Some("met".into()), source: Some("winds".into()), ..Request::new(url) }
}

fn cache(root: &Root, credential: Credential) -> Cache {
    Cache::with_options(root.options().with_credential(credential)).unwrap()
}

#[track_caller]
fn assert_hidden(text: &str) {
    assert!(!text.contains(CANARY), "{text}");
}

#[test]
fn a_token_is_sent_and_never_kept() {
    row("20", "credential in a header: the manifest has the realm alone", || {
        let root = Root::new();
        let server = Server::start(|seen, wire| match seen.header("authorization") {
            Some(value) if value == format!("Bearer {CANARY}") => respond(wire, 200, &[], b"for friends"),
            _ => respond(wire, 401, &[("www-authenticate", "Bearer")], b""),
        });
        let url = server.url("/a.nc");
        let error = root.cache().fetch_url(&url).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transport);
        let cache = cache(&root, bearer(&["127.0.0.1"]));
        let entry = cache.fetch(&asks(url.clone())).unwrap();
        assert_eq!(content(&entry.path), b"for friends");
        let manifest = root.manifest(&url);
        assert_eq!((manifest.auth_realm.as_deref(), manifest.source_loader.as_deref()), (Some("met"), Some("winds")));
        for file in root.files("") {
            assert_hidden(&String::from_utf8_lossy(&content(&file)));
            assert_hidden(&file.display().to_string());
        }
        let options = root.options().with_credential(bearer(&["a.org"]));
        for text in
            [format!("{cache:?}"), format!("{options:?}"), format!("{:#?}", bearer(&["a.org"])), format!("{entry:?}")]
        {
            assert_hidden(&text);
        }
    });
}

#[test]
fn errors_do_not_show_it() {
    for status in [400, 401, 403, 404, 500] {
        let root = Root::new();
        // A server that shows what it got, in the head and in the body.
        let server = Server::start(move |seen, wire| {
            let got = seen.header("authorization").unwrap().to_string();
            respond(wire, status, &[("x-echo", &got), ("www-authenticate", &got)], got.as_bytes());
        });
        let error = cache(&root, bearer(&["127.0.0.1"])).fetch(&asks(server.url("/a"))).unwrap_err();
        assert_hidden(&error.to_string());
        assert_hidden(&format!("{error:?}"));
        assert!(error.to_string().contains(&status.to_string()));
        root.assert_empty();
    }
    for (name, value, hosts) in [
        ("Author ization", CANARY.to_string(), &["a.org"][..]),
        ("", CANARY.to_string(), &["a.org"]),
        ("X-Key", format!("{CANARY}\r\nX-More: 1"), &["a.org"]),
        ("X-Key", format!("{CANARY}\u{e9}"), &["a.org"]),
        ("X-Key", String::new(), &["a.org"]),
        ("X-Key", CANARY.to_string(), &[]),
    ] {
        let error = Credential::header("met", name, value, hosts).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert_hidden(&error.to_string());
    }
}

#[test]
fn it_goes_to_the_hosts_of_its_realm_only() {
    let root = Root::new();
    let server = Server::of_bytes(b"x".to_vec());
    // Not to another host, and not without TLS to another machine: no request is made.
    let error = cache(&root, bearer(&["data.example.org"])).fetch(&asks(server.url("/a"))).unwrap_err();
    assert_eq!((error.kind(), server.count()), (ErrorKind::InvalidParameter, 0));
    assert!(error.to_string().contains("data.example.org"), "{error}");
    let error =
        cache(&root, bearer(&["data.example.org"])).fetch(&asks("http://data.example.org/a".into())).unwrap_err();
    assert!(error.to_string().contains("https only"), "{error}");
    // Not along with a redirect to another host, and back again to its own.
    let elsewhere = Server::of_bytes(b"from elsewhere".to_vec());
    let target = elsewhere.url("/b").replace("127.0.0.1", "localhost");
    let own = Server::start(move |_, wire| respond(wire, 302, &[("location", &target)], b""));
    let entry = cache(&root, bearer(&["127.0.0.1"])).fetch(&asks(own.url("/a"))).unwrap();
    assert_eq!(content(&entry.path), b"from elsewhere");
    assert!(own.requests()[0].header("authorization").is_some());
    assert_eq!(elsewhere.requests()[0].header("authorization"), None);
    // Not to a mirror.
    let down = Server::of_status(404);
    let request =
        Request { mirrors: vec![elsewhere.url("/m").replace("127.0.0.1", "localhost")], ..asks(down.url("/c")) };
    cache(&root, bearer(&["127.0.0.1"])).fetch(&request).unwrap();
    assert_eq!(elsewhere.requests()[1].header("authorization"), None);
    // Not without the realm.
    cache(&root, bearer(&["127.0.0.1"])).fetch_url(&server.url("/d")).unwrap();
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[test]
fn urls_with_passwords_are_refused() {
    let root = Root::new();
    for url in [
        format!("https://me:{CANARY}@data.example.org/a.nc"),
        format!("https://{CANARY}@data.example.org"),
        format!("s3://{CANARY}@bucket/key"),
    ] {
        for cache in [root.cache(), root.offline()] {
            let error = cache.fetch_url(&url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            assert_hidden(&error.to_string());
        }
    }
    root.assert_empty();
}

#[test]
fn the_climate_data_store_has_its_key_from_the_environment_or_a_file() {
    let root = Root::new();
    let realm = |variables: &[(&str, &str)]| {
        let lookup = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_string());
        let options = CacheOptions::from_lookup(Some(Path::new("/c")), None, &lookup).unwrap();
        assert_hidden(&format!("{options:?}"));
        options.credentials.of_realm("cds").map(|c| (c.header_name().to_string(), c.reveal().to_string(), c.hosts()))
    };
    let expected = |host: &str| ("PRIVATE-TOKEN".to_string(), CANARY.to_string(), host.to_string());
    assert_eq!(realm(&[("CDSAPI_KEY", CANARY)]).unwrap(), expected("cds.climate.copernicus.eu"));
    let other = [("CDSAPI_KEY", CANARY), ("CDSAPI_URL", "https://ADS.example.org:8443/api")];
    assert_eq!(realm(&other).unwrap(), expected("ads.example.org"));
    let home = root.path().to_str().unwrap();
    assert_eq!(realm(&[("HOME", home)]).unwrap_err().kind(), ErrorKind::InvalidParameter);
    std::fs::write(root.path().join(".cdsapirc"), format!("url: https://x.org/api\nkey:  {CANARY}\n")).unwrap();
    assert_eq!(realm(&[("HOME", home)]).unwrap(), expected("x.org"));
    assert_eq!(realm(&[("HOME", home), ("CDSAPI_KEY", "mine")]).unwrap().1, "mine");
    assert_eq!(realm(&[]).unwrap_err().kind(), ErrorKind::InvalidParameter);
}
