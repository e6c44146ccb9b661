//! Files that are not what they should be, and disks that refuse: each is an error with a kind, and what was there stays.
//! Halves that are missing or of two pairs are in `pair`, disks that fail at a chosen write in `atomicity`.

use super::*;
use crate::chunks::Layout;
use crate::store::pair::catalog_path;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::Command;

#[test]
fn a_file_that_is_removed_while_it_is_open_is_told_by_the_next_promise() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    for half in [path.clone(), catalog_path(&path)] {
        let store = Store::create(&path, &CreateOptions { overwrite: true, ..CreateOptions::default() }).unwrap();
        add(&store, 1, "load", &ramp(0));
        store.flush().unwrap();
        fs::remove_file(&half).unwrap();
        let added = store.add(&series(2, "load", &ramp(1)));
        let error = added.map(drop).and_then(|()| store.flush()).unwrap_err();
        assert!([ErrorKind::Io, ErrorKind::Catalog].contains(&error.kind()), "{error}");
        assert!(half != path || error.to_string().contains("was removed"), "{error}");
        assert!(store.close().is_err());
        let missing = Store::open(&path, &writable()).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        fs::remove_file(if half == path { catalog_path(&path) } else { path.clone() }).unwrap();
    }
}

/// A closed store with three series of one dataset and one of another.
fn small_store(path: &Path) -> Vec<crate::series::Series> {
    let store = Store::create(path, &CreateOptions::default()).unwrap();
    let arrays: Vec<Array> = (0..3).map(|n| Array::from_f64(vec![24], &[f64::from(n); 24]).unwrap()).collect();
    let items: Vec<_> = arrays.iter().zip(0..).map(|(a, owner)| series(owner, "load", a)).collect();
    let mut ids = store.add_bulk(&items).unwrap();
    ids.push(add(&store, 9, "other", &ramp(0)));
    let read = store.read_many(&ids).unwrap();
    store.close().unwrap();
    read
}

#[test]
fn a_catalog_of_a_newer_version_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let stored = small_store(&path);
    let set = |version: i64| {
        let connection = rusqlite::Connection::open(catalog_path(&path)).unwrap();
        connection.execute("UPDATE schema_version SET version = ?1", [version]).unwrap();
    };
    for version in [2, i64::MAX] {
        set(version);
        let before = [fs::read(&path).unwrap(), fs::read(catalog_path(&path)).unwrap()];
        for options in [reading(), writable()] {
            let error = Store::open(&path, &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::IncompatibleFormat);
            assert!(error.to_string().contains(&format!("catalog schema {version}")), "{error}");
        }
        assert!(before == [fs::read(&path).unwrap(), fs::read(catalog_path(&path)).unwrap()]);
    }
    set(1);
    let store = Store::open(&path, &reading()).unwrap();
    assert_eq!(store.read(stored[0].info.id).unwrap(), stored[0]);
}

#[test]
fn a_flipped_byte_of_a_chunk_is_an_error_of_its_series_and_of_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let stored = small_store(&path);
    let (offset, size) = {
        let container = crate::formats::open_group(&path, Some("time_series/single")).unwrap();
        let variable = container.variables().iter().position(|v| v.name == "sts_f64_s_24_PT1H").unwrap();
        let layout = container.layout(variable).unwrap();
        let Layout::Chunked(table) = &*layout else { panic!("it has chunks") };
        (table.entries[0].offset, table.entries[0].size as usize)
    };
    let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    for at in offset..offset + size as u64 {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x41], at).unwrap();
        let store = Store::open(&path, &reading()).unwrap();
        for whole in &stored[..3] {
            let error = store.read(whole.info.id).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Format, "byte {at}: {error}");
            assert!(error.to_string().contains("a.nc") && error.to_string().contains("sts_f64_s_24_PT1H"), "{error}");
        }
        assert_eq!(store.read(stored[3].info.id).unwrap(), stored[3]);
        assert!(!store.verify().unwrap().is_clean());
        drop(store);
        file.write_all_at(&byte, at).unwrap();
    }
    let store = Store::open(&path, &reading()).unwrap();
    assert!(store.verify().unwrap().is_clean());
}

/// What a store says of all its series, or why it does not.
fn content(path: &Path, options: &OpenOptions) -> Result<Vec<crate::series::Series>> {
    let store = Store::open(path, options)?;
    let loads = store.list(&Filter { name_glob: Some("*".into()), ..Filter::default() })?;
    let ids: Vec<SeriesId> = loads.iter().map(|info| info.id).collect();
    store.read_many(&ids)
}

#[test]
fn a_damaged_page_of_the_catalog_is_an_error_or_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let stored = small_store(&path);
    let (arrays, rows) = (fs::read(&path).unwrap(), fs::read(catalog_path(&path)).unwrap());
    type Damage = (&'static str, fn(&mut [u8]));
    let damages: [Damage; 3] = [
        ("zeros", |page| page.fill(0)),
        ("ones", |page| page.fill(0xff)),
        ("its first bytes flipped", |page| page[..16].iter_mut().for_each(|b| *b ^= 0x5a)),
    ];
    let mut refused = 0;
    for page in 0..rows.len() / 4096 {
        for (what, damage) in damages {
            for options in [reading(), writable()] {
                let mut damaged = rows.clone();
                damage(&mut damaged[page * 4096..][..4096]);
                fs::write(catalog_path(&path), damaged).unwrap();
                match content(&path, &options) {
                    Ok(read) => assert_eq!(read, stored, "page {page}, {what}"),
                    Err(error) => {
                        let kinds = [ErrorKind::Catalog, ErrorKind::Integrity, ErrorKind::IncompatibleFormat];
                        assert!(kinds.contains(&error.kind()), "page {page}, {what}: {error}");
                        refused += 1;
                    }
                }
                assert!(fs::read(&path).unwrap() == arrays, "page {page}, {what}: the array file was changed");
            }
        }
    }
    assert!(refused > 12, "{refused} of the damages were noticed");
    fs::write(catalog_path(&path), &rows).unwrap();
    assert_eq!(content(&path, &writable()).unwrap(), stored);
}

#[test]
fn a_folder_that_may_not_be_written_takes_no_store() {
    const NAME: &str = "store::tests::bad_input::a_folder_that_may_not_be_written_takes_no_store";
    const VARIABLE: &str = "FORCINGS_TEST_PROTECTED_FOLDER";
    if let Some(folder) = std::env::var_os(VARIABLE) {
        let folder = Path::new(&folder);
        let memory = Store::memory().unwrap();
        let id = add(&memory, 1, "load", &ramp(0));
        for error in [
            Store::create(folder.join("new.nc"), &CreateOptions::default()).unwrap_err(),
            memory.persist(folder.join("new.nc"), false).unwrap_err(),
            Store::open(folder.join("a.nc"), &writable()).unwrap_err(),
            memory.persist(folder.join("a.nc"), true).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Io, "{error}");
            assert!(error.to_string().contains(&folder.display().to_string()), "{error}");
        }
        assert_eq!(memory.read(id).unwrap().values, ramp(0));
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let stored = small_store(&path);
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for half in [&path, &catalog_path(&path)] {
        mode(half, 0o444);
    }
    mode(dir.path(), 0o555);
    rerun_without_privilege(NAME, VARIABLE, dir.path());
    mode(dir.path(), 0o755);
    assert_eq!(content(&path, &reading()).unwrap(), stored);
}

/// A file system of three megabytes where one can be mounted, in a namespace of its own that ends with the process;
/// elsewhere a process whose files may have a megabyte or two, by the size of the shell's blocks.
fn on_a_small_disk(test: &str, variable: &str, folder: &Path) {
    let program = std::env::current_exe().unwrap();
    let run = |shell: &[&str], script: &str| {
        let (first, rest) = shell.split_first().expect("a shell");
        let mut command = Command::new(first);
        command.args(rest).arg(script).arg(folder).arg(&program);
        command.args(["--exact", test, "--nocapture"]).env(variable, folder).output()
    };
    const NO_MOUNT: i32 = 77;
    let mount = "mount -t tmpfs -o size=3m tmpfs \"$0\" || exit 77; exec \"$@\"";
    let limit = "trap '' XFSZ; ulimit -f 2048; exec \"$@\"";
    let mounted = run(&["unshare", "--mount", "sh", "-c"], mount).ok();
    let could_mount = |o: &std::process::Output| {
        o.status.code() != Some(NO_MOUNT) && !String::from_utf8_lossy(&o.stderr).contains("unshare")
    };
    let output = match mounted.filter(could_mount) {
        Some(output) => output,
        None => run(&["sh", "-c"], limit).unwrap(),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && text.contains("1 passed");
    assert!(passed, "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_full_disk_or_the_largest_file_allowed_loses_nothing_that_was_promised() {
    const NAME: &str =
        "store::tests::bad_input::a_full_disk_or_the_largest_file_allowed_loses_nothing_that_was_promised";
    const VARIABLE: &str = "FORCINGS_TEST_SMALL_DISK";
    let Some(folder) = std::env::var_os(VARIABLE) else {
        let dir = tempfile::tempdir().unwrap();
        on_a_small_disk(NAME, VARIABLE, dir.path());
        return;
    };
    // Many instants fill the catalog, wide elements the array file.
    for (name, shape) in [("catalog.nc", [4096, 1]), ("arrays.nc", [2, 4096])] {
        let path = Path::new(&folder).join(name);
        fill_the_disk(&path, &shape);
        fs::remove_file(&path).unwrap();
        fs::remove_file(catalog_path(&path)).unwrap();
    }
}

/// Adds and flushes series of this shape until that fails; then makes room, and looks for what was flushed.
fn fill_the_disk(path: &Path, shape: &[usize; 2]) {
    let ballast = path.with_file_name("ballast");
    fs::File::create(&ballast).unwrap().write_all(&vec![1; 900_000]).unwrap();
    let stored = small_store(path);
    let store = Store::open(path, &writable()).unwrap();
    let timestamps: Vec<UnixMillis> = (0..shape[0]).map(|k| hour(k as f64)).collect();
    let cells = (shape[0] * shape[1]) as u64;
    let mut flushed = Vec::new();
    let mut errors = Vec::new();
    for n in 0..1000 {
        // Digits that do not compress.
        let noise =
            |k: u64| (k + cells * n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(k | 1) as f64;
        let values = Array::from_f64(shape.to_vec(), &(0..cells).map(noise).collect::<Vec<_>>()).unwrap();
        let data = SeriesData::NonSequential { timestamps: timestamps.clone(), values: values.view() };
        let new = NewSeries::new(Owner::component(n as i64, "Bus"), "outage", data);
        match store.add(&new).and_then(|id| store.flush().map(|()| id)) {
            Ok(id) => flushed.push(id),
            Err(error) => {
                errors.push(error);
                break;
            }
        }
    }
    assert!(!flushed.is_empty());
    let error = errors.pop().expect("the disk is full at last");
    let kinds = [ErrorKind::Io, ErrorKind::Hdf5, ErrorKind::Catalog];
    assert!(kinds.contains(&error.kind()), "{error}");
    for whole in &stored {
        assert_eq!(&store.read(whole.info.id).unwrap(), whole);
    }
    // It may not be able to write its end; it is closed all the same when the last handle goes.
    let _ = store.close();
    drop(store);
    fs::remove_file(&ballast).unwrap();
    for options in [reading(), writable()] {
        let store = Store::open(path, &options).unwrap();
        let report = store.verify().unwrap();
        assert!(report.is_clean(), "{report:?}");
        for whole in &stored {
            assert_eq!(&store.read(whole.info.id).unwrap(), whole);
        }
        assert_eq!(store.read_many(&flushed).unwrap().len(), flushed.len());
    }
}
