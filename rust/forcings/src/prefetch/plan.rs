//! What is fixed when a group is built: its epochs, and the anchor of every member in each of them.

use super::builder::Member;
use super::schedule::Route;
use crate::dataset::Selection;
use crate::provider::Sampler;
use crate::{Error, Result};
use std::collections::HashMap;

/// The epochs of a group. Epoch `k` is `[boundaries[k], boundaries[k + 1])`; the last one has no end, or that of the clip.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) boundaries: Vec<f64>,
    /// Per member, the distinct anchors of its epochs.
    pub(super) anchors: Vec<Vec<f64>>,
    /// Per member and epoch, the index of the anchor in `anchors`; `None` if the member has no data then.
    pub(super) table: Vec<Vec<Option<u32>>>,
}

impl Plan {
    /// The plan of `members`, which are sorted by key, under `windows` and from the first time of `clip` to before the
    /// second.
    pub(super) fn new(members: &[Member], windows: Option<&[Selection]>, clip: Option<(f64, f64)>) -> Result<Self> {
        check_members(members, windows)?;
        let mut boundaries: Vec<f64> = members.iter().flat_map(|m| m.sampler.refresh_times()).copied().collect();
        boundaries.sort_by(f64::total_cmp);
        boundaries.dedup();
        if let Some((begin, end)) = clip {
            boundaries = clipped(&boundaries, begin, end)?;
        }
        let mut plan = Plan { boundaries, anchors: Vec::new(), table: Vec::new() };
        for Member { key, sampler, .. } in members {
            let (anchors, row) = anchors_of(key, sampler.as_ref(), &plan.boundaries)?;
            plan.anchors.push(anchors);
            plan.table.push(row);
        }
        Ok(plan)
    }
}

/// What is left of `boundaries` from `begin` to before `end`; an epoch that begins earlier begins at `begin` then.
fn clipped(boundaries: &[f64], begin: f64, end: f64) -> Result<Vec<f64>> {
    if !(begin.is_finite() && end.is_finite() && begin < end) {
        return Err(Error::invalid(format!("the clip from {begin} to {end} is no interval of time")));
    }
    let later = boundaries.partition_point(|t| *t <= begin);
    let inside = boundaries[later..].iter().copied().take_while(|t| *t < end);
    let clipped: Vec<f64> = (later > 0).then_some(begin).into_iter().chain(inside).collect();
    if clipped.is_empty() {
        return Err(Error::invalid(format!(
            "the clip ends at {end}, and the members' times begin at {}: no epoch is left",
            boundaries[0]
        )));
    }
    Ok(clipped)
}

fn check_members(members: &[Member], windows: Option<&[Selection]>) -> Result<()> {
    if members.is_empty() {
        return Err(Error::invalid("a prefetch group needs at least one member"));
    }
    if let Some(pair) = members.windows(2).find(|pair| pair[0].key == pair[1].key) {
        return Err(Error::invalid(format!("two members have the key {:?}; keys must differ", pair[0].key)));
    }
    for Member { key, sampler, route } in members {
        let times = sampler.refresh_times();
        if times.is_empty() {
            return Err(Error::invalid(format!(
                "member {key:?} has no refresh times: its data never change; materialize it once, outside the group"
            )));
        }
        if let Some(t) = times.iter().find(|t| !t.is_finite()) {
            return Err(Error::invalid(format!("member {key:?} has the refresh time {t}; times must be finite")));
        }
        if let (Some(windows), false) = (windows, *route == Route::Host) {
            sampler.check_windows(windows)?;
        }
    }
    let mut calendars = members.iter().filter_map(|m| Some((&m.key, m.sampler.calendar()?)));
    if let Some((first, calendar)) = calendars.next() {
        if let Some((other, different)) = calendars.find(|(_, c)| *c != calendar) {
            return Err(Error::invalid(format!(
                "member {first:?} counts time in the calendar {calendar:?}, member {other:?} in {different:?}; \
                 members of one group share a calendar"
            )));
        }
    }
    Ok(())
}

fn anchors_of(key: &str, sampler: &dyn Sampler, boundaries: &[f64]) -> Result<(Vec<f64>, Vec<Option<u32>>)> {
    let mut anchors = Vec::new();
    let mut index = HashMap::new();
    let mut row = Vec::with_capacity(boundaries.len());
    for &t in boundaries {
        // Why there is no anchor is asked again when the epoch is taken: errors are raised there and not before.
        let Ok(anchor) = sampler.anchor(t) else {
            row.push(None);
            continue;
        };
        if anchor.is_nan() {
            return Err(Error::invalid(format!("member {key:?} has no anchor but NaN at the time {t}")));
        }
        // Adding zero makes one of the two zeros.
        let next = u32::try_from(anchors.len())
            .map_err(|_| Error::invalid(format!("member {key:?} has more than {} anchors", u32::MAX)))?;
        let id = *index.entry((anchor + 0.0).to_bits()).or_insert(next);
        if id == next {
            anchors.push(anchor);
        }
        row.push(Some(id));
    }
    Ok((anchors, row))
}
