//! The last error of each thread: kept here on failure, read by the caller before its next call.

use crate::host::HostValue;
use crate::output::Out;
use forcings::error::GroupState;
use forcings::{Error, ErrorKind};
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

/// What a failed call leaves behind for its thread.
struct Failure {
    status: i32,
    text: String,
    state: i64,
    numbers: [i64; 2],
    /// Keeps the caller's value that `numbers` names, until the next failure.
    _cause: Option<Arc<dyn Any + Send + Sync>>,
}

thread_local! {
    static LAST: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// Keeps `error` for this thread and returns its status number.
pub(crate) fn keep(error: &Error) -> i32 {
    let (state, numbers) = group_numbers(error);
    let status = error.kind() as i32;
    let _cause = if let Error::Host(host) = error { Some(host.cause.clone()) } else { None };
    let failure = Failure { status, text: error.to_string(), state, numbers, _cause };
    // The one before is dropped outside the borrow: what it keeps may have a drop of its own.
    drop(LAST.with(|last| last.replace(Some(failure))));
    status
}

/// A group's refusal as numbers, so that a caller who counts epochs from 1 writes its own text; and the caller's own value.
pub(crate) fn group_numbers(error: &Error) -> (i64, [i64; 2]) {
    // An epoch is a position in a list that fits into memory.
    let number = |epoch: usize| epoch as i64;
    match error {
        Error::Group(GroupState::NotStarted) => (1, [-1, -1]),
        Error::Group(GroupState::Exhausted) => (2, [-1, -1]),
        Error::Group(GroupState::Cancelled) => (3, [-1, -1]),
        Error::Group(GroupState::Failed { next }) => (4, [next.map_or(-1, number), -1]),
        Error::Group(GroupState::WrongEpoch { asked, expected }) => (5, [number(*asked), number(*expected)]),
        Error::Group(GroupState::Closed) => (6, [-1, -1]),
        Error::Host(host) => (0, [host.cause.downcast_ref::<HostValue>().map_or(-1, |v| v.token() as i64), -1]),
        _ => (0, [-1, -1]),
    }
}

/// Describes the last failure on this thread and returns its status, 0 if no call failed on it yet.
///
/// `out_text` and `out_text_len` receive a text that stays valid until the next failure on this thread. For an error of
/// kind `Group`, `out_state` receives 1 not started, 2 exhausted, 3 cancelled, 4 failed, 5 wrong epoch or 6 closed (0 for
/// every other kind), and `out_numbers`, an array of two, holds for state 4 the epoch to start from, for state 5 the
/// epoch asked for and the one that comes next; epochs count from 0, and -1 stands for none. For an error of kind `Host` its
/// first number is the caller's value, which is not let go of before the next failure on this thread.
#[no_mangle]
pub unsafe extern "C" fn forcings_last_error(
    out_text: *mut *const u8,
    out_text_len: *mut u64,
    out_state: *mut i64,
    out_numbers: *mut i64,
) -> i32 {
    // SAFETY: the caller passes writable pointers, as the header asks.
    let outs = unsafe {
        (
            Out::new("out_text", out_text),
            Out::new("out_text_len", out_text_len),
            Out::new("out_state", out_state),
            Out::new("out_numbers", out_numbers.cast::<[i64; 2]>()),
        )
    };
    let (Ok(text), Ok(len), Ok(state), Ok(numbers)) = outs else {
        return ErrorKind::InvalidParameter as i32;
    };
    LAST.with(|last| match last.borrow().as_ref() {
        None => 0,
        Some(failure) => {
            text.set(failure.text.as_ptr());
            len.set(failure.text.len() as u64);
            state.set(failure.state);
            numbers.set(failure.numbers);
            failure.status
        }
    })
}
