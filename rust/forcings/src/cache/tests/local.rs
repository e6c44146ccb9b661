//! Copies of local files, and whether they are still right.

use super::server::Server;
use super::{content, row, Root};
use crate::cache::{Cache, CacheOptions, Origin, Request};
use crate::ErrorKind;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A source file whose time stamp is old enough to be trusted.
fn source(root: &Root, text: &[u8]) -> PathBuf {
    let path = root.path().join("source.dat");
    std::fs::write(&path, text).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    path
}

#[test]
fn a_replaced_source_is_copied_again() {
    for (number, case, new) in [
        ("23", "other length", &b"longer text"[..]),
        ("24", "same length", b"other"),
        ("29", "within one tick", b"OTHER"),
    ] {
        row(number, case, || {
            let (root, sources) = (Root::new(), Root::new());
            let (cache, path) = (root.cache(), source(&sources, b"first"));
            assert_eq!(cache.fetch_url(&url(&path)).unwrap().origin, Origin::Downloaded);
            assert_eq!(cache.fetch_url(&url(&path)).unwrap().origin, Origin::Hit);
            let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
            std::fs::write(&path, new).unwrap();
            if number == "29" {
                File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
            }
            let entry = cache.fetch_url(&url(&path)).unwrap();
            assert_eq!((content(&entry.path), entry.origin), (new.to_vec(), Origin::Downloaded));
            assert_eq!(root.manifest(&url(&path)).bytes, new.len() as u64);
            assert_eq!(cache.fetch_url(&url(&path)).unwrap().origin, Origin::Hit);
            // Who does not look serves the copy, and so does everybody offline.
            std::fs::write(&path, b"third").unwrap();
            let trusting = CacheOptions { recheck_files: false, ..root.options() };
            for cache in [Cache::with_options(trusting).unwrap(), root.offline()] {
                assert_eq!(content(&cache.fetch_url(&url(&path)).unwrap().path), new);
            }
        });
    }
}

#[test]
fn an_unchanged_source_is_hashed_once() {
    row("25", "25 reads", || {
        let (root, sources) = (Root::new(), Root::new());
        let (cache, path) = (root.cache(), source(&sources, b"text"));
        for i in 0..25 {
            let expected = if i == 0 { Origin::Downloaded } else { Origin::Hit };
            assert_eq!(cache.fetch_url(&url(&path)).unwrap().origin, expected);
        }
        assert_eq!(cache.inner().memo.computed.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_source_that_cannot_be_had() {
    row("26", "deleted, no mirrors", || {
        let (root, sources) = (Root::new(), Root::new());
        let path = source(&sources, b"text");
        root.cache().fetch_url(&url(&path)).unwrap();
        std::fs::remove_file(&path).unwrap();
        let error = root.cache().fetch_url(&url(&path)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("source.dat"), "{error}");
        // With a mirror that may have it, the copy is served.
        let server = Server::of_status(500);
        let request = Request { mirrors: vec![server.url("/m")], ..Request::new(url(&path)) };
        assert_eq!(content(&root.cache().fetch(&request).unwrap().path), b"text");
        std::fs::create_dir(&path).unwrap();
        assert_eq!(root.cache().fetch_url(&url(&path)).unwrap_err().kind(), ErrorKind::NotFound);
    });
    row("27", "its folder cannot be read", || {
        let (root, sources) = (Root::new(), Root::new());
        let path = source(&sources, b"text");
        root.cache().fetch_url(&url(&path)).unwrap();
        // Root reads every folder; a file in the folder's place fails for it, too.
        let folder = sources.path().to_path_buf();
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::write(&folder, b"not a folder").unwrap();
        let entry = root.cache().fetch_url(&url(&path)).unwrap();
        assert_eq!((content(&entry.path), entry.origin), (b"text".to_vec(), Origin::Hit));
        std::fs::remove_file(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
    });
    row("28", "canonical file never existed, mirror works", || {
        let (root, server) = (Root::new(), Server::of_bytes(b"mirrored".to_vec()));
        let request = Request { mirrors: vec![server.url("/m")], ..Request::new("file:///nowhere/at/all.nc") };
        for origin in [Origin::Downloaded, Origin::Hit, Origin::Hit] {
            assert_eq!(root.cache().fetch(&request).unwrap().origin, origin);
        }
        assert_eq!(server.count(), 1);
    });
}

#[test]
fn paths_of_file_urls() {
    let (root, sources) = (Root::new(), Root::new());
    let path = source(&sources, b"text");
    let dir = sources.path().to_str().unwrap();
    let options = CacheOptions { data_dir: Some(dir.into()), ..root.options() };
    let cache = Cache::with_options(options).unwrap();
    for address in [
        format!("FILE://{}", path.display()),
        format!("file://some.host{}", path.display()),
        "file://${EARTHSCIDATADIR}/source.dat".into(),
        "file://$EARTHSCIDATADIR/source.dat".into(),
    ] {
        let entry = cache.fetch_url(&address).unwrap();
        assert_eq!((content(&entry.path), root.manifest(&address).url), (b"text".to_vec(), address));
    }
    for (address, kind) in [
        ("file://${EARTHSCIDATADIR}/source%2edat", ErrorKind::NotFound),
        ("file://$HOME/source.dat", ErrorKind::NotFound),
        ("file://nopath", ErrorKind::Transport),
        ("file:///", ErrorKind::NotFound),
        ("file:///dev/zero", ErrorKind::NotFound),
    ] {
        assert_eq!(cache.fetch_url(address).unwrap_err().kind(), kind, "{address}");
    }
    let error = root.cache().fetch_url("file://$EARTHSCIDATADIR/x").unwrap_err();
    assert!(error.to_string().contains("EARTHSCIDATADIR is not set"), "{error}");
    let small = CacheOptions { max_file_bytes: 3, ..root.options() };
    let error = Cache::with_options(small).unwrap().fetch_url(&format!("{}#", url(&path))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let small = CacheOptions { max_file_bytes: 3, ..Root::new().options() };
    assert_eq!(Cache::with_options(small).unwrap().fetch_url(&url(&path)).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn nothing_stands_outside_the_root() {
    let address = "https://example.org/a.nc";
    for link in ["v1", "v1/blobs", "v1/meta", "v1/tmp", "v1/locks"] {
        let (root, outside, sources) = (Root::new(), Root::new(), Root::new());
        let at = root.path().join(link);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(outside.path(), &at).unwrap();
        let error = root.cache().fetch_url(&url(&source(&sources, b"text"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity, "{link}: {error}");
        assert!(outside.files("").is_empty() && std::fs::read_dir(outside.path()).unwrap().count() == 0, "{link}");
    }
    // Nor is a link in the place of a blob or a manifest followed.
    let (root, outside) = (Root::new(), Root::new());
    let blob = root.plant(address, ".nc", b"inside", |_| {});
    let target = outside.path().join("b");
    std::fs::write(&target, b"secret").unwrap();
    std::fs::remove_file(&blob).unwrap();
    std::os::unix::fs::symlink(&target, &blob).unwrap();
    for cache in [root.cache(), root.offline()] {
        assert_eq!(cache.fetch_url(address).unwrap_err().kind(), ErrorKind::Integrity);
    }
    std::fs::remove_file(&blob).unwrap();
    std::fs::remove_file(root.manifest_path(address)).unwrap();
    std::os::unix::fs::symlink(&target, root.manifest_path(address)).unwrap();
    assert_eq!(root.offline().fetch_url(address).unwrap_err().kind(), ErrorKind::Integrity);
    // The root itself may be a link.
    let (real, links, sources) = (Root::new(), Root::new(), Root::new());
    let linked = links.path().join("cache");
    std::os::unix::fs::symlink(real.path(), &linked).unwrap();
    let cache = Cache::with_options(CacheOptions::at(linked)).unwrap();
    cache.fetch_url(&url(&source(&sources, b"text"))).unwrap();
    assert_eq!(real.files("v1/blobs").len(), 1);
}

#[test]
fn what_is_made_is_for_all_who_share_the_cache_and_cannot_be_run() {
    let (root, sources) = (Root::new(), Root::new());
    let path = source(&sources, b"text");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o6700)).unwrap();
    root.cache().fetch_url(&url(&path)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    // The mask of the process is not known here, but a new file of the test has it.
    let probe = sources.path().join("probe");
    File::create(&probe).unwrap();
    let allowed = mode(&probe);
    for (dir, wanted) in [("v1/blobs", 0o644), ("v1/meta", 0o644), ("v1/locks", 0o666)] {
        let files = root.files(dir);
        assert_eq!(files.len(), 1, "{dir}");
        assert_eq!(mode(&files[0]), wanted & allowed, "{dir}");
    }
}
