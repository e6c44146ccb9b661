//! Files that are missing, no NetCDF, damaged, or changed behind the provider's back.

use crate::support::*;
use forcings::{Error, ErrorKind};
use std::fs::OpenOptions;
use tempfile::tempdir;

fn assert_changed(error: Error) {
    assert_eq!(error.kind(), ErrorKind::Format, "{error}");
    assert_says(&error, &["a.nc", "replaced or changed", "make a new provider"]);
}

#[test]
fn row_62_missing_foreign_and_truncated_files_are_refused_by_name() {
    let dir = tempdir().unwrap();
    let missing = dir.path().join("missing.nc");
    let error = refusal(files(&[&missing]));
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_says(&error, &["missing.nc"]);
    let whole = winds(dir.path(), "whole.nc", &hours(0..40), 0);
    let bytes = std::fs::read(&whole).unwrap();
    let foreign: [&[u8]; 5] =
        [b"", b"hello, this is text", b"CDF\x01ab", b"CDF\x03aaaaaaaaaaaaaaaa", &bytes[..bytes.len() / 2]];
    for (k, content) in foreign.into_iter().enumerate() {
        let path = dir.path().join(format!("foreign{k}.nc"));
        std::fs::write(&path, content).unwrap();
        let error = refusal(files(&[&path]));
        assert_eq!(error.kind(), ErrorKind::Format, "{k}: {error}");
        assert_says(&error, &[&format!("foreign{k}.nc")]);
    }
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("pipe.nc");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let error = refusal(files(&[&path]));
    assert_eq!(error.kind(), ErrorKind::Format);
    assert_says(&error, &["pipe.nc", "regular file"]);
}

#[test]
fn a_replaced_file_is_noticed() {
    let dir = tempdir().unwrap();
    let path = winds(dir.path(), "a.nc", &hours(0..3), 0);
    let provider = open(files(&[&path]));
    let kept = provider.refresh(Y2000).unwrap();
    let other = winds(dir.path(), "b.nc", &hours(0..3), 7);
    std::fs::rename(&other, &path).unwrap();
    assert_changed(provider.sample_at(Y2000 + HOUR).unwrap_err());
    assert_changed(provider.refresh(Y2000 + HOUR).map(drop).unwrap_err());
    assert!(kept.same_bits(&provider.current().unwrap()));
    let windows = [forcings::dataset::DimWindow::new().range("lat", 0, 1).into()];
    assert_changed(provider.sample_windows_at(Y2000, &windows).map(drop).unwrap_err());
    assert_wind(&open(files(&[&path])).sample_at(Y2000).unwrap(), 7);
}

#[test]
fn a_file_truncated_or_written_in_place_is_noticed() {
    let dir = tempdir().unwrap();
    let path = winds(dir.path(), "a.nc", &hours(0..30), 0);
    let provider = open(files(&[&path]));
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let len = file.metadata().unwrap().len();
    file.set_len(len / 3).unwrap();
    assert_changed(provider.sample_at(Y2000 + 29.0 * HOUR).unwrap_err());
    assert_changed(provider.sample_at(Y2000).unwrap_err());
}

#[test]
fn a_removed_file_is_noticed() {
    let dir = tempdir().unwrap();
    let path = winds(dir.path(), "a.nc", &hours(0..3), 0);
    let provider = open(files(&[&path]));
    std::fs::remove_file(&path).unwrap();
    let error = provider.sample_at(Y2000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_says(&error, &["a.nc"]);
}

#[test]
fn a_damaged_chunk_fails_the_samples_that_need_it() {
    let dir = tempdir().unwrap();
    let path = winds(dir.path(), "a.nc", &hours(0..3), 0);
    let container = forcings::formats::open(&path).unwrap();
    let u = container.variables().iter().position(|v| v.name == "u").unwrap();
    let layout = container.layout(u).unwrap();
    let forcings::chunks::Layout::Chunked(table) = &*layout else { panic!("{layout:?}") };
    let (offset, size) = (table.entries[1].offset as usize, table.entries[1].size as usize);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[offset..offset + size].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let provider = open(files(&[&path]));
    let error = provider.sample_at(Y2000 + HOUR).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    assert_says(&error, &["a.nc", "\"u\""]);
    assert_wind(&provider.sample_at(Y2000).unwrap(), 0);
    assert_wind(&provider.sample_at(Y2000 + 2.0 * HOUR).unwrap(), 2);
}

#[test]
fn a_later_file_without_the_variable_fails_its_own_samples() {
    let dir = tempdir().unwrap();
    let whole = winds(dir.path(), "whole.nc", &hours(0..2), 0);
    let bare = dir.path().join("bare.nc");
    write(&bare, |file| {
        file.add_dimension("time", 1).unwrap();
        let mut time = file.add_variable::<i32>("time", &["time"]).unwrap();
        time.put_attribute("units", "hours since 2000-01-01").unwrap();
        time.put_values(&[2], ..).unwrap();
    });
    let mut options = files(&[&whole, &bare]);
    options.variables = vec!["u".into()];
    let provider = open(options);
    assert_wind(&provider.sample_at(Y2000 + HOUR).unwrap(), 1);
    let error = provider.sample_at(Y2000 + 2.0 * HOUR).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_says(&error, &["bare.nc", "no data variable \"u\""]);
}
