//! What is fixed when a group is built: its epochs, and the anchor of every member in each of them.

use crate::provider::Sampler;
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// A member of a group: its key, and what answers for it.
pub(super) type Member = (Arc<str>, Arc<dyn Sampler>);

/// The epochs of a group. Epoch `k` is `[boundaries[k], boundaries[k + 1])`; the last one has no end.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) boundaries: Vec<f64>,
    /// Per member, the distinct anchors of its epochs.
    pub(super) anchors: Vec<Vec<f64>>,
    /// Per member and epoch, the index of the anchor in `anchors`; `None` if the member has no data then.
    pub(super) table: Vec<Vec<Option<u32>>>,
}

impl Plan {
    /// The plan of `members`, which are sorted by key.
    pub(super) fn new(members: &[Member]) -> Result<Self> {
        check_members(members)?;
        let mut boundaries: Vec<f64> = members.iter().flat_map(|(_, s)| s.refresh_times()).copied().collect();
        boundaries.sort_by(f64::total_cmp);
        boundaries.dedup();
        let mut plan = Plan { boundaries, anchors: Vec::new(), table: Vec::new() };
        for (key, sampler) in members {
            let (anchors, row) = anchors_of(key, sampler.as_ref(), &plan.boundaries)?;
            plan.anchors.push(anchors);
            plan.table.push(row);
        }
        Ok(plan)
    }
}

fn check_members(members: &[Member]) -> Result<()> {
    if members.is_empty() {
        return Err(Error::invalid("a prefetch group needs at least one member"));
    }
    if let Some(pair) = members.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::invalid(format!("two members have the key {:?}; keys must differ", pair[0].0)));
    }
    for (key, sampler) in members {
        let times = sampler.refresh_times();
        if times.is_empty() {
            return Err(Error::invalid(format!(
                "member {key:?} has no refresh times: its data never change; materialize it once, outside the group"
            )));
        }
        if let Some(t) = times.iter().find(|t| !t.is_finite()) {
            return Err(Error::invalid(format!("member {key:?} has the refresh time {t}; times must be finite")));
        }
    }
    let mut calendars = members.iter().filter_map(|(key, sampler)| Some((key, sampler.calendar()?)));
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
