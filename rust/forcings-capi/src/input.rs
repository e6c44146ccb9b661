//! Arguments from outside: texts, arrays and JSON, checked before they are used.

use forcings::{Error, Result};
use serde::de::DeserializeOwned;

/// Borrows `len` elements.
///
/// # Errors
/// `InvalidParameter` when the pointer is null (unless `len` is 0) or misaligned, or the length cannot be.
///
/// # Safety
/// A pointer that is not null must be valid for reads of `len` elements for `'a`.
pub(crate) unsafe fn slice<'a, T>(name: &str, start: *const T, len: u64) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    let bytes = usize::try_from(len).ok().and_then(|n| n.checked_mul(size_of::<T>()));
    if start.is_null() || !start.is_aligned() || bytes.is_none_or(|n| n > isize::MAX as usize) {
        return Err(Error::invalid(format!("{name} must be a valid pointer to {len} elements")));
    }
    // SAFETY: the caller promises `len` readable elements; null, alignment and overflow were checked.
    Ok(unsafe { std::slice::from_raw_parts(start, len as usize) })
}

/// Borrows a text.
///
/// # Errors
/// `InvalidParameter` as [`slice`], and when the bytes are not UTF-8.
///
/// # Safety
/// As [`slice`].
pub(crate) unsafe fn text<'a>(name: &str, start: *const u8, len: u64) -> Result<&'a str> {
    // SAFETY: the caller's promise is passed on.
    let bytes = unsafe { slice(name, start, len) }?;
    std::str::from_utf8(bytes).map_err(|e| Error::invalid(format!("{name} is not UTF-8: {e}")))
}

/// Reads a structured argument.
///
/// # Errors
/// `InvalidParameter` as [`text`], and when the text is not the JSON that is expected.
///
/// # Safety
/// As [`slice`].
pub(crate) unsafe fn json<T: DeserializeOwned>(name: &str, start: *const u8, len: u64) -> Result<T> {
    // SAFETY: the caller's promise is passed on.
    let text = unsafe { text(name, start, len) }?;
    serde_json::from_str(text).map_err(|e| Error::invalid(format!("{name}: {e}")))
}

/// The number of places for results that a caller offers.
///
/// # Errors
/// `InvalidParameter` when the pointer is null (unless there is no place) or misaligned.
pub(crate) fn places<T>(name: &str, start: *mut T, capacity: u64) -> Result<usize> {
    if capacity > 0 && (start.is_null() || !start.is_aligned()) {
        return Err(Error::invalid(format!("{name} must be a valid pointer to {capacity} elements")));
    }
    index("capacity", capacity)
}

/// A count or position as the core takes it.
///
/// # Errors
/// `InvalidParameter` when it exceeds what memory can hold.
pub(crate) fn index(name: &str, value: u64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::invalid(format!("{name} is {value}, which is too large")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_pointers_and_texts_are_refused() {
        // SAFETY: every pointer is null, misaligned (and then not read), or valid.
        unsafe {
            assert!(slice::<u8>("x", std::ptr::null(), 1).is_err());
            assert!(slice::<u8>("x", std::ptr::null(), 0).unwrap().is_empty());
            assert!(slice::<u64>("x", std::ptr::without_provenance(9), 1).is_err());
            assert!(slice::<u64>("x", [1_u64].as_ptr(), u64::MAX).is_err());
            assert!(text("x", [0xff_u8].as_ptr(), 1).is_err());
            assert_eq!(text("x", "µ".as_ptr(), 2).unwrap(), "µ");
            let error = json::<Vec<u8>>("filter", b"[1,".as_ptr(), 3).unwrap_err();
            assert!(error.to_string().starts_with("filter: "), "{error}");
        }
    }
}
