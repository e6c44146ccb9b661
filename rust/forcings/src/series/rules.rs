//! The rules that the data of a new series must keep, by type. Values may be anything.

use super::SeriesData;
use crate::array::{ArrayView, DType};
use crate::time::{Grid, UnixMillis};
use crate::{Error, Result};

impl SeriesData<'_> {
    /// Checks the axis, the shape of the values, and that both fit.
    ///
    /// # Errors
    /// `InvalidParameter` with the rule that is broken.
    pub(super) fn validate(&self) -> Result<()> {
        match self {
            SeriesData::Single { initial, resolution, values } => {
                let steps = steps_and_elements(values)?;
                let grid = Grid::new(*initial, *resolution, steps)?;
                writable(*initial)?;
                writable(grid.at(steps.saturating_sub(1)).unwrap_or(*initial))?;
            }
            SeriesData::NonSequential { timestamps, values } | SeriesData::Persistent { timestamps, values } => {
                let steps = steps_and_elements(values)?;
                if steps != timestamps.len() {
                    return Err(Error::invalid(format!(
                        "there are {} timestamps for {steps} rows of values",
                        timestamps.len()
                    )));
                }
                ascending(timestamps)?;
            }
        }
        plain_bools(self.values())
    }
}

/// The extent of the first axis, of an array that has one and whose elements are not empty.
fn steps_and_elements(values: &ArrayView<'_>) -> Result<usize> {
    let Some((&steps, element_shape)) = values.shape().split_first() else {
        return Err(Error::invalid("the values have no axis; the first axis must be time"));
    };
    if element_shape.contains(&0) {
        return Err(Error::invalid(format!(
            "the element shape {element_shape:?} has an axis of length 0; only the time axis may be empty"
        )));
    }
    Ok(steps)
}

fn ascending(timestamps: &[UnixMillis]) -> Result<()> {
    if let Some(k) = timestamps.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(Error::invalid(format!(
            "timestamps must ascend strictly, but {} at position {} follows {}",
            timestamps[k + 1],
            k + 1,
            timestamps[k]
        )));
    }
    // They ascend: those between are in range too.
    [timestamps.first(), timestamps.last()].into_iter().flatten().try_for_each(|t| writable(*t))
}

fn writable(instant: UnixMillis) -> Result<()> {
    match instant.is_writable() {
        true => Ok(()),
        false => Err(Error::invalid(format!("{instant} lies outside the years 0 to 9999"))),
    }
}

fn plain_bools(values: &ArrayView<'_>) -> Result<()> {
    if values.dtype() == DType::Bool && values.bytes().iter().any(|&b| b > 1) {
        return Err(Error::invalid("a bool value is a byte other than 0 and 1"));
    }
    Ok(())
}
