//! The bounds of a ranged read. A bound says what its digits are: an instant, the face of a wall clock, or whichever of
//! the two a series has.

use super::{SeriesInfo, TimeReference};
use crate::time::UnixMillis;
use crate::{Error, Result};
use std::fmt;

/// One end of a [`TimeRange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Fits every series: the face of the clock for one that is zoneless, an instant in UTC for any other.
    Floating(UnixMillis),
    /// An instant. Fits every series that is not zoneless, one without a reference included.
    Utc(UnixMillis),
    /// The face of a wall clock. Fits zoneless series only.
    Zoneless(UnixMillis),
}

/// The half-open range `[from, to)`. A bound that is `None` is the series' own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TimeRange {
    /// The first instant.
    pub from: Option<Bound>,
    /// The instant behind the last.
    pub to: Option<Bound>,
}

impl Bound {
    /// The digits, as series are stored.
    pub fn digits(self) -> UnixMillis {
        match self {
            Bound::Floating(at) | Bound::Utc(at) | Bound::Zoneless(at) => at,
        }
    }

    /// Refuses a bound that cannot be compared with the instants of `series`.
    ///
    /// # Errors
    /// `InvalidParameter`, naming both.
    pub(crate) fn check(self, series: &SeriesInfo) -> Result<()> {
        let (what, way_out) = match (self, is_zoneless(series)) {
            (Bound::Utc(_), true) => ("zoneless", "give a zoneless one"),
            (Bound::Zoneless(_), false) if series.time_reference.is_some() => ("not zoneless", "give one in UTC"),
            (Bound::Zoneless(_), false) => ("not marked as zoneless", "give one in UTC"),
            _ => return Ok(()),
        };
        Err(Error::invalid(format!("the bound {self} does not fit {series}, which is {what}; {way_out}")))
    }
}

impl From<UnixMillis> for Bound {
    fn from(at: UnixMillis) -> Self {
        Bound::Floating(at)
    }
}

impl TimeRange {
    /// A range whose bounds float.
    pub fn floating(from: Option<UnixMillis>, to: Option<UnixMillis>) -> Self {
        TimeRange { from: from.map(Bound::Floating), to: to.map(Bound::Floating) }
    }

    /// Refuses a range that has not one meaning for the whole selection. Without bounds every selection is fine.
    ///
    /// # Errors
    /// `InvalidParameter`, naming the series: for a bound that does not fit one, and for zoneless series beside others.
    pub(crate) fn check<'a>(&self, selection: impl IntoIterator<Item = &'a SeriesInfo>) -> Result<()> {
        let bounds = [self.from, self.to];
        if bounds == [None, None] {
            return Ok(());
        }
        let (mut clock, mut instants) = (None, None);
        for series in selection {
            bounds.iter().flatten().try_for_each(|bound| bound.check(series))?;
            *(if is_zoneless(series) { &mut clock } else { &mut instants }) = Some(series);
        }
        match (clock, instants) {
            (Some(clock), Some(instants)) => Err(Error::invalid(format!(
                "a range has not one meaning for {clock}, which is zoneless, and {instants}, which is not: read them apart"
            ))),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Floating(at) => write!(f, "{at}"),
            Bound::Utc(at) => write!(f, "{at} (UTC)"),
            Bound::Zoneless(at) => write!(f, "{} (zoneless)", at.to_string().trim_end_matches('Z')),
        }
    }
}

fn is_zoneless(series: &SeriesInfo) -> bool {
    series.time_reference.as_ref().is_some_and(TimeReference::is_zoneless)
}
