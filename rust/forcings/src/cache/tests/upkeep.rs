//! What is counted and what is cleared.

use super::{content, Root};
use crate::cache::{CacheKey, Cleared, SourceUsage};
use crate::ErrorKind;
use std::fs::File;
use std::time::{Duration, SystemTime};

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_cache_is_counted_and_cleared_by_age_and_source() {
    let root = Root::new();
    assert_eq!(root.cache().usage().unwrap(), Default::default());
    assert_eq!(root.cache().clear(None, None).unwrap(), Cleared::default());
    let url = |name: &str| format!("https://example.org/{name}");
    let plant = |name: &str, source: Option<&str>, fetched: &str, len: usize| {
        root.plant(&url(name), ".nc", &vec![7; len], |m| {
            m.source_loader = source.map(str::to_string);
            m.fetched_at = fetched.into();
        })
    };
    let (old, new) = ("1999-01-01T00:00:00Z", "2999-01-01T00:00:00Z");
    plant("a", Some("era5"), old, 10);
    plant("b", Some("era5"), new, 20);
    plant("c", Some("geos"), old, 40);
    plant("d", None, new, 80);
    let bare = plant("e", None, old, 160);
    std::fs::remove_file(root.manifest_path(&url("e"))).unwrap();
    // Foreign files are neither counted nor touched.
    let foreign =
        [root.path().join("v1/blobs/README"), bare.with_file_name("notes.txt"), root.path().join("v1/meta/.x.json")];
    for path in &foreign {
        std::fs::write(path, b"mine").unwrap();
    }
    let usage = root.offline().usage().unwrap();
    assert_eq!((usage.files, usage.bytes, usage.staged_bytes), (5, 310, 0));
    let rows = |usage: crate::cache::Usage| -> Vec<(Option<String>, u64, u64)> {
        usage.sources.into_iter().map(|SourceUsage { source, files, bytes }| (source, files, bytes)).collect()
    };
    assert_eq!(rows(usage), [(None, 2, 240), (Some("era5".into()), 2, 30), (Some("geos".into()), 1, 40)]);

    let cache = root.cache();
    assert_eq!(root.offline().clear(None, None).unwrap_err().kind(), ErrorKind::InvalidParameter);
    assert_eq!(cache.clear(None, Some("nobody")).unwrap(), Cleared::default());
    assert_eq!(cache.clear(Some(HOUR), Some("era5")).unwrap(), Cleared { files: 1, bytes: 10 });
    assert!(cache.inner().manifest(&CacheKey::of_url(&url("a"))).unwrap().is_none());
    assert!(bare.exists(), "it was written a moment ago");
    let open = File::open(&bare).unwrap();
    File::options().write(true).open(&bare).unwrap().set_modified(SystemTime::now() - 2 * HOUR).unwrap();
    assert_eq!(cache.clear(Some(HOUR), None).unwrap(), Cleared { files: 2, bytes: 200 });
    assert_eq!(open.metadata().unwrap().len(), 160);
    assert_eq!(cache.clear(None, Some("era5")).unwrap(), Cleared { files: 1, bytes: 20 });
    assert_eq!(cache.usage().unwrap().files, 1);
    std::fs::write(root.manifest_path(&url("d")), b"damaged").unwrap();
    assert_eq!(cache.usage().unwrap().files, 1);
    assert_eq!(cache.clear(None, None).unwrap(), Cleared { files: 1, bytes: 80 });
    assert_eq!(cache.usage().unwrap(), Default::default());
    for path in &foreign {
        assert_eq!(content(path), b"mine");
    }
}

#[test]
fn what_killed_processes_left_is_cleared_and_running_downloads_are_not() {
    let root = Root::new();
    let tmp = root.path().join("v1/tmp");
    std::fs::create_dir_all(&tmp).unwrap();
    for (name, age) in [("dead.part", 48), ("alive.part", 1), ("foreign.txt", 48)] {
        let file = File::create(tmp.join(name)).unwrap();
        file.set_len(5).unwrap();
        file.set_modified(SystemTime::now() - age * HOUR).unwrap();
    }
    assert_eq!(root.cache().usage().unwrap().staged_bytes, 15);
    root.cache().clear(Some(Duration::MAX), Some("any")).unwrap();
    assert_eq!(root.files("v1/tmp"), [tmp.join("alive.part"), tmp.join("foreign.txt")]);
}
