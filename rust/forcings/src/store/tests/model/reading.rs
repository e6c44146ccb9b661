//! What reading a series gives, whole and by range: counted step by step, without the store's own arithmetic.

use super::*;
use crate::series::{Series, Windows};

/// The instants of `len` steps from `start` on, and the end of the last.
fn instants(start: UnixMillis, step: Period, len: usize) -> Vec<UnixMillis> {
    (0..=len as i64).map(|k| step.add(start, k).unwrap()).collect()
}

/// Whether the steps `range` of a grid are those of a grid that starts with the first of them.
fn is_grid(times: &[UnixMillis], step: Period, range: &Range<usize>) -> bool {
    range.len() < 2 || instants(times[range.start], step, range.len() - 1) == times[range.clone()]
}

/// The windows that a derived forecast gets; `None` where they do not fit.
pub(super) fn derived(source: &SeriesInfo, horizon: Period, interval: Period) -> Option<Windows> {
    let (initial, resolution) = (source.initial.unwrap(), source.resolution.unwrap());
    let len = source.length.unwrap() as usize;
    let count_of = |whole: Period| match (whole, resolution) {
        (Period::Fixed(a), Period::Fixed(b)) if a % b == 0 && a > 0 => Some((a / b) as usize),
        (Period::Months(a), Period::Months(b)) if a % b == 0 && a > 0 => Some((a / b) as usize),
        _ => None,
    };
    let steps = count_of(horizon)?;
    let stride = if interval.is_zero() { 0 } else { count_of(interval)? };
    if steps > len || stride > steps || (stride == 0 && steps != len) {
        return None;
    }
    let firsts: Vec<usize> = (0..=len - steps).step_by(stride.max(1)).collect();
    let times = instants(initial, resolution, len);
    let count = firsts.len();
    let fits = firsts.into_iter().all(|first| is_grid(&times, resolution, &(first..first + steps)));
    fits.then_some(Windows { initial, resolution, horizon, interval, count })
}

/// The part of an array at these positions of an axis.
pub(super) fn take(array: &Array, axis: usize, range: Range<usize>) -> Array {
    let mut shape = array.shape().to_vec();
    let inner = shape[axis + 1..].iter().product::<usize>() * array.dtype().width();
    let (extent, outer) = (shape[axis], shape[..axis].iter().product::<usize>());
    let rows = (0..outer).flat_map(|o| range.clone().map(move |k| o * extent + k));
    let bytes = rows.flat_map(|row| array.bytes()[row * inner..][..inner].to_vec()).collect();
    shape[axis] = range.len();
    Array::new(array.dtype(), shape, bytes).unwrap()
}

fn ascending(times: &[UnixMillis], before: impl Fn(UnixMillis) -> bool) -> usize {
    times.iter().filter(|t| before(**t)).count()
}

/// What a range of a row gives; `None` where the range does not suit it.
pub(super) fn read(
    row: &SeriesInfo,
    array: &Array,
    from: Option<UnixMillis>,
    to: Option<UnixMillis>,
) -> Option<Series> {
    if from.zip(to).is_some_and(|(from, to)| to < from) {
        return None;
    }
    let mut info = row.clone();
    if row.series_type.is_forecast() {
        return forecast(info, array, from, to);
    }
    let len = row.length.unwrap() as usize;
    let range = match (row.resolution, &row.timestamps) {
        (Some(step), _) => {
            let times = instants(row.initial.unwrap(), step, len);
            let first = from.map_or(0, |from| ascending(&times[1..], |t| t <= from));
            let range = first..to.map_or(len, |to| ascending(&times[..len], |t| t < to)).max(first);
            info.initial = Some(times[first]);
            is_grid(&times, step, &range).then_some(range)?
        }
        (None, Some(times)) => {
            let stop = to.map_or(len, |to| ascending(times, |t| t < to));
            let first = match (from, row.series_type) {
                (None, _) => 0,
                (Some(from), SeriesType::NonSequentialTimeSeries) => ascending(times, |t| t < from),
                (Some(from), _) if to == Some(from) => stop,
                (Some(from), _) => ascending(times, |t| t <= from).checked_sub(1)?,
            };
            let range = first..stop.max(first);
            info.timestamps = Some(times[range.clone()].to_vec());
            range
        }
        _ => panic!("a static series has a resolution or instants"),
    };
    info.length = Some(range.len() as u64);
    Some(Series { info, windows: None, values: take(array, 0, range) })
}

fn forecast(mut info: SeriesInfo, array: &Array, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Option<Series> {
    let (initial, resolution, interval) = (info.initial?, info.resolution?, info.interval?);
    let (horizon, count) = (info.horizon?, info.count? as usize);
    let starts: Vec<UnixMillis> = (0..count as i64).map(|w| interval.add(initial, w).unwrap()).collect();
    let first = match from {
        Some(from) if from > initial => starts.iter().position(|start| *start == from)?,
        _ => 0,
    };
    let range = first..to.map_or(count, |to| ascending(&starts, |t| t < to)).max(first);
    if !interval.is_zero() && !is_grid(&starts, interval, &range) {
        return None;
    }
    let initial = starts.get(first).copied().unwrap_or(initial);
    let windows = Windows { initial, resolution, horizon, interval, count: range.len() };
    (info.initial, info.count) = (Some(initial), Some(range.len() as u64));
    let values = match info.series_type.window_axis() {
        Some(axis) => {
            info.element_shape[axis - 1] = range.len();
            take(array, axis, range)
        }
        None => {
            let steps = windows.steps().unwrap();
            let stride = if interval.is_zero() { 0 } else { interval.exact_steps(resolution).unwrap() as usize };
            let block = array.bytes().len() / array.shape()[0];
            let cell = |step: usize| range.clone().map(move |w| w * stride + step);
            let rows = (0..steps).flat_map(cell);
            let bytes = rows.flat_map(|row| array.bytes()[row * block..][..block].to_vec()).collect();
            info.series_type = SeriesType::Deterministic;
            info.length = Some(steps as u64);
            info.element_shape.insert(0, range.len());
            let shape = [&[steps, range.len()], &array.shape()[1..]].concat();
            Array::new(array.dtype(), shape, bytes).unwrap()
        }
    };
    Some(Series { info, windows: Some(windows), values })
}
