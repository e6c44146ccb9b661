//! The rules that the data of a new series must keep, by type. Values may be anything.

use super::{SeriesData, TimeReference, Windows};
use crate::array::{ArrayView, DType};
use crate::time::{Grid, UnixMillis};
use crate::{Error, Result};

impl SeriesData<'_> {
    /// Checks the axis, the shape of the values, and that both fit each other and the time reference. The order of the
    /// values does not matter.
    ///
    /// # Errors
    /// `InvalidParameter` with the rule that is broken.
    pub fn validate(&self, reference: Option<&TimeReference>) -> Result<()> {
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
            SeriesData::Deterministic { windows, values } => forecast(windows, values, &[])?,
            SeriesData::Probabilistic { windows, percentiles, values } => {
                ascending_percentiles(percentiles)?;
                forecast(windows, values, &[percentiles.len()])?;
            }
            SeriesData::Scenarios { windows, values } => {
                let scenarios = values.shape().first().copied().unwrap_or(0);
                if scenarios == 0 {
                    return Err(Error::invalid("the values have no scenario; the first axis must count at least one"));
                }
                forecast(windows, values, &[scenarios])?;
            }
        }
        plain_bools(self.values())?;
        reference.map_or(Ok(()), |reference| self.validate_reference(reference))
    }

    fn validate_reference(&self, reference: &TimeReference) -> Result<()> {
        if let Some(resolution) = self.resolution() {
            reference.check_step("resolution", resolution)?;
        }
        self.windows().map_or(Ok(()), |windows| reference.check_step("interval", windows.interval))
    }
}

/// The extent of the first axis, of an array that has one and whose elements are not empty.
fn steps_and_elements(values: &ArrayView<'_>) -> Result<usize> {
    let Some((&steps, element_shape)) = values.shape().split_first() else {
        return Err(Error::invalid("the values have no axis; the first axis must be time"));
    };
    no_empty_element(element_shape).map(|()| steps)
}

fn no_empty_element(element_shape: &[usize]) -> Result<()> {
    if element_shape.contains(&0) {
        return Err(Error::invalid(format!(
            "the element shape {element_shape:?} has an axis of length 0; only the time axis may be empty"
        )));
    }
    Ok(())
}

/// Checks the windows, and that the values begin with the axes `[*outer, steps, windows]`.
fn forecast(windows: &Windows, values: &ArrayView<'_>, outer: &[usize]) -> Result<()> {
    windows.validate()?;
    let axes: Vec<usize> = outer.iter().copied().chain([windows.steps()?, windows.count]).collect();
    let Some(element_shape) = values.shape().strip_prefix(&axes[..]) else {
        return Err(Error::invalid(format!(
            "the values have the shape {:?}, but the periods, the count of windows and the type ask for {axes:?} and \
             the shape of one element behind it",
            values.shape()
        )));
    };
    no_empty_element(element_shape)
}

fn ascending_percentiles(percentiles: &[f64]) -> Result<()> {
    if percentiles.is_empty() {
        return Err(Error::invalid("there are no percentiles"));
    }
    if let Some(odd) = percentiles.iter().find(|p| !p.is_finite()) {
        return Err(Error::invalid(format!("the percentile {odd} is not finite")));
    }
    if !percentiles.is_sorted_by(|a, b| a < b) {
        return Err(Error::invalid(format!("the percentiles {percentiles:?} do not ascend strictly")));
    }
    Ok(())
}

fn ascending(timestamps: &[UnixMillis]) -> Result<()> {
    if let Some(k) = timestamps.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(Error::invalid(format!(
            "timestamps must ascend strictly, but {} follows {}",
            timestamps[k + 1],
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
