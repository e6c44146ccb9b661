//! What a provider refuses of selections before anything is read.

use crate::dataset::{AxisSelect, Selection};
use crate::{Error, Result};

/// Refuses a selection that narrows the time dimension.
///
/// # Errors
/// `Selection`.
pub(super) fn check_time(select: Option<&Selection>, time_dim: Option<&str>) -> Result<()> {
    match (select, time_dim) {
        (Some(Selection::Named(dims)), Some(dim)) if dims.get(dim).is_some_and(|axis| *axis != AxisSelect::All) => {
            Err(names_time(dim))
        }
        _ => Ok(()),
    }
}

/// The error about a second window.
pub(super) fn already_selected() -> Error {
    Error::Selection("the provider has a selection already, and two do not compose; start from one without".into())
}

/// The error about a selection that names the time dimension.
pub(super) fn names_time(dim: &str) -> Error {
    Error::Selection(format!(
        "\"{dim}\" is the time dimension of the provider; leave it out of the selection and choose records by time"
    ))
}

/// Refuses a step of 0, which would make the union of several windows endless.
///
/// # Errors
/// `Selection`.
pub(super) fn check_steps(window: &Selection) -> Result<()> {
    let Selection::Named(dims) = window else { return Ok(()) };
    match dims.iter().find(|(_, axis)| matches!(axis, AxisSelect::Slice { step: 0, .. })) {
        Some((dim, _)) => {
            Err(Error::Selection(format!("the slice of dimension \"{dim}\" has step 0; it must be at least 1")))
        }
        None => Ok(()),
    }
}
