//! The one guard around the body of every exported function: errors become a status, panics an error.

use crate::error;
use forcings::{Error, Result};
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs `body`; on failure keeps the error for this thread. Returns the status.
pub(crate) fn guard(operation: &'static str, body: impl FnOnce() -> Result<()>) -> i32 {
    match catch(operation, body) {
        Ok(()) => 0,
        Err(error) => error::keep(&error),
    }
}

/// Runs `body` and turns a panic into an error that names `operation`.
///
/// What a panic leaves half done cannot be seen again: an object that only one caller may use is broken by it
/// (`handle::Exclusive`), the others keep their invariants under locks of their own.
pub(crate) fn catch<T>(operation: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(panic_error(operation, payload.as_ref())))
}

fn panic_error(operation: &str, payload: &(dyn Any + Send)) -> Error {
    let text = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned());
    Error::Panic(format!("{operation} panicked: {text}; please report this"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use forcings::ErrorKind;

    #[test]
    fn a_panic_becomes_status_99() {
        assert_eq!(guard("forcings_test", || panic!("index {} is odd", 7)), 99);
        assert_eq!(guard("forcings_test", || std::panic::panic_any(3_u8)), 99);
        let error = catch::<()>("forcings_test", || panic!("index {} is odd", 7)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Panic);
        assert!(error.to_string().contains("forcings_test panicked: index 7 is odd"), "{error}");
    }

    #[test]
    fn an_error_becomes_its_number() {
        assert_eq!(guard("forcings_test", || Err(Error::OffGrid("between two steps".into()))), 5);
        assert_eq!(guard("forcings_test", || Ok(())), 0);
    }
}
