//! Several windows of one sample: the bounding union is decoded once, and each window is cut out of it.

use super::take::Take;
use crate::chunks::AxisRead;
use crate::dataset::gather::Pick;
use crate::dataset::resolve::{count, positions, Axes};
use crate::dataset::{Dataset, DecodeOptions, Selection};
use crate::Result;
use std::collections::HashMap;

/// The samples of `windows`, each as if it were decoded alone.
///
/// # Errors
/// The error of the first window that does not fit the files, before any value is read; else what decoding it raises.
pub(super) fn sample(take: &Take, windows: &[Selection], options: DecodeOptions) -> Result<Vec<Dataset>> {
    let windows: Vec<Vec<Axes>> = windows.iter().map(|window| take.check(window)).collect::<Result<_>>()?;
    let alone = |axes: &Vec<Axes>| take.decode(axes, options);
    let (lens, names) = (take.dimension_lens(), take.file().schema.all_dimension_names());
    // A field tells its dimensions by name only; the arrays of a store have dimensions of one name that are read alike.
    let mut first = HashMap::new();
    let ambiguous = names.iter().enumerate().any(|(dim, name)| {
        let other = *first.entry(name).or_insert(dim);
        lens[0][other] != lens[0][dim] || windows.iter().any(|axes| axes[0][other] != axes[0][dim])
    });
    if windows.len() == 1 || ambiguous {
        return windows.iter().map(alone).collect();
    }
    let union_in = |file: usize| -> Axes {
        let lens = &lens[file];
        (0..lens.len()).map(|dim| union(windows.iter().map(|w| &w[file][dim]), lens[dim])).collect()
    };
    let union: Vec<Axes> = (0..lens.len()).map(union_in).collect();
    match alone(&union) {
        Ok(whole) => {
            let cut_out = |window: &Vec<Axes>| {
                let (window, union, lens) = (&window[0], &union[0], &lens[0]);
                let picks = (0..lens.len()).map(|dim| (&*names[dim], pick(&window[dim], &union[dim], lens[dim])));
                let picks: HashMap<&str, Pick> = picks.collect();
                whole.pick(|dim, _| picks.get(dim).cloned().unwrap_or(Pick::All))
            };
            Ok(windows.iter().map(cut_out).collect())
        }
        // The union has cells that no window has; what is wrong there concerns none of them.
        Err(_) => windows.iter().map(alone).collect(),
    }
}

/// The distinct positions of all windows, ascending; everything if one of them takes everything. What all of them agree
/// on stays as it is: the records too, whose order is that of their times.
fn union<'a>(mut windows: impl Iterator<Item = &'a AxisRead> + Clone, len: u64) -> AxisRead {
    let all = windows.clone();
    if let Some(first) = windows.next().filter(|first| all.clone().all(|w| w == *first)) {
        return first.clone();
    }
    let windows = all;
    if windows.clone().any(|w| *w == AxisRead::All) {
        return AxisRead::All;
    }
    let mut union: Vec<u64> = windows.flat_map(|w| positions(w, len)).collect();
    union.sort_unstable();
    union.dedup();
    AxisRead::Indices(union)
}

/// Where the positions of a window stand in the union.
fn pick(window: &AxisRead, union: &AxisRead, len: u64) -> Pick {
    if window == union {
        return Pick::All;
    }
    let list: Vec<usize> = match union {
        AxisRead::Indices(union) => {
            let find = |p: u64| union.binary_search(&p).expect("the union holds the positions of every window");
            positions(window, len).map(find).collect()
        }
        _ => positions(window, len).map(|p| p as usize).collect(),
    };
    let whole = list.len() as u64 == count(union, len) && list.iter().enumerate().all(|(i, p)| i == *p);
    if whole {
        Pick::All
    } else {
        Pick::List(list)
    }
}
