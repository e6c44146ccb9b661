use super::*;
use crate::error::forcings_last_error;
use std::ptr::null_mut;

/// Opens a provider over a file of the Julia tests with these options more: the status, the text of the error, a handle.
fn open(file: &str, more: &str) -> (i32, String, u64) {
    let path = format!("{}/../../julia/test/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let options = format!(r#"{{"files":["{path}"],"format":"netcdf","variables":[]{more}}}"#);
    let (mut provider, mut text, mut len, mut state, mut numbers) = (0, std::ptr::null(), 0, 0, [0; 2]);
    // SAFETY: a text and local variables; the text of the error lives until the next one of this thread.
    unsafe {
        let status = forcings_provider_open(options.as_ptr(), options.len() as u64, &mut provider, null_mut());
        forcings_last_error(&mut text, &mut len, &mut state, numbers.as_mut_ptr());
        let text = if status == 0 { &[][..] } else { std::slice::from_raw_parts(text, len as usize) };
        (status, String::from_utf8(text.to_vec()).unwrap(), provider)
    }
}

#[test]
fn rows_32_and_33_an_unknown_option_is_refused_by_name() {
    for (option, value) in [("engine", "1"), ("records", "[0]"), ("recordsPerSample", "2")] {
        // Refused before the file is looked for.
        let (status, text, _) = open("nowhere.nc", &format!(r#","{option}":{value}"#));
        assert_eq!(status, 1, "{text}");
        assert!(text.contains(&format!("`{option}`")), "{text}");
        for known in ["files", "times", "records_per_sample", "eltype", "threads", "select"] {
            assert!(text.contains(&format!("`{known}`")), "{text}");
        }
    }
}

#[test]
fn values_that_an_option_cannot_have_are_refused() {
    for (more, part) in [
        (r#","eltype":"float16""#, "float16"),
        (r#","records_per_sample":3"#, "records_per_sample is 3"),
        (r#","threads":0"#, "threads is 0"),
        (r#","threads":-1"#, "-1"),
    ] {
        let (status, text, _) = open("winds.nc", more);
        assert_eq!(status, 1, "{more}: {text}");
        assert!(text.contains(part), "{more}: {text}");
    }
}

#[test]
fn a_peek_reads_under_another_selection() {
    let (status, text, provider) = open("fixed.nc", "");
    assert_eq!(status, 0, "{text}");
    let select = br#"{"dims":{"lat":{"slice":[1,2]}}}"#;
    let mut sample = null_mut();
    // SAFETY: a text and a local variable.
    let peek = |select: &[u8], sample: &mut *mut ForcingsSample| unsafe {
        forcings_provider_peek(provider, 0.0, select.as_ptr(), select.len() as u64, sample, null_mut())
    };
    assert_eq!(peek(select, &mut sample), 0);
    let (name, mut found, mut of_type, mut rank) = ("height", 0, 0, 0);
    let (mut shape, mut values) = (std::ptr::null(), std::ptr::null());
    // SAFETY: local variables; the field lives as long as the sample, which is released once, behind the last use of it.
    unsafe {
        let (text, len) = (name.as_ptr(), name.len() as u64);
        let status = crate::sample::forcings_sample_field(
            sample,
            0,
            text,
            len,
            &mut found,
            &mut of_type,
            &mut rank,
            &mut shape,
            &mut values,
        );
        assert_eq!((status, found, of_type, rank), (0, 1, 0, 2));
        assert_eq!(std::slice::from_raw_parts(shape, 2), [1, 3]);
        assert_eq!(std::slice::from_raw_parts(values.cast::<f64>(), 3), [10.0, 11.0, 12.0]);
        crate::sample::forcings_sample_release(sample);
    }
    assert_eq!(peek(br#"{"dim":{}}"#, &mut sample), 6);
    assert!(sample.is_null());
    forcings_provider_close(provider);
}
