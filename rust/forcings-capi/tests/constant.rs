//! Providers of data that do not change with time, and calls that nobody waits for, through the C interface.

use forcings::ErrorKind;
use forcings_capi::*;
use std::path::Path;

/// A classic file of one variable, `v(x) = [5, 6]`.
fn write(path: &Path) {
    let word = |n: u32| n.to_be_bytes();
    let name = |n: &[u8; 1]| [word(1), [n[0], 0, 0, 0]].concat();
    let absent = [word(0), word(0)].concat();
    let mut bytes = [b"CDF\x01".to_vec(), word(0).to_vec()].concat();
    bytes.extend([word(10), word(1)].concat());
    bytes.extend(name(b"x"));
    bytes.extend(word(2));
    bytes.extend(&absent);
    bytes.extend([word(11), word(1)].concat());
    bytes.extend(name(b"v"));
    bytes.extend([word(1), word(0)].concat());
    bytes.extend(&absent);
    let begin = bytes.len() as u32 + 12;
    bytes.extend([word(4), word(8), word(begin), word(5), word(6)].concat());
    std::fs::write(path, bytes).unwrap();
}

fn options(path: &Path) -> String {
    format!(r#"{{"files": ["{}"], "format": "netcdf", "variables": []}}"#, path.display())
}

/// The values of `v` in a sample, which is given back.
fn take(sample: *mut ForcingsSample) -> Vec<i32> {
    let (mut found, mut kind, mut rank, mut shape, mut values) = (0, 0, 0, std::ptr::null(), std::ptr::null());
    // SAFETY: the sample is not given back before its end; the rest are local variables.
    unsafe {
        let name = "v";
        let (text, len) = (name.as_ptr(), name.len() as u64);
        let status =
            forcings_sample_field(sample, 0, text, len, &mut found, &mut kind, &mut rank, &mut shape, &mut values);
        assert_eq!((status, found, kind, rank, *shape), (0, 1, 3, 1, 2));
        let copy = std::slice::from_raw_parts(values.cast::<i32>(), 2).to_vec();
        forcings_sample_release(sample);
        copy
    }
}

#[test]
fn constant_data_are_sampled_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("constant.nc");
    write(&path);
    let options = options(&path);
    let none = std::ptr::null_mut();
    let mut provider = 0;
    // SAFETY: texts and out-parameters are local variables.
    unsafe {
        assert_eq!(forcings_provider_open(options.as_ptr(), options.len() as u64, &mut provider, none), 0);
        for t in [0.0, -1e300, f64::NAN] {
            let mut sample = std::ptr::null_mut();
            assert_eq!(forcings_provider_sample_at(provider, t, &mut sample, none), 0, "{t}");
            assert_eq!(take(sample), [5, 6]);
            assert_eq!(forcings_provider_refresh(provider, t, &mut sample, none), 0, "{t}");
            assert_eq!(take(sample), [5, 6]);
        }
        let mut sample = std::ptr::null_mut();
        assert_eq!(forcings_provider_materialize(provider, &mut sample, none), 0);
        assert_eq!(take(sample), [5, 6]);
    }
    assert_eq!(forcings_provider_close(provider), 0);
}

#[test]
fn a_provider_may_be_closed_while_others_sample_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.nc");
    write(&path);
    let options = options(&path);
    let closed = ErrorKind::Closed as i32;
    for _ in 0..50 {
        let mut provider = 0;
        // SAFETY: texts and out-parameters are local variables.
        unsafe {
            let none = std::ptr::null_mut();
            assert_eq!(forcings_provider_open(options.as_ptr(), options.len() as u64, &mut provider, none), 0);
        }
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(move || loop {
                    let mut sample = std::ptr::dangling_mut();
                    // SAFETY: `sample` is a local variable.
                    let status =
                        unsafe { forcings_provider_sample_at(provider, 0.0, &mut sample, std::ptr::null_mut()) };
                    if status == closed {
                        assert!(sample.is_null());
                        break;
                    }
                    assert_eq!((status, take(sample)), (0, vec![5, 6]));
                });
            }
            assert_eq!(forcings_provider_close(provider), 0);
        });
    }
}

#[test]
fn an_open_that_nobody_finishes_leaves_no_file_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forgotten.nc");
    write(&path);
    let options = options(&path);
    let (mut provider, mut job, mut done) = (0, 0, 0);
    // SAFETY: texts and out-parameters are local variables, which live until the job has ended.
    unsafe {
        assert_eq!(forcings_provider_open(options.as_ptr(), options.len() as u64, &mut provider, &mut job), 0);
        assert_eq!((forcings_job_wait(job, u64::MAX, &mut done), done), (0, 1));
    }
    forcings_handle_release(job);
    let is_open = || {
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
        descriptors.filter_map(|d| std::fs::read_link(d.ok()?.path()).ok()).any(|target| target == path)
    };
    // It is closed on a thread of the library; one that is never closed keeps this from ending.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while is_open() {
        assert!(std::time::Instant::now() < deadline, "the file is still open");
        std::thread::yield_now();
    }
    assert_eq!(provider, 0);
}
