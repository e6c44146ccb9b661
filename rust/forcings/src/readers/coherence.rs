//! Whether series can share one time axis: instants and readings of a wall clock cannot.

use crate::series::{SeriesInfo, TimeReference};
use crate::{Error, Result};

/// How the instants of a reader of these series are spelled: as those of its series if all agree, else in UTC; `None` if
/// none of them says.
///
/// # Errors
/// `InvalidParameter` when some are readings of a wall clock and some are not; it names the reader and one of each.
pub(super) fn common_reference<'a>(
    reader: &str,
    series: impl IntoIterator<Item = &'a SeriesInfo>,
) -> Result<Option<TimeReference>> {
    let mut series = series.into_iter();
    let Some(first) = series.next() else { return Ok(None) };
    let is_zoneless = |info: &SeriesInfo| info.time_reference.as_ref().is_some_and(TimeReference::is_zoneless);
    let mut agree = true;
    for other in series {
        if is_zoneless(first) != is_zoneless(other) {
            let (clock, instant) = if is_zoneless(first) { (first, other) } else { (other, first) };
            return Err(Error::invalid(format!(
                "a {reader} has one time axis: {clock} has readings of a wall clock, but {instant} has instants; set the \
                 filter's `zoneless` to choose"
            )));
        }
        agree &= first.time_reference == other.time_reference;
    }
    Ok(if agree { first.time_reference.clone() } else { Some(TimeReference::Utc) })
}
