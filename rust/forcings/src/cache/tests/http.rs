//! Servers that break off, stall, lie, change their files and send clients around.

use super::server::{head, respond, stall, Seen, Server, Wire};
use super::{content, some_bytes, Root};
use crate::cache::{Cache, CacheOptions, HttpOptions, Origin, Request};
use crate::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

const LEN: usize = 200_000;

/// What the cache makes of a server that will not do, after how many requests.
#[track_caller]
fn refusal(server: &Server, kind: ErrorKind, part: &str) -> usize {
    let root = Root::new();
    refusal_by(&root, &root.cache(), server, kind, part)
}

#[track_caller]
fn refusal_by(root: &Root, cache: &Cache, server: &Server, kind: ErrorKind, part: &str) -> usize {
    let error = cache.fetch_url(&server.url("/a.nc")).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert!(text.contains(&server.url("/a.nc")) && text.contains(part), "{text}");
    root.assert_empty();
    server.count()
}

#[track_caller]
fn success(server: &Server, expected: &[u8]) -> usize {
    let root = Root::new();
    let (cache, request) = (root.cache(), Request::new(server.url("/a.nc")));
    assert!(!cache.holds(&request));
    let entry = cache.fetch(&request).unwrap();
    assert!(content(&entry.path) == expected);
    assert_eq!(entry.origin, Origin::Downloaded);
    assert!(cache.holds(&request));
    assert!(root.files("v1/tmp").is_empty());
    server.count()
}

/// Sends the first half of the bytes that remain, as a server whose connection drops.
pub(super) fn half(wire: &mut dyn Wire, seen: &Seen, bytes: &[u8], etag: &str) {
    let total = bytes.len();
    let from = seen.header("range").map_or(0, |r| r["bytes=".len()..r.len() - 1].parse().unwrap());
    let (len, range) = ((total - from).to_string(), format!("bytes {from}-{}/{total}", total - 1));
    match from {
        0 => head(wire, 200, &[("content-length", &len), ("etag", etag)]),
        _ => head(wire, 206, &[("content-length", &len), ("etag", etag), ("content-range", &range)]),
    }
    let _ = wire.write_all(&bytes[from..from + (total - from) / 2]).and_then(|()| wire.flush());
}

/// Sends what is asked for.
pub(super) fn all(wire: &mut dyn Wire, seen: &Seen, bytes: &[u8], etag: &str) {
    let total = bytes.len();
    match seen.header("range").filter(|_| seen.header("if-range") == Some(etag)) {
        None => respond(wire, 200, &[("etag", etag)], bytes),
        Some(range) => {
            let from: usize = range["bytes=".len()..range.len() - 1].parse().unwrap();
            let range = format!("bytes {from}-{}/{total}", total - 1);
            respond(wire, 206, &[("etag", etag), ("content-range", &range)], &bytes[from..]);
        }
    }
}

#[test]
fn a_broken_download_goes_on_where_it_broke_off() {
    let server = Server::start(|seen, wire| match seen.number {
        0 | 1 => half(wire, seen, &some_bytes(LEN), "\"v1\""),
        _ => all(wire, seen, &some_bytes(LEN), "\"v1\""),
    });
    assert_eq!(success(&server, &some_bytes(LEN)), 3);
    let requests = server.requests();
    assert_eq!(requests[0].header("range"), None);
    assert_eq!(requests[0].header("accept-encoding"), Some("identity"));
    let asked: Vec<_> = requests.iter().skip(1).map(|r| (r.header("range"), r.header("if-range"))).collect();
    assert_eq!(asked, [(Some("bytes=100000-"), Some("\"v1\"")), (Some("bytes=150000-"), Some("\"v1\""))]);
}

#[test]
fn without_a_strong_validator_it_starts_again() {
    let server = Server::start(|seen, wire| match seen.number {
        0 => half(wire, seen, &some_bytes(LEN), "W/\"v1\""),
        _ => all(wire, seen, &some_bytes(LEN), "W/\"v1\""),
    });
    assert_eq!(success(&server, &some_bytes(LEN)), 2);
    assert_eq!(server.requests()[1].header("range"), None);
}

#[test]
fn a_file_that_changes_between_attempts_is_never_mixed() {
    let (old, new) = (some_bytes(LEN), vec![9; LEN + 10]);
    // Honest: the whole new file.
    let server = Server::start({
        let (old, new) = (old.clone(), new.clone());
        move |seen, wire| match seen.number {
            0 => half(wire, seen, &old, "\"v1\""),
            _ => all(wire, seen, &new, "\"v2\""),
        }
    });
    assert_eq!(success(&server, &new), 2);
    // It ignores `If-Range` and sends the rest of the new file, with a new tag, or with none; or another range.
    for headers in [
        &[("etag", "\"v2\""), ("content-range", "bytes 100000-199999/200000")][..],
        &[("content-range", "bytes 100000-199999/200000")],
        &[("etag", "\"v1\""), ("content-range", "bytes 0-99999/200000")],
        &[("etag", "\"v1\""), ("content-range", "bytes 100000-199999/300000")],
        &[("etag", "\"v1\"")],
    ] {
        let server = Server::start({
            let (old, headers) = (old.clone(), headers.to_vec());
            move |seen, wire| match (seen.number, seen.header("range")) {
                (0, _) => half(wire, seen, &old, "\"v1\""),
                (_, Some(_)) => respond(wire, 206, &headers, &[8; LEN / 2]),
                (_, None) => respond(wire, 200, &[("etag", "\"v2\"")], &[9; LEN + 10]),
            }
        });
        assert_eq!(success(&server, &new), 3, "{headers:?}");
    }
    let server = Server::start(move |seen, wire| match (seen.number, seen.header("range")) {
        (0, _) => half(wire, seen, &old, "\"v1\""),
        (_, Some(_)) => respond(wire, 416, &[], b""),
        (_, None) => respond(wire, 200, &[], &[9; LEN + 10]),
    });
    assert_eq!(success(&server, &new), 3);
}

#[test]
fn lengths_that_lie() {
    let short = Server::start(|_, wire| {
        head(wire, 200, &[("content-length", "100")]);
        let _ = wire.write_all(&[1; 50]);
    });
    assert_eq!(refusal(&short, ErrorKind::Transport, "50 bytes"), 3);
    // What follows the declared length is not part of the file.
    let long = Server::start(|_, wire| {
        head(wire, 200, &[("content-length", "10")]);
        let _ = wire.write_all(&[1; 5000]);
    });
    assert_eq!(success(&long, &[1; 10]), 1);
    let huge = Server::start(|_, wire| head(wire, 200, &[("content-length", "18446744073709551615")]));
    assert_eq!(refusal_of_size(&huge), 1);
    let unknown = Server::start(|_, wire| {
        head(wire, 200, &[]);
        let _ = wire.write_all(&[1; 50]);
    });
    assert_eq!(refusal(&unknown, ErrorKind::Transport, "does not say how long"), 1);
    let endless = Server::start(|_, wire| {
        head(wire, 200, &[("transfer-encoding", "chunked")]);
        while wire
            .write_all(b"1000\r\n")
            .and_then(|()| wire.write_all(&[0; 0x1000]))
            .and_then(|()| wire.write_all(b"\r\n"))
            .is_ok()
        {}
    });
    assert_eq!(refusal_of_size(&endless), 1);
    let coded = Server::start(|_, wire| respond(wire, 200, &[("content-encoding", "gzip")], b"\x1f\x8b"));
    assert_eq!(refusal(&coded, ErrorKind::Transport, "gzip"), 1);
    let empty = Server::of_bytes(Vec::new());
    assert_eq!(success(&empty, b""), 1);
    let no_content = Server::of_status(204);
    assert_eq!(refusal(&no_content, ErrorKind::Transport, "204"), 1);
    let part = Server::start(|_, wire| respond(wire, 206, &[("content-range", "bytes 0-1/9")], b"ab"));
    assert_eq!(refusal(&part, ErrorKind::Transport, "206"), 1);
}

#[track_caller]
fn refusal_of_size(server: &Server) -> usize {
    let root = Root::new();
    let options = CacheOptions { max_file_bytes: 1 << 20, ..root.options() };
    let error = Cache::with_options(options).unwrap().fetch_url(&server.url("/a.nc")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("max_file_bytes"), "{error}");
    root.assert_empty();
    server.count()
}

#[test]
fn chunked_bodies_end_with_their_last_chunk() {
    let whole = Server::start(|_, wire| {
        head(wire, 200, &[("transfer-encoding", "chunked")]);
        let _ = wire.write_all(b"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n");
    });
    assert_eq!(success(&whole, b"abcdefg"), 1);
    let broken = Server::start(|_, wire| {
        head(wire, 200, &[("transfer-encoding", "chunked")]);
        let _ = wire.write_all(b"3\r\nabc\r\n4\r\nde");
    });
    assert_eq!(refusal(&broken, ErrorKind::Transport, "bytes of the file"), 3);
    let nonsense = Server::start(|_, wire| {
        head(wire, 200, &[("transfer-encoding", "chunked")]);
        let _ = wire.write_all(b"zz\r\nabc\r\n0\r\n\r\n");
    });
    refusal(&nonsense, ErrorKind::Transport, "");
}

#[test]
fn servers_that_say_nothing_or_nonsense() {
    let silent = Server::start(|_, wire| stall(wire));
    let root = Root::new();
    let impatient = root.impatient();
    assert_eq!(refusal_by(&root, &impatient, &silent, ErrorKind::Transport, "silent"), 3);
    let stalled = Server::start(|_, wire| {
        head(wire, 200, &[("content-length", "100")]);
        let _ = wire.write_all(&[1; 50]).and_then(|()| wire.flush());
        stall(wire);
    });
    assert_eq!(refusal_by(&root, &impatient, &stalled, ErrorKind::Transport, "50 bytes"), 3);
    let closes = Server::start(|_, _| {});
    assert_eq!(refusal(&closes, ErrorKind::Transport, ""), 3);
    for answer in [
        &b"SSH-2.0-OpenSSH\r\n\r\n"[..],
        b"HTTP/1.1 two hundred\r\n\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbroken",
    ] {
        let babbles = Server::start(move |_, wire| {
            let _ = wire.write_all(answer);
        });
        refusal(&babbles, ErrorKind::Transport, "");
    }
    let verbose = Server::start(|_, wire| {
        let _ = wire.write_all(b"HTTP/1.1 200 OK\r\n");
        while wire.write_all(b"x-more: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n").is_ok() {}
    });
    refusal(&verbose, ErrorKind::Transport, "");
    // Nobody listens there: the port was free a moment ago.
    let gone = Server::of_status(200).url("/a.nc");
    let root = Root::new();
    assert_eq!(root.cache().fetch_url(&gone).unwrap_err().kind(), ErrorKind::Transport);
    for url in ["http:///x", "http://[::bad/x", "http://127.0.0.1:99999/x"] {
        assert_eq!(root.cache().fetch_url(url).unwrap_err().kind(), ErrorKind::Transport, "{url}");
    }
    root.assert_empty();
}

#[test]
fn what_may_pass_is_tried_again_and_what_will_not_is_not() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
        assert_eq!(refusal(&Server::of_status(status), ErrorKind::Transport, &status.to_string()), 3);
    }
    for status in [400, 401, 403, 405, 418, 501, 300, 302] {
        assert_eq!(refusal(&Server::of_status(status), ErrorKind::Transport, &status.to_string()), 1);
    }
    for status in [404, 410] {
        assert_eq!(refusal(&Server::of_status(status), ErrorKind::NotFound, &status.to_string()), 1);
    }
    let recovers = Server::start(|seen, wire| match seen.number {
        0 => respond(wire, 503, &[("retry-after", "0")], b""),
        1 => {}
        _ => respond(wire, 200, &[], b"after all"),
    });
    assert_eq!(success(&recovers, b"after all"), 3);
}

#[test]
fn a_long_download_may_break_often_and_a_circular_one_ends() {
    // Each attempt brings two megabytes more: twelve of them, with three failures in a row allowed.
    let bytes = some_bytes(24 << 20);
    let server = Server::start({
        let bytes = bytes.clone();
        move |seen, wire| {
            let from: usize = seen.header("range").map_or(0, |r| r["bytes=".len()..r.len() - 1].parse().unwrap());
            let (total, len) = (bytes.len(), (bytes.len() - from).to_string());
            let range = format!("bytes {from}-{}/{total}", total - 1);
            match from {
                0 => head(wire, 200, &[("content-length", &len), ("etag", "\"v\"")]),
                _ => head(wire, 206, &[("content-length", &len), ("etag", "\"v\""), ("content-range", &range)]),
            }
            let _ = wire.write_all(&bytes[from..total.min(from + (2 << 20))]).and_then(|()| wire.flush());
        }
    });
    assert!(success(&server, &bytes) >= 12);
    // Without resuming, the same point is reached again and again.
    let circular = Server::start(|_, wire| {
        head(wire, 200, &[("content-length", "9000000")]);
        let _ = wire.write_all(&[0; 3 << 20]);
    });
    let count = refusal(&circular, ErrorKind::Transport, "");
    assert!((3..=6).contains(&count), "{count}");
}

#[test]
fn redirects() {
    let around = Server::start(|_, wire| respond(wire, 302, &[("location", "/b"), ("content-length", "0")], b""));
    assert_eq!(refusal(&around, ErrorKind::Transport, "redirects"), 5);
    let target = Server::of_bytes(b"there".to_vec());
    for status in [301, 302, 303, 307, 308] {
        let url = target.url("/data/x.nc?signature=s3cr3t");
        let server = Server::start(move |_, wire| respond(wire, status, &[("location", &url)], b"moved"));
        assert_eq!(success(&server, b"there"), 1);
    }
    let relative = Server::start(|seen, wire| match seen.path.as_str() {
        "/a.nc" => respond(wire, 302, &[("location", "sub/../b.nc")], b""),
        path => respond(wire, 200, &[], path.as_bytes()),
    });
    assert_eq!(success(&relative, b"/b.nc"), 2);
    for location in ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://user:word@127.0.0.1/x", "http:///x"] {
        let server = Server::start(move |_, wire| respond(wire, 302, &[("location", location)], b""));
        assert_eq!(refusal(&server, ErrorKind::Transport, ""), 1, "{location}");
    }
    // Where it leads is not told: such addresses may be signed.
    let root = Root::new();
    let missing = Server::of_status(403);
    let url = missing.url("/x?signature=s3cr3t");
    let server = Server::start(move |_, wire| respond(wire, 302, &[("location", &url)], b""));
    let text = root.cache().fetch_url(&server.url("/a")).unwrap_err().to_string();
    assert!(!text.contains("s3cr3t"), "{text}");
}

fn tls() -> Arc<rustls::ServerConfig> {
    use rustls::pki_types::{pem::PemObject, CertificateDer, PrivateKeyDer};
    let chain = vec![CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap())
}

#[test]
fn certificates_are_checked() {
    let server = Server::with_tls(Some(tls()), |_, wire| respond(wire, 200, &[], b"private"));
    let url = server.url("/a.nc");
    let root = Root::new();
    let error = root.cache().fetch_url(&url).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(error.to_string().contains("certificate"), "{error}");
    assert_eq!(server.count(), 0);
    root.assert_empty();
    let trusting = |root: &Root| {
        let mut options = root.options();
        options.http.ca_file = Some(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cache/tests/tls/ca.pem").into());
        options
    };
    let cache = Cache::with_options(trusting(&root)).unwrap();
    assert_eq!(content(&cache.fetch_url(&url).unwrap().path), b"private");
    // The name counts, too.
    let other = url.replace("127.0.0.1", "localhost");
    assert_eq!(cache.fetch_url(&other).unwrap_err().kind(), ErrorKind::Transport);
    // From https to http is no way.
    let plain = Server::of_bytes(b"x".to_vec());
    let target = plain.url("/b");
    let server = Server::with_tls(Some(tls()), move |_, wire| respond(wire, 302, &[("location", &target)], b""));
    let error = cache.fetch_url(&server.url("/a")).unwrap_err();
    assert!(error.to_string().contains("from https to http"), "{error}");
    assert_eq!(plain.count(), 0);
    // A server that does not answer in TLS where TLS is expected, and a client that does not wait for long.
    let mut options = trusting(&root);
    options.http.read_timeout = Duration::from_millis(300);
    let url = plain.url("/a").replace("http:", "https:");
    let error = Cache::with_options(options).unwrap().fetch_url(&url).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    for (text, kind) in [(None, ErrorKind::Io), (Some("nothing"), ErrorKind::Format)] {
        let path = root.path().join("roots.pem");
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let options = root.options();
        let http = HttpOptions { ca_file: Some(path), ..options.http };
        assert_eq!(Cache::with_options(CacheOptions { http, ..options }).unwrap_err().kind(), kind);
    }
}
