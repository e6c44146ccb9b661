//! Out-parameters: zeroed when a call begins, written when it has succeeded.

use forcings::{Error, Result};

/// A place of the caller's that one result goes to.
#[derive(Debug)]
pub(crate) struct Out<T>(*mut T);

// SAFETY: an `Out` is written by one thread, the one that ends the call or finishes its job; the caller keeps the
// place valid until then.
unsafe impl<T> Send for Out<T> {}

impl<T> Out<T> {
    /// Zeroes the place.
    ///
    /// # Errors
    /// `InvalidParameter` when it is null or misaligned.
    ///
    /// # Safety
    /// A pointer that is not null must be valid for writes until the call ends or its job is finished, and a `T` of
    /// zero bytes must be a value of `T`.
    pub(crate) unsafe fn new(name: &str, place: *mut T) -> Result<Self> {
        if place.is_null() || !place.is_aligned() {
            return Err(Error::invalid(format!("{name} must be a valid pointer")));
        }
        // SAFETY: the caller promises a place that is valid for writes; it is neither null nor misaligned.
        unsafe { place.write_bytes(0, 1) };
        Ok(Out(place))
    }

    /// Writes the result.
    pub(crate) fn set(&self, value: T) {
        // SAFETY: `new` was given a place that stays valid for writes.
        unsafe { self.0.write(value) };
    }
}

/// Copies up to `capacity` of `values` to the places of the caller, and sets `count` to the number of all.
///
/// # Errors
/// `InvalidParameter` when there are places but the pointer is null or misaligned.
///
/// # Safety
/// `places` must be valid for writes of `capacity` elements.
pub(crate) unsafe fn fill<T: Copy>(
    name: &str,
    values: &[T],
    places: *mut T,
    capacity: u64,
    count: &Out<u64>,
) -> Result<()> {
    let capacity = crate::input::places(name, places, capacity)?;
    count.set(values.len() as u64);
    let n = values.len().min(capacity);
    if n > 0 {
        // SAFETY: the caller promises that many places, and `values` is not one of them.
        unsafe { places.copy_from_nonoverlapping(values.as_ptr(), n) };
    }
    Ok(())
}
