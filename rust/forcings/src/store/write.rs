//! Adding and removing series.

use super::arrays::{Chunking, PoolKey};
use super::session::Placement;
use super::Store;
use crate::array::{ArrayHash, ArrayView};
use crate::series::{NewSeries, SeriesData, SeriesId};
use crate::Result;
use std::collections::HashMap;
use std::num::NonZero;

impl Store {
    /// Stores one series and returns its number. Its array is stored once, however many series have it; arrays that are
    /// added one by one are written together, so that a disk that is full may be told only by the next flush or commit.
    ///
    /// # Errors
    /// `InvalidParameter` when it breaks a rule, `DuplicateTimeSeries` when its identity is taken, `ReadOnlyStore`,
    /// `Closed`, and errors of the disk. After an error the store is as before; where the disk fails so that more than this
    /// call had to be undone, the error is `Integrity` and says so.
    pub fn add(&self, series: &NewSeries<'_>) -> Result<SeriesId> {
        series.validate()?;
        let (place, values) = (placement(&series.data), *series.values());
        let hash = values.hash();
        self.shared.change(|session| {
            session.apply(|change| {
                change.put(&place, hash, values)?;
                change.insert(series, &hash)
            })
        })
    }

    /// Stores many series, of any types, all or none, and returns their numbers in their order. Arrays of one shape and
    /// resolution are written together in whole chunks, which is far faster than one by one.
    ///
    /// # Errors
    /// As [`Store::add`], naming the series at fault. After an error the store is as before.
    pub fn add_bulk<'a>(&self, series: &[NewSeries<'a>]) -> Result<Vec<SeriesId>> {
        series.iter().try_for_each(NewSeries::validate)?;
        if series.is_empty() {
            return self.shared.change(|_| Ok(Vec::new()));
        }
        let hashes = hash_all(series);
        let item = |(series, hash): (&NewSeries<'a>, _)| (placement(&series.data), hash, *series.values());
        let items: Vec<_> = series.iter().zip(hashes.iter().copied()).map(item).collect();
        self.shared.change(|session| {
            session.apply(|change| {
                change.put_batch(items)?;
                change.insert_all(series, &hashes)
            })
        })
    }

    /// Removes series, all or none. An array goes when the last series that has it is gone, at the next `flush`, or at
    /// the end of the transaction.
    ///
    /// # Errors
    /// `NotFound` naming an id that does not exist, `ReadOnlyStore`, `Closed`, and errors of the disk. After an error
    /// the store is as before.
    pub fn remove(&self, ids: &[SeriesId]) -> Result<()> {
        self.shared.change(|session| session.apply(|change| change.remove(ids)))
    }
}

/// Where the array of a valid series goes.
fn placement(data: &SeriesData<'_>) -> Placement {
    let values = data.values();
    match data {
        SeriesData::Single { resolution, .. } => {
            let (length, element_shape) = values.shape().split_first().expect("a valid series has a time axis");
            Placement::Packed(PoolKey {
                dtype: values.dtype(),
                element_shape: element_shape.to_vec(),
                length: *length,
                resolution: *resolution,
            })
        }
        _ => Placement::Standalone(match data.series_type().window_axis() {
            Some(axis) => Chunking::Windows { axis },
            None => Chunking::Whole,
        }),
    }
}

/// The content hashes. Values that several series borrow from one place are hashed once.
fn hash_all(series: &[NewSeries<'_>]) -> Vec<ArrayHash> {
    let (mut known, mut distinct, mut places) = (HashMap::new(), Vec::new(), Vec::with_capacity(series.len()));
    for values in series.iter().map(NewSeries::values) {
        let place = (values.bytes().as_ptr(), values.dtype(), values.shape());
        places.push(*known.entry(place).or_insert(distinct.len()));
        if places.last() == Some(&distinct.len()) {
            distinct.push(*values);
        }
    }
    let hashes = hash_arrays(&distinct);
    places.into_iter().map(|at| hashes[at]).collect()
}

/// The content hashes, computed on all cores.
fn hash_arrays(arrays: &[ArrayView<'_>]) -> Vec<ArrayHash> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = arrays.len().div_ceil(cores).max(1);
    let hash = |part: &[ArrayView<'_>]| part.iter().map(ArrayView::hash).collect::<Vec<_>>();
    if share >= arrays.len() {
        return hash(arrays);
    }
    std::thread::scope(|scope| {
        let spawn = |part| (part, std::thread::Builder::new().spawn_scoped(scope, move || hash(part)));
        let workers: Vec<_> = arrays.chunks(share).map(spawn).collect();
        let hashes = workers.into_iter().flat_map(|(part, worker)| match worker {
            Ok(worker) => worker.join().expect("hashing does not panic"),
            // The system refuses another thread.
            Err(_) => hash(part),
        });
        hashes.collect()
    })
}
