//! Fetching what a read of a store needs, without decoding it.

use super::{check, plan, ReadRequest};
use crate::chunks::geometry::{Blocks, Subject};
use crate::chunks::stored::Needed;
use crate::Result;
use std::sync::atomic::AtomicBool;

/// Fetches the objects that a read of a store needs, several at a time. Returns the number of those that there are; none
/// for any other layout.
///
/// # Errors
/// `Selection` and `Format` as for [`read_into`](super::read_into); else that of the first object that could not be
/// fetched.
pub fn fetch_objects(request: &ReadRequest) -> Result<usize> {
    let ReadRequest { source, layout, shape, element_width: width, axes, what, .. } = *request;
    let counts = check(request, shape)?;
    if counts.contains(&0) {
        return Ok(0);
    }
    let subject = Subject { source, layout, shape, width, what };
    let blocks = Blocks::new(&subject, axes, &counts)?;
    let Some(stored) = blocks.stored() else { return Ok(0) };
    let needed = Needed::new(stored, shape.len(), &plan(&blocks, &subject, axes, &counts)?);
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 1..Needed::fetchers(&[&needed]) {
            // Where the system refuses another thread, those that there are do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || Needed::fetch_all(&[&needed], &stopped));
        }
        Needed::fetch_all(&[&needed], &stopped);
    });
    needed.found()
}
